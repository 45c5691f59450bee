// The time that a user waits: this program as processes of its own, from their start to their end.
//
//   waiting     for a cart pole, the quadruped and the humanoid of the bundled scenes, and the shadow hand:
//               with an empty cache of compiled code, `run` (forward) and `optimize` of one
//               iteration (forward + backward); processor time of both; the same with what these left in
//               the cache. Then, with a cloth of 128 x 128 springs and 40000 steps: from Ctrl-C after a
//               second to the end of `run`, `check` and `optimize`. Then, in this process, the first
//               gradient of cloth and of material points over a later one. With a window: `view` to a
//               saved first picture.
//
// The hand is `envs/assets/hand/reach.xml` of PyPI's gymnasium-robotics, which HINDCAST_HAND names; tests/bench/waiting
// fetches it. Times of this workload are of one process each, not the fastest of several.
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "app/cli/bench/bench.hpp"
#include "app/cli/bundled_scenes.hpp"
#include "app/cli/progress.hpp"
#include "app/cli/temporary_folder.hpp"
#include "engine/base/environment.hpp"
#include "engine/base/files.hpp"
#include "engine/document/text.hpp"
#include "engine/robot/mujoco_library.hpp"

namespace hindcast::cli {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using SteadyClock = std::chrono::steady_clock;

struct Spent {
    double wall = 0, processor = 0;  // s
};

// This program with a cache folder of its own.
class Program {
public:
    explicit Program(const fs::path& cache) : errors_(cache.string() + ".errors") {
        for (char** entry = environ; *entry != nullptr; ++entry) {
            const std::string_view text = *entry;
            if (!text.starts_with("HINDCAST_CACHE=") && !text.starts_with("HINDCAST_MUJOCO="))
                environment_.emplace_back(text);
        }
        // Found there by default.
        environment_.push_back("HINDCAST_MUJOCO=" + robot::mujoco_library().info().path);
        environment_.push_back("HINDCAST_CACHE=" + cache.string());
    }

    // To its end, which is to be a good one.
    Spent run(const Words& words) const {
        const SteadyClock::time_point begin = SteadyClock::now();
        const auto [status, used] = wait(start(words));
        Spent spent{.wall = seconds_since(begin)};
        for (const timeval& t : {used.ru_utime, used.ru_stime})
            spent.processor +=
                static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            throw Error("'hindcast " + in_one_line(words) + "' failed")
                .remedy("it says: " + read_file(errors_));
        return spent;
    }
    // From Ctrl-C, a second after its start, to its end.
    double interrupted(const Words& words) const {
        const pid_t process = start(words);
        std::this_thread::sleep_for(std::chrono::seconds(1));
        const SteadyClock::time_point begin = SteadyClock::now();
        ::kill(process, SIGINT);
        wait(process);
        return seconds_since(begin);
    }

private:
    static std::string in_one_line(const Words& words) {
        std::string line;
        for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
        return line;
    }
    pid_t start(const Words& words) const {
        std::vector<char*> arguments{const_cast<char*>("hindcast")}, environment;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        for (const std::string& entry : environment_)
            environment.push_back(const_cast<char*>(entry.c_str()));
        arguments.push_back(nullptr);
        environment.push_back(nullptr);
        posix_spawn_file_actions_t silent;
        ::posix_spawn_file_actions_init(&silent);
        ::posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        ::posix_spawn_file_actions_addopen(&silent, STDERR_FILENO, errors_.c_str(),
                                           O_WRONLY | O_CREAT | O_TRUNC, 0600);
        pid_t process = 0;
        const int failed = ::posix_spawn(&process, "/proc/self/exe", &silent, nullptr,
                                         arguments.data(), environment.data());
        ::posix_spawn_file_actions_destroy(&silent);
        if (failed != 0)
            throw Error("this program cannot be started once more: " +
                        std::string(std::strerror(failed)))
                .remedy("look at the limits of processes and memory");
        return process;
    }
    static std::pair<int, rusage> wait(pid_t process) {
        int status = 0;
        rusage used{};
        while (::wait4(process, &status, 0, &used) < 0)
            if (errno != EINTR) throw Error("internal: a process that was started is not there");
        return {status, used};
    }
    std::string errors_;  // the file of the last process's error stream
    std::vector<std::string> environment_;
};

// `allowed`: a folder, besides the scene's, that it reads from; or empty.
BenchResult first_run(const std::string& name, const fs::path& scene,
                      const fs::path& allowed = {}) {
    const TemporaryFolder folder;
    const std::string out = (folder.path() / "out").string(), file = scene.string();
    Words run{"run", file, "--quiet", "--output", out},
        optimize{"optimize", file, "--quiet", "--iterations", "1", "--output", out};
    if (!allowed.empty())
        for (Words* words : {&run, &optimize})
            words->insert(words->end(), {"--allow-path", allowed.string()});
    const Program one(folder.path() / "run"), other(folder.path() / "optimize");
    const Spent cold_run = one.run(run), warm_run = one.run(run), cold = other.run(optimize),
                warm = other.run(optimize);
    BenchResult r{.workload = "waiting_" + name};
    r.forward_s = cold_run.wall;
    r.forward_backward_s = cold.wall;
    r.more = {{"run_processor_s", cold_run.processor},
              {"optimize_processor_s", cold.processor},
              {"warm_run_s", warm_run.wall},
              {"warm_optimize_s", warm.wall}};
    return r;
}

BenchResult interrupts() {
    const TemporaryFolder folder;
    folder.write("net.json", spring_net_scene(128, 40000));
    const std::string scene = (folder.path() / "net.json").string(),
                      out = (folder.path() / "out").string();
    const Program program(folder.path() / "cache");
    BenchResult r{.workload = "waiting_ctrl_c"};
    for (const char* command : {"run", "check", "optimize"}) {
        Words words{command, scene, "--quiet"};
        if (std::string_view(command) != "check") words.insert(words.end(), {"--output", out});
        const double seconds = program.interrupted(words);
        r.forward_s = std::max(r.forward_s, seconds);
        r.more.emplace_back(std::string(command) + "_s", seconds);
    }
    r.forward_backward_s = r.forward_s;
    return r;
}

BenchResult first_gradient(const std::string& name, const std::string& text,
                           const BenchOptions& options) {
    Registry registry;
    register_all_modules(registry);
    SimulationOptions so;
    so.device = std::make_shared<Device>(options.device);
    so.precision = options.precision;
    const TemporaryFolder folder;
    Simulation simulation(
        Scene::of(document::Document::parse(text, name), folder.path() / "scene.json"), registry,
        so);
    simulation.run(false);  // compiled
    std::vector<double> times;
    for (int k = 0; k < 4; ++k) {
        const SteadyClock::time_point begin = SteadyClock::now();
        simulation.run(true);
        simulation.gradient();
        times.push_back(seconds_since(begin));
    }
    BenchResult r{.workload = "waiting_first_gradient_" + name};
    r.forward_s = *std::min_element(times.begin() + 1, times.end());
    r.forward_backward_s = times.front();
    r.more = {{"first_over_later", r.forward_backward_s / r.forward_s}};
    return r;
}

std::vector<BenchResult> waiting(const BenchOptions& options) {
    std::vector<BenchResult> results;
    fs::path robots;
    for (const fs::path& folder : bundled_scenes())
        if (fs::exists(folder / "robots" / "humanoid.json")) robots = folder / "robots";
    if (robots.empty())
        throw Error("the bundled scenes are not there")
            .remedy("run the program of a clone or of an installation");
    for (const char* name : {"cart_pole", "quadruped", "humanoid"})
        results.push_back(first_run(name, robots / (std::string(name) + ".json")));
    const TemporaryFolder folder;
    if (const std::string hand = environment("HINDCAST_HAND"); !hand.empty()) {
        // Its meshes lie beside its folder.
        const fs::path assets = fs::path(hand).parent_path().parent_path();
        folder.write("hand.json",
                     fmt::format(R"json({{"format": 1, "time": {{"step": 0.002, "steps": 20}},
            "bodies": [{{"type": "articulated", "name": "hand", "model": {}}}],
            "objective": [{{"type": "joint_target", "of": "hand"}}], "parameters": [{{"path": "hand.body_mass"}}]}})json",
                                 document::json_quoted(hand)));
        results.push_back(first_run("hand", folder.path() / "hand.json", assets));
    } else {
        fmt::print(stderr,
                   "waiting_hand is left out: HINDCAST_HAND does not name its model; "
                   "tests/bench/waiting fetches it\n");
    }
    results.push_back(interrupts());
    results.push_back(first_gradient("cloth", spring_net_scene(128, 200), options));
    results.push_back(first_gradient("points", material_block_scene(200), options));
#ifdef HINDCAST_VIEW
    const Program program(folder.path() / "cache");
    const Words view{"view",         (robots.parent_path() / "spring_cage.json").string(),
                     "--screenshot", (folder.path() / "picture.png").string(),
                     "--frames",     "1"};
    program.run(view);
    BenchResult r{.workload = "waiting_view"};
    r.forward_s = r.forward_backward_s = program.run(view).wall;
    results.push_back(r);
#endif
    return results;
}

}  // namespace

std::vector<Workload> waiting_workloads() {
    return {{"waiting", "from a cold start to first results, and from Ctrl-C to the end", waiting,
             false}};
}

}  // namespace hindcast::cli
