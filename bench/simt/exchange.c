// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: memory shared with child processes, laid out by the case being measured.
#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/descriptors.h"
#include "simt.h"

static size_t whole_pages(size_t bytes) {
    return (bytes + 4095) / 4096 * 4096;
}

static size_t result_offset(const simt_case *test) {
    size_t offset = 0;
    for (size_t i = 0; i < test->buffer_count; i++) offset += whole_pages(test->bytes[i]);
    return offset;
}

static size_t largest_case(void) {
    size_t largest = 0;
    for (size_t i = 0; i < simt_case_count; i++) {
        size_t bytes = result_offset(&simt_cases[i]) + whole_pages(simt_cases[i].result_bytes);
        if (bytes > largest) largest = bytes;
    }
    return largest;
}

bool simt_exchange_attach(simt_exchange *exchange, int file) {
    exchange->file = file;
    exchange->length = largest_case();
    assert(exchange->length > 0);
    exchange->memory = mmap(NULL, exchange->length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (exchange->memory == MAP_FAILED) exchange->memory = NULL;
    return exchange->memory;
}

bool simt_exchange_create(simt_exchange *exchange) {
    int file = igi_memory_file("ingot-bench");
    if (file < 0) return false;
    if (ftruncate(file, (off_t)largest_case()) == 0 && simt_exchange_attach(exchange, file)) return true;
    close(file);
    return false;
}

void simt_exchange_free(simt_exchange *exchange) {
    if (!exchange->memory) return;
    munmap(exchange->memory, exchange->length);
    close(exchange->file);
    exchange->memory = NULL;
}

void simt_exchange_buffers(const simt_exchange *exchange, const simt_case *test, void **buffers) {
    char *at = exchange->memory;
    for (size_t i = 0; i < test->buffer_count; i++) {
        buffers[i] = at;
        at += whole_pages(test->bytes[i]);
    }
}

void *simt_exchange_result(const simt_exchange *exchange, const simt_case *test) {
    return exchange->memory + result_offset(test);
}
