// The input of every shader of drawables: the view, the draw, the solver's numbers, the measured
// range. Mirrors app/render/shader_data.hpp.

#define COLOR 0
#define PICK 1
#define MASK 2
#define SHADOW 3
#ifndef PASS
#define PASS COLOR
#endif

layout(constant_id = 0) const bool wide = false;  // numbers are f64
layout(constant_id = 1) const int samples = 1;    // per pixel
layout(constant_id = 2) const bool shadowed = false;  // the shadow map is looked at
layout(constant_id = 3) const bool guarded = false;   // see `hidden_zero`
layout(constant_id = 4) const bool sliced = false;    // a plane hides what is before it

layout(std140, set = 0, binding = 0) uniform Scene {
    mat4 view_projection;  // depth 1 at the near plane, 0 far away
    vec4 eye;              // w: 1 perspective, 0 orthographic
    vec4 right;            // w: meters per pixel (at one meter's distance in perspective)
    vec4 up;
    vec4 forward;
    vec4 to_light;
    vec4 light_right;
    vec4 light_up;
    vec4 world_up;
    vec4 background_top;
    vec4 background_bottom;
    vec4 known_low;        // box around what the host knows the place of; w: 1 if there is any
    vec4 known_high;
    vec4 size;             // pixels, 1 / pixels
    vec4 range;            // given: low, high
    vec4 focus;            // where planes fade away from; w: how far they reach, m
    vec4 slice;            // hidden is where xyz . place > w; xyz has length 1
    uvec4 flags;           // flat, range_..., color map, shadows
} scene;

const uint range_given = 1u, range_symmetric = 2u, range_log = 4u;
// As in app/exchange/stage.hpp.
const float smallest_log_part = 1e-4;
const uint color_maps = 7u;

// The tables of the color maps, and a zero.
layout(std430, set = 0, binding = 1) readonly buffer Colors { uint colors[color_maps * 256u + 1u]; };

// Mesa's software driver compiles a shader anew for each value of a branch's condition that is made
// of uniforms alone, whenever it is bound, and keeps every one of them (lavapipe 22.3). So for that
// driver such conditions depend on a number that only the buffer knows. Every branch and every ?:
// on uniforms alone goes through the functions below.
uint hidden_zero = guarded ? colors[color_maps * 256u] : 0u;

#ifdef MEASURING
// Found by measure.comp, in integers that order as the numbers do.
layout(std430, set = 0, binding = 2) buffer Measured {
    uint low, high, longest, unused;
    uint box_low[4], box_high[4];
} measured;
layout(std430, set = 0, binding = 4) buffer SettledNow
#else
// A uniform block, since drivers read those faster than buffers.
layout(std140, set = 0, binding = 5) uniform Settled
#endif
{
    mat4 light;          // world to shadow map, depth 0 .. 1
    vec4 color_range;    // low, high, longest arrow
    vec4 shadow_texel;   // m, radius; the least and the largest number measured
} settled;

layout(set = 0, binding = 3) uniform sampler2DShadow shadow_map;

// Buffers of one drawable in one slot.
layout(std430, set = 1, binding = 0) readonly buffer Places { uint places[]; };
layout(std430, set = 1, binding = 1) readonly buffer Values { uint values[]; };
layout(std430, set = 1, binding = 2) readonly buffer Indices { uint indices[]; };
layout(std430, set = 1, binding = 3) readonly buffer ElementOf { uint element_of[]; };
layout(std430, set = 1, binding = 4)
#ifndef MAKING_NORMALS
readonly
#endif
buffer Normals { float normals[]; };
layout(std430, set = 1, binding = 5) readonly buffer Around { uint around[]; };

layout(push_constant) uniform Draw {
    vec4 color;
    vec4 a, b;  // of the kind
    float radius, spacing, layer, scale;
    uint first, count, rows, columns;
    uint flags, drawable;
    int only;  // this element alone, or all: -1
    uint mode;
} draw;

const uint has_values = 1u, values_per_point = 2u, has_element_of = 4u, in_plane = 8u, unlit = 16u,
           pixel_radius = 32u, arrow_log = 64u, edges_shown = 128u, is_grid = 256u,
           uncut = 512u,    // the slice hides nothing of it
           closed = 1024u,  // the inside of its surface is seen only through a cut
           has_order = 2048u;

const vec3 warning_color = vec3(1.0, 0.0, 1.0);  // of what is not finite

bool has(uint flag) { return ((draw.flags | hidden_zero) & flag) != 0u; }
bool is_mode(uint mode) { return (draw.mode | hidden_zero) == mode; }
// True if this element is not drawn.
bool left_out(uint element) {
    const int only = draw.only | int(hidden_zero);
    return only >= 0 && uint(only) != element;
}
bool is_flat() { return (scene.flags.x | hidden_zero) != 0u; }
bool is_perspective() { return scene.eye.w + float(hidden_zero) > 0.5; }

// The distance of a place before the slice, m.
float before_slice(vec3 p) { return dot(scene.slice.xyz, p) - scene.slice.w; }
bool cut_away(vec3 p) { return sliced && before_slice(p) > 0.0 && !has(uncut); }

bool finite(float x) { return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u; }
bool finite(vec3 x) { return finite(x.x) && finite(x.y) && finite(x.z); }

// An f64 as the f32 nearest to it (ties to even), from its two halves. Too small ones become 0.
float narrowed(uint low, uint high) {
    const uint sign_bit = high & 0x80000000u;
    const int exponent = int((high >> 20) & 0x7ffu) - 1023;
    if (exponent == 1024) {
        const bool nan = ((high & 0xfffffu) | low) != 0u;
        return uintBitsToFloat(sign_bit | (nan ? 0x7fc00000u : 0x7f800000u));
    }
    if (exponent < -126) return uintBitsToFloat(sign_bit);
    if (exponent > 127) return uintBitsToFloat(sign_bit | 0x7f800000u);
    uint bits = (uint(exponent + 127) << 23) | ((high & 0xfffffu) << 3) | (low >> 29);
    const uint rest = low & 0x1fffffffu, half_way = 0x10000000u;
    if (rest > half_way || (rest == half_way && (bits & 1u) != 0u)) bits += 1u;
    return uintBitsToFloat(sign_bit | bits);
}

float place_number(uint i) {
    if (wide) return narrowed(places[2u * i], places[2u * i + 1u]);
    return uintBitsToFloat(places[i]);
}

float value_number(uint i) {
    if (wide) return narrowed(values[2u * i], values[2u * i + 1u]);
    return uintBitsToFloat(values[i]);
}

// True if there is a number: the quiet NaN of std::numeric_limits stands for none.
bool has_number(uint i) {
    if (wide) return values[2u * i + 1u] != 0x7ff80000u || values[2u * i] != 0u;
    return values[i] != 0x7fc00000u;
}

// The number, and whether it is shown; drawables without numbers show their own color.
vec2 shown_value(uint i) {
    return has_number(i) ? vec2(value_number(i), 1.0) : vec2(0.0);
}

vec3 place_of(uint i) {
    if (has(in_plane)) return vec3(place_number(2u * i), place_number(2u * i + 1u), 0.0);
    return vec3(place_number(3u * i), place_number(3u * i + 1u), place_number(3u * i + 2u));
}

vec3 vector_of(uint i) {
    if (has(in_plane)) return vec3(value_number(2u * i), value_number(2u * i + 1u), 0.0);
    return vec3(value_number(3u * i), value_number(3u * i + 1u), value_number(3u * i + 2u));
}

// Integers that order as the floats do.
uint ordered(float x) {
    const uint bits = floatBitsToUint(x);
    return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}
float from_ordered(uint x) {
    return uintBitsToFloat((x & 0x80000000u) != 0u ? x & 0x7fffffffu : ~x);
}

#ifndef MEASURING
// The position of a number's size between `least` and `most` on a logarithmic scale, 0 .. 1.
float log_size(float size, float least, float most) {
    return size > least ? clamp(log2(size / least) / log2(most / least), 0.0, 1.0) : 0.0;
}
// As render::part_of_range.
float log_part(float value, float lowest, float highest) {
    const float low = lowest + float(hidden_zero), high = highest + float(hidden_zero);
    if (low < 0.0 && high > 0.0) {
        const float least = smallest_log_part * max(-low, high);
        const float below = log_size(-value, least, max(-low, 2.0 * least));
        const float above = log_size(value, least, max(high, 2.0 * least));
        return 0.5 + 0.5 * (value < 0.0 ? -below : above);
    }
    if (high <= 0.0)
        return 1.0 - log_size(-value, max(-high, -smallest_log_part * low), -low);
    return log_size(value, max(low, smallest_log_part * high), high);
}
vec3 color_of_value(float value) {
    if (!finite(value)) return warning_color;
    const float low = settled.color_range.x, high = settled.color_range.y;
    const float span = high - low + float(hidden_zero);
    float t = span > 0.0 ? clamp((value - low) / span, 0.0, 1.0) : 0.5;
    if (((scene.flags.y | hidden_zero) & range_log) != 0u && span > 0.0) t = log_part(value, low, high);
    return unpackUnorm4x8(colors[scene.flags.z * 256u + uint(t * 255.0 + 0.5)]).rgb;
}

// The color of value.x if value.y says that it is shown, else the drawable's own.
vec3 base_color(vec2 value) {
    return has(has_values) && value.y > 0.999 ? color_of_value(value.x) : draw.color.rgb;
}
#endif
