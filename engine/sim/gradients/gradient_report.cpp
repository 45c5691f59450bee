// The findings of a gradient check, in words and tables.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "engine/sim/gradients/adjoint_norms.hpp"
#include "engine/sim/gradients/gradient_check.hpp"

namespace hindcast {

namespace {

// Why a slope has not passed, or what a kink is like.
std::string explain(const GradientReport::Slope& s) {
    switch (s.verdict) {
        case SlopeVerdict::kink:
            return fmt::format(
                "a kink: derivative {:.9g} to the left, {:.9g} to the right, adjoint {:.9g}",
                s.left, s.right, s.adjoint);
        case SlopeVerdict::not_smooth:
            return fmt::format(
                "the loss is not smooth here: adjoint {:.9g}, central difference {:.9g}, "
                "widest secant {:.9g}",
                s.adjoint, s.difference, s.widest);
        case SlopeVerdict::unclear:
            return fmt::format(
                "adjoint {:.9g}, central difference {:.9g}, relative error {:.2g}, but "
                "differences do not agree with each other to the tolerance",
                s.adjoint, s.difference, s.error);
        case SlopeVerdict::unknown:
            return fmt::format("adjoint {:.9g}, and no finite loss in the neighborhood", s.adjoint);
        default:
            return fmt::format(
                "the adjoint is wrong: {:.9g}, central difference {:.9g}, relative error {:.2g}",
                s.adjoint, s.difference, s.error);
    }
}

std::string explain(const GradientReport::Entry& e) {
    const bool has_sides = e.verdict == SlopeVerdict::kink || e.verdict == SlopeVerdict::not_smooth;
    return e.name + ": " + explain(static_cast<const GradientReport::Slope&>(e)) +
           (has_sides && !e.why.empty() ? "; " + e.why : "");
}

// The columns that entries and directions share. "holds within": the widest step, relative to the
// parameter, from which on secants agree with the adjoint.
std::string header() {
    return fmt::format("{:>16}  {:>18}  {:>14}  {:>9}  {:>12}  {:<10}", "adjoint",
                       "central difference", "relative error", "best step", "holds within",
                       "verdict");
}
std::string row(const GradientReport::Slope& s) {
    const std::string usable = s.usable > 0 ? fmt::format("{:.2g}", s.usable) : "-";
    return fmt::format("{:>16.9g}  {:>18.9g}  {:>14.1e}  {:>9.0e}  {:>12}  {:<10}", s.adjoint,
                       s.difference, s.error, s.step, usable, to_string(s.verdict));
}

}  // namespace

bool GradientReport::passed() const { return failures().empty(); }

SlopeVerdict GradientReport::worst() const {
    SlopeVerdict worst = SlopeVerdict::ok;
    for (const Entry& e : entries) worst = std::max(worst, e.verdict);
    for (const Direction& d : directions) worst = std::max(worst, d.verdict);
    return worst;
}

std::vector<std::string> GradientReport::failures() const {
    std::vector<std::string> list;
    for (const Entry& e : entries)
        if (!e.passed()) list.push_back(explain(e));
    for (std::size_t d = 0; d < directions.size(); ++d) {
        const Direction& u = directions[d];
        if (!u.passed()) list.push_back(fmt::format("direction {}: {}", d, explain(u)));
        if (!u.forward_passed)
            list.push_back(
                fmt::format("direction {}: reverse mode {:.17g}, forward mode {:.17g}, "
                            "relative error {:.2g}",
                            d, u.adjoint, u.forward, u.forward_error));
    }
    for (std::size_t d = 0; d < hessian.size(); ++d) {
        if (!hessian[d].passed)
            list.push_back(
                fmt::format("direction {}: Hessian product against differences of the "
                            "adjoint, relative error {:.2g}",
                            d, hessian[d].error));
        if (!hessian[d].symmetric)
            list.push_back(fmt::format("directions {} and {}: u.Hv and v.Hu differ by {:.2g}", d,
                                       (d + 1) % hessian.size(), hessian[d].symmetry_error));
    }
    if (minima && !minima->passed)
        list.push_back(
            fmt::format("the tolerance of minimizations: it changes the gradient by {:.2g} of its "
                        "size; lower \"tolerance\" in time.minimization",
                        minima->error));
    if (f32 && !f32->passed)
        list.push_back(
            fmt::format("f32 adjoint against f64 adjoint: relative error {:.2g}, "
                        "cosine {:.8f}",
                        f32->error, f32->cosine));
    return list;
}

std::vector<std::string> GradientReport::notes() const {
    std::vector<std::string> list;
    for (const Entry& e : entries)
        if (e.verdict == SlopeVerdict::kink) list.push_back(explain(e));
    for (std::size_t d = 0; d < directions.size(); ++d)
        if (directions[d].verdict == SlopeVerdict::kink)
            list.push_back(fmt::format("direction {}: {}", d, explain(directions[d])));
    return list;
}

std::string to_text(const GradientReport& report) {
    std::string text;
    const auto put = [&text]<class... A>(fmt::format_string<A...> format, A&&... arguments) {
        fmt::format_to(std::back_inserter(text), format, std::forward<A>(arguments)...);
    };
    const auto verdict = [](bool passed) { return passed ? "ok" : "FAILED"; };
    if (report.horizon > 0)
        put("derivatives of the last {} of {} steps (gradients.horizon); the state before them is "
            "taken as given,\nin differences too\n\n",
            report.horizon, report.steps);
    std::size_t width = 9;
    for (const auto& e : report.entries) width = std::max(width, e.name.size());
    if (!report.entries.empty()) {
        put("{:<{}}  {}\n", "parameter", width, header());
        for (const auto& e : report.entries) put("{:<{}}  {}\n", e.name, width, row(e));
        if (report.entries.size() < report.parameters)
            put("{} of {} entries, evenly spread over the parameter vector (--entries N)\n",
                report.entries.size(), report.parameters);
    }
    if (!report.directions.empty()) {
        put("\n{:<9}  {}  {:>23}\n", "direction", header(), "forward against reverse");
        for (std::size_t d = 0; d < report.directions.size(); ++d) {
            const auto& u = report.directions[d];
            put("{:<9}  {}  {:>16.1e} {:>6}\n", d, row(u), u.forward_error,
                verdict(u.forward_passed));
        }
    }
    if (!report.hessian.empty()) {
        put("\n{:<9}  {:>16}  {:>14}  {:>9}  {:<7}  {:>18}\n", "direction", "|H u|",
            "relative error", "best step", "verdict", "u.Hv against v.Hu");
        for (std::size_t d = 0; d < report.hessian.size(); ++d) {
            const auto& h = report.hessian[d];
            put("{:<9}  {:>16.9g}  {:>14.1e}  {:>9.0e}  {:<7}  {:>11.1e} {:>6}\n", d, h.norm,
                h.error, h.step, verdict(h.passed), h.symmetry_error, verdict(h.symmetric));
        }
    }
    if (const std::vector<std::string> notes = report.notes(); !notes.empty()) {
        put("\n");
        for (const std::string& note : notes) put("{}\n", note);
    }
    if (report.minima && report.minima->solves == 0)
        put("\nminima: no parameter acts on what is minimized\n");
    else if (report.minima)
        put("\nminima: found to {:.1e} m; at the exact ones the loss is {:+.1e} and the gradient "
            "{:.1e} "
            "(relative) from these  {}\n",
            report.minima->distance, report.minima->loss, report.minima->error,
            verdict(report.minima->passed));
    if (report.f32)
        put("\nf32 adjoint against f64 adjoint: relative error {:.1e}, cosine {:.8f}  {}\n",
            report.f32->error, report.f32->cosine, verdict(report.f32->passed));
    if (const std::string growth = describe(report.adjoint_norms, report.adjoint_culprit);
        !growth.empty())
        text += "\n" + growth;
    return text;
}

}  // namespace hindcast
