// SPDX-License-Identifier: Apache-2.0
// The machine as reported by the system: cores, and threads that move from one to another.
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka last: it needs the four headers before it.
#include <cmocka.h>

#include "core/host.h"

static void the_machine_has_cores_memory_and_a_name(void **state) {
    (void)state;
    char name[64];
    igi_host_cpu_name(name, sizeof name);
    assert_true(igi_host_cores() > 0);
    assert_true(igi_host_memory_bytes() > 0);
    assert_true(strlen(name) > 0);
}

#ifdef CPU_SETSIZE

static cpu_set_t allowed_cores(void) {
    cpu_set_t cores;
    assert_int_equal(sched_getaffinity(0, sizeof cores, &cores), 0);
    return cores;
}

static void a_thread_that_leaves_a_core_may_come_back(void **state) {
    (void)state;
    cpu_set_t before = allowed_cores();
    assert_int_equal(igi_host_leave_core(igi_host_this_core()), CPU_COUNT(&before) > 1);
    cpu_set_t after = allowed_cores();
    assert_true(CPU_EQUAL(&before, &after));
}

static void a_thread_bound_to_one_core_stays(void **state) {
    (void)state;
    cpu_set_t before = allowed_cores(), one;
    int core = igi_host_this_core();
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_false(igi_host_leave_core(core));
    assert_int_equal(igi_host_this_core(), core);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void cores_that_are_none_are_not_left(void **state) {
    (void)state;
    assert_false(igi_host_leave_core(-1));
    assert_false(igi_host_leave_core(CPU_SETSIZE));
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_has_cores_memory_and_a_name),
#ifdef CPU_SETSIZE
        cmocka_unit_test(a_thread_that_leaves_a_core_may_come_back),
        cmocka_unit_test(a_thread_bound_to_one_core_stays),
        cmocka_unit_test(cores_that_are_none_are_not_left),
#endif
    };
    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
