// Functions: parameters and results of every kind, operators, closures, early returns.
#include <metal_stdlib>
using namespace metal;

struct Pair { int a; float b; };
static Pair make_pair(int a, float b) { return {a, b}; }
static Pair swap_signs(Pair p) {
  p.a = -p.a;
  p.b = -p.b;
  return p;
}
kernel void structs_by_value(device int *out, device float *f, uint i [[thread_position_in_grid]]) {
  Pair p = make_pair(int(i), float(i) * 0.5f), q = swap_signs(p);
  if (i % 2) q = swap_signs(q);
  out[i] = p.a * 10 + q.a;
  f[i] = q.b;
}
static bool split(int v, thread int &tens, thread int *ones) {
  if (v < 0) return false;
  tens = v / 10;
  *ones = v % 10;
  return true;
}
kernel void out_parameters(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int t = -1, o = -1;
  bool good = split(in[i], t, &o);
  out[i] = good ? t * 1000 + o : -t - o;
}
template <typename T, int N> T sum_of(thread const T (&values)[N]) {
  T s = 0;
  for (int k = 0; k < N; k++) s += values[k];
  return s;
}
kernel void arrays_by_reference(device int *out, uint i [[thread_position_in_grid]]) {
  int a[3] = {int(i), 2, 3};
  int b[] = {1, 2, 3, 4, int(i)};
  out[i] = sum_of(a) * 100 + sum_of(b);
}
static int classify(int v) {
  if (v < 10) return 1;
  for (int k = 2; k < 8; k++) {
    if (v % k == 0) return k * 10;
    if (v - k < 9) return -k;
  }
  return v > 100 ? 200 : 100;
}
kernel void returns_in_the_middle(device int *out, uint i [[thread_position_in_grid]]) { out[i] = classify(int(i)) + (i % 3 ? classify(int(i) + 50) : 0); }
struct Complex {
  float re, im;
  Complex operator+(Complex o) const { return {re + o.re, im + o.im}; }
  Complex operator*(Complex o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
  thread Complex &operator+=(Complex o) thread { return *this = *this + o; }
  bool operator==(Complex o) const { return re == o.re && im == o.im; }
  float operator[](int k) const { return k ? im : re; }
  operator float() const { return re; }
};
static Complex operator-(Complex a) { return {-a.re, -a.im}; }
kernel void operator_overloads(device float2 *out, uint i [[thread_position_in_grid]]) {
  Complex z = {1, 2}, w = {float(i), -1};
  z += w * w;
  z = -z;
  if (w == Complex{3, -1}) z.re += 1000;
  out[i] = float2(z[0] + float(w), z[1]);
}
static int defaults(int a, int b = 10, int c = 100) { return a + b + c; }
kernel void default_arguments(device int *out, uint i [[thread_position_in_grid]]) {
  out[i] = i % 3 == 0 ? defaults(1) : i % 3 == 1 ? defaults(1, int(i)) : defaults(1, 2, 3);
}
#if __METAL_VERSION__ >= 320
template <typename F> static int apply_twice(F f, int v) { return f(f(v)); }
kernel void closures(device int *out, uint i [[thread_position_in_grid]]) {
  int factor = int(i) + 1, calls = 0;
  auto scale = [factor, &calls](int v) {
    calls++;
    return v * factor;
  };
  auto nested = [&](int v) { return apply_twice(scale, v) + calls; };
  out[i] = nested(3) + apply_twice([](int v) { return v + 1; }, 10);
}
#endif
template <int N> static int unrolled(int v) {
  if constexpr (N > 0) return unrolled<N - 1>(v * 2 + N);
  else return v;
}
kernel void recursive_templates(device int *out, uint i [[thread_position_in_grid]]) { out[i] = unrolled<8>(int(i)); }
namespace shapes {
struct Circle { float r; float area() const { return 3.0f * r * r; } };
struct Square { float s; float area() const { return s * s; } };
}
template <typename S> static float doubled_area(S s) { return 2 * s.area(); }
kernel void duck_typing(device float *out, uint i [[thread_position_in_grid]]) {
  out[i] = i % 2 ? doubled_area(shapes::Circle{float(i)}) : doubled_area(shapes::Square{float(i)});
}
static void bump(device int *p) { *p += 1; }
static void bump(thread int *p) { *p += 1; }
kernel void pointers_through_calls(device int *data, uint i [[thread_position_in_grid]]) {
  int mine = data[i];
  bump(&mine);
  data[i] = mine * 2;
  bump(data + i);
  if (i % 2) bump(&data[i]);
}
static int ackermann_table(int m, int n) { return m == 0 ? n + 1 : m == 1 ? n + 2 : m == 2 ? 2 * n + 3 : (1 << (n + 3)) - 3; }
kernel void conditional_calls(device int *out, uint i [[thread_position_in_grid]]) { out[i] = ackermann_table(int(i) % 4, int(i) / 4); }
static float4 polynomial(float4 x, float4 c) { return ((c.w * x + c.z) * x + c.y) * x + c.x; }
kernel void vector_polynomial(device const float4 *in, device float4 *out, uint i [[thread_position_in_grid]]) { out[i] = polynomial(in[i], float4(1, -2, 0.5f, 0.25f)); }
constexpr int triangle(int n) { return n * (n + 1) / 2; }
constant int triangles[] = {triangle(1), triangle(2), triangle(3), triangle(10)};
kernel void constexpr_functions(device int *out, uint i [[thread_position_in_grid]]) { out[i] = triangles[i % 4] + triangle(int(i)); }
struct Generator {
  uint state;
  uint next() {
    state = state * 1664525u + 1013904223u;
    return state >> 16;
  }
  float unit() { return float(next() & 0xff) / 256.0f; }
};
kernel void stateful_objects(device uint *out, device float *f, uint i [[thread_position_in_grid]]) {
  Generator g{i};
  uint n = 0;
  while (g.next() % 4 != 0 && n < 20) n++;
  out[i] = n * 100000 + g.next();
  f[i] = g.unit();
}
