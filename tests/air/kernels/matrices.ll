; simdgroup matrices: loads and stores in both forms that AIR has had, products, and a thread's own elements.
target triple = "air64_v28-apple-macosx26.0.0"

define void @matrices(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %out, i32 %lane) {
entry:
  %left = tail call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %a, i64 8, <2 x i64> zeroinitializer, i1 false)
  %right = tail call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32.strided(ptr addrspace(1) %b, <2 x i64> <i64 8, i64 8>, <2 x i64> <i64 8, i64 1>, <2 x i64> zeroinitializer)
  %zero = tail call <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32.f32(float 0.5)
  br label %loop
loop:
  %round = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <64 x float> [ %zero, %entry ], [ %more, %loop ]
  %more = tail call <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float> %left, <64 x float> %right, <64 x float> %sum)
  %next = add i32 %round, 1
  %end = icmp eq i32 %next, 3
  br i1 %end, label %done, label %loop
done:
  %own = shufflevector <64 x float> %more, <64 x float> poison, <2 x i32> <i32 0, i32 1>
  %twice = fadd <2 x float> %own, %own
  %spread = shufflevector <2 x float> %twice, <2 x float> poison, <64 x i32> <i32 0, i32 1, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  tail call void @air.simdgroup_matrix_8x8_store.v64f32.p1f32(<64 x float> %spread, ptr addrspace(1) %out, i64 8, <2 x i64> zeroinitializer, i1 false)
  ret void
}

declare <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1), i64, <2 x i64>, i1)
declare <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32.strided(ptr addrspace(1), <2 x i64>, <2 x i64>, <2 x i64>)
declare <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32.f32(float)
declare <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float>, <64 x float>, <64 x float>)
declare void @air.simdgroup_matrix_8x8_store.v64f32.p1f32(<64 x float>, ptr addrspace(1), i64, <2 x i64>, i1)

!air.kernel = !{!0}
!0 = !{ptr @matrices, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5, !6}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"a"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"b"}
!5 = !{i32 2, !"air.buffer", !"air.location_index", i32 2, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"out"}
!6 = !{i32 3, !"air.thread_index_in_simdgroup", !"air.arg_type_name", !"uint", !"air.arg_name", !"lane"}
