// SPDX-License-Identifier: Apache-2.0
// Matrix products: out = alpha a b + beta c, in float. Operands are transposed by their strides.

// Matches igi_metal_product.
struct Product {
    uint rows, columns, inner;
    int a_row, a_column, b_row, b_column, c_row, c_column, out_row, out_column;  // strides, in elements
    float alpha, beta;
    uint adds;  // there is a c
};

template <typename T>
static T scaled(float sum, device const T *c, constant Product &p) {
    return T(p.adds ? fma(p.beta, float(*c), p.alpha * sum) : p.alpha * sum);
}

// Both matrices in tiles in threadgroup memory; 8 by 8 threads, each with a block of the result in registers. With
// `plain`, rows of b lie behind each other, so that threads side by side read so too.
constant constexpr uint tile_rows = 32, tile_columns = 64, tile_inner = 16;
constant constexpr uint block_rows = tile_rows / 8, block_columns = tile_columns / 8;

template <typename T>
kernel void matmul_tiled(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]],
                         device const T *c [[buffer(2)]], device T *out [[buffer(3)]],
                         constant Product &p [[buffer(4)]], constant Layout &batches [[buffer(5)]],
                         uint3 group [[threadgroup_position_in_grid]], uint index [[thread_index_in_threadgroup]]) {
    threadgroup float a_tile[tile_inner][tile_rows], b_tile[tile_inner][tile_columns];
    a += offset_of(group.z, batches.rank, batches, 1);
    b += offset_of(group.z, batches.rank, batches, 2);
    c += offset_of(group.z, batches.rank, batches, 3);
    out += offset_of(group.z, batches.rank, batches, 0);
    uint top = group.y * tile_rows, left = group.x * tile_columns;
    uint x = index % 8, y = index / 8;
    float sums[block_rows][block_columns];
    for (uint i = 0; i < block_rows; i++)
        for (uint j = 0; j < block_columns; j++) sums[i][j] = 0.0f;
    for (uint from = 0; from < p.inner; from += tile_inner) {
        for (uint i = index; i < tile_rows * tile_inner; i += 64) {
            uint row = i / tile_inner, k = i % tile_inner;
            bool inside = top + row < p.rows && from + k < p.inner;
            a_tile[k][row] = inside ? float(a[int(top + row) * p.a_row + int(from + k) * p.a_column]) : 0.0f;
        }
        for (uint i = index; i < tile_inner * tile_columns; i += 64) {
            uint k = i / tile_columns, column = i % tile_columns;
            bool inside = left + column < p.columns && from + k < p.inner;
            b_tile[k][column] = inside ? float(b[int(from + k) * p.b_row + int(left + column) * p.b_column]) : 0.0f;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < tile_inner; k++) {
            float as[block_rows], bs[block_columns];
            for (uint i = 0; i < block_rows; i++) as[i] = a_tile[k][y * block_rows + i];
            for (uint j = 0; j < block_columns; j++) bs[j] = b_tile[k][x + 8 * j];
            for (uint i = 0; i < block_rows; i++)
                for (uint j = 0; j < block_columns; j++) sums[i][j] = fma(as[i], bs[j], sums[i][j]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint i = 0; i < block_rows; i++) {
        uint row = top + y * block_rows + i;
        for (uint j = 0; j < block_columns; j++) {
            uint column = left + x + 8 * j;
            if (row < p.rows && column < p.columns)
                out[int(row) * p.out_row + int(column) * p.out_column] =
                    scaled(sums[i][j], c + (int(row) * p.c_row + int(column) * p.c_column), p);
        }
    }
}

// The same tiles as 8 by 8 matrices of simdgroups: four simdgroups, each with 16 by 32 of the result.
template <typename T>
kernel void matmul_simdgroup(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]],
                             device const T *c [[buffer(2)]], device T *out [[buffer(3)]],
                             constant Product &p [[buffer(4)]], constant Layout &batches [[buffer(5)]],
                             uint3 group [[threadgroup_position_in_grid]],
                             uint index [[thread_index_in_threadgroup]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float a_tile[tile_rows][tile_inner], b_tile[tile_inner][tile_columns];
    threadgroup float result[tile_rows][tile_columns];
    a += offset_of(group.z, batches.rank, batches, 1);
    b += offset_of(group.z, batches.rank, batches, 2);
    c += offset_of(group.z, batches.rank, batches, 3);
    out += offset_of(group.z, batches.rank, batches, 0);
    uint top = group.y * tile_rows, left = group.x * tile_columns;
    uint row_of = simdgroup / 2 * 16, column_of = simdgroup % 2 * 32;
    simdgroup_float8x8 sums[2][4];
    for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 4; j++) sums[i][j] = simdgroup_float8x8(0.0f);
    for (uint from = 0; from < p.inner; from += tile_inner) {
        for (uint i = index; i < tile_rows * tile_inner; i += 128) {
            uint row = i / tile_inner, k = i % tile_inner;
            bool inside = top + row < p.rows && from + k < p.inner;
            a_tile[row][k] = inside ? float(a[int(top + row) * p.a_row + int(from + k) * p.a_column]) : 0.0f;
        }
        for (uint i = index; i < tile_inner * tile_columns; i += 128) {
            uint k = i / tile_columns, column = i % tile_columns;
            bool inside = left + column < p.columns && from + k < p.inner;
            b_tile[k][column] = inside ? float(b[int(from + k) * p.b_row + int(left + column) * p.b_column]) : 0.0f;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < tile_inner; k += 8) {
            simdgroup_float8x8 as[2], bs[4];
            for (uint i = 0; i < 2; i++) simdgroup_load(as[i], &a_tile[row_of + 8 * i][k], tile_inner);
            for (uint j = 0; j < 4; j++) simdgroup_load(bs[j], &b_tile[k][column_of + 8 * j], tile_columns);
            for (uint i = 0; i < 2; i++)
                for (uint j = 0; j < 4; j++) simdgroup_multiply_accumulate(sums[i][j], as[i], bs[j], sums[i][j]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 4; j++)
            simdgroup_store(sums[i][j], &result[row_of + 8 * i][column_of + 8 * j], tile_columns);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = index; i < tile_rows * tile_columns; i += 128) {
        uint row = i / tile_columns, column = i % tile_columns;
        if (top + row < p.rows && left + column < p.columns)
            out[int(top + row) * p.out_row + int(left + column) * p.out_column] =
                scaled(result[row][column], c + (int(top + row) * p.c_row + int(left + column) * p.c_column), p);
    }
}

// One simdgroup for each element of the result: few of them, long sums. `consecutive`: along both operands.
template <typename T, bool consecutive>
kernel void matmul_dots(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]],
                        device const T *c [[buffer(2)]], device T *out [[buffer(3)]],
                        constant Product &p [[buffer(4)]], constant Layout &batches [[buffer(5)]],
                        uint3 group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    a += offset_of(group.z, batches.rank, batches, 1) + int(group.y) * p.a_row;
    b += offset_of(group.z, batches.rank, batches, 2) + int(group.x) * p.b_column;
    float sum = 0.0f;
    for (uint k = lane; k < p.inner; k += 32)
        sum = fma(float(a[consecutive ? int(k) : int(k) * p.a_column]), float(b[consecutive ? int(k) : int(k) * p.b_row]),
                  sum);
    sum = simd_sum(sum);
    int at_c = offset_of(group.z, batches.rank, batches, 3) + int(group.y) * p.c_row + int(group.x) * p.c_column;
    int at = offset_of(group.z, batches.rank, batches, 0) + int(group.y) * p.out_row + int(group.x) * p.out_column;
    if (lane == 0) out[at] = scaled(sum, c + at_c, p);
}

// One thread for each element of the result: a row times a matrix whose rows are consecutive, and small inner sizes.
template <typename T, bool consecutive>
kernel void matmul_rows(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]],
                        device const T *c [[buffer(2)]], device T *out [[buffer(3)]],
                        constant Product &p [[buffer(4)]], constant Layout &batches [[buffer(5)]],
                        uint3 at [[thread_position_in_grid]]) {
    a += offset_of(at.z, batches.rank, batches, 1) + int(at.y) * p.a_row;
    b += offset_of(at.z, batches.rank, batches, 2) + (consecutive ? int(at.x) : int(at.x) * p.b_column);
    float sum = 0.0f;
    for (uint k = 0; k < p.inner; k++) sum = fma(float(a[int(k) * p.a_column]), float(b[int(k) * p.b_row]), sum);
    int at_c = offset_of(at.z, batches.rank, batches, 3) + int(at.y) * p.c_row + int(at.x) * p.c_column;
    int at_out = offset_of(at.z, batches.rank, batches, 0) + int(at.y) * p.out_row + int(at.x) * p.out_column;
    out[at_out] = scaled(sum, c + at_c, p);
}

#define OPERANDS(T) device const T *, device const T *, device const T *, device T *, constant Product &, constant Layout &
#define INSTANCES(suffix, T, unused)                                                                                  \
    template [[host_name("tiled_" #suffix)]] kernel void matmul_tiled<T>(OPERANDS(T), uint3, uint);                   \
    template [[host_name("simdgroup_" #suffix)]] kernel void matmul_simdgroup<T>(OPERANDS(T), uint3, uint, uint);     \
    template [[host_name("dots_" #suffix)]] kernel void matmul_dots<T, true>(OPERANDS(T), uint3, uint);               \
    template [[host_name("dots_strided_" #suffix)]] kernel void matmul_dots<T, false>(OPERANDS(T), uint3, uint);      \
    template [[host_name("rows_" #suffix)]] kernel void matmul_rows<T, true>(OPERANDS(T), uint3);                     \
    template [[host_name("rows_strided_" #suffix)]] kernel void matmul_rows<T, false>(OPERANDS(T), uint3);
FOR_FLOATS(INSTANCES, )
