// Copies that a simdgroup makes together, declared as programs declare them for themselves.
#include <metal_stdlib>
using namespace metal;

struct copy_event;
thread copy_event *load_line(ulong size, ulong alignment, threadgroup void *to, const device void *from, ulong count)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
thread copy_event *store_line(ulong, ulong, device void *, const threadgroup void *, ulong)
    __asm("air.simdgroup_async_copy_1d.p1i8.p3i8");
thread copy_event *load_tile(ulong, ulong, threadgroup void *, ulong, ulong, ulong2, const device void *, ulong, ulong,
                             ulong2, long2, int) __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
thread copy_event *store_tile(ulong, ulong, device void *, ulong, ulong, ulong2, const threadgroup void *, ulong, ulong,
                              ulong2, long2, int) __asm("air.simdgroup_async_copy_2d.p1i8.p3i8");
void wait_for_copies(int, thread copy_event **) __asm("air.wait_simdgroup_events");

struct pending {
  thread copy_event *event;
  template <class T> void load(threadgroup T *to, const device T *from, ulong count) thread {
    event = load_line(sizeof(T), alignof(T), reinterpret_cast<threadgroup void *>(to),
                      reinterpret_cast<const device void *>(from), count);
  }
  void wait() thread { wait_for_copies(1, &event); }
};

// The first simdgroup of each threadgroup reads 40 numbers, and the last writes them back in another order.
kernel void lines(device const half *in [[buffer(0)]], device half *out [[buffer(1)]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]],
                  uint group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]]) {
  threadgroup half memory[40], reversed[40];
  if (simdgroup == 0) {
    pending copy;
    copy.load(memory, in + 40 * group, 40);
    copy.wait();
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = thread_index; i < 40; i += threads) reversed[i] = memory[39 - i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup == simdgroups - 1) store_line(2, 2, out + 40 * group, reversed, 40);
}

// A tile of 8 x 6 elements, of which the source has 5 x 4; what it lacks is 0 or the nearest.
kernel void tiles(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]], constant int &mode [[buffer(2)]],
                  uint lane [[thread_index_in_threadgroup]]) {
  threadgroup uint memory[6 * 9];
  if (lane < 32) {
    thread copy_event *event = load_tile(4, 4, memory, 9, 1, ulong2(8, 6), in, 7, 1, ulong2(5, 4), long2(0), mode);
    wait_for_copies(1, &event);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane < 32) {
    thread copy_event *event = store_tile(4, 4, out, 8, 1, ulong2(8, 6), memory, 9, 1, ulong2(8, 6), long2(0), 0);
    wait_for_copies(1, &event);
  }
}

// Elements of a size that is none of a scalar.
kernel void structures(device const packed_float3 *in [[buffer(0)]], device packed_float3 *out [[buffer(1)]],
                       uint lane [[thread_index_in_threadgroup]]) {
  threadgroup packed_float3 memory[10];
  if (lane < 32) {
    thread copy_event *event = load_line(sizeof(packed_float3), 4, memory, in, 10);
    wait_for_copies(1, &event);
    event = store_line(sizeof(packed_float3), 4, out, memory, 10);
    wait_for_copies(1, &event);
  }
}
