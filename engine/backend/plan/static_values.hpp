// Integers of a kernel that the host can compute before a launch: they depend only on the work
// item, constants, integer launch parameters and integer Read buffers. Indices of sums and checks
// of indices are found that way, once per version of the buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/ir/evaluate.hpp"
#include "engine/ir/kernel.hpp"

namespace hindcast::backend {

struct Binding;

bool is_static_value(const ir::Kernel& kernel, ir::Value value);

class StaticValues {
public:
    // The kernel outlives it.
    explicit StaticValues(const ir::Kernel& kernel)
        : kernel_(&kernel), seen_(kernel.ops.size(), 0) {}

    // A value for which is_static_value() holds, with everything that it depends on.
    void add(ir::Value value);
    bool depends_on(int parameter) const;
    // Appends the numbers that tell whether the values of a launch are those of another one.
    // `passing`: the positions of those that later launches do not have again.
    void append_key(const Binding* bindings, std::vector<std::uint64_t>& key,
                    std::vector<std::size_t>& passing) const;

    // Evaluates them for blocks of items. A load out of range gives 0: no item executes it.
    class Evaluator {
    public:
        static constexpr std::int64_t block = 1024;

        Evaluator(const StaticValues& values, const Binding* bindings);
        void run(std::int64_t begin, std::int64_t count);
        // The value for item begin + i.
        std::int64_t integer(ir::Value v, std::int64_t i) const {
            return ir::integer_of(values_[v][i], kernel_.op(v).type);
        }

    private:
        void load(const ir::Op& op, ir::Bits* out, std::int64_t count) const;

        const ir::Kernel& kernel_;
        const std::vector<ir::Value>& order_;
        const Binding* bindings_;
        std::vector<std::vector<ir::Bits>> values_;
    };

private:
    const ir::Kernel* kernel_;
    std::vector<char> seen_;
    std::vector<ir::Value> order_;  // operands first
    std::vector<int> buffers_;      // that are read
};

}  // namespace hindcast::backend
