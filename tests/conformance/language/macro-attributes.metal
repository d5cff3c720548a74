// An attribute whose name a macro is given.
#define BUILT_IN(type, name, attribute) type name [[attribute]]
#define SLOT(pointer, kind, n) pointer [[kind(n)]]
kernel void attribute_from_a_macro_argument(SLOT(device uint *out, buffer, 2), BUILT_IN(uint, i, thread_position_in_grid), BUILT_IN(uint, n, threads_per_grid)) {
  out[i] = n - i;
}
