#include "tests/gui/robot.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "app/render/png.hpp"
#include "engine/model/registry.hpp"
#include "tests/support/patience.hpp"

namespace hindcast::test {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

const Registry& all_modules() {
    static const Registry registry = [] {
        Registry fresh;
        register_all_modules(fresh);
        return fresh;
    }();
    return registry;
}

}  // namespace

Robot::Robot(Options options) {
    fs::copy(fs::path(HINDCAST_SOURCE_DIR) / "scenes", scenes(), fs::copy_options::recursive);
    gui::AppOptions app;
    DeviceOptions device;
    device.threads = 2;
    app.session.simulation.device = std::make_shared<Device>(device);
    app.state_folder = folder_.path() / "state";
    app.galleries = {scenes()};
    app.transport = options.transport;
    app.tour = options.tour;
    app.width = options.width;
    app.height = options.height;
    app.validation = true;
    app.on_message = [this](const std::string& message) { messages_.push_back(message); };
    if (options.window)
        window_ = std::make_unique<gui::Window>(
            gui::WindowOptions{"Hindcast test", options.width, options.height});
    app_ = options.link ? std::make_unique<gui::App>(all_modules(), std::move(app), window_.get(),
                                                     *options.link)
                        : std::make_unique<gui::App>(all_modules(), std::move(app), window_.get());
    engine_ = ImGuiTestEngine_CreateContext();
    ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine_);
    io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
    io.ConfigVerboseLevel = ImGuiTestVerboseLevel_Error;
    io.ConfigVerboseLevelOnError = ImGuiTestVerboseLevel_Debug;
    io.ConfigLogToTTY = true;
    io.ConfigSavedSettings = false;
    io.ConfigMouseDrawCursor = false;
    io.ConfigWatchdogWarning = io.ConfigWatchdogKillTest = 600;
    ImGuiTestEngine_Start(engine_, ImGui::GetCurrentContext());
    app_->after_show = [this] { ImGuiTestEngine_PostSwap(engine_); };
}

Robot::~Robot() {
    ImGuiTestEngine_Stop(engine_);
    app_->after_show = {};
    app_.reset();
    ImGuiTestEngine_DestroyContext(engine_);
    std::string all;
    for (const std::string& message : messages_) all += message + "\n";
    CHECK_MESSAGE(messages_.empty(), all);
}

void Robot::run(const std::function<void(ImGuiTestContext&)>& script) {
    std::string thrown;
    const std::string name = fmt::format("script {}", ++scripts_);
    ImGuiTest* test =
        ImGuiTestEngine_RegisterTest(engine_, "gui", name.c_str(), __FILE__, __LINE__);
    test->TestFunc = [&](ImGuiTestContext* hands) {
        hands_ = hands;
        try {
            script(*hands);
        } catch (const std::exception& error) {
            thrown = error.what();
        } catch (...) {
            thrown = "a requirement above is not met";  // doctest's own: not one of std::exception
        }
    };
    ImGuiTestEngine_QueueTest(engine_, test);
    do app_->frame();
    while (!ImGuiTestEngine_IsTestQueueEmpty(engine_));
    CHECK_MESSAGE(thrown.empty(), thrown);
    CHECK(test->Output.Status == ImGuiTestStatus_Success);
    ImGuiTestEngine_UnregisterTest(engine_, test);
}

bool Robot::wait(const std::function<bool()>& condition, double seconds) {
    const Clock::time_point end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(seconds * patience));
    while (!condition()) {
        if (Clock::now() > end) return false;
        hands_->Yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the simulation needs time too
    }
    return true;
}

void Robot::frames(int count) { hands_->Yield(count); }

void Robot::picture(const std::string& name) {
    hands_->Yield(2);
    const fs::path folder = fs::path(HINDCAST_PICTURES);
    fs::create_directories(folder);
    render::write_png(folder / (name + ".png"), app_->screenshot());
}

}  // namespace hindcast::test
