// The box around drawables as they were drawn last, and the numbers of one element. Places that the solver wrote are measured where
// they lie, by measure.comp; what the host knows, it adds.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "app/render/renderer_state.hpp"

namespace hindcast::render {

namespace {

// As `ordered` in shaders/include/scene.glsl made it.
float from_ordered(std::uint32_t x) {
    return std::bit_cast<float>((x & 0x80000000U) != 0 ? x & 0x7fffffffU : ~x);
}

class Box {
public:
    void add(const Vec3& place) {
        for (const double x : place)
            if (!std::isfinite(x)) return;
        for (std::size_t c = 0; c < 3; ++c) {
            box_.low[c] = std::min(box_.low[c], place[c]);
            box_.high[c] = std::max(box_.high[c], place[c]);
        }
    }
    void add(const Vec3& center, double radius) {
        for (const double r : {-radius, radius}) add({center[0] + r, center[1] + r, center[2] + r});
    }
    std::optional<Bounds> get() const {
        return box_.low[0] <= box_.high[0] ? std::optional(box_) : std::nullopt;
    }

private:
    static constexpr double far = std::numeric_limits<double>::infinity();
    Bounds box_{{far, far, far}, {-far, -far, -far}};
};

// Adds the bounds that the host knows: obstacles, targets, grids.
void add_known(Box& box, const Drawable& drawable, const std::vector<double>& numbers,
               const Mesh* mesh, const Element& part, const std::array<double, 2>& heights) {
    const bool chosen = part.number >= 0 && part.kind == elements_of(drawable.kind);
    switch (drawable.kind) {
        case Drawable::Kind::ball:
            if (numbers.size() >= 4) box.add({numbers[0], numbers[1], numbers[2]}, numbers[3]);
            break;
        case Drawable::Kind::solid:
            if (mesh == nullptr || numbers.size() < 12) break;
            for (const Vec3& p : mesh->places) box.add(placed(numbers, p));
            break;
        case Drawable::Kind::box_edges:
        case Drawable::Kind::markers:
            for (std::size_t k = 0; 3 * k + 2 < numbers.size(); ++k)
                if (!chosen || static_cast<std::int64_t>(k) == part.number)
                    box.add({numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]});
            break;
        case Drawable::Kind::field: {
            const std::int64_t columns = std::max<std::int64_t>(drawable.columns, 1);
            const auto at = [&](std::int64_t row, std::int64_t column, double z) {
                box.add({drawable.origin[0] + static_cast<double>(row) * drawable.spacing,
                         drawable.origin[1] + static_cast<double>(column) * drawable.spacing, z});
            };
            for (const double z : heights)
                if (chosen) {
                    at(part.number / columns, part.number % columns, z);
                } else {
                    at(0, 0, z);
                    at(drawable.rows - 1, drawable.columns - 1, z);
                }
            break;
        }
        default: break;
    }
}

// Adds the measurements that the device must make: places by their numbers, or by the indices of
// lines and triangles.
void add_measurements(std::vector<Measurement>& all, const Stage& stage, const Frame& frame,
                      int number, const Element& part) {
    const Drawable& drawable = stage.drawables[static_cast<std::size_t>(number)];
    const bool chosen = part.number >= 0 && part.kind == elements_of(drawable.kind);
    const auto add = [&](std::uint32_t mode, std::int64_t first, std::int64_t count) {
        Measurement one;
        one.drawable = number;
        one.constants.mode = mode;
        one.constants.first = static_cast<std::uint32_t>(first);
        one.constants.count = static_cast<std::uint32_t>(count);
        one.constants.radius = static_cast<float>(radius_in(drawable, number, frame));
        one.constants.flags = stage.dimension == 2 ? in_plane : 0U;
        all.push_back(one);
    };
    const auto indices = static_cast<std::int64_t>(drawable.indices.size());
    switch (drawable.kind) {
        case Drawable::Kind::points:
            if (!chosen)
                add(2, drawable.first, drawable.count);
            else if (part.number < drawable.count)
                add(2, drawable.first + part.number, 1);
            break;
        case Drawable::Kind::segments:
            if (!chosen)
                add(3, 0, indices);
            else if (2 * part.number < indices)
                add(3, 2 * part.number, 2);
            break;
        case Drawable::Kind::surface:
            for (std::int64_t t = 0; chosen && t < indices / 3; ++t)
                if (static_cast<std::int64_t>(drawable.cell_of(static_cast<std::size_t>(t))) ==
                    part.number)
                    add(3, 3 * t, 3);
            if (!chosen) add(3, 0, indices);
            break;
        default: break;
    }
}

// Adds the measurement of the numbers that an element is colored by.
void add_numbers(std::vector<Measurement>& all, const Drawable& drawable, int number,
                 std::int64_t element) {
    const auto add = [&](std::int64_t first) {
        Measurement one;
        one.drawable = number;
        one.constants.mode = 0;
        one.constants.first = static_cast<std::uint32_t>(first);
        one.constants.count = 1;
        all.push_back(one);
    };
    if (drawable.kind == Drawable::Kind::points) {
        add(drawable.first + element);
    } else if (drawable.kind == Drawable::Kind::surface && drawable.values_per_point) {
        for (std::size_t k = 0; k < drawable.indices.size(); ++k)
            if (static_cast<std::int64_t>(drawable.cell_of(k / 3)) == element)
                add(drawable.indices[k]);
    } else {
        add(element);
    }
}

}  // namespace

std::optional<std::array<double, 2>> Renderer::State::numbers_of(int drawable,
                                                                 const Element& element) {
    const auto n = static_cast<std::size_t>(drawable);
    if (!exchange || !frame || !last_view || drawable < 0 ||
        n >= exchange->stage().drawables.size())
        return std::nullopt;
    const Drawable& shown = exchange->stage().drawables[n];
    if (shown.values < 0 || shown.kind == Drawable::Kind::arrows || element.number < 0 ||
        element.kind != elements_of(shown.kind))
        return std::nullopt;
    return context.state().guarded([&]() -> std::optional<std::array<double, 2>> {
        finish_done(true);
        std::vector<std::vector<Measurement>> groups(1);
        add_numbers(groups[0], shown, drawable, element.number);
        if (groups[0].empty()) return std::nullopt;
        measure_boxes(groups);
        const auto* const found = boxes.as<std::uint32_t>();
        if (found[0] > found[1]) return std::nullopt;
        return std::array{static_cast<double>(from_ordered(found[0])),
                          static_cast<double>(from_ordered(found[1]))};
    });
}

std::vector<std::optional<Bounds>> Renderer::State::bounds_of(
    const std::vector<std::vector<int>>& groups, const Element& part) {
    std::vector<std::optional<Bounds>> found(groups.size());
    if (!exchange || !frame || !last_view) return found;
    return context.state().guarded([&] {
        const Stage& shown = exchange->stage();
        finish_done(true);
        std::array<double, 2> heights{0, 0};
        if (last_view->heights)
            for (std::size_t k = 0; k < 2; ++k)
                heights[k] = measured_range[k] * last_view->height_scale;
        std::vector<Box> around(groups.size());
        std::vector<std::vector<Measurement>> measurements(groups.size());
        bool any = false;
        static const std::vector<double> none;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            for (const int number : groups[g]) {
                const auto n = static_cast<std::size_t>(number);
                if (number < 0 || n >= shown.drawables.size()) continue;
                add_known(around[g], shown.drawables[n],
                          n < frame->numbers.size() ? frame->numbers[n] : none,
                          n < frame->meshes.size() ? frame->meshes[n].get() : nullptr, part,
                          heights);
                add_measurements(measurements[g], shown, *frame, number, part);
            }
            any = any || !measurements[g].empty();
        }
        if (any) measure_boxes(measurements);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (!measurements[g].empty()) {
                // low, high, longest, unused, box_low[4], box_high[4]
                const auto* const measured_box =
                    boxes.as<std::uint32_t>() + g * measured_bytes / sizeof(std::uint32_t);
                if (measured_box[4] <= measured_box[8])
                    for (const std::size_t at : {4UL, 8UL})
                        around[g].add({static_cast<double>(from_ordered(measured_box[at])),
                                       static_cast<double>(from_ordered(measured_box[at + 1])),
                                       static_cast<double>(from_ordered(measured_box[at + 2]))});
            }
            found[g] = around[g].get();
        }
        return found;
    });
}

// Group after group in the one place that measure.comp writes to, each copied from there.
void Renderer::State::measure_boxes(const std::vector<std::vector<Measurement>>& groups) {
    const vk::DeviceSize bytes = measured_bytes * groups.size();
    if (boxes.size() < bytes) {
        retire(context, boxes);
        boxes = Buffer(context, bytes, vk::BufferUsageFlagBits::eTransferDst, Residence::readback,
                       "boxes around things");
    }
    FrameMemory& memory = frames[(drawn + frames.size() - 1) % frames.size()];
    run_once(context, "boxes around things", [&](const vk::raii::CommandBuffer& commands) {
        Barriers barriers;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (groups[g].empty()) continue;
            settle(commands, memory, barriers, 0);
            barriers.use(*measured, measured.state(), Use::compute_write);
            barriers.record(commands);
            for (const Measurement& one : groups[g]) measure(commands, memory, one);
            barriers.use(*measured, measured.state(), Use::transfer_read);
            barriers.use(*boxes, boxes.state(), Use::transfer_write);
            barriers.record(commands);
            commands.copyBuffer(*measured, *boxes,
                                vk::BufferCopy(0, g * measured_bytes, measured_bytes));
        }
        barriers.use(*boxes, boxes.state(), Use::host_read);
        barriers.record(commands);
    });
}

}  // namespace hindcast::render
