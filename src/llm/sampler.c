// SPDX-License-Identifier: Apache-2.0
// Choosing the next token: penalties, the most likely candidates, a random draw. Order and meaning are llama.cpp's.
#include <ingot/llm.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/philox.h"
#include "core/status-internal.h"

typedef struct candidate {
    int32_t token;
    float logit;
    double weight;  // its probability, times a common factor
} candidate;

struct ig_sampler {
    ig_sampler_desc desc;
    uint64_t draws;   // random numbers so far
    int32_t *recent;  // a ring of repeat_last
    uint64_t accepted;
    candidate *candidates;
    uint32_t capacity;
};

// ---- Life ----

ig_status ig_sampler_create(const ig_sampler_desc *desc, ig_sampler **sampler) {
    if (!desc || !sampler)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "sampler_create: desc and sampler must not be NULL");
    bool valid = desc->temperature >= 0 && desc->top_p >= 0 && desc->top_p <= 1 && desc->min_p >= 0 &&
                 desc->min_p <= 1 && desc->repeat_penalty >= 0;
    if (!valid || !isfinite(desc->temperature) || !isfinite(desc->repeat_penalty))
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "sampler_create: temperature and repeat_penalty must be finite and not negative, top_p "
                             "and min_p between 0 and 1");
    ig_sampler *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_fail_no_memory();
    made->desc = *desc;
    made->recent = igi_calloc(desc->repeat_last, sizeof *made->recent);
    if (!made->recent) {
        free(made);
        return igi_fail_no_memory();
    }
    *sampler = made;
    return IG_STATUS_OK;
}

void ig_sampler_release(ig_sampler *sampler) {
    if (!sampler) return;
    free(sampler->recent);
    free(sampler->candidates);
    free(sampler);
}

void ig_sampler_accept(ig_sampler *sampler, int32_t token) {
    if (sampler->desc.repeat_last) sampler->recent[sampler->accepted++ % sampler->desc.repeat_last] = token;
}

// ---- Order: the more likely first, of equals the lower token ----

static bool is_before(const candidate *a, const candidate *b) {
    return a->logit != b->logit ? a->logit > b->logit : a->token < b->token;
}

static int compare(const void *a, const void *b) {
    return is_before(a, b) ? -1 : 1;
}

// ---- Candidates ----

// NaN and -inf are never chosen.
static uint32_t collect(ig_sampler *sampler, const float *logits, uint32_t count) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (logits[i] > -INFINITY) sampler->candidates[found++] = (candidate){(int32_t)i, logits[i], 0};
    return found;
}

static bool came_lately(const ig_sampler *sampler, int32_t token) {
    uint64_t kept = sampler->accepted < sampler->desc.repeat_last ? sampler->accepted : sampler->desc.repeat_last;
    for (uint64_t i = 0; i < kept; i++)
        if (sampler->recent[i] == token) return true;
    return false;
}

static void penalize(const ig_sampler *sampler, candidate *candidates, uint32_t count) {
    float penalty = (float)sampler->desc.repeat_penalty;
    if (penalty == 0 || penalty == 1 || !sampler->accepted) return;
    for (uint32_t i = 0; i < count; i++)
        if (came_lately(sampler, candidates[i].token))
            candidates[i].logit =
                candidates[i].logit > 0 ? candidates[i].logit / penalty : candidates[i].logit * penalty;
}

// Puts the `kept` best in front, in any order: a heap whose top is the worst of them.
static void sift_down(candidate *heap, uint32_t count, uint32_t at) {
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(&heap[child], &heap[child + 1])) child++;
        if (!is_before(&heap[at], &heap[child])) return;
        candidate swapped = heap[at];
        heap[at] = heap[child], heap[child] = swapped;
    }
}

static void select_best(candidate *candidates, uint32_t count, uint32_t kept) {
    for (uint32_t i = kept / 2; i-- > 0;) sift_down(candidates, kept, i);
    for (uint32_t i = kept; i < count; i++)
        if (is_before(&candidates[i], &candidates[0])) {
            candidates[0] = candidates[i];
            sift_down(candidates, kept, 0);
        }
}

static double set_weights(candidate *candidates, uint32_t count, double temperature) {
    double total = 0;
    for (uint32_t i = 0; i < count; i++) {
        double difference = candidates[i].logit == candidates[0].logit
                                ? 0
                                : ((double)candidates[i].logit - (double)candidates[0].logit) / temperature;
        total += candidates[i].weight = exp(difference);
    }
    return total;
}

// How many of the sorted candidates are kept.
static uint32_t cut_tail(const ig_sampler_desc *desc, candidate *candidates, uint32_t count) {
    double total = set_weights(candidates, count, 1), sum = 0;
    uint32_t kept = count;
    if (desc->top_p > 0 && desc->top_p < 1)
        for (kept = 0; kept < count && sum < desc->top_p * total;) sum += candidates[kept++].weight;
    while (kept > 1 && candidates[kept - 1].weight < desc->min_p) kept--;
    return kept ? kept : 1;
}

// ---- Chance ----

// In [0, 1): 53 bits of the seed's next block.
static double draw(ig_sampler *sampler) {
    igi_philox_block block = igi_philox(sampler->desc.seed, sampler->draws++);
    uint64_t bits = ((uint64_t)block.word[0] << 32 | block.word[1]) >> 11;
    return (double)bits * 0x1p-53;
}

static int32_t pick(ig_sampler *sampler, uint32_t count) {
    candidate *candidates = sampler->candidates;
    double left = draw(sampler) * set_weights(candidates, count, sampler->desc.temperature);
    uint32_t i = 0;
    while (i + 1 < count && left >= candidates[i].weight) left -= candidates[i++].weight;
    return candidates[i].token;
}

static int32_t choose(ig_sampler *sampler, uint32_t count) {
    const ig_sampler_desc *desc = &sampler->desc;
    uint32_t kept = desc->temperature == 0 ? 1 : desc->top_k && desc->top_k < count ? desc->top_k : count;
    if (kept < count) select_best(sampler->candidates, count, kept);
    if (kept == 1) return sampler->candidates[0].token;
    qsort(sampler->candidates, kept, sizeof *sampler->candidates, compare);
    return pick(sampler, cut_tail(desc, sampler->candidates, kept));
}

static bool make_room(ig_sampler *sampler, uint32_t count) {
    if (count <= sampler->capacity) return true;
    candidate *more = igi_realloc(sampler->candidates, count * sizeof *more);
    if (!more) return false;
    sampler->candidates = more;
    sampler->capacity = count;
    return true;
}

ig_status ig_sampler_next(ig_sampler *sampler, const float *logits, uint32_t count, int32_t *token) {
    if (!sampler || !logits || !token || count > INT32_MAX)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "sampler_next: sampler, logits and token must not be NULL, and there are at most 2^31 - 1 "
                             "tokens");
    if (!make_room(sampler, count)) return igi_fail_no_memory();
    uint32_t found = collect(sampler, logits, count);
    if (!found) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "sampler_next: none of the logits is a number");
    penalize(sampler, sampler->candidates, found);
    *token = choose(sampler, found);
    ig_sampler_accept(sampler, *token);
    return IG_STATUS_OK;
}
