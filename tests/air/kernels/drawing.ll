; A kernel that encodes a render command.
target triple = "air64_v27-apple-macosx15.0.0"

define void @drawing(ptr addrspace(1) %place) {
  %commands = load ptr addrspace(1), ptr addrspace(1) %place, align 8
  tail call void @air.draw_primitives_render_command(ptr addrspace(1) nocapture %commands, i32 0, i32 3, i32 0, i32 3, i32 1, i32 0)
  ret void
}

declare void @air.draw_primitives_render_command(ptr addrspace(1) nocapture, i32, i32, i32, i32, i32, i32)

!air.kernel = !{!0}
!0 = !{ptr @drawing, !1, !2}
!1 = !{}
!2 = !{!3}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 8, !"air.arg_type_align_size", i32 8, !"air.arg_type_name", !"ulong", !"air.arg_name", !"place"}
