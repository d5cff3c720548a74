; A kernel with [[stage_in]]: each attribute is a parameter.
target triple = "air64_v27-apple-macosx15.0.0"

define void @attributes(<2 x float> %place, ptr addrspace(1) %out, i8 %colour, <3 x half> %weights, i32 %id, <4 x i16> %parts) {
  %wide = zext i32 %id to i64
  %row = mul i64 %wide, 10
  %at0 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %row
  %x = extractelement <2 x float> %place, i32 0
  %y = extractelement <2 x float> %place, i32 1
  store float %x, ptr addrspace(1) %at0, align 4
  %at1 = getelementptr inbounds float, ptr addrspace(1) %at0, i64 1
  store float %y, ptr addrspace(1) %at1, align 4
  %c = uitofp i8 %colour to float
  %at2 = getelementptr inbounds float, ptr addrspace(1) %at0, i64 2
  store float %c, ptr addrspace(1) %at2, align 4
  %w = fpext <3 x half> %weights to <3 x float>
  %w0 = extractelement <3 x float> %w, i32 0
  %at3 = getelementptr inbounds float, ptr addrspace(1) %at0, i64 3
  store float %w0, ptr addrspace(1) %at3, align 4
  %w1 = extractelement <3 x float> %w, i32 1
  %at4 = getelementptr inbounds float, ptr addrspace(1) %at0, i64 4
  store float %w1, ptr addrspace(1) %at4, align 4
  %w2 = extractelement <3 x float> %w, i32 2
  %at5 = getelementptr inbounds float, ptr addrspace(1) %at0, i64 5
  store float %w2, ptr addrspace(1) %at5, align 4
  %p = sitofp <4 x i16> %parts to <4 x float>
  %at6 = getelementptr inbounds float, ptr addrspace(1) %at0, i64 6
  store <4 x float> %p, ptr addrspace(1) %at6, align 4
  ret void
}

!air.kernel = !{!0}
!0 = !{ptr @attributes, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5, !6, !7, !8}
!3 = !{i32 0, !"air.stage_in", !"air.location_index", i32 0, i32 1, !"air.arg_type_name", !"float2", !"air.arg_name", !"place"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"out"}
!5 = !{i32 2, !"air.stage_in", !"air.location_index", i32 5, i32 1, !"air.arg_type_name", !"uchar", !"air.arg_name", !"colour"}
!6 = !{i32 3, !"air.stage_in", !"air.location_index", i32 30, i32 1, !"air.arg_type_name", !"half3", !"air.arg_name", !"weights"}
!7 = !{i32 4, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
!8 = !{i32 5, !"air.stage_in", !"air.location_index", i32 7, i32 1, !"generated(5partsDv4_s)", !"air.arg_type_name", !"short4", !"air.arg_name", !"parts"}
