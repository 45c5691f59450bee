#include "engine/sim/ensembles/copies.hpp"
#include "engine/backend/executable.hpp"
#include "engine/base/thread_pool.hpp"

#include <algorithm>

namespace hindcast {

Copies::Copies(Simulation& simulation, std::size_t most) {
    SimulationOptions options = simulation.options();
    DeviceOptions device = options.device->options();
    if (device.kind != DeviceKind::cpu) throw Error("the device is not the CPU");
    if (simulation.rollout().starts_at_horizon()) throw Error("its runs begin at a horizon");
    const std::size_t count = std::min(most, static_cast<std::size_t>(device.threads));
    if (count < 2) throw Error(device.threads < 2 ? "there is one thread" : "there is one member");
    const std::int64_t limit = simulation.rollout().memory_limit();
    const std::int64_t left = std::max<std::int64_t>(limit - simulation.rollout().kept_bytes(), 0);
    options.gradient_memory =
        limit == MemoryBudget::unlimited ? limit : left / static_cast<std::int64_t>(count);
    device.threads = 1;
    list_.resize(count);
    ThreadPool* const pool = simulation.options().device->run_options().pool;
    const auto make = [&](int k) {
        SimulationOptions own = options;
        own.device = std::make_shared<Device>(device);
        auto& copy = list_[static_cast<std::size_t>(k)];
        copy = simulation.copy(own);
        copy->rollout().set_horizon(simulation.rollout().horizon());
    };
    pool->run(static_cast<int>(count), make);
}

void Copies::plan_gradients() {
    for (const auto& copy : list_) copy->rollout().plan();
}

}  // namespace hindcast
