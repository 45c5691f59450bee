#include "tests/gui/robot.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <thread>

#include "app/gui/work/state/settings.hpp"
#include "app/render/output/png.hpp"
#include "engine/model/registry.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/patience.hpp"

namespace hindcast::test {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

Robot* the_living = nullptr;

// Takes a picture at the first check of a test case that fails: the last frame that was drawn.
class Watcher : public doctest::IReporter {
public:
    explicit Watcher(const doctest::ContextOptions&) {}
    void test_case_start(const doctest::TestCaseData& data) override {
        name_ = data.m_name;
        taken_ = false;
    }
    void log_assert(const doctest::AssertData& data) override {
        if (data.m_failed) take();
    }
    void test_case_exception(const doctest::TestCaseException&) override { take(); }
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}

private:
    void take() {
        if (taken_ || Robot::living() == nullptr) return;
        taken_ = true;
        Robot::living()->picture_of_failure(name_);
    }

    std::string name_;
    bool taken_ = false;
};

REGISTER_LISTENER("pictures of failures", 2, Watcher);

}  // namespace

Robot* Robot::living() { return the_living; }

Robot::Robot(Options options) : in_window_(options.window) {
    fs::copy(fs::path(hindcast::test::source_dir) / "scenes", scenes(),
             fs::copy_options::recursive);
    fs::copy(scenes(), gallery(), fs::copy_options::recursive);
    gui::AppOptions app;
    DeviceOptions device;
    device.threads = 2;
    app.session.simulation.device = std::make_shared<Device>(device);
    app.state_folder = folder_.path() / "state";
    app.galleries = {gallery()};
    app.transport = options.transport;
    app.tour = options.tour;
    app.width = options.width;
    app.height = options.height;
    app.validation = options.validation;
    app.interrupted = [this, asked = options.interrupted] {
        return interrupted_ || (asked && asked());
    };
    if (!options.draws)
        app.is_seen = [this] {
            if (seen_) return true;
            // About what a drawn frame takes: session and simulation need time between frames, as they have it for users.
            std::this_thread::sleep_for(std::chrono::milliseconds(6));
            return false;
        };
    app.on_message = [this](const std::string& message) { messages_.push_back(message); };
    if (options.window)
        window_ = std::make_unique<gui::Window>(
            gui::WindowOptions{"Hindcast test", options.width, options.height});
    app_ = options.link ? std::make_unique<gui::App>(all_modules(), std::move(app), window_.get(),
                                                     *options.link)
                        : std::make_unique<gui::App>(all_modules(), std::move(app), window_.get());
    if (!options.best_picture) {
        gui::Settings& settings = work().settings;
        settings.samples = 1;
        settings.shadows = settings.ambient_occlusion = false;
    }
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
    the_living = this;
}

Robot::~Robot() {
    the_living = nullptr;
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
        in_script_ = true;
        try {
            script(*hands);
        } catch (const std::exception& error) {
            thrown = error.what();
        } catch (...) {
            thrown = "a requirement above is not met";  // doctest's own: not one of std::exception
        }
        in_script_ = false;
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
    seen_ = true;
    hands_->Yield(2);
    seen_ = false;
    const fs::path folder = fs::path(hindcast::test::picture_dir);
    fs::create_directories(folder);
    render::write_png(folder / ((in_window_ ? "window_" : "") + name + ".png"), app_->screenshot());
}

void Robot::picture_of_failure(const std::string& test_case) {
    std::string name = "failed_" + test_case;
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    try {
        const fs::path folder = fs::path(hindcast::test::picture_dir);
        fs::create_directories(folder);
        if (in_script_) {
            seen_ = true;
            hands_->Yield(2);
            seen_ = false;
        }
        render::write_png(folder / (name + ".png"), app_->screenshot());
        MESSAGE("what was on the screen: ", (folder / (name + ".png")).string());
    } catch (const std::exception& error) {
        MESSAGE("there is no picture of it: ", error.what());
    }
}

}  // namespace hindcast::test
