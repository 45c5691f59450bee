// The window without a screen, at 1280 x 720, for the benchmarks of the window.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "app/cli/bench/bench.hpp"
#include "app/cli/command.hpp"
#include "app/cli/temporary_folder.hpp"
#include "app/gui/window/app.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/topics.hpp"

namespace hindcast::cli {

using SteadyClock = std::chrono::steady_clock;

inline double since(SteadyClock::time_point begin) {
    return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

class Screenless {
public:
    explicit Screenless(const BenchOptions& options);
    void open_text(const std::string& scene);  // JSON
    gui::App& app() { return *app_; }
    gui::Topics& work() { return app_->work(); }
    // Frames until it holds. Throws Error if the scene fails, or after ten minutes.
    template <class F>
    void until(F holds) {
        const SteadyClock::time_point begin = SteadyClock::now();
        while (!holds()) {
            app_->frame();
            if (work().running.now().reports.error)
                throw Error(*work().running.now().reports.error);
            if (since(begin) > 600) throw Error("the window did not get there in ten minutes");
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
    bool draws() const { return app_->picture().frame() != nullptr; }
    std::size_t rows();
    // Frames at sixty a second, or as many as there is time for. Adds to the result: what a frame
    // costs of this thread's processor time (own), until it is done, waiting for the rasterizer
    // (whole), and the scene's picture by the device's timestamps (device); median, 99th
    // percentile and longest. Returns the longest `own`, s.
    double measure_frames(int frames, BenchResult& result);

private:
    TemporaryFolder folder_;
    std::unique_ptr<gui::App> app_;
};

// The bundled scenes play in the window (window_scenes.cpp).
std::vector<BenchResult> window_scenes(const BenchOptions& options);

}  // namespace hindcast::cli
