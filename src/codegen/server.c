// SPDX-License-Identifier: Apache-2.0
// ingot-codegen: compiles kernels for the libingot that started it, in workers that may crash.
#include <llvm-c/Core.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/channel.h"
#include "codegen/message.h"
#include "codegen/sandbox.h"
#include "codegen/work.h"
#include "simt/compile.h"
#include "simt/target.h"

static const size_t most_request_bytes = UINT32_MAX;

// ---- A worker ----

static void reply(int channel, ig_status status, const ig_error *error, const char *output, size_t length,
                  const igi_simt_remarks *remarks) {
    igi_text bytes = {0};
    const char *message = error && error->message ? error->message : ig_status_text(status);
    igi_codegen_write_reply(status, message, output, length, remarks, &bytes);
    if (!bytes.failed) igi_codegen_channel_write(channel, bytes.data, bytes.length, UINT64_MAX);
    igi_text_free(&bytes);
}

static void serve(int channel, const igi_text *bytes) {
    igi_codegen_job job;
    ig_error error = {0};
    char *output = NULL;
    size_t length = 0;
    ig_status status = igi_codegen_read_job(bytes->data, bytes->length, &job, &error);
    if (status == IG_STATUS_OK) {
        igi_codegen_sandbox_begin(job.request.name, &job.limits);
        status = igi_codegen_work(&job.request, job.stage, &output, &length, &error);
        igi_codegen_sandbox_end();
    }
    reply(channel, status, &error, output, length, job.request.remarks);
    free(output);
    ig_error_clear(&error);
    igi_codegen_job_free(&job);
}

// Until the worker is no longer needed, or until a large kernel has left it with much more memory than a new worker
// has.
static _Noreturn void work(int channel) {
    igi_codegen_sandbox_enter(channel);
    igi_text bytes = {0};
    while (igi_codegen_channel_read(channel, most_request_bytes, UINT64_MAX, &bytes) == IGI_CHANNEL_MESSAGE) {
        serve(channel, &bytes);
        bytes.length = 0;
        if (igi_codegen_sandbox_is_bloated()) break;
    }
    _exit(0);
}

// ---- The process ----

// Children are never waited for.
static void reap_children_unseen(void) {
    signal(SIGCHLD, SIG_IGN);
}

static bool was_started_by_libingot(void) {
    struct stat info;
    return fstat(IGI_CODEGEN_CONTROL, &info) == 0 && S_ISSOCK(info.st_mode);
}

static void handle(int channel) {
    pid_t child = fork();
    if (child == 0) {
        close(IGI_CODEGEN_CONTROL);
        work(channel);
    }
    if (child < 0) {
        ig_error error = {0};
        igi_error_set(&error, IG_STATUS_SYSTEM, "ingot-codegen cannot start another process");
        reply(channel, IG_STATUS_SYSTEM, &error, NULL, 0, NULL);
        ig_error_clear(&error);
    }
    close(channel);
}

int main(int argc, char **argv) {
    if (argc != 4 || !was_started_by_libingot()) {
        fputs("ingot-codegen compiles kernels for libingot, which starts it. It is not meant to be run directly.\n",
              stderr);
        return 2;
    }
    reap_children_unseen();
    igi_simt_choose_target((igi_simt_target){argv[1], argv[2], argv[3]});
    igi_simt_warm_up();
    int channel;
    while ((channel = igi_codegen_channel_receive_descriptor(IGI_CODEGEN_CONTROL)) >= 0) handle(channel);
    return 0;
}
