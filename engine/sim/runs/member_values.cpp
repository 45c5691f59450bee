#include "engine/sim/runs/member_values.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hindcast::runs {

using model::Quantity;

namespace {

ArgumentFault refused(const std::string& what, const std::string& remedy) {
    ArgumentFault made(what);
    made.remedy(remedy);
    return made;
}

}  // namespace

SceneRuns::Value MemberValues::values(const std::string& path) const {
    const auto value = runs_.value(path);
    if (!value) throw runs_.unknown(path, "path");
    SceneRuns::Value all{value->shape, {}};
    const auto varied = std::ranges::find(varied_, path, &Varied::path);
    if (varied != varied_.end()) {
        all.numbers = varied->numbers;
        return all;
    }
    // Numbers come from another path that was set and names some of the same numbers, or from the
    // scene.
    const auto leaf = runs_.find(runs_.model(), path);
    if (!leaf) throw runs_.unknown(path, "path");
    for (std::size_t m = 0; m < members_; ++m) {
        std::vector<double> numbers = leaf->quantity->values;
        for (const Varied& v : varied_)
            if (v.quantity == leaf->quantity->path)
                for (std::size_t k = 0; k < v.entries.size(); ++k)
                    numbers[v.entries[k]] = v.of(m)[k];
        for (const std::size_t e : leaf->entries) all.numbers.push_back(numbers[e]);
    }
    return all;
}

void MemberValues::set(const std::string& path, const std::vector<std::size_t>& which,
                       std::span<const double> numbers) {
    auto varied = std::ranges::find(varied_, path, &Varied::path);
    const auto leaf = runs_.find(runs_.model(), path);
    if (!leaf) throw runs_.unknown(path, "path");
    const std::size_t n = leaf->entries.size();
    if (numbers.size() != members_ * n)
        throw ArgumentFault(
            fmt::format("value: '{}' is {} numbers for each of {} members, and {} "
                        "are given",
                        path, n, members_, numbers.size()));
    if (leaf->quantity->shared && leaf->quantity->count > 1 && path.find('[') != std::string::npos)
        throw refused(
            fmt::format("path: '{}' is one number for all elements", leaf->quantity->path),
            "make it one per element before the batch is made: SceneRuns::make_per_element()");
    for (const std::size_t m : which)
        for (std::size_t k = 0; k < n; ++k)
            check_number(runs_.model(), *leaf->quantity, leaf->entries[k], numbers[m * n + k],
                         runs_.options().precision);
    if (varied == varied_.end()) {
        for (const Varied& v : varied_)
            if (v.quantity == leaf->quantity->path)
                for (const std::size_t e : leaf->entries)
                    if (std::ranges::find(v.entries, e) != v.entries.end())
                        throw refused(fmt::format("path: '{}' names what '{}' names, which was set "
                                                  "before",
                                                  path, v.path),
                                      "set all of it by the same path");
        Varied fresh{.path = path,
                     .shape = leaf->shape,
                     .quantity = leaf->quantity->path,
                     .entries = leaf->entries,
                     .numbers = values(path).numbers};
        varied = varied_.insert(varied_.end(), std::move(fresh));
    }
    for (const std::size_t m : which)
        std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(m * n), n,
                    varied->numbers.begin() + static_cast<std::ptrdiff_t>(m * n));
}

// The member's values, where they are not those already.
void MemberValues::apply(Simulation& simulation, std::size_t member) const {
    for (const Varied& v : varied_) {
        Quantity& q = *simulation.model().find_quantity(v.quantity);
        const std::span<const double> numbers = v.of(member);
        bool changed = false;
        for (std::size_t k = 0; k < v.entries.size(); ++k) {
            double& value = q.values[v.entries[k]];
            changed |= value != numbers[k];
            value = numbers[k];
        }
        if (changed) q.upload();
    }
}

std::vector<std::string> MemberValues::with_varied(const std::vector<std::string>& paths) const {
    std::vector<std::string> all = paths;
    for (const Varied& v : varied_)
        if (std::ranges::find(all, v.path) == all.end()) all.push_back(v.path);
    return all;
}

std::vector<double> MemberValues::point_of(const SceneRuns::Set& set, std::span<const double> base,
                                           std::size_t member) const {
    std::vector<double> point(base.begin(), base.end());
    std::size_t at = 0;
    for (const SceneRuns::Leaf& leaf : set.leaves) {
        const auto varied = std::ranges::find(varied_, leaf.path, &Varied::path);
        if (varied != varied_.end())
            std::ranges::copy(varied->of(member), point.begin() + static_cast<std::ptrdiff_t>(at));
        at += leaf.entries.size();
    }
    return point;
}

}  // namespace hindcast::runs
