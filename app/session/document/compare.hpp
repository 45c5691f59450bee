// The differences between two documents of a scene that matter to a running simulation.
#pragma once

#include <string>
#include <vector>

#include "engine/document/document.hpp"

namespace hindcast::session {

struct Difference {
    // Except in what no simulation reads: view, description, outputs, checkpoints.
    bool nothing = true;
    bool elsewhere = false;               // outside the values of these quantities
    std::vector<std::size_t> quantities;  // indices of those that differ
};

// `pointers`: where the quantities' values are in the scene.
Difference compare(const document::Document& before, const document::Document& after,
                   const std::vector<std::string>& pointers);

}  // namespace hindcast::session
