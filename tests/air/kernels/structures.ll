; A structure with an array, a vector and another structure in it.
target triple = "air64_v26-apple-macosx14.0.0"

define void @structures(ptr addrspace(1) %out, ptr addrspace(2) %shape) {
  %at = getelementptr inbounds i8, ptr addrspace(2) %shape, i64 8
  %steps = load i64, ptr addrspace(2) %at, align 8
  store i64 %steps, ptr addrspace(1) %out, align 8
  ret void
}

!air.kernel = !{!0}
!0 = !{ptr @structures, !1, !2}
!1 = !{}
!2 = !{!3, !4}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 8, !"air.arg_type_align_size", i32 8, !"air.arg_type_name", !"long", !"air.arg_name", !"out"}
!4 = !{i32 1, !"air.buffer", !"air.buffer_size", i32 64, !"air.location_index", i32 1, i32 1, !"air.read", !"air.address_space", i32 2, !"air.struct_type_info", !5, !"air.arg_type_size", i32 64, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"shape", !"air.arg_name", !"shape"}
!5 = !{i32 0, i32 4, i32 0, !"int", !"rows", i32 8, i32 8, i32 2, !"long", !"steps", i32 32, i32 16, i32 0, !"float4", !"colour", i32 48, i32 8, i32 0, !"limits", !"limits", !"air.struct_type_info", !6, i32 56, i32 1, i32 0, !"bool", !"flipped"}
!6 = !{i32 0, i32 4, i32 0, !"half2", !"low", i32 4, i32 4, i32 0, !"uint", !"high"}
