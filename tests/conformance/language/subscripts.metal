#include <metal_stdlib>
using namespace metal;

// An array as shader compilers write it: the elements are in the space of the object.
template <typename T, size_t N> struct spaced {
    const constant T &operator[](size_t i) const constant { return elements[i]; }
    device T &operator[](size_t i) device { return elements[i]; }
    const device T &operator[](size_t i) const device { return elements[i]; }
    thread T &operator[](size_t i) thread { return elements[i]; }
    const thread T &operator[](size_t i) const thread { return elements[i]; }
    threadgroup T &operator[](size_t i) threadgroup { return elements[i]; }
    const threadgroup T &operator[](size_t i) const threadgroup { return elements[i]; }
    T elements[N];
};
struct Nested {
    spaced<float4, 4> vectors;
    spaced<spaced<int, 2>, 3> pairs;
};

static int read(const device int *p) { return *p; }
static int read(const constant int *p) { return 10 * *p; }
static int read(const threadgroup int *p) { return 100 * *p; }
static int read(const thread int *p) { return 1000 * *p; }

kernel void addresses_of_elements(device Nested *d [[buffer(0)]], constant Nested &c [[buffer(1)]],
                                  device int *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    threadgroup spaced<int, 4> shared;
    spaced<int, 2> own = {};
    const spaced<int, 2> fixed = {{3, 4}};
    own[1] = 5;
    shared[i] = int(i);
    threadgroup int *word = reinterpret_cast<threadgroup int *>(&shared[i]);
    device float4 *const vector = &d->vectors[i];
    (*vector)[1] = 2.0f;
    out[i] = read(&d->pairs[1][i & 1]) + read(&c.pairs[2][i & 1]) + read(word) + read(&own[1]) + read(&fixed[i & 1]);
}
