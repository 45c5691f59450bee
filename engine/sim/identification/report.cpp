#include "engine/sim/identification/report.hpp"
#include "engine/base/text/xml_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "engine/sim/identification/findings.hpp"
#include "engine/sim/identification/plot.hpp"

namespace hindcast {

namespace {

constexpr const char* style = R"(<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; }
th, td { border-bottom: 1px solid #ccc; padding: 0.2rem 0.8rem 0.2rem 0; text-align: right; }
th:first-child, td:first-child { text-align: left; }
svg { max-width: 100%; height: auto; } svg text { font-size: 12px; }
.grid { stroke: #ddd; } .line { fill: none; stroke-width: 1.5; }
.dots { fill: none; stroke-width: 3; stroke-linecap: round; opacity: 0.6; }
.wide { overflow-x: auto; }
.strong { background: #fbd9d3; }
</style>
)";

class Table {
public:
    explicit Table(std::initializer_list<const char*> header) {
        text_ = "<table>\n<tr>";
        for (const char* name : header) text_ += fmt::format("<th>{}</th>", name);
        text_ += "</tr>\n";
    }
    void row(std::initializer_list<std::string> cells) {
        text_ += "<tr>";
        for (const std::string& cell : cells) text_ += "<td>" + xml_text(cell) + "</td>";
        text_ += "</tr>\n";
    }
    std::string text() const { return text_ + "</table>\n"; }

private:
    std::string text_;
};

std::string number(double value) {
    if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
    return fmt::format("{:.6g}", value);
}

std::string agreement(const std::vector<ChannelAgreement>& all) {
    Table table({"channel", "samples", "RMS of the difference", "RMS in sigmas"});
    for (const ChannelAgreement& one : all)
        table.row({one.owner + ": " + one.channel, std::to_string(one.count), number(one.rms),
                   number(one.rms_sigmas)});
    return table.text();
}

std::string curves(const std::vector<Comparison>& all) {
    std::string text;
    for (const Comparison& one : all) {
        text += fmt::format("<h3>{}: {}</h3>\n", xml_text(one.owner), xml_text(one.channel));
        text += svg_plot({{"measured", one.times, one.measured, true},
                          {"simulated", one.times, one.simulated, false}},
                         "time in s", one.channel);
        text += svg_plot({{"residual", one.times, one.residuals, true}}, "time in s",
                         "residual in sigmas");
    }
    return text;
}

std::string check(const IdentificationOutcome& outcome) {
    const optim::Identifiability& found = outcome.check.found;
    std::string text =
        "<h2>What the data can tell</h2>\n<p>At the values that the scene has. The own "
        "part of a parameter is what of its effect on the data no change of the others "
        "can make.</p>\n";
    Table table({"parameter", "value", "residuals change per unit", "own part"});
    for (std::size_t k = 0; k < outcome.names.size(); ++k)
        table.row({outcome.names[k], number(outcome.written[k]), number(found.lengths[k]),
                   fmt::format("{:.3g} %", 100 * found.own_part[k])});
    text += table.text();
    text +=
        "<p>Singular values of the Jacobian with columns of length 1, without those of "
        "parameters that belong to this recording alone:";
    for (const double s : found.singular_values) text += " " + number(s);
    text += "</p>\n";
    if (outcome.check.findings.empty())
        return text + "<p>The data tell all parameters apart.</p>\n";
    text += "<ul>\n";
    for (const std::string& finding : outcome.check.findings)
        text += "<li>" + xml_text(finding) + "</li>\n";
    return text + "</ul>\n";
}

// The correlation of the parameters that were asked for. Those of one recording alone are many and
// say little.
std::string correlation(const IdentificationOutcome& outcome) {
    std::vector<std::size_t> list;
    for (std::size_t k = 0; k < outcome.names.size(); ++k)
        if (!outcome.auxiliary[k]) list.push_back(k);
    if (list.size() > 30) return "<p>The covariance is in covariance.csv.</p>\n";
    std::string text;
    if (list.size() < outcome.names.size())
        text +=
            "<p>Without parameters that belong to this recording alone; all are in "
            "covariance.csv.</p>\n";
    text += "<div class=\"wide\"><table>\n<tr><th></th>";
    for (const std::size_t k : list) text += "<th>" + xml_text(outcome.names[k]) + "</th>";
    text += "</tr>\n";
    for (const std::size_t a : list) {
        text += "<tr><td>" + xml_text(outcome.names[a]) + "</td>";
        for (const std::size_t b : list) {
            const double c = outcome.statistics.correlation(a, b);
            text += fmt::format(
                "<td{}>{:.3f}</td>",
                a != b && std::fabs(c) > high_correlation ? " class=\"strong\"" : "", c);
        }
        text += "</tr>\n";
    }
    return text + "</table></div>\n";
}

std::string fit(const IdentificationOutcome& outcome) {
    const optim::LeastSquaresResult& r = outcome.result();
    std::string text = fmt::format(
        "<h2>The fit</h2>\n<p>Cost {} after {} iterations and {} runs, from {}; {}. {} of {} "
        "starts "
        "agree with it. Residuals scatter by {} of their sigmas; standard errors are for errors "
        "that "
        "are independent and of that size.</p>\n",
        number(r.cost), r.iterations, r.evaluations, number(r.initial_cost), xml_text(r.reason),
        Identification::agreeing(outcome.fits), outcome.fits.size(),
        number(outcome.statistics.scale));
    for (const std::string& loss : outcome.losses)
        text += "<p>Robust loss: " + xml_text(loss) + "</p>\n";
    Table table({"parameter", "scene", "estimate", "standard error", "bound"});
    for (std::size_t k = 0; k < outcome.names.size(); ++k)
        table.row({outcome.names[k], number(outcome.written[k]), number(r.values[k]),
                   r.at_bound[k] != 0 ? "held" : number(outcome.statistics.standard_errors[k]),
                   outcome.bound(k)});
    text += table.text();
    text += "<h3>Correlation of the estimates</h3>\n" + correlation(outcome);
    if (outcome.fits.size() > 1) {
        Table starts({"start", "initial cost", "cost", "iterations", "end"});
        for (std::size_t s = 0; s < outcome.fits.size(); ++s) {
            const Identification::Fit& one = outcome.fits[s];
            if (one.failure.empty())
                starts.row({std::to_string(s), number(one.result.initial_cost),
                            number(one.result.cost), std::to_string(one.result.iterations),
                            one.result.reason});
            else
                starts.row({std::to_string(s), "", "", "", one.failure});
        }
        text += "<h3>Starts</h3>\n" + starts.text();
    }
    return text;
}

}  // namespace

std::string report_page(const IdentificationOutcome& outcome) {
    std::string text =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n<title>" +
        xml_text(outcome.scene) + ": identification</title>\n" + style + "</head>\n<body>\n<h1>" +
        xml_text(outcome.scene) + ": identification</h1>\n";
    text += check(outcome);
    if (!outcome.is_fitted()) {
        text += "<h2>Agreement of the scene as it is</h2>\n" + agreement(outcome.before) +
                curves(outcome.comparison_before);
        return text + "</body>\n</html>\n";
    }
    text += fit(outcome);
    text += "<h2>Agreement</h2>\n<p>Before:</p>\n" + agreement(outcome.before) + "<p>After:</p>\n" +
            agreement(outcome.after) + curves(outcome.comparison);
    for (const IdentificationOutcome::Validation& v : outcome.validations) {
        text += "<h2>Validation: " + xml_text(v.file) + "</h2>\n";
        for (const std::string& own : v.own)
            text += "<p>Its own values of " + xml_text(own) + " are used.</p>\n";
        text += agreement(v.agreement) + curves(v.comparison);
    }
    return text + "</body>\n</html>\n";
}

}  // namespace hindcast
