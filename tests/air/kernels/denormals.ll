; A module that asks for denormals to be flushed, as all of Apple's do.
target triple = "air64_v26-apple-macosx14.0.0"

define void @denormals(ptr addrspace(1) %data) {
  %x = load float, ptr addrspace(1) %data, align 4
  %y = fmul float %x, 5.000000e-01
  store float %y, ptr addrspace(1) %data, align 4
  ret void
}

!air.kernel = !{!0}
!air.compile_options = !{!9}
!0 = !{ptr @denormals, !1, !2}
!1 = !{}
!2 = !{!3}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"data"}
!9 = !{!"air.compile.denorms_disable"}
