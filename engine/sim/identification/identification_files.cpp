#include "engine/sim/identification/identification_files.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "engine/base/files.hpp"
#include "engine/sim/identification/findings.hpp"
#include "engine/sim/identification/report.hpp"
#include "engine/sim/results/results.hpp"

namespace hindcast {

using document::Node;

namespace {

std::string table_of(const std::vector<std::string>& header, const optim::DenseMatrix& matrix,
                     const std::vector<std::string>& rows = {}) {
    std::string text = rows.empty() ? "" : "parameter";
    for (const std::string& name : header) text += (text.empty() ? "" : ",") + csv_field(name);
    text += "\n";
    for (std::size_t r = 0; r < matrix.rows; ++r) {
        if (!rows.empty()) text += csv_field(rows[r]) + ",";
        for (std::size_t c = 0; c < matrix.columns; ++c)
            text += (c > 0 ? "," : "") + number_text(matrix(r, c));
        text += "\n";
    }
    return text;
}

std::string residuals_table(const std::vector<Comparison>& all) {
    std::string text = "objective,channel,time,measured,simulated,residual\n";
    for (const Comparison& one : all)
        for (std::size_t i = 0; i < one.times.size(); ++i)
            text += fmt::format("{},{},{},{},{},{}\n", csv_field(one.owner), csv_field(one.channel),
                                number_text(one.times[i]), number_text(one.measured[i]),
                                number_text(one.simulated[i]), number_text(one.residuals[i]));
    return text;
}

std::string parameters_table(const IdentificationOutcome& outcome) {
    std::string text = "parameter,scene,estimate,standard_error,bound\n";
    for (std::size_t k = 0; k < outcome.names.size(); ++k)
        text +=
            fmt::format("{},{},{},{},{}\n", csv_field(outcome.names[k]),
                        number_text(outcome.written[k]), number_text(outcome.result().values[k]),
                        number_text(outcome.statistics.standard_errors[k]), outcome.bound(k));
    return text;
}

std::string starts_table(const IdentificationOutcome& outcome) {
    std::string text = "start,iterations,evaluations,initial_cost,cost,end";
    for (const std::string& name : outcome.names) text += "," + csv_field(name);
    text += "\n";
    static constexpr const char* ends[] = {"converged", "limit", "stopped", "stuck"};
    for (std::size_t s = 0; s < outcome.fits.size(); ++s) {
        const Identification::Fit& fit = outcome.fits[s];
        const optim::LeastSquaresResult& r = fit.result;
        const bool ended = fit.failure.empty();
        text += fmt::format("{},{},{},{},{},{}", s, r.iterations, r.evaluations,
                            number_text(ended ? r.initial_cost : NAN),
                            number_text(ended ? r.cost : NAN),
                            ended ? ends[static_cast<std::size_t>(r.end)] : "failed");
        for (std::size_t k = 0; k < outcome.names.size(); ++k)
            text += "," + number_text(ended ? r.values[k] : NAN);
        text += "\n";
    }
    return text;
}

Node agreement_node(const std::vector<ChannelAgreement>& all) {
    std::vector<Node> list;
    for (const ChannelAgreement& one : all)
        list.push_back(Node::object({{"objective", Node(one.owner)},
                                     {"channel", Node(one.channel)},
                                     {"samples", Node(static_cast<std::int64_t>(one.count))},
                                     {"rms", number_node(one.rms)},
                                     {"rms_sigmas", number_node(one.rms_sigmas)}}));
    return Node::array(std::move(list));
}

Node pairs_node(const optim::DenseMatrix& correlation, const std::vector<std::string>& names) {
    std::vector<Node> list;
    for (const CorrelatedPair& pair : correlated_pairs(correlation))
        list.push_back(Node::array(
            {Node(names[pair.first]), Node(names[pair.second]), number_node(pair.correlation)}));
    return Node::array(std::move(list));
}

Node numbers_node(const std::vector<double>& values) {
    std::vector<Node> list;
    for (const double value : values) list.push_back(number_node(value));
    return Node::array(std::move(list));
}

}  // namespace

std::vector<std::string> identification_files(const Simulation& simulation) {
    std::vector<std::string> names = saved_scene_files(simulation, "identified_scene.json");
    for (const char* name : {"parameters.csv", "starts.csv", "jacobian.csv", "covariance.csv",
                             "residuals.csv", "validation_*.csv", "report.html"})
        names.emplace_back(name);
    return names;
}

void write_identification(const ResultsFolder& folder, const IdentificationOutcome& outcome) {
    const auto write = [&](const std::string& name, const std::string& text) {
        write_file_atomically(folder.file(name), text);
    };
    for (const char* name : {"parameters.csv", "starts.csv", "jacobian.csv", "covariance.csv",
                             "residuals.csv", "identified_scene.json"})
        std::filesystem::remove(folder.file(name));
    for (std::size_t v = 1;; ++v)
        if (!std::filesystem::remove(folder.file(fmt::format("validation_{}.csv", v)))) break;
    if (outcome.is_fitted()) {
        write("parameters.csv", parameters_table(outcome));
        write("starts.csv", starts_table(outcome));
        write("jacobian.csv", table_of(outcome.names, outcome.result().jacobian));
        write("covariance.csv",
              table_of(outcome.names, outcome.statistics.covariance, outcome.names));
    }
    write("residuals.csv",
          residuals_table(outcome.is_fitted() ? outcome.comparison : outcome.comparison_before));
    for (std::size_t v = 0; v < outcome.validations.size(); ++v)
        write(fmt::format("validation_{}.csv", v + 1),
              residuals_table(outcome.validations[v].comparison));
    write("report.html", report_page(outcome));
}

void add_identification(Node& summary, const IdentificationOutcome& outcome) {
    std::vector<Node> parts, told;
    for (std::size_t k = 0; k < outcome.names.size(); ++k)
        parts.push_back(Node::object({{"parameter", Node(outcome.names[k])},
                                      {"own_part", number_node(outcome.check.found.own_part[k])}}));
    for (const std::string& finding : outcome.check.findings) told.push_back(Node(finding));
    summary.set(
        "check",
        Node::object({{"parameters", Node::array(std::move(parts))},
                      {"singular_values", numbers_node(outcome.check.found.singular_values)},
                      {"pairs", pairs_node(outcome.check.found.correlation, outcome.names)},
                      {"findings", Node::array(std::move(told))}}));
    summary.set("agreement_before", agreement_node(outcome.before));
    if (!outcome.is_fitted()) return;
    const optim::LeastSquaresResult& result = outcome.result();
    std::vector<Node> parameters;
    for (std::size_t k = 0; k < outcome.names.size(); ++k)
        parameters.push_back(
            Node::object({{"parameter", Node(outcome.names[k])},
                          {"scene", number_node(outcome.written[k])},
                          {"estimate", number_node(result.values[k])},
                          {"standard_error", number_node(outcome.statistics.standard_errors[k])},
                          {"bound", Node(outcome.bound(k))}}));
    summary.set("estimates", Node::array(std::move(parameters)));
    summary.set("cost", number_node(result.cost));
    summary.set("initial_cost", number_node(result.initial_cost));
    summary.set("iterations", result.iterations);
    summary.set("evaluations", result.evaluations);
    summary.set("stop_reason", result.reason);
    summary.set("scale", number_node(outcome.statistics.scale));
    summary.set("degrees_of_freedom",
                static_cast<std::int64_t>(outcome.statistics.degrees_of_freedom));
    summary.set("pairs", pairs_node(outcome.statistics.correlation, outcome.names));
    summary.set("starts", static_cast<std::int64_t>(outcome.fits.size()));
    summary.set("best_start", static_cast<std::int64_t>(outcome.best));
    summary.set("agreeing_starts",
                static_cast<std::int64_t>(Identification::agreeing(outcome.fits)));
    summary.set("agreement", agreement_node(outcome.after));
    std::vector<Node> validations;
    for (const IdentificationOutcome::Validation& v : outcome.validations)
        validations.push_back(
            Node::object({{"file", Node(v.file)}, {"agreement", agreement_node(v.agreement)}}));
    summary.set("validation", Node::array(std::move(validations)));
}

}  // namespace hindcast
