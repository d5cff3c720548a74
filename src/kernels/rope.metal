// SPDX-License-Identifier: Apache-2.0
// Rotary positions: a thread for each pair, or for two elements that are not rotated.

// Matches igi_metal_rope_layout.
struct Rope {
    uint sequence, dims, dim;
    int x_strides[4], out_strides[4], position_strides[2];
    uint has_positions, interleaved;
    ulong position;
};

// turns[i]: the rotation of pair i from one position to the next, as a fraction of a full turn times 2^64.
template <typename T>
kernel void rope(device const T *x [[buffer(0)]], device const long *positions [[buffer(1)]],
                 device T *out [[buffer(2)]], constant Rope &r [[buffer(3)]], constant ulong *turns [[buffer(4)]],
                 uint3 at [[thread_position_in_grid]]) {
    int batch = int(at.z / r.sequence), token = int(at.z % r.sequence);
    ulong position = r.position + ulong(r.has_positions ? positions[batch * r.position_strides[0] +
                                                                    token * r.position_strides[1]]
                                                        : long(token));
    x += batch * r.x_strides[0] + token * r.x_strides[1] + int(at.y) * r.x_strides[2];
    out += batch * r.out_strides[0] + token * r.out_strides[1] + int(at.y) * r.out_strides[2];
    uint half_dims = r.dims / 2, i = at.x;
    if (i >= half_dims) {
        for (uint e = 2 * i; e < min(2 * i + 2, r.dim); e++)
            out[int(e) * r.out_strides[3]] = x[int(e) * r.x_strides[3]];
        return;
    }
    float angle = float(int((turns[i] * position) >> 32)) * 1.4629180792671596e-9f;  // 2 pi / 2^32
    float c = cos(angle), s = sin(angle);
    int first = int(r.interleaved ? 2 * i : i), second = int(r.interleaved ? 2 * i + 1 : i + half_dims);
    float a = float(x[first * r.x_strides[3]]), b = float(x[second * r.x_strides[3]]);
    out[first * r.out_strides[3]] = T(a * c - b * s);
    out[second * r.out_strides[3]] = T(a * s + b * c);
}

#define ROPE(suffix, T, name)                                                                                 \
    template [[host_name(#name "_" #suffix)]] kernel void rope<T>(                                            \
        device const T *, device const long *, device T *, constant Rope &, constant ulong *, uint3);
FOR_FLOATS(ROPE, rope)
