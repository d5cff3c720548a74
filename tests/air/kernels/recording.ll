; A kernel that fills an indirect command buffer, from an argument buffer.
target triple = "air64_v27-apple-macosx15.0.0"

%commands = type opaque
%state = type opaque
%pipeline = type { ptr addrspace(1) }
%work = type { ptr addrspace(1), %pipeline, ptr addrspace(1), ptr addrspace(1) }

define void @recording(ptr addrspace(1) %work, ptr addrspace(2) %three, i32 %id) {
entry:
  %commands = load ptr addrspace(1), ptr addrspace(1) %work, align 8
  %size = tail call i32 @air.get_size_command_buffer(ptr addrspace(1) %commands)
  %place.of.state = getelementptr inbounds %work, ptr addrspace(1) %work, i64 0, i32 1
  %whole = load %pipeline, ptr addrspace(1) %place.of.state, align 8
  %state = extractvalue %pipeline %whole, 0
  %place.of.data = getelementptr inbounds %work, ptr addrspace(1) %work, i64 0, i32 2
  %data = load ptr addrspace(1), ptr addrspace(1) %place.of.data, align 8
  %place.of.ready = getelementptr inbounds %work, ptr addrspace(1) %work, i64 0, i32 3
  %ready = load ptr addrspace(1), ptr addrspace(1) %place.of.ready, align 8
  %first = shl i32 %id, 4
  %wide = zext i32 %first to i64
  %at = getelementptr inbounds i8, ptr addrspace(1) %data, i64 %wide
  %odd = and i32 %id, 1
  %copies = icmp eq i32 %odd, 1
  br i1 %copies, label %copied, label %made
made:
  tail call void @air.reset_compute_command(ptr addrspace(1) nocapture %commands, i32 %id)
  tail call void @air.set_pipeline_state_compute_command(ptr addrspace(1) nocapture %commands, i32 %id, ptr addrspace(1) readonly %state)
  tail call void @air.set_kernel_buffer_compute_command.p2i8(ptr addrspace(1) nocapture %commands, i32 %id, ptr addrspace(2) %three, i64 -1, i32 1)
  tail call void @air.set_threadgroup_memory_length_compute_command(ptr addrspace(1) nocapture %commands, i32 %id, i32 64, i32 0)
  tail call void @air.set_stage_in_region_compute_command(ptr addrspace(1) nocapture %commands, i32 %id, <3 x i32> zeroinitializer, <3 x i32> zeroinitializer)
  tail call void @air.set_imageblock_size_compute_command(ptr addrspace(1) nocapture %commands, i32 %id, <2 x i16> <i16 16, i16 16>)
  %grid = insertelement <3 x i32> <i32 poison, i32 1, i32 1>, i32 %size, i64 0
  tail call void @air.concurrent_dispatch_threads_compute_command(ptr addrspace(1) nocapture %commands, i32 %id, <3 x i32> %grid, <3 x i32> <i32 2, i32 1, i32 1>)
  tail call void @air.set_barrier_compute_command(ptr addrspace(1) nocapture %commands, i32 %id)
  br label %both
copied:
  tail call void @air.copy_compute_command(ptr addrspace(1) nocapture %commands, i32 %id, ptr addrspace(1) nocapture readonly %ready, i32 0)
  tail call void @air.concurrent_dispatch_threadgroups_compute_command(ptr addrspace(1) nocapture %commands, i32 %id, <3 x i32> <i32 1, i32 1, i32 1>, <3 x i32> <i32 3, i32 1, i32 1>)
  tail call void @air.clear_barrier_compute_command(ptr addrspace(1) nocapture %commands, i32 %id)
  br label %both
both:
  tail call void @air.set_kernel_buffer_compute_command.p1i8(ptr addrspace(1) nocapture %commands, i32 %id, ptr addrspace(1) %at, i64 -1, i32 0)
  ret void
}

declare i32 @air.get_size_command_buffer(ptr addrspace(1) nocapture readonly)
declare void @air.set_pipeline_state_compute_command(ptr addrspace(1) nocapture, i32, ptr addrspace(1) readonly)
declare void @air.set_kernel_buffer_compute_command.p1i8(ptr addrspace(1) nocapture, i32, ptr addrspace(1), i64, i32)
declare void @air.set_kernel_buffer_compute_command.p2i8(ptr addrspace(1) nocapture, i32, ptr addrspace(2), i64, i32)
declare void @air.concurrent_dispatch_threadgroups_compute_command(ptr addrspace(1) nocapture, i32, <3 x i32>, <3 x i32>)
declare void @air.concurrent_dispatch_threads_compute_command(ptr addrspace(1) nocapture, i32, <3 x i32>, <3 x i32>)
declare void @air.set_barrier_compute_command(ptr addrspace(1) nocapture, i32)
declare void @air.clear_barrier_compute_command(ptr addrspace(1) nocapture, i32)
declare void @air.set_stage_in_region_compute_command(ptr addrspace(1) nocapture, i32, <3 x i32>, <3 x i32>)
declare void @air.set_threadgroup_memory_length_compute_command(ptr addrspace(1) nocapture, i32, i32, i32)
declare void @air.set_imageblock_size_compute_command(ptr addrspace(1) nocapture, i32, <2 x i16>)
declare void @air.reset_compute_command(ptr addrspace(1) nocapture, i32)
declare void @air.copy_compute_command(ptr addrspace(1) nocapture, i32, ptr addrspace(1) nocapture readonly, i32)

!air.kernel = !{!0}
!0 = !{ptr @recording, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5}
!3 = !{i32 0, !"air.indirect_buffer", !"air.buffer_size", i32 32, !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, !"air.struct_type_info", !6, !"air.arg_type_size", i32 32, !"air.arg_type_align_size", i32 8, !"air.arg_type_name", !"Work", !"air.arg_name", !"work"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read", !"air.address_space", i32 2, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"three"}
!5 = !{i32 2, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}
!6 = !{i32 0, i32 8, i32 0, !"command_buffer", !"commands", !"air.indirect_argument", !7, i32 8, i32 8, i32 0, !"compute_pipeline_state", !"pipeline", !"air.indirect_argument", !8, i32 16, i32 8, i32 0, !"uint", !"data", !"air.indirect_argument", !9, i32 24, i32 8, i32 0, !"command_buffer", !"ready", !"air.indirect_argument", !10}
!7 = !{i32 0, !"air.command_buffer", !"air.location_index", i32 0, i32 1, !"air.arg_type_name", !"command_buffer", !"air.arg_name", !"commands"}
!8 = !{i32 1, !"air.compute_pipeline_state", !"air.location_index", i32 1, i32 1, !"air.arg_type_name", !"compute_pipeline_state", !"air.arg_name", !"pipeline"}
!9 = !{i32 2, !"air.buffer", !"air.location_index", i32 2, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"data"}
!10 = !{i32 3, !"air.command_buffer", !"air.location_index", i32 3, i32 1, !"air.arg_type_name", !"command_buffer", !"air.arg_name", !"ready"}
