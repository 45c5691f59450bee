// The graphics device is lost while the window is used.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "app/gui/window/app.hpp"
#include "app/gui/window/window.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/topics.hpp"
#include "engine/model/registry.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;

namespace {

namespace fs = std::filesystem;

struct Desktop {
    test::TemporaryFolder folder;
    std::vector<std::string> messages;  // of the validation layers
    std::unique_ptr<gui::Window> window;
    std::unique_ptr<gui::App> app;

    explicit Desktop(bool on_display) {
        fs::copy_file(fs::path(hindcast::test::source_dir) / "scenes/spring_cage.json",
                      folder.path() / "cage.json");
        gui::AppOptions options;
        options.session.simulation.device =
            std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::cpu, .threads = 1});
        options.state_folder = folder.path() / "state";
        options.tour = false;
        options.width = 640;
        options.height = 480;
        options.validation = true;
        options.on_message = [this](const std::string& text) { messages.push_back(text); };
        if (on_display)
            window = std::make_unique<gui::Window>(gui::WindowOptions{"Hindcast test", 640, 480});
        app = std::make_unique<gui::App>(test::all_modules(), std::move(options), window.get());
        app->work().opening.open(folder.path() / "cage.json");
        frames_until([&] {
            const session::Snapshot& now = app->work().running.now();
            return app->work().running.has_run() && now.run.steps_computed == now.run.steps;
        });
        REQUIRE(app->work().scene.set("/forces/0/stiffness", document::Node(90.0), "Stiffness"));
        frames_until([&] { return is_drawn(); });
    }
    ~Desktop() {
        app.reset();
        std::string all;
        for (const std::string& text : messages) all += text + "\n";
        CHECK_MESSAGE(messages.empty(), all);
    }

    bool is_drawn() { return app->picture().frame() != nullptr; }
    void frames_until(const std::function<bool()>& condition) {
        int left = 5000;
        while (!condition() && --left > 0) {
            app->frame();
            std::this_thread::sleep_for(std::chrono::milliseconds(4));
        }
        REQUIRE(left > 0);
    }
    std::size_t autosaves() const {
        std::size_t count = 0;
        for (const auto& file : fs::directory_iterator(folder.path() / "state"))
            count += file.path().filename().string().starts_with("autosave-") &&
                     file.path().extension() == ".json";
        return count;
    }
};

void lose_and_go_on(bool on_display) {
    Desktop program(on_display);
    gui::App& app = *program.app;
    app.context().lose_device();
    app.frame();
    CHECK_FALSE(app.context().lost());
    CHECK_FALSE(program.is_drawn());  // nothing came from the simulation yet
    const auto told = [&](const char* text) {
        return std::ranges::any_of(app.work().messages.notices(), [&](const gui::Notice& n) {
            return n.text.find(text) != std::string::npos;
        });
    };
    CHECK(told("was lost"));
    program.frames_until([&] { return program.is_drawn(); });
    // The edit is still there, unsaved, and can be taken back.
    gui::Topics& work = app.work();
    CHECK(work.scene.editor().unsaved());
    CHECK(work.scene.document().find("/forces/0/stiffness")->real() == 90);
    CHECK(work.scene.edit([](session::Editor& e) { e.undo(); }));
    CHECK_FALSE(work.scene.editor().unsaved());
    for (int k = 0; k < 5; ++k) app.frame();
    const render::Image image = app.screenshot();
    const auto [least, most] = std::ranges::minmax(image.pixels);
    CHECK(least < most);
}

}  // namespace

TEST_CASE("gui device lost: it is opened again, scene and edits stay") { lose_and_go_on(false); }

TEST_CASE("gui device lost: the same in a real window") {
    if (!gui::Window::display_exists()) HINDCAST_SKIP("no display; run under xvfb-run");
    lose_and_go_on(true);
}

TEST_CASE("gui device lost: lost again at once, edits are saved and one error says so") {
    Desktop program(false);
    gui::App& app = *program.app;
    app.context().lose_device();
    app.frame();
    program.frames_until([&] { return program.is_drawn(); });
    app.context().lose_device();
    std::string message;
    try {
        for (int k = 0; k < 5; ++k) app.frame();
    } catch (const Error& error) {
        message = error.what();
    }
    CHECK(message.find("cannot be had back") != std::string::npos);
    CHECK(message.find("autosave") != std::string::npos);
    CHECK(program.autosaves() == 1);
}
