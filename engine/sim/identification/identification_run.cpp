#include "engine/sim/identification/identification_run.hpp"

#include <fmt/format.h>

#include <cmath>

#include "engine/sim/identification/identification_files.hpp"
#include "engine/sim/results/results.hpp"

namespace hindcast {

namespace fs = std::filesystem;

namespace {

// The agreement at the values of the parameters as they are.
void look(std::vector<ChannelAgreement>& agreement, std::vector<Comparison>& comparison,
          Identification& identification) {
    const std::vector<double> residuals =
        identification.function().residuals(identification.simulation().parameters().values());
    if (residuals.empty())
        throw Error("the run diverges before there is anything to compare")
            .remedy("make the steps shorter, or start from other values");
    identification.function().require_finite(residuals);
    agreement = identification.agreement(residuals);
    comparison = identification.comparison(residuals);
}

// Parameters that the data cannot tell apart have infinite errors; all other numbers are finite.
void require_finite(const IdentificationOutcome& outcome) {
    const optim::FitStatistics& found = outcome.statistics;
    for (std::size_t k = 0; k < outcome.names.size(); ++k) {
        const double variance = found.covariance(k, k);
        if (std::isfinite(variance) && std::isfinite(outcome.result().values[k])) continue;
        throw Error(fmt::format("the variance of {} is not finite: the residuals scatter by {:.3g} "
                                "sigmas",
                                outcome.names[k], found.scale))
            .remedy("correct the recording, or leave outliers out by \"from\" and \"until\"");
    }
}

}  // namespace

IdentificationRun::IdentificationRun(Simulation& simulation, const Registry& registry)
    : simulation_(simulation), registry_(registry), identification_(simulation) {
    outcome_.scene = simulation.scene().name();
    outcome_.names = simulation.parameters().names();
    outcome_.written = simulation.parameters().values();
    outcome_.auxiliary = identification_.auxiliary();
    for (const Parameter& p : simulation.parameters().list())
        for (std::size_t e = 0; e < p.entries.size(); ++e) {
            outcome_.low.push_back(p.low);
            outcome_.high.push_back(p.high);
        }
    for (const model::ResidualBlock* block : identification_.function().blocks())
        if (block->loss != optim::Loss::squared)
            outcome_.losses.push_back(
                fmt::format("{}, width {:g} sigmas ({})",
                            block->loss == optim::Loss::huber ? "huber" : "cauchy",
                            block->robust().width, block->owner));
}

void IdentificationRun::validate_with(const std::string& text) {
    const auto equals = text.find('=');
    const std::string from = equals == std::string::npos ? "" : text.substr(0, equals),
                      to = equals == std::string::npos ? text : text.substr(equals + 1);
    SimulationOptions options = simulation_.options();
    std::error_code ignored;
    options.allowed_paths.push_back(fs::absolute(to, ignored).parent_path());
    Other other{to, nullptr, nullptr};
    other.simulation = std::make_unique<Simulation>(with_other_data(simulation_.scene(), from, to),
                                                    registry_, options);
    other.identification = std::make_unique<Identification>(*other.simulation);
    others_.push_back(std::move(other));
}

void IdentificationRun::require_physics(const std::string& at) const {
    if (simulation_.left_physics())
        throw Error("the run at " + at + " has left physics: standard errors would mean nothing")
            .remedy("make the steps shorter, or start from other values");
}

void IdentificationRun::check(bool fit_follows) {
    look(outcome_.before, outcome_.comparison_before, identification_);
    if (!fit_follows) require_physics("the values that are written");
    outcome_.check = identification_.check();
}

void IdentificationRun::fit(const std::vector<Identification::Point>& starts,
                            const Identification::Options& how) {
    outcome_.fits = identification_.fit(starts, how);
    outcome_.best = Identification::best(outcome_.fits);
    simulation_.parameters().set_values(outcome_.result().values);
    look(outcome_.after, outcome_.comparison, identification_);
    require_physics("the values that were found");
    outcome_.statistics = identification_.statistics(outcome_.result());
    require_finite(outcome_);
    for (Other& other : others_) {
        IdentificationOutcome::Validation validation;
        validation.file = other.file;
        validation.own = take_identified(simulation_, *other.simulation);
        look(validation.agreement, validation.comparison, *other.identification);
        outcome_.validations.push_back(std::move(validation));
    }
}

void IdentificationRun::save(const ResultsFolder& folder, double seconds) {
    write_identification(folder, outcome_);
    if (outcome_.is_fitted()) save_scene(simulation_, folder.path(), "identified_scene.json");
    document::Node summary = summary_of("identify", simulation_);
    add_identification(summary, outcome_);
    summary.set("seconds", document::Node(seconds));
    save_summary(folder, summary);
}

}  // namespace hindcast
