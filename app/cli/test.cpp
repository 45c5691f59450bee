// hindcast test PATH...: the scripted tests of scenes; see sim/scripted/scripted_test.hpp for their
// format.
#include <fmt/format.h>

#include <memory>

#include "app/cli/command.hpp"
#include "app/cli/interrupt.hpp"
#include "engine/backend/jit/interruption.hpp"
#include "engine/base/hash.hpp"
#include "engine/base/stopped.hpp"
#include "engine/sim/scripted/scripted_test.hpp"

namespace hindcast::cli {

namespace {

struct TestArguments {
    std::vector<std::string> paths;
    std::string precision;
    std::vector<std::string> allow_path;
    MachineOptions machine;
    bool update = false, quiet = false;
};

int run(const TestArguments& options) {
    using Verdict = TestOutcome::Verdict;
    TestOptions test;
    test.device = options.machine.device_options();
    if (options.precision == "f32") test.precisions = {ir::Precision::f32};
    if (options.precision == "f64") test.precisions = {ir::Precision::f64};
    test.allowed_paths.assign(options.allow_path.begin(), options.allow_path.end());
    test.update = options.update;
    test.go_on = [] { return !interrupted(); };

    int passed = 0, failed = 0, skipped = 0;
    const auto report = [&](const TestOutcome& outcome) {
        const bool notable = outcome.verdict == Verdict::failed || !outcome.messages.empty();
        switch (outcome.verdict) {
            case Verdict::passed:
                ++passed;
                say(options.quiet && !notable, "ok       {}  ({:.2f} s)\n", outcome.name,
                    outcome.seconds);
                break;
            case Verdict::failed:
                ++failed;
                fmt::print("FAILED   {}  ({:.2f} s)\n", outcome.name, outcome.seconds);
                break;
            case Verdict::skipped:
                ++skipped;
                say(options.quiet, "skipped  {}\n", outcome.name);
                break;
        }
        if (outcome.verdict != Verdict::skipped || !options.quiet)
            for (const std::string& message : outcome.messages)
                fmt::print("         {}\n", message);
        std::fflush(stdout);
    };
    try {
        const backend::Interruptible here(stop_if_interrupted);
        for (const auto& file : find_tests({options.paths.begin(), options.paths.end()})) {
            run_scripted_test(file, registry(), test, report);
            if (interrupted()) break;
        }
    } catch (const Stopped&) {  // NOLINT(bugprone-empty-catch): the status says it
    }
    fmt::print("{} passed, {} failed, {} skipped\n", passed, failed, skipped);
    if (interrupted()) return interrupted_status();
    return failed > 0 ? 1 : 0;
}

}  // namespace

Command add_test(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("test", "Run the scripted tests that stand beside scenes");
    auto options = std::make_shared<TestArguments>();
    command
        ->add_option("path", options->paths,
                     "Scenes, tests (NAME.test.json) or folders, which are searched")
        ->required()
        ->type_name("PATH");
    command->add_flag("--update", options->update,
                      "Accept changed figures: rewrites \"pinned\" and shows the difference");
    command->add_option("--precision", options->precision, "Only the tests in f32 or f64")
        ->check(CLI::IsMember({"f32", "f64"}))
        ->group("Machine");
    options->machine.add_to(*command);
    add_allow_path(*command, options->allow_path);
    add_quiet(*command, options->quiet);
    command->footer(
        "The last line counts the tests; the exit status is 1 if one failed.\n"
        "Example: hindcast test scenes/");
    return {command, [options] { return run(*options); }};
}

}  // namespace hindcast::cli
