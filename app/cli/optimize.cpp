// hindcast optimize SCENE: improves the scene's parameters, and goes on where an earlier run ended.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>

#include "app/cli/command.hpp"
#include "app/cli/gradient_memory.hpp"
#include "app/cli/interrupt.hpp"
#include "app/cli/progress.hpp"
#include "engine/base/log.hpp"
#include "engine/sim/adjoint_norms.hpp"
#include "engine/sim/results.hpp"

namespace hindcast::cli {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Row = Optimization::Row;
using Stop = Optimization::Stop;

constexpr std::chrono::seconds save_interval{10};
constexpr std::size_t most_parameters_shown = 16;

struct Options {
    SceneOptions scene;
    ResultOptions results;
    std::int64_t iterations = -1;
    std::string resume;
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// The loss before the first update: of this run, or of the one that it goes on from.
std::optional<double> initial_loss(const fs::path& history) {
    const HistoryTable table = read_history(history);
    if (table.rows.empty()) return std::nullopt;
    return table.rows.front()[1];
}

void print_parameters(const Parameters& parameters, const std::vector<double>& first,
                      const std::vector<double>& best, const fs::path& folder) {
    const std::size_t shown = std::min(best.size(), most_parameters_shown);
    std::size_t width = 9;
    for (std::size_t k = 0; k < shown; ++k) width = std::max(width, parameters.names()[k].size());
    fmt::print("  {:<{}}  {:>14}  {:>14}\n", "parameter", width, "scene", "best");
    for (std::size_t k = 0; k < shown; ++k)
        fmt::print("  {:<{}}  {:>14.9g}  {:>14.9g}\n", parameters.names()[k], width, first[k],
                   best[k]);
    if (shown < best.size())
        fmt::print("  and {} more in {}\n", best.size() - shown,
                   (folder / "optimized_scene.json").string());
}

class Run {
public:
    explicit Run(const Options& options)
        : options_(options),
          quiet_(options.results.quiet),
          scene_(options.scene.load()),
          simulation_(scene_, registry(), options.scene.simulation_options()),
          optimization_(simulation_, options.iterations),
          folder_(options.results.folder(scene_)) {
        const bool resume = !options_.resume.empty();
        if (resume && options_.results.output.empty()) folder_ = options_.resume;
        OutputPlan::read(simulation_);  // a mistake there must not come out at the end
        written_ = simulation_.parameters().values();
        if (resume) load_resume(options_.resume, simulation_, optimization_);
        prepare_results(folder_, options_.resume);
        history_.emplace(folder_ / "history.csv", simulation_, resume);
    }

    int run() {
        optimization_.set_interrupt(interrupted);
        say(quiet_, "{}: {}; {} parameter{}\n  device        {}; {}\n", scene_.name(),
            optimization_.describe(), simulation_.parameters().size(),
            simulation_.parameters().size() == 1 ? "" : "s",
            simulation_.options().device->describe(), name_of(simulation_.options().precision));
        gradients_.emplace(simulation_, optimization_.uses_hessian());
        if (!quiet_) gradients_->print_plan();
        std::fflush(stdout);
        gradients_->allocate();
        simulation_.rollout().profile(options_.results.profile);
        simulation_.rollout().record_adjoint_norms(options_.results.profile);
        build_seconds_ = seconds_since(start_);
        const Clock::time_point begin = Clock::now();
        const Optimization::Outcome outcome = iterate();
        run_seconds_ = seconds_since(begin);
        save(outcome);
        if (!quiet_) print(outcome);
        if (outcome.stop == Stop::stopped) return interrupted_status();
        if (outcome.stop == Stop::not_finite)
            throw Error(outcome.reason)
                .remedy("the results up to there are in " + folder_.string());
        return 0;
    }

private:
    Optimization::Outcome iterate() {
        Progress progress("iteration", optimization_.iterations(), Progress::Pipe::lines, quiet_);
        Clock::time_point saved = Clock::now();
        return optimization_.run([&](const Row& row) {
            ++rows_;
            history_->add(row);
            progress.update(row.iteration, [&row] {
                return fmt::format("loss {:.9g}  gradient {:.3g}", row.loss, row.gradient_norm);
            });
            if (Clock::now() - saved > save_interval) {
                history_->flush();  // first: the history is never behind resume.json
                save_resume(folder_, simulation_, optimization_);
                saved = Clock::now();
            }
            return !interrupted();
        });
    }

    void save(const Optimization::Outcome& outcome) {
        history_->flush();
        save_resume(folder_, simulation_, optimization_);
        document::Node summary = summary_of("optimize", simulation_);
        simulation_.parameters().set_values(outcome.best.parameters);
        save_scene(simulation_, folder_, "optimized_scene.json");

        // The states are those of the best parameters. After Ctrl-C there is no time for them.
        const bool best_runs = outcome.stop != Stop::stopped && outcome.stop != Stop::not_finite;
        if (best_runs) {
            StateRecorder recorder(folder_, simulation_);
            bool finished = true;
            simulation_.run(false, [&](std::int64_t done) {
                recorder.watch(done);
                finished = !interrupted() || done == simulation_.steps();
                return finished;
            });
            recorder.finish();
            add_outcome(summary, simulation_, finished);
            summary.set("states", recorder.describe());
        }
        static constexpr const char* stops[] = {"iterations", "converged", "stopped", "not_finite"};
        summary.set("optimizer", optimization_.describe());
        summary.set("stop", stops[static_cast<std::size_t>(outcome.stop)]);
        summary.set("stop_reason", outcome.reason);
        summary.set("iterations", outcome.last.iteration);
        initial_ = initial_loss(folder_ / "history.csv");
        summary.set("initial_loss", initial_ ? number_node(*initial_) : document::Node());
        add_row(summary, "best", outcome.best, simulation_);
        add_row(summary, "last", outcome.last, simulation_);
        summary.set("kept_bytes", simulation_.rollout().kept_bytes());
        if (gradients_) summary.set("gradient_memory", gradients_->node());
        if (options_.results.profile && !simulation_.rollout().adjoint_norms().norms.empty())
            write_csv(folder_ / "adjoint_norms.csv", simulation_.rollout().adjoint_norms());
        summary.set("seconds", document::Node::object(
                                   {{"build", build_seconds_},
                                    {"compile", simulation_.options().device->statistics().seconds},
                                    {"run", run_seconds_}}));
        save_summary(folder_, summary);
    }

    void print(const Optimization::Outcome& outcome) const {
        const auto rows = static_cast<double>(rows_);
        fmt::print("  stopped       {}\n", outcome.reason);
        fmt::print("  time          {}, {} for an iteration; {} to build ({} kernels in {})\n",
                   duration_text(run_seconds_), duration_text(rows_ > 0 ? run_seconds_ / rows : 0),
                   duration_text(build_seconds_),
                   simulation_.options().device->statistics().kernels,
                   duration_text(simulation_.options().device->statistics().seconds));
        if (gradients_) gradients_->print_peak();
        if (initial_) fmt::print("  initial loss  {}\n", number_text(*initial_));
        fmt::print("  best loss     {} in iteration {}\n", number_text(outcome.best.loss),
                   outcome.best.iteration);
        auto& simulation = const_cast<Simulation&>(simulation_);
        print_parameters(simulation.parameters(), written_, outcome.best.parameters, folder_);
        fmt::print("  results       {}\n", folder_.string());
        if (options_.results.profile) {
            print_profile(simulation.rollout());
            print_kept(simulation);
            const Rollout::AdjointNorms& norms = simulation.rollout().adjoint_norms();
            fmt::print("{}", describe(norms, name_of(simulation.model(), norms.culprit)));
        }
    }

    const Options& options_;
    Clock::time_point start_ = Clock::now();
    bool quiet_;
    Scene scene_;
    Simulation simulation_;
    Optimization optimization_;
    fs::path folder_;
    std::vector<double> written_;  // the scene's own parameter values
    std::optional<HistoryWriter> history_;
    std::optional<GradientMemory> gradients_;
    std::optional<double> initial_;
    double build_seconds_ = 0, run_seconds_ = 0;
    std::int64_t rows_ = 0;
};

}  // namespace

Command add_optimize(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("optimize", "Change the scene's parameters until its loss is small");
    auto options = std::make_shared<Options>();
    options->scene.add_to(*command);
    command
        ->add_option("--iterations", options->iterations,
                     "Make so many updates in all, instead of the scene's number")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
        ->type_name("N")
        ->group("What runs");
    options->results.add_to(*command);
    command
        ->add_option("--resume", options->resume,
                     "Go on from the results in this folder, as if there had been no break")
        ->type_name("FOLDER")
        ->group("Results");
    command->footer(
        "The results are summary.json, history.csv, optimized_scene.json, resume.json and the\n"
        "states of the best parameters in states/; with --profile also adjoint_norms.csv.\n"
        "Ctrl-C stops after the iteration and saves.\n"
        "Example: hindcast optimize scenes/spring_cage.json --iterations 100");
    return {command, [options] { return Run(*options).run(); }};
}

}  // namespace hindcast::cli
