; Positions, numbers of every kind, vectors, conversions and functions.
target triple = "air64_v26-apple-macosx14.0.0"

define void @arithmetic(ptr addrspace(1) noalias readonly "air-buffer-no-alias" %in, ptr addrspace(1) noalias "air-buffer-no-alias" %out, ptr addrspace(2) dereferenceable(4) %scale, i32 %id) {
entry:
  %wide = zext i32 %id to i64
  %from = getelementptr inbounds <4 x float>, ptr addrspace(1) %in, i64 %wide
  %x = load <4 x float>, ptr addrspace(1) %from, align 16, !tbaa !20, !alias.scope !30
  %s = load float, ptr addrspace(2) %scale, align 4
  %x0 = extractelement <4 x float> %x, i64 0
  %x1 = extractelement <4 x float> %x, i64 1
  %x2 = extractelement <4 x float> %x, i64 2
  %sin = tail call float @air.sin.f32(float %x0)
  %exp = tail call fast float @air.fast_exp.f32(float %x1)
  %half = tail call half @air.convert.f.f16.f.f32(float %x2)
  %root = tail call half @air.sqrt.f16(half %half)
  %back = tail call float @air.convert.f.f32.f.f16(half %root)
  %whole = tail call <4 x i32> @air.convert.s.v4i32.f.v4f32(<4 x float> %x)
  %abs = tail call <4 x float> @air.fabs.v4f32(<4 x float> %x)
  %max = tail call <4 x float> @air.fmax.v4f32(<4 x float> %abs, <4 x float> %x)
  %dot = tail call float @air.dot.v4f32(<4 x float> %max, <4 x float> %x)
  %fma = tail call float @llvm.fmuladd.f32(float %dot, float %s, float %sin)
  %i0 = extractelement <4 x i32> %whole, i64 0
  %clamp = tail call i32 @air.clamp.s.i32(i32 %i0, i32 -3, i32 3)
  %bits = tail call i32 @air.popcount.i32(i32 %i0)
  %zeros = tail call i32 @air.clz.i32(i32 %id, i1 false)
  %small = tail call bfloat @air.convert.f.bf16.s.i32(i32 %i0)
  %again = tail call float @air.convert.f.f32.f.bf16(bfloat %small)
  %flag = tail call i1 @air.convert.u.i1.f.f32(float %x2)
  %compare = fcmp ogt <4 x float> %x, zeroinitializer
  %all = tail call i1 @air.all.v4i1(<4 x i1> %compare)
  %any = tail call i1 @air.any.v4i1(<4 x i1> %compare)
  %uniform = tail call i1 @air.is_uniform.i32(i32 %id)
  tail call void @llvm.assume(i1 %uniform)
  %f1 = zext i1 %flag to i32
  %f2 = select i1 %all, i32 2, i32 0
  %f4 = select i1 %any, i32 4, i32 0
  %f3 = or i32 %f1, %f2
  %flags = or i32 %f3, %f4
  %n1 = add i32 %clamp, %bits
  %n2 = mul i32 %zeros, 100
  %n3 = mul i32 %flags, 10000
  %never = tail call i16 @air.convert.u.i16.f.f32(float %x0)
  %unsigned = zext i16 %never to i32
  %n6 = add i32 %n1, %unsigned
  %n4 = add i32 %n6, %n2
  %n5 = add i32 %n4, %n3
  %count = tail call float @air.convert.f.f32.s.i32(i32 %n5)
  %a = fadd float %exp, %back
  %b = fadd float %count, %again
  %r0 = insertelement <4 x float> poison, float %fma, i64 0
  %r1 = insertelement <4 x float> %r0, float %a, i64 1
  %r2 = insertelement <4 x float> %r1, float %b, i64 2
  %r3 = insertelement <4 x float> %r2, float %dot, i64 3
  %to = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %wide
  store <4 x float> %r3, ptr addrspace(1) %to, align 16, !noalias !30
  ret void
}

declare float @air.sin.f32(float)
declare float @air.fast_exp.f32(float)
declare half @air.convert.f.f16.f.f32(float)
declare half @air.sqrt.f16(half)
declare float @air.convert.f.f32.f.f16(half)
declare <4 x i32> @air.convert.s.v4i32.f.v4f32(<4 x float>)
declare <4 x float> @air.fabs.v4f32(<4 x float>)
declare <4 x float> @air.fmax.v4f32(<4 x float>, <4 x float>)
declare float @air.dot.v4f32(<4 x float>, <4 x float>)
declare float @llvm.fmuladd.f32(float, float, float)
declare i32 @air.clamp.s.i32(i32, i32, i32)
declare i32 @air.popcount.i32(i32)
declare i32 @air.clz.i32(i32, i1)
declare bfloat @air.convert.f.bf16.s.i32(i32)
declare float @air.convert.f.f32.f.bf16(bfloat)
declare i1 @air.convert.u.i1.f.f32(float)
declare i16 @air.convert.u.i16.f.f32(float)
declare i1 @air.all.v4i1(<4 x i1>)
declare i1 @air.any.v4i1(<4 x i1>)
declare i1 @air.is_uniform.i32(i32)
declare void @llvm.assume(i1)
declare float @air.convert.f.f32.s.i32(i32)

!air.kernel = !{!0}
!air.compile_options = !{!9}
!0 = !{ptr @arithmetic, !1, !2, !10}
!1 = !{}
!2 = !{!3, !4, !5, !6}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"in"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"out"}
!5 = !{i32 2, !"air.buffer", !"air.buffer_size", i32 4, !"air.location_index", i32 2, i32 1, !"air.read", !"air.address_space", i32 2, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"scale"}
!6 = !{i32 3, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
!9 = !{!"air.compile.fast_math_disable"}
!10 = !{!"air.max_work_group_size", i32 128}
!20 = !{!21, !21, i64 0}
!21 = !{!"omnipotent char", !22, i64 0}
!22 = !{!"Simple C++ TBAA"}
!30 = !{!31}
!31 = distinct !{!31, !32, !"air-alias-scope-arg(0)"}
!32 = distinct !{!32, !"air-alias-scopes(arithmetic)"}
