#include "engine/backend/optional_passes.hpp"

#include <algorithm>
#include <iterator>

#include "engine/base/error.hpp"

namespace hindcast {

namespace {

using enum Pass;

constexpr PassInfo table[] = {
    {per_target, "per-target", "sums at indices that are known beforehand, by loops over targets",
     true, false},
    {shifts, "shifts", "such loops at constant distances (stencils), without tables", true, false},
    {symmetry, "symmetry", "items that look the same from both ends, evaluated as from one", true,
     false},
    {neighbor_runs, "neighbor-runs", "neighbors that lie side by side, loaded as vectors", true,
     false},
    {stencil_blocks, "stencil-blocks", "elements of a stencil, cut out of whole blocks", true,
     false},
    {prefetch, "prefetch", "arrays that are in no near cache, fetched early", true, false},
    {quick_code, "quick-code", "long kernels run before they are optimized", true, false},
    {unchanged_items, "unchanged-items", "items whose results are there already, left out", true,
     false},
    {fusion, "fusion", "adjacent launches, joined into one", true, true},
    {rotation, "rotation", "the last launch of a step, joined with the first of the next", true,
     false},
    {rematerialization, "rematerialization",
     "values that are made again on the way back instead of kept, where a launch says so", true,
     true},
    {sparse_history, "sparse-history", "of those, what is mostly zero, kept after all", true, true},
    {deferral, "deferral", "launches over the same elements in a row, block by block", true, false},
    {functions, "functions", "small roll-outs, or their steps, as one compiled function", true,
     true},
};
static_assert(std::size(table) == static_cast<std::size_t>(functions) + 1);

}  // namespace

std::span<const PassInfo> all_passes() { return table; }

const PassInfo& info(Pass which) { return table[static_cast<std::size_t>(which)]; }

PassSet PassSet::none() {
    PassSet found;
    for (const PassInfo& o : table) found = found.without(o.which);
    return found;
}

PassSet PassSet::without(std::string_view names) {
    if (names == "all") return none();
    PassSet found;
    while (!names.empty()) {
        const std::size_t comma = std::min(names.find(','), names.size());
        std::string_view name = names.substr(0, comma);
        if (name == "neighbour-runs") name = "neighbor-runs";  // as earlier versions spelled it
        names.remove_prefix(std::min(comma + 1, names.size()));
        const auto* const known = std::ranges::find(table, name, &PassInfo::name);
        if (known == std::end(table)) {
            std::string all;
            for (const PassInfo& o : table) all += (all.empty() ? "" : ", ") + std::string(o.name);
            throw Error("there is no optional pass '" + std::string(name) + "'")
                .remedy("there are " + all);
        }
        found = found.without(known->which);
    }
    return found;
}

std::string PassSet::left_out() const {
    std::string names;
    for (const PassInfo& o : table)
        if (!has(o.which)) names += (names.empty() ? "" : ",") + std::string(o.name);
    return names;
}

}  // namespace hindcast
