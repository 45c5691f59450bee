// Writes one moment of a trajectory into a slot of the Exchange: the channels in the stage's
// layout and type, through memory of the host.
#pragma once

#include "app/render/transport.hpp"
#include "app/session/command.hpp"
#include "app/session/trajectory.hpp"
#include "app/session/world.hpp"

namespace hindcast::session {

struct Moment {
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
    Moment moment;
    // All of Frame but the slot.
    render::Frame frame() const;
};

// Into a free slot of memory of the host, which is then published. Throws Error.
void write_frame(const FrameJob& job);

// Throws Error if the slot's memory is not that of the world's stage.
void write_channels(const Moment& moment, const std::vector<render::SharedMemory>& slot);

}  // namespace hindcast::session
