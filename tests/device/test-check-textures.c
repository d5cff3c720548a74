// SPDX-License-Identifier: Apache-2.0
// Checked kernels with textures: right ones compute what they always do, and mistakes in others are found.
#include <ingot/texture.h>
#include <string.h>

#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "kernel void blend(texture2d<float> in [[texture(0)]], texture2d<float, access::read_write> count [[texture(1)]],\n"
    "                  texture2d<float, access::write> shown [[texture(2)]], sampler s [[sampler(0)]],\n"
    "                  device float *reds [[buffer(0)]], constant uint &past [[buffer(1)]],\n"
    "                  uint2 id [[thread_position_in_grid]]) {\n"
    "  float4 c = in.sample(s, (float2(id) + 0.5f) / 8, level(1));\n"
    "  count.write(count.read(id) + 1, id);\n"
    "  shown.write(c, id);\n"
    "  reds[id.y * 8 + id.x + past] = c.r * float(in.get_num_mip_levels());\n"
    "}\n"
    "struct box { texture2d<float> picture; };\n"
    "kernel void boxed(constant box &b [[buffer(0)]], device float *reds [[buffer(1)]],\n"
    "                  uint2 id [[thread_position_in_grid]]) {\n"
    "  reds[id.y * 8 + id.x] = b.picture.read(id).r + float(b.picture.get_width());\n"
    "}\n"
    "kernel void meet(texture2d<float, access::write> out [[texture(0)]], uint2 id [[thread_position_in_grid]]) {\n"
    "  out.write(float(id.x), uint2(3, 2));\n"
    "}\n"
    "kernel void beyond(texture2d<float, access::read_write> out [[texture(0)]], uint2 id [[thread_position_in_grid]]) "
    "{\n"
    "  out.write(out.read(uint2(id.x + 8, id.y)) + 1, id);\n"
    "}\n";

typedef struct session {
    ig_device *on;
    ig_library *library;
    ig_queue *queue;
    ig_texture *picture, *count, *shown;
    ig_texture_sampler *sampler;
    ig_buffer *reds;
} session;

static ig_texture *make_texture(ig_device *on, ig_pixel_format format, uint32_t levels) {
    ig_texture *made = NULL;
    ig_texture_desc desc = {
        .type = IG_TEXTURE_2D, .format = format, .width = 8, .height = 8, .levels = levels, .label = "pixels"};
    assert_ok(ig_texture_create(on, &desc, &made));
    return made;
}

// Level 1 of the picture is half red.
static session open_session(void) {
    session s = {.on = open_device(&(ig_device_desc){.check = IG_CHECK_ALL})};
    float half_red[16][4];
    s.library = compile_on(s.on, &(ig_library_desc){.source = source, .name = "kernels.metal"});
    assert_ok(ig_queue_create(s.on, &s.queue));
    s.picture = make_texture(s.on, IG_PIXEL_RGBA32_FLOAT, 2);
    s.count = make_texture(s.on, IG_PIXEL_R32_FLOAT, 1);
    s.shown = make_texture(s.on, IG_PIXEL_RGBA8_UNORM_SRGB, 1);
    s.reds = make_buffer_on(s.on, 256);
    for (int i = 0; i < 16; i++) memcpy(half_red[i], (float[4]){0.5f, 0, 0, 1}, 16);
    assert_ok(ig_texture_write(s.picture, &(ig_region){.level = 1}, half_red, 0, 0));
    assert_ok(ig_texture_sampler_create(s.on, &(ig_texture_sampler_desc){.mip_filter = IG_MIP_NEAREST}, &s.sampler));
    return s;
}

static void close_session(session *s) {
    ig_texture_release(s->picture), ig_texture_release(s->count), ig_texture_release(s->shown);
    ig_texture_sampler_release(s->sampler), ig_buffer_release(s->reds);
    ig_queue_release(s->queue), ig_library_release(s->library), ig_device_release(s->on);
}

static ig_commands *begin(const session *s, const char *kernel) {
    ig_pipeline *pipeline = pipeline_of(s->library, kernel);
    ig_commands *commands;
    assert_ok(ig_commands_create(s->queue, NULL, &commands));
    assert_ok(ig_commands_set_pipeline(commands, pipeline));
    ig_pipeline_release(pipeline);
    return commands;
}

// How many findings there are. The caller releases the commands.
static size_t end(ig_commands *commands, const ig_finding **findings) {
    assert_ok(ig_commands_dispatch_threads(commands, (ig_size){8, 8, 1}, (ig_size){4, 4, 1}));
    assert_ok(ig_commands_commit(commands));
    ig_status status = ig_commands_wait(commands, IG_FOREVER);
    assert_true(status == IG_STATUS_OK || status == IG_STATUS_CHECK_FAILED);
    return ig_commands_get_findings(commands, findings);
}

static size_t blend(const session *s, uint32_t past, const ig_finding **findings, ig_commands **commands) {
    *commands = begin(s, "blend");
    assert_ok(ig_commands_set_texture(*commands, s->picture, 0));
    assert_ok(ig_commands_set_texture(*commands, s->count, 1));
    assert_ok(ig_commands_set_texture(*commands, s->shown, 2));
    assert_ok(ig_commands_set_sampler(*commands, s->sampler, 0));
    assert_ok(ig_commands_set_buffer(*commands, s->reds, 0, 0));
    assert_ok(ig_commands_set_bytes(*commands, &past, sizeof past, 1));
    return end(*commands, findings);
}

static void expect_pixels(const session *s) {
    float counts[64];
    unsigned char shown[64][4];
    assert_ok(ig_texture_read(s->count, NULL, counts, 0, 0));
    assert_ok(ig_texture_read(s->shown, NULL, shown, 0, 0));
    for (int i = 0; i < 64; i++) {
        assert_float_equal(counts[i], 1, 0);  // which is read first
        assert_int_equal(shown[i][0], 188);   // sRGB of 0.5
    }
}

static void right_kernels_compute_what_they_always_do(void **state) {
    (void)state;
    session s = open_session();
    const ig_finding *findings;
    ig_commands *commands;
    assert_int_equal(blend(&s, 0, &findings, &commands), 0);
    ig_commands_release(commands);
    expect_pixels(&s);
    for (int i = 0; i < 64; i++) assert_float_equal(((float *)ig_buffer_contents(s.reds))[i], 1, 0);
    close_session(&s);
}

static void a_mistake_is_found_and_pixels_are_written_once(void **state) {
    (void)state;
    session s = open_session();
    const ig_finding *findings;
    ig_commands *commands;
    assert_int_equal(blend(&s, 1, &findings, &commands), 1);
    assert_string_equal(findings[0].kind, "out-of-bounds");
    assert_string_equal(findings[0].object, "buffer 0 'reds'");
    ig_commands_release(commands);
    expect_pixels(&s);
    close_session(&s);
}

static void textures_of_argument_buffers_are_known(void **state) {
    (void)state;
    session s = open_session();
    const ig_finding *findings;
    const uint64_t id = ig_texture_resource_id(s.count);
    ig_commands *commands = begin(&s, "boxed");
    assert_ok(ig_commands_set_bytes(commands, &id, sizeof id, 0));
    assert_ok(ig_commands_set_buffer(commands, s.reds, 0, 1));
    assert_int_equal(end(commands, &findings), 0);
    ig_commands_release(commands);
    for (int i = 0; i < 64; i++) assert_float_equal(((float *)ig_buffer_contents(s.reds))[i], 8, 0);
    close_session(&s);
}

static void pixels_that_threads_race_for_are_found(void **state) {
    (void)state;
    session s = open_session();
    const ig_finding *findings;
    ig_commands *commands = begin(&s, "meet");
    assert_ok(ig_commands_set_texture(commands, s.count, 0));
    assert_true(end(commands, &findings) >= 1);
    assert_string_equal(findings[0].kind, "race");
    assert_int_equal(findings[0].sides[0].line, 18);
    assert_string_equal(findings[0].object, "the pixels of texture 0 'out'");
    ig_commands_release(commands);
    close_session(&s);
}

static void what_is_outside_is_not_read(void **state) {
    (void)state;
    session s = open_session();
    const ig_finding *findings;
    float counts[64];
    ig_commands *commands = begin(&s, "beyond");
    assert_ok(ig_commands_set_texture(commands, s.count, 0));
    assert_int_equal(end(commands, &findings), 0);
    ig_commands_release(commands);
    assert_ok(ig_texture_read(s.count, NULL, counts, 0, 0));
    for (int i = 0; i < 64; i++) assert_float_equal(counts[i], 1, 0);
    close_session(&s);
}

static void released_textures_are_not_known_any_more(void **state) {
    (void)state;
    session s = open_session();
    const ig_finding *findings;
    ig_texture *others[3], *gone = make_texture(s.on, IG_PIXEL_R32_FLOAT, 1);
    for (int i = 0; i < 3; i++) others[i] = make_texture(s.on, IG_PIXEL_R32_FLOAT, 1);
    const uint64_t id = ig_texture_resource_id(gone);
    ig_texture_release(gone);
    ig_commands *commands = begin(&s, "boxed");
    assert_ok(ig_commands_set_bytes(commands, &id, sizeof id, 0));
    assert_ok(ig_commands_set_buffer(commands, s.reds, 0, 1));
    assert_true(end(commands, &findings) >= 1);
    assert_string_equal(findings[0].kind, "out-of-bounds");
    ig_commands_release(commands);
    for (int i = 0; i < 3; i++) ig_texture_release(others[i]);
    close_session(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernels_compute_what_they_always_do),
        cmocka_unit_test(a_mistake_is_found_and_pixels_are_written_once),
        cmocka_unit_test(textures_of_argument_buffers_are_known),
        cmocka_unit_test(pixels_that_threads_race_for_are_found),
        cmocka_unit_test(what_is_outside_is_not_read),
        cmocka_unit_test(released_textures_are_not_known_any_more),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
