// SPDX-License-Identifier: Apache-2.0
// A stack of gold bars on polished stone, ray-marched: one thread per pixel.
#include <metal_stdlib>
using namespace metal;

constant float NOTHING = -1.0f;
constant float FLOOR = 0.0f;
constant float GOLD = 1.0f;

struct Hit {
    float distance;  // NOTHING when the ray left the scene
    float material;
};

// ---- Shapes: distance from a point to a surface --------------------------------------------------------------

// A bar with slanted sides and rounded edges, lying along z.
static float bar(float3 p) {
    const float slant = 0.28f, rounding = 0.035f;
    const float3 side = float3(0.5f, 0.26f, 1.15f);
    const float flatten = rsqrt(1.0f + slant * slant);
    float3 d = float3((abs(p.x) - side.x + slant * p.y) * flatten, abs(p.y) - side.y,
                      (abs(p.z) - side.z + slant * p.y) * flatten);
    d += rounding;
    return length(max(d, 0.0f)) + min(max(d.x, max(d.y, d.z)), 0.0f) - rounding;
}

// Three bars, two on top of them, and one across.
static float stack(float3 p) {
    const float pitch = 1.06f;
    float3 low = p - float3(pitch * clamp(round(p.x / pitch), -1.0f, 1.0f), 0.26f, 0.0f);
    float half_way = p.x / pitch - 0.5f;
    float3 middle = p - float3(pitch * (clamp(round(half_way), -1.0f, 0.0f) + 0.5f), 0.78f, 0.0f);
    const float c = 0.80f, s = 0.60f;
    float3 high = float3(c * p.x + s * p.z, p.y - 1.30f, c * p.z - s * p.x);
    return min(bar(low), min(bar(middle), bar(high)));
}

static float scene(float3 p) {
    return min(p.y, stack(p));
}

static Hit march(float3 origin, float3 direction, int steps, float far) {
    float travelled = 0.0f;
    for (int i = 0; i < steps; i++) {
        float step = scene(origin + travelled * direction);
        travelled += 0.93f * step;
        if (step < 0.0004f * travelled || travelled > far) break;
    }
    float3 p = origin + travelled * direction;
    Hit hit;
    hit.distance = travelled > far ? NOTHING : travelled;
    hit.material = stack(p) < p.y ? GOLD : FLOOR;
    return hit;
}

// From four samples at the corners of a tetrahedron.
static float3 normal_at(float3 p) {
    float3 n = float3(0.0f);
    for (int corner = 0; corner < 4; corner++) {
        float x = corner == 0 || corner == 3 ? 1.0f : -1.0f, y = corner < 2 ? -1.0f : 1.0f;
        float3 towards = float3(x, y, corner % 2 ? 1.0f : -1.0f);
        n += towards * scene(p + 0.0007f * towards);
    }
    return normalize(n);
}

// ---- Light ---------------------------------------------------------------------------------------------------

static float box_light(float3 direction, float3 axis, float3 across, float width, float height) {
    float forward = dot(direction, axis);
    float3 up = cross(axis, across);
    float u = abs(dot(direction, across)) / max(forward, 0.001f), v = abs(dot(direction, up)) / max(forward, 0.001f);
    float edge = 0.06f;
    return forward > 0.0f ? (1.0f - smoothstep(width - edge, width + edge, u)) *
                                (1.0f - smoothstep(height - edge, height + edge, v))
                          : 0.0f;
}

// A studio as the gold mirrors it: a broad warm glow in front, a panel above, a cool one at the right, a strip behind.
static float3 studio(float3 d) {
    float front = clamp(dot(d, normalize(float3(0.35f, 0.45f, 1.0f))), 0.0f, 1.0f);
    float3 light = mix(float3(0.05f, 0.04f, 0.04f), float3(0.30f, 0.34f, 0.42f), smoothstep(-0.2f, 1.0f, d.y));
    light += float3(1.15f, 0.98f, 0.80f) * front * front * front;
    light += 2.4f * float3(1.0f, 0.95f, 0.86f) *
             box_light(d, normalize(float3(-0.35f, 1.0f, 0.15f)), normalize(float3(1.0f, 0.35f, 0.0f)), 0.55f, 0.40f);
    light += 1.1f * float3(0.70f, 0.82f, 1.0f) *
             box_light(d, normalize(float3(1.0f, 0.30f, 0.1f)), normalize(float3(-0.30f, 1.0f, 0.0f)), 0.25f, 0.8f);
    light += 1.8f * float3(1.0f, 0.78f, 0.55f) *
             box_light(d, normalize(float3(-0.5f, 0.35f, -0.8f)), float3(0.0f, 1.0f, 0.0f), 0.10f, 0.7f);
    return light;
}

// As the camera sees it: the lamps are out of the picture.
static float3 backdrop(float3 d) {
    return mix(float3(0.012f, 0.013f, 0.018f), float3(0.060f, 0.062f, 0.080f), smoothstep(-0.05f, 0.5f, d.y));
}

static float shadow(float3 origin, float3 direction) {
    float light = 1.0f, travelled = 0.03f;
    for (int i = 0; i < 28; i++) {
        float clearance = stack(origin + travelled * direction);
        light = min(light, 7.0f * clearance / travelled);
        travelled += clamp(clearance, 0.04f, 0.35f);
        if (light < 0.01f || travelled > 5.0f) break;
    }
    light = clamp(light, 0.0f, 1.0f);
    return light * light * (3.0f - 2.0f * light);
}

static float openness(float3 p, float3 n) {
    float closed = 0.0f, weight = 1.0f;
    for (int i = 1; i <= 4; i++) {
        float reach = 0.11f * float(i);
        closed += weight * (reach - scene(p + reach * n));
        weight *= 0.6f;
    }
    return clamp(1.0f - 1.6f * closed, 0.0f, 1.0f);
}

static float3 gold(float cosine) {
    const float3 straight = float3(1.0f, 0.66f, 0.22f);
    return straight + (1.0f - straight) * pow(clamp(1.0f - cosine, 0.0f, 1.0f), 5.0f);
}

static float3 stone(float3 p, float3 n, float open) {
    const float3 lamp = normalize(float3(-0.35f, 1.0f, 0.25f));
    float light = max(dot(n, lamp), 0.0f) * shadow(p + 0.002f * n, lamp);
    float fade = exp(-0.06f * (p.x * p.x + p.z * p.z));
    return float3(0.052f, 0.054f, 0.060f) * (0.25f * open + 1.9f * light) * fade;
}

// Light along a ray and its first reflection. `weight` is how much of what comes next reaches the eye.
static float3 seen(float3 origin, float3 direction) {
    float3 light = float3(0.0f), weight = float3(1.0f);
    for (int bounce = 0; bounce < 2; bounce++) {
        bool first = bounce == 0;
        Hit hit = march(origin, direction, first ? 96 : 40, first ? 24.0f : 9.0f);
        if (hit.distance < 0.0f) return light + weight * (first ? backdrop(direction) : studio(direction));
        float3 p = origin + hit.distance * direction, n = normal_at(p), mirrored = reflect(direction, n);
        float cosine = clamp(dot(n, mirrored), 0.0f, 1.0f), open = openness(p, n);
        if (hit.material == GOLD) {
            weight *= gold(cosine) * (0.35f + 0.65f * open);
        } else {
            float haze = first ? 1.0f - exp(-0.011f * hit.distance * hit.distance) : 0.0f;
            float polish = first ? 0.06f + 0.45f * pow(1.0f - cosine, 4.0f) : 0.0f;
            light += weight * mix(stone(p, n, open), backdrop(direction), haze);
            weight *= polish * (1.0f - haze);
        }
        origin = p + 0.004f * n;
        direction = mirrored;
    }
    return light + weight * studio(direction);
}

// ---- Camera --------------------------------------------------------------------------------------------------

// The ACES curve as fitted by Narkowicz, then the sRGB gamma.
static float3 develop(float3 light) {
    float3 film = light * (2.51f * light + 0.03f) / (light * (2.43f * light + 0.59f) + 0.14f);
    return pow(clamp(film, 0.0f, 1.0f), float3(1.0f / 2.2f));
}

kernel void ingots(device uchar4 *pixels [[buffer(0)]],
                   constant uint2 &size [[buffer(1)]],
                   uint2 id [[thread_position_in_grid]]) {
    if (id.x >= size.x || id.y >= size.y) return;
    const float3 eye = float3(2.9f, 2.35f, 4.3f), target = float3(0.05f, 0.60f, 0.1f);
    float3 forward = normalize(target - eye), right = normalize(cross(forward, float3(0.0f, 1.0f, 0.0f)));
    float3 up = cross(right, forward);
    float3 light = float3(0.0f);
    for (int sample = 0; sample < 4; sample++) {
        // A rotated grid: no two samples share a row or a column.
        float dx = 0.125f + 0.25f * float((2 * sample) % 5 % 4), dy = 0.125f + 0.25f * float(sample);
        float u = (2.0f * (float(id.x) + dx) - float(size.x)) / float(size.y);
        float v = (float(size.y) - 2.0f * (float(id.y) + dy)) / float(size.y);
        float3 direction = normalize(2.5f * forward + u * right + v * up);
        light += min(seen(eye, direction), 8.0f);
    }
    float3 colour = develop(0.25f * light) * 255.0f + 0.5f;
    pixels[id.y * size.x + id.x] = uchar4(uchar(colour.x), uchar(colour.y), uchar(colour.z), 255);
}
