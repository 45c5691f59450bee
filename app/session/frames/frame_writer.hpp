// Writes one moment of a trajectory into a slot of the Exchange: the channels in the stage's
// layout and type, by launches on the device that has the frames. On a CUDA device whose memory
// Vulkan exported nothing goes by way of the host but numbers that only the host has: quantities of
// the scene, when they are shown as colours and have changed.
#pragma once

#include <array>
#include <optional>

#include "app/exchange/transport.hpp"
#include "app/session/command.hpp"
#include "app/session/frames/frame_kernels.hpp"
#include "app/session/frames/trajectory.hpp"
#include "app/session/frames/world.hpp"

namespace hindcast::backend::cuda {
class Semaphore;
}

namespace hindcast::session {

struct FrameTime {
    const World* world = nullptr;            // the trajectory's
    const Trajectory* trajectory = nullptr;  // only what does not change while its run goes on
    FramePointer frame, adjoint, ghost;      // the latter two may be null
    Numbers gradient;                        // null: none
    Look look;
};

// A moment on its way into the Exchange, with what keeps it.
struct FrameJob {
    WorldPointer world;
    std::shared_ptr<Trajectory> trajectory;
    std::shared_ptr<render::Exchange> exchange;
    std::shared_ptr<const std::vector<Numbers>> base;  // of the numbers of things
    Numbers parameters;
    FrameTime moment;
    // All of Frame but the slot.
    render::Frame frame() const;
};

// Belongs to the thread whose device it is.
class FrameWriter {
public:
    explicit FrameWriter(std::shared_ptr<Device> device);
    ~FrameWriter();

    // Into a free slot, which is then published. With a semaphore the device may still be writing;
    // without one it is waited for. Throws Error, also if the slot's memory is not
    // that of the world's stage.
    void write(const FrameJob& job);
    void let_go();  // of the exchange, of all frames

private:
    friend class ChannelWriter;
    void connect(const std::shared_ptr<render::Exchange>& exchange);
    const std::vector<Array>& slot(int slot);
    // Whether the device raises the exchange's semaphore: tried with the first frame.
    bool raises();

    // Numbers of the host that were shown last, by channel: until what they come from changes.
    struct Painted {
        const World* world = nullptr;
        std::size_t quantity = 0;
        bool gradient = false;
        Numbers parameters, gradients;
        std::shared_ptr<const std::vector<Numbers>> base;
        std::map<int, Array> channels;
    };

    FrameKernels kernels_;
    std::shared_ptr<render::Exchange> exchange_;
    std::array<std::vector<Array>, 3> arrays_;  // over its slots, by channel
    std::unique_ptr<backend::cuda::Semaphore> semaphore_;
    bool tried_ = false;
    Painted painted_;
    std::map<int, Array> ends_;  // of the segments of a channel, of ends_of_
    std::shared_ptr<const render::Stage> ends_of_;
};

}  // namespace hindcast::session
