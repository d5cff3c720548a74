; Textures, made by make-textures.py.
target triple = "air64_v28-apple-macosx26.0.0"

@__air_sampler_state = internal addrspace(2) constant [2 x i64] [i64 179016985676417602, i64 0], align 8

define void @written(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(1) %t0, ptr addrspace(1) %t1, ptr addrspace(1) %t2, ptr addrspace(1) %t3, ptr addrspace(1) %t4, ptr addrspace(1) %t5, ptr addrspace(1) %t6, ptr addrspace(1) %t7, ptr addrspace(2) %s, i32 %id) {
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
  call void @air.write_texture_2d.v4f32(ptr addrspace(1) %t0, <2 x i32> %p2, <4 x float> %c, i32 0, i32 2)
  call void @air.write_texture_2d_array.v4f16(ptr addrspace(1) %t1, <2 x i32> %p2, i32 1, <4 x half> %vh, i32 0, i32 2)
  call void @air.write_texture_3d.v4f32(ptr addrspace(1) %t2, <3 x i32> %p3, <4 x float> %c, i32 0, i32 2)
  call void @air.write_texture_cube.v4f32(ptr addrspace(1) %t3, <2 x i32> %p2, i32 4, <4 x float> %c, i32 0, i32 2)
  call void @air.write_texture_2d.u.v4i32(ptr addrspace(1) %t4, <2 x i32> %p2, <4 x i32> %vu, i32 0, i32 2)
  call void @air.write_texture_2d.i16.s.v4i16(ptr addrspace(1) %t5, <2 x i16> %h2, <4 x i16> %vs, i16 0, i32 2)
  call void @air.atomic_store_explicit_texture_2d.u.v4i32(ptr addrspace(1) %t6, <4 x i32> %vu, <2 x i32> %p2, i32 0, i32 3)
  call void @air.fence_texture_2d(ptr addrspace(1) %t6)
  %r8 = call <4 x i32> @air.atomic_load_explicit_texture_2d.u.v4i32(ptr addrspace(1) %t6, <2 x i32> %p2, i32 0, i32 3)
  %r8.f = uitofp <4 x i32> %r8 to <4 x float>
  %o8.i = add i64 %wide, 0
  %o8 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o8.i
  store <4 x float> %r8.f, ptr addrspace(1) %o8, align 16
  %r9 = call <4 x i32> @air.atomic_fetch_add_explicit_texture_2d.u.v4i32(ptr addrspace(1) %t6, <2 x i32> %p2, <4 x i32> %vu, i32 0, i32 3)
  %r9.f = uitofp <4 x i32> %r9 to <4 x float>
  %o9.i = add i64 %wide, 64
  %o9 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o9.i
  store <4 x float> %r9.f, ptr addrspace(1) %o9, align 16
  call void @air.atomic_store_explicit_texture_2d_array.s.v4i32(ptr addrspace(1) %t7, <4 x i32> %vi, <2 x i32> %p2, i32 1, i32 0, i32 3)
  %r11 = call <4 x i32> @air.atomic_fetch_max_explicit_texture_2d_array.s.v4i32(ptr addrspace(1) %t7, <2 x i32> %p2, i32 1, <2 x i32> zeroinitializer, <4 x i32> %vi, i32 0, i32 3)
  %r11.f = sitofp <4 x i32> %r11 to <4 x float>
  %o11.i = add i64 %wide, 128
  %o11 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o11.i
  store <4 x float> %r11.f, ptr addrspace(1) %o11, align 16
  %r12 = call <4 x i32> @air.atomic_exchange_explicit_texture_2d.u.v4i32(ptr addrspace(1) %t6, <2 x i32> %p2, <4 x i32> %vu, i32 0, i32 3)
  %r12.f = uitofp <4 x i32> %r12 to <4 x float>
  %o12.i = add i64 %wide, 192
  %o12 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o12.i
  store <4 x float> %r12.f, ptr addrspace(1) %o12, align 16
  %r13 = call { <4 x i32>, i8 } @air.read_texture_2d.u.v4i32(ptr addrspace(1) %t6, <2 x i32> %p2, i32 0, i32 3)
  %r13.v = extractvalue { <4 x i32>, i8 } %r13, 0
  %r13.f = uitofp <4 x i32> %r13.v to <4 x float>
  %o13.i = add i64 %wide, 256
  %o13 = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o13.i
  store <4 x float> %r13.f, ptr addrspace(1) %o13, align 16
  ret void
}

declare void @air.write_texture_2d.v4f32(ptr addrspace(1), <2 x i32>, <4 x float>, i32, i32)
declare void @air.write_texture_2d_array.v4f16(ptr addrspace(1), <2 x i32>, i32, <4 x half>, i32, i32)
declare void @air.write_texture_3d.v4f32(ptr addrspace(1), <3 x i32>, <4 x float>, i32, i32)
declare void @air.write_texture_cube.v4f32(ptr addrspace(1), <2 x i32>, i32, <4 x float>, i32, i32)
declare void @air.write_texture_2d.u.v4i32(ptr addrspace(1), <2 x i32>, <4 x i32>, i32, i32)
declare void @air.write_texture_2d.i16.s.v4i16(ptr addrspace(1), <2 x i16>, <4 x i16>, i16, i32)
declare void @air.atomic_store_explicit_texture_2d.u.v4i32(ptr addrspace(1), <4 x i32>, <2 x i32>, i32, i32)
declare void @air.fence_texture_2d(ptr addrspace(1))
declare <4 x i32> @air.atomic_load_explicit_texture_2d.u.v4i32(ptr addrspace(1), <2 x i32>, i32, i32)
declare <4 x i32> @air.atomic_fetch_add_explicit_texture_2d.u.v4i32(ptr addrspace(1), <2 x i32>, <4 x i32>, i32, i32)
declare void @air.atomic_store_explicit_texture_2d_array.s.v4i32(ptr addrspace(1), <4 x i32>, <2 x i32>, i32, i32, i32)
declare <4 x i32> @air.atomic_fetch_max_explicit_texture_2d_array.s.v4i32(ptr addrspace(1), <2 x i32>, i32, <2 x i32>, <4 x i32>, i32, i32)
declare <4 x i32> @air.atomic_exchange_explicit_texture_2d.u.v4i32(ptr addrspace(1), <2 x i32>, <4 x i32>, i32, i32)
declare { <4 x i32>, i8 } @air.read_texture_2d.u.v4i32(ptr addrspace(1), <2 x i32>, i32, i32)
declare <4 x half> @air.convert.f.v4f16.f.v4f32(<4 x float>)
declare <4 x i32> @air.convert.u.v4i32.f.v4f32(<4 x float>)
declare <4 x i32> @air.convert.s.v4i32.f.v4f32(<4 x float>)
declare <4 x i16> @air.convert.s.v4i16.f.v4f32(<4 x float>)
declare ptr addrspace(2) @air.get_read_sampler()

!air.kernel = !{!0}
!air.sampler_states = !{!3}
!0 = !{ptr @written, !1, !2}
!1 = !{}
!2 = !{!4, !5, !6, !7, !8, !9, !10, !11, !12, !13, !14, !15}
!3 = !{!"air.sampler_state", ptr addrspace(2) @__air_sampler_state}
!4 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"in"}
!5 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"out"}
!6 = !{i32 2, !"air.texture", !"air.location_index", i32 0, i32 1, !"air.write", !"air.arg_type_name", !"texture2d<float, write>", !"air.arg_name", !"t0"}
!7 = !{i32 3, !"air.texture", !"air.location_index", i32 1, i32 1, !"air.write", !"air.arg_type_name", !"texture2d_array<half, write>", !"air.arg_name", !"t1"}
!8 = !{i32 4, !"air.texture", !"air.location_index", i32 2, i32 1, !"air.write", !"air.arg_type_name", !"texture3d<float, write>", !"air.arg_name", !"t2"}
!9 = !{i32 5, !"air.texture", !"air.location_index", i32 3, i32 1, !"air.write", !"air.arg_type_name", !"texturecube<float, write>", !"air.arg_name", !"t3"}
!10 = !{i32 6, !"air.texture", !"air.location_index", i32 4, i32 1, !"air.write", !"air.arg_type_name", !"texture2d<uint, write>", !"air.arg_name", !"t4"}
!11 = !{i32 7, !"air.texture", !"air.location_index", i32 5, i32 1, !"air.write", !"air.arg_type_name", !"texture2d<short, write>", !"air.arg_name", !"t5"}
!12 = !{i32 8, !"air.texture", !"air.location_index", i32 6, i32 1, !"air.read_write", !"air.arg_type_name", !"texture2d<uint, read_write>", !"air.arg_name", !"t6"}
!13 = !{i32 9, !"air.texture", !"air.location_index", i32 7, i32 1, !"air.read_write", !"air.arg_type_name", !"texture2d_array<int, read_write>", !"air.arg_name", !"t7"}
!14 = !{i32 10, !"air.sampler", !"air.location_index", i32 0, i32 1, !"air.arg_type_name", !"sampler", !"air.arg_name", !"s"}
!15 = !{i32 11, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
