// hindcast identify SCENE: the scene's parameters from measured data.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "app/cli/command.hpp"
#include "app/cli/interrupt.hpp"
#include "app/cli/progress.hpp"
#include "engine/sim/identification/findings.hpp"
#include "engine/sim/identification/identification_files.hpp"
#include "engine/sim/results/results.hpp"

namespace hindcast::cli {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_shown = 24, most_pairs = 8;

struct Options {
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
                   r.at_bound[k] != 0
                       ? fmt::format("{} bound", outcome.bound(k))
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

class Run {
public:
    explicit Run(const Options& options)
        : options_(options),
          quiet_(options.results.quiet),
          scene_(options.scene.load()),
          simulation_(scene_, registry(), options.scene.simulation_options()),
          identification_(simulation_) {
        check_unused(simulation_);
        outcome_.scene = scene_.name();
        outcome_.names = simulation_.parameters().names();
        outcome_.written = simulation_.parameters().values();
        for (const Parameter& p : simulation_.parameters().list())
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
        starts_ = identification_.starts(options.starts, options.scene.seed);
        for (const std::string& text : options.validate) prepare_validation(text);
        folder_ = std::make_unique<ResultsFolder>(options.results.folder(scene_));
    }

    int run() {
        say(quiet_, "{}: {} residuals, {} parameter{}\n  device        {}; {}\n", scene_.name(),
            identification_.function().size(), outcome_.names.size(),
            outcome_.names.size() == 1 ? "" : "s", simulation_.options().device->describe(),
            name_of(simulation_.options().precision));
        std::fflush(stdout);
        look(outcome_.before, outcome_.comparison_before, identification_);
        outcome_.check = identification_.check();
        if (!quiet_) {
            print_check(outcome_);
            if (options_.check_only)
                print_agreement("agreement of the scene as it is", outcome_.before);
            std::fflush(stdout);
        }
        if (interrupted()) return interrupted_status();
        if (!options_.check_only) fit();
        save();
        return interrupted() ? interrupted_status() : 0;
    }

private:
    struct Other {
        std::string file;
        std::unique_ptr<Simulation> simulation;
        std::unique_ptr<Identification> identification;
    };

    void prepare_validation(const std::string& text) {
        const auto equals = text.find('=');
        const std::string from = equals == std::string::npos ? "" : text.substr(0, equals),
                          to = equals == std::string::npos ? text : text.substr(equals + 1);
        SimulationOptions options = simulation_.options();
        std::error_code ignored;
        options.allowed_paths.push_back(fs::absolute(to, ignored).parent_path());
        Other other{to, nullptr, nullptr};
        other.simulation =
            std::make_unique<Simulation>(with_other_data(scene_, from, to), registry(), options);
        other.identification = std::make_unique<Identification>(*other.simulation);
        others_.push_back(std::move(other));
    }

    // The agreement at the values of the parameters as they are.
    static void look(std::vector<ChannelAgreement>& agreement, std::vector<Comparison>& comparison,
                     Identification& identification) {
        const std::vector<double> residuals =
            identification.function().residuals(identification.simulation().parameters().values());
        if (residuals.empty())
            throw Error("the run diverges before there is anything to compare")
                .remedy("make the steps shorter, or start from other values");
        agreement = identification.agreement(residuals);
        comparison = identification.comparison(residuals);
    }

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
        outcome_.fits = identification_.fit(starts_, how);
        progress.clear();
        outcome_.best = Identification::best(outcome_.fits);
        seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
        simulation_.parameters().set_values(outcome_.result().values);
        look(outcome_.after, outcome_.comparison, identification_);
        outcome_.statistics = identification_.statistics(outcome_.result());
        for (Other& other : others_) validate(other);
        if (!quiet_) print();
    }

    void validate(Other& other) {
        IdentificationOutcome::Validation validation;
        validation.file = other.file;
        validation.own = take_identified(simulation_, *other.simulation);
        look(validation.agreement, validation.comparison, *other.identification);
        outcome_.validations.push_back(std::move(validation));
    }

    void print() const {
        print_fit(outcome_);
        fmt::print("  time          {}\n", duration_text(seconds_));
        print_agreement("agreement before", outcome_.before);
        print_agreement("agreement after", outcome_.after);
        for (const IdentificationOutcome::Validation& validation : outcome_.validations)
            print_agreement(("validation with " + validation.file).c_str(), validation.agreement);
    }

    void save() {
        write_identification(*folder_, outcome_);
        if (outcome_.is_fitted()) save_scene(simulation_, folder_->path(), "identified_scene.json");
        document::Node summary = summary_of("identify", simulation_);
        add_identification(summary, outcome_);
        summary.set("seconds", document::Node(seconds_));
        save_summary(*folder_, summary);
        say(quiet_, "  results       {}\n", folder_->path().string());
    }

    const Options& options_;
    bool quiet_;
    Scene scene_;
    Simulation simulation_;
    Identification identification_;
    std::vector<Identification::Point> starts_;
    std::vector<Other> others_;
    std::unique_ptr<ResultsFolder> folder_;
    IdentificationOutcome outcome_;
    double seconds_ = 0;
};

}  // namespace

Command add_identify(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "identify", "Find the scene's parameters from measured data, with their errors");
    auto options = std::make_shared<Options>();
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
    return {command, about_scene(options->scene.scene, [options] { return Run(*options).run(); })};
}

}  // namespace hindcast::cli
