// SPDX-License-Identifier: Apache-2.0
// Matrix products: out = alpha a b + beta c, in float or, for integers, in their bits, which wrap around. Operands are
// transposed by their strides.

// Matches igi_metal_product.
struct Product {
    uint rows, columns, inner;
    int a_row, a_column, b_row, b_column, c_row, c_column, out_row, out_column;  // strides, in elements
    float alpha, beta;
    uint adds;  // there is a c
    long whole_alpha, whole_beta;  // of integers
};

// The type in which products are added up.
template <typename T>
struct Sum {
    typedef float Type;
};
template <>
struct Sum<int> {
    typedef uint Type;
};
template <>
struct Sum<long> {
    typedef ulong Type;
};
static float plus_product(float a, float b, float sum) { return fma(a, b, sum); }
static uint plus_product(uint a, uint b, uint sum) { return sum + a * b; }
static ulong plus_product(ulong a, ulong b, ulong sum) { return sum + a * b; }

template <typename T>
static T scaled(float sum, device const T *c, constant Product &p) {
    return T(p.adds ? fma(p.beta, float(*c), p.alpha * sum) : p.alpha * sum);
}
template <typename T, typename S>
static T scaled_bits(S sum, device const T *c, constant Product &p) {
    S result = sum * S(p.whole_alpha);
    return T(p.adds ? result + S(p.whole_beta) * S(*c) : result);
}
static int scaled(uint sum, device const int *c, constant Product &p) { return scaled_bits<int, uint>(sum, c, p); }
static long scaled(ulong sum, device const long *c, constant Product &p) {
    return scaled_bits<long, ulong>(sum, c, p);
}

// Tiles of both matrices in threadgroup memory, filled by groups of width x height threads. Operands 0 and 1 of
// `consecutive` are the rows of a and b. Outside of the matrices there are zeros.
constant constexpr uint tile_inner = 32;

template <uint rows, uint columns, uint width, uint height, uint operand, typename S, typename T>
static void fill_tile(threadgroup S (*tile)[columns], device const T *from, uint top, uint left, uint row_end,
                      uint column_end, int row_stride, int column_stride, uint2 place) {
    bool whole = top + rows <= row_end && left + columns <= column_end;
    for (uint row = place.y; row < rows; row += height)
        for (uint c = 0; c < columns; c += width) {
            uint column = c + place.x;
            device const T *element = from + int(top + row) * row_stride + move_by(operand, left + column, column_stride);
            if (whole)
                tile[row][column] = S(*element);
            else
                tile[row][column] = top + row < row_end && left + column < column_end ? S(*element) : S(0);
        }
}

// 16 by 16 threads, each with a block of the result in registers.
constant constexpr uint block_rows = 4, block_columns = 2;

template <typename T>
kernel void matmul_tiled(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]],
                         device const T *c [[buffer(2)]], device T *out [[buffer(3)]],
                         constant Product &p [[buffer(4)]], constant Layout &batches [[buffer(5)]],
                         uint3 group [[threadgroup_position_in_grid]],
                         uint3 place [[thread_position_in_threadgroup]]) {
    typedef typename Sum<T>::Type S;
    constexpr uint tile_rows = 16 * block_rows, tile_columns = 16 * block_columns;
    threadgroup S a_tile[tile_rows][tile_inner], b_tile[tile_inner][tile_columns];
    a += offset_of(group.z, batches.rank, batches, 1);
    b += offset_of(group.z, batches.rank, batches, 2);
    c += offset_of(group.z, batches.rank, batches, 3);
    out += offset_of(group.z, batches.rank, batches, 0);
    uint top = group.y * tile_rows, left = group.x * tile_columns;
    S sums[block_rows][block_columns];
    for (uint i = 0; i < block_rows; i++)
        for (uint j = 0; j < block_columns; j++) sums[i][j] = S(0);
    for (uint from = 0; from < p.inner; from += tile_inner) {
        fill_tile<tile_rows, tile_inner, 16, 16, 0>(a_tile, a, top, from, p.rows, p.inner, p.a_row, p.a_column,
                                                    place.xy);
        fill_tile<tile_inner, tile_columns, 16, 16, 1>(b_tile, b, from, left, p.inner, p.columns, p.b_row, p.b_column,
                                                       place.xy);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < tile_inner; k++) {
            S as[block_rows], bs[block_columns];
            for (uint i = 0; i < block_rows; i++) as[i] = a_tile[place.y * block_rows + i][k];
            for (uint j = 0; j < block_columns; j++) bs[j] = b_tile[k][place.x + 16 * j];
            for (uint i = 0; i < block_rows; i++)
                for (uint j = 0; j < block_columns; j++) sums[i][j] = plus_product(as[i], bs[j], sums[i][j]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint i = 0; i < block_rows; i++) {
        uint row = top + place.y * block_rows + i;
        for (uint j = 0; j < block_columns; j++) {
            uint column = left + place.x + 16 * j;
            if (row < p.rows && column < p.columns)
                out[int(row) * p.out_row + move_by(2, column, p.out_column)] =
                    scaled(sums[i][j], c + (int(row) * p.c_row + int(column) * p.c_column), p);
        }
    }
}

// 8 by 8 simdgroup matrices: four of them, each with 16 by 32 of the result.
template <typename T>
kernel void matmul_simdgroup(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]],
                             device const T *c [[buffer(2)]], device T *out [[buffer(3)]],
                             constant Product &p [[buffer(4)]], constant Layout &batches [[buffer(5)]],
                             uint3 group [[threadgroup_position_in_grid]],
                             uint3 place [[thread_position_in_threadgroup]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    constexpr uint tile_rows = 32, tile_columns = 64;
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
        for (uint j = 0; j < 4; j++) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    for (uint from = 0; from < p.inner; from += tile_inner) {
        fill_tile<tile_rows, tile_inner, 32, 4, 0>(a_tile, a, top, from, p.rows, p.inner, p.a_row, p.a_column,
                                                    place.xy);
        fill_tile<tile_inner, tile_columns, 32, 4, 1>(b_tile, b, from, left, p.inner, p.columns, p.b_row, p.b_column,
                                                      place.xy);
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
    for (uint y = place.y; y < tile_rows; y += 4)
        for (uint x = place.x; x < tile_columns; x += 32) {
            uint row = top + y, column = left + x;
            if (row < p.rows && column < p.columns)
                out[int(row) * p.out_row + move_by(2, column, p.out_column)] =
                    scaled(result[y][x], c + (int(row) * p.c_row + int(column) * p.c_column), p);
        }
}

// One simdgroup for each element of the result: few elements, long sums. `in_order`: contiguous along both operands.
template <typename T, bool in_order>
kernel void matmul_dots(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]],
                        device const T *c [[buffer(2)]], device T *out [[buffer(3)]],
                        constant Product &p [[buffer(4)]], constant Layout &batches [[buffer(5)]],
                        uint3 group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    a += offset_of(group.z, batches.rank, batches, 1) + int(group.y) * p.a_row;
    b += offset_of(group.z, batches.rank, batches, 2) + int(group.x) * p.b_column;
    float sum = 0.0f;
    for (uint k = lane; k < p.inner; k += 32)
        sum = fma(float(a[in_order ? int(k) : int(k) * p.a_column]), float(b[in_order ? int(k) : int(k) * p.b_row]),
                  sum);
    sum = simd_sum(sum);
    int at_c = offset_of(group.z, batches.rank, batches, 3) + int(group.y) * p.c_row + int(group.x) * p.c_column;
    int at = offset_of(group.z, batches.rank, batches, 0) + int(group.y) * p.out_row + int(group.x) * p.out_column;
    if (lane == 0) out[at] = scaled(sum, c + at_c, p);
}

// One thread for each element of the result: a row times a matrix with contiguous rows, and small inner sizes.
template <typename T>
kernel void matmul_rows(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]],
                        device const T *c [[buffer(2)]], device T *out [[buffer(3)]],
                        constant Product &p [[buffer(4)]], constant Layout &batches [[buffer(5)]],
                        uint3 at [[thread_position_in_grid]]) {
    a += offset_of(at.z, batches.rank, batches, 1) + int(at.y) * p.a_row;
    b += offset_of(at.z, batches.rank, batches, 2) + move_by(1, at.x, p.b_column);
    typedef typename Sum<T>::Type S;
    S sum = S(0);
    for (uint k = 0; k < p.inner; k++) sum = plus_product(S(a[int(k) * p.a_column]), S(b[int(k) * p.b_row]), sum);
    int at_c = offset_of(at.z, batches.rank, batches, 3) + int(at.y) * p.c_row + int(at.x) * p.c_column;
    int at_out = offset_of(at.z, batches.rank, batches, 0) + int(at.y) * p.out_row + move_by(2, at.x, p.out_column);
    out[at_out] = scaled(sum, c + at_c, p);
}

#define OPERANDS(T) device const T *, device const T *, device const T *, device T *, constant Product &, constant Layout &
#define INSTANCES(suffix, T, unused)                                                                                  \
    template [[host_name("tiled_" #suffix)]] kernel void matmul_tiled<T>(OPERANDS(T), uint3, uint3);                   \
    template [[host_name("simdgroup_" #suffix)]] kernel void matmul_simdgroup<T>(OPERANDS(T), uint3, uint3, uint);     \
    template [[host_name("dots_" #suffix)]] kernel void matmul_dots<T, true>(OPERANDS(T), uint3, uint);               \
    template [[host_name("dots_strided_" #suffix)]] kernel void matmul_dots<T, false>(OPERANDS(T), uint3, uint);      \
    template [[host_name("rows_" #suffix)]] kernel void matmul_rows<T>(OPERANDS(T), uint3);
FOR_FLOATS(INSTANCES, )

#define INTEGERS(suffix, T)                                                                         \
    template [[host_name("tiled_" #suffix)]] kernel void matmul_tiled<T>(OPERANDS(T), uint3, uint3); \
    template [[host_name("rows_" #suffix)]] kernel void matmul_rows<T>(OPERANDS(T), uint3);
INTEGERS(i32, int)
INTEGERS(i64, long)
