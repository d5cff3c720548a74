; A fragment function: what is interpolated, a texture, a sampler and the colour before.
target triple = "air64_v27-apple-macosx15.0.0"

define <4 x float> @shaded(<4 x float> %place, <2 x float> %uv, ptr addrspace(1) %image, ptr addrspace(2) %filter, <4 x float> %before) {
  %dx = call fast <2 x float> @air.dfdx.v2f32(<2 x float> %uv)
  %x = extractelement <2 x float> %dx, i32 0
  %is_outside = fcmp olt float %x, 0.000000e+00
  br i1 %is_outside, label %outside, label %inside
outside:
  call void @air.discard_fragment()
  br label %inside
inside:
  ret <4 x float> %before
}

declare <2 x float> @air.dfdx.v2f32(<2 x float>)
declare void @air.discard_fragment()

!air.fragment = !{!0}
!0 = !{ptr @shaded, !1, !2}
!1 = !{!3}
!2 = !{!4, !5, !6, !7, !8}
!3 = !{!"air.render_target", i32 0, i32 0, !"air.arg_type_name", !"float4"}
!4 = !{i32 0, !"air.position", !"air.center", !"air.no_perspective", !"air.arg_type_name", !"float4", !"air.arg_name", !"place"}
!5 = !{i32 1, !"air.fragment_input", !"generated(2uvDv2_f)", !"air.center", !"air.perspective", !"air.arg_type_name", !"float2", !"air.arg_name", !"uv"}
!6 = !{i32 2, !"air.texture", !"air.location_index", i32 5, i32 1, !"air.sample", !"air.arg_type_name", !"texture2d<float, sample>", !"air.arg_name", !"image"}
!7 = !{i32 3, !"air.sampler", !"air.location_index", i32 1, i32 1, !"air.arg_type_name", !"sampler", !"air.arg_name", !"filter"}
!8 = !{i32 4, !"air.render_target", i32 0, i32 0, !"air.arg_type_name", !"float4", !"air.arg_name", !"before"}
