// Warnings of a simulation, and laws of its pairs, by name.
#pragma once

#include <string>

#include "engine/sim/simulation.hpp"

namespace hindcast::test {

// Null if there is none.
inline const Warning* find_warning(const Simulation& sim, const std::string& identifier) {
    for (const Warning& w : sim.warnings())
        if (w.identifier == identifier) return &w;
    return nullptr;
}

// "none" if nothing keeps them apart.
inline std::string law_between(Simulation& sim, const std::string& a, const std::string& b) {
    for (const auto& pair : sim.model().contact_pairs().list())
        if ((pair.a->name == a && pair.b->name == b) || (pair.a->name == b && pair.b->name == a))
            return pair.law.empty() ? "none" : pair.law;
    return "not in the table";
}

}  // namespace hindcast::test
