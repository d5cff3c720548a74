// SPDX-License-Identifier: Apache-2.0
// What MPSMatrixMultiplication runs: tiles of 64 x 32 results for 16 x 16 threads, sums in float.
#include <metal_stdlib>
using namespace metal;

struct Matrix {
    ulong matrix;      // from one to the next, in elements
    uint row, column;  // likewise; a transposed matrix has them the other way round
};

struct Product {
    Matrix left, right, result;
    uint rows, columns, inner;
    float alpha, beta;
};

constant constexpr uint tile_rows = 64, tile_columns = 32, depth = 16, side = 16, threads = side * side;

template <typename T>
void load(device const T *from, Matrix m, uint2 corner, uint2 size, threadgroup float *to, uint height, uint width,
          uint thread_index) {
    for (uint i = thread_index; i < height * width; i += threads) {
        uint2 at = corner + uint2(i % width, i / width);
        bool inside = at.x < size.x && at.y < size.y;
        to[i] = inside ? float(from[ulong(at.y) * m.row + ulong(at.x) * m.column]) : 0.0f;
    }
}

template <typename T>
[[kernel]] void multiply(device const T *left [[buffer(0)]], device const T *right [[buffer(1)]],
                         device T *result [[buffer(2)]], constant Product &p [[buffer(3)]],
                         uint3 group [[threadgroup_position_in_grid]], uint3 at [[thread_position_in_threadgroup]]) {
    threadgroup float a[tile_rows * depth], b[depth * tile_columns];
    left += group.z * p.left.matrix, right += group.z * p.right.matrix, result += group.z * p.result.matrix;
    uint first_row = group.y * tile_rows, first_column = group.x * tile_columns, index = at.y * side + at.x;
    float sums[4][2] = {};
    for (uint k = 0; k < p.inner; k += depth) {
        load(left, p.left, uint2(k, first_row), uint2(p.inner, p.rows), a, tile_rows, depth, index);
        load(right, p.right, uint2(first_column, k), uint2(p.columns, p.inner), b, depth, tile_columns, index);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < depth; i++)
            for (uint r = 0; r < 4; r++)
                for (uint c = 0; c < 2; c++)
                    sums[r][c] = fma(a[(at.y + r * side) * depth + i], b[i * tile_columns + at.x + c * side], sums[r][c]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint r = 0; r < 4; r++)
        for (uint c = 0; c < 2; c++) {
            uint row = first_row + at.y + r * side, column = first_column + at.x + c * side;
            if (row >= p.rows || column >= p.columns) continue;
            device T &out = result[ulong(row) * p.result.row + ulong(column) * p.result.column];
            // What is not added may be anything, NaN among it.
            out = T(p.beta == 0 ? p.alpha * sums[r][c] : fma(p.beta, float(out), p.alpha * sums[r][c]));
        }
}

template [[host_name("multiply_f32")]] [[kernel]] void multiply<float>(device const float *, device const float *,
                                                                       device float *, constant Product &, uint3,
                                                                       uint3);
template [[host_name("multiply_f16")]] [[kernel]] void multiply<half>(device const half *, device const half *,
                                                                      device half *, constant Product &, uint3, uint3);
