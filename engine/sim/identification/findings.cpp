#include "engine/sim/identification/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hindcast {

namespace {

constexpr double takes_part = 0.2;  // of the largest part in a direction

// "+3.2 %" of a value, or "+0.01" where it is 0.
std::string change_of(double change, double value) {
    if (value == 0) return fmt::format("{:+.2g}", change);
    return fmt::format("{:+.2g} %", 100 * change / std::fabs(value));
}

// "a by +1 % with b by -0.8 %".
std::string describe_direction(const optim::Identifiability& found, std::size_t direction,
                               std::span<const std::string> names, std::span<const double> values) {
    const std::size_t n = names.size();
    std::vector<double> change(n, 0);
    double largest = 0, scale = 0;
    for (std::size_t k = 0; k < n; ++k)
        largest = std::max(largest, std::fabs(found.directions(k, direction)));
    std::vector<std::size_t> parts;
    for (std::size_t k = 0; k < n; ++k) {
        if (found.own_lengths[k] == 0 ||
            std::fabs(found.directions(k, direction)) < takes_part * largest)
            continue;
        change[k] = found.directions(k, direction) / found.own_lengths[k];
        parts.push_back(k);
        const double size = values[k] != 0 ? std::fabs(values[k]) : 1;
        if (std::fabs(change[k]) / size > std::fabs(scale)) scale = change[k] / size;
    }
    std::string text;
    for (const std::size_t k : parts) {
        if (!text.empty()) text += k == parts.back() ? " and " : ", ";
        text += fmt::format("{} by {}", names[k], change_of(0.01 * change[k] / scale, values[k]));
    }
    return text;
}

}  // namespace

std::vector<CorrelatedPair> correlated_pairs(const optim::DenseMatrix& correlation) {
    std::vector<CorrelatedPair> pairs;
    for (std::size_t a = 0; a < correlation.columns; ++a)
        for (std::size_t b = a + 1; b < correlation.columns; ++b)
            if (std::fabs(correlation(a, b)) > high_correlation)
                pairs.push_back({a, b, correlation(a, b)});
    std::ranges::stable_sort(pairs, std::greater<>(),
                             [](const CorrelatedPair& p) { return std::fabs(p.correlation); });
    return pairs;
}

std::vector<std::string> findings(const optim::Identifiability& found,
                                  std::span<const std::string> names,
                                  std::span<const double> values,
                                  const std::vector<bool>& auxiliary) {
    std::vector<std::string> all;
    std::size_t without_effect = 0;
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (found.lengths[k] == 0)
            all.push_back(fmt::format("the data do not depend on {} at all", names[k]));
        if (found.own_lengths[k] == 0 && !auxiliary[k]) {
            ++without_effect;
            if (found.lengths[k] > 0)
                all.push_back(
                    fmt::format("whatever {} does to the data, the states of this "
                                "recording can do as well",
                                names[k]));
        }
    }
    for (std::size_t d = found.singular_values.size() - without_effect; d-- > 0;) {
        const double s = found.singular_values[d];
        if (s >= weak_direction) break;
        const std::string direction = describe_direction(found, d, names, values);
        if (s < 1e-12)
            all.push_back(
                fmt::format("the data do not tell these apart: changing {} together changes "
                            "nothing",
                            direction));
        else
            all.push_back(
                fmt::format("the data hardly tell these apart: changing {} together changes "
                            "them {:.3g} times less than each would alone",
                            direction, 1 / s));
    }
    for (const CorrelatedPair& pair : correlated_pairs(found.correlation)) {
        if (auxiliary[pair.first] || auxiliary[pair.second]) continue;
        const double a = found.own_part[pair.first] * found.lengths[pair.first],
                     b = found.own_part[pair.second] * found.lengths[pair.second];
        if (a == 0 || b == 0) continue;  // they are not told apart at all, which is said above
        all.push_back(fmt::format(
            "{} and {} would be estimated with a correlation of {:.3f}: the data tell mainly {} {} "
            "{:.3g} {}",
            names[pair.first], names[pair.second], pair.correlation, names[pair.first],
            pair.correlation < 0 ? "+" : "-", b / a, names[pair.second]));
    }
    return all;
}

}  // namespace hindcast
