// hindcast run SCENE: the forward simulation, once.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "app/cli/command.hpp"
#include "app/cli/gradient_memory.hpp"
#include "app/cli/interrupt.hpp"
#include "app/cli/progress.hpp"
#include "app/export/export.hpp"
#include "engine/base/hash.hpp"
#include "engine/runtime/minimization/minimization.hpp"
#include "engine/sim/non_finite.hpp"
#include "engine/sim/results/results.hpp"

namespace hindcast::cli {

namespace {

constexpr const char* watched = "every step is looked at, to save it";

struct RunOptions {
    SceneOptions scene;
    ResultOptions results;
    std::string formats;  // of the export; "": none
    std::int64_t export_every = 0;
};

void print_outcome(Simulation& simulation, double build_seconds, double run_seconds) {
    const Device::Statistics compiled = simulation.options().device->statistics();
    fmt::print("  loss        {}\n", number_text(simulation.loss()));
    std::size_t width = 0;
    for (const auto& term : simulation.terms()) width = std::max(width, term.name.size());
    for (const auto& term : simulation.terms())
        fmt::print("    {:<{}}  {}  (weight {:g})\n", term.name, width, number_text(term.value),
                   term.weight);
    if (const auto& minimization = simulation.model().minimization()) {
        const MinimizationTotals& t = minimization->totals();
        const double solves = std::max(1.0, static_cast<double>(t.solves));
        fmt::print(
            "  minimized   {:.1f} iterations a step, at most {}; residual {:.1e} N at most\n",
            t.all.iterations / solves, t.most_iterations, t.all.residual);
        if (t.all.projected > 0 || t.all.refused > 0)
            fmt::print(
                "              {} steps of Newton's method with a projected Hessian, {} "
                "trial points refused\n",
                t.all.projected, t.all.refused);
    }
    fmt::print("  state hash  {}\n", to_string(simulation.state_hash().digest()));
    fmt::print("  time        {} to run, {} to build ({} kernels in {})\n",
               duration_text(run_seconds), duration_text(build_seconds), compiled.kernels,
               duration_text(compiled.seconds));
}

int run(const RunOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    const bool quiet = options.results.quiet;
    std::vector<exporting::Format> formats;
    if (!options.formats.empty()) {
        formats = exporting::formats_of(options.formats);
        if (options.results.output.empty())
            throw Error("--export needs a folder for its files")
                .remedy("choose one with --output DIR");
    } else if (options.export_every > 0) {
        throw Error("--export-every without --export").remedy("add --export vtu, ply, obj or usd");
    }
    const Scene scene = options.scene.load();
    const SimulationOptions simulation_options = options.scene.simulation_options();
    refuse_whole_program(*simulation_options.device, fmt::format("in 'hindcast run' {}", watched));
    Simulation simulation(scene, registry(), simulation_options);
    check_unused(simulation);
    std::vector<std::string> written{"states/*.npy"};
    if (!formats.empty())
        for (std::string& name : exporting::exported_files(scene))
            written.push_back(std::move(name));
    const ResultsFolder folder(options.results.folder(scene), written);
    StateRecorder recorder(folder, simulation);
    std::optional<exporting::Exporter> exporter;
    if (!formats.empty())
        exporter.emplace(
            folder.subfolder("export"),
            [&](const std::string& name) { return folder.file("export/" + name); }, simulation,
            formats, options.export_every);
    const std::int64_t total = simulation.steps(), steps = total / scene.substeps();
    say(quiet, "{}\n  device      {}; {}\n  steps       {}{} ({:g} s)\n", scene.name(),
        simulation_options.device->describe(), name_of(simulation_options.precision), steps,
        scene.substeps() > 1 ? fmt::format(" of {} substeps", scene.substeps()) : "",
        scene.step() * static_cast<double>(steps));
    say(quiet, "{}", order_line(*simulation_options.device, 12));
    // Nothing is kept for gradients here; this says what they would take.
    std::optional<GradientMemory> gradients;
    if (options.scene.limits_gradients()) {
        gradients.emplace(simulation);
        if (!quiet) gradients->print_plan(12);
    }
    std::fflush(stdout);

    if (options.results.profile) simulation.rollout().profile(true);
    const double build_seconds = seconds_since(start);
    const auto run_start = std::chrono::steady_clock::now();
    std::int64_t done = 0;
    {
        Progress progress("step", total, Progress::Pipe::silent, quiet);
        simulation.run(false, [&](std::int64_t steps_done) {
            done = steps_done;
            const bool finite = recorder.watch(done);
            if (exporter) exporter->watch(done);
            progress.update(done);
            return finite && (done == 0 || !interrupted());  // the first step compiles
        });
    }
    recorder.finish();
    if (exporter) exporter->finish();
    const double run_seconds = seconds_since(run_start);
    const bool diverged = simulation.rollout().divergence().has_value();
    const bool finished = done == total && !diverged;

    document::Node summary = summary_of("run", simulation);
    add_outcome(summary, simulation, finished);
    summary.set("steps_done", done / scene.substeps());
    summary.set("states", recorder.describe());
    if (exporter) summary.set("export", exporter->describe());
    if (gradients) summary.set("gradient_memory", gradients->node());
    summary.set("seconds", document::Node::object(
                               {{"build", build_seconds},
                                {"compile", simulation_options.device->statistics().seconds},
                                {"run", run_seconds}}));
    save_summary(folder, summary);

    if (finished && !quiet) print_outcome(simulation, build_seconds, run_seconds);
    say(quiet, "  results     {} ({} frames)\n", folder.path().string(), recorder.frames());
    if (options.results.profile && !quiet) print_profile(simulation.rollout(), watched);
    if (!finished && !diverged) {
        say(quiet, "stopped after {} of {} steps\n", done / scene.substeps(),
            total / scene.substeps());
        return interrupted_status();
    }
    if (diverged || !std::isfinite(simulation.loss())) throw Error(explain_loss(simulation));
    return 0;
}

}  // namespace

Command add_run(CLI::App& app) {
    CLI::App* command = app.add_subcommand("run", "Simulate a scene and save its states");
    auto options = std::make_shared<RunOptions>();
    options->scene.add_to(*command);
    options->results.add_to(*command);
    command
        ->add_option(
            "--export", options->formats,
            "Also write the motion for other programs into export/: usd (Blender, Houdini and "
            "others: one file, also with rigid bodies and obstacles), vtu (ParaView; with state "
            "arrays and all that 'hindcast info --scene' lists as shown, such as stresses), "
            "ply, obj; several with commas")
        ->type_name("FORMAT")
        ->group("Results");
    command
        ->add_option("--export-every", options->export_every,
                     "Steps between two exported frames (default: as the scene's outputs)")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
        ->group("Results");
    command->footer(
        "The results are summary.json, one array of frames per state in states/, and what --export "
        "asks for in export/.\n"
        "Example: hindcast run scenes/spring_cage.json --set cage.stiffness=50");
    return {command, about_scene(options->scene.scene, [options] { return run(*options); })};
}

}  // namespace hindcast::cli
