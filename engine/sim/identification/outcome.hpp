// The outcome of an identification, for its tables, files and report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/sim/identification/identification.hpp"

namespace hindcast {

struct IdentificationOutcome {
    std::string scene;               // its name
    std::vector<std::string> names;  // of the parameters
    std::vector<double> written;     // the scene's own values
    std::vector<double> low, high;   // bounds
    std::vector<bool> auxiliary;     // of one recording only (Residuals::of_one_recording)
    std::vector<ChannelAgreement> before;
    std::vector<Comparison> comparison_before;
    Identification::Check check;
    std::vector<Identification::Fit> fits;  // none: only checked
    std::size_t best = 0;
    optim::FitStatistics statistics;
    std::vector<ChannelAgreement> after;
    std::vector<Comparison> comparison;
    // Robust losses in use: "huber, width 1.5 (encoder)".
    std::vector<std::string> losses;

    struct Validation {
        std::string file;
        std::vector<ChannelAgreement> agreement;
        std::vector<Comparison> comparison;
        std::vector<std::string> own;  // parameters that this recording has values of its own of
    };
    std::vector<Validation> validations;

    bool is_fitted() const { return !fits.empty(); }
    const optim::LeastSquaresResult& result() const { return fits[best].result; }
    // "", "lower" or "upper": where the bound held the parameter.
    const char* bound(std::size_t k) const {
        const int at = result().at_bound[k];
        return at == 0 ? "" : at < 0 ? "lower" : "upper";
    }
};

}  // namespace hindcast
