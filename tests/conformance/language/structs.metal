// Structs, arrays, references, address spaces, constant tables, argument buffers.
#include <metal_stdlib>
using namespace metal;

struct Particle {
  float3 position;
  float mass;
  packed_float3 velocity;
  uchar kind;
  short2 cell;
};
kernel void struct_layout(device uint *out, device const Particle *p) {
  out[0] = sizeof(Particle);
  out[1] = alignof(Particle);
  out[2] = uint((device const uchar *)&p[0].mass - (device const uchar *)p);
  out[3] = uint((device const uchar *)&p[0].velocity - (device const uchar *)p);
  out[4] = uint((device const uchar *)&p[0].kind - (device const uchar *)p);
  out[5] = uint((device const uchar *)&p[0].cell - (device const uchar *)p);
}
kernel void array_of_structs(device Particle *p, uint i [[thread_position_in_grid]]) {
  Particle q = p[i];
  q.position += float3(q.velocity) * 0.5f;
  q.cell.y = short(q.kind);
  q.kind = uchar(i);
  p[i] = q;
  p[i].mass *= 2;
}

struct Inner { int a; float2 b; };
struct Outer { Inner first; Inner pair[2]; uint tail; };
kernel void nested_structs(constant Outer &o, device float *out, uint i [[thread_position_in_grid]]) {
  Outer copy = o;
  copy.pair[i % 2].b.x += float(i);
  Inner chosen = i == 2 ? copy.first : copy.pair[i % 2];
  out[i] = chosen.a + chosen.b.x * chosen.b.y + o.tail;
}
struct Table { uint rows[4][3]; };
kernel void arrays_in_structs(constant Table &t, device uint *out, uint i [[thread_position_in_grid]]) {
  Table mine = t;
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 3; c++) mine.rows[r][c] = mine.rows[(r + i) % 4][(c + 1) % 3] + i;
  out[i] = mine.rows[0][0] * 10000 + mine.rows[1][1] * 100 + mine.rows[3][2];
}
struct Counter {
  int value;
  int step = 3;
  Counter(int start) : value(start) {}
  void advance() { value += step; }
  int get() const { return value; }
  static int twice(int v) { return 2 * v; }
  Counter operator+(int by) const { Counter c = *this; c.value += by; return c; }
};
kernel void member_functions(device int *out, uint i [[thread_position_in_grid]]) {
  Counter c(int(i) * 10);
  c.advance();
  c.advance();
  out[i] = Counter::twice((c + 100).get());
}
struct Base { float weight; float scaled(float s) const { return weight * s; } };
struct Derived : Base { float extra; };
kernel void inheritance(device const Derived *d, device float *out, uint i [[thread_position_in_grid]]) {
  out[i] = d[i].scaled(2) + d[i].extra;
}
union Bits { float f; uint u; };
kernel void unions(device const float *a, device uint *out, uint i [[thread_position_in_grid]]) {
  Bits b;
  b.f = a[i];
  out[i] = b.u;
}
struct Flags { uint low : 4; uint middle : 10; int top : 8; };
kernel void bit_fields(device const uint *a, device int *out, uint i [[thread_position_in_grid]]) {
  Flags f;
  f.low = a[i];
  f.middle = a[i] >> 4;
  f.top = int(a[i]);
  out[i] = int(f.low) + int(f.middle) * 100 + f.top;
}

// References and pointers of every address space.
static void add_to(device float &target, float by) { target += by; }
static float sum_of(constant float *values, uint count) {
  float s = 0;
  for (uint k = 0; k < count; k++) s += values[k];
  return s;
}
static void fill(thread float *values, uint count, float start) {
  for (uint k = 0; k < count; k++) values[k] = start + k;
}
static float at(threadgroup float *shared, uint i) { return shared[i]; }
kernel void address_spaces(device float *out, constant float *table, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup float shared[256];
  float mine[8];
  fill(mine, 8, float(i));
  shared[l] = mine[l % 8];
  add_to(out[i], sum_of(table, 3) + at(shared, l));
  thread float &last = mine[7];
  last = 100;
  add_to(out[i], mine[7]);
}
kernel void pointer_arithmetic(device const int *a, device int *out, uint i [[thread_position_in_grid]]) {
  device const int *p = a + 2 * i;
  device const int *end = &a[16];
  ptrdiff_t left = end - p;
  int sum = *p++;
  sum += p < end ? *p : -1;
  p -= 1;
  out[i] = sum * 100 + int(left) + (p == a ? 1000 : 0) + p[-1 + (i == 0)];
}
kernel void swap_through_pointers(device int *a, uint i [[thread_position_in_grid]]) {
  int x = a[2 * i], y = a[2 * i + 1];
  thread int *p = i % 2 ? &x : &y;
  thread int *q = i % 2 ? &y : &x;
  *p = *p * 10;
  *q += 1;
  a[2 * i] = y;
  a[2 * i + 1] = x;
}

constant int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
constant float4 basis[] = {float4(1, 0, 0, 0), float4(0, 2, 0, 0), float4(0, 0, 3, 0), float4(0, 0, 0, 4)};
constant int3 offsets[2][2] = {{int3(1, 2, 3), int3(4, 5, 6)}, {int3(7, 8, 9), int3(10, 11, 12)}};
constant float pi_half = M_PI_F / 2;
constexpr constant uint mask_of[4] = {1u << 0, 1u << 8, 1u << 16, 1u << 24};
constant Inner defaults = {7, float2(1.5f, 2.5f)};
kernel void constant_tables(device float *out, uint i [[thread_position_in_grid]]) {
  out[i] = primes[i % 8] + basis[i % 4][i % 4] * 100 + offsets[i / 2 % 2][i % 2].y * 1000 + (mask_of[i % 4] >> 8 * (i % 4)) * 0.5f + defaults.a * defaults.b.y;
}
kernel void constant_scalars(device float *out) {
  constexpr float inside = 3.0f * 2;
  const int local[3] = {1, 2, 3};
  out[0] = pi_half;
  out[1] = inside + local[2];
}
kernel void array_class(device const int *a, device int *out, uint i [[thread_position_in_grid]]) {
  array<int, 4> v;
  for (size_t k = 0; k < v.size(); k++) v[k] = a[(i + k) % 8];
  array<int, 4> w = v;
  w[1] = -1;
  int sum = 0;
  for (int e : w) sum = sum * 3 + e;
  out[i] = sum + v[1];
}

// Pointers inside buffers: addresses the host put there.
struct Arguments {
  device const float *a;
  device float *b;
  uint count;
  float scale;
};
kernel void argument_buffer(device const Arguments &arguments, uint i [[thread_position_in_grid]]) {
  if (i < arguments.count) arguments.b[i] = arguments.a[i] * arguments.scale;
}
kernel void argument_buffer_constant(constant Arguments &arguments [[buffer(3)]], device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  arguments.b[i] += arguments.a[arguments.count - 1 - i];
  out[i] = i;
}
struct Resources {
  device int *lists[3] [[id(0)]];
  constant int *sizes [[id(3)]];
};
kernel void argument_buffer_array(constant Resources &r [[buffer(0)]], uint2 p [[thread_position_in_grid]]) {
  if (int(p.x) < r.sizes[p.y]) r.lists[p.y][p.x] = int(p.x * 10 + p.y);
}
struct Node { device Node *next; int value; };
kernel void linked_list(device const Node *first, device int *out) {
  int k = 0;
  for (device const Node *n = first; n; n = n->next) out[k++] = n->value;
}
kernel void implicit_indices(device float *first, constant float &second, device float *fifth [[buffer(5)]], constant float *third,
                             device float *explicit_zero [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  first[i] = second;
  fifth[i] = third[i];
  explicit_zero[i] = 3;
}
kernel void thirty_one_buffers(device uint *out [[buffer(30)]], constant uint &a [[buffer(0)]], constant uint &b [[buffer(29)]], uint i [[thread_position_in_grid]]) {
  out[i] = a * 100 + b;
}
kernel void volatile_and_const(volatile device int *a, const device int *b, device const volatile int *c, uint i [[thread_position_in_grid]]) {
  a[i] = b[i] + c[i];
  a[i] += 1;
}
