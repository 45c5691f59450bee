// The window and the renderer, without a screen, at 1280 x 720, on the Vulkan device that there is.
//
//   window_20k      a net of 142 x 142 particles that optimizes (springs and damping as in
//                   cloth_springs, 40 steps, gradient descent) while 300 frames are drawn. Own:
//                   what the window's thread computes; whole: until the frame is done, waiting for
//                   the rasterizer; device: the scene's picture by timestamps
//   window_slow     the same figures while one step of the simulation takes seconds: so many
//                   substeps that the whole run would take minutes
//   window_start    from nothing to the moving, optimizing scene: seconds until the scene is drawn,
//                   and until a second row of the optimization is. Processor code and shaders as
//                   the caches have them: run it twice
//   window_edit     one number of the net is edited: milliseconds until the first frame of the new
//                   run, shown at the start and at the end of the run; and how many of the edits are
//                   seen in a second while the number is dragged at the end
//   draw_million    a million falling particles; every picture is of another step. `host_bytes` is
//                   the number of bytes that go through the host
//   window_scenes   the bundled scenes play, see window_scenes.cpp
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "app/cli/bench/screenless.hpp"
#include "app/exchange/plain_exchange.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/running.hpp"

namespace hindcast::cli {

namespace {

std::string net_scene(int side, int steps, std::int64_t substeps) {
    return fmt::format(R"json({{
        "format": 1, "time": {{"step": 0.001, "steps": {steps}, "substeps": {substeps}}}, "gravity": [0, -9.8, 0],
        "bodies": [{{"type": "particles", "name": "sheet",
                    "positions": {{"grid": {{"counts": [{side}, 1, {side}], "spacing": "1/{last}"}}}},
                    "fixed": {{"box": {{"min": [0, -1, -1], "max": [0, 1, 2]}}}}}}],
        "forces": [{{"type": "springs", "name": "net", "stiffness": 40000, "rest_length": {{"initial": 0.97}},
                    "connect": {{"grid": "sheet", "counts": [{side}, {side}], "patterns": ["structural", "shear", "bend"]}}}},
                   {{"type": "damping", "rate": 1, "order": "after"}}],
        "objective": [{{"type": "center_of_mass", "of": "sheet", "target": [0.4, -0.1, 0.5]}}],
        "parameters": [{{"path": "sheet.velocity"}}],
        "optimizer": {{"type": "gradient_descent", "rate": 1, "iterations": 100000}}}})json",
                       fmt::arg("side", side), fmt::arg("last", side - 1), fmt::arg("steps", steps),
                       fmt::arg("substeps", substeps));
}

std::vector<BenchResult> window_20k(const BenchOptions& options) {
    constexpr int side = 142, steps = 40, frames = 300;
    Screenless screen(options);
    screen.open_text(net_scene(side, steps, 1));
    screen.until([&] { return screen.draws() && screen.work().running.has_run(); });
    screen.work().running.optimize(session::Optimize::What::start);
    screen.until([&] { return screen.rows() >= 2; });
    BenchResult r{.workload = "window_20k", .n = std::int64_t{side} * side, .steps = frames};
    const std::size_t before = screen.rows();
    r.forward_s = screen.measure_frames(frames, r);
    r.more.emplace_back("iterations_meanwhile", static_cast<double>(screen.rows() - before));
    return {r};
}

std::vector<BenchResult> window_slow(const BenchOptions& options) {
    constexpr int side = 142, frames = 300;
    constexpr std::int64_t substeps = 16000;
    Screenless screen(options);
    screen.open_text(net_scene(side, 100, substeps));
    screen.until([&] { return screen.draws(); });
    screen.until([&] { return screen.work().running.now().run.steps_computed >= 1; });
    const SteadyClock::time_point begin = SteadyClock::now();
    const std::int64_t first = screen.work().running.now().run.steps_computed;
    BenchResult r{.workload = "window_slow", .n = std::int64_t{side} * side, .steps = frames};
    r.forward_s = screen.measure_frames(frames, r);
    screen.until([&] { return screen.work().running.now().run.steps_computed > first; });
    const auto made = static_cast<double>(screen.work().running.now().run.steps_computed - first);
    r.more.emplace_back("seconds_per_step", since(begin) / made);
    return {r};
}

std::vector<BenchResult> window_start(const BenchOptions& options) {
    const SteadyClock::time_point begin = SteadyClock::now();
    BenchResult r{.workload = "window_start", .n = 9, .steps = 1};
    Screenless screen(options);
    screen.open_text(spring_cage_scene);
    r.more.emplace_back("window_s", since(begin));
    screen.until([&] { return screen.draws() && screen.work().running.has_run(); });
    r.more.emplace_back("scene_s", since(begin));
    screen.work().running.optimize(session::Optimize::What::start);
    screen.until([&] {
        const render::Frame* const frame = screen.app().picture().frame();
        return frame != nullptr && frame->iteration >= 1;
    });
    r.more.emplace_back("optimizing_s", since(begin));
    r.forward_s = since(begin);
    return {r};
}

// A net whose stiffness is edited.
class EditedNet {
public:
    EditedNet(const BenchOptions& options, int side, int steps)
        : document_(document::Document::parse(net_scene(side, steps, 1), "net.json")),
          session_(registry(), session_options(options)) {
        apply(true);
        const auto snapshot =
            wait([](const session::Snapshot& s) { return s.scene.stage != nullptr; });
        session_.send(
            session::ShowOn{std::make_shared<render::PlainExchange>(snapshot->scene.stage)});
    }
    void seek(std::int64_t step) {
        session_.send(session::Seek{step});
        wait([&](const session::Snapshot& s) {
            return is_shown(s, stiffness_) && s.run.step == step;
        });
    }
    void edit() {
        document_.set("/forces/0/stiffness", ++stiffness_);
        apply(false);
    }
    // Seconds from an edit to its first frame at this step.
    double edit_and_wait(std::int64_t step) {
        const SteadyClock::time_point begin = SteadyClock::now();
        edit();
        wait([&](const session::Snapshot& s) {
            return is_shown(s, stiffness_) && s.run.step == step;
        });
        return since(begin);
    }
    // The stiffness of what is shown.
    double shown() const { return stiffness_in(*session_.snapshot()); }

private:
    static session::SessionOptions session_options(const BenchOptions& options) {
        session::SessionOptions with;
        with.simulation.device = std::make_shared<Device>(options.device);
        with.simulation.precision = options.precision;
        return with;
    }
    static double stiffness_in(const session::Snapshot& s) {
        for (const session::QuantityInfo& q : s.values.quantities)
            if (q.path == "net.stiffness") return q.values.front();
        return 0;
    }
    static bool is_shown(const session::Snapshot& s, double stiffness) {
        return stiffness_in(s) == stiffness && !s.view.frame_waits;
    }
    void apply(bool fresh) {
        session_.send(session::Apply{std::make_shared<const document::Document>(document_),
                                     ++revision_, "net.json", fresh});
    }
    std::shared_ptr<const session::Snapshot> wait(
        const std::function<bool(const session::Snapshot&)>& holds) const {
        const auto snapshot = session_.wait(
            [&](const session::Snapshot& s) { return s.reports.error != nullptr || holds(s); },
            600);
        if (snapshot->reports.error) throw Error(*snapshot->reports.error);
        return snapshot;
    }

    document::Document document_;
    double stiffness_ = 40000;
    std::uint64_t revision_ = 0;
    session::Session session_;
};

std::vector<BenchResult> window_edit(const BenchOptions& options) {
    constexpr int side = 142, steps = 40, edits = 15, dragged = 120;
    EditedNet net(options, side, steps);
    BenchResult r{.workload = "window_edit", .n = std::int64_t{side} * side, .steps = steps};
    for (const std::int64_t step : {0, steps}) {
        net.seek(step);
        std::vector<double> times;
        for (int k = 0; k < edits; ++k) times.push_back(net.edit_and_wait(step));
        std::sort(times.begin(), times.end());
        const std::string name = step == 0 ? "start" : "end";
        r.more.emplace_back(name + "_median_ms", times[times.size() / 2] * 1e3);
        r.more.emplace_back(name + "_longest_ms", times.back() * 1e3);
        r.forward_s = times[times.size() / 2];
    }
    const SteadyClock::time_point begin = SteadyClock::now();
    double last = net.shown();
    int seen = 0;
    for (int k = 0; k < dragged; ++k) {
        net.edit();
        std::this_thread::sleep_for(std::chrono::milliseconds(16));
        const double now = net.shown();
        seen += now != last ? 1 : 0;
        last = now;
    }
    r.more.emplace_back("seen_per_second", seen / since(begin));
    return {r};
}

std::vector<BenchResult> draw_million(const BenchOptions& options) {
    const std::string scene = R"json({
        "format": 1, "time": {"step": 0.01, "steps": 16}, "gravity": [0, -9.8, 0],
        "bodies": [{"type": "particles", "name": "dust",
                    "positions": {"grid": {"counts": [100, 100, 100], "spacing": 0.01}}}]})json";
    session::SessionOptions with;
    with.simulation.device = std::make_shared<Device>(options.device);
    with.simulation.precision = options.precision;
    with.frame_memory = std::int64_t{4} << 30;
    render::VulkanContext context({});
    render::Renderer renderer(context);
    session::Session session(registry(), with);
    session.send(session::Apply{
        std::make_shared<const document::Document>(document::Document::parse(scene, "dust.json")),
        1, "dust.json", true});
    const auto snapshot = session.wait(
        [](const session::Snapshot& s) { return s.reports.error || s.run.steps_computed == 16; },
        600);
    if (snapshot->reports.error) throw Error(*snapshot->reports.error);
    const auto exchange = renderer.share(snapshot->scene.stage, {}, snapshot->scene.cuda_uuid);
    session.send(session::ShowOn{exchange});
    render::View view;
    view.width = 1280;
    view.height = 720;
    view.samples = 1;
    view.ambient_occlusion = view.shadows = false;
    render::frame_box(view.camera, snapshot->scene.stage->low, snapshot->scene.stage->high,
                      1280.0 / 720);
    BenchResult r{.workload = "draw_million", .n = 1000000, .steps = 0};
    const auto picture = [&](std::int64_t step) {
        const std::uint64_t before = exchange->serial();
        session.send(session::Seek{step});
        while (exchange->serial() == before) std::this_thread::yield();
        renderer.draw(view);
        context.wait_idle();
    };
    picture(16);
    const render::Renderer::Counters at_first = renderer.counters();
    double device = 0;
    const SteadyClock::time_point begin = SteadyClock::now();
    while (since(begin) < 2 || r.steps < 16) {
        picture(1 + r.steps % 15);
        device += renderer.device_seconds();
        ++r.steps;
    }
    r.forward_s = since(begin) / static_cast<double>(r.steps);
    r.more.emplace_back("pictures_per_second", 1 / r.forward_s);
    r.more.emplace_back("device_ms", device / static_cast<double>(r.steps) * 1e3);
    r.more.emplace_back("host_bytes", static_cast<double>(renderer.counters().host_bytes_copied -
                                                          at_first.host_bytes_copied));
    r.more.emplace_back("transport_" + std::string(render::name_of(exchange->kind())), 1);
    return {r};
}

}  // namespace

std::vector<Workload> window_workloads() {
    return {
        {"window_20k", "The window's frames while 20 000 particles optimize", window_20k, false},
        {"window_slow", "The window's frames while a step takes seconds", window_slow, false},
        {"window_start", "From nothing to an optimizing scene in the window", window_start, false},
        {"window_edit", "From an edit of a number to its first frame", window_edit, false},
        {"draw_million", "Pictures of a million particles that move", draw_million, false},
        {"window_scenes", "The bundled scenes play in the window", window_scenes, false}};
}

}  // namespace hindcast::cli
