// SPDX-License-Identifier: Apache-2.0
// Halo exchange: the exchange itself, whole, in halves and encoded.
#include "core/clock.h"
#include "halo/halo-internal.h"

static bool are_fields(const ig_halo *halo, uint32_t fields) {
    uint32_t count = halo->plan.layout.fields;
    return fields != 0 && (count == IG_HALO_MAX_FIELDS || fields < IG_HALO_FIELD(count));
}

static void count_exchange(ig_halo *halo, uint32_t fields, uint64_t time_ns) {
    pthread_mutex_lock(&halo->lock);
    halo->exchanges += (uint64_t)__builtin_popcount(fields);
    halo->time_ns += time_ns;
    pthread_mutex_unlock(&halo->lock);
}

void igi_halo_count(ig_halo *halo, uint32_t fields) {
    count_exchange(halo, fields, 0);
}

// ---- Encoding ----

uint32_t igi_halo_share(const ig_halo *halo) {
    ig_device_properties device;
    ig_device_get_properties(halo->device, &device);
    uint64_t tiles = halo->plan.tile_count, cores = device.worker_count;
    return (uint32_t)(cores && tiles % cores == 0 ? tiles / cores : tiles);
}

static ig_status encode_pull(ig_halo *halo, ig_commands *commands, uint32_t fields, bool backwards) {
    const uint32_t order = backwards ? igi_halo_share(halo) : 0;
    ig_status status = ig_commands_set_pipeline(commands, halo->pull);
    if (status == IG_STATUS_OK) status = ig_commands_set_buffer(commands, halo->neighbours, 0, 1);
    if (status == IG_STATUS_OK) status = ig_commands_set_bytes(commands, &order, sizeof order, 2);
    for (uint32_t i = 0; i < halo->plan.layout.fields && status == IG_STATUS_OK; i++) {
        if (!(fields & IG_HALO_FIELD(i))) continue;
        status = ig_commands_set_buffer(commands, halo->fields[i], 0, 0);
        if (status == IG_STATUS_OK)
            status = ig_commands_dispatch_threads(commands, igi_halo_rim_grid(&halo->plan), (ig_size){0});
    }
    return status;
}

ig_status igi_halo_encode(ig_halo *halo, ig_commands *commands, uint32_t fields, bool backwards) {
    if (!are_fields(halo, fields))
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "halo_encode_exchange: fields is %#x; the halo has %u fields",
                        fields, halo->plan.layout.fields);
    if (halo->remote)
        return igi_fail_with(IG_STATUS_UNSUPPORTED,
                             "halo_encode_exchange: an exchange with other processes cannot be encoded; call "
                             "ig_halo_exchange");
    ig_status status = encode_pull(halo, commands, fields, backwards);
    if (status == IG_STATUS_OK) count_exchange(halo, fields, 0);
    return status;
}

ig_status ig_halo_encode_exchange(ig_halo *halo, ig_commands *commands, uint32_t fields) {
    if (!halo || !commands)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "halo_encode_exchange: halo and commands must not be NULL");
    return igi_halo_encode(halo, commands, fields, false);
}

// ---- Whole, and in halves ----

ig_status igi_halo_wait(ig_commands *commands, ig_error *error) {
    ig_status status = ig_commands_wait(commands, IG_FOREVER);
    if (status != IG_STATUS_OK && error) ig_commands_get_error(commands, error);
    return status;
}

ig_status igi_halo_run(ig_commands *commands, ig_error *error) {
    ig_status status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK)
        status = igi_halo_wait(commands, error);
    else if (error)
        ig_commands_get_error(commands, error);
    ig_commands_release(commands);
    return status;
}

static ig_status commit_pull(ig_halo *halo, uint32_t fields, ig_error *error) {
    ig_commands *commands = NULL;
    if (ig_commands_create(halo->queue, NULL, &commands) != IG_STATUS_OK) return igi_error_no_memory(error);
    ig_status status = encode_pull(halo, commands, fields, false);
    if (status == IG_STATUS_OK) status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) {
        halo->commands = commands;
        return status;
    }
    igi_error_set(error, status, "the exchange could not be started: %s", ig_status_text(status));
    ig_commands_release(commands);
    return status;
}

static ig_status fail_no_halo(ig_error *error) {
    return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "halo exchange: the halo must not be NULL");
}

static ig_status check_begin(const ig_halo *halo, uint32_t fields, ig_error *error) {
    if (!halo) return fail_no_halo(error);
    if (!are_fields(halo, fields))
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "fields is %#x; the halo has %u fields", fields,
                             halo->plan.layout.fields);
    if (halo->broken) return igi_error_set(error, IG_STATUS_WRONG_STATE, "an earlier exchange lost another process");
    if (halo->pending_fields)
        return igi_error_set(error, IG_STATUS_WRONG_STATE, "an exchange is under way; finish it first");
    return IG_STATUS_OK;
}

ig_status ig_halo_exchange_begin(ig_halo *halo, uint32_t fields, ig_error *error) {
    ig_status status = check_begin(halo, fields, error);
    if (status != IG_STATUS_OK) return status;
    halo->started_ns = igi_now_ns();
    // What other processes wait for is sent first.
    if (halo->remote) status = igi_halo_remote_begin(halo, fields, error);
    if (status != IG_STATUS_OK) return status;
    halo->pending_fields = fields;
    status = commit_pull(halo, fields, error);
    if (status != IG_STATUS_OK && halo->remote) igi_halo_remote_finish(halo, fields, NULL);
    if (status != IG_STATUS_OK) halo->pending_fields = 0;
    return status;
}

ig_status ig_halo_exchange_finish(ig_halo *halo, ig_error *error) {
    if (!halo) return fail_no_halo(error);
    uint32_t fields = halo->pending_fields;
    if (!fields)
        return igi_error_set(error, IG_STATUS_WRONG_STATE,
                             "no exchange is under way; call ig_halo_exchange_begin first");
    ig_status remote = halo->remote ? igi_halo_remote_finish(halo, fields, error) : IG_STATUS_OK;
    ig_status status = igi_halo_wait(halo->commands, remote == IG_STATUS_OK ? error : NULL);
    ig_commands_release(halo->commands);
    halo->commands = NULL;
    halo->pending_fields = 0;
    if (remote != IG_STATUS_OK) status = remote;
    if (status == IG_STATUS_OK) count_exchange(halo, fields, igi_now_ns() - halo->started_ns);
    return status;
}

ig_status ig_halo_exchange(ig_halo *halo, uint32_t fields, ig_error *error) {
    ig_status status = ig_halo_exchange_begin(halo, fields, error);
    return status == IG_STATUS_OK ? ig_halo_exchange_finish(halo, error) : status;
}
