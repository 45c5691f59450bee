#include "app/cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <new>
#include <set>
#include <utility>

#include "engine/backend/optional_passes.hpp"
#include "engine/base/hash.hpp"
#include "engine/base/log.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/document/text.hpp"
#include "engine/robot/robot_scene.hpp"
#include "engine/sim/gradients/adjoint_norms.hpp"
#include "engine/sim/non_finite.hpp"
#include "engine/sim/results/results.hpp"
#include "engine/sim/scene/path.hpp"
#include "engine/sim/scene/scene_check.hpp"
#include "engine/sim/values/checkpoint.hpp"
#include "engine/sim/values/set_value.hpp"

namespace hindcast::cli {

namespace {

constexpr const char* scene_group = "What runs";
constexpr const char* machine_group = "Machine";
constexpr const char* result_group = "Results";

std::string check_assignment(const std::string& text) {
    try {
        split_assignment(text);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

std::string check_device(const std::string& name) {
    try {
        DeviceOptions options;
        if (name != "auto") choose_device(options, name);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

// CLI11 takes what is negative or too large modulo 2^64.
std::string check_seed(const std::string& text) {
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error == std::errc() && end == text.data() + text.size()) return "";
    return "'" + text + "' is no whole number from 0 to 18446744073709551615";
}

std::string check_size(const std::string& text) {
    try {
        parse_bytes(text);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

}  // namespace

const Registry& registry() {
    static const Registry all = [] {
        Registry fresh;
        register_all_modules(fresh);
        return fresh;
    }();
    return all;
}

Action about_scene(const std::string& scene, Action action) {
    return [&scene, action = std::move(action)] {
        try {
            return action();
        } catch (const std::bad_alloc&) {
            throw Error(scene + ": the machine has too little memory for this")
                .remedy("try fewer elements or steps");
        } catch (const std::exception& error) {
            const std::string message = error.what();
            if (scene.empty() || message.find(scene) != std::string::npos) throw;
            throw Error(scene + ": " + message);
        }
    };
}

void add_without(CLI::App& app, std::string& names, const std::string& group) {
    std::string known;
    for (const PassInfo& pass : all_passes())
        known += fmt::format("\n{:<18} {}", pass.name, pass.meaning);
    app.add_option("--without", names,
                   "Leave out these optional passes, with commas between, or all; the same bits, "
                   "slower:" +
                       known)
        ->type_name("NAMES")
        ->group(group);
}

void MachineOptions::add_to(CLI::App& app) {
    app.add_option("--device", device,
                   "What runs the kernels: cpu (compiled), interpreter (slow), cuda, cuda:1 (the "
                   "second one), auto (cuda where there is one); for batch and optimize --starts "
                   "also cuda:0,1 or cuda:all; the same bits")
        ->check(CLI::Validator(check_device, ""))
        ->type_name("DEVICE")
        ->capture_default_str()
        ->group(machine_group);
    app.add_option("--threads", threads, "Number of threads (default: all that there are)")
        ->check(CLI::Range(1, ThreadPool::max_threads))
        ->group(machine_group);
    app.add_option("--whole-program", whole_program,
                   "Small roll-outs as one compiled function: auto (what is faster, by "
                   "measurement), always or never; the same bits")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str()
        ->group(machine_group);
    add_without(app, without, machine_group);
    app.add_flag("--nondeterministic", nondeterministic,
                 "On a CUDA device add up in any order where that is faster: the last bits differ "
                 "from run to run")
        ->group(machine_group);
    app.add_option("--width", width, "SIMD lanes: 1, 4, 8 or 16 (default: chosen by the machine)")
        ->check(CLI::IsMember({1, 4, 8, 16}))
        ->group(machine_group);
    app.add_flag(
           "--checked", checked,
           "Look for wrong indices in every launch, and after every step for numbers that are not "
           "finite")
        ->group(machine_group);
}

DeviceOptions MachineOptions::device_options(bool several) const {
    const WholeProgramUse use = whole_program == "always"  ? WholeProgramUse::always
                                : whole_program == "never" ? WholeProgramUse::never
                                                           : WholeProgramUse::automatic;
    DeviceOptions options{.kind = DeviceKind::cpu,
                          .threads = threads,
                          .width = width,
                          .checked = checked,
                          .whole_program = use,
                          .passes = PassSet::without(without)};
    choose_device(options, device);
    options.nondeterministic = nondeterministic;
    if (!options.others.empty() && !several)
        throw Error("several devices are given, but this command runs one simulation")
            .remedy("name one of them; batch and optimize --starts spread theirs over several");
    return options;
}

std::string order_line(const Device& device, int label_width) {
    if (!device.options().nondeterministic) return "";
    return fmt::format(
        "  {:<{}}{}\n", "sums", label_width,
        device.is_deterministic()
            ? "in order: --nondeterministic changes nothing on this device, not a bit"
            : "in any order (--nondeterministic): the last bits differ from run to run");
}

std::vector<std::unique_ptr<Simulation>> on_other_devices(const Simulation& simulation) {
    std::vector<std::unique_ptr<Simulation>> list;
    SimulationOptions options = simulation.options();
    DeviceOptions device = options.device->options();
    for (const int ordinal : std::exchange(device.others, {})) {
        device.ordinal = ordinal;
        options.device = std::make_shared<Device>(device);
        list.push_back(std::make_unique<Simulation>(simulation.scene(), registry(), options));
    }
    return list;
}

std::vector<Simulation*> pointers(const std::vector<std::unique_ptr<Simulation>>& list) {
    std::vector<Simulation*> all;
    for (const auto& simulation : list) all.push_back(simulation.get());
    return all;
}

void SceneOptions::add_to(CLI::App& app) {
    app.add_option("scene", scene, "The scene file (JSON)")->required()->type_name("SCENE");
    app.add_option("--checkpoint", checkpoint,
                   "Begin with the values of this checkpoint of the scene; --set comes after it")
        ->type_name("NAME")
        ->group(scene_group);
    app.add_option("--set", set,
                   "Change a number of the scene, such as cage.stiffness=50; repeatable")
        ->type_name("PATH=VALUE")
        ->check(CLI::Validator(check_assignment, ""))
        ->allow_extra_args(false)
        ->group(scene_group);
    app.add_option("--steps", steps, "Make so many steps instead of the scene's number")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{100'000'000}))
        ->type_name("N")
        ->group(scene_group);
    app.add_option("--seed", seed, "Mixed into every random seed of the scene; 0 changes nothing")
        ->check(CLI::Validator(check_seed, ""))
        ->capture_default_str()
        ->type_name("N")
        ->group(scene_group);
    add_allow_path(app, allow_path);
    app.add_option("--precision", precision, "Numbers of 32 or 64 bits: f32 or f64")
        ->check(CLI::IsMember({"f32", "f64"}))
        ->capture_default_str()
        ->group(machine_group);
    app.add_option("--memory", memory,
                   "What gradients may take, such as 64MiB (default: the scene's gradients.memory, "
                   "or half of the memory that is free)")
        ->type_name("SIZE")
        ->check(CLI::Validator(check_size, ""))
        ->group(machine_group);
    app.add_option("--spill", spill,
                   "Keep stored states in an unnamed file in this folder instead of in memory")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory)
        ->group(machine_group);
    app.add_flag("--strict", strict, "Take a warning about the scene as an error")
        ->group(scene_group);
    machine.add_to(app);
}

std::function<void(const Warning&)> warning_printer() {
    return [said = std::make_shared<std::set<std::string>>()](const Warning& warning) {
        const std::string text = warning.text();
        if (said->insert(text).second) log_warning("{}", text);
    };
}

void add_allow_path(CLI::App& app, std::vector<std::string>& folders) {
    app.add_option("--allow-path", folders,
                   "A folder, besides the scene's own, whose files the scene may read; repeatable")
        ->type_name("DIR")
        ->allow_extra_args(false)
        ->group(scene_group);
}

Scene SceneOptions::load() const {
    if (!document::is_utf8(scene))  // summaries and saved scenes name it
        throw Error("the path " + document::shown(scene, 200) + " of the scene is not UTF-8")
            .remedy("rename the file or its folder");
    if (robot::is_robot_file(scene))
        throw Error(document::shown(scene, 200) + " is a model of a robot, not a scene")
            .remedy("'hindcast import' with its name makes a scene of it");
    Scene loaded = Scene::load(scene);
    SimulationOptions options;  // for the evaluation of values
    options.seed = seed;
    options.allowed_paths.assign(allow_path.begin(), allow_path.end());
    if (!checkpoint.empty()) use_checkpoint(loaded, registry(), options, checkpoint);
    for (const std::string& assignment : set)
        set_assignment(loaded, registry(), options, assignment);
    check_optimizer(loaded.document().root());
    return loaded;
}

void SceneOptions::note_changes(document::Node& summary) const {
    document::Node changes = document::Node::array();
    for (const std::string& change : set) changes.push_back(change);
    if (steps >= 0) changes.push_back(fmt::format("time.steps={}", steps));
    if (changes.size() == 0 && checkpoint.empty()) return;
    summary.set("set", std::move(changes));
    summary.set("checkpoint", checkpoint);
}

SimulationOptions SceneOptions::simulation_options(bool several_devices) const {
    SimulationOptions options;
    options.device = std::make_shared<Device>(machine.device_options(several_devices));
    options.precision = precision == "f64" ? ir::Precision::f64 : ir::Precision::f32;
    options.seed = seed;
    options.steps = steps;
    if (!memory.empty()) options.gradient_memory = parse_bytes(memory);
    options.spill = spill;
    options.strict = strict;
    options.on_warning = warning_printer();
    options.allowed_paths.assign(allow_path.begin(), allow_path.end());
    return options;
}

void check_unused(Simulation& simulation) { OutputPlan::read(simulation); }

void require_folder_of(const std::filesystem::path& file) {
    const std::filesystem::path folder = file.parent_path();
    std::error_code ignored;
    if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return;
    throw Error("cannot write '" + file.string() + "': there is no folder '" + folder.string() +
                "'")
        .remedy("make the folder, or name another one");
}

void complain(const std::string& message) noexcept {
    std::fflush(stdout);
    for (const char* const part : {"hindcast: ", message.c_str(), "\n"}) std::fputs(part, stderr);
}

void add_quiet(CLI::App& app, bool& quiet) {
    app.add_flag("--quiet", quiet, "Print nothing but warnings and errors")
        ->each([](const std::string&) { set_log_level(LogLevel::warning); })
        ->group(result_group);
}

void ResultOptions::add_to(CLI::App& app) {
    app.add_option("-o,--output", output, "Folder for the results (default: out/NAME of the scene)")
        ->type_name("DIR")
        ->group(result_group);
    app.add_flag("--profile", profile, "Time every launch and print a table")->group(result_group);
    add_quiet(app, quiet);
}

std::filesystem::path ResultOptions::folder(const Scene& scene) const {
    return output.empty() ? default_folder(scene) : std::filesystem::path(output);
}

std::filesystem::path default_folder(const Scene& scene) {
    const std::filesystem::path name = scene.file().stem();
    if (name.empty() || name == "." || name == "..")
        throw Error("the scene's file name gives no name for a folder of results")
            .remedy("choose a folder with --output, or rename the file");
    return std::filesystem::path("out") / name;
}

std::string duration_text(double seconds) {
    if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
    if (seconds >= 1e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
    return fmt::format("{:.0f} us", seconds * 1e6);
}

void refuse_whole_program(const Device& device, const std::string& why) {
    if (device.options().whole_program != WholeProgramUse::always) return;
    throw Error("--whole-program always cannot be obeyed: " + why).remedy("leave one of them away");
}

void print_profile(Rollout& rollout, const std::string& why_launches) {
    const std::vector<Rollout::Profile> profiles = rollout.profiles();
    double total = 0;
    std::size_t width = 6;
    std::int64_t copies = 0, copied = 0;
    for (const Rollout::Profile& p : profiles) {
        total += p.seconds;
        copies += p.copies;
        copied += p.copied_bytes;
        width = std::max(width, p.launch.size());
    }
    fmt::print("\n{:<{}}  {:<15}  {:>9}  {:>11}  {:>10}  {:>6}", "launch", width, "direction",
               "runs", "total ms", "us per run", "share");
    fmt::print("{}\n", copies > 0 ? "     copies  MiB copied" : "");
    for (const Rollout::Profile& p : profiles) {
        fmt::print("{:<{}}  {:<15}  {:>9}  {:>11.3f}  {:>10.3f}  {:>5.1f}%", p.launch, width,
                   name_of(p.direction), p.runs, p.seconds * 1e3,
                   p.runs > 0 ? p.seconds * 1e6 / static_cast<double>(p.runs) : 0.0,
                   total > 0 ? 100 * p.seconds / total : 0.0);
        if (p.copies > 0)
            fmt::print("  {:>9}  {:>10.3f}", p.copies,
                       static_cast<double>(p.copied_bytes) / 1048576.0);
        fmt::print("\n");
    }
    fmt::print("{:<{}}  {:<15}  {:>9}  {:>11.3f}\n", "all launches", width, "", "", total * 1e3);
    if (copies > 0)
        fmt::print(
            "copies: values that adjoints need and the launch or a later one overwrites, "
            "{} in all, {}\n",
            copies, bytes_text(copied));
    if (const auto [written, joined] = rollout.step_launches(); joined < written)
        fmt::print("fusion: the {} launches of a step run as {}\n", written, joined);
    const std::string whole = rollout.whole_program_report();
    if (!whole.empty())
        fmt::print("whole program: {}; times are those of runs launch by launch\n", whole);
    else if (!why_launches.empty())
        fmt::print("whole program: none, since {}\n", why_launches);
}

void print_kept(Simulation& simulation) {
    if (const std::string joined = simulation.rollout().launch_between_steps(); !joined.empty())
        fmt::print("rotation: between two steps of a run with gradients, {} is one launch\n",
                   joined);
    static constexpr const char* when[] = {"once", "per step", "per event"};
    const std::vector<Rollout::KeptValue> values = simulation.rollout().kept_values();
    const std::vector<Rollout::KeptSum> sums = simulation.rollout().kept_sums();
    if (values.empty() && sums.empty()) return;
    fmt::print("\nkept for adjoints         how often    bytes each\n");
    for (const Rollout::KeptSum& s : sums)
        fmt::print("{:<24}  {:<9}  {:>12}  at most: what is not zero, where that is little\n",
                   s.launch, "per step", s.bytes);
    for (const Rollout::KeptValue& v : values) {
        const std::string name = name_of(simulation.model(), v.array);
        fmt::print("{:<24}  {:<9}  {:>12}{}\n", name.empty() ? v.name : name,
                   when[static_cast<std::size_t>(v.kept)], v.array.bytes(),
                   v.seldom ? "  only where a step is not joined to the one before" : "");
    }
}

}  // namespace hindcast::cli
