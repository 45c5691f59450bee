// hindcast optimize SCENE: improves the scene's parameters, and goes on where an earlier run ended.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "app/cli/command.hpp"
#include "app/cli/gradient_memory.hpp"
#include "app/cli/interrupt.hpp"
#include "app/cli/progress.hpp"
#include "app/cli/table_writer.hpp"
#include "app/session/document/checkpoints.hpp"
#include "engine/backend/jit/interruption.hpp"
#include "engine/base/aligned.hpp"
#include "engine/base/files.hpp"
#include "engine/base/hash.hpp"
#include "engine/base/log.hpp"
#include "engine/document/layout.hpp"
#include "engine/sim/gradients/adjoint_norms.hpp"
#include "engine/sim/gradients/gradient_files.hpp"
#include "engine/sim/non_finite.hpp"
#include "engine/sim/optimization/multi_start.hpp"
#include "engine/sim/results/results.hpp"
#include "engine/sim/values/checkpoint.hpp"

namespace hindcast::cli {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Row = Optimization::Row;
using Stop = Optimization::Stop;

constexpr std::chrono::seconds save_interval{10};
constexpr std::size_t most_parameters_shown = 16;

struct OptimizeOptions {
    SceneOptions scene;
    ResultOptions results;
    std::int64_t iterations = -1;
    std::size_t starts = 1;
    bool adjoint_norms = false;
    std::string resume;
    std::string keep;  // the checkpoint that the best values become
};

const char* stop_name(Stop stop) {
    static constexpr const char* names[] = {"iterations", "converged", "stopped", "not_finite",
                                            "stuck"};
    return names[static_cast<std::size_t>(stop)];
}

// The loss before the first update: of this run, or of the one that it goes on from.
std::optional<double> initial_loss(const fs::path& history) {
    const HistoryTable table = read_history(history);
    if (table.rows.empty()) return std::nullopt;
    return table.rows.front()[1];
}

void require_writable(const fs::path& file) {
    for (const fs::path& one : {file, fs::absolute(file).parent_path()})
        if (::access(one.c_str(), W_OK) != 0)
            throw Error("the scene's file " + file.string() + " cannot be written, as --keep wants")
                .remedy("copy the scene to a folder of yours, or leave --keep out");
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

class OptimizeRun {
public:
    explicit OptimizeRun(const OptimizeOptions& options)
        : options_(options),
          quiet_(options.results.quiet),
          scene_(options.scene.load()),
          simulation_(scene_, registry(), options.scene.simulation_options(options.starts > 1)),
          optimization_(simulation_, options.iterations),
          path_(options.results.folder(scene_)) {
        const Device& device = *simulation_.options().device;
        if (options_.adjoint_norms)
            refuse_whole_program(device, "--adjoint-norms looks at the adjoint of every step");
        if (options_.results.profile && device.cuda())
            refuse_whole_program(device, "--profile times every launch");
        const bool resume = !options_.resume.empty();
        if (resume && options_.results.output.empty()) path_ = options_.resume;
        // A mistake there must not come out at the end.
        if (!options_.keep.empty()) require_writable(scene_.file());
        const OutputPlan outputs = OutputPlan::read(simulation_);
        written_ = simulation_.parameters().values();
        if (options_.starts > 1)
            starts_ = MultiStart::starts(simulation_, options_.starts, options_.scene.seed);
        if (resume) load_resume(options_.resume, simulation_, optimization_);
        folder_ = std::make_unique<ResultsFolder>(path_, optimization_files(simulation_));
        prepare_results(*folder_, options_.resume);
        outputs.require_space(path_, simulation_);
        history_ =
            std::make_unique<HistoryWriter>(folder_->file("history.csv"), simulation_, resume);
    }

    int run() {
        optimization_.set_interrupt(interrupted);
        optimization_.set_row_limit(HistoryWriter::most_entries);
        say(quiet_, "{}: {}; {} parameter{}\n  device        {}; {}\n", scene_.name(),
            optimization_.describe(), simulation_.parameters().size(),
            simulation_.parameters().size() == 1 ? "" : "s",
            simulation_.options().device->describe(), name_of(simulation_.options().precision));
        say(quiet_, "{}", order_line(*simulation_.options().device, 14));
        gradients_.emplace(simulation_, optimization_.uses_hessian());
        if (!quiet_) gradients_->print_plan();
        std::fflush(stdout);
        if (options_.starts > 1 && !choose_start()) return interrupted_status();
        gradients_->allocate();
        reset_memory_peak();  // the plan is for the memory from here on
        simulation_.rollout().profile(options_.results.profile);
        simulation_.rollout().record_adjoint_norms(options_.adjoint_norms);
        build_seconds_ = seconds_since(begin_);
        const Clock::time_point begin = Clock::now();
        Optimization::Outcome outcome;
        try {
            outcome = iterate();
            run_seconds_ = seconds_since(begin);
            if (outcome.stop == Stop::stopped && outcome.best.parameters.empty()) {
                say(quiet_, "stopped before the first iteration; there is nothing to save\n");
                return interrupted_status();
            }
            save(outcome);
            if (!options_.keep.empty()) keep(outcome.best);
        } catch (Error& error) {
            keep_what_is_there(error);
            throw;
        }
        if (!quiet_) print(outcome);
        if (start_ && outcome.stop != Stop::stopped && outcome.best.loss != start_->loss &&
            simulation_.options().device->is_deterministic())
            throw Error(fmt::format("internal: start {} came to {} among others and to {} alone",
                                    start_->number, start_->loss, outcome.best.loss));
        if (outcome.stop == Stop::stopped) return interrupted_status();
        if (outcome.stop == Stop::not_finite)
            throw Error(outcome.reason).remedy("the results up to there are in " + path_.string());
        return 0;
    }

private:
    // Optimizes from all starts and goes to the best one, which is optimized once more by itself.
    // False if interrupted.
    bool choose_start() {
        const std::vector<std::unique_ptr<Simulation>> others = on_other_devices(simulation_);
        MultiStart search(simulation_, starts_, options_.iterations, interrupted, pointers(others));
        std::vector<MultiStart::Result> results;
        TableWriter rows(folder_->file("starts_history.csv"));
        rows.add({"start", "iteration", "loss", "gradient_norm"});
        search.watch_rows([&rows](std::size_t start, const Row& row) {
            rows.add({std::to_string(start), std::to_string(row.iteration), number_text(row.loss),
                      number_text(row.gradient_norm)});
        });
        {
            Progress progress(
                "row",
                static_cast<std::int64_t>(options_.starts) * (optimization_.iterations() + 1),
                Progress::Pipe::lines, quiet_);
            const backend::Interruptible here(stop_if_interrupted);
            results = search.run([&](std::int64_t done) {
                progress.update(done);
                return !interrupted();
            });
        }
        rows.flush();
        write_starts(results);
        write_found(results);
        if (interrupted()) {
            say(quiet_, "stopped; what the starts came to is in {}\n",
                (path_ / "starts.csv").string());
            return false;
        }
        const std::size_t best = MultiStart::best(results);
        start_ = {static_cast<std::int64_t>(best), results[best].outcome.best.loss};
        std::size_t failed = 0;
        double worst = start_->loss;
        for (const MultiStart::Result& r : results)
            if (!r.failure.empty() || !std::isfinite(r.outcome.best.loss))
                ++failed;
            else
                worst = std::max(worst, r.outcome.best.loss);
        say(quiet_, "  starts        {}, {}: losses from {} (start {}) to {}{}\n", results.size(),
            search.report(), number_text(start_->loss), best, number_text(worst),
            failed > 0 ? fmt::format("; {} without a finite one", failed) : "");
        simulation_.parameters().set_values(results[best].start);
        return true;
    }

    // One row per start: its first parameters, and its result.
    void write_starts(const std::vector<MultiStart::Result>& results) {
        const std::vector<std::string>& names = simulation_.parameters().names();
        const std::size_t shown = names.size() <= HistoryWriter::most_entries ? names.size() : 0;
        std::string text = "start,iterations,stop,initial_loss,best_loss";
        for (std::size_t k = 0; k < shown; ++k) text += "," + csv_field(names[k]);
        text += "\n";
        const double nan = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t s = 0; s < results.size(); ++s) {
            const MultiStart::Result& r = results[s];
            const bool ended = r.failure.empty();
            text += fmt::format("{},{},{},{},{}", s, ended ? r.outcome.last.iteration : 0,
                                ended ? stop_name(r.outcome.stop) : "failed",
                                number_text(r.initial_loss.value_or(nan)),
                                number_text(ended ? r.outcome.best.loss : nan));
            for (std::size_t k = 0; k < shown; ++k) text += "," + number_text(r.start[k]);
            text += "\n";
        }
        write_file_atomically(folder_->file("starts.csv"), text);
    }

    // The parameters of each start's best row.
    void write_found(const std::vector<MultiStart::Result>& results) {
        const std::vector<std::string>& names = simulation_.parameters().names();
        if (names.size() > HistoryWriter::most_entries) return;
        TableWriter table(folder_->file("starts_found.csv"));
        std::vector<std::string> line{"start", "iteration", "loss"};
        for (const std::string& name : names) line.push_back(csv_field(name));
        table.add(line);
        for (std::size_t s = 0; s < results.size(); ++s) {
            const Row& best = results[s].outcome.best;
            if (!results[s].failure.empty() || best.parameters.size() != names.size()) continue;
            line = {std::to_string(s), std::to_string(best.iteration), number_text(best.loss)};
            for (const double value : best.parameters) line.push_back(number_text(value));
            table.add(line);
        }
        table.flush();
    }

    Optimization::Outcome iterate() {
        Progress progress("iteration", optimization_.iterations(), Progress::Pipe::lines, quiet_);
        Clock::time_point saved = Clock::now();
        const backend::Interruptible here(stop_if_interrupted);
        return optimization_.run([&](const Row& row) {
            reported_ = row.iteration;
            if (++rows_ == 1) warn_of_idle(optimization_.complete(row));
            history_->add(history_->wants_parameters() ? optimization_.complete(row) : row);
            progress.update(row.iteration, [&row] {
                return fmt::format("loss {:.9g}  gradient {:.3g}", row.loss, row.gradient_norm);
            });
            // From the first row on there is something to resume, whatever happens.
            if (rows_ == 1 || Clock::now() - saved > save_interval) {
                save_to_resume();
                saved = Clock::now();
            }
            return !interrupted();
        });
    }

    // Parameters whose whole gradient is exactly 0 in the first row: mostly the scene does not
    // connect them to what the objective looks at.
    void warn_of_idle(const Row& row) {
        if (row.gradient.empty() || row.loss == 0) return;
        std::size_t begin = 0;
        for (const Parameter& p : simulation_.parameters().list()) {
            const auto first = row.gradient.begin() + static_cast<std::ptrdiff_t>(begin);
            begin += p.entries.size();
            if (std::all_of(first, first + static_cast<std::ptrdiff_t>(p.entries.size()),
                            [](double g) { return g == 0; }))
                log_warning(
                    "the gradient of '{}' is exactly 0 where the optimization starts: the loss "
                    "does "
                    "not depend on it there; look whether the objective can feel it",
                    p.path);
        }
    }

    void save_to_resume() {
        history_->flush();  // first: the history is never behind resume.json
        save_resume(*folder_, simulation_, optimization_);
        resumable_ = reported_;
    }

    void save_best(const std::vector<double>& parameters) {
        simulation_.parameters().set_values(parameters);
        folder_->check();
        save_scene(simulation_, path_, "optimized_scene.json");
        best_is_saved_ = true;
    }

    // Into the scene's file as it is now, which may have been edited meanwhile. The loss of a scene
    // that was changed for this run is not the scene's.
    void keep(const Row& best) {
        const fs::path file = fs::absolute(scene_.file());
        const SceneOptions& changed = options_.scene;
        const bool own = changed.set.empty() && changed.steps < 0 && changed.seed == 0;
        const document::Document fresh = session::with_checkpoint(
            document::Document::load(file), options_.keep,
            checkpoint_values(simulation_, best.parameters, file.parent_path(),
                              file.stem().string() + "_checkpoint"),
            own ? best.loss : std::numeric_limits<double>::quiet_NaN());
        document::save_like(fresh, file, file);
    }

    // After a failure, such as that of a full disk: saves what can still be saved, and reports it.
    // The error stays the one that ended the optimization.
    void keep_what_is_there(Error& failure) {
        const auto attempt = [](const auto& work) {
            try {
                work();
            } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the first one is told
            }
        };
        std::optional<Row> best;
        attempt([&] { best = optimization_.best(); });
        if (!best) return;
        attempt([&] { save_to_resume(); });
        if (!best_is_saved_) attempt([&] { save_best(best->parameters); });
        failure.note(fmt::format("the best loss was {} in iteration {}; its parameters are {}",
                                 number_text(best->loss), best->iteration,
                                 best_is_saved_ ? "in " + (path_ / "optimized_scene.json").string()
                                                : "lost, since they cannot be written either"));
        std::error_code ignored;
        if (resumable_ >= 0 && fs::exists(path_ / "resume.json", ignored))
            failure.note(
                fmt::format("--resume {} goes on after iteration {}", path_.string(), resumable_));
    }

    void save(const Optimization::Outcome& outcome) {
        save_to_resume();
        document::Node summary = summary_of("optimize", simulation_);
        options_.scene.note_changes(summary);
        save_best(outcome.best.parameters);

        // The states are those of the best parameters. After Ctrl-C there is no time for them.
        const bool best_runs = outcome.stop != Stop::stopped && outcome.stop != Stop::not_finite;
        if (best_runs) {
            StateRecorder recorder(*folder_, simulation_);
            bool finished = true;
            simulation_.run(false, [&](std::int64_t done) {
                finished = recorder.watch(done) && (!interrupted() || done == simulation_.steps());
                return finished;
            });
            recorder.finish();
            finished = finished && !simulation_.rollout().divergence();
            add_outcome(summary, simulation_, finished);
            summary.set("states", recorder.describe());
        }
        summary.set("optimizer", optimization_.describe());
        if (start_) {
            summary.set("starts", static_cast<std::int64_t>(options_.starts));
            summary.set("best_start", start_->number);
        }
        summary.set("stop", stop_name(outcome.stop));
        summary.set("stop_reason", outcome.reason);
        summary.set("iterations", outcome.last.iteration);
        initial_ = initial_loss(folder_->file("history.csv"));
        summary.set("initial_loss", initial_ ? number_node(*initial_) : document::Node());
        add_row(summary, "best", outcome.best, simulation_);
        add_row(summary, "last", outcome.last, simulation_);
        summary.set("gradient", write_gradients(path_, simulation_.parameters(), outcome));
        summary.set("kept_bytes", simulation_.rollout().kept_bytes());
        summary.set("runs", simulation_.rollout().whole_program_report());
        if (gradients_) summary.set("gradient_memory", gradients_->node());
        if (options_.adjoint_norms)
            write_csv(folder_->file("adjoint_norms.csv"), simulation_.rollout().adjoint_norms());
        summary.set("seconds", document::Node::object(
                                   {{"build", build_seconds_},
                                    {"compile", simulation_.options().device->statistics().seconds},
                                    {"run", run_seconds_}}));
        save_summary(*folder_, summary);
    }

    void print(const Optimization::Outcome& outcome) const {
        const auto rows = static_cast<double>(rows_);
        fmt::print("  stopped       {}\n", outcome.reason);
        fmt::print("  time          {}, {} for an iteration; {} to build ({} kernels in {})\n",
                   duration_text(run_seconds_), duration_text(rows_ > 0 ? run_seconds_ / rows : 0),
                   duration_text(build_seconds_),
                   simulation_.options().device->statistics().kernels,
                   duration_text(simulation_.options().device->statistics().seconds));
        auto& simulation = const_cast<Simulation&>(simulation_);
        if (const std::string runs = simulation.rollout().whole_program_report();
            simulation.options().device->cuda() && !runs.empty())
            fmt::print("  runs          {}\n", runs);
        if (gradients_) gradients_->print_peak();
        if (initial_) fmt::print("  initial loss  {}\n", number_text(*initial_));
        fmt::print("  best loss     {} in iteration {}\n", number_text(outcome.best.loss),
                   outcome.best.iteration);
        if (outcome.last.iteration != outcome.best.iteration)
            fmt::print("  last loss     {} in iteration {}\n", number_text(outcome.last.loss),
                       outcome.last.iteration);
        print_parameters(simulation.parameters(), written_, outcome.best.parameters, path_);
        fmt::print("  results       {}\n", path_.string());
        if (!options_.keep.empty())
            fmt::print("  kept as       {}, in {}\n", options_.keep, scene_.file().string());
        if (options_.results.profile) {
            print_profile(simulation.rollout(),
                          simulation.options().device->cuda() ? "every launch is timed" : "");
            print_kept(simulation);
        }
        if (options_.adjoint_norms) {
            const Rollout::AdjointNorms& norms = simulation.rollout().adjoint_norms();
            fmt::print("{}", describe(norms, name_of(simulation.model(), norms.culprit)));
        }
    }

    struct Start {
        std::int64_t number = 0;
        double loss = 0;  // the lowest
    };

    const OptimizeOptions& options_;
    Clock::time_point begin_ = Clock::now();
    bool quiet_;
    Scene scene_;
    Simulation simulation_;
    Optimization optimization_;
    fs::path path_;  // of the results
    std::unique_ptr<ResultsFolder> folder_;
    std::vector<double> written_;            // the scene's own parameter values
    std::vector<MultiStart::Point> starts_;  // empty: one, the scene
    std::optional<Start> start_;             // the best of several
    std::unique_ptr<HistoryWriter> history_;
    std::optional<GradientMemory> gradients_;
    std::optional<double> initial_;
    double build_seconds_ = 0, run_seconds_ = 0;
    std::int64_t rows_ = 0;
    std::int64_t reported_ = -1, resumable_ = -1;  // the last iteration; that of resume.json
    bool best_is_saved_ = false;
};

}  // namespace

Command add_optimize(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("optimize", "Change the scene's parameters until its loss is small");
    auto options = std::make_shared<OptimizeOptions>();
    options->scene.add_to(*command);
    command
        ->add_option("--iterations", options->iterations,
                     "Make so many updates in all, instead of the scene's number")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
        ->type_name("N")
        ->group("What runs");
    CLI::Option* const starts =
        command
            ->add_option("--starts", options->starts,
                         "Optimize from so many starts, the scene's values and random ones within "
                         "the bounds (--seed), and keep the best")
            ->check(CLI::Range(std::size_t{1}, MultiStart::most_starts))
            ->type_name("N")
            ->group("What runs");
    options->results.add_to(*command);
    command
        ->add_flag("--adjoint-norms", options->adjoint_norms,
                   "Write how the adjoint of the state grows from step to step, of the last "
                   "iteration, into adjoint_norms.csv; adjoints then run launch by launch")
        ->group("Results");
    command
        ->add_option("--resume", options->resume,
                     "Go on from the results in this folder, as if there had been no break")
        ->type_name("FOLDER")
        ->excludes(starts)
        ->group("Results");
    command
        ->add_option("--keep", options->keep,
                     "Write the best parameters into the scene's file as the checkpoint of this "
                     "name, in place of one that has it")
        ->check(CLI::Validator(
            [](const std::string& name) {
                return name.empty() ? std::string("a checkpoint needs a name") : std::string();
            },
            ""))
        ->type_name("NAME")
        ->group("Results");
    command->footer(
        "The results are summary.json, history.csv, gradient.csv (of the best and the last\n"
        "iteration), optimized_scene.json (the best), resume.json and the states of the best\n"
        "parameters in states/; with --starts also starts.csv, starts_history.csv and\n"
        "starts_found.csv, and the others are those of the\n"
        "best start by itself.\n"
        "Ctrl-C stops, after the iteration if that ends soon, and saves.\n"
        "Example: hindcast optimize scenes/spring_cage.json --iterations 100");
    return {command,
            about_scene(options->scene.scene, [options] { return OptimizeRun(*options).run(); })};
}

}  // namespace hindcast::cli
