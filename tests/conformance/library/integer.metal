// Integer functions (MSL 6.4).
#include <metal_stdlib>
using namespace metal;

#define ONE(name, T) kernel void name##_##T(device const T *a, device T *out, uint i [[thread_position_in_grid]]) { out[i] = name(a[i]); }
#define TWO(name, T) kernel void name##_##T(device const T *a, device const T *b, device T *out, uint i [[thread_position_in_grid]]) { out[i] = name(a[i], b[i]); }
#define THREE(name, T) kernel void name##_##T(device const T *a, device const T *b, device const T *c, device T *out, uint i [[thread_position_in_grid]]) { out[i] = name(a[i], b[i], c[i]); }
ONE(abs, int) ONE(abs, char) ONE(abs, short4)
ONE(clz, uint) ONE(clz, short) ONE(clz, uchar) ONE(clz, ulong)
ONE(ctz, uint) ONE(ctz, ushort) ONE(ctz, int4)
ONE(popcount, uint) ONE(popcount, char) ONE(popcount, ulong) ONE(popcount, uchar4)
ONE(reverse_bits, uint) ONE(reverse_bits, uchar) ONE(reverse_bits, ushort)
TWO(addsat, int) TWO(addsat, uchar) TWO(addsat, char) TWO(addsat, uint) TWO(addsat, short4)
TWO(subsat, int) TWO(subsat, ushort) TWO(subsat, char) TWO(subsat, uint)
TWO(hadd, int) TWO(hadd, uchar) TWO(rhadd, int) TWO(rhadd, ushort)
TWO(mulhi, int) TWO(mulhi, uint) TWO(mulhi, short) TWO(mulhi, uchar) TWO(mulhi, ulong) TWO(mulhi, long)
TWO(rotate, uint) TWO(rotate, uchar) TWO(rotate, short)
TWO(min, int) TWO(max, uint) TWO(min, char4) TWO(max, long)
TWO(mul24, int) TWO(mul24, uint)
THREE(clamp, int) THREE(clamp, uchar) THREE(clamp, short4)
THREE(mad24, int) THREE(madhi, uint) THREE(madhi, short) THREE(madsat, int) THREE(madsat, uchar) THREE(madsat, uint)
THREE(min3, int) THREE(max3, short) THREE(median3, int) THREE(median3, uchar)
kernel void absdiff_int(device const int *a, device const int *b, device uint *out, uint i [[thread_position_in_grid]]) { out[i] = absdiff(a[i], b[i]); }
kernel void absdiff_char(device const char *a, device const char *b, device uchar *out, uint i [[thread_position_in_grid]]) { out[i] = absdiff(a[i], b[i]); }
kernel void extract_bits_int(device const int *a, device int *out, device const uint2 *f, uint i [[thread_position_in_grid]]) { out[i] = extract_bits(a[i], f[i].x, f[i].y); }
kernel void extract_bits_uint(device const uint *a, device uint *out, device const uint2 *f, uint i [[thread_position_in_grid]]) { out[i] = extract_bits(a[i], f[i].x, f[i].y); }
kernel void insert_bits_uint(device const uint *a, device const uint *b, device uint *out, device const uint2 *f, uint i [[thread_position_in_grid]]) { out[i] = insert_bits(a[i], b[i], f[i].x, f[i].y); }
