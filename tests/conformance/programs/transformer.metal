// The parts of a transformer.
#include <metal_stdlib>
using namespace metal;

static float group_max(float v, threadgroup float *shared, uint lane, uint warp, uint warps) {
  v = simd_max(v);
  if (lane == 0) shared[warp] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  v = simd_max(lane < warps ? shared[lane] : -INFINITY);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return v;
}
static float group_sum(float v, threadgroup float *shared, uint lane, uint warp, uint warps) {
  v = simd_sum(v);
  if (lane == 0) shared[warp] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  v = simd_sum(lane < warps ? shared[lane] : 0.0f);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return v;
}
// A row whose scores are all -inf gives zeros.
kernel void softmax_rows(device const float *in, device float *out, constant uint &columns, uint row [[threadgroup_position_in_grid]],
                         uint l [[thread_position_in_threadgroup]], uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                         uint warp [[simdgroup_index_in_threadgroup]], uint warps [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[32];
  device const float *x = in + row * columns;
  device float *y = out + row * columns;
  float largest = -INFINITY;
  for (uint k = l; k < columns; k += threads) largest = max(largest, x[k]);
  largest = group_max(largest, shared, lane, warp, warps);
  float total = 0;
  for (uint k = l; k < columns; k += threads) {
    float e = largest == -INFINITY ? 0.0f : exp(x[k] - largest);
    y[k] = e;
    total += e;
  }
  total = group_sum(total, shared, lane, warp, warps);
  float scale = total > 0 ? 1 / total : 0;
  for (uint k = l; k < columns; k += threads) y[k] *= scale;
}
kernel void softmax_one_thread_per_row(device const float *in, device float *out, constant uint &columns, uint row [[thread_position_in_grid]]) {
  device const float *x = in + row * columns;
  float m = -INFINITY, s = 0;
  for (uint k = 0; k < columns; k++) {
    float next = max(m, x[k]);
    s = s * exp(m - next) + exp(x[k] - next);
    m = next;
  }
  for (uint k = 0; k < columns; k++) out[row * columns + k] = exp(x[k] - m) / s;
}
kernel void rmsnorm(device const float *in, device const float *weight, device float *out, constant uint &size, constant float &eps, uint row [[threadgroup_position_in_grid]],
                    uint l [[thread_position_in_threadgroup]], uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                    uint warp [[simdgroup_index_in_threadgroup]], uint warps [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[32];
  device const float *x = in + row * size;
  float sum = 0;
  for (uint k = l; k < size; k += threads) sum += x[k] * x[k];
  sum = group_sum(sum, shared, lane, warp, warps);
  float scale = rsqrt(sum / size + eps);
  for (uint k = l; k < size; k += threads) out[row * size + k] = x[k] * scale * weight[k];
}
kernel void layernorm(device const float4 *in, device const float4 *weight, device const float4 *bias, device float4 *out, constant uint &quads, uint row [[threadgroup_position_in_grid]],
                      uint l [[thread_position_in_threadgroup]], uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                      uint warp [[simdgroup_index_in_threadgroup]], uint warps [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[32];
  device const float4 *x = in + row * quads;
  float sum = 0;
  for (uint k = l; k < quads; k += threads) sum += dot(x[k], float4(1));
  float mean = group_sum(sum, shared, lane, warp, warps) / (4 * quads);
  float squares = 0;
  for (uint k = l; k < quads; k += threads) {
    float4 d = x[k] - mean;
    squares += dot(d, d);
  }
  float scale = rsqrt(group_sum(squares, shared, lane, warp, warps) / (4 * quads) + 1e-5f);
  for (uint k = l; k < quads; k += threads) out[row * quads + k] = (x[k] - mean) * scale * weight[k] + bias[k];
}
// Half-split rotary embedding: element j pairs with j + dim / 2.
kernel void rope_half_split(device float *q, constant uint &dim, constant uint &position, constant float &base, uint2 p [[thread_position_in_grid]]) {
  uint half_dim = dim / 2, head = p.y, j = p.x;
  if (j >= half_dim) return;
  float angle = float(position) * pow(base, -2.0f * float(j) / float(dim));
  float c, s = sincos(angle, c);
  device float *v = q + head * dim;
  float a = v[j], b = v[j + half_dim];
  v[j] = a * c - b * s;
  v[j + half_dim] = a * s + b * c;
}
kernel void attention_scores(device const float *q, device const float *k, device float *scores, constant uint &dim, constant uint &position, uint2 p [[thread_position_in_grid]],
                             uint2 n [[threads_per_grid]]) {
  float sum = 0;
  for (uint d = 0; d < dim; d++) sum += q[p.y * dim + d] * k[p.x * dim + d];
  scores[p.y * n.x + p.x] = p.x <= position ? sum * rsqrt(float(dim)) : -INFINITY;
}
kernel void attention_output(device const float *weights, device const float *v, device float *out, constant uint &length, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
  float sum = 0;
  for (uint t = 0; t < length; t++) sum = fma(weights[p.y * length + t], v[t * n.x + p.x], sum);
  out[p.y * n.x + p.x] = sum;
}
// One simdgroup per query: scores, softmax and weighted sum without ever storing them (online softmax).
kernel void attention_online(device const float *q, device const float *k, device const float *v, device float *out, constant uint &length, uint query [[threadgroup_position_in_grid]],
                             uint lane [[thread_index_in_simdgroup]]) {
  float mine = q[query * 32 + lane] * 0.17677669529663687f;
  float largest = -INFINITY, total = 0, sum = 0;
  for (uint t = 0; t < length; t++) {
    float score = simd_sum(mine * k[t * 32 + lane]);
    float next = max(largest, score);
    float scale = exp(largest - next), weight = exp(score - next);
    total = total * scale + weight;
    sum = sum * scale + weight * v[t * 32 + lane];
    largest = next;
  }
  out[query * 32 + lane] = sum / total;
}
kernel void silu_multiply(device const half *gate, device const half *up, device half *out, uint i [[thread_position_in_grid]]) {
  float g = gate[i];
  out[i] = half(g / (1.0f + exp(-g)) * float(up[i]));
}
kernel void gelu_tanh(device const float *in, device float *out, uint i [[thread_position_in_grid]]) {
  float x = in[i];
  out[i] = 0.5f * x * (1.0f + tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
}
// 32 weights to a block: half scale, 16 bytes of 4-bit values, low nibbles first half (GGML's Q4_0).
struct BlockQ4 { half scale; uchar quants[16]; };
kernel void dequantise_dot_q4(device const BlockQ4 *blocks, device const float *x, device float *out, constant uint &blocks_per_row, uint row [[threadgroup_position_in_grid]],
                              uint lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
  for (uint b = lane; b < blocks_per_row; b += 32) {
    device const BlockQ4 &block = blocks[row * blocks_per_row + b];
    device const float *values = x + 32 * b;
    float s = 0;
    for (uint k = 0; k < 16; k++) {
      s += float((block.quants[k] & 15) - 8) * values[k];
      s += float((block.quants[k] >> 4) - 8) * values[k + 16];
    }
    sum += s * float(block.scale);
  }
  sum = simd_sum(sum);
  if (lane == 0) out[row] = sum;
}
kernel void embedding_lookup(device const half *table, device const int *tokens, device float *out, constant uint &width, uint2 p [[thread_position_in_grid]]) {
  out[p.y * width + p.x] = float(table[uint(tokens[p.y]) * width + p.x]);
}
kernel void argmax(device const float *logits, device uint *out, constant uint &n, uint l [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]]) {
  threadgroup float best[256];
  threadgroup uint index[256];
  float b = -INFINITY;
  uint at = 0;
  for (uint k = l; k < n; k += threads)
    if (logits[k] > b) b = logits[k], at = k;
  best[l] = b;
  index[l] = at;
  for (uint stride = 128; stride > 0; stride /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l < stride && (best[l + stride] > best[l] || (best[l + stride] == best[l] && index[l + stride] < index[l]))) {
      best[l] = best[l + stride];
      index[l] = index[l + stride];
    }
  }
  if (l == 0) out[0] = index[0];
}
