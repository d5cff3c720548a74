// SPDX-License-Identifier: Apache-2.0
// Halo exchange with other processes: boxes of border cells are packed into one buffer, sent, and unpacked into rims.
#include "halo/halo-internal.h"

// Matches halo.metal.
typedef struct halo_block {
    uint32_t tiles[4], below[4], above[4];
} halo_block;

// ---- Neighbours ----

static uint64_t cells_along(const igi_halo_plan *plan, uint32_t axis) {
    return plan->axes[axis].block * plan->axes[axis].tile;
}

// Whether the block in that direction belongs to another process, for every axis along which it steps.
static bool leads_away(const igi_halo_plan *plan, uint32_t direction) {
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
        uint32_t step = igi_halo_step(direction, i);
        if (step && plan->axes[i].sides[step - 1] != IGI_BEYOND_OTHER_PROCESS) return false;
    }
    return igi_halo_has_direction(plan, direction);
}

static uint32_t rank_towards(const igi_halo_plan *plan, uint32_t direction) {
    uint64_t rank = 0;
    for (uint32_t i = IGI_HALO_AXES; i-- > 0;) {
        const igi_halo_axis *axis = &plan->axes[i];
        uint32_t step = igi_halo_step(direction, i);
        uint64_t place = step == 1 ? axis->rank + axis->ranks - 1 : step == 2 ? axis->rank + 1 : axis->rank;
        rank = rank * axis->ranks + place % axis->ranks;
    }
    return (uint32_t)rank;
}

static bool add_link(ig_halo *halo, igi_halo_remote *remote, uint32_t direction) {
    const igi_halo_plan *plan = &halo->plan;
    igi_halo_link *link = &remote->links[remote->link_count++];
    *link =
        (igi_halo_link){.direction = direction, .rank = rank_towards(plan, direction), .offset = remote->field_bytes};
    uint64_t scale = plan->layout.element_bytes / plan->unit_bytes;
    link->length = plan->unit_bytes;
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
        uint64_t unit = i == 0 ? scale : 1, cells = cells_along(plan, i), width = plan->axes[i].halo;
        uint32_t step = igi_halo_step(direction, i);
        uint64_t size = (step ? width : cells) * unit;
        link->box.start[i] = (uint32_t)((step == 2 ? cells - width : 0) * unit);
        link->box.size[i] = (uint32_t)size;
        if (size > INT32_MAX || !igi_mul(link->length, size, &link->length)) return false;
    }
    remote->ghosts[direction] = link->offset / plan->unit_bytes;
    uint64_t end;
    if (!igi_add(link->offset, link->length, &end) || end > INT64_MAX) return false;
    remote->field_bytes = igi_round_up(end, 64);
    return true;
}

static ig_status find_links(ig_halo *halo, igi_halo_remote *remote, ig_error *error) {
    for (uint32_t direction = 1; direction < IGI_HALO_DIRECTIONS; direction++)
        if (leads_away(&halo->plan, direction) && !add_link(halo, remote, direction))
            return igi_error_set(error, IG_STATUS_OVERFLOW, "grid and tile make borders too large to be sent");
    return IG_STATUS_OK;
}

// ---- Making ----

static ig_status open_staging(ig_halo *halo, igi_halo_remote *remote, ig_error *error) {
    uint64_t bytes;
    if (!igi_mul(remote->field_bytes, halo->plan.layout.fields, &bytes))
        return igi_error_set(error, IG_STATUS_OVERFLOW, "fields have borders too large to be sent");
    if (bytes == 0) bytes = 64;  // a block without neighbours
    ig_status status = ig_buffer_create(halo->device, &(ig_buffer_desc){.length = bytes}, &remote->sent);
    if (status == IG_STATUS_OK)
        status = ig_buffer_create(halo->device, &(ig_buffer_desc){.length = bytes}, &remote->received);
    return status == IG_STATUS_OK ? status : igi_error_set(error, status, "%s", ig_status_text(status));
}

ig_status igi_halo_remote_open(ig_halo *halo, const ig_halo_config *config, ig_library *library, ig_error *error) {
    if (!config->transport->begin || !config->transport->finish)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "transport has no begin or no finish");
    igi_halo_remote *remote = igi_calloc(1, sizeof *remote);
    if (!remote) return igi_error_no_memory(error);
    halo->remote = remote;
    remote->transport = *config->transport;
    remote->timeout_ns = config->timeout_ns ? config->timeout_ns : UINT64_C(60000000000);
    ig_status status = find_links(halo, remote, error);
    if (status == IG_STATUS_OK) status = open_staging(halo, remote, error);
    if (status == IG_STATUS_OK) status = igi_halo_pipeline(halo, library, "halo_pack", &remote->pack, error);
    if (status == IG_STATUS_OK) status = igi_halo_pipeline(halo, library, "halo_unpack", &remote->unpack, error);
    return status;
}

// Transfers that never ended may still access their memory. It is kept, reachable from here, so that leak checkers do
// not report it.
static _Atomic(igi_halo_remote *) abandoned;

static void abandon(igi_halo_remote *remote) {
    remote->next_abandoned = atomic_load(&abandoned);
    while (!atomic_compare_exchange_weak(&abandoned, &remote->next_abandoned, remote)) continue;
}

void igi_halo_remote_close(igi_halo_remote *remote, bool broken) {
    if (!remote) return;
    ig_pipeline_release(remote->pack);
    ig_pipeline_release(remote->unpack);
    if (broken) {
        abandon(remote);
        return;
    }
    ig_buffer_release(remote->sent);
    ig_buffer_release(remote->received);
    free(remote);
}

// ---- Sending and receiving ----

// The arguments that both kernels take first.
static ig_status bind_field(const ig_halo *halo, ig_commands *commands, uint32_t field) {
    halo_block block = {0};
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
        const igi_halo_axis *axis = &halo->plan.axes[i];
        block.tiles[i] = (uint32_t)axis->block;
        block.below[i] = axis->sides[0] == IGI_BEYOND_OTHER_PROCESS;
        block.above[i] = axis->sides[1] == IGI_BEYOND_OTHER_PROCESS;
    }
    ig_status status = ig_commands_set_buffer(commands, halo->fields[field], 0, 0);
    return status == IG_STATUS_OK ? ig_commands_set_bytes(commands, &block, sizeof block, 2) : status;
}

static ig_status encode_pack(const ig_halo *halo, ig_commands *commands, uint32_t field) {
    const igi_halo_remote *remote = halo->remote;
    ig_status status = bind_field(halo, commands, field);
    for (uint32_t i = 0; i < remote->link_count && status == IG_STATUS_OK; i++) {
        const igi_halo_link *link = &remote->links[i];
        status = ig_commands_set_buffer(commands, remote->sent, field * remote->field_bytes + link->offset, 1);
        if (status == IG_STATUS_OK) status = ig_commands_set_bytes(commands, &link->box, sizeof link->box, 3);
        ig_size grid = {link->box.size[0], link->box.size[1], link->box.size[2]};
        if (status == IG_STATUS_OK) status = ig_commands_dispatch_threads(commands, grid, (ig_size){0});
    }
    return status;
}

static ig_status encode_unpack(const ig_halo *halo, ig_commands *commands, uint32_t field) {
    const igi_halo_remote *remote = halo->remote;
    ig_status status = bind_field(halo, commands, field);
    if (status == IG_STATUS_OK)
        status = ig_commands_set_buffer(commands, remote->received, field * remote->field_bytes, 1);
    if (status == IG_STATUS_OK) status = ig_commands_set_bytes(commands, remote->ghosts, sizeof remote->ghosts, 3);
    if (status == IG_STATUS_OK) status = ig_commands_set_buffer(commands, halo->neighbours, 0, 4);
    if (status != IG_STATUS_OK) return status;
    return ig_commands_dispatch_threads(commands, igi_halo_rim_grid(&halo->plan), (ig_size){0});
}

// Runs a kernel for each field, with the arguments that both kernels share.
static ig_status run_for_fields(ig_halo *halo, uint32_t fields, ig_pipeline *pipeline,
                                ig_status (*encode)(const ig_halo *, ig_commands *, uint32_t), ig_error *error) {
    ig_commands *commands = NULL;
    if (ig_commands_create(halo->queue, NULL, &commands) != IG_STATUS_OK) return igi_error_no_memory(error);
    ig_status status = ig_commands_set_pipeline(commands, pipeline);
    for (uint32_t i = 0; i < halo->plan.layout.fields && status == IG_STATUS_OK; i++)
        if (fields & IG_HALO_FIELD(i)) status = encode(halo, commands, i);
    return igi_halo_run(commands, error);
}

static void *staging(ig_buffer *buffer, const igi_halo_remote *remote, uint32_t field, const igi_halo_link *link) {
    return (char *)ig_buffer_contents(buffer) + field * remote->field_bytes + link->offset;
}

// What is sent in one direction arrives from the opposite one: tags are the sender's direction.
static size_t list_messages(const ig_halo *halo, uint32_t fields, ig_halo_message *sends, ig_halo_message *receives) {
    const igi_halo_remote *remote = halo->remote;
    size_t count = 0;
    for (uint32_t field = 0; field < halo->plan.layout.fields; field++) {
        if (!(fields & IG_HALO_FIELD(field))) continue;
        uint32_t base = field * IGI_HALO_DIRECTIONS;
        for (uint32_t i = 0; i < remote->link_count; i++, count++) {
            const igi_halo_link *link = &remote->links[i];
            sends[count] = (ig_halo_message){link->rank, base + link->direction,
                                             staging(remote->sent, remote, field, link), link->length};
            receives[count] = (ig_halo_message){link->rank, base + igi_halo_opposite(link->direction),
                                                staging(remote->received, remote, field, link), link->length};
        }
    }
    return count;
}

// After a failed transfer nothing more is exchanged: messages of other processes may still be on their way.
static ig_status break_off(ig_halo *halo, ig_status status, const char *reason, ig_error *error) {
    halo->broken = true;
    return igi_error_set(error, status, "%s", *reason ? reason : ig_status_text(status));
}

ig_status igi_halo_remote_begin(ig_halo *halo, uint32_t fields, ig_error *error) {
    igi_halo_remote *remote = halo->remote;
    enum { MOST = IG_HALO_MAX_FIELDS * IGI_HALO_DIRECTIONS };
    ig_halo_message *messages = igi_calloc(2 * (size_t)MOST, sizeof *messages);
    if (!messages) return igi_error_no_memory(error);
    ig_status status = run_for_fields(halo, fields, remote->pack, encode_pack, error);
    if (status == IG_STATUS_OK) {
        char reason[IG_HALO_REASON_BYTES] = "";
        size_t count = list_messages(halo, fields, messages, messages + MOST);
        status = remote->transport.begin(remote->transport.context, messages + MOST, count, messages, count,
                                         &remote->pending, reason);
        if (status != IG_STATUS_OK) break_off(halo, status, reason, error);
    }
    free(messages);
    return status;
}

ig_status igi_halo_remote_finish(ig_halo *halo, uint32_t fields, ig_error *error) {
    igi_halo_remote *remote = halo->remote;
    char reason[IG_HALO_REASON_BYTES] = "";
    void *pending = remote->pending;
    remote->pending = NULL;
    ig_status status = remote->transport.finish(remote->transport.context, pending, remote->timeout_ns, reason);
    if (status != IG_STATUS_OK) return break_off(halo, status, reason, error);
    return run_for_fields(halo, fields, remote->unpack, encode_unpack, error);
}
