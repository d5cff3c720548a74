// SPDX-License-Identifier: Apache-2.0
// Queues.
#include "device/backend.h"
#include "device/profile.h"

ig_status ig_queue_create(ig_device *device, ig_queue **queue) {
    if (!device || !queue)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "queue_create: device and queue must not be NULL");
    if (igi_device_is_inherited(device)) return igi_device_fail_forked();
    ig_queue *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_fail_no_memory();
    igi_ref_init(&made->references);
    made->device = device;
    ig_status status = device->backend->queue_open(made);
    if (status != IG_STATUS_OK) {
        free(made);
        return igi_fail(status, "queue_create: the device could not create a queue: %s", ig_status_text(status));
    }
    ig_device_retain(device);
    igi_device_order_add_queue(made);
    if (device->profile) igi_device_profile_queue(made);
    *queue = made;
    return IG_STATUS_OK;
}

ig_status ig_queue_set_label(ig_queue *queue, const char *label) {
    if (!queue) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "queue_set_label: queue must not be NULL");
    if (igi_device_is_inherited(queue->device)) return igi_device_fail_forked();
    char *copy = label ? igi_strdup(label) : NULL;
    if (label && !copy) return igi_fail_no_memory();
    free(queue->label);
    queue->label = copy;
    return IG_STATUS_OK;
}

ig_queue *ig_queue_retain(ig_queue *queue) {
    if (queue) igi_ref_take(&queue->references);
    return queue;
}

void ig_queue_release(ig_queue *queue) {
    if (!queue || igi_device_is_inherited(queue->device) || !igi_ref_drop(&queue->references)) return;
    ig_device *device = queue->device;
    device->backend->queue_close(queue);
    igi_device_order_remove_queue(queue);
    free(queue->label);
    free(queue);
    ig_device_release(device);
}
