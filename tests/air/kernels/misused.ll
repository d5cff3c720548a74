; A sampler that is no pointer.
target triple = "air64_v28-apple-macosx26.0.0"

define void @misused(ptr addrspace(1) %data) {
  call void @air.get_read_sampler()
  store float 1.000000e+00, ptr addrspace(1) %data, align 4
  ret void
}

declare void @air.get_read_sampler()

!air.kernel = !{!0}
!0 = !{ptr @misused, !1, !2}
!1 = !{}
!2 = !{!3}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"data"}
