; Operations among the threads of a simdgroup and a quadgroup.
target triple = "air64_v26-apple-macosx14.0.0"

define void @lanes(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %id, i32 %lane) {
entry:
  %wide = zext i32 %id to i64
  %from = getelementptr inbounds float, ptr addrspace(1) %in, i64 %wide
  %x = load float, ptr addrspace(1) %from, align 4
  %n = tail call i32 @air.convert.u.i32.f.f32(float %x)
  %sum = tail call float @air.simd_sum.f32(float %x)
  %down = tail call float @air.simd_shuffle_down.f32(float %x, i16 1)
  %scan = tail call i32 @air.simd_prefix_exclusive_sum.u.i32(i32 %n)
  %four = tail call float @air.quad_sum.f32(float %x)
  %odd = and i32 %n, 1
  %is = icmp ne i32 %odd, 0
  %vote = tail call i64 @air.simd_ballot.i64(i1 %is)
  %low = trunc i64 %vote to i32
  %pair0 = insertelement <2 x i32> poison, i32 %n, i64 0
  %pair = insertelement <2 x i32> %pair0, i32 %lane, i64 1
  %swapped = tail call <2 x i32> @air.simd_shuffle_xor.u.v2i32(<2 x i32> %pair, i16 3)
  %other = extractelement <2 x i32> %swapped, i64 1
  tail call void @air.simdgroup.barrier(i32 2, i32 4)
  %size = tail call i16 @air.get_simdgroup_size.i16()
  %width = zext i16 %size to i32
  %m1 = add i32 %scan, %low
  %m2 = mul i32 %other, %width
  %m = add i32 %m1, %m2
  %p1 = fadd float %sum, %down
  %p = fadd float %p1, %four
  %place = getelementptr inbounds <2 x float>, ptr addrspace(1) %out, i64 %wide
  %mf = bitcast i32 %m to float
  %r0 = insertelement <2 x float> poison, float %p, i64 0
  %r = insertelement <2 x float> %r0, float %mf, i64 1
  store <2 x float> %r, ptr addrspace(1) %place, align 8
  ret void
}

declare i32 @air.convert.u.i32.f.f32(float)
declare float @air.simd_sum.f32(float)
declare float @air.simd_shuffle_down.f32(float, i16)
declare i32 @air.simd_prefix_exclusive_sum.u.i32(i32)
declare float @air.quad_sum.f32(float)
declare i64 @air.simd_ballot.i64(i1)
declare <2 x i32> @air.simd_shuffle_xor.u.v2i32(<2 x i32>, i16)
declare void @air.simdgroup.barrier(i32, i32)
declare i16 @air.get_simdgroup_size.i16()

!air.kernel = !{!0}
!0 = !{ptr @lanes, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5, !6}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"in"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 8, !"air.arg_type_align_size", i32 8, !"air.arg_type_name", !"float2", !"air.arg_name", !"out"}
!5 = !{i32 2, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
!6 = !{i32 3, !"air.thread_index_in_simdgroup", !"air.arg_type_name", !"uint", !"air.arg_name", !"lane"}
