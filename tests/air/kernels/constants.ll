; Function constants, one that is derived from them, and an argument that depends on one.
target triple = "air64_v26-apple-macosx14.0.0"

@_Z5count.MTL_FC_INIT_3_i = internal unnamed_addr addrspace(2) externally_initialized constant i32 undef, section "air.fc_initializer", align 4
@_Z5extra.MTL_FC_INIT_7_b = internal unnamed_addr addrspace(2) externally_initialized constant i8 undef, section "air.fc_initializer", align 1
@_ZL7doubled = internal unnamed_addr addrspace(2) global i32 undef, align 4
@_ZL5extra = internal unnamed_addr addrspace(2) global i8 undef, align 1
@__metal_implicit_fc_pred_0 = internal addrspace(2) global i8 0, align 1
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @_GLOBAL__sub_I_constants.metal, ptr null }]
@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(2) @__metal_implicit_fc_pred_0 to ptr)], section "llvm.metadata"

define internal void @_GLOBAL__sub_I_constants.metal() section "air.static_init" {
  %count = load i32, ptr addrspace(2) @_Z5count.MTL_FC_INIT_3_i, align 4
  %doubled = shl i32 %count, 1
  store i32 %doubled, ptr addrspace(2) @_ZL7doubled, align 4
  %extra = load i8, ptr addrspace(2) @_Z5extra.MTL_FC_INIT_7_b, align 1, !range !20
  store i8 %extra, ptr addrspace(2) @_ZL5extra, align 1
  %there = tail call i8 @air.normalize_function_constant_predicate.i8(i8 %extra)
  store i8 %there, ptr addrspace(2) @__metal_implicit_fc_pred_0, align 1
  ret void
}

define void @constants(ptr addrspace(1) %out, ptr addrspace(1) %more, i32 %id) {
entry:
  %wide = zext i32 %id to i64
  %doubled = load i32, ptr addrspace(2) @_ZL7doubled, align 4
  %extra = load i8, ptr addrspace(2) @_ZL5extra, align 1, !range !20
  %asked = icmp eq i8 %extra, 0
  br i1 %asked, label %end, label %take
take:
  %from = getelementptr inbounds i32, ptr addrspace(1) %more, i64 %wide
  %x = load i32, ptr addrspace(1) %from, align 4
  br label %end
end:
  %y = phi i32 [ 1000, %entry ], [ %x, %take ]
  %sum = add i32 %doubled, %y
  %to = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %wide
  store i32 %sum, ptr addrspace(1) %to, align 4
  ret void
never: ; has no predecessors, so that a value may be its own operand
  %self = call float @air.convert.f.f32.f.f32(float %self)
  br label %never
}

declare float @air.convert.f.f32.f.f32(float)
declare i8 @air.normalize_function_constant_predicate.i8(i8)

!air.kernel = !{!0}
!air.function_constants = !{!8, !9, !9} ; once too often
!0 = !{ptr @constants, !1, !2}
!1 = !{}
!2 = !{!3, !4, !6}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"int", !"air.arg_name", !"out"}
!4 = !{i32 1, !"air.function_constant", !5, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"int", !"air.arg_name", !"more"}
!5 = !{ptr addrspace(2) @__metal_implicit_fc_pred_0, !"bool", !"extra"}
!6 = !{i32 2, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
!8 = !{ptr addrspace(2) @_Z5count.MTL_FC_INIT_3_i, !"int", !"count", i32 3, i1 true}
!9 = !{ptr addrspace(2) @_Z5extra.MTL_FC_INIT_7_b, !"bool", !"extra", i32 7, i1 true}
!20 = !{i8 0, i8 2}
