// Launches in a row as a function between arrays, with its derivatives: what hindcast.jax.kernel
// and hindcast.jax.callable are.
//
// The launches work on buffers. A buffer begins with an operand or with constants, launches change
// it, and it may be a result. For each kind of call the launches are recorded once, over arrays of
// their own; a call copies its operands in, runs, and copies its results out.
//
//     value, jvp, jvp2   forward, tangent, tangent_tangent of each launch, in order and in place
//     vjp, hvp           forward, tangent of each launch, in order; then adjoint, adjoint_tangent in
//                        reverse. A launch that changes a buffer changes a copy of it, so that all
//                        old values are there for the way back.
//
// Calls may come from any thread. Each takes an idle recording, or makes another: there are as many
// as calls ran at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "app/python/src/calls/device_recordings.hpp"
#include "engine/runtime/launch/launch.hpp"

namespace hindcast::python {

class KernelFunction {
public:
    enum class Kind : std::uint8_t { value, jvp, vjp, hvp, jvp2 };
    static constexpr int kinds = 5;

    // An operand or a result outside: scalars of this type, C-contiguous.
    struct Outside {
        ir::Type type = ir::Type::none;
        std::int64_t size = 0;
        std::size_t bytes() const { return static_cast<std::size_t>(size) * ir::size_of(type); }
    };
    struct Buffer {
        std::string name;
        ir::Type type = ir::Type::none;  // in memory
        std::int64_t elements = 0;
        int components = 1;
        int operand = -1;              // that it begins with: an index into inputs or, if it holds
                                       // integers, constants; -1: `start`
        std::vector<std::byte> start;  // of the type in memory: all scalars, or one for all, or
                                       // none for zeros
        std::int64_t size() const { return elements * components; }
    };
    struct Call {
        lang::KernelDef kernel;
        std::int64_t items = 0;
        std::vector<int> buffers;  // per parameter
        std::vector<int> shared;   // per parameter: a Property of one value
        std::vector<int> defines;  // per parameter: leaves nothing of the old values
        bool checks_indices = true;
    };
    struct Parts {
        std::shared_ptr<Device> device;
        ir::Precision precision = ir::Precision::f32;
        std::vector<Outside> inputs, constants, outputs, others;
        std::vector<int> output_buffers, other_buffers;
        std::vector<Buffer> buffers;
        std::vector<Call> calls;
    };

    // Records the value: throws Error for what a launch refuses.
    explicit KernelFunction(Parts parts);
    ~KernelFunction();
    KernelFunction(const KernelFunction&) = delete;
    KernelFunction& operator=(const KernelFunction&) = delete;
    static std::int64_t alive();

    // Makes sure that there is a recording of that kind.
    void prepare(Kind kind);
    // The same for programs on a CUDA device. True: their calls can be captured into a graph.
    bool prepare_on(const std::shared_ptr<Device>& device, Kind kind);
    // For a program: one for each device that was prepared.
    std::map<int, std::unique_ptr<DeviceRecording>> take_prepared(Kind kind);
    // One for a program. The function outlives it.
    std::unique_ptr<DeviceRecording> record_on(const std::shared_ptr<Device>& device,
                                               Kind kind) const;

    // In the order of the call: x, then t or c, then u, then the constants.
    const std::vector<Outside>& operands(Kind kind) const { return operands_[index(kind)]; }
    const std::vector<Outside>& results(Kind kind) const { return results_[index(kind)]; }

    class Recording;
    // One more, that its owner works with alone. Throws Error.
    std::unique_ptr<Recording> record(Kind kind, const std::shared_ptr<Device>& device) const;

    // One call, or many with one recording. Throws Error. Results may have the memory of operands.
    class Lease {
    public:
        Lease(KernelFunction& function, Kind kind);
        ~Lease();  // gives the recording back, unless a call of it threw
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        void run(const std::byte* const* operands, std::byte* const* results);

    private:
        KernelFunction& function_;
        Kind kind_;
        std::unique_ptr<Recording> recording_;
    };

private:
    static std::size_t index(Kind kind) { return static_cast<std::size_t>(kind); }
    const Parts parts_;
    std::vector<Outside> operands_[kinds], results_[kinds];
    std::mutex mutex_;
    std::vector<std::unique_ptr<Recording>> idle_[kinds];
    PreparedRecordings prepared_[kinds];
};

// Null: its owner is gone.
std::shared_ptr<KernelFunction> find_kernel_function(std::int64_t number);

}  // namespace hindcast::python
