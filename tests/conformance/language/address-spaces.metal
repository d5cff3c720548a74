// Address spaces are part of types: what is chosen by them, and what must stay possible with them.
#include <metal_stdlib>
using namespace metal;

// ---- Overloads ----

float which(device float *p) { return 1; }
float which(threadgroup float *p) { return 2; }
float which(thread float *p) { return 3; }
float which(constant float *p) { return 4; }

float which_ref(device const float4 &v) { return 1; }
float which_ref(threadgroup const float4 &v) { return 2; }
float which_ref(thread const float4 &v) { return 3; }
float which_ref(constant float4 &v) { return 4; }

constant float table[2] = {1, 2};

kernel void overloads(device float *out [[buffer(0)]], constant float *c [[buffer(1)]]) {
    threadgroup float s[2];
    float l = 0;
    s[0] = 0;
    out[0] = which(out);
    out[1] = which(s);
    out[2] = which(&l);
    out[3] = which(c);
    out[4] = which(table);
    out[5] = which(&out[1]);
    out[6] = which(s + 1);
}

kernel void overloads_of_references(device float *out [[buffer(0)]], constant float4 &c [[buffer(1)]]) {
    threadgroup float4 s;
    float4 l = 0;
    s = l;
    out[0] = which_ref(*(device float4 *)(out + 4));
    out[1] = which_ref(s);
    out[2] = which_ref(l);
    out[3] = which_ref(c);
    out[4] = which_ref(l + l);
}

// ---- Specialisations ----

template <typename P> struct kind { static float value() { return 0; } };
template <> struct kind<device float *> { static float value() { return 1; } };
template <> struct kind<threadgroup float *> { static float value() { return 2; } };
template <> struct kind<thread float *> { static float value() { return 3; } };
template <> struct kind<constant float *> { static float value() { return 4; } };
template <typename T> struct kind<device T *> { static float value() { return 10; } };
template <typename P> float kind_of(P) { return kind<P>::value(); }

kernel void specialisations(device float *out [[buffer(0)]], constant float *c [[buffer(1)]]) {
    threadgroup float s[1];
    float l = 0;
    s[0] = 0;
    out[0] = kind_of(out);
    out[1] = kind_of(&s[0]);
    out[2] = kind_of(&l);
    out[3] = kind_of(c);
    out[4] = kind_of((device int *)out);
}

// ---- Templates ----

template <typename T> T first(device const T *p) { return p[0]; }
template <typename T> T first(threadgroup const T *p) { return p[0] + 100; }
template <typename T> void set(thread T &to, T value) { to = value; }
template <typename T, int N> T total(thread const T (&a)[N]) {
    T sum = 0;
    for (int i = 0; i < N; i++) sum += a[i];
    return sum;
}

kernel void deduction(device float *out [[buffer(0)]], device const int *in [[buffer(1)]]) {
    threadgroup int s[1];
    int x;
    int a[3] = {1, 2, 3};
    s[0] = in[0];
    set(x, 5);
    out[0] = first(in);
    out[1] = first(s);
    out[2] = x;
    out[3] = total(a);
}

// ---- Member functions ----

struct Pair {
    int a, b;
    int sum() const thread { return a + b; }
    int sum() const device { return a + b; }
    int sum() const threadgroup { return a + b; }
    int sum() const constant { return a + b; }
    thread int &at(int i) { return i ? b : a; }
};

kernel void member_functions(device int *out [[buffer(0)]], device Pair *d [[buffer(1)]], constant Pair &c [[buffer(2)]]) {
    threadgroup Pair s;
    Pair l = c;
    s = *d;
    l.at(1) = 50;
    out[0] = d->sum();
    out[1] = c.sum();
    out[2] = s.sum();
    out[3] = l.sum();
    out[4] = Pair{3, 4}.sum();
}

// ---- Objects that go from one space to another ----

struct Item { float4 v; packed_float3 p; float x; };
float of_value(Item i) { return i.v.x + i.x; }
float of_reference(thread const Item &i) { return i.v.y + i.p.z; }

kernel void copies(device float *out [[buffer(0)]], device const Item *in [[buffer(1)]], constant Item &c [[buffer(2)]],
                   device Item *items [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    threadgroup Item s;
    Item l = in[0];
    s = c;
    out[0] = of_value(in[0]) + of_value(c) + of_value(s);
    out[1] = of_reference(l) + of_reference(Item(c));
    items[0] = c;
    items[1] = l;
    items[0].v = float4(in[0].v.xyz, c.x);
    // Vectors and structures on both sides of a colon, in different spaces.
    float4 a = i == 0 ? in[0].v : float4(0), b = i ? c.v : a, e = i == 0 ? s.v : c.v;
    l = i == 0 ? c : in[0];
    out[2] = a.x + b.y + e.z + l.x;
    out[3] = (i == 0 ? *in : l).x;
}

// ---- Threadgroup variables ----

#define SHARED threadgroup
#define BUFFER(type, name, size) threadgroup type name[size]
struct Tile { float rows[2][4]; };
void fill(threadgroup float *to, uint n) {
    for (uint i = 0; i < n; i++) to[i] = i;
}
float last(threadgroup const float (&tile)[2][4]) { return tile[1][3]; }

kernel void threadgroup_variables(device float *out [[buffer(0)]], threadgroup float *dynamic [[threadgroup(0)]]) {
    threadgroup float one, many[4], grid[2][4];
    SHARED int named;
    BUFFER(half, wrapped, 3);
    threadgroup Tile tile;
    alignas(64) threadgroup atomic_uint count;
    threadgroup float zeros[3] = {0};
    one = 7;
    fill(many, 4);
    fill(grid[1], 4);
    named = 9;
    wrapped[2] = 2;
    tile.rows[1][3] = 5;
    atomic_store_explicit(&count, 11, memory_order_relaxed);
    fill(dynamic, 2);
    threadgroup float *p = many;
    threadgroup float &r = one;
    r += 1;
    out[0] = one;
    out[1] = p[3];
    out[2] = last(grid);
    out[3] = named + wrapped[2];
    out[4] = last(tile.rows);
    out[5] = atomic_load_explicit(&count, memory_order_relaxed);
    out[6] = dynamic[1];
    out[7] = zeros[2] + sizeof(many);
}

// ---- Parameters ----

int third(constant int values[3]) { return values[2]; }
int corner(device const int values[2][2]) { return values[1][1]; }

kernel void array_parameters(device int *out [[buffer(0)]], constant int *c [[buffer(1)]],
                             device const int *d [[buffer(2)]]) {
    out[0] = third(c);
    out[1] = corner((device const int(*)[2])d);
}

// ---- Strings ----

int length(constant char *text) {
    int n = 0;
    while (text[n]) n++;
    return n;
}
constant char word[] = "four";

kernel void strings(device int *out [[buffer(0)]]) {
    out[0] = length("seven!!");
    out[1] = length(word);
}

// As shader compilers write arrays: element access for objects in each space, which returns a reference into it.
template <typename T, size_t N> struct Elements {
    T items[N ? N : 1];
    thread T &operator[](size_t i) thread { return items[i]; }
    constexpr const thread T &operator[](size_t i) const thread { return items[i]; }
    device T &operator[](size_t i) device { return items[i]; }
    constexpr const device T &operator[](size_t i) const device { return items[i]; }
    constexpr const constant T &operator[](size_t i) const constant { return items[i]; }
    threadgroup T &operator[](size_t i) threadgroup { return items[i]; }
    constexpr const threadgroup T &operator[](size_t i) const threadgroup { return items[i]; }
};
constant Elements<float, 2> weights = {{3, 5}};

// The same in another order.
template <typename T, size_t N> struct OtherElements {
    const constant T &operator[](size_t i) const constant { return items[i]; }
    device T &operator[](size_t i) device { return items[i]; }
    const device T &operator[](size_t i) const device { return items[i]; }
    thread T &operator[](size_t i) thread { return items[i]; }
    const thread T &operator[](size_t i) const thread { return items[i]; }
    T items[N];
};

kernel void elements_in_another_order(device OtherElements<float, 2> &out [[buffer(0)]],
                                      constant OtherElements<float, 2> &in [[buffer(1)]]) {
    OtherElements<float, 2> own = {{10, 20}};
    own[0] += in[1];
    out[0] = own[0];
    out[1] = own[1];
}

kernel void elements_in_each_space(device Elements<float, 4> &out [[buffer(0)]],
                                   device const Elements<Elements<float, 2>, 2> &in [[buffer(1)]]) {
    threadgroup Elements<float, 2> shared;
    Elements<float, 2> own = {{10, 20}};
    shared[0] = in[1][0];
    own[1] += shared[0];
    out[0] = own[1];
    out[1] = weights[1] * in[0][1];
    out[2] = own[0];
    out[3] = shared[0];
}
