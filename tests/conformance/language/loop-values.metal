// Values that threads take out of loops they leave at different times.
#include <metal_stdlib>
using namespace metal;

kernel void counter_at_exit(device uint *out, uint i [[thread_position_in_grid]]) {
  uint k = 0;
  while (k * k < i) k++;
  out[i] = k;
}
kernel void several_values_at_exit(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int k, last = -1, best = -1000, sum = 0;
  for (k = 0; k < 20; k++) {
    int v = in[(i * 3 + k) % 40];
    if (v == 13) break;
    sum += v;
    last = v;
    best = max(best, v);
  }
  out[4 * i] = k;
  out[4 * i + 1] = last;
  out[4 * i + 2] = best;
  out[4 * i + 3] = sum;
}
kernel void two_exits_with_different_values(device int *out, uint i [[thread_position_in_grid]]) {
  int result = 0;
  for (int k = 1;; k++) {
    if (k * k > int(i)) {
      result = k;
      break;
    }
    if (int(i) % k == 0 && k > 2) {
      result = -k;
      break;
    }
  }
  out[i] = result;
}
kernel void inner_exit_decides_outer(device int *out, uint i [[thread_position_in_grid]]) {
  int a = 0, b = 0;
  for (a = 0; a < 10; a++) {
    bool stop = false;
    for (b = 0; b < 10; b++)
      if ((a * 10 + b) % 17 == int(i) % 17 && a > int(i) % 3) {
        stop = true;
        break;
      }
    if (stop) break;
  }
  out[i] = a * 100 + b;
}
kernel void pointer_at_exit(device const char *text, device int *out, uint i [[thread_position_in_grid]]) {
  device const char *p = text + i;
  while (*p != '/') p++;
  out[i] = int(p - text);
}
kernel void flag_at_exit(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  bool sorted = true;
  for (uint k = i; k + 1 < 30 && sorted; k++) sorted = in[k] <= in[k + 1];
  out[i] = sorted;
}
kernel void vector_accumulator(device const float4 *in, device float4 *out, uint i [[thread_position_in_grid]]) {
  float4 sum = 0;
  float2 range = float2(1e9f, -1e9f);
  for (uint k = 0; k <= i % 9; k++) {
    sum += in[k] * float(k);
    range = float2(min(range.x, in[k].x), max(range.y, in[k].w));
  }
  out[2 * i] = sum;
  out[2 * i + 1] = float4(range, 0, 0);
}
kernel void narrow_accumulators(device uchar *bytes, device half *halves, device long *longs, uint i [[thread_position_in_grid]]) {
  uchar b = 0;
  half h = 0;
  long l = 1;
  for (uint k = 0; k < i % 13; k++) {
    b += 77;
    h += 0.25h;
    l *= -3;
  }
  bytes[i] = b;
  halves[i] = h;
  longs[i] = l;
}
kernel void array_changed_in_loop(device int *out, uint i [[thread_position_in_grid]]) {
  int digits[10] = {};
  uint v = i * 7919 + 12345;
  while (v) {
    digits[v % 10]++;
    v /= 10;
  }
  int code = 0;
  for (int d = 9; d >= 0; d--) code = code * 4 + min(digits[d], 3);
  out[i] = code;
}
kernel void previous_values(device int *out, uint i [[thread_position_in_grid]]) {
  int a = 1, b = 2, c = 3;
  for (uint k = 0; k < i % 10; k++) {
    int t = a;
    a = b;
    b = c;
    c = t;
  }
  out[i] = a * 100 + b * 10 + c;
}
#if __METAL_VERSION__ >= 320
kernel void loop_in_a_loop_condition(device int *out, uint i [[thread_position_in_grid]]) {
  auto digits = [](uint v) {
    int n = 0;
    do n++;
    while (v /= 10);
    return n;
  };
  uint v = i + 1;
  int steps = 0;
  while (digits(v) < 6) {
    v *= 3;
    steps += digits(v);
  }
  out[i] = steps;
}
#endif
kernel void continue_with_value(device int *out, uint i [[thread_position_in_grid]]) {
  int skipped = 0, kept = 0;
  for (int k = 0; k < 30; k++) {
    int r = k * (int(i) + 1) % 7;
    if (r == 0) {
      skipped = k;
      continue;
    }
    if (r > 4 && k > int(i) % 20) break;
    kept = kept * 2 % 1000 + r;
  }
  out[i] = skipped * 1000 + kept;
}
kernel void newton_square_root(device float *out, uint i [[thread_position_in_grid]]) {
  float target = float(i), x = target > 1 ? target : 1;
  int steps = 0;
  while (fabs(x * x - target) > 1e-3f * (1 + target) && steps < 60) {
    x = 0.5f * (x + target / x);
    steps++;
  }
  out[i] = x;
}
kernel void float_counter(device int *out, uint i [[thread_position_in_grid]]) {
  int n = 0;
  for (float t = 0; t < 1; t += 1.0f / float(i + 1)) n++;
  out[i] = n > int(i) ? 1 : 0;
}
kernel void loop_never_entered_by_some(device int *out, uint i [[thread_position_in_grid]]) {
  int v = 5;
  if (i % 4 != 2)
    for (uint k = i % 4; k < 3; k++) v = v * 2 + int(k);
  else
    v = -v;
  out[i] = v;
}
kernel void four_deep(device int *out, uint i [[thread_position_in_grid]]) {
  int n = 0;
  for (uint a = 0; a < 2 + i % 2; a++)
    for (uint b = a; b < 4; b++) {
      if (b == 2 && i % 5 == 0) continue;
      uint c = 0;
      while (c < b) {
        if (c == 1 && i % 3 == 0) break;
        for (uint d = 0; d <= c; d++) {
          if (a + b + c + d == i % 7) n += 100;
          n++;
        }
        c++;
      }
    }
  out[i] = n;
}
kernel void collatz_record(device uint2 *out, uint i [[thread_position_in_grid]]) {
  uint2 best = 0;
  for (uint start = i * 10 + 1; start <= i * 10 + 10; start++) {
    uint steps = 0;
    for (ulong v = start; v != 1; steps++) v = v & 1 ? 3 * v + 1 : v >> 1;
    if (steps > best.y) best = uint2(start, steps);
  }
  out[i] = best;
}
