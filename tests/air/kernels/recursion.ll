; Functions that call each other and themselves, and share a variable.
target triple = "air64_v26-apple-macosx14.0.0"

@table = internal addrspace(2) constant [2 x float] [float 1.000000e+00, float 3.000000e+00], align 4

define internal fastcc float @below(float %x) noinline {
entry:
  %negative = fcmp olt float %x, 0.000000e+00
  br i1 %negative, label %mirrored, label %plain
mirrored:
  %positive = fneg float %x
  %inner = call fastcc float @above(float %positive)
  %halved = fmul float %inner, 5.000000e-01
  %one = load float, ptr addrspace(2) @table, align 4
  %a = fsub float %one, %halved
  ret float %a
plain:
  %three = load float, ptr addrspace(2) getelementptr inbounds ([2 x float], ptr addrspace(2) @table, i64 0, i64 1), align 4
  %b = fmul float %x, %three
  ret float %b
}

define internal fastcc float @above(float %x) noinline {
entry:
  %large = fcmp ogt float %x, 1.000000e+01
  br i1 %large, label %reduced, label %plain
reduced:
  %less = fsub float %x, 2.000000e+01
  %inner = call fastcc float @below(float %less)
  %a = fmul float %inner, 2.000000e+00
  ret float %a
plain:
  %b = fadd float %x, 1.000000e+00
  ret float %b
}

define internal i32 @nested(i32 %n) noinline {
entry:
  %last = icmp eq i32 %n, 0
  br i1 %last, label %end, label %more
more:
  %less = sub i32 %n, 1
  %inner = call i32 @nested(i32 %less)
  %mixed = xor i32 %inner, %n
  %tripled = mul i32 %mixed, 3
  ret i32 %tripled
end:
  ret i32 7
}

define void @recursion(ptr addrspace(1) %data, i32 %id) {
entry:
  %wide = zext i32 %id to i64
  %at = getelementptr inbounds float, ptr addrspace(1) %data, i64 %wide
  %x = load float, ptr addrspace(1) %at, align 4
  %far = fcmp ogt float %x, 1.000000e+02
  %n = select i1 %far, i32 50, i32 3
  %count = call i32 @nested(i32 %n)
  %y = call fastcc float @below(float %x)
  %number = call float @air.convert.f.f32.s.i32(i32 %count)
  %sum = fadd float %y, %number
  store float %sum, ptr addrspace(1) %at, align 4
  ret void
}

declare float @air.convert.f.f32.s.i32(i32)

!air.kernel = !{!0}
!0 = !{ptr @recursion, !1, !2}
!1 = !{}
!2 = !{!3, !4}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"data"}
!4 = !{i32 1, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
