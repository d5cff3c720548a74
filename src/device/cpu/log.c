// SPDX-License-Identifier: Apache-2.0
// Messages of a dispatch. Their memory is a buffer, so that checking knows it and overruns fault.
#include "device/cpu/log.h"

#include "device/messages.h"

uint32_t *igi_cpu_log_begin(ig_commands *commands) {
    cpu_log *log = igi_cpu_queue_log(commands->queue);
    uint64_t bytes = igi_device_messages_bytes(&commands->kernel_log);
    if (log->buffer && log->buffer->length < bytes) {
        ig_buffer_release(log->buffer);
        log->buffer = NULL;
    }
    ig_buffer_desc desc = {.length = bytes, .label = "messages"};
    if (!log->buffer && ig_buffer_create(commands->queue->device, &desc, &log->buffer) != IG_STATUS_OK) return NULL;
    log->bytes = bytes;
    igi_device_messages_begin(log->buffer->memory, bytes);
    return log->buffer->memory;
}

void igi_cpu_log_end(ig_commands *commands, const char *kernel) {
    cpu_log *log = igi_cpu_queue_log(commands->queue);
    if (!log->bytes) return;
    uint64_t lost = igi_device_messages_deliver(log->buffer->memory, log->bytes, kernel, &commands->kernel_log);
    log->bytes = 0;
    if (!lost) return;
    atomic_fetch_add(&commands->lost_messages, lost);
    igi_log(IG_LOG_WARNING, "kernel '%s' logged %llu messages for which there was no room; set buffer_bytes to more",
            kernel, (unsigned long long)lost);
}
