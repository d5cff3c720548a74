// SPDX-License-Identifier: Apache-2.0
// A plugin for qemu's user mode: counts the instructions between two markers, which main.c executes. Built and loaded by
// `scripts/arm64 count`. The declarations are those of qemu's plugin interface, version 1, which has no header package.
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "markers.h"

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef struct qemu_info_t qemu_info_t;
typedef uint64_t qemu_plugin_id_t;
typedef void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*executed)(unsigned vcpu, void *user);
enum { ADD_U64 = 0, NO_REGISTERS = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *to, uint64_t number);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction, executed callback, int registers,
                                            void *user);
void qemu_plugin_outs(const char *text);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t count;

static void reset(unsigned vcpu, void *user) {
    (void)vcpu, (void)user;
    count = 0;
}

static void report(unsigned vcpu, void *user) {
    (void)vcpu, (void)user;
    char line[64];
    snprintf(line, sizeof line, "%" PRIu64 "\n", count);
    qemu_plugin_outs(line);
}

static void add_counters(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        uint32_t word;
        memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
        if (word == MARKER_WORD(MARKER_BEGIN))
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, reset, NO_REGISTERS, NULL);
        else if (word == MARKER_WORD(MARKER_END))
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, report, NO_REGISTERS, NULL);
    }
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &count, qemu_plugin_tb_n_insns(block));
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                                               char **argv) {
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, add_counters);
    return 0;
}
