// The report of an identification: one page of HTML that needs no other file and no network.
#pragma once

#include <string>

#include "engine/sim/identification/outcome.hpp"

namespace hindcast {

std::string report_page(const IdentificationOutcome& outcome);

}  // namespace hindcast
