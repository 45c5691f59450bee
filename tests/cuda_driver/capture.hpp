// Capturing streams into a graph. What is put in a captured stream becomes a node that depends on
// the stream's frontier; an event recorded there carries the frontier into streams that wait for
// it, which are captured from then on and have to be joined to the first one before it ends.
#pragma once

#include <memory>
#include <vector>

#include "tests/cuda_driver/context.hpp"

namespace software_cuda {

struct Capture {
    const Stream* origin = nullptr;
    std::shared_ptr<GraphNodes> nodes = std::make_shared<GraphNodes>();
    std::vector<std::shared_ptr<Stream>> members;
    bool invalid = false, ended = false;
};

// All return the driver's result.
int begin_capture(const std::shared_ptr<Stream>& stream);
int capture_work(Stream& stream, Work work);
int capture_wait(const std::shared_ptr<Stream>& stream, const Event& event);
int end_capture(Stream& stream, std::shared_ptr<const GraphNodes>& nodes);
// A call that no captured stream can have.
int refuse_in_capture(Stream& stream);
// A call that waits for all streams, or for the default one.
int refuse_while_capturing(Context& context, bool blocking_only, int result);

// Whether a graph has the shape of another, with only addresses, values and sizes changed. 0, or
// NVIDIA's reason and the place of the node that differs.
int compare_graphs(const GraphNodes& old, const GraphNodes& changed, std::size_t& where);

}  // namespace software_cuda
