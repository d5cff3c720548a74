// SPDX-License-Identifier: Apache-2.0
// What the lanes of a group have in common: for each value of the thread function its shape across lanes, for each
// branch whether lanes may diverge there, for each block and loop whether they may have diverged in it.
#ifndef INGOT_SIMT_SHAPE_H
#define INGOT_SIMT_SHAPE_H

#include <llvm-c/Target.h>

#include "simt/cfg.h"
#include "simt/launch.h"

typedef enum igi_simt_shape_kind {
    IGI_SHAPE_NONE,     // not reached yet
    IGI_SHAPE_UNIFORM,  // the same in every lane
    IGI_SHAPE_LINEAR,   // first lane's value plus lane times stride
    IGI_SHAPE_PATTERN,  // first lane's value plus a constant of each lane (shape-pattern.c)
    IGI_SHAPE_MATRIX,   // varying, in the order of a simdgroup matrix (widen-matrix.c)
    IGI_SHAPE_VARYING,
} igi_simt_shape_kind;

typedef struct igi_simt_shape {
    igi_simt_shape_kind kind;
    int64_t stride;  // of LINEAR: in units of the integer, or bytes of a pointer
    uint32_t limit;  // of LINEAR: all lanes, including inactive ones, are below it; 0: not known
    uint32_t pattern;
    bool known;  // the integer is known in every lane, and `first` is the first lane's
    int64_t first;
} igi_simt_shape;

// By lane: the distance from the first lane's value, in units of the integer, or bytes of a pointer.
typedef struct igi_simt_pattern {
    int64_t offset[IGI_SIMD_WIDTH];
} igi_simt_pattern;
typedef struct igi_simt_patterns igi_simt_patterns;

typedef struct igi_simt_shapes {
    igi_simt_cfg cfg;
    LLVMTargetDataRef layout;
    LLVMValueRef linear_argument;  // the one that increases by one from lane to lane
    igi_pointer_map index;         // instruction -> number
    igi_simt_shape *shapes;
    size_t count;
    igi_simt_patterns *patterns;  // NULL: a group of lanes is not a simdgroup, and there are none
    bool *divergent_branch;       // by block: lanes diverge at its terminator
    bool *masked;                 // by block: some lanes may be elsewhere
    bool *join;                   // by block: lanes that took different paths meet here
    bool *divergent_loop;         // by loop: lanes may leave in different iterations
    uint32_t *post_dominator;     // by block; IGI_NONE: only the end
    uint32_t width;
} igi_simt_shapes;

// pre: loop-simplified, LCSSA, reducible, one return. Returns false when memory is short.
bool igi_simt_shapes_build(LLVMValueRef function, LLVMValueRef linear_argument, uint32_t width,
                           igi_simt_shapes *shapes);
void igi_simt_shapes_free(igi_simt_shapes *shapes);
igi_simt_shape igi_simt_shape_of(const igi_simt_shapes *shapes, LLVMValueRef value);
// The distance of a lane's value from the first lane's, of UNIFORM, LINEAR and PATTERN.
int64_t igi_simt_lane_offset(const igi_simt_shapes *shapes, igi_simt_shape shape, uint32_t lane);
// Whether all lanes load or store one matrix; its arguments (first, second, base, stride, transposed) begin at `at`.
bool igi_simt_is_matrix_area(const igi_simt_shapes *shapes, LLVMValueRef call, unsigned at);
// Bytes that a private variable takes for each lane.
uint64_t igi_simt_private_bytes(const igi_simt_shapes *shapes, LLVMValueRef alloca);

// ---- shape-pattern.c ----

bool igi_simt_patterns_build(igi_simt_shapes *shapes);
// Whether an arithmetic operation or conversion has to do with patterns, and its shape.
bool igi_simt_pattern_of(const igi_simt_shapes *shapes, LLVMValueRef instruction, igi_simt_shape *shape);
// base + index * bytes
igi_simt_shape igi_simt_pattern_address(const igi_simt_shapes *shapes, igi_simt_shape base, igi_simt_shape index,
                                        uint64_t bytes);

#endif
