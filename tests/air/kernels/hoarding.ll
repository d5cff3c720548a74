; A visible function with threadgroup memory of its own, which Metal does not have.
target triple = "air64_v27-apple-macosx15.0.0"

@kept = internal addrspace(3) global float undef, align 4

define float @hoarding(float %x) {
  store float %x, ptr addrspace(3) @kept, align 4
  ret float %x
}

!air.visible = !{!0}
!0 = !{ptr @hoarding, !1, !2}
!1 = !{!3}
!2 = !{!4}
!3 = !{!"air.arg_type_name", !"float"}
!4 = !{i32 0, !"air.arg_type_name", !"float", !"air.arg_name", !"x"}
