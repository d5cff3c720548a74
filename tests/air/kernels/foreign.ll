; An argument of a kind that is not one of AIR's.
target triple = "air64_v28-apple-macosx26.0.0"

define void @foreign(ptr addrspace(1) %data, i32 %x) {
  store i32 %x, ptr addrspace(1) %data, align 4
  ret void
}

!air.kernel = !{!0}
!0 = !{ptr @foreign, !1, !2}
!1 = !{}
!2 = !{!3, !4}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"data"}
!4 = !{i32 1, !"x", !"air.arg_type_name", !"uint", !"air.arg_name", !"x"}
