printf 'kernel [[max_total_threads_per_threadgroup(1)]] void k(device float *a [[buffer(0)]]) { a[0] = 1; }\n' >one.metal
ingot compile one.metal --remarks
