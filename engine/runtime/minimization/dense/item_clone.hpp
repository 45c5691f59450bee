// ItemClone: one item of a kernel, recorded into another kernel. Callbacks supply the values that
// the source reads and take those that it writes:
//
//     ItemClone item(kernel, builder);
//     item.reads("x", [&](int component, Value index) { return ...; });
//     item.writes("force", [&](int component, Value index, Value value) { ... });
//     item.record_item(number);
//
// The source is a kernel of f64; the values that are handed over are f64 or integers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/ir/clone.hpp"

namespace hindcast::dense {

class ItemClone final : public ir::Cloner {
public:
    using Read = std::function<ir::Value(int component, ir::Value index)>;
    // Called for stores at the item's own index and for sums; a Reduce has no index.
    using Write = std::function<void(int component, ir::Value index, ir::Value value)>;

    ItemClone(const ir::Kernel& source, ir::Builder& target);

    // Serves arrays and numbers passed by value alike; the latter are read without an index.
    void reads(int parameter, Read read);
    void writes(int parameter, Write write);
    // Throws Error for a parameter without a function.
    void record_item(ir::Value number);

protected:
    void record(ir::Value value, const ir::Op& op) override;

private:
    const Read& read_of(const ir::Op& op) const;

    std::vector<Read> reads_;
    std::vector<Write> writes_;
};

}  // namespace hindcast::dense
