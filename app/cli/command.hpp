// The commands of the program, and what they share: options, scene loading, failure, output.
//
// Each command has a file of its own with one function add_NAME(app): it adds the subcommand and
// its options, and returns what is to be done if it was chosen, whose result is the exit status:
//   0 success; 1 failure, with one message on the error stream; 2 a wrong command line (main.cpp);
//   128 + signal after Ctrl-C or a termination request, when what was computed has been saved.
// Results go to the output stream, messages and progress to the error stream.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/hash.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::cli {

using Action = std::function<int()>;

struct Command {
    CLI::App* app = nullptr;
    Action action;
};

Command add_run(CLI::App& app);
Command add_optimize(CLI::App& app);
Command add_identify(CLI::App& app);
Command add_check(CLI::App& app);
Command add_batch(CLI::App& app);
Command add_test(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_info(CLI::App& app);
Command add_import(CLI::App& app);
#ifdef HINDCAST_VIEW
Command add_render(CLI::App& app);
Command add_view(CLI::App& app);
#endif

// The action, whose failures name the scene's file where they do not anyway.
Action about_scene(const std::string& scene, Action action);

// --without: names for PassSet::without().
void add_without(CLI::App& app, std::string& names, const std::string& group);

// Every module that was built in.
const Registry& registry();

// --device, --threads, --width, --checked, --whole-program, --without, --nondeterministic: where and
// how kernels run.
struct MachineOptions {
    std::string device = "cpu";
    int threads = 0, width = 0;
    std::string whole_program = "auto";
    std::string without;  // passes
    bool checked = false, nondeterministic = false;

    void add_to(CLI::App& app);
    // `several`: more than one CUDA device may be named; else that is an Error.
    DeviceOptions device_options(bool several = false) const;
};

// The scene, what is changed in it, and what it runs on.
struct SceneOptions {
    std::string scene;
    std::string checkpoint;        // of the scene, whose values come first
    std::vector<std::string> set;  // path=value
    std::int64_t steps = -1;
    std::uint64_t seed = 0;
    std::string precision = "f32";
    std::vector<std::string> allow_path;
    std::string memory, spill;  // of gradients
    bool strict = false;        // warnings are errors
    MachineOptions machine;

    void add_to(CLI::App& app);
    bool limits_gradients() const { return !memory.empty() || !spill.empty(); }
    // With the values of --checkpoint and the changes of --set. Throws Error.
    Scene load() const;
    // "checkpoint" and "set" of a summary: what the results were made with; --steps as one of the
    // latter. Nothing where nothing was changed.
    void note_changes(document::Node& summary) const;
    // Each warning is printed once.
    SimulationOptions simulation_options(bool several_devices = false) const;
};

// Prints each warning once, however many simulations of a scene find it.
std::function<void(const Warning&)> warning_printer();

// The effect of --nondeterministic on this device, as a line of output whose text begins after so
// many columns; "" if it was not asked for.
std::string order_line(const Device& device, int label_width);
// Simulations like this one on the further devices that it was given (DeviceOptions::others).
std::vector<std::unique_ptr<Simulation>> on_other_devices(const Simulation& simulation);
std::vector<Simulation*> pointers(const std::vector<std::unique_ptr<Simulation>>& list);

// Throws Error at a mistake in what the scene says for other commands: its outputs.
void check_unused(Simulation& simulation);

// --output, --quiet, --profile.
struct ResultOptions {
    std::string output;
    bool quiet = false, profile = false;

    void add_to(CLI::App& app);
    // --output, or out/NAME of the scene file NAME.json.
    std::filesystem::path folder(const Scene& scene) const;
};

// out/NAME of the scene file NAME.json. Throws Error if the name is none for a folder.
std::filesystem::path default_folder(const Scene& scene);

// Throws Error if the folder that the file is to be in is missing: before the work, not after it.
void require_folder_of(const std::filesystem::path& file);

// "hindcast: MESSAGE" on the error stream; throws nothing if that cannot be written, since no
// report is possible.
void complain(const std::string& message) noexcept;

void add_quiet(CLI::App& app, bool& quiet);
void add_allow_path(CLI::App& app, std::vector<std::string>& folders);

// Prints to the output stream unless quiet.
template <class... Args>
void say(bool quiet, fmt::format_string<Args...> format, Args&&... arguments) {
    if (!quiet) fmt::print(format, std::forward<Args>(arguments)...);
}

// "1.25 s", "3.1 ms", "45 us".
std::string duration_text(double seconds);

// The table that --profile asks for: one line per launch and direction. `why_launches`: why runs go
// launch by launch, where that is not the roll-out's choice.
void print_profile(Rollout& rollout, const std::string& why_launches = "");
// Throws Error if `--whole-program always` asks for what cannot be, for this reason.
void refuse_whole_program(const Device& device, const std::string& why);
// And what is kept for the adjoints: one line per value.
void print_kept(Simulation& simulation);

}  // namespace hindcast::cli
