// SPDX-License-Identifier: Apache-2.0
// ingot ring: finds the kernels in the source, launches and connects them.
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/nearest.h"
#include "ring.h"
#include "source.h"

enum { MAX_NAMES = 64 };

// Ring kernels of the source. Each comes with a variant for one thread, NAME_single.
typedef struct name_list {
    const char *names[MAX_NAMES];  // borrowed from the library
    size_t count;
} name_list;

static name_list find_names(const ig_library *library) {
    name_list found = {0};
    for (size_t i = 0; i < ig_library_kernel_count(library) && found.count < MAX_NAMES; i++) {
        const char *name = ig_library_kernel(library, i)->name;
        char *twin = igi_format("%s_single", name);
        if (twin && ig_library_find_kernel(library, twin)) found.names[found.count++] = name;
        free(twin);
    }
    return found;
}

static char *join(const name_list *found) {
    igi_text text = {0};
    for (size_t i = 0; i < found->count; i++) igi_text_addf(&text, "%s%s", i ? ", " : "", found->names[i]);
    return igi_text_take(&text);
}

static int check_kernel(const ring_run *run, const name_list *found, const char *wanted) {
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->names[i], wanted) == 0) return CLI_CONTINUE;
    const char *nearest = igi_nearest(wanted, found->names, found->count);
    if (nearest)
        return cli_error(CLI_BAD_INPUT, "%s has no ring kernel '%s'; did you mean '%s'?", run->path, wanted, nearest);
    char *names = join(found);
    int result = cli_error(CLI_BAD_INPUT, "%s has no ring kernel '%s'; it has: %s", run->path, wanted, names);
    free(names);
    return result;
}

// ---- Which kernels ----

// "KERNEL" or "NAME=KERNEL".
static ring_actor read_actor(const char *text) {
    const char *equals = strchr(text, '=');
    char *name = igi_strdup(text);
    if (name && equals) name[equals - text] = 0;
    return (ring_actor){.name = name, .kernel = equals ? equals + 1 : text};
}

static int choose_only(ring_run *run, const name_list *found) {
    if (found->count == 1) {
        run->actors[run->actor_count++] = (ring_actor){.name = igi_strdup(found->names[0])};
        run->actors[0].kernel = run->actors[0].name;
        return CLI_CONTINUE;
    }
    char *names = join(found);
    int result = cli_usage_error("%s has several ring kernels; choose with --kernel: %s", run->path, names);
    free(names);
    return result;
}

static int choose_actors(ring_run *run, const name_list *found) {
    if (found->count == 0)
        return cli_error(CLI_BAD_INPUT, "%s has no ring kernel: INGOT_RING_KERNEL(name, handler) makes one", run->path);
    run->actors = cli_alloc((run->kernel_texts.count + 1) * sizeof *run->actors);
    if (run->kernel_texts.count == 0) return choose_only(run, found);
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < run->kernel_texts.count && result == CLI_CONTINUE; i++) {
        run->actors[run->actor_count] = read_actor(run->kernel_texts.items[i]);
        result = check_kernel(run, found, run->actors[run->actor_count++].kernel);
    }
    return result;
}

// ---- Life ----

static int launch(ring_run *run, ring_actor *actor) {
    ig_ring_launch_desc desc = {.name = actor->name,
                                .kernel = actor->kernel,
                                .path = run->path,
                                .mode = (ig_ring_mode)run->mode,
                                .block = (uint32_t)run->block,
                                .shared_memory = (uint32_t)run->shared_memory,
                                .deadline_ns = run->deadline_ns ? run->deadline_ns : run->timeout_ns,
                                .restart = run->restarts ? IG_RESTART_ON_FAILURE : IG_RESTART_NEVER,
                                .max_restarts = (uint32_t)run->restarts,
                                .k2k = true};
    ig_error error = {0};
    ig_status status = ig_ring_launch(run->runtime, &desc, &actor->handle, &error);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report_and_clear(status, &error);
}

static int find_actor(const ring_run *run, const char *name, size_t length, ring_actor **actor) {
    const char *names[MAX_NAMES] = {0};
    for (size_t i = 0; i < run->actor_count; i++) {
        *actor = &run->actors[i];
        if (strlen((*actor)->name) == length && strncmp((*actor)->name, name, length) == 0) return CLI_CONTINUE;
        if (i < MAX_NAMES) names[i] = (*actor)->name;
    }
    char *wanted = igi_format("%.*s", (int)length, name);
    const char *nearest = igi_nearest(wanted ? wanted : "", names, MAX_NAMES);
    int result = nearest ? cli_usage_error("--connect: no kernel '%s' is launched; did you mean '%s'?", wanted, nearest)
                         : cli_usage_error("--connect: no kernel '%s' is launched; add --kernel %s", wanted, wanted);
    free(wanted);
    return result;
}

// "a,b,c": a route from each to the next.
static int connect(ring_run *run, const char *chain) {
    ring_actor *from = NULL, *to = NULL;
    if (!strchr(chain, ',')) return cli_usage_error("--connect takes FROM,TO[,...], not '%s'", chain);
    for (const char *at = chain;; from = to) {
        size_t length = strcspn(at, ",");
        int result = find_actor(run, at, length, &to);
        if (result != CLI_CONTINUE) return result;
        ig_status status = from ? ig_ring_connect(from->handle, to->handle) : IG_STATUS_OK;
        if (status != IG_STATUS_OK)
            return cli_error(cli_exit_code(status), "'%s' cannot be connected to '%s': %s", from->name, to->name,
                             ig_status_text(status));
        if (!at[length]) return CLI_CONTINUE;
        at += length + 1;
    }
}

int ring_launch_actors(ring_run *run) {
    cli_source source = {.path = run->path};
    ig_library *library = NULL;
    int result = cli_source_compile(&source, run->device, &library, NULL);
    if (result != CLI_CONTINUE) return result;
    name_list found = find_names(library);
    result = choose_actors(run, &found);
    for (size_t i = 0; i < run->actor_count && result == CLI_CONTINUE; i++) result = launch(run, &run->actors[i]);
    for (size_t i = 0; i < run->connections.count && result == CLI_CONTINUE; i++)
        result = connect(run, run->connections.items[i]);
    ig_library_release(library);
    return result;
}

void ring_free_actors(ring_run *run) {
    for (size_t i = 0; i < run->actor_count; i++) {
        ig_ring_kernel_release(run->actors[i].handle);
        free(run->actors[i].name);
    }
    free(run->actors);
}
