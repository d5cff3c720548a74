; Textures, made by make-textures.py.
target triple = "air64_v28-apple-macosx26.0.0"

@__air_sampler_state = internal addrspace(2) constant [2 x i64] [i64 179016985676417602, i64 0], align 8

define void @filtered(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(1) %t0, ptr addrspace(1) %t1, ptr addrspace(1) %t2, ptr addrspace(1) %t3, ptr addrspace(1) %t4, ptr addrspace(2) %s, i32 %id) {
entry:
  %wide = zext i32 %id to i64
  %from = getelementptr inbounds <4 x float>, ptr addrspace(1) %in, i64 %wide
  %c = load <4 x float>, ptr addrspace(1) %from, align 16
  %c1 = extractelement <4 x float> %c, i64 0
  %c2 = shufflevector <4 x float> %c, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %c3 = shufflevector <4 x float> %c, <4 x float> poison, <3 x i32> <i32 0, i32 1, i32 2>
  %x = and i32 %id, 7
  %y = lshr i32 %id, 3
  %p2.0 = insertelement <2 x i32> poison, i32 %x, i64 0
  %p2 = insertelement <2 x i32> %p2.0, i32 %y, i64 1
  %p3.0 = shufflevector <2 x i32> %p2, <2 x i32> poison, <3 x i32> <i32 0, i32 1, i32 poison>
  %p3 = insertelement <3 x i32> %p3.0, i32 1, i64 2
  %h2 = trunc <2 x i32> %p2 to <2 x i16>
  %vh = call <4 x half> @air.convert.f.v4f16.f.v4f32(<4 x float> %c)
  %vu = call <4 x i32> @air.convert.u.v4i32.f.v4f32(<4 x float> %c)
  %vi = call <4 x i32> @air.convert.s.v4i32.f.v4f32(<4 x float> %c)
  %vs = call <4 x i16> @air.convert.s.v4i16.f.v4f32(<4 x float> %c)
  %none = call ptr addrspace(2) @air.get_read_sampler()
  %r0 = call { <4 x float>, i8 } @air.sample_texture_1d.v4f32(ptr addrspace(1) %t0, ptr addrspace(2) @__air_sampler_state, float %c1, i1 false, i32 0, i1 false, float 0.0, float 0.0, i32 0)
  %r0.v = extractvalue { <4 x float>, i8 } %r0, 0
  %o0.i = add i64 %wide, 0
  %o0 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o0.i
  store <4 x float> %r0.v, ptr addrspace(1) %o0, align 16
  %r1 = call { <4 x float>, i8 } @air.sample_texture_2d.v4f32(ptr addrspace(1) %t1, ptr addrspace(2) @__air_sampler_state, <2 x float> %c2, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  %r1.v = extractvalue { <4 x float>, i8 } %r1, 0
  %o1.i = add i64 %wide, 64
  %o1 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o1.i
  store <4 x float> %r1.v, ptr addrspace(1) %o1, align 16
  %r2 = call { <4 x float>, i8 } @air.sample_texture_2d.v4f32(ptr addrspace(1) %t1, ptr addrspace(2) @__air_sampler_state, <2 x float> %c2, i1 true, <2 x i32> <i32 1, i32 -2>, i1 false, float 0.0, float 0.0, i32 0)
  %r2.v = extractvalue { <4 x float>, i8 } %r2, 0
  %o2.i = add i64 %wide, 128
  %o2 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o2.i
  store <4 x float> %r2.v, ptr addrspace(1) %o2, align 16
  %r3 = call { <4 x float>, i8 } @air.sample_texture_2d.v4f32(ptr addrspace(1) %t1, ptr addrspace(2) %s, <2 x float> %c2, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.5, float 1.0, i32 0)
  %r3.v = extractvalue { <4 x float>, i8 } %r3, 0
  %o3.i = add i64 %wide, 192
  %o3 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o3.i
  store <4 x float> %r3.v, ptr addrspace(1) %o3, align 16
  %r4 = call { <4 x float>, i8 } @air.sample_texture_2d_grad.v4f32(ptr addrspace(1) %t1, ptr addrspace(2) %s, <2 x float> %c2, <2 x float> <float 0.25, float 0.5>, <2 x float> <float 0.125, float 0.0>, float 0.0, i1 true, <2 x i32> <i32 1, i32 -2>, i32 0)
  %r4.v = extractvalue { <4 x float>, i8 } %r4, 0
  %o4.i = add i64 %wide, 256
  %o4 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o4.i
  store <4 x float> %r4.v, ptr addrspace(1) %o4, align 16
  %r5 = call { <4 x float>, i8 } @air.sample_texture_2d_array.v4f32(ptr addrspace(1) %t2, ptr addrspace(2) @__air_sampler_state, <2 x float> %c2, i32 1, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  %r5.v = extractvalue { <4 x float>, i8 } %r5, 0
  %o5.i = add i64 %wide, 320
  %o5 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o5.i
  store <4 x float> %r5.v, ptr addrspace(1) %o5, align 16
  %r6 = call { <4 x float>, i8 } @air.sample_texture_3d.v4f32(ptr addrspace(1) %t3, ptr addrspace(2) @__air_sampler_state, <3 x float> %c3, i1 true, <3 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  %r6.v = extractvalue { <4 x float>, i8 } %r6, 0
  %o6.i = add i64 %wide, 384
  %o6 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o6.i
  store <4 x float> %r6.v, ptr addrspace(1) %o6, align 16
  %r7 = call { <4 x half>, i8 } @air.sample_texture_2d.v4f16(ptr addrspace(1) %t4, ptr addrspace(2) @__air_sampler_state, <2 x float> %c2, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  %r7.v = extractvalue { <4 x half>, i8 } %r7, 0
  %r7.f = fpext <4 x half> %r7.v to <4 x float>
  %o7.i = add i64 %wide, 448
  %o7 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o7.i
  store <4 x float> %r7.f, ptr addrspace(1) %o7, align 16
  %r8 = call { <4 x float>, i8 } @air.gather_texture_2d_array.v4f32(ptr addrspace(1) %t2, ptr addrspace(2) @__air_sampler_state, <2 x float> %c2, i32 1, i1 true, <2 x i32> zeroinitializer, i32 0, i32 0)
  %r8.v = extractvalue { <4 x float>, i8 } %r8, 0
  %o8.i = add i64 %wide, 512
  %o8 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o8.i
  store <4 x float> %r8.v, ptr addrspace(1) %o8, align 16
  ret void
}

declare { <4 x float>, i8 } @air.sample_texture_1d.v4f32(ptr addrspace(1), ptr addrspace(2), float, i1, i32, i1, float, float, i32)
declare { <4 x float>, i8 } @air.sample_texture_2d.v4f32(ptr addrspace(1), ptr addrspace(2), <2 x float>, i1, <2 x i32>, i1, float, float, i32)
declare { <4 x float>, i8 } @air.sample_texture_2d_grad.v4f32(ptr addrspace(1), ptr addrspace(2), <2 x float>, <2 x float>, <2 x float>, float, i1, <2 x i32>, i32)
declare { <4 x float>, i8 } @air.sample_texture_2d_array.v4f32(ptr addrspace(1), ptr addrspace(2), <2 x float>, i32, i1, <2 x i32>, i1, float, float, i32)
declare { <4 x float>, i8 } @air.sample_texture_3d.v4f32(ptr addrspace(1), ptr addrspace(2), <3 x float>, i1, <3 x i32>, i1, float, float, i32)
declare { <4 x half>, i8 } @air.sample_texture_2d.v4f16(ptr addrspace(1), ptr addrspace(2), <2 x float>, i1, <2 x i32>, i1, float, float, i32)
declare { <4 x float>, i8 } @air.gather_texture_2d_array.v4f32(ptr addrspace(1), ptr addrspace(2), <2 x float>, i32, i1, <2 x i32>, i32, i32)
declare <4 x half> @air.convert.f.v4f16.f.v4f32(<4 x float>)
declare <4 x i32> @air.convert.u.v4i32.f.v4f32(<4 x float>)
declare <4 x i32> @air.convert.s.v4i32.f.v4f32(<4 x float>)
declare <4 x i16> @air.convert.s.v4i16.f.v4f32(<4 x float>)
declare ptr addrspace(2) @air.get_read_sampler()

!air.kernel = !{!0}
!air.sampler_states = !{!3}
!0 = !{ptr @filtered, !1, !2}
!1 = !{}
!2 = !{!4, !5, !6, !7, !8, !9, !10, !11, !12}
!3 = !{!"air.sampler_state", ptr addrspace(2) @__air_sampler_state}
!4 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"in"}
!5 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"out"}
!6 = !{i32 2, !"air.texture", !"air.location_index", i32 0, i32 1, !"air.sample", !"air.arg_type_name", !"texture1d<float, sample>", !"air.arg_name", !"t0"}
!7 = !{i32 3, !"air.texture", !"air.location_index", i32 1, i32 1, !"air.sample", !"air.arg_type_name", !"texture2d<float, sample>", !"air.arg_name", !"t1"}
!8 = !{i32 4, !"air.texture", !"air.location_index", i32 2, i32 1, !"air.sample", !"air.arg_type_name", !"texture2d_array<float, sample>", !"air.arg_name", !"t2"}
!9 = !{i32 5, !"air.texture", !"air.location_index", i32 3, i32 1, !"air.sample", !"air.arg_type_name", !"texture3d<float, sample>", !"air.arg_name", !"t3"}
!10 = !{i32 6, !"air.texture", !"air.location_index", i32 4, i32 1, !"air.sample", !"air.arg_type_name", !"texture2d<half, sample>", !"air.arg_name", !"t4"}
!11 = !{i32 7, !"air.sampler", !"air.location_index", i32 0, i32 1, !"air.arg_type_name", !"sampler", !"air.arg_name", !"s"}
!12 = !{i32 8, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
