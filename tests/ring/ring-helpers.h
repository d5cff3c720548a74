// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of ring kernels: a runtime, and handlers that exist three times: in C, in MSL for one thread, and
// in MSL for a threadgroup.
#ifndef INGOT_TESTS_RING_HELPERS_H
#define INGOT_TESTS_RING_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka last: it needs the four above.
#include <cmocka.h>
#include <ingot/ingot.h>
#include <stdbool.h>

#include "helpers.h"

extern ig_ring_runtime *rings;
int open_runtime(void **state);   // for each test: a runtime of the program's device
int close_runtime(void **state);  // shuts it down

// How a kernel is made. Every test that takes a way runs for all of them.
typedef struct way {
    const char *name;
    bool in_c;
    uint32_t block;
    ig_ring_mode mode;
} way;
extern const way ways[];
extern const size_t way_count;

// Kernels: "echo" answers with the payload it got; "add" adds a u64 to its state and answers with the sum; "fail" fails
// with the code in its payload, if that is not 0, and answers otherwise; "relay" sends what it gets to all its routes;
// "scatter" sends a batch of SCATTERED numbers, starting with the one in its payload, along its first route; "tally"
// adds up all messages of a call, sends the sum to the host, with their number as the type, and fails at 1000. Type 99
// makes any of them loop forever, and 98 access memory it does not own (in MSL).
enum { SCATTERED = 40 };
ig_ring_launch_desc desc_of(const way *w, const char *kernel);
ig_ring_kernel *launch(const ig_ring_launch_desc *desc);
ig_ring_kernel *launch_way(const way *w, const char *kernel);

void send_u64(ig_ring_kernel *kernel, uint64_t type, uint64_t value);
// The same for a message that must be handled within this many microseconds.
void send_u64_within(ig_ring_kernel *kernel, uint64_t type, uint64_t value, uint64_t deadline_us);
uint64_t receive_u64(ig_ring_kernel *kernel);
void end_kernel(ig_ring_kernel *kernel);  // drains, waits, releases
void wait_processed(ig_ring_kernel *kernel, uint64_t count);
ig_ring_status status_of(const ig_ring_kernel *kernel);

// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration cannot have them
#define FOR_ALL_WAYS(w) for (const way *w = ways; (w) < ways + way_count; (w)++)

#endif
