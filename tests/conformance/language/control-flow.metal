// Control flow that differs between neighbouring threads.
#include <metal_stdlib>
using namespace metal;

kernel void if_else_chain(device const int *a, device int *out, uint i [[thread_position_in_grid]]) {
  int v = a[i];
  if (v < 0) out[i] = -1;
  else if (v == 0) out[i] = 0;
  else if (v < 10) out[i] = v * 2;
  else out[i] = 100;
}
kernel void nested_ifs(device const int *a, device int *out, uint i [[thread_position_in_grid]]) {
  int r = 0;
  if (a[i] & 1) {
    r += 1;
    if (a[i] & 2) {
      r += 10;
      if (a[i] & 4) r += 100;
      else r += 200;
    } else if (a[i] & 4) {
      r += 400;
    }
    r *= 3;
  } else {
    r = a[i] & 2 ? 7 : 8;
  }
  out[i] = r;
}
kernel void early_return(device int *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  if (i >= n) return;
  if (i % 3 == 0) {
    out[i] = 1;
    return;
  }
  out[i] = 2;
  if (i % 3 == 1) return;
  out[i] = 3;
}
kernel void for_with_own_trip_count(device int *out, uint i [[thread_position_in_grid]]) {
  int sum = 0;
  for (uint k = 0; k < i; k++) sum += int(k) * 2 + 1;
  out[i] = sum;
}
kernel void while_collatz(device uint *out, uint i [[thread_position_in_grid]]) {
  uint v = i + 1, steps = 0;
  while (v != 1) {
    v = v % 2 ? 3 * v + 1 : v / 2;
    steps++;
  }
  out[i] = steps;
}
kernel void do_while(device uint *out, uint i [[thread_position_in_grid]]) {
  uint v = i, digits = 0;
  do {
    v /= 10;
    digits++;
  } while (v);
  out[i] = digits;
}
kernel void break_and_continue(device int *out, uint i [[thread_position_in_grid]]) {
  int sum = 0;
  for (int k = 0; k < 100; k++) {
    if (k % 3 == int(i) % 3) continue;
    if (k > int(i)) break;
    sum += k;
  }
  out[i] = sum;
}
kernel void nested_loops_with_breaks(device int *out, uint i [[thread_position_in_grid]]) {
  int found = -1, tries = 0;
  for (int a = 1; a < 20; a++) {
    for (int b = a; b < 20; b++) {
      tries++;
      if ((a * b) % 13 == int(i) % 13) {
        found = a * 100 + b;
        break;
      }
      if (b > a + int(i) % 5) break;
    }
    if (found >= 0) break;
  }
  out[2 * i] = found;
  out[2 * i + 1] = tries;
}
kernel void return_from_nested_loops(device int *out, uint i [[thread_position_in_grid]]) {
  out[i] = -1;
  for (int a = 0; a < 10; a++)
    for (int b = 0; b < 10; b++) {
      if (a * 10 + b == int(i) * 3) {
        out[i] = a * 1000 + b;
        return;
      }
    }
  out[i] = -2;
}
kernel void continue_in_while(device int *out, uint i [[thread_position_in_grid]]) {
  int k = 0, sum = 0;
  while (k < 20) {
    k++;
    if ((k + int(i)) % 4 == 0) continue;
    if (k % 7 == 0) {
      sum += 1000;
      continue;
    }
    sum += k;
  }
  out[i] = sum;
}
kernel void switch_with_fallthrough(device const int *a, device int *out, uint i [[thread_position_in_grid]]) {
  int r = 0;
  switch (a[i]) {
    case 0: r = 1; break;
    case 1: r = 10;
    case 2: r += 100;
    case 3: r += 1000; break;
    case 7:
    case 8: r = 5; break;
    default: r = -1;
    case 100: r -= 1;
  }
  out[i] = r;
}
kernel void switch_in_a_loop(device const int *a, device int *out, uint i [[thread_position_in_grid]]) {
  int state = 0, steps = 0;
  for (; steps < 50; steps++) {
    switch (state) {
      case 0: state = a[i] % 3 + 1; continue;
      case 1: state = steps > 10 ? 9 : 2; break;
      case 2: state = 3; break;
      case 3: state = a[i] % 2 ? 1 : 9; break;
      case 9: out[i] = steps * 10 + state; return;
    }
    if (state == 9 && a[i] % 5 == 0) break;
  }
  out[i] = steps * 100 + state;
}
kernel void switch_returns(device const uint *a, device uint *out, uint i [[thread_position_in_grid]]) {
  switch (a[i] & 3) {
    case 0: out[i] = 5; return;
    case 1: if (i > 8) return; break;
    case 2: out[i] = 6; break;
  }
  out[i] += 100;
}
#if __METAL_VERSION__ >= 320
kernel void short_circuit(device const int *a, device const int *b, device int *out, uint i [[thread_position_in_grid]]) {
  int calls = 0;
  auto check = [&](int v) { calls++; return v > 0; };
  bool x = check(a[i]) && check(b[i]);
  bool y = check(b[i]) || check(a[i]);
  out[i] = calls * 10 + x * 2 + y;
}
#endif
// The index is out of range where the condition is false: it must not be read.
kernel void guarded_access(device const int *index, device const int *table, device int *out, uint i [[thread_position_in_grid]]) {
  out[i] = index[i] >= 0 && table[index[i]] > 2 ? table[index[i]] : -1;
}
kernel void ternary_nest(device const float *a, device float *out, uint i [[thread_position_in_grid]]) {
  out[i] = a[i] < -1 ? -1 : a[i] > 1 ? 1 : a[i] == 0 ? 0.5f : a[i] * a[i];
}
kernel void comma_and_side_effects(device int *out, uint i [[thread_position_in_grid]]) {
  int a = 0, b = 0;
  for (int k = 0, m = 10; k < m; k += 2, m--) a += k, b += m;
  out[i] = (a++, b *= 2, a * 1000 + b + int(i));
}
// A loop that is entered in the middle, as switch allows.
kernel void loop_entered_in_the_middle(device const int *a, device int *out, uint i [[thread_position_in_grid]]) {
  int n = (a[i] + 3) / 4, sum = 0, k = 0;
  switch (a[i] % 4) {
    case 0: do { sum += ++k;
    case 3:      sum += ++k * 10;
    case 2:      sum += ++k * 100;
    case 1:      sum += ++k * 1000;
            } while (--n > 0);
  }
  out[i] = sum;
}
kernel void infinite_loop_with_exits(device const uint *a, device uint *out, uint i [[thread_position_in_grid]]) {
  uint v = a[i], k = 0;
  for (;;) {
    if (v == 0) break;
    if (v & 1) { v >>= 1; k += 10; continue; }
    v >>= 1;
    if (++k > 1000) return;
  }
  out[i] = k;
}
static int search(device const int *sorted, int n, int wanted) {
  int low = 0, high = n - 1;
  while (low <= high) {
    int middle = (low + high) / 2;
    if (sorted[middle] == wanted) return middle;
    if (sorted[middle] < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -low - 1;
}
kernel void binary_search(device const int *sorted, device const int *wanted, device int *out, uint i [[thread_position_in_grid]]) {
  out[i] = search(sorted, 50, wanted[i]);
}
static uint gcd_of(uint a, uint b) {
  while (b) {
    uint t = a % b;
    a = b;
    b = t;
  }
  return a;
}
kernel void greatest_common_divisor(device uint *out, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
  out[p.y * n.x + p.x] = gcd_of(p.x + 1, p.y + 1);
}
kernel void triple_nest(device uint *out, uint i [[thread_position_in_grid]]) {
  uint count = 0;
  for (uint a = 0; a < i; a++)
    for (uint b = a; b < i; b++) {
      if (b == 5) continue;
      for (uint c = b; c < i; c++) {
        if (a + b + c > 12) break;
        if (a * a + b * b == c * c) count += 100;
        count++;
      }
    }
  out[i] = count;
}
kernel void loop_carried_swap(device uint *out, uint i [[thread_position_in_grid]]) {
  uint a = 0, b = 1;
  for (uint k = 0; k < i % 40; k++) {
    uint t = a + b;
    a = b;
    b = t;
  }
  out[i] = a;
}
kernel void stores_in_divergent_loops(device uint *out, uint i [[thread_position_in_grid]]) {
  for (uint k = i; k < 64; k += i + 1)
    if (k % 2 == 0 || i < 4) out[64 * i + k] = k + 1;
}
kernel void uniform_branch(device int *out, constant int &mode, uint i [[thread_position_in_grid]]) {
  if (mode == 1) out[i] = int(i);
  else if (mode == 2) {
    for (int k = 0; k < 3; k++) out[i] += k;
  } else return;
  out[i] *= 2;
}
// goto is not in MSL; a state machine is what people write instead.
kernel void state_machine(device const char *text, device int *out, uint i [[thread_position_in_grid]]) {
  device const char *p = text + 16 * i;
  int state = 0, value = 0, sign = 1;
  for (int k = 0; k < 16 && state < 3; k++) {
    char c = p[k];
    bool digit = c >= '0' && c <= '9';
    if (state == 0) {
      if (c == ' ') continue;
      if (c == '-') { sign = -1; state = 1; continue; }
      state = digit ? 1 : 3;
    }
    if (state == 1) {
      if (!digit) { state = c == '.' ? 2 : 3; continue; }
      value = value * 10 + (c - '0');
    }
  }
  out[i] = sign * value;
}
