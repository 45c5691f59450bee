// Draws a Stage with Vulkan into an image of its own: the same for a window and without one.
//
//     VulkanContext context({});
//     Renderer renderer(context);
//     auto exchange = renderer.share(stage, std::nullopt);    // given to the simulation thread
//     renderer.draw(view);                                     // the latest frame
//     Image image = renderer.read_image();
//
// All functions belong to one thread, but those of the Exchange that are the writer's.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "app/exchange/transport.hpp"

namespace hindcast::render {

class VulkanContext;  // vulkan_context.hpp: instance, device, queue, timeline, deletion queue

class Renderer {
public:
    explicit Renderer(VulkanContext& context);
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    // From the next draw() on this stage is drawn; the exchange before it must have no writer left
    // (its memory lives until released). Without a kind the best one that works on this device for
    // a solver on the CPU is taken, or `exported` if `cuda_uuid` is that of this Vulkan device.
    // Throws Error if the kind asked for cannot be had.
    std::shared_ptr<Exchange> share(
        std::shared_ptr<const Stage> stage, std::optional<TransportKind> kind,
        const std::optional<std::array<std::uint8_t, 16>>& cuda_uuid = {});

    // Records and submits the drawing of the latest frame (or the background, if there is none).
    // False: nothing has changed since the last draw, and nothing was submitted.
    bool draw(const View& view);
    // The frame that was drawn last.
    const std::optional<Frame>& frame() const;
    // True if a newer frame is available.
    bool has_newer() const;
    // Waits for the last draw if there is a newer frame, as draw() would do anyway. Call it before
    // composing the display beside the picture, so that both show the same moment.
    void finish_drawing();

    // Waits for the last draw.
    Image read_image();
    // Draws the newest frame, also one that is still on its way, and waits for the picture.
    Image picture(const View& view);
    Pick pick(int x, int y);  // in pixels of the last draw, from the top left
    // The range of colors in use in the last draw that has finished: for the color bar.
    std::array<double, 2> color_range() const;
    // The longest arrow in the last draw that has finished, in the unit of its field
    // (Frame::arrows); 0 where there are none. Also without View::arrow_log.
    struct Longest {
        std::string arrows;
        double length = 0;
    };
    Longest longest_arrow() const;
    // The box around these drawables at the moment drawn last, measured on the device. `part`
    // chooses an element of each, if they have elements of that kind. None if they have no places:
    // planes, and what is not finite. Waits for the device.
    std::optional<Bounds> bounds_of(const std::vector<int>& drawables, const Element& part = {});
    // A box around each of these drawables, in one go.
    std::vector<std::optional<Bounds>> bounds_of_each(const std::vector<int>& drawables);
    // The least and the largest number by which that element was colored in the last draw: of an
    // element of a surface that has its colors at its corners, those of the corners; else both are
    // the same. None where it has the drawable's own color. Waits for the device.
    std::optional<std::array<double, 2>> numbers_of(int drawable, const Element& element);
    // The places (m) of `count` points from number `first` on in the frame drawn last; z is 0 in
    // the plane. Fewer, or none, if there are not so many. Waits for the device if it alone can
    // read them (TransportKind::exported).
    std::vector<Vec3> points(std::int64_t first = 0,
                             std::int64_t count = std::numeric_limits<std::int64_t>::max());
    // The place of one point; none if it does not exist.
    std::optional<Vec3> point(std::int64_t number);
    // Seconds the device took for the last finished draw, by timestamps; 0 if not supported.
    double device_seconds() const;
    // Seconds this thread took to work out and record the last draw.
    double record_seconds() const;

    struct Counters {
        std::uint64_t frames = 0, host_bytes_copied = 0;  // by the staging transport
    };
    Counters counters() const;

    // For the window: the color image as a texture. VkImageView and VkSampler, as what
    // imgui_impl_vulkan takes; the view changes with the size (compare `generation`).
    struct Texture {
        void* view = nullptr;
        void* sampler = nullptr;
        std::uint64_t generation = 0;
        int width = 0, height = 0;
    };
    Texture texture() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Orbit, pan and zoom as the user's mouse does them, and framing: pure functions of a camera.
void orbit(Camera& camera, double right_degrees, double up_degrees);
void pan(Camera& camera, double right_pixels, double up_pixels, int view_height);
void zoom(Camera& camera, double factor, double cursor_x, double cursor_y,
          double aspect);  // -1 .. 1
// The whole box in view, from where the camera stands.
void frame_box(Camera& camera, const Vec3& low, const Vec3& high, double aspect);
Camera default_camera(const Stage& stage, double aspect);
// From that side of what is looked at, as far away as before. `up` is the axis that points up in
// the scene, 'y' or 'z'; seen from the front, x points to the right.
enum class Side : std::uint8_t { front, back, right, left, top, bottom };
void look_from(Camera& camera, Side side, char up);
// The target keeps its size in the picture.
void set_orthographic(Camera& camera, bool on);
// Column-major 4x4, Vulkan's clip space (depth 0 .. 1, y down).
std::array<double, 16> view_matrix(const Camera& camera);
std::array<double, 16> projection_matrix(const Camera& camera, double aspect);
// From pixels to a ray in the world, and from a place to pixels (none if behind the eye).
struct Ray {
    Vec3 origin{}, direction{};
};
Ray ray_through(const Camera& camera, double x, double y, int width, int height);
std::optional<std::array<double, 2>> project(const Camera& camera, const Vec3& place, int width,
                                             int height);

}  // namespace hindcast::render
