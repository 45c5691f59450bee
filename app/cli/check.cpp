// hindcast check SCENE: is the gradient right? Prints the tables of
// sim/gradients/gradient_check.hpp.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "app/cli/command.hpp"
#include "app/cli/gradient_memory.hpp"
#include "app/cli/interrupt.hpp"
#include "app/cli/progress.hpp"
#include "engine/backend/jit/interruption.hpp"
#include "engine/base/hash.hpp"
#include "engine/base/log.hpp"
#include "engine/sim/gradients/adjoint_norms.hpp"
#include "engine/sim/gradients/gradient_check.hpp"

namespace hindcast::cli {

namespace {

struct CheckOptions {
    SceneOptions scene;
    GradientCheckOptions check;
    std::string adjoint_norms;
    bool quiet = false;
};

int run(const CheckOptions& options) {
    const Scene scene = options.scene.load();
    const SimulationOptions simulation = options.scene.simulation_options();
    GradientCheckOptions wanted = options.check;
    GradientReport report;
    std::optional<GradientMemory> memory;
    wanted.before_gradient = [&](Simulation& f64) {
        check_unused(f64);
        memory.emplace(f64);
        say(options.quiet, "{}\n{}", scene.name(), order_line(*simulation.device, 14));
        if (!options.quiet) memory->print_plan();
        std::fflush(stdout);
    };
    wanted.after_gradient = [&](Simulation&) {
        if (!options.quiet) memory->print_peak();
        memory.reset();
    };
    {
        std::optional<Progress> progress;
        wanted.go_on = [&](std::int64_t done, std::int64_t total) {
            if (!progress)
                progress.emplace("comparison", total, Progress::Pipe::silent, options.quiet);
            progress->update(done);
            return !interrupted();
        };
        const backend::Interruptible here(stop_if_interrupted);
        report = check_gradients(scene, registry(), simulation, wanted);
    }
    if (report.stopped && report.entries.empty() && report.directions.empty()) {
        say(options.quiet, "stopped before the first comparison\n");
        return interrupted_status();
    }
    say(options.quiet, "  result        loss {:.12g}, gradient norm {:.9g}, {} parameter{}\n\n{}",
        report.loss, report.gradient_norm, report.parameters, report.parameters == 1 ? "" : "s",
        to_text(report));
    if (!options.adjoint_norms.empty()) write_csv(options.adjoint_norms, report.adjoint_norms);
    if (report.stopped) {
        say(options.quiet, "stopped before the end\n");
        return interrupted_status();
    }
    const std::size_t failures = report.failures().size();
    if (failures > 0)
        throw Error(fmt::format("{} verdict{} of the gradient check of {} failed", failures,
                                failures == 1 ? "" : "s", options.scene.scene));
    say(options.quiet, "\nall verdicts are ok\n");
    return 0;
}

}  // namespace

Command add_check(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("check", "Compare the gradient with differences of the loss");
    auto options = std::make_shared<CheckOptions>();
    options->scene.precision = "f64";
    options->scene.add_to(*command);
    GradientCheckOptions& check = options->check;
    const char* group = "Check";
    command->add_option("--entries", check.entries, "So many entries one by one, evenly spread")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str()
        ->type_name("N")
        ->group(group);
    command->add_option("--directions", check.directions, "So many random directions")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str()
        ->type_name("N")
        ->group(group);
    command
        ->add_option("--span", check.span,
                     "Widest differences, relative to the parameter, that tell whether the loss is "
                     "smooth; 0: none")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str()
        ->type_name("S")
        ->group(group);
    command->add_flag("--hessian", check.hessian, "Check Hessian-vector products as well")
        ->group(group);
    command->add_option("--tolerance", check.tolerance, "Relative error allowed to differences")
        ->check(CLI::PositiveNumber)
        ->capture_default_str()
        ->group(group);
    command
        ->add_option("--adjoint-norms", options->adjoint_norms,
                     "Write the norm of the adjoint of the state at each step into this file (CSV)")
        ->type_name("FILE")
        ->group(group);
    add_quiet(*command, options->quiet);
    command->footer(
        "Differences are those of the f64 program; --precision f32 compares the f32 gradient with\n"
        "the f64 one as well. The exit status is 1 if a verdict failed.\n"
        "Verdicts: ok; a kink: the derivative to the left is not the one to the right, and the\n"
        "adjoint is one of them or lies between; not smooth: the adjoint is that of the program,\n"
        "but wider differences do not lead to it (contact that happens at whole steps, jumps), so\n"
        "that an optimizer is misled; WRONG: differences agree with each other and not with the\n"
        "adjoint; unclear: too coarse for the tolerance. \"holds within\" is the widest step,\n"
        "relative to the parameter, from which on the loss follows the adjoint within 5 %.\n"
        "\"minima\" (implicit integrators): how far from the exact minima the steps' searches "
        "ended, and\n"
        "what that does to loss and gradient, to first order; more than the tolerance fails.\n"
        "Near an optimum errors are relative to the terms that cancel, not to what is left.\n"
        "With gradients.horizon in the scene the gradient of the last steps is checked, against\n"
        "differences of runs from the state before them; --set gradients.horizon=N with all N\n"
        "steps of the scene checks the whole gradient.\n"
        "Example: hindcast check scenes/spring_cage.json --hessian");
    return {command, about_scene(options->scene.scene, [options] { return run(*options); })};
}

}  // namespace hindcast::cli
