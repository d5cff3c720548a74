; An intrinsic that has no counterpart.
target triple = "air64_v26-apple-macosx14.0.0"

define void @unknown(ptr addrspace(1) %data) {
  %x = load float, ptr addrspace(1) %data, align 4
  %y = tail call float @air.predict_weather.f32(float %x)
  store float %y, ptr addrspace(1) %data, align 4
  ret void
}

declare float @air.predict_weather.f32(float)

!air.kernel = !{!0}
!0 = !{ptr @unknown, !1, !2}
!1 = !{}
!2 = !{!3}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"data"}
