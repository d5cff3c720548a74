// SPDX-License-Identifier: Apache-2.0
// The functions that <metal_stdlib> leaves to the compiler, and no others: src/msl/stdlib/__ingot_intrinsics declares
// them, src/msl/allowed.c allows them, src/simt lowers them. X(name without __ig_, type)
//
// A type is the result, a colon and the parameters: v nothing, b bool, i 32 bits, l 64 bits, f float, g two floats, p
// pointer, w the literal width of a simdgroup or quadgroup.
#ifndef INGOT_MSL_HOOKS_H
#define INGOT_MSL_HOOKS_H

#define IGI_LANE_SHUFFLES(X, suffix, t)    \
    X(shuffle_##suffix, t ":" t "iw")      \
    X(shuffle_xor_##suffix, t ":" t "iw")  \
    X(shuffle_up_##suffix, t ":" t "iw")   \
    X(shuffle_down_##suffix, t ":" t "iw") \
    X(rotate_up_##suffix, t ":" t "iw")    \
    X(rotate_down_##suffix, t ":" t "iw")
#define IGI_LANE_ARITHMETIC(X, suffix, t)       \
    X(reduce_add_##suffix, t ":" t "w")         \
    X(reduce_mul_##suffix, t ":" t "w")         \
    X(reduce_min_##suffix, t ":" t "w")         \
    X(reduce_max_##suffix, t ":" t "w")         \
    X(scan_inclusive_add_##suffix, t ":" t "w") \
    X(scan_exclusive_add_##suffix, t ":" t "w") \
    X(scan_inclusive_mul_##suffix, t ":" t "w") \
    X(scan_exclusive_mul_##suffix, t ":" t "w")
#define IGI_LANE_BITWISE(X, suffix, t)  \
    X(reduce_and_##suffix, t ":" t "w") \
    X(reduce_or_##suffix, t ":" t "w")  \
    X(reduce_xor_##suffix, t ":" t "w")

// Operations across the lanes of a simdgroup or quadgroup.
#define IGI_LANE_OP_LIST(X)          \
    X(simd_barrier, "v:i")           \
    X(ballot, "l:bw")                \
    X(mma_f32, "g:ggg")              \
    IGI_LANE_SHUFFLES(X, u32, "i")   \
    IGI_LANE_SHUFFLES(X, u64, "l")   \
    IGI_LANE_ARITHMETIC(X, i32, "i") \
    IGI_LANE_ARITHMETIC(X, u32, "i") \
    IGI_LANE_ARITHMETIC(X, i64, "l") \
    IGI_LANE_ARITHMETIC(X, u64, "l") \
    IGI_LANE_ARITHMETIC(X, f32, "f") \
    IGI_LANE_BITWISE(X, u32, "i")    \
    IGI_LANE_BITWISE(X, u64, "l")

#define IGI_HOOK_LIST(X)            \
    IGI_LANE_OP_LIST(X)             \
    X(barrier, "v:i")               \
    X(lane_id, "i:")                \
    X(simdgroup_id, "i:")           \
    X(matrix_load_f32, "g:ppplb")   \
    X(matrix_store_f32, "v:gppplb") \
    X(matrix_load_b16, "i:ppplb")   \
    X(matrix_store_b16, "v:ippplb") \
    X(texture_layout, "l:pl")       \
    X(is_checked, "b:")             \
    X(constant_defined, "b:p")      \
    X(part, "p:pli")                \
    X(log, "p:")                    \
    X(grid_value, "i:i")            \
    X(stage_buffer, "p:i")          \
    X(render_command, "v:")         \
    X(stage_stride, "i:i")

#endif
