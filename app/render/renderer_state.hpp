// The state of a Renderer. renderer.cpp: the public functions; record.cpp: the commands of a draw;
// pick.cpp: picking; bounds.cpp: bounds of drawables.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "app/render/camera_axes.hpp"
#include "app/render/device/exchange.hpp"
#include "app/render/draw_list.hpp"
#include "app/render/pipelines.hpp"
#include "app/render/renderer.hpp"
#include "app/render/stage_memory.hpp"
#include "app/render/targets.hpp"

namespace hindcast::render {

constexpr int shadow_map_size = 1024;

// The memory of one draw while the device works on it; there are two, in turns.
struct FrameMemory {
    vk::raii::CommandPool pool{nullptr};
    vk::raii::CommandBuffer commands{nullptr};
    vk::raii::QueryPool timestamps{nullptr};
    vk::raii::DescriptorPool sets{nullptr};
    vk::DescriptorSet view_set, lines_set;  // the pool's
    Buffer scene, lines, settled;
    std::uint64_t value = 0;  // of the timeline, when its last draw is done
    bool timed = false;
    std::string arrows;  // Frame::arrows of that draw
};

// A few pixels around the cursor: drawable, element and depth.
struct PickMemory {
    static constexpr int size = 5;
    Target ids, depth;
    vk::raii::Framebuffer framebuffer{nullptr};
    Buffer result;
};

struct Renderer::State {
    explicit State(VulkanContext& context);
    ~State();

    bool draw(const View& view);
    Image read_image();
    Pick pick(int x, int y);
    // A box around each group of drawables.
    std::optional<std::array<double, 2>> numbers_of(int drawable, const Element& element);
    std::vector<Vec3> points(std::int64_t first, std::int64_t count);  // points_of.cpp
    std::vector<std::optional<Bounds>> bounds_of(const std::vector<std::vector<int>>& groups,
                                                 const Element& part);

    // record.cpp
    void record(FrameMemory& memory, const View& view);
    // Nothing measured yet (mode 0), or all (mode 1).
    void settle(const vk::raii::CommandBuffer& commands, FrameMemory& memory, Barriers& barriers,
                std::uint32_t mode);
    void measure(const vk::raii::CommandBuffer& commands, FrameMemory& memory,
                 const Measurement& one);
    void measure_boxes(const std::vector<std::vector<Measurement>>& groups);
    void record_measurements(const vk::raii::CommandBuffer& commands, FrameMemory& memory);
    void record_normals(const vk::raii::CommandBuffer& commands, FrameMemory& memory);
    void record_shadows(const vk::raii::CommandBuffer& commands, FrameMemory& memory);
    void record_things(const vk::raii::CommandBuffer& commands, FrameMemory& memory, bool put_to);
    void record_mask(const vk::raii::CommandBuffer& commands, FrameMemory& memory,
                     const View& view);
    void record_picture(const vk::raii::CommandBuffer& commands, const View& view);
    struct How {
        Pass pass = Pass::color;
        int samples = 1;
        bool blended = false, depth_only = false, strict = false;
    };
    void record_item(const vk::raii::CommandBuffer& commands, FrameMemory& memory, const Item& item,
                     const How& how);
    void bind(const vk::raii::CommandBuffer& commands, vk::PipelineBindPoint point,
              FrameMemory& memory, int drawable, bool from_host);

    void prepare_frames();
    void prepare_targets(const View& view);
    void write_lines(FrameMemory& memory);
    void finish(FrameMemory& memory);  // reads what a done draw left for the host
    void finish_done(bool wait);       // all of them, or those that are done
    // True if there is a newer frame than the one drawn.
    bool has_newer() const { return exchange && exchange->serial() != (frame ? frame->serial : 0); }

    VulkanContext& context;
    Pipelines pipelines;
    std::array<FrameMemory, 2> frames;
    std::uint64_t drawn = 0;  // draws so far

    std::shared_ptr<SharedExchange> exchange;
    std::shared_ptr<StageMemory> stage;
    std::optional<Frame> frame;
    std::optional<View> last_view;
    bool changed = true;
    DrawList list;

    std::shared_ptr<Targets> targets;
    std::uint64_t generation = 0;
    bool put_to = false;  // true if the last draw went through `lit`
    Target shadow_map;
    vk::raii::Framebuffer shadow_framebuffer{nullptr};
    Buffer colors, measured, settled;
    std::shared_ptr<PickMemory> picking;
    Buffer readback;

    std::array<double, 2> color_range{0, 1}, measured_range{0, 1};
    Longest longest;
    Buffer boxes;        // read back by bounds_of()
    Buffer read_points;  // read back by points()
    double device_seconds = 0, record_seconds = 0;
    Counters counters;
};

}  // namespace hindcast::render
