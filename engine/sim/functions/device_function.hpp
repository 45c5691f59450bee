// A SceneFunction's calls of one kind on a CUDA device: operands and results are numbers there.
// Nothing passes through the host and nothing is waited for, so that a call can be part of a graph
// of another library (Context::Following).
//
//     DeviceFunction f(function, SceneFunction::Kind::vjp, device);   // runs once: all is made
//     const DeviceFunction::Numbers operands[] = {{x, true}, {c, true}};
//     f.put(operands, result, true);
//
// The bits are those of the SceneFunction. A run that diverges goes on to its end, and all numbers
// of its result are NaN. They are also NaN for an x that the scene cannot have: a SceneFunction
// refuses that, but a call that is part of a graph cannot. The next code that settles the device
// gets the errors of failed launches.
#pragma once

#include <array>
#include <span>

#include "engine/sim/functions/parameter_vector.hpp"
#include "engine/sim/functions/scene_function.hpp"

namespace hindcast {

class DeviceFunction {
public:
    using Kind = SceneFunction::Kind;

    // Throws Error, also for a scene that does not run at its own values.
    DeviceFunction(SceneFunction& function, Kind kind, const std::shared_ptr<Device>& device);
    DeviceFunction(const DeviceFunction&) = delete;
    DeviceFunction& operator=(const DeviceFunction&) = delete;

    // In the device's memory, f64 or f32; as many as SceneFunction::operand_sizes(kind) and
    // result_size(kind) say.
    struct Numbers {
        const std::byte* at = nullptr;
        bool is_f64 = true;
    };
    void put(std::span<const Numbers> operands, std::byte* result, bool result_is_f64);

private:
    struct Part {  // of y, or of its cotangent
        Array array;
        std::int64_t first = 0, size = 0;
        Launch::Replay packing;
    };
    void set_outputs(SceneFunction& function);
    void set_cotangents(SceneFunction& function);
    void add_loss(ParameterVector::Pick picked, std::int64_t first);
    void mark(const Array& result, const Array& flags);
    void mark_refused_values(const SimulationOptions& options);
    void run();
    Array vector(std::size_t size) const;

    Kind kind_;
    std::shared_ptr<Device> device_;
    std::unique_ptr<Simulation> simulation_;
    std::int64_t substeps_ = 1;
    RolloutMode mode_ = RolloutMode::first;
    std::array<Array, 3> operands_;  // x, a, b
    Array result_;
    ParameterVector parameters_;
    Sequence before_, after_;
    std::vector<Rollout::Seed> seeds_;
    Array offset_;  // in y, of a part of each step
    std::vector<Part> of_each_step_;
};

}  // namespace hindcast
