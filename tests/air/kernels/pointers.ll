; Functions of vectors that write a second result through a pointer.
target triple = "air64_v26-apple-macosx14.0.0"

define void @pointers(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %id) {
entry:
  %cosine = alloca <4 x float>, align 16
  %exponent = alloca <4 x i32>, align 16
  %whole = alloca <4 x half>, align 8
  %wide = zext i32 %id to i64
  %from = getelementptr inbounds <4 x float>, ptr addrspace(1) %in, i64 %wide
  %x = load <4 x float>, ptr addrspace(1) %from, align 16
  %sine = call <4 x float> @air.sincos.v4f32(<4 x float> %x, ptr %cosine)
  %mantissa = call <4 x float> @air.frexp.v4f32(<4 x float> %x, ptr %exponent)
  %small = call <4 x half> @air.convert.f.v4f16.f.v4f32(<4 x float> %x)
  %fraction = call <4 x half> @air.modf.v4f16(<4 x half> %small, ptr %whole)
  %c = load <4 x float>, ptr %cosine, align 16
  %e = load <4 x i32>, ptr %exponent, align 16
  %w = load <4 x half>, ptr %whole, align 8
  %ef = call <4 x float> @air.convert.f.v4f32.s.v4i32(<4 x i32> %e)
  %wf = call <4 x float> @air.convert.f.v4f32.f.v4f16(<4 x half> %w)
  %ff = call <4 x float> @air.convert.f.v4f32.f.v4f16(<4 x half> %fraction)
  %place = mul i64 %wide, 6
  %to = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %place
  store <4 x float> %sine, ptr addrspace(1) %to, align 16
  %to1 = getelementptr inbounds <4 x float>, ptr addrspace(1) %to, i64 1
  store <4 x float> %c, ptr addrspace(1) %to1, align 16
  %to2 = getelementptr inbounds <4 x float>, ptr addrspace(1) %to, i64 2
  store <4 x float> %mantissa, ptr addrspace(1) %to2, align 16
  %to3 = getelementptr inbounds <4 x float>, ptr addrspace(1) %to, i64 3
  store <4 x float> %ef, ptr addrspace(1) %to3, align 16
  %to4 = getelementptr inbounds <4 x float>, ptr addrspace(1) %to, i64 4
  store <4 x float> %wf, ptr addrspace(1) %to4, align 16
  %to5 = getelementptr inbounds <4 x float>, ptr addrspace(1) %to, i64 5
  store <4 x float> %ff, ptr addrspace(1) %to5, align 16
  ret void
}

declare <4 x float> @air.sincos.v4f32(<4 x float>, ptr)
declare <4 x float> @air.frexp.v4f32(<4 x float>, ptr)
declare <4 x half> @air.modf.v4f16(<4 x half>, ptr)
declare <4 x half> @air.convert.f.v4f16.f.v4f32(<4 x float>)
declare <4 x float> @air.convert.f.v4f32.s.v4i32(<4 x i32>)
declare <4 x float> @air.convert.f.v4f32.f.v4f16(<4 x half>)

!air.kernel = !{!0}
!0 = !{ptr @pointers, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"in"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"out"}
!5 = !{i32 2, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
