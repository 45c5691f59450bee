// Files that `optimize` writes for the gradient of the loss with respect to the physical value of
// each parameter, in the iteration with the lowest loss and in the last one.
//
//   gradient.csv        parameter,best,last: a row for each number of the parameter vector
//   gradient/NAME.npy   for a parameter of very many numbers: shape (2, numbers), best and last
//
// Without a gradient in the last iteration, which was not finite, its column or row is missing.
#pragma once

#include <filesystem>

#include "engine/sim/optimization/optimization.hpp"

namespace hindcast {

// Takes away what write_gradients() left in the folder.
void remove_gradients(const std::filesystem::path& folder);
// Returns what the summary says of the files; null without any gradient.
document::Node write_gradients(const std::filesystem::path& folder, const Parameters& parameters,
                               const Optimization::Outcome& outcome);

}  // namespace hindcast
