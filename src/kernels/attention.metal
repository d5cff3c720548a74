// SPDX-License-Identifier: Apache-2.0
// Attention without a score matrix: softmax key by key (Milakov and Gimelshein, 2018; Dao et al., 2022).

// Matches igi_metal_attend.
struct Attend {
    uint queries, heads, key_heads, dim, value_dim;
    uint keys, slots, start;  // key j is in slot start + j, wrapping around
    int q[4], k[4], v[4], out[4];  // strides in elements
    float scale;
    uint query_position, window, causal;
};

static uint2 visible(constant Attend &a, uint query) {
    uint position = a.query_position + query, begin = 0, end = a.keys;
    if (a.causal && position < a.keys) end = position + 1;
    if (a.window && position >= a.window) begin = position + 1 - a.window;
    return uint2(min(begin, end), end);
}

static int slot_of(constant Attend &a, uint key) {
    uint slot = a.start + key;
    return int(slot < a.slots ? slot : slot - a.slots);
}

// Within a head; the function constant says whether elements of all operands are contiguous there.
static int along(uint i, constant int *strides) {
    return consecutive & 1 ? int(i) : int(i) * strides[3];
}

constant constexpr uint at_once = 4;

// A thread for each query of a head: all queries of a group read the same keys and values at the same time. Wider heads
// have fewer queries in a group, so that they fit into 32 KB of threadgroup memory.
template <typename T, typename K, uint max_dim, uint lanes>
kernel void attention_many(device const T *q [[buffer(0)]], device const K *k [[buffer(1)]],
                           device const K *v [[buffer(2)]], device T *out [[buffer(3)]],
                           constant Attend &a [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_threadgroup]]) {
    threadgroup float query[max_dim][lanes], result[max_dim][lanes];
    uint head = group.y, batch = group.z, first = group.x * lanes, index = first + lane;
    bool there = index < a.queries;
    q += int(batch) * a.q[0] + int(there ? index : 0) * a.q[1] + int(head) * a.q[2];
    k += int(batch) * a.k[0] + int(head / (a.heads / a.key_heads)) * a.k[2];
    v += int(batch) * a.v[0] + int(head / (a.heads / a.key_heads)) * a.v[2];
    for (uint i = 0; i < a.dim; i++) query[i][lane] = float(q[along(i, a.q)]) * a.scale;
    for (uint i = 0; i < a.value_dim; i++) result[i][lane] = 0.0f;
    uint2 seen = visible(a, index), from = visible(a, first), to = visible(a, min(first + lanes, a.queries) - 1);
    float most = -INFINITY, sum = 0.0f;
    for (uint key = from.x; key < to.y; key += at_once) {
        int slots[at_once];
        float s[at_once] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (uint t = 0; t < at_once; t++) slots[t] = slot_of(a, min(key + t, a.keys - 1));
        for (uint i = 0; i < a.dim; i++) {
            float x = query[i][lane];
            for (uint t = 0; t < at_once; t++) s[t] = fma(x, float(k[slots[t] * a.k[1] + along(i, a.k)]), s[t]);
        }
        float next = most;
        for (uint t = 0; t < at_once; t++) {
            s[t] = key + t >= seen.x && key + t < seen.y ? s[t] : -INFINITY;
            next = s[t] > next ? s[t] : next;
        }
        float shift = next == -INFINITY ? 0.0f : next, rescale = exp(most - shift);
        sum *= rescale;
        for (uint t = 0; t < at_once; t++) {
            s[t] = exp(s[t] - shift);
            sum += s[t];
        }
        most = next;
        for (uint i = 0; i < a.value_dim; i++) {
            float x = result[i][lane] * rescale;
            for (uint t = 0; t < at_once; t++) x = fma(s[t], float(v[slots[t] * a.v[1] + along(i, a.v)]), x);
            result[i][lane] = x;
        }
    }
    if (!there) return;
    out += int(batch) * a.out[0] + int(index) * a.out[1] + int(head) * a.out[2];
    float scale = sum == 0.0f ? 0.0f : 1.0f / sum;
    for (uint i = 0; i < a.value_dim; i++) out[along(i, a.out)] = T(result[i][lane] * scale);
}

// A simdgroup for each query of a head, with its threads along the elements: for few queries.
template <typename T, typename K, uint max_dim, uint lanes>
kernel void attention_few(device const T *q [[buffer(0)]], device const K *k [[buffer(1)]],
                          device const K *v [[buffer(2)]], device T *out [[buffer(3)]],
                          constant Attend &a [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
    constexpr uint parts = max_dim / lanes;
    uint index = group.x, head = group.y, batch = group.z;
    q += int(batch) * a.q[0] + int(index) * a.q[1] + int(head) * a.q[2];
    k += int(batch) * a.k[0] + int(head / (a.heads / a.key_heads)) * a.k[2];
    v += int(batch) * a.v[0] + int(head / (a.heads / a.key_heads)) * a.v[2];
    float query[parts], result[parts];
    for (uint p = 0; p < parts; p++) {
        uint i = p * lanes + lane;
        query[p] = i < a.dim ? float(q[along(i, a.q)]) * a.scale : 0.0f;
        result[p] = 0.0f;
    }
    uint2 seen = visible(a, index);
    float most = -INFINITY, sum = 0.0f;
    for (uint key = seen.x; key < seen.y; key += lanes) {
        uint count = min(lanes, seen.y - key);
        float score = -INFINITY;
        for (uint t = 0; t < count; t++) {
            int slot = slot_of(a, key + t);
            float s = 0.0f;
            for (uint p = 0; p < parts; p++) {
                uint i = p * lanes + lane;
                if (i < a.dim) s = fma(query[p], float(k[slot * a.k[1] + along(i, a.k)]), s);
            }
            s = simd_sum(s);
            score = t == lane ? s : score;
        }
        float here = simd_max(score), next = here > most ? here : most;
        float shift = next == -INFINITY ? 0.0f : next, rescale = exp(most - shift), weight = exp(score - shift);
        sum = sum * rescale + simd_sum(weight);
        most = next;
        for (uint p = 0; p < parts; p++) result[p] *= rescale;
        for (uint t = 0; t < count; t++) {
            int slot = slot_of(a, key + t);
            float w = simd_broadcast(weight, ushort(t));
            for (uint p = 0; p < parts; p++) {
                uint i = p * lanes + lane;
                if (i < a.value_dim) result[p] = fma(w, float(v[slot * a.v[1] + along(i, a.v)]), result[p]);
            }
        }
    }
    out += int(batch) * a.out[0] + int(index) * a.out[1] + int(head) * a.out[2];
    float scale = sum == 0.0f ? 0.0f : 1.0f / sum;
    for (uint p = 0; p < parts; p++) {
        uint i = p * lanes + lane;
        if (i < a.value_dim) out[along(i, a.out)] = T(result[p] * scale);
    }
}

#define INSTANCE(name, kind, suffix, T, K, max_dim, lanes)                                                    \
    template [[host_name(#name "_" #suffix)]] kernel void attention_##kind<T, K, max_dim, lanes>(             \
        device const T *, device const K *, device const K *, device T *, constant Attend &, uint3, uint);
#define BOTH(suffix, T, K)                         \
    INSTANCE(many, many, suffix, T, K, 128, 32)      \
    INSTANCE(many_wide, many, suffix, T, K, 256, 16) \
    INSTANCE(few, few, suffix, T, K, 128, 32)        \
    INSTANCE(few_wide, few, suffix, T, K, 256, 32)
BOTH(f32_f32, float, float)
BOTH(f16_f16, half, half)
BOTH(bf16_bf16, bfloat, bfloat)
BOTH(f32_f16, float, half)
BOTH(f32_bf16, float, bfloat)
