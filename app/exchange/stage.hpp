// The input of the renderer: plain data, no Vulkan and no physics.
//
//   Stage   the things to draw: made once for each simulation that was built
//   Frame   one moment of it: which of the shared slots holds its numbers
//   View    the way of looking at it: camera, size, switches, colors
//
// Numbers that change from frame to frame lie in channels: arrays in memory that solver and
// renderer share (transport.hpp), in the solver's layout (elements side by side, the components of
// one element together) and its real type. There are three slots, each with memory for all
// channels.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/exchange/vec3.hpp"

namespace hindcast::render {

using Color = std::array<float, 4>;  // sRGB, straight alpha, 0 .. 1

enum class RealType : std::uint8_t { f32, f64 };

struct Channel {
    std::string name;  // "position", "speed", ...
    std::int64_t elements = 0;
    int components = 1;
    std::size_t bytes(RealType real) const {
        return static_cast<std::size_t>(elements) * static_cast<std::size_t>(components) *
               (real == RealType::f32 ? 4 : 8);
    }
};

// One drawable of the stage. Its number in Stage::drawables is what picking gives.
struct Drawable {
    enum class Kind : std::uint8_t {
        points,      // balls at elements first .. first + count of the channel `places`;
                     // Frame::numbers: radius, or none for that of the drawable
        segments,    // round rods between elements of `places`; `indices`: 2 each
        surface,     // triangles between elements of `places`; `indices`: 3 each
        field,       // rows x columns scalars in the channel `values`: an image, or a height field,
                     // whose first node is at `origin`; Frame::numbers: {0}: not in this frame
        half_space,  // Frame::numbers: normal, offset (x, y, z, d)
        ball,        // Frame::numbers: center, radius
        solid,       // triangles: Frame::meshes; Frame::numbers: center, rotation by rows (12)
        box_edges,   // Frame::numbers: low, high (6)
        markers,     // Frame::numbers: 3 each: crosses of constant size on the screen
        arrows       // from the points' `places` along the channel `values` (vectors);
                     // `indices`: the order in which they are drawn, numbers from `first`, so that
                     // the first of them are spread evenly; or none: that of the elements.
                     // Frame::numbers: {0}: none in this frame; {1}: seen through all
    };
    Kind kind = Kind::points;
    std::string name;  // of the scene's object
    int places = -1;   // channel of positions, or -1
    // Channel of the numbers shown as color (1 component), or as arrows, or -1. For points and
    // arrows its elements are those of `places`.
    int values = -1;
    bool ghost = false;                 // drawn pale, under everything else, not picked
    bool measured = false;              // a ghost: at the measured place of the thing
    bool measured_partly = false;       // and parts that were not measured are as in the simulation
    std::int64_t first = 0, count = 0;  // points and arrows
    double radius = 0;                  // m; points and segments, where a frame has no other
    // As described at Kind; for a solid the elements of the positions by which it can be pulled.
    std::vector<std::uint32_t> indices;
    // Tetrahedra that a surface in space encloses, 4 corners each, in the order of the owner's
    // elements. A slice fills its cuts with these.
    std::vector<std::uint32_t> tetrahedra;
    std::vector<std::uint32_t> element_of;  // of triangle k: the element of `values`; empty: k
    // For surfaces: `values` has one number per point, not per element.
    bool values_per_point = false;
    std::int64_t rows = 0, columns = 0;
    double spacing = 0;
    Vec3 origin{};                       // m
    Color color{0.6F, 0.62F, 0.66F, 1};  // where no values are shown

    std::size_t cell_of(std::size_t triangle) const {
        return element_of.empty() ? triangle : element_of[triangle];
    }
};

// The kind of a drawable's elements, which are counted within the drawable.
enum class ElementKind : std::uint8_t {
    none,     // nothing: a plane, a ball, a frame
    point,    // 0 is the drawable's first one
    segment,  // between two points
    cell,     // the owner's element that a triangle of a surface belongs to
    node,     // of a field: row * columns + column
    marker    // one of the places
};

struct Element {
    ElementKind kind = ElementKind::none;
    std::int64_t number = -1;  // -1: the whole drawable

    bool operator==(const Element&) const = default;
};

constexpr ElementKind elements_of(Drawable::Kind kind) {
    switch (kind) {
        case Drawable::Kind::points:
        case Drawable::Kind::arrows: return ElementKind::point;
        case Drawable::Kind::segments: return ElementKind::segment;
        case Drawable::Kind::surface: return ElementKind::cell;
        case Drawable::Kind::field: return ElementKind::node;
        case Drawable::Kind::markers: return ElementKind::marker;
        case Drawable::Kind::half_space:
        case Drawable::Kind::ball:
        case Drawable::Kind::solid:
        case Drawable::Kind::box_edges: break;
    }
    return ElementKind::none;
}

struct Stage {
    int dimension = 3;  // of the places; the plane's y is drawn upwards
    RealType real = RealType::f32;
    char up = 'z';  // 3-D: the axis that points up: 'y' or 'z'
    std::vector<Channel> channels;
    std::vector<Drawable> drawables;
    // The points of each body that has some: elements first .. first + count of "position".
    struct Body {
        std::string name;
        std::int64_t first = 0, count = 0;
    };
    std::vector<Body> bodies = {};
    Vec3 low{}, high{};  // a box around everything at the start: for cameras and the grid
};

// Triangles of a rigid body in its own axes, m: three vertices each, counter-clockwise as seen from
// outside. In the plane, what covers it.
struct Mesh {
    std::vector<Vec3> places, normals;
};

struct Frame {
    int slot = -1;
    std::uint64_t serial = 0;  // grows with each published frame
    std::uint64_t ready = 0;   // value of the Exchange's semaphore when it is complete; 0: it is
    std::int64_t step = 0;
    std::int64_t iteration = -1;               // of the optimization; -1: none
    double time = 0;                           // s
    std::string arrows;                        // the field that the arrows show; empty: none
    std::vector<std::vector<double>> numbers;  // for each drawable; empty where its kind has none
    std::vector<std::shared_ptr<const Mesh>> meshes;  // as `numbers`, or none at all
};

// A place of a mesh where a solid is, by its numbers.
inline Vec3 placed(const std::vector<double>& numbers, const Vec3& p) {
    Vec3 x{};
    for (std::size_t r = 0; r < 3; ++r) {
        x[r] = numbers[r];
        for (std::size_t c = 0; c < 3; ++c) x[r] += numbers[3 + 3 * r + c] * p[c];
    }
    return x;
}

// The radius of the balls of drawable `number` at that moment, m.
inline double radius_in(const Drawable& drawable, int number, const Frame& frame) {
    const auto n = static_cast<std::size_t>(number);
    const bool own = drawable.kind == Drawable::Kind::points && n < frame.numbers.size() &&
                     !frame.numbers[n].empty();
    return own ? frame.numbers[n][0] : drawable.radius;
}

struct Camera {
    Vec3 eye{3, 3, 2}, target{0, 0, 0}, up{0, 0, 1};
    double field_of_view = 40;  // degrees, vertical
    bool orthographic = false;
    double height = 2;  // m that are seen from top to bottom, orthographic

    bool operator==(const Camera&) const = default;
};

enum class ColorMap : std::uint8_t {
    viridis,
    magma,
    turbo,
    coolwarm,
    cubehelix,
    gray,
    purple_orange
};
constexpr std::size_t color_maps = 7;
// From one color through a light middle to another: for numbers of both signs.
constexpr bool is_diverging(ColorMap map) {
    return map == ColorMap::coolwarm || map == ColorMap::purple_orange;
}

// On a logarithmic scale a range of one sign shows at most so much of its larger end, one of both
// signs so much of its larger end on either side; what is smaller has the color of 0.
constexpr double smallest_log_part = 1e-4;

struct Bounds {
    Vec3 low{}, high{};  // m
};

struct Label {
    Vec3 place{};
    std::string text;
    Color color{1, 1, 1, 1};

    bool operator==(const Label&) const = default;
};

// Hides everything on the side of the plane that its normal points to: normal . x > offset.
struct Slice {
    Vec3 normal{1, 0, 0};  // of any length but 0
    double offset = 0;     // m, where the normal has length 1

    bool operator==(const Slice&) const = default;
};

// The thickness of segments: their radius in m, or in pixels; both 0: that of the drawable.
struct Tubes {
    double radius = 0, pixels = 0;

    bool operator==(const Tubes&) const = default;
};

struct View {
    int width = 1280, height = 720, samples = 4;  // samples per pixel: 1 or 4
    Camera camera;
    Color background_top{0.16F, 0.18F, 0.21F, 1}, background_bottom{0.09F, 0.10F, 0.12F, 1};
    bool floor = true, shadows = true, ambient_occlusion = true, dark = true;
    ColorMap map = ColorMap::viridis;
    bool symmetric = false;                      // the automatic range is -m .. m
    std::optional<std::array<double, 2>> range;  // none: from least to largest of what is shown
    bool log_colors = false;                     // colors by the logarithm of numbers
    bool heights = false;                        // fields as height fields instead of images
    double height_scale = 1;                     // m per unit of a field
    double arrow_scale = 1;                      // m per unit of a vector
    bool arrow_log = false;          // length by the logarithm: arrow_scale meters for the longest,
                                     // nothing for a millionth of it
    std::int64_t most_arrows = 400;  // of a drawable; where there are more, so many, spread evenly
    std::vector<bool> hidden;        // by number of the drawable; shorter: the rest is shown
    int selected_drawable = -1;      // outlined
    std::int64_t selected_element = -1;  // of it (Element::number), or -1: all of it
    bool trails = false;
    std::vector<std::vector<Vec3>> trail_lines;
    std::vector<Label> labels;
    bool smooth_fields = false;  // images of fields: values between the nodes are interpolated
    bool edges = false;          // of the triangles of surfaces
    Tubes tubes;
    std::optional<Slice> slice;  // in space: of everything but ground, grid, targets and trails

    bool operator==(const View&) const = default;
};

// An 8-bit RGBA picture, rows from the top.
struct Image {
    int width = 0, height = 0;
    std::vector<std::uint8_t> pixels;
};

struct Pick {
    int drawable = -1;  // -1: nothing there
    Element element;
    Vec3 place{};  // on its surface, m
};

}  // namespace hindcast::render
