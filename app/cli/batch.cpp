// hindcast batch SCENE: the scene at every point of a grid over some of its numbers, many at once.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "app/cli/command.hpp"
#include "app/cli/interrupt.hpp"
#include "app/cli/progress.hpp"
#include "app/cli/table_writer.hpp"
#include "engine/backend/jit/interruption.hpp"
#include "engine/base/hash.hpp"
#include "engine/base/stopped.hpp"
#include "engine/sim/ensembles/ensemble.hpp"
#include "engine/sim/ensembles/sweep.hpp"
#include "engine/sim/non_finite.hpp"
#include "engine/sim/results/results.hpp"

namespace hindcast::cli {

namespace {

namespace fs = std::filesystem;

const std::string table_name = "batch.csv";

struct BatchOptions {
    SceneOptions scene;
    std::vector<std::string> vary;
    std::string output, ensemble = "auto";
    std::size_t members = 256;
    bool gradient = false, quiet = false;
};

class BatchRun {
public:
    explicit BatchRun(const BatchOptions& options)
        : options_(options),
          scene_(options.scene.load()),
          sweep_(scene_, registry(), options.scene.simulation_options(true), axes(options)),
          others_(on_other_devices(sweep_.simulation())),
          ensemble_(sweep_.simulation(), {.members = options.members,
                                          .use = use(options),
                                          .go_on = [] { return !interrupted(); },
                                          .others = pointers(others_)}),
          path_(options.output.empty() ? default_folder(scene_) : fs::path(options.output)) {}

    int run() {
        Simulation& simulation = sweep_.simulation();
        check_unused(simulation);
        if (simulation.model().terms().empty())
            throw Error("the scene has no objective, so its variants have no loss to compare")
                .remedy("say what is wanted under \"objective\"");
        say(options_.quiet, "{}: {} variant{} of {} step{}\n  device      {}; {}\n", scene_.name(),
            sweep_.size(), sweep_.size() == 1 ? "" : "s", simulation.steps(),
            simulation.steps() == 1 ? "" : "s", simulation.options().device->describe(),
            name_of(simulation.options().precision));
        for (const auto& other : others_)
            say(options_.quiet, "              {}\n", other->options().device->describe());
        say(options_.quiet, "{}", order_line(*simulation.options().device, 12));
        std::fflush(stdout);
        ResultsFolder::require_free(path_, {table_name});
        const auto start = std::chrono::steady_clock::now();
        {
            Progress progress("variant", static_cast<std::int64_t>(sweep_.size()),
                              Progress::Pipe::lines, options_.quiet);
            const backend::Interruptible here(stop_if_interrupted);
            try {
                while (done_ < sweep_.size() && !interrupted()) {
                    next();
                    progress.update(static_cast<std::int64_t>(done_));
                }
            } catch (const Stopped&) {
                ended_ = true;
            }
        }
        seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        table();
        look_at_worst();
        save();
        print();
        if (done_ < sweep_.size()) return interrupted_status();
        if (not_finite_ == done_) throw no_finite_loss();
        if (bad_gradients_ > 0) throw bad_gradient();
        return 0;
    }

private:
    static std::vector<SweepAxis> axes(const BatchOptions& options) {
        std::vector<SweepAxis> list;
        for (const std::string& text : options.vary) list.push_back(SweepAxis::parse(text));
        return list;
    }
    static EnsembleUse use(const BatchOptions& options) {
        return options.ensemble == "lanes"     ? EnsembleUse::lanes
               : options.ensemble == "threads" ? EnsembleUse::threads
               : options.ensemble == "turns"   ? EnsembleUse::one_by_one
                                               : EnsembleUse::automatic;
    }

    // Made with the first results: a mistake leaves no folder behind.
    TableWriter& table() {
        if (!table_) {
            folder_ = std::make_unique<ResultsFolder>(path_, std::vector{table_name});
            table_.emplace(folder_->file(table_name));
            table_->add(columns());
        }
        return *table_;
    }

    std::vector<std::string> columns() {
        std::vector<std::string> names;
        for (const SweepAxis& axis : sweep_.axes()) names.push_back(csv_field(axis.path));
        names.emplace_back("loss");
        for (const auto& term : sweep_.simulation().terms()) names.push_back(csv_field(term.name));
        if (!options_.gradient) return names;
        for (const SweepAxis& axis : sweep_.axes())
            names.push_back(csv_field("d loss / d " + axis.path));
        if (sweep_.own_parameters() > 0) names.emplace_back("gradient_norm");
        return names;
    }

    // As many variants as run at once.
    void next() {
        const std::size_t count = std::min(options_.members, sweep_.size() - done_);
        std::vector<std::vector<double>> points;
        for (std::size_t k = 0; k < count; ++k) points.push_back(sweep_.parameters(done_ + k));
        const std::vector<Ensemble::Result> results = ensemble_.evaluate(points, options_.gradient);
        for (const Ensemble::Result& result : results) {
            std::vector<std::string> row;
            for (const double value : sweep_.coordinates(done_)) row.push_back(number_text(value));
            row.push_back(number_text(result.loss));
            for (const auto& term : result.terms) row.push_back(number_text(term.value));
            if (options_.gradient) add_gradient(result, row);
            table().add(row);
            if (!std::isfinite(result.loss)) ++not_finite_;
            if (std::isfinite(result.loss)) {
                const double size = std::abs(result.loss);
                least_ = std::min(least_, size);
                if (size > worst_) worst_ = size, worst_point_ = done_;
            }
            if (!all_finite(result.gradient) && bad_gradients_++ == 0) bad_point_ = done_;
            if (result.loss < best_) best_ = result.loss, best_point_ = done_;
            ++done_;
        }
        table().flush();
        folder_->check();
    }

    void add_gradient(const Ensemble::Result& result, std::vector<std::string>& row) const {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const bool none = result.gradient.empty();
        for (std::size_t a = 0; a < sweep_.axes().size(); ++a)
            row.push_back(number_text(none ? nan : sweep_.slope(a, result.gradient)));
        if (sweep_.own_parameters() > 0)
            row.push_back(number_text(none ? nan : sweep_.gradient_norm(result.gradient)));
    }

    static bool all_finite(const std::vector<double>& values) {
        return std::all_of(values.begin(), values.end(),
                           [](double value) { return std::isfinite(value); });
    }

    // The variant, run once more; "a.stiffness = 3.0, b.mass = 1.0".
    std::string run_again(std::size_t point, bool keep) {
        Simulation& simulation = sweep_.simulation();
        simulation.parameters().set_values(sweep_.parameters(point));
        simulation.run(keep);
        std::string at;
        const std::vector<double> values = sweep_.coordinates(point);
        for (std::size_t a = 0; a < values.size(); ++a)
            at += (a > 0 ? ", " : "") + sweep_.axes()[a].path + " = " + number_text(values[a]);
        return at;
    }

    // Variants that run side by side are not looked at. One of a suspiciously great loss is run once
    // more, for warnings such as "runaway".
    void look_at_worst() {
        constexpr double suspicious = 1e6;
        if (ended_) return;
        if (worst_ > suspicious || worst_ > suspicious * least_) run_again(worst_point_, false);
    }

    Error no_finite_loss() {
        const std::string at = run_again(0, false);
        return Error(fmt::format("none of the {} losses is finite; at {}: {}", done_, at,
                                 explain_loss(sweep_.simulation())))
            .remedy("vary other values, or make the steps shorter");
    }

    // The first variant whose loss is finite and whose gradient is not, to find out where that arises.
    Error bad_gradient() {
        const std::string at = run_again(bad_point_, true);
        const std::vector<double> gradient = sweep_.simulation().gradient();
        return Error(fmt::format("{} of {} gradients are not finite; at {}: {}", bad_gradients_,
                                 done_, at, explain_gradient(sweep_.simulation(), gradient)))
            .remedy("the other rows of " + (path_ / table_name).string() + " hold");
    }

    void save() {
        document::Node summary = summary_of("batch", sweep_.simulation());
        summary.set("finished", done_ == sweep_.size() && not_finite_ < done_);
        document::Node list = document::Node::array();
        for (const SweepAxis& axis : sweep_.axes()) {
            document::Node values = document::Node::array();
            for (const double value : axis.values) values.push_back(value);
            list.push_back(
                document::Node::object({{"path", axis.path}, {"values", std::move(values)}}));
        }
        summary.set("axes", std::move(list));
        options_.scene.note_changes(summary);
        summary.set("variants", static_cast<std::int64_t>(sweep_.size()));
        summary.set("variants_done", static_cast<std::int64_t>(done_));
        summary.set("not_finite", static_cast<std::int64_t>(not_finite_));
        if (options_.gradient)
            summary.set("gradients_not_finite", static_cast<std::int64_t>(bad_gradients_));
        if (std::isfinite(best_)) {
            document::Node best = document::Node::object({{"loss", best_}});
            const std::vector<double> values = sweep_.coordinates(best_point_);
            for (std::size_t a = 0; a < values.size(); ++a)
                best.set(sweep_.axes()[a].path, values[a]);
            summary.set("best", std::move(best));
        }
        if (!others_.empty()) {
            document::Node more = document::Node::array();
            for (const auto& other : others_) more.push_back(other->options().device->describe());
            summary.set("other_devices", std::move(more));
        }
        summary.set("members_ran", ensemble_.report());
        summary.set("seconds",
                    document::Node::object(
                        {{"compile", sweep_.simulation().options().device->statistics().seconds},
                         {"run", seconds_}}));
        save_summary(*folder_, summary);
    }

    void print() {
        if (options_.quiet) return;
        if (done_ < sweep_.size())
            fmt::print("  stopped after {} of {} variants\n", done_, sweep_.size());
        if (std::isfinite(best_)) {
            fmt::print("  best loss   {} at", number_text(best_));
            const std::vector<double> values = sweep_.coordinates(best_point_);
            for (std::size_t a = 0; a < values.size(); ++a)
                fmt::print("{} {}={}", a > 0 ? "," : "", sweep_.axes()[a].path,
                           number_text(values[a]));
            fmt::print("\n");
        }
        if (not_finite_ > 0) fmt::print("  not finite  {} of the losses\n", not_finite_);
        if (bad_gradients_ > 0)
            fmt::print("  not finite  {} gradients of finite losses\n", bad_gradients_);
        fmt::print("  time        {}, {} for a variant, {}\n", duration_text(seconds_),
                   duration_text(done_ > 0 ? seconds_ / static_cast<double>(done_) : 0),
                   ensemble_.report());
        fmt::print("  results     {}\n", (path_ / table_name).string());
    }

    const BatchOptions& options_;
    Scene scene_;
    Sweep sweep_;
    std::vector<std::unique_ptr<Simulation>> others_;
    Ensemble ensemble_;
    fs::path path_;  // of the results
    std::unique_ptr<ResultsFolder> folder_;
    std::optional<TableWriter> table_;  // batch.csv
    std::size_t done_ = 0, not_finite_ = 0, best_point_ = 0, worst_point_ = 0;
    std::size_t bad_gradients_ = 0, bad_point_ = 0;
    bool ended_ = false;  // in the middle of a run
    double best_ = std::numeric_limits<double>::infinity(), seconds_ = 0;
    double worst_ = 0, least_ = std::numeric_limits<double>::infinity();  // size of a loss
};

}  // namespace

Command add_batch(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("batch", "Run many variants of a scene and tabulate their losses");
    auto options = std::make_shared<BatchOptions>();
    options->scene.add_to(*command);
    const char* group = "Variants";
    command
        ->add_option("--vary", options->vary,
                     "The values of one number: PATH=1,2,5 or PATH=FIRST:LAST:COUNT; repeated, "
                     "every combination runs")
        ->type_name("PATH=VALUES")
        ->required()
        ->allow_extra_args(false)
        ->group(group);
    command->add_flag("--gradient", options->gradient, "Derivatives of every loss as well")
        ->group(group);
    command
        ->add_option("--ensemble", options->ensemble,
                     "How variants run: in SIMD lanes (small scenes), each on one of the threads, "
                     "in turns on all of them, or auto: what is fastest; the same bits")
        ->check(CLI::IsMember({"auto", "lanes", "threads", "turns"}))
        ->capture_default_str()
        ->group(group);
    command->add_option("--members", options->members, "So many variants at once")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str()
        ->type_name("N")
        ->group(group);
    command
        ->add_option("-o,--output", options->output,
                     "Folder for the results (default: out/NAME of the scene)")
        ->type_name("DIR")
        ->group("Results");
    add_quiet(*command, options->quiet);
    command->footer(
        "A path names what a parameter could: a number with a derivative. The results are "
        "batch.csv\n"
        "(values, loss, terms and, with --gradient, derivatives, row by row) and summary.json.\n"
        "Every row has the bits of a run at those values alone. If a gradient is not finite, its "
        "row\nsays so, and the exit status is 1.\n"
        "Example: hindcast batch scenes/spring_cage.json --vary cage.stiffness=50:200:16 "
        "--gradient");
    return {command,
            about_scene(options->scene.scene, [options] { return BatchRun(*options).run(); })};
}

}  // namespace hindcast::cli
