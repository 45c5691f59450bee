// Results of an identification, as tables and curves of its panel.
#pragma once

#include <string>

#include "app/session/document/identification_task.hpp"

namespace hindcast::gui {

// Singular values, findings in words, and of each parameter how much the data tell of it.
// `with_all`: also of the parameters that belong to one recording.
void draw_check(const IdentificationOutcome& outcome, bool with_all);
// Estimates with their standard errors, and the starts.
void draw_estimates(const IdentificationOutcome& outcome, bool with_all);
// Correlations of the estimates as a colored matrix; before a fit those that the check expects.
void draw_correlation(const IdentificationOutcome& outcome, bool with_all);
// The agreement of each channel: before, after, and in the recordings for validation.
void draw_agreement(const IdentificationOutcome& outcome);
// Measured points and the simulated line of one channel. `channel`: the one chosen, in and out.
void draw_curves(const IdentificationOutcome& outcome, std::string& channel);
// The cost of each iteration, a line for each start.
void draw_costs(const session::IdentificationTask::Progress& progress);

}  // namespace hindcast::gui
