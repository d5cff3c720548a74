; Atomics in device and threadgroup memory, and an argument buffer: a struct with a pointer in it.
target triple = "air64_v26-apple-macosx14.0.0"

%struct.Table = type { ptr addrspace(1), i32 }

@tally = internal unnamed_addr addrspace(3) global i32 undef, align 4

define void @atomics(ptr addrspace(2) "air-buffer-no-alias" %table, ptr addrspace(1) %floats, i32 %local) {
entry:
  %out = load ptr addrspace(1), ptr addrspace(2) %table, align 8
  %where = getelementptr inbounds %struct.Table, ptr addrspace(2) %table, i64 0, i32 1
  %weight = load i32, ptr addrspace(2) %where, align 8
  %first = icmp eq i32 %local, 0
  br i1 %first, label %clear, label %go
clear:
  tail call void @air.atomic.local.store.i32(ptr addrspace(3) @tally, i32 0, i32 0, i32 1, i1 true)
  br label %go
go:
  tail call void @air.wg.barrier(i32 2, i32 1)
  %old = tail call i32 @air.atomic.local.add.u.i32(ptr addrspace(3) @tally, i32 %weight, i32 0, i32 1, i1 true)
  tail call void @air.wg.barrier(i32 2, i32 1)
  %sum = tail call i32 @air.atomic.local.load.i32(ptr addrspace(3) @tally, i32 0, i32 1, i1 true)
  %most = getelementptr inbounds i32, ptr addrspace(1) %out, i64 1
  %m = tail call i32 @air.atomic.global.max.u.i32(ptr addrspace(1) %most, i32 %local, i32 0, i32 2, i1 true)
  %f = tail call float @air.atomic.global.add.f32(ptr addrspace(1) %floats, float 5.000000e-01, i32 0, i32 2, i1 true)
  br i1 %first, label %write, label %end
write:
  %o = tail call i32 @air.atomic.global.xchg.i32(ptr addrspace(1) %out, i32 %sum, i32 0, i32 2, i1 true)
  br label %end
end:
  ret void
}

declare void @air.wg.barrier(i32, i32)
declare void @air.atomic.local.store.i32(ptr addrspace(3), i32, i32, i32, i1)
declare i32 @air.atomic.local.add.u.i32(ptr addrspace(3), i32, i32, i32, i1)
declare i32 @air.atomic.local.load.i32(ptr addrspace(3), i32, i32, i1)
declare i32 @air.atomic.global.max.u.i32(ptr addrspace(1), i32, i32, i32, i1)
declare float @air.atomic.global.add.f32(ptr addrspace(1), float, i32, i32, i1)
declare i32 @air.atomic.global.xchg.i32(ptr addrspace(1), i32, i32, i32, i1)

!air.kernel = !{!0}
!0 = !{ptr @atomics, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5}
!3 = !{i32 0, !"air.indirect_buffer", !"air.buffer_size", i32 16, !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 2, !"air.struct_type_info", !1, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 8, !"air.arg_type_name", !"Table", !"air.arg_name", !"table"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"atomic<float>", !"air.arg_name", !"floats"}
!5 = !{i32 2, !"air.thread_position_in_threadgroup", !"air.arg_type_name", !"uint", !"air.arg_name", !"local"}
