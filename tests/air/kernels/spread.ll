; An object function: memory that it shares with mesh functions, and how many of those there are to be.
target triple = "air64_v27-apple-macosx15.0.0"

%payload = type { [4 x i32] }
%grid = type opaque

define void @spread(ptr addrspace(6) %shared, ptr addrspace(3) %grid, i32 %id) {
  %wide = zext i32 %id to i64
  %at = getelementptr inbounds %payload, ptr addrspace(6) %shared, i64 0, i32 0, i64 %wide
  store i32 %id, ptr addrspace(6) %at, align 4
  call void @air.set_threadgroups_per_grid_mesh_properties(ptr addrspace(3) %grid, <3 x i32> <i32 1, i32 1, i32 1>)
  ret void
}

declare void @air.set_threadgroups_per_grid_mesh_properties(ptr addrspace(3), <3 x i32>)

!air.object = !{!0}
!0 = !{ptr @spread, !1, !2, !7}
!1 = !{}
!2 = !{!3, !5, !6}
!3 = !{i32 0, !"air.payload", !"air.struct_type_info", !4, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"Payload", !"air.arg_name", !"shared"}
!4 = !{i32 0, i32 4, i32 4, !"uint", !"items"}
!5 = !{i32 1, !"air.mesh_grid_properties", !"air.arg_type_name", !"mesh_grid_properties", !"air.arg_name", !"grid"}
!6 = !{i32 2, !"air.thread_index_in_threadgroup", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
!7 = !{!"air.max_work_group_size", i32 32}
