// Writes one frame of a trajectory into a slot of the Exchange: the channels in the stage's layout
// and type, by launches on the device that has the frames. On a CUDA device that shares memory with
// Vulkan, only numbers that are on the host are copied from it: quantities of the scene that are
// shown as colors and have changed.
#pragma once

#include <array>
#include <optional>

#include "app/exchange/transport.hpp"
#include "app/session/frames/frame_kernels.hpp"
#include "app/session/frames/scene_info.hpp"
#include "app/session/frames/trajectory.hpp"
#include "app/session/link/command.hpp"

namespace hindcast::backend::cuda {
class Semaphore;
}

namespace hindcast::session {

struct FrameInput {
    const SceneInfo* scene = nullptr;        // the trajectory's
    const Trajectory* trajectory = nullptr;  // only its members that a run does not change
    FramePointer frame, adjoint, ghost;      // the latter two may be null
    SharedValues gradient;                   // null: none
    FrameContents contents;
};

// A frame to be written into the Exchange, with owners of everything it refers to.
struct FrameJob {
    SceneInfoPointer scene;
    std::shared_ptr<Trajectory> trajectory;
    std::shared_ptr<render::Exchange> exchange;
    std::shared_ptr<const std::vector<SharedValues>> base;  // for the numbers of drawables
    SharedValues parameters;
    FrameInput input;
    // The Frame without its slot.
    render::Frame frame() const;
};

// Used only by the thread that owns the device.
class FrameWriter {
public:
    explicit FrameWriter(std::shared_ptr<Device> device);
    ~FrameWriter();

    // Writes into a free slot and publishes it. With a semaphore the device may still be writing
    // then; without one this waits for it. Throws Error, also if the slot's memory does not fit the
    // scene's stage.
    void write(const FrameJob& job);
    // The least and the largest number that colors show in that frame, over everything that is
    // drawn, as a picture of it would have them; none where nothing has a number. Waits for the
    // device. The job needs no exchange.
    std::optional<std::array<double, 2>> color_range(const FrameJob& job);
    void release();  // the exchange and all frames

private:
    friend class ChannelWriter;
    void connect(const std::shared_ptr<render::Exchange>& exchange);
    const std::vector<Array>& slot(int slot);
    // True if the device can signal the exchange's semaphore; tried with the first frame.
    bool raises();

    // The host's numbers last written to each channel, reused until their source changes.
    struct Painted {
        const SceneInfo* scene = nullptr;
        std::size_t quantity = 0;
        bool gradient = false;
        SharedValues parameters, gradients;
        std::shared_ptr<const std::vector<SharedValues>> base;
        std::map<int, Array> channels;
    };

    FrameKernels kernels_;
    std::shared_ptr<render::Exchange> exchange_;
    std::array<std::vector<Array>, 3> arrays_;  // views of its slots, by channel
    std::unique_ptr<backend::cuda::Semaphore> semaphore_;
    bool tried_ = false;
    Painted painted_;
    // Target values of fields in objectives, by channel, for the scene, parameters and base values
    // they were computed from.
    struct Targets {
        const SceneInfo* scene = nullptr;
        SharedValues parameters;
        std::shared_ptr<const std::vector<SharedValues>> base;
        std::map<int, Array> channels;
    };
    Targets targets_;
    // For the drawables of drawn_of_, by number: the ends of segments, the triangles around each
    // point.
    std::map<int, Array> ends_;
    std::map<int, FrameKernels::Means> around_;
    std::shared_ptr<const render::Stage> drawn_of_;
    // For color_range(): separate arrays in place of the slot's channels that hold colors, and
    // the ranges of elements that are drawn.
    struct Colored {
        int channel = -1;
        std::int64_t first = 0, count = 0;
    };
    std::shared_ptr<const render::Stage> measured_of_;
    std::vector<Array> measured_;
    std::vector<Colored> colored_;
};

}  // namespace hindcast::session
