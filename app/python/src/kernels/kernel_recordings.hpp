// One recording of a kernel function: its launches over arrays of their own, for one kind of call,
// on one device.
#pragma once

#include "app/python/src/kernels/kernel_transfers.hpp"

namespace hindcast::python {

class KernelFunction::Recording {
public:
    Recording(const Parts& parts, Kind kind, std::shared_ptr<Device> device);
    // Operands and results are where the arrays are. On a CUDA device nothing waits, unless indices
    // are read; all of it goes to the stream that the context follows.
    void run(const KernelFunction& function, const std::byte* const* operands,
             std::byte* const* results);

private:
    // Copies the numbers of an operand into an array, or those of an array out.
    struct Load {
        int operand = 0;
        Array to;
    };
    struct Store {
        int result = 0;
        std::vector<Array> from;  // their sum
    };
    struct Start {
        Array to, from;
    };
    // to = from or, on the way back, from's gradient to that of `to`.
    struct Pass {
        Array to, from;
    };
    struct Step {
        std::vector<Pass> before, behind;
        Launch::Replay forward, backward;
    };

    void add_call(const Parts& parts, const Call& call);
    void load_operands(const Parts& parts);
    void store_results(const Parts& parts);
    bool goes_back() const { return kind_ == Kind::vjp || kind_ == Kind::hvp; }
    bool has_tangents() const { return kind_ != Kind::value && kind_ != Kind::vjp; }

    Kind kind_;
    std::shared_ptr<Device> device_;
    Transfers transfers_;
    std::vector<std::vector<Array>> versions_;  // per buffer; one, unless the call goes back
    std::vector<char> changed_;                 // per buffer: by a launch
    std::vector<Load> loads_, seeds_;
    std::vector<Array> zeros_, gradient_zeros_;  // before the way there and the way back
    std::vector<Start> starts_;
    std::vector<Step> steps_;
    std::vector<Store> stores_;
};

}  // namespace hindcast::python
