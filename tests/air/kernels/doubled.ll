; A visible function.
target triple = "air64_v27-apple-macosx15.0.0"

define float @doubled(float %x) {
  %y = call float @helper(float %x)
  ret float %y
}

define internal float @helper(float %x) {
  %y = fadd float %x, %x
  ret float %y
}

!air.visible = !{!0}
!0 = !{ptr @doubled, !1, !2}
!1 = !{!3}
!2 = !{!4}
!3 = !{!"air.arg_type_name", !"float"}
!4 = !{i32 0, !"air.arg_type_name", !"float", !"air.arg_name", !"x"}
