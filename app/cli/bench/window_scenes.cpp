// window_scenes: each of the bundled scenes, in the gallery's order, is opened in the window, runs to
// its end once, has its gradient, and is then played over and over for four seconds, without shadows, ambient
// occlusion and antialiasing, at 1280 x 720: at 60 steps of the simulation a second, or at the
// scene's own speed where that is faster. `steps` are the pictures of another step that were shown,
// pictures_per_second how many of them in a second (60 at most), forward_s is the median of what a
// frame with such a picture takes, from its start until it is done.
//
// --scenes NAME,NAME plays these only.
#include <algorithm>

#include "app/cli/bench/screenless.hpp"
#include "app/cli/bundled_scenes.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/scene_card.hpp"
#include "app/gui/work/state/measured.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"

namespace hindcast::cli {

namespace {

namespace fs = std::filesystem;

// Those that were asked for by name, else all of the gallery.
std::vector<fs::path> scenes_of(const std::vector<std::string>& names) {
    const std::vector<fs::path> folders = bundled_scenes();
    if (folders.empty())
        throw Error("the bundled scenes were not found")
            .remedy("name their folder in HINDCAST_SCENES");
    std::vector<fs::path> all, chosen;
    for (const fs::path& folder : folders)
        for (const gui::SceneGroup& group : gui::scene_groups(folder))
            all.insert(all.end(), group.scenes.begin(), group.scenes.end());
    if (names.empty()) return all;
    for (const std::string& name : names) {
        const auto found =
            std::ranges::find(all, name, [](const fs::path& p) { return p.stem().string(); });
        if (found == all.end()) throw Error("the gallery has no scene '" + name + "'");
        chosen.push_back(*found);
    }
    return chosen;
}

BenchResult play(const BenchOptions& options, const fs::path& scene) {
    constexpr double seconds = 4;
    Screenless screen(options);
    screen.work().settings.samples = 1;
    screen.work().settings.shadows = screen.work().settings.ambient_occlusion = false;
    screen.work().opening.open(scene);
    const auto now = [&]() -> const session::Snapshot& { return screen.work().running.now(); };
    screen.until([&] {
        return screen.draws() && screen.work().running.has_run() &&
               now().run.steps_computed == now().run.steps &&
               now().reports.activity == session::Activity::idle;
    });
    screen.work().running.set_speed(
        std::max(screen.work().running.speed(), 60 * now().run.step_seconds));
    screen.work().running.play(true);
    screen.until([&] { return now().run.playing; });
    std::vector<double> frames;
    std::int64_t step = -1;
    BenchResult r{.workload = "window_scenes/" + scene.stem().string(), .n = now().run.steps};
    const SteadyClock::time_point begin = SteadyClock::now();
    while (since(begin) < seconds) {
        const SteadyClock::time_point frame_begin = SteadyClock::now();
        screen.app().frame();
        const double frame_seconds = since(frame_begin);
        if (const render::Frame* const frame = screen.app().picture().frame();
            frame != nullptr && frame->step != step) {
            step = frame->step;
            frames.push_back(frame_seconds);
            ++r.steps;
        }
        if (const double left = 1.0 / 60 - frame_seconds; left > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(left));
    }
    const double whole = since(begin);
    std::ranges::sort(frames);
    r.forward_s = frames[frames.size() / 2];
    r.more.emplace_back("frame_99_ms", frames[frames.size() * 99 / 100] * 1e3);
    r.more.emplace_back("pictures_per_second", static_cast<double>(r.steps) / whole);
    r.more.emplace_back("device_ms", screen.work().measured.device_seconds * 1e3);
    return r;
}

}  // namespace

std::vector<BenchResult> window_scenes(const BenchOptions& options) {
    std::vector<BenchResult> results;
    for (const fs::path& scene : scenes_of(options.scenes)) results.push_back(play(options, scene));
    return results;
}

}  // namespace hindcast::cli
