// SPDX-License-Identifier: Apache-2.0
// The table of MSL attributes.
#include "msl/attributes.h"

#include <string.h>

#include "core/nearest.h"

// Of the inputs and outputs of graphics functions, and of their structures.
#define GRAPHICS_LIST(X)         \
    X(amplification_count)       \
    X(amplification_id)          \
    X(barycentric_coord)         \
    X(base_instance)             \
    X(base_vertex)               \
    X(center_no_perspective)     \
    X(center_perspective)        \
    X(centroid_no_perspective)   \
    X(centroid_perspective)      \
    X(clip_distance)             \
    X(depth)                     \
    X(flat)                      \
    X(front_facing)              \
    X(imageblock)                \
    X(index)                     \
    X(patch_id)                  \
    X(point_coord)               \
    X(point_size)                \
    X(position_in_patch)         \
    X(primitive_culled)          \
    X(primitive_id)              \
    X(raster_order_group)        \
    X(render_target_array_index) \
    X(sample_id)                 \
    X(sample_mask)               \
    X(sample_no_perspective)     \
    X(sample_perspective)        \
    X(shared)                    \
    X(stencil)                   \
    X(threadgroup_imageblock)    \
    X(viewport_array_index)

static const igi_msl_attribute attributes[] = {
    {"kernel", IGI_ATTRIBUTE_KERNEL},
    {"visible", IGI_ATTRIBUTE_VISIBLE},
    {"stitchable", IGI_ATTRIBUTE_VISIBLE},
    {"host_name", IGI_ATTRIBUTE_HOST_NAME},
    {"buffer", IGI_ATTRIBUTE_SLOT},
    {"threadgroup", IGI_ATTRIBUTE_SLOT},
    {"texture", IGI_ATTRIBUTE_SLOT},
    {"sampler", IGI_ATTRIBUTE_SLOT},
    {"function_constant", IGI_ATTRIBUTE_CONSTANT},
    {"max_total_threads_per_threadgroup", IGI_ATTRIBUTE_LIMIT},
#define BUILTIN(name, components) {#name, IGI_ATTRIBUTE_BUILTIN},
    IGI_BUILTIN_LIST(BUILTIN)
#undef BUILTIN
        {"id", IGI_ATTRIBUTE_MEMBER},
    {"attribute", IGI_ATTRIBUTE_STAGE_INPUT},
    {"invariant", IGI_ATTRIBUTE_IGNORED},
    // The code shows how a kernel accesses a buffer; names for the host have no effect.
    {"access", IGI_ATTRIBUTE_IGNORED},
    {"user", IGI_ATTRIBUTE_IGNORED},
    {"max_total_threadgroups_per_mesh_grid", IGI_ATTRIBUTE_IGNORED},
    {"stage_in", IGI_ATTRIBUTE_UNSUPPORTED},
    {"vertex", IGI_ATTRIBUTE_UNSUPPORTED},
    {"fragment", IGI_ATTRIBUTE_UNSUPPORTED},
    {"object", IGI_ATTRIBUTE_UNSUPPORTED},
    {"mesh", IGI_ATTRIBUTE_UNSUPPORTED},
    {"intersection", IGI_ATTRIBUTE_UNSUPPORTED},
    {"payload", IGI_ATTRIBUTE_UNSUPPORTED},
    {"imageblock_data", IGI_ATTRIBUTE_UNSUPPORTED},
    {"vertex_id", IGI_ATTRIBUTE_UNSUPPORTED},
    {"instance_id", IGI_ATTRIBUTE_UNSUPPORTED},
    {"position", IGI_ATTRIBUTE_UNSUPPORTED},
    {"color", IGI_ATTRIBUTE_UNSUPPORTED},
    {"patch", IGI_ATTRIBUTE_UNSUPPORTED},
    {"early_fragment_tests", IGI_ATTRIBUTE_UNSUPPORTED},
#define GRAPHICS(name) {#name, IGI_ATTRIBUTE_UNSUPPORTED},
    GRAPHICS_LIST(GRAPHICS)
#undef GRAPHICS
};
enum { ATTRIBUTE_COUNT = sizeof attributes / sizeof *attributes };

const igi_msl_attribute *igi_msl_attribute_find(const char *name, size_t length) {
    for (size_t i = 0; i < ATTRIBUTE_COUNT; i++) {
        if (strlen(attributes[i].name) == length && memcmp(attributes[i].name, name, length) == 0)
            return &attributes[i];
    }
    return NULL;
}

const char *igi_msl_attribute_nearest(const char *name) {
    const char *names[ATTRIBUTE_COUNT];
    for (size_t i = 0; i < ATTRIBUTE_COUNT; i++)
        names[i] = attributes[i].kind == IGI_ATTRIBUTE_UNSUPPORTED ? NULL : attributes[i].name;
    return igi_nearest(name, names, ATTRIBUTE_COUNT);
}
