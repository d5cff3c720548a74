// Lanes that load their own two elements of simdgroup matrices, from places they compute from their number.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

static short2 place(ushort lane) {
  const short quad = lane / 4;
  return short2((quad & 2) * 2 + (lane % 2) * 2, (quad & 4) + (lane / 2) % 4);
}

template <class T> static void load(thread simdgroup_float8x8 &m, const threadgroup T *from, short across) {
  m.thread_elements()[0] = float(from[0]);
  m.thread_elements()[1] = float(from[across]);
}

// c[w] = a * b + a * b, for the 8 rows of a and columns of b that simdgroup w has. A column of a is `A` elements after the
// one before it, a row `R`; the same for b.
template <class T, short A, short AR, short B, short BR>
static void multiply(device const T *a, device const T *b, device float *c, threadgroup T *left, threadgroup T *right,
                     ushort lane, ushort w, uint thread_index, uint threads) {
  for (uint i = thread_index; i < 400; i += threads) left[i] = a[i], right[i] = b[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  short2 at = place(lane);
  short from_left = (8 * w + at.y) * AR + at.x * A, from_right = at.y * BR + (8 * w + at.x) * B;
  simdgroup_float8x8 x, y, z = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  load(x, left + from_left, A);
  load(y, right + from_right, B);
  simdgroup_multiply_accumulate(z, x, y, z);
  simdgroup_multiply_accumulate(z, x, y, z);
  c += 64 * w + at.y * 8 + at.x;
  c[0] = z.thread_elements()[0];
  c[1] = z.thread_elements()[1];
}

#define LANES ushort lane [[thread_index_in_simdgroup]], ushort w [[simdgroup_index_in_threadgroup]], \
              uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]
#define PRODUCT(name, T, A, AR, B, BR)                                                           \
  kernel void name(device const T *a, device const T *b, device float *c, LANES) {               \
    threadgroup T left[400], right[400];                                                         \
    multiply<T, A, AR, B, BR>(a, b, c, left, right, lane, w, i, n);                              \
  }
PRODUCT(rows, float, 1, 20, 1, 36)
PRODUCT(right_transposed, float, 1, 20, 12, 1)
PRODUCT(left_transposed, float, 17, 1, 1, 36)
PRODUCT(rows_of_halves, half, 1, 20, 1, 36)
PRODUCT(transposed_bfloats, bfloat, 17, 1, 12, 1)

// Not a matrix: the rows of the upper lanes are exchanged.
kernel void other_order(device const float *a, device float *c, ushort lane [[thread_index_in_simdgroup]]) {
  short2 at = place(lane ^ (lane & 16 ? 2 : 0));
  simdgroup_float8x8 x, one(1.0f), z;
  x.thread_elements()[0] = a[at.y * 8 + at.x];
  x.thread_elements()[1] = a[at.y * 8 + at.x + 1];
  simdgroup_multiply(z, x, one);
  simdgroup_store(z, c, 8);
}

// A store between the two loads.
kernel void written_between(device float *a, device float *c, ushort lane [[thread_index_in_simdgroup]]) {
  short2 at = place(lane);
  simdgroup_float8x8 x, one(1.0f), z;
  x.thread_elements()[0] = a[at.y * 8 + at.x];
  a[at.y * 8 + at.x + 1] = -1;
  x.thread_elements()[1] = a[at.y * 8 + at.x + 1];
  simdgroup_multiply(z, x, one);
  simdgroup_store(z, c, 8);
}

// Only some lanes load.
kernel void some_lanes(device const float *a, device float *c, constant uint &from, ushort lane [[thread_index_in_simdgroup]]) {
  short2 at = place(lane);
  simdgroup_float8x8 x = make_filled_simdgroup_matrix<float, 8, 8>(5.0f), one(1.0f), z;
  if (lane >= from) {
    x.thread_elements()[0] = a[at.y * 8 + at.x];
    x.thread_elements()[1] = a[at.y * 8 + at.x + 1];
  }
  simdgroup_multiply(z, x, one);
  simdgroup_store(z, c, 8);
}
