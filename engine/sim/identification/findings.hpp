// In words: what the data cannot tell of the parameters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/optim/fit_statistics.hpp"

namespace hindcast {

// From which correlation on the estimates of two parameters count as one number.
constexpr double high_correlation = 0.95;
// Below which singular value of unit columns a direction counts as one that the data hardly tell.
constexpr double weak_direction = 0.1;

struct CorrelatedPair {
    std::size_t first = 0, second = 0;
    double correlation = 0;
};
// Those above high_correlation, the strongest first.
std::vector<CorrelatedPair> correlated_pairs(const optim::DenseMatrix& correlation);

// One sentence for each finding: parameters without any effect, directions that the data hardly tell,
// pairs. Empty if there are none. `values`: of the parameters, where the Jacobian was taken; `auxiliary`: those that nothing is said
// of.
std::vector<std::string> findings(const optim::Identifiability& found,
                                  std::span<const std::string> names,
                                  std::span<const double> values,
                                  const std::vector<bool>& auxiliary);

}  // namespace hindcast
