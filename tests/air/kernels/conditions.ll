; An argument that depends on a function constant that the code itself does not use. It is read in either case: Apple's
; compiler moves such loads out of branches.
target triple = "air64_v26-apple-macosx14.0.0"

@_Z8has_mask.MTL_FC_INIT_20_b = internal unnamed_addr addrspace(2) externally_initialized constant i8 undef, section "air.fc_initializer", align 1
@__metal_implicit_fc_pred_0 = internal addrspace(2) global i8 0, align 1
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @_GLOBAL__sub_I_conditions.metal, ptr null }]
@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(2) @__metal_implicit_fc_pred_0 to ptr)], section "llvm.metadata"

define internal void @_GLOBAL__sub_I_conditions.metal() section "air.static_init" {
  %mask = load i8, ptr addrspace(2) @_Z8has_mask.MTL_FC_INIT_20_b, align 1, !range !20
  %there = tail call i8 @air.normalize_function_constant_predicate.i8(i8 %mask)
  store i8 %there, ptr addrspace(2) @__metal_implicit_fc_pred_0, align 1
  ret void
}

define void @conditions(ptr addrspace(1) %out, ptr addrspace(2) align 4 dereferenceable(4) %stride, i32 %id) {
entry:
  %wide = zext i32 %id to i64
  %x = load i32, ptr addrspace(2) %stride, align 4
  %y = add i32 %x, 1
  %to = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %wide
  store i32 %y, ptr addrspace(1) %to, align 4
  ret void
}

declare i8 @air.normalize_function_constant_predicate.i8(i8)

!air.kernel = !{!0}
!air.function_constants = !{!8}
!0 = !{ptr @conditions, !1, !2}
!1 = !{}
!2 = !{!3, !4, !6}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"int", !"air.arg_name", !"out"}
!4 = !{i32 1, !"air.function_constant", !5, !"air.buffer", !"air.buffer_size", i32 4, !"air.location_index", i32 1, i32 1, !"air.read", !"air.address_space", i32 2, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"int", !"air.arg_name", !"stride"}
!5 = !{ptr addrspace(2) @__metal_implicit_fc_pred_0, !"bool", !"has_mask"}
!6 = !{i32 2, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
!8 = !{ptr addrspace(2) @_Z8has_mask.MTL_FC_INIT_20_b, !"bool", !"has_mask", i32 20, i1 true}
!20 = !{i8 0, i8 2}
