// Oscillation: amplitude sin(2 pi frequency t + phase), from the fields of these names.
#pragma once

#include <string>

#include "engine/lang/kernel.hpp"
#include "engine/model/model.hpp"

namespace hindcast::particles {

inline lang::Float oscillation(const lang::Float& frequency, const lang::Float& phase,
                               const lang::Float& time) {
    return sin(6.283185307179586 * frequency * time + phase);
}

// True if the object swings. Throws Error if only some of the fields are written; `what`: "gusts
// need".
inline bool oscillates(const model::Settings& settings, const std::string& what) {
    const bool swings = settings.written("amplitude");
    if (swings != settings.written("frequency") || (settings.written("phase") && !swings))
        throw settings.error("frequency", what + " \"amplitude\" and \"frequency\"")
            .remedy("write both, or neither (and no \"phase\")");
    return swings;
}

}  // namespace hindcast::particles
