; Threadgroup memory: a variable, by constant expressions too, an argument, and barriers.
target triple = "air64_v26-apple-macosx14.0.0"

@shared = internal unnamed_addr addrspace(3) global [64 x i32] undef, align 4

define void @threadgroup(ptr addrspace(1) %data, ptr addrspace(3) %extra, i32 %local, i32 %group) {
entry:
  %base = mul i32 %group, 64
  %at = add i32 %base, %local
  %wide = zext i32 %at to i64
  %place = zext i32 %local to i64
  %from = getelementptr inbounds i32, ptr addrspace(1) %data, i64 %wide
  %x = load i32, ptr addrspace(1) %from, align 4
  %mine = getelementptr inbounds [64 x i32], ptr addrspace(3) @shared, i64 0, i64 %place
  store i32 %x, ptr addrspace(3) %mine, align 4
  %his = getelementptr inbounds i32, ptr addrspace(3) %extra, i64 %place
  store i32 %x, ptr addrspace(3) %his, align 4
  tail call void @air.wg.barrier(i32 2, i32 1)
  %first = icmp ult i32 %local, 32
  br i1 %first, label %low, label %high
low:
  br label %join
high:
  br label %join
join:
  %source = phi ptr addrspace(3) [ getelementptr inbounds ([64 x i32], ptr addrspace(3) @shared, i64 0, i64 63), %low ], [ @shared, %high ]
  %sign = phi i64 [ -1, %low ], [ 1, %high ]
  %step = and i64 %place, 31
  %move = mul i64 %step, %sign
  %other = getelementptr inbounds i32, ptr addrspace(3) %source, i64 %move
  %flat = addrspacecast ptr addrspace(3) %other to ptr
  %y = load i32, ptr %flat, align 4
  %near = xor i64 %place, 1
  %neighbour = getelementptr inbounds i32, ptr addrspace(3) %extra, i64 %near
  %z = load i32, ptr addrspace(3) %neighbour, align 4
  %sum = add i32 %y, %z
  store i32 %sum, ptr addrspace(1) %from, align 4
  ret void
}

declare void @air.wg.barrier(i32, i32)

!air.kernel = !{!0}
!0 = !{ptr @threadgroup, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5, !6}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"data"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 3, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"extra"}
!5 = !{i32 2, !"air.thread_position_in_threadgroup", !"air.arg_type_name", !"uint", !"air.arg_name", !"local"}
!6 = !{i32 3, !"air.threadgroup_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"group"}
