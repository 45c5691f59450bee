// What differs between two documents of a scene, as far as a running simulation is concerned.
#pragma once

#include <string>
#include <vector>

#include "engine/document/document.hpp"

namespace hindcast::session {

struct Difference {
    bool nothing = true;     // but for what no simulation reads: views, descriptions, outputs
    bool elsewhere = false;  // in something that is no number of these quantities
    std::vector<std::size_t> quantities;  // those in which they differ
};

// `pointers`: of the quantities' values in the scene.
Difference compare(const document::Document& before, const document::Document& after,
                   const std::vector<std::string>& pointers);

}  // namespace hindcast::session
