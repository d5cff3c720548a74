; Fast and safe arithmetic side by side: what may become one operation, and what may not be assumed.
target triple = "air64_v26-apple-macosx14.0.0"

define void @fast(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %a = load float, ptr addrspace(1) %in, align 4
  %in1 = getelementptr inbounds float, ptr addrspace(1) %in, i64 1
  %b = load float, ptr addrspace(1) %in1, align 4
  %in2 = getelementptr inbounds float, ptr addrspace(1) %in, i64 2
  %c = load float, ptr addrspace(1) %in2, align 4
  %in3 = getelementptr inbounds float, ptr addrspace(1) %in, i64 3
  %d = load float, ptr addrspace(1) %in3, align 4
  %in4 = getelementptr inbounds float, ptr addrspace(1) %in, i64 4
  %e = load float, ptr addrspace(1) %in4, align 4
  ; A product and a sum may be one operation, if both allow it.
  %square = fmul fast float %a, %a
  %joined = fsub fast float %square, %b
  store float %joined, ptr addrspace(1) %out, align 4
  %plain = fmul float %e, %e
  %apart = fsub float %plain, %b
  %out1 = getelementptr inbounds float, ptr addrspace(1) %out, i64 1
  store float %apart, ptr addrspace(1) %out1, align 4
  %minus = fneg fast float %b
  %one = tail call float @llvm.fmuladd.f32(float %a, float %a, float %minus)
  %out2 = getelementptr inbounds float, ptr addrspace(1) %out, i64 2
  store float %one, ptr addrspace(1) %out2, align 4
  ; Sums are not reordered.
  %sum = fadd fast float %c, %a
  %rest = fsub fast float %sum, %c
  %out3 = getelementptr inbounds float, ptr addrspace(1) %out, i64 3
  store float %rest, ptr addrspace(1) %out3, align 4
  ; NaN counts.
  %strange = fcmp fast uno float %d, %d
  %chosen = select fast i1 %strange, float 1.000000e+00, float 2.000000e+00
  %out4 = getelementptr inbounds float, ptr addrspace(1) %out, i64 4
  store float %chosen, ptr addrspace(1) %out4, align 4
  ret void
}

declare float @llvm.fmuladd.f32(float, float, float)

!air.kernel = !{!0}
!0 = !{ptr @fast, !1, !2}
!1 = !{}
!2 = !{!3, !4}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"in"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"out"}
