; Visible functions: by a table, and by name. Messages are dropped.
target triple = "air64_v27-apple-macosx15.0.0"

@subsystem = internal addrspace(2) constant [5 x i8] c"tests"
@format = internal addrspace(2) constant [3 x i8] c"%d\00"

define void @tables(ptr addrspace(1) %data, ptr addrspace(1) %table, i32 %id) {
entry:
  %wide = zext i32 %id to i64
  %at = getelementptr inbounds float, ptr addrspace(1) %data, i64 %wide
  %x = load float, ptr addrspace(1) %at, align 4
  %none = tail call i1 @air.is_null_visible_function_table(ptr addrspace(1) %table)
  br i1 %none, label %named, label %listed
listed:
  %which = and i32 %id, 1
  %function = tail call ptr @air.get_function_pointer_visible_function_table(ptr addrspace(1) %table, i32 %which)
  %y = tail call float %function(float %x)
  br label %named
named:
  %value = phi float [ %x, %entry ], [ %y, %listed ]
  %z = tail call float @negated.MTL_VISIBLE_FN_REF(float %value)
  tail call void (ptr addrspace(2), i64, ...) @message(ptr addrspace(2) @format, i64 4, i32 %id)
  store float %z, ptr addrspace(1) %at, align 4
  ret void
}

define internal void @message(ptr addrspace(2) %text, i64 %size, ...) {
  %list = alloca ptr, align 8
  call void @llvm.va_start.p0(ptr %list)
  %arguments = load ptr, ptr %list, align 8
  call void @air.os_log(ptr addrspace(2) @subsystem, ptr addrspace(2) @subsystem, i32 1, ptr addrspace(2) %text, ptr %arguments, i64 %size)
  call void @llvm.va_end.p0(ptr %list)
  ret void
}

declare void @air.os_log(ptr addrspace(2), ptr addrspace(2), i32, ptr addrspace(2), ptr, i64)
declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_end.p0(ptr)
declare i1 @air.is_null_visible_function_table(ptr addrspace(1))
declare ptr @air.get_function_pointer_visible_function_table(ptr addrspace(1), i32)
declare float @negated.MTL_VISIBLE_FN_REF(float) section "air.externally_defined"

!air.kernel = !{!0}
!air.visible_function_references = !{!9}
!0 = !{ptr @tables, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"data"}
!4 = !{i32 1, !"air.visible_function_table", !"air.location_index", i32 1, i32 1, !"air.read", !"air.arg_type_name", !"visible_function_table<float(float)>", !"air.arg_name", !"table"}
!5 = !{i32 2, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
!9 = !{!"air.visible_function_reference", ptr @negated.MTL_VISIBLE_FN_REF, !"negated"}
