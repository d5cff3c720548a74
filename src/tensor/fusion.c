// SPDX-License-Identifier: Apache-2.0
// Choosing how a chain runs. On the host's own cores this is measured: blocks first; once a structure has taken as long
// as compiling takes, its kernel is compiled and tried, and from then on the faster of the two is used.
#include "tensor/fusion.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/settings.h"
#include "core/status-internal.h"
#include "kernels/source.h"
#include "tensor/chain.h"

enum { BUCKETS = 32, MOST_STRUCTURES = 256, TRIES = 3 };
// What compiling a kernel costs, or a little more. Spending it only after as much time was spent without a kernel is at
// most twice as slow as the best decision in hindsight.
#define COMPILE_NS UINT64_C(150000000)

typedef struct measurement {
    double blocks_ns, kernel_ns;  // best, for an element; 0: not yet
    uint32_t kernel_runs;
} measurement;

typedef enum readiness { NOT_COMPILED, COMPILED, REFUSED } readiness;

typedef struct igi_tensor_fusion_structure {
    igi_hash key;
    readiness state;
    uint32_t seen;
    uint64_t spent_ns;
    ig_pipeline *pipeline;
    char name[64];               // for messages
    measurement sizes[BUCKETS];  // by the logarithm of the number of elements
    struct igi_tensor_fusion_structure *next;
} igi_tensor_fusion_structure;

struct igi_tensor_fusion_table {
    pthread_mutex_t lock;  // guards what follows
    igi_tensor_fusion_structure *first;
    uint32_t count;
};

igi_tensor_fusion_mode igi_tensor_fusion_mode_wanted(void) {
    static const struct {
        const char *name;
        igi_tensor_fusion_mode mode;
    } modes[] = {{"0", IGI_FUSION_OFF}, {"blocks", IGI_FUSION_BLOCKS}, {"always", IGI_FUSION_ALWAYS}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (igi_setting_is(IGI_SETTING_FUSE, modes[i].name)) return modes[i].mode;
    return IGI_FUSION_AUTO;
}

// ---- The table ----

igi_tensor_fusion_table *igi_tensor_fusion_table_create(void) {
    igi_tensor_fusion_table *table = igi_calloc(1, sizeof *table);
    if (table) pthread_mutex_init(&table->lock, NULL);
    return table;
}

void igi_tensor_fusion_table_destroy(igi_tensor_fusion_table *table) {
    if (!table) return;
    for (igi_tensor_fusion_structure *s = table->first, *next; s; s = next) {
        next = s->next;
        ig_pipeline_release(s->pipeline);
        free(s);
    }
    pthread_mutex_destroy(&table->lock);
    free(table);
}

// Call with the lock held. NULL: it is new, and there is no room for it.
static igi_tensor_fusion_structure *find(igi_tensor_fusion_table *table, igi_hash key) {
    igi_tensor_fusion_structure *found = table->first;
    while (found && !igi_hash_equal(found->key, key)) found = found->next;
    if (found || table->count == MOST_STRUCTURES || !igi_hash_valid(key)) return found;
    found = igi_calloc(1, sizeof *found);
    if (!found) return NULL;
    found->key = key;
    found->next = table->first;
    table->first = found;
    table->count++;
    return found;
}

static uint32_t bucket_of(uint64_t count) {
    uint32_t bucket = 63u - (uint32_t)__builtin_clzll(count);
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static void keep_best(double *best, double now) {
    if (*best == 0 || now < *best) *best = now;
}

// ---- Compiling ----

// A kernel that is being made: the one that runs, and one that also writes intermediate results, for validation.
typedef struct making {
    const igi_tensor_chain *chain;
    const igi_tensor_chain_kernel *kernel;
    igi_tensor_chain *sample;
    ig_library *library;
    ig_pipeline *fused, *everything;
    char why[120];
} making;

static ig_status build_library(making *m, ig_error *error) {
    igi_text body = {0};
    ig_library_desc desc;
    char *text = NULL, *fused = igi_tensor_chain_source(m->chain, m->kernel, "fused");
    igi_tensor_chain all = *m->chain;
    for (uint32_t i = 0; i < all.value_count; i++) all.values[i].visible = all.values[i].made && all.values[i].needed;
    igi_tensor_chain_kernel kernel = igi_tensor_chain_kernel_of(&all);
    char *everything = kernel.fits ? igi_tensor_chain_source(&all, &kernel, "everything") : NULL;
    if (fused) igi_text_add(&body, fused);
    if (everything) igi_text_add(&body, everything);
    ig_status status = fused && everything && !body.failed ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY;
    if (!kernel.fits) snprintf(m->why, sizeof m->why, "it has too many operands");
    if (status == IG_STATUS_OK)
        status = igi_kernels_kernel_source("fused.metal", "functions", body.data, body.length, &desc, &text);
    if (status == IG_STATUS_OK) status = ig_library_create(m->chain->runtime->device, &desc, &m->library, error);
    igi_text_free(&body);
    free(text), free(fused), free(everything);
    return status;
}

// Like every implementation, a kernel is used only after it gave correct results on this machine: with the code that will
// run, hence of tier 2.
static ig_status validate(making *m, igi_hash structure, ig_error *error) {
    char name[33];
    bool good = true;
    igi_hash_hex(structure, name);
    igi_hash key = igi_tensor_verdict_key(m->chain->runtime, name, IG_BACKEND_MSL);
    if (igi_tensor_verdict_is_good(m->chain->runtime, key)) return IG_STATUS_OK;
    ig_status status =
        ig_pipeline_create(m->library, &(ig_pipeline_desc){.kernel = "everything", .tier = 2}, &m->everything, error);
    if (status == IG_STATUS_OK) status = igi_tensor_chain_make_sample(m->chain, &m->sample);
    if (status == IG_STATUS_OK)
        status = igi_tensor_chain_try(m->sample, m->kernel, m->fused, m->everything, &good, m->why);
    if (status != IG_STATUS_OK) return status;
    if (good) igi_tensor_verdict_keep(m->chain->runtime, key);
    return good ? IG_STATUS_OK : IG_STATUS_INTERNAL;
}

// Call with the lock held.
static void make_ready(igi_tensor_fusion_structure *structure, const igi_tensor_chain *chain,
                       const igi_tensor_chain_kernel *kernel) {
    making m = {.chain = chain, .kernel = kernel};
    ig_error error = {0};
    igi_tensor_chain_name(chain, structure->name, sizeof structure->name);
    ig_status status = build_library(&m, &error);
    if (status == IG_STATUS_OK)
        status = ig_pipeline_create(m.library, &(ig_pipeline_desc){.kernel = "fused", .tier = 2}, &m.fused, &error);
    if (status == IG_STATUS_OK) status = validate(&m, structure->key, &error);
    if (status != IG_STATUS_OUT_OF_MEMORY) structure->state = status == IG_STATUS_OK ? COMPILED : REFUSED;
    if (status == IG_STATUS_OK)
        structure->pipeline = ig_pipeline_retain(m.fused);
    else
        igi_log(m.why[0] ? IG_LOG_WARNING : IG_LOG_INFO, "no fused kernel was made for %s: %s", structure->name,
                m.why[0]        ? m.why
                : error.message ? error.message
                                : ig_status_text(status));
    ig_pipeline_release(m.fused), ig_pipeline_release(m.everything);
    ig_library_release(m.library);
    igi_tensor_chain_free(m.sample);
    ig_error_clear(&error);
}

// ---- Choosing ----

// Call with the lock held.
static bool is_worth_compiling(const igi_tensor_fusion_structure *structure, const igi_tensor_chain *chain) {
    if (chain->mode == IGI_FUSION_ALWAYS) return true;
    return chain->encodes ? structure->seen > 1 : structure->spent_ns >= COMPILE_NS;
}

// Call with the lock held.
static bool is_faster(const igi_tensor_fusion_structure *structure, const igi_tensor_chain *chain) {
    const measurement *m = &structure->sizes[bucket_of(chain->count)];
    if (chain->encodes || chain->mode == IGI_FUSION_ALWAYS) return true;
    if (m->blocks_ns == 0) return false;
    return m->kernel_runs < TRIES || m->kernel_ns < m->blocks_ns;
}

// The pipeline, borrowed from the table, if the chain should run as one kernel; otherwise NULL.
static ig_pipeline *choose(const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel, uint32_t ops,
                           igi_tensor_fusion_structure **structure) {
    igi_tensor_fusion_table *table = chain->runtime->fusion;
    *structure = NULL;
    bool pointless = chain->mode != IGI_FUSION_ALWAYS && ops < 2;
    if (!table || pointless || chain->mode == IGI_FUSION_BLOCKS || !kernel->fits) return NULL;
    ig_pipeline *pipeline = NULL;
    pthread_mutex_lock(&table->lock);
    igi_tensor_fusion_structure *s = *structure = find(table, igi_tensor_chain_structure(chain, kernel));
    if (s) {
        s->seen++;
        if (s->state == NOT_COMPILED && is_worth_compiling(s, chain)) make_ready(s, chain, kernel);
        if (s->state == COMPILED && is_faster(s, chain)) pipeline = s->pipeline;
    }
    pthread_mutex_unlock(&table->lock);
    return pipeline;
}

static void blocks_measured(const igi_tensor_chain *chain, igi_tensor_fusion_structure *structure, uint64_t ns) {
    if (!structure) return;
    pthread_mutex_lock(&chain->runtime->fusion->lock);
    structure->spent_ns += ns;
    keep_best(&structure->sizes[bucket_of(chain->count)].blocks_ns, (double)ns / (double)chain->count);
    pthread_mutex_unlock(&chain->runtime->fusion->lock);
}

void igi_tensor_fusion_measured(const igi_tensor_chain *chain, igi_tensor_fusion_choice choice, uint64_t ns) {
    if (!choice.structure) return;
    pthread_mutex_lock(&chain->runtime->fusion->lock);
    measurement *m = &choice.structure->sizes[choice.bucket];
    m->kernel_runs++;
    // The first run of a size includes work that is done only once, such as compiling code for this size of dispatch.
    if (m->kernel_runs > 1) keep_best(&m->kernel_ns, (double)ns / (double)chain->count);
    pthread_mutex_unlock(&chain->runtime->fusion->lock);
}

// ---- Running ----

static ig_status run_blocks(const igi_tensor_chain *chain, igi_tensor_fusion_structure *structure, ig_error *error) {
    ig_op failed = chain->ops[0].op;
    ig_error why = {0};
    uint64_t start = igi_now_ns();
    ig_status status = igi_tensor_chain_run_blocks(chain, &failed, &why);
    if (status == IG_STATUS_OK)
        blocks_measured(chain, structure, igi_now_ns() - start);
    else
        igi_error_set(error, status, "op '%s' failed: %s", ig_op_name(failed),
                      why.message ? why.message : ig_status_text(status));
    ig_error_clear(&why);
    return status;
}

ig_status igi_tensor_fusion_run(igi_tensor_chain *chain, ig_commands *commands,
                                ig_status (*begin)(void *user, const char *op), void *user,
                                igi_tensor_chain_outcome *outcome, igi_tensor_fusion_choice *choice, ig_error *error) {
    uint32_t ops = igi_tensor_chain_plan(chain);
    *outcome = IGI_CHAIN_DONE;
    *choice = (igi_tensor_fusion_choice){.bucket = bucket_of(chain->count)};
    if (ops == 0) return IG_STATUS_OK;
    igi_tensor_chain_kernel kernel = igi_tensor_chain_kernel_of(chain);
    ig_pipeline *pipeline = choose(chain, &kernel, ops, &choice->structure);
    if (!pipeline && !chain->encodes) return run_blocks(chain, choice->structure, error);
    *outcome = IGI_CHAIN_ENCODED;
    if (!pipeline) return igi_tensor_chain_encode_ops(chain, commands, begin, user, error);
    ig_status status = begin(user, choice->structure->name);
    return status == IG_STATUS_OK ? igi_tensor_chain_encode_kernel(chain, &kernel, pipeline, commands) : status;
}
