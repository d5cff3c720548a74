// SPDX-License-Identifier: Apache-2.0
// Reductions: threads add up elements that are a group apart, simdgroups their threads, the group its simdgroups. Long
// ones are cut into parts, one for each group, whose states a second kernel combines.

// Matches igi_metal_reduction.
struct Reduction {
    uint length;              // elements of one result
    uint parts, part_length;  // of them
    float correction;
};

// ---- States: initial, with one more element, two combined, over a simdgroup, the result ----

template <typename State, typename Op>
static State tree(State s) {
    for (ushort distance = 16; distance > 0; distance /= 2) s = Op::merge(s, Op::down(s, distance));
    return s;
}

struct Scalars {
    typedef float State, Element;
    static float down(float s, ushort distance) { return simd_shuffle_down(s, distance); }
};

struct Sums : Scalars {
    static float init() { return 0.0f; }
    static float merge(float a, float b) { return a + b; }
    static float across(float s) { return simd_sum(s); }
};
struct sum_op : Sums {
    static float add(float s, float x, uint) { return s + x; }
    static float finish(float s, constant Reduction &) { return s; }
};
struct mean_op : Sums {
    static float add(float s, float x, uint) { return s + x; }
    static float finish(float s, constant Reduction &r) { return s / float(r.length); }
};
struct norm1_op : Sums {
    static float add(float s, float x, uint) { return s + abs(x); }
    static float finish(float s, constant Reduction &) { return s; }
};
struct norm2_op : Sums {
    static float add(float s, float x, uint) { return fma(x, x, s); }
    static float finish(float s, constant Reduction &) { return sqrt(s); }
};

// With a separate exponent: intermediate results may leave the range of float and come back.
struct Scaled {
    float fraction;
    int exponent;
};
struct prod_op {
    typedef Scaled State;
    typedef float Element;
    static Scaled init() { return {1.0f, 0}; }
    static Scaled merge(Scaled a, Scaled b) {
        int exponent;
        float fraction = frexp(a.fraction * b.fraction, exponent);
        return {fraction, a.exponent + b.exponent + exponent};
    }
    static Scaled add(Scaled s, float x, uint) {
        int exponent;
        float fraction = frexp(x, exponent);
        return merge(s, Scaled{fraction, exponent});
    }
    static Scaled down(Scaled s, ushort distance) {
        return {simd_shuffle_down(s.fraction, distance), simd_shuffle_down(s.exponent, distance)};
    }
    static Scaled across(Scaled s) { return tree<Scaled, prod_op>(s); }
    static float finish(Scaled s, constant Reduction &) { return ldexp(s.fraction, clamp(s.exponent, -300, 300)); }
};

// NaN is larger than everything, and smaller.
struct max_op : Scalars {
    static float init() { return -INFINITY; }
    static float add(float s, float x, uint) { return isnan(x) || x > s ? x : s; }
    static float merge(float a, float b) { return isnan(b) || b > a ? b : a; }
    static float across(float s) { return tree<float, max_op>(s); }
    static float finish(float s, constant Reduction &) { return s; }
};
struct min_op : Scalars {
    static float init() { return INFINITY; }
    static float add(float s, float x, uint) { return isnan(x) || x < s ? x : s; }
    static float merge(float a, float b) { return isnan(b) || b < a ? b : a; }
    static float across(float s) { return tree<float, min_op>(s); }
    static float finish(float s, constant Reduction &) { return s; }
};
struct norminf_op : Scalars {
    static float init() { return 0.0f; }
    static float add(float s, float x, uint) { return max_op::add(s, abs(x), 0); }
    static float merge(float a, float b) { return max_op::merge(a, b); }
    static float across(float s) { return tree<float, max_op>(s); }
    static float finish(float s, constant Reduction &) { return s; }
};

struct any_op : Scalars {
    static float init() { return 0.0f; }
    static float add(float s, float x, uint) { return x != 0.0f ? 1.0f : s; }
    static float merge(float a, float b) { return max(a, b); }
    static float across(float s) { return simd_max(s); }
    static float finish(float s, constant Reduction &) { return s; }
};
struct all_op : Scalars {
    static float init() { return 1.0f; }
    static float add(float s, float x, uint) { return x == 0.0f ? 0.0f : s; }
    static float merge(float a, float b) { return min(a, b); }
    static float across(float s) { return simd_min(s); }
    static float finish(float s, constant Reduction &) { return s; }
};

// Welford, 1962; combined as in Chan, Golub and LeVeque, 1979.
struct Moments {
    float count, mean, squares;
};
struct variance_op {
    typedef Moments State;
    typedef float Element;
    static Moments init() { return {0.0f, 0.0f, 0.0f}; }
    static Moments add(Moments s, float x, uint) {
        float count = s.count + 1.0f, off = x - s.mean, mean = s.mean + off / count;
        return {count, mean, fma(off, x - mean, s.squares)};
    }
    static Moments merge(Moments a, Moments b) {
        float count = a.count + b.count, off = b.mean - a.mean, share = count > 0.0f ? b.count / count : 0.0f;
        return {count, fma(off, share, a.mean), a.squares + b.squares + off * off * a.count * share};
    }
    static Moments down(Moments s, ushort distance) {
        return {simd_shuffle_down(s.count, distance), simd_shuffle_down(s.mean, distance),
                simd_shuffle_down(s.squares, distance)};
    }
    static Moments across(Moments s) { return tree<Moments, variance_op>(s); }
    static float finish(Moments s, constant Reduction &r) {
        float freedom = float(r.length) - r.correction;
        return freedom > 0.0f ? s.squares / freedom : NAN;
    }
};

// The first of several equal ones.
struct Best {
    float value;
    uint index;
};
template <bool greatest>
struct Choose {
    typedef Best State;
    typedef float Element;
    static Best init() { return {greatest ? -INFINITY : INFINITY, 0xffffffffu}; }
    static Best merge(Best a, Best b) {
        bool above = greatest ? b.value > a.value : b.value < a.value, same = b.value == a.value;
        bool none = isnan(a.value), other = isnan(b.value);
        above = none || other ? !none : above;
        same = same || (none && other);
        bool second = above || (same && b.index < a.index);
        return {second ? b.value : a.value, second ? b.index : a.index};
    }
    static Best add(Best s, float x, uint index) { return merge(s, Best{x, index}); }
    static Best down(Best s, ushort distance) {
        return {simd_shuffle_down(s.value, distance), simd_shuffle_down(s.index, distance)};
    }
    static Best across(Best s) { return tree<Best, Choose>(s); }
    static long finish(Best s, constant Reduction &) { return long(s.index); }
};
typedef Choose<true> argmax_op;
typedef Choose<false> argmin_op;

// ---- States of integers, which wrap around ----

struct Integers {
    typedef long State, Element;
    static long down(long s, ushort distance) { return long(shuffle_down(ulong(s), distance)); }
    static long finish(long s, constant Reduction &) { return s; }
};
struct int_sum_op : Integers {
    static long init() { return 0; }
    static long merge(long a, long b) { return long(ulong(a) + ulong(b)); }
    static long add(long s, long x, uint) { return merge(s, x); }
    static long across(long s) { return tree<long, int_sum_op>(s); }
};
struct int_prod_op : Integers {
    static long init() { return 1; }
    static long merge(long a, long b) { return long(ulong(a) * ulong(b)); }
    static long add(long s, long x, uint) { return merge(s, x); }
    static long across(long s) { return tree<long, int_prod_op>(s); }
};
constant constexpr long least = -9223372036854775807L - 1, most = 9223372036854775807L;
struct int_max_op : Integers {
    static long init() { return least; }
    static long merge(long a, long b) { return b > a ? b : a; }
    static long add(long s, long x, uint) { return merge(s, x); }
    static long across(long s) { return tree<long, int_max_op>(s); }
};
struct int_min_op : Integers {
    static long init() { return most; }
    static long merge(long a, long b) { return b < a ? b : a; }
    static long add(long s, long x, uint) { return merge(s, x); }
    static long across(long s) { return tree<long, int_min_op>(s); }
};

struct BestInteger {
    long value;
    uint index;
};
template <bool greatest>
struct ChooseInteger {
    typedef BestInteger State;
    typedef long Element;
    static BestInteger init() { return {greatest ? least : most, 0xffffffffu}; }
    static BestInteger merge(BestInteger a, BestInteger b) {
        bool above = greatest ? b.value > a.value : b.value < a.value;
        bool second = above || (b.value == a.value && b.index < a.index);
        return {second ? b.value : a.value, second ? b.index : a.index};
    }
    static BestInteger add(BestInteger s, long x, uint index) { return merge(s, BestInteger{x, index}); }
    static BestInteger down(BestInteger s, ushort distance) {
        return {Integers::down(s.value, distance), simd_shuffle_down(s.index, distance)};
    }
    static BestInteger across(BestInteger s) { return tree<BestInteger, ChooseInteger>(s); }
    static long finish(BestInteger s, constant Reduction &) { return long(s.index); }
};
typedef ChooseInteger<true> int_argmax_op;
typedef ChooseInteger<false> int_argmin_op;

// ---- Kernels ----

// Over a threadgroup; thread 0 has the result.
template <typename Op>
static typename Op::State over_group(typename Op::State s, threadgroup typename Op::State *scratch, uint lane,
                                     uint simdgroup, uint simdgroups) {
    s = Op::across(s);
    if (simdgroups == 1) return s;
    if (lane == 0) scratch[simdgroup] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0) s = Op::across(lane < simdgroups ? scratch[lane] : Op::init());
    return s;
}

// A group for each part (x) of each result (y). `in_order`: the elements of a result are contiguous.
template <typename T, typename R, typename Op, bool in_order>
kernel void reduce(device const T *x [[buffer(0)]], device R *out [[buffer(1)]],
                   device typename Op::State *states [[buffer(2)]], constant Reduction &r [[buffer(3)]],
                   constant Layout &kept [[buffer(4)]], constant Layout &reduced [[buffer(5)]],
                   uint2 group [[threadgroup_position_in_grid]], uint2 place [[thread_position_in_threadgroup]],
                   uint2 size [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]],
                   uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup typename Op::State scratch[32];
    device const T *first = x + offset_of(group.y, kept.rank, kept, 1);
    uint begin = group.x * r.part_length, end = min(begin + r.part_length, r.length);
    typename Op::State s = Op::init();
    for (uint i = begin + place.x; i < end; i += size.x)
        s = Op::add(s, typename Op::Element(first[in_order ? int(i) : offset_of(i, reduced.rank, reduced, 0)]), i);
    s = over_group<Op>(s, scratch, lane, simdgroup, simdgroups);
    if (place.x != 0) return;
    if (r.parts == 1)
        out[offset_of(group.y, kept.rank, kept, 0)] = R(Op::finish(s, r));
    else
        states[group.y * r.parts + group.x] = s;
}

// A thread for each result, if neighbours in memory belong to different ones. The grid is the last dimension that is
// kept, times parts of the others.
template <typename T, typename R, typename Op>
kernel void reduce_columns(device const T *x [[buffer(0)]], device R *out [[buffer(1)]],
                           device typename Op::State *states [[buffer(2)]], constant Reduction &r [[buffer(3)]],
                           constant Layout &kept [[buffer(4)]], constant Layout &reduced [[buffer(5)]],
                           uint2 position [[thread_position_in_grid]]) {
    uint part = position.y % r.parts, outer = position.y / r.parts;
    Offsets<2> offsets(uint2(position.x, outer), kept);
    uint begin = part * r.part_length, end = min(begin + r.part_length, r.length);
    typename Op::State s = Op::init();
    for (uint i = begin; i < end; i++)
        s = Op::add(s, typename Op::Element(x[offsets.at[1] + offset_of(i, reduced.rank, reduced, 0)]), i);
    if (r.parts == 1)
        out[offsets.at[0]] = R(Op::finish(s, r));
    else
        states[(outer * kept.shape[kept.rank - 1] + position.x) * r.parts + part] = s;
}

// Combines the parts of each result, a simdgroup for each.
template <typename R, typename Op>
kernel void reduce_parts(device R *out [[buffer(1)]], device const typename Op::State *states [[buffer(2)]],
                         constant Reduction &r [[buffer(3)]], constant Layout &kept [[buffer(4)]],
                         uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    typename Op::State s = Op::init();
    for (uint i = lane; i < r.parts; i += 32) s = Op::merge(s, states[group * r.parts + i]);
    s = Op::across(s);
    if (lane == 0) out[offset_of(group, kept.rank, kept, 0)] = R(Op::finish(s, r));
}

#define INSTANCE(suffix, T, R, name)                                                                                \
    template [[host_name(#name "_" #suffix)]] kernel void reduce<T, R, name##_op, true>(                            \
        device const T *, device R *, device name##_op::State *, constant Reduction &, constant Layout &,           \
        constant Layout &, uint2, uint2, uint2, uint, uint, uint);                                                  \
    template [[host_name(#name "_strided_" #suffix)]] kernel void reduce<T, R, name##_op, false>(                   \
        device const T *, device R *, device name##_op::State *, constant Reduction &, constant Layout &,           \
        constant Layout &, uint2, uint2, uint2, uint, uint, uint);                                                  \
    template [[host_name(#name "_columns_" #suffix)]] kernel void reduce_columns<T, R, name##_op>(                  \
        device const T *, device R *, device name##_op::State *, constant Reduction &, constant Layout &,           \
        constant Layout &, uint2);
#define PARTS(suffix, R, name)                                                                                      \
    template [[host_name(#name "_parts_" #suffix)]] kernel void reduce_parts<R, name##_op>(                         \
        device R *, device const name##_op::State *, constant Reduction &, constant Layout &, uint, uint);
#define KEEP_INSTANCE(suffix, T, name) INSTANCE(suffix, T, T, name) PARTS(suffix, T, name)
#define BOOL_INSTANCE(suffix, T, name) INSTANCE(suffix, T, uchar, name)
#define INDEX_INSTANCE(suffix, T, name) INSTANCE(suffix, T, long, name)

FOR_FLOATS(KEEP_INSTANCE, sum)
FOR_FLOATS(KEEP_INSTANCE, prod)
FOR_FLOATS(KEEP_INSTANCE, mean)
FOR_FLOATS(KEEP_INSTANCE, max)
FOR_FLOATS(KEEP_INSTANCE, min)
FOR_FLOATS(KEEP_INSTANCE, variance)
FOR_FLOATS(KEEP_INSTANCE, norm1)
FOR_FLOATS(KEEP_INSTANCE, norm2)
FOR_FLOATS(KEEP_INSTANCE, norminf)
FOR_FLOATS(BOOL_INSTANCE, any)
FOR_FLOATS(BOOL_INSTANCE, all)
FOR_FLOATS(INDEX_INSTANCE, argmax)
FOR_FLOATS(INDEX_INSTANCE, argmin)
PARTS(bool, uchar, any)
PARTS(bool, uchar, all)
PARTS(i64, long, argmax)
PARTS(i64, long, argmin)

#define LONG_INSTANCE(suffix, T, name) INSTANCE(suffix, T, long, name)
FOR_INTEGERS(LONG_INSTANCE, int_sum)
FOR_INTEGERS(LONG_INSTANCE, int_prod)
FOR_INTEGERS(KEEP_INSTANCE, int_max)
FOR_INTEGERS(KEEP_INSTANCE, int_min)
FOR_INTEGERS(LONG_INSTANCE, int_argmax)
FOR_INTEGERS(LONG_INSTANCE, int_argmin)
FOR_INTEGERS(BOOL_INSTANCE, any)
FOR_INTEGERS(BOOL_INSTANCE, all)
PARTS(i64, long, int_sum)
PARTS(i64, long, int_prod)
PARTS(i64, long, int_argmax)
PARTS(i64, long, int_argmin)
