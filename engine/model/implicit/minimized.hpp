// Minimized: the parts of a scene whose points move to the minimum of energies in each step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/minimization/minimization.hpp"

namespace hindcast::model {

class Minimized {
public:
    // An energy of points by their numbers in the scene; for build().
    void add(EnergyTerm term) { terms_.push_back(std::move(term)); }
    const std::vector<EnergyTerm>& terms() const { return terms_; }
    // Coordinates of bodies that take part, with the points that they carry; for build().
    void add(Carrier carrier) { carriers_.push_back(std::move(carrier)); }
    const std::vector<Carrier>& carriers() const { return carriers_; }
    // The number of the first of the points that an energy names for a body's frame (Carrier::Frame),
    // in a scene with this many points; for build(), once the carrier of that name is there.
    std::int64_t frame_of(const std::string& carrier, std::int64_t body, std::int64_t points);

    // The minimization that moves them, once the modules were built; until then nullptr.
    const std::shared_ptr<Minimization>& minimization() const { return minimization_; }
    void set(std::shared_ptr<Minimization> minimization) {
        minimization_ = std::move(minimization);
    }

private:
    std::vector<EnergyTerm> terms_;
    std::vector<Carrier> carriers_;
    std::shared_ptr<Minimization> minimization_;
};

}  // namespace hindcast::model
