// hindcast identify SCENE: the scene's parameters from measured data.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "app/cli/command.hpp"
#include "app/cli/interrupt.hpp"
#include "app/cli/progress.hpp"
#include "engine/sim/identification/findings.hpp"
#include "engine/sim/identification/identification_files.hpp"
#include "engine/sim/identification/identification_run.hpp"
#include "engine/sim/results/results.hpp"

namespace hindcast::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_shown = 24, most_pairs = 8;

struct IdentifyOptions {
    SceneOptions scene;
    ResultOptions results;
    std::int64_t iterations = 100;
    std::size_t starts = 1;
    bool check_only = false;
    std::vector<std::string> validate;  // FILE or OLD=NEW
};

std::size_t width_of(const std::vector<std::string>& names) {
    std::size_t width = 9;
    for (std::size_t k = 0; k < std::min(names.size(), most_shown); ++k)
        width = std::max(width, names[k].size());
    return width;
}

void print_rest(std::size_t count, const char* file) {
    if (count > most_shown) fmt::print("  and {} more in {}\n", count - most_shown, file);
}

void print_check(const IdentificationOutcome& outcome) {
    const optim::Identifiability& found = outcome.check.found;
    const std::size_t width = width_of(outcome.names), count = outcome.names.size();
    fmt::print("what the data can tell\n  {:<{}}  {:>14}  {:>12}  {:>8}\n", "parameter", width,
               "scene", "effect", "own part");
    for (std::size_t k = 0; k < std::min(count, most_shown); ++k)
        fmt::print("  {:<{}}  {:>14.9g}  {:>12.4g}  {:>6.2f} %\n", outcome.names[k], width,
                   outcome.written[k], found.lengths[k], 100 * found.own_part[k]);
    print_rest(count, "summary.json");
    std::string values;
    for (std::size_t k = 0; k < std::min(found.singular_values.size(), most_shown); ++k)
        values += fmt::format(" {:.3g}", found.singular_values[k]);
    fmt::print("  singular values{}\n", values);
    for (const std::string& finding : outcome.check.findings) fmt::print("  ! {}\n", finding);
    if (outcome.check.findings.empty()) fmt::print("  all parameters can be told apart\n");
}

void print_agreement(const char* title, const std::vector<ChannelAgreement>& all) {
    fmt::print("{}\n", title);
    for (const ChannelAgreement& one : all)
        fmt::print("  {:<28}  {:>7} samples  rms {:<12.6g} ({:.4g} sigmas)\n",
                   one.owner + ": " + one.channel, one.count, one.rms, one.rms_sigmas);
}

void print_fit(const IdentificationOutcome& outcome) {
    const optim::LeastSquaresResult& r = outcome.result();
    const std::size_t width = width_of(outcome.names), count = outcome.names.size();
    fmt::print("fit\n  cost          {} after {} iterations, {} runs; it was {}\n",
               number_text(r.cost), r.iterations, r.evaluations, number_text(r.initial_cost));
    fmt::print("  stopped       {}\n", r.reason);
    if (outcome.fits.size() > 1)
        fmt::print("  starts        {} of {} agree with the best one, start {}\n",
                   Identification::agreeing(outcome.fits), outcome.fits.size(), outcome.best);
    for (const std::string& loss : outcome.losses) fmt::print("  robust loss   {}\n", loss);
    fmt::print("  {:<{}}  {:>14}  {:>14}  {:>14}\n", "parameter", width, "scene", "estimate",
               "standard error");
    for (std::size_t k = 0; k < std::min(count, most_shown); ++k)
        fmt::print("  {:<{}}  {:>14.9g}  {:>14.9g}  {:>14}\n", outcome.names[k], width,
                   outcome.written[k], r.values[k],
                   r.at_bound[k] != 0 ? fmt::format("{} bound", outcome.bound(k))
                   : std::isinf(outcome.statistics.standard_errors[k])
                       ? "infinite"
                       : fmt::format("{:.3g}", outcome.statistics.standard_errors[k]));
    print_rest(count, "parameters.csv");
    fmt::print("  residuals     scatter by {:.4g} sigmas\n", outcome.statistics.scale);
    std::size_t shown = 0;
    for (const CorrelatedPair& pair : correlated_pairs(outcome.statistics.correlation))
        if (shown++ < most_pairs)
            fmt::print("  ! {} and {} have a correlation of {:.3f}\n", outcome.names[pair.first],
                       outcome.names[pair.second], pair.correlation);
    if (shown > most_pairs)
        fmt::print("  ! and {} more pairs in summary.json\n", shown - most_pairs);
    if (outcome.statistics.is_singular)
        fmt::print("  ! some parameters cannot be told apart; their errors are infinite\n");
}

class IdentifyRun {
public:
    explicit IdentifyRun(const IdentifyOptions& options)
        : options_(options),
          quiet_(options.results.quiet),
          scene_(options.scene.load()),
          simulation_(scene_, registry(), options.scene.simulation_options()),
          run_(simulation_, registry()) {
        check_unused(simulation_);
        starts_ = run_.identification().starts(options.starts, options.scene.seed);
        for (const std::string& text : options.validate) run_.validate_with(text);
        folder_ = std::make_unique<ResultsFolder>(options.results.folder(scene_),
                                                  identification_files(simulation_));
    }

    int run() {
        const IdentificationOutcome& outcome = run_.outcome();
        say(quiet_, "{}: {} residuals, {} parameter{}\n  device        {}; {}\n", scene_.name(),
            run_.identification().function().size(), outcome.names.size(),
            outcome.names.size() == 1 ? "" : "s", simulation_.options().device->describe(),
            name_of(simulation_.options().precision));
        std::fflush(stdout);
        run_.check(!options_.check_only);
        if (!quiet_) {
            print_check(outcome);
            if (options_.check_only)
                print_agreement("agreement of the scene as it is", outcome.before);
            std::fflush(stdout);
        }
        if (interrupted()) return interrupted_status();
        if (!options_.check_only) fit();
        run_.save(*folder_, seconds_);
        say(quiet_, "  results       {}\n", folder_->path().string());
        return interrupted() ? interrupted_status() : 0;
    }

private:
    void fit() {
        const Clock::time_point begin = Clock::now();
        Identification::Options how{.iterations = options_.iterations, .watch = {}};
        Progress progress("iteration",
                          static_cast<std::int64_t>(starts_.size()) * options_.iterations,
                          Progress::Pipe::silent, quiet_);
        how.watch = [&](std::size_t start, std::int64_t iteration, double cost) {
            progress.update(static_cast<std::int64_t>(start) * options_.iterations + iteration,
                            [&] { return fmt::format("start {}  cost {:.9g}", start, cost); });
            return !interrupted();
        };
        run_.fit(starts_, how);
        progress.clear();
        seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
        if (!quiet_) print(run_.outcome());
    }

    void print(const IdentificationOutcome& outcome) const {
        print_fit(outcome);
        fmt::print("  time          {}\n", duration_text(seconds_));
        print_agreement("agreement before", outcome.before);
        print_agreement("agreement after", outcome.after);
        for (const IdentificationOutcome::Validation& validation : outcome.validations)
            print_agreement(("validation with " + validation.file).c_str(), validation.agreement);
    }

    const IdentifyOptions& options_;
    bool quiet_;
    Scene scene_;
    Simulation simulation_;
    IdentificationRun run_;
    std::vector<Identification::Point> starts_;
    std::unique_ptr<ResultsFolder> folder_;
    double seconds_ = 0;
};

}  // namespace

Command add_identify(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "identify", "Find the scene's parameters from measured data, with their errors");
    auto options = std::make_shared<IdentifyOptions>();
    options->scene.precision = "f64";
    options->scene.add_to(*command);
    command->add_option("--iterations", options->iterations, "Most iterations from each start")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}))
        ->type_name("N")
        ->group("What runs");
    command
        ->add_option(
            "--starts", options->starts,
            "Fit from so many starts, the scene's values and random ones within the bounds "
            "(--seed), and keep the best")
        ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}))
        ->type_name("N")
        ->group("What runs");
    command
        ->add_flag("--check-only", options->check_only,
                   "Only say which parameters the data can tell apart")
        ->group("What runs");
    command
        ->add_option("--validate", options->validate,
                     "Compare the result with another recording, too: FILE in place of the scene's "
                     "file of data, or OLD=FILE where it has several; may be given again")
        ->type_name("FILE")
        ->group("What runs");
    options->results.add_to(*command);
    command->footer(
        "The objectives must be sums over residuals, such as \"measured\". The results are\n"
        "summary.json, report.html, identified_scene.json, and as tables parameters.csv,\n"
        "starts.csv, jacobian.csv, covariance.csv, residuals.csv and validation_N.csv.\n"
        "Ctrl-C ends the search and saves what it came to.\n"
        "Example: hindcast identify scenes/robots/measured_pendulum.json --starts 5");
    return {command,
            about_scene(options->scene.scene, [options] { return IdentifyRun(*options).run(); })};
}

}  // namespace hindcast::cli
