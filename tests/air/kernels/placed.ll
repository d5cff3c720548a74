; A vertex function: attributes, a buffer and a number.
target triple = "air64_v27-apple-macosx15.0.0"

define <{ <4 x float>, <2 x float> }> @placed(<3 x float> %position, <2 x float> %uv, ptr addrspace(2) %scale, i32 %id) {
  %factor = load float, ptr addrspace(2) %scale, align 4
  %x = extractelement <3 x float> %position, i32 0
  %scaled = fmul float %x, %factor
  %number = uitofp i32 %id to float
  %sum = fadd float %scaled, %number
  %place = insertelement <4 x float> zeroinitializer, float %sum, i32 0
  %first = insertvalue <{ <4 x float>, <2 x float> }> undef, <4 x float> %place, 0
  %both = insertvalue <{ <4 x float>, <2 x float> }> %first, <2 x float> %uv, 1
  ret <{ <4 x float>, <2 x float> }> %both
}

!air.vertex = !{!0}
!0 = !{ptr @placed, !1, !2}
!1 = !{!3, !4}
!2 = !{!5, !6, !7, !8}
!3 = !{!"air.position", !"air.arg_type_name", !"float4", !"air.arg_name", !"place"}
!4 = !{!"air.vertex_output", !"generated(2uvDv2_f)", !"air.arg_type_name", !"float2", !"air.arg_name", !"uv"}
!5 = !{i32 0, !"air.vertex_input", !"air.location_index", i32 0, i32 1, !"air.arg_type_name", !"float3", !"air.arg_name", !"position"}
!6 = !{i32 1, !"air.vertex_input", !"air.location_index", i32 3, i32 1, !"air.arg_type_name", !"float2", !"air.arg_name", !"uv"}
!7 = !{i32 2, !"air.buffer", !"air.buffer_size", i32 4, !"air.location_index", i32 2, i32 1, !"air.read", !"air.address_space", i32 2, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"scale"}
!8 = !{i32 3, !"air.vertex_id", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
