// Writes the frame shown into the Exchange. If the frames are in memory of a CUDA device, the
// runner writes them, because it owns that device: then it is asked to (FrameRequests).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/session/frames/frame_writer.hpp"
#include "app/session/threads/playback/cursor.hpp"

namespace hindcast::session {

class FrameOutput {
public:
    // `solver`: the runner's device.
    FrameOutput(SharedState& shared, const Cursor& cursor, const Device& solver);

    // Null: the runner writes the frames.
    FrameWriter* writer() { return writer_ ? &*writer_ : nullptr; }
    void show_on(std::shared_ptr<render::Exchange> exchange);
    // True if a frame was written here. Opens the lock while it writes.
    bool write(Lock& lock);
    // True if frames of the scene shown fit into the Exchange, as far as is known.
    bool can_show() const { return exchange_ && fits_; }
    // True if that frame, with the contents asked for, is not in the Exchange yet.
    bool lags(const FramePointer& frame) const;

private:
    // The last frame written. Another is written when one of these differs.
    struct Written {
        FramePointer frame, adjoint, ghost;
        const Trajectory* trajectory = nullptr;
        const void *base = nullptr, *parameters = nullptr, *gradient = nullptr;
        render::Exchange* exchange = nullptr;
        std::string color, arrows;
        bool operator==(const Written&) const = default;
    };

    bool fits();
    // None: there is no frame at the cursor.
    std::optional<FrameJob> next_job() const;

    SharedState& shared_;
    const Cursor& cursor_;
    std::optional<FrameWriter> writer_;
    std::shared_ptr<render::Exchange> exchange_;
    std::shared_ptr<const render::Stage> checked_stage_;  // the stage that fits_ is about
    bool fits_ = false;
    Written written_;
};

}  // namespace hindcast::session
