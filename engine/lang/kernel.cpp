#include "engine/lang/kernel.hpp"

#include <algorithm>
#include <numeric>

#include "engine/ir/clone.hpp"
#include "engine/ir/effects.hpp"

namespace hindcast::lang {

void detail::check_names(const std::string& kernel, const std::vector<std::string>& names,
                         std::size_t expected, const Location& location) {
    if (names.size() != expected)
        throw Error("the lambda has " + std::to_string(expected) +
                    " parameters after the work item, but " + std::to_string(names.size()) +
                    " names are given")
            .in_kernel(kernel)
            .at(location)
            .remedy("give one name per parameter, in order");
    for (auto name = names.begin(); name != names.end(); ++name)
        if (std::find(names.begin(), name, *name) != name)
            throw Error("two parameters are called '" + *name + "'")
                .in_kernel(kernel)
                .at(location)
                .remedy("give each its own name");
}

ir::Value own_index(int symbol, ir::Value index) {
    ir::Builder& b = builder();
    const ir::Value own = b.resolve(index);
    if (own == b.item() || b.is_injective(own)) return own;
    throw b
        .error("'" + b.kernel().parameter(symbol).name +
               "' is written by this kernel, but used at an index that is not the item's own")
        .remedy(
            "use the work item as index, declare the index with injective(), or read from another "
            "buffer");
}

Int injective(const Int& index) {
    builder().declare_injective(index.value());
    return index;
}

ir::Kernel KernelDef::record(ir::Precision precision,
                             const std::vector<std::string>& shared) const {
    ir::Builder b(name_, precision);
    std::vector<int> symbols;
    std::uint64_t mask = 0;
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
        ir::Parameter p = parameters_[k];
        if (p.type == ir::Type::f64) p.type = ir::real_type(precision);
        if (std::find(shared.begin(), shared.end(), p.name) != shared.end()) {
            if (!may_share_[k])
                throw Error("'" + p.name +
                            "' is not a Property, so it cannot hold one value for all items")
                    .in_kernel(name_)
                    .remedy("declare it Property<T> in the kernel");
            p.access = ir::Access::value;
            mask |= std::uint64_t{1} << k;
        }
        symbols.push_back(b.add_parameter(p));
    }
    for (const std::string& s : shared)
        if (b.kernel().find_parameter(s) < 0)
            throw Error("there is no parameter '" + s + "'").in_kernel(name_);
    {
        Tracing tracing(b);
        body_(symbols, mask);
    }
    return b.finish();
}

ir::Kernel KernelDef::trace(ir::Precision precision, const std::vector<std::string>& shared) const {
    const ir::Kernel recorded = record(precision, shared);
    ir::verify(recorded, "tracing");
    ir::Kernel simple = ir::simplify(recorded, true);
    // Parameters behind the declared ones were left out by without_unused().
    const std::vector<ir::Effects> effects = ir::effects_of(simple);
    for (std::size_t p = parameters_.size(); p < effects.size(); ++p)
        if (effects[p].touches())
            throw Error("the parameter '" + simple.parameters[p].name +
                        "' was left out, but the kernel uses it in " +
                        ir::name_of(ir::real_type(precision)))
                .in_kernel(name_)
                .remedy("give an argument for every parameter");
    simple.parameters.resize(parameters_.size());
    ir::verify(simple, "simplification");
    return simple;
}

KernelDef KernelDef::without_unused() const {
    const std::vector<ir::Effects> effects = ir::effects_of(record(ir::Precision::f64, {}));
    std::vector<std::size_t> order(parameters_.size());  // those in use, then the others
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rest = std::stable_partition(order.begin(), order.end(),
                                            [&](std::size_t k) { return effects[k].touches(); });
    std::vector<ir::Parameter> parameters, left_out;
    std::vector<bool> may_share;
    for (auto k = order.begin(); k != order.end(); ++k) {
        (k < rest ? parameters : left_out).push_back(parameters_[*k]);
        if (k < rest) may_share.push_back(may_share_[*k]);
    }
    // The body may still name the others, in ops that simplification removes: they stand behind.
    return KernelDef(
        name_, std::move(parameters), std::move(may_share),
        [body = body_, left_out, order](std::vector<int> symbols, std::uint64_t shared) {
            for (ir::Parameter p : left_out) {
                if (p.type == ir::Type::f64) p.type = builder().real();
                symbols.push_back(builder().add_parameter(std::move(p)));
            }
            std::vector<int> all(order.size());
            std::uint64_t all_shared = 0;
            for (std::size_t k = 0; k < order.size(); ++k) {
                all[order[k]] = symbols[k];
                all_shared |= ((shared >> k) & 1) << order[k];
            }
            body(all, all_shared);
        });
}

KernelDef KernelDef::with_sum(std::string_view parameter) const {
    KernelDef defining = *this;
    for (ir::Parameter& p : defining.parameters_) {
        if (p.name != parameter || p.access != ir::Access::accumulate) continue;
        p.access = ir::Access::sum;
        return defining;
    }
    throw Error("'" + std::string(parameter) + "' is not an Accumulate")
        .in_kernel(name_)
        .remedy("name a parameter that the kernel adds to");
}

}  // namespace hindcast::lang
