// SPDX-License-Identifier: Apache-2.0
// Messages about faults: which signal, and by how much which object was missed.
#include "device/cpu/fault-message.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "device/cpu/cpu.h"
#include "device/cpu/fault.h"

// "4 bytes past the end of X" or "before the beginning of" it.
static void describe_distance(uint64_t address, uint64_t begin, uint64_t end, const char *what, char *text,
                              size_t capacity) {
    if (begin == end)
        snprintf(text, capacity, "outside its %s", what);
    else if (address < begin)
        snprintf(text, capacity, "%" PRIu64 " bytes before the beginning of %s", begin - address, what);
    else if (address < end)
        snprintf(text, capacity, "in %s", what);
    else if (address == end)
        snprintf(text, capacity, "just past the end of %s", what);
    else
        snprintf(text, capacity, "%" PRIu64 " bytes past the end of %s", address - end, what);
}

static const igi_device_binding *find_buffer(const igi_device_dispatch *dispatch, uint64_t address) {
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        const igi_device_binding *binding = &dispatch->bindings[i];
        if (binding->buffer && igi_cpu_is_near_buffer(binding->buffer, address)) return binding;
    }
    return NULL;
}

static void describe_buffer(const igi_device_binding *binding, uint64_t address, char *text, size_t capacity) {
    char what[128];
    const ig_buffer *buffer = binding->buffer;
    uint64_t begin = (uintptr_t)buffer->memory;
    if (buffer->label)
        snprintf(what, sizeof what, "buffer %u '%.80s'", binding->index, buffer->label);
    else
        snprintf(what, sizeof what, "buffer %u", binding->index);
    describe_distance(address, begin, begin + buffer->length, what, text, capacity);
}

static void describe_place(const cpu_fault *fault, const igi_device_dispatch *dispatch, char *text, size_t capacity) {
    const igi_device_binding *binding = find_buffer(dispatch, fault->address);
    if (fault->memory)
        describe_distance(fault->address, fault->begin, fault->end, fault->memory, text, capacity);
    else if (binding)
        describe_buffer(binding, fault->address, text, capacity);
    else
        snprintf(text, capacity, "which is in none of its buffers");
}

void igi_cpu_describe_fault(const cpu_fault *fault, const igi_device_dispatch *dispatch, char *text, size_t capacity) {
    const char *name = igi_device_fault_signal_name(fault->signal);
    char place[256];
    if (fault->has_address) {
        describe_place(fault, dispatch, place, sizeof place);
        snprintf(text, capacity, "touched address 0x%" PRIx64 " (%s), %s", fault->address, name, place);
        return;
    }
    switch (fault->signal) {
        case SIGFPE: snprintf(text, capacity, "ran into an arithmetic trap (%s)", name); break;
        case SIGILL: snprintf(text, capacity, "ran into a trap, or code that should not be reached (%s)", name); break;
        case SIGTRAP: snprintf(text, capacity, "ran into a breakpoint (%s)", name); break;
        default: snprintf(text, capacity, "touched an address that no memory can have (%s)", name); break;
    }
}
