#include "engine/sim/variation.hpp"

#include <algorithm>
#include <string>

#include "engine/ad/activity.hpp"
#include "engine/ir/memory_type.hpp"

namespace hindcast {

namespace {

bool real_argument(const Launch& launch, std::size_t p) {
    return ir::is_real(launch.kernel().parameters[p].type) && launch.arguments()[p].is_array() &&
           launch.arrays()[p].elements() > 0;
}

// The parameters that hold, after the launch, what depends on those that vary before it.
std::vector<char> varying_outputs(const ir::Kernel& kernel, const std::vector<char>& inputs) {
    std::vector<char> outputs(inputs.size(), 0);
    if (kernel.is_host_function || kernel.has_exclusive()) {
        const bool any = std::ranges::find(inputs, 1) != inputs.end();
        for (std::size_t p = 0; p < outputs.size(); ++p)
            outputs[p] = any && !ir::only_reads(kernel.parameters[p].access);
        return outputs;
    }
    const ad::Activity activity(kernel, inputs);
    for (const ir::Op& op : kernel.ops) {
        const bool store = op.code == ir::OpCode::own_store || op.code == ir::OpCode::accumulate ||
                           op.code == ir::OpCode::store_once;
        if (!store && op.code != ir::OpCode::reduce) continue;
        if (activity.varied(op.operand[store ? 1 : 0]))
            outputs[static_cast<std::size_t>(op.symbol)] = 1;
    }
    return outputs;
}

// A launch, and what varied among its inputs when it was looked at last.
struct Flow {
    Launch launch;
    std::vector<char> inputs = {};

    // Adds what varies through this launch; whether that is new.
    bool pass_on(Varying& varies) {
        const std::vector<Array>& arrays = launch.arrays();
        std::vector<char> now(arrays.size(), 0);
        for (std::size_t p = 0; p < arrays.size(); ++p)
            now[p] = real_argument(launch, p) && varies.contains(arrays[p].data());
        if (now == inputs) return false;
        inputs = now;
        const std::vector<char> outputs = varying_outputs(launch.kernel(), inputs);
        bool more = false;
        for (std::size_t p = 0; p < arrays.size(); ++p)
            if (outputs[p] != 0 && real_argument(launch, p))
                more |= varies.insert(arrays[p].data()).second;
        return more;
    }
};

}  // namespace

void differentiate_what_varies(const std::vector<Program>& programs, Varying varies) {
    std::vector<Flow> flows;
    std::set<const void*> seen;
    for (const Program& program : programs)
        for (const Launch& launch : program.launches())
            if (seen.insert(&launch.kernel()).second) flows.push_back({launch});
    for (bool changed = true; changed;) {
        changed = false;
        for (Flow& flow : flows) changed |= flow.pass_on(varies);
    }
    for (Flow& flow : flows) {
        std::vector<std::string> active;
        for (std::size_t p = 0; p < flow.launch.arrays().size(); ++p)
            if (real_argument(flow.launch, p) && varies.contains(flow.launch.arrays()[p].data()))
                active.push_back(flow.launch.kernel().parameters[p].name);
        flow.launch.differentiate_only(active);
    }
}

}  // namespace hindcast
