#include "app/cli/bench/screenless.hpp"

#include <time.h>

#include <algorithm>

#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/measured.hpp"
#include "app/gui/work/state/running.hpp"

namespace hindcast::cli {

namespace {

double thread_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

Screenless::Screenless(const BenchOptions& options) {
    gui::AppOptions app;
    app.session.simulation.device = std::make_shared<Device>(options.device);
    app.session.simulation.precision = options.precision;
    app.state_folder = folder_.path() / "state";
    app.tour = false;
    app.width = 1280;
    app.height = 720;
    app_ = std::make_unique<gui::App>(registry(), std::move(app), nullptr);
}

void Screenless::open_text(const std::string& scene) {
    folder_.write("scene.json", scene);
    work().opening.open(folder_.path() / "scene.json");
}

std::size_t Screenless::rows() {
    const auto& history = work().running.now().optimization.history;
    return history ? history->size() : 0;
}

double Screenless::measure_frames(int frames, BenchResult& result) {
    std::vector<double> own, whole, device;
    for (int k = 0; k < frames; ++k) {
        const SteadyClock::time_point begin = SteadyClock::now();
        const double before = thread_seconds();
        app_->frame();
        own.push_back(thread_seconds() - before);
        whole.push_back(since(begin));
        device.push_back(work().measured.device_seconds);
        if (const double left = 1.0 / 60 - since(begin); left > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(left));
    }
    const auto add = [&](const std::string& name, std::vector<double>& times) {
        std::sort(times.begin(), times.end());
        result.more.emplace_back(name + "_median_ms", times[times.size() / 2] * 1e3);
        result.more.emplace_back(name + "_99_ms", times[times.size() * 99 / 100] * 1e3);
        result.more.emplace_back(name + "_longest_ms", times.back() * 1e3);
    };
    add("own", own);
    add("whole", whole);
    add("device", device);
    return own.back();
}

}  // namespace hindcast::cli
