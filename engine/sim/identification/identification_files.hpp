// Files that `hindcast identify` writes to its folder besides the scene:
//
//   summary.json      check, parameters with errors, agreement of training and validation data
//   parameters.csv    start, estimate, standard error, bound of each parameter
//   starts.csv        the result of each start
//   jacobian.csv      derivatives of the residuals by the parameters, at the estimate
//   covariance.csv    of the estimates
//   residuals.csv     each sample: objective, channel, time, measured, simulated, residual in sigmas
//   validation_N.csv  the same of the N-th recording for validation
//   report.html       all of it to read, without any other file (report.hpp)
#pragma once

#include "engine/document/node.hpp"
#include "engine/sim/identification/outcome.hpp"
#include "engine/sim/results_folder.hpp"

namespace hindcast {

// The names of all of them, for ResultsFolder.
std::vector<std::string> identification_files(const Simulation& simulation);
// All but summary.json. Files of an earlier identification that this one does not have are removed.
void write_identification(const ResultsFolder& folder, const IdentificationOutcome& outcome);
// Adds to a summary.
void add_identification(document::Node& summary, const IdentificationOutcome& outcome);

}  // namespace hindcast
