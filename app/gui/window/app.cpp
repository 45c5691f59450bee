#include "app/gui/window/app.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <ImGuizmo.h>
#include <imgui_internal.h>
#include <implot.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "app/gui/draw/words.hpp"
#include "app/gui/work/edits/adding.hpp"
#include "app/gui/work/files/ending.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/process_memory.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/measured.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/process_log.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/scene_text.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/topics.hpp"
#include "app/gui/work/values/handover.hpp"
#include "app/gui/work/view/camera_track.hpp"
#include "app/gui/work/view/looks.hpp"
#include "app/gui/work/workspace.hpp"
#include "app/render/output/png.hpp"
#include "engine/base/log.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr double frame_seconds = 1.0 / 60;
constexpr double look_seconds = 0.1;  // between looks at work that goes on beside the window

// A chord pressed and released within one slow frame: ImGui would see the key without its
// modifier. The events from the modifier's release on are kept for the next frame.
ImVector<ImGuiInputEvent> take_late_releases() {
    ImVector<ImGuiInputEvent>& queue = ImGui::GetCurrentContext()->InputEventsQueue;
    ImVector<ImGuiInputEvent> late;
    bool pressed = false;
    for (int k = 0; k < queue.Size; ++k) {
        const ImGuiInputEvent& event = queue[k];
        if (event.Type != ImGuiInputEventType_Key) continue;
        const bool modifier = (event.Key.Key & ImGuiMod_Mask_) != 0;
        if (!modifier) {
            pressed |= event.Key.Down && !ImGui::IsLRModKey(event.Key.Key);
        } else if (pressed && !event.Key.Down) {
            for (int j = k; j < queue.Size; ++j) late.push_back(queue[j]);
            queue.resize(k);
            break;
        }
    }
    return late;
}

}  // namespace

struct App::Gui {
    Gui() : imgui(ImGui::CreateContext()), plot(ImPlot::CreateContext()) {}
    ~Gui() {
        ImPlot::DestroyContext(plot);
        ImGui::DestroyContext(imgui);
    }
    ImGuiContext* imgui;
    ImPlotContext* plot;
};

fs::path user_state_folder() {
    if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
        return fs::path(state) / "hindcast";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
        return fs::path(home) / ".local/state/hindcast";
    return fs::temp_directory_path() / "hindcast";
}

App::App(const Registry& registry, AppOptions options, Window* window)
    : options_(std::move(options)),
      window_(window),
      session_(std::make_unique<session::Session>(registry, options_.session)) {
    if (options_.state_folder.empty()) options_.state_folder = user_state_folder();
    session::Session* session = session_.get();
    work_ = std::make_unique<Workspace>(
        registry,
        SessionLink{[session](session::Command command) { session->send(std::move(command)); },
                    [session] { return session->snapshot(); }},
        options_.state_folder, options_.galleries);
    work().text.built_with = options_.session.simulation;
    work().text.built_with.device.reset();
    start(window);
    if (window != nullptr) session_->on_change([] { Window::wake(); });
}

App::App(const Registry& registry, AppOptions options, Window* window, SessionLink link)
    : options_(std::move(options)), window_(window) {
    if (options_.state_folder.empty()) options_.state_folder = user_state_folder();
    work_ = std::make_unique<Workspace>(registry, std::move(link), options_.state_folder,
                                        options_.galleries);
    start(window);
}

void App::start(Window* window) {
    IMGUI_CHECKVERSION();
    gui_ = std::make_unique<Gui>();
    ImGuizmo::SetImGuiContext(gui_->imgui);
    ImGuiIO& io = ImGui::GetIO();
    io.ConfigFlags |= ImGuiConfigFlags_DockingEnable;
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    io.ConfigDockingAlwaysTabBar = true;
    io.ConfigInputTextCursorBlink = false;  // a field that waits for text needs no frames
    layout_file_ = (options_.state_folder / "layout.ini").string();
    io.IniFilename = layout_file_.c_str();
    io.LogFilename = nullptr;

    if (window == nullptr) {
        io.BackendPlatformName = "hindcast without a screen";
        io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
    }
    work().messages.log = std::make_shared<ProcessLog>();
    theme_ = std::make_unique<Theme>();
    shell_ = std::make_unique<Shell>();
    open_device();
    if (vulkan_->facts().software && !work().settings.are_kept) {
        // The processor draws, and has a simulation to compute besides.
        work().settings.samples = 1;
        work().settings.ambient_occlusion = false;
    }
    frame_wishes() = {};
    frame_wishes().set_now(clock());
    frame_wishes().want(FrameReason::screen);
    work().requests.show_tour = options_.tour && !work().settings.tour_done;
}

void App::open_device() {
    Window* const window = window_;
    render::ContextOptions vulkan =
        window != nullptr ? window->context_options() : render::ContextOptions{};
    vulkan.validation = options_.validation;
    if (const auto& solver = options_.session.simulation.device)
        vulkan.uuid = session::cuda_uuid(*solver);
    vulkan.on_message = options_.on_message;
    vulkan_ = std::make_unique<render::VulkanContext>(std::move(vulkan));
    int width = options_.width, height = options_.height;
    if (window != nullptr) {
        window->connect(*vulkan_);
        window->on_drop = [this](const std::vector<fs::path>& files) {
            if (!files.empty()) work().opening.open(files.front());
        };
        width = std::max(window->width(), 1);
        height = std::max(window->height(), 1);
    }
    canvas_ = std::make_unique<Canvas>(*vulkan_, width, height);
    picture_ = std::make_unique<Picture>(*canvas_, options_.transport);
    shell_->gallery().set_canvas(*canvas_);
    work().measured.device = vulkan_->facts().name;
}

// Whatever was made with the device goes; the simulation keeps the memory that it may still write
// to until it has a new exchange.
void App::close_device() {
    if (!vulkan_) return;
    if (picture_) {
        Context context{work(), actions_, *picture_};
        shell_->exporter().abandon(context);
    }
    picture_.reset();
    canvas_.reset();
    if (window_ != nullptr) window_->disconnect();
    vulkan_.reset();
}

void App::recover(const Error& loss) {
    constexpr std::int64_t soon = 600;  // frames: ten seconds or more
    const bool again = frames_since_loss_ >= 0 && frames_since_loss_ < soon;
    frames_since_loss_ = 0;
    const auto give_up = [&](const Error& error) {
        std::string saved = "nothing was unsaved";
        if (work().scene.is_open() && work().scene.editor().leave_autosave()) {
            saved = "unsaved edits are in the autosave, which the next start offers";
        }
        return Error(std::string("the graphics device is lost and cannot be had back: ") +
                     error.what())
            .remedy(saved +
                    "; update the graphics driver, or choose another device with "
                    "HINDCAST_VULKAN_DEVICE");
    };
    if (again) throw give_up(loss);
    work().running.send(session::ShowOn{});
    try {
        close_device();
        open_device();
    } catch (const Error& error) {
        throw give_up(error);
    }
    log_warning("{}; it was opened again", loss.what());
    work().messages.tell({.kind = Notice::Kind::error,
                          .text = "The graphics device was lost, and has been opened again",
                          .detail = "The scene, its edits and the simulation are as they were.",
                          .until = 0,
                          .button = {},
                          .action = {}});
}

Topics& App::work() { return work_->topics(); }

App::~App() {
    // The simulation first: it writes into the renderer's memory.
    session_.reset();
    if (vulkan_ && !vulkan_->lost()) vulkan_->wait_idle();
    shell_.reset();
    picture_.reset();
    canvas_.reset();
    if (window_ != nullptr && vulkan_) window_->disconnect();
    vulkan_.reset();
}

Exporter& App::exporter() { return shell_->exporter(); }

void App::resize(int width, int height) {
    options_.width = width;
    options_.height = height;
}

void App::rescale(double content_scale) { options_.content_scale = content_scale; }

double App::clock() const {
    if (window_ == nullptr) return passed_;
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// All that wants frames, but for what panels wish while they are drawn. Asked after each frame and
// between two of them; nothing here is true for long while nobody does anything.
void App::want_frames() {
    FrameWishes& frames = frame_wishes();
    const auto want_if = [&](bool wanted, FrameReason reason, double seconds = 0) {
        if (wanted) frames.want(reason, seconds);
    };
    want_if(!ImGui::GetCurrentContext()->InputEventsQueue.empty(), FrameReason::input);
    want_if(options_.interrupted && options_.interrupted(), FrameReason::screen);
    if (window_ != nullptr)
        want_if(window_->take_damage() || window_->closed() ||
                    window_->width() != canvas_->width() ||
                    window_->height() != canvas_->height() ||
                    window_->content_scale() != content_scale_,
                FrameReason::screen);
    const session::Snapshot& now = work().running.now();
    want_if(now.serial != seen_ || work().messages.log->serial() != shown_log_ ||
                work().ending.has_come(),
            FrameReason::news);
    want_if(now.run.playing && !stopped_time_, FrameReason::motion);
    // Newer frames are taken where the picture is shown: not behind the gallery or another tab.
    want_if(frame_wishes().picture_is_shown() && (picture_->expects() || picture_->is_behind()),
            FrameReason::picture);
    want_if(shell_->exporter().is_running(), FrameReason::work);
    want_if(work().handover.is_opening() || work().adding.task() != nullptr || shell_->is_busy(),
            FrameReason::work, look_seconds);
}

bool App::wants_frame() {
    FrameWishes& frames = frame_wishes();
    frames.set_now(clock());
    const std::uint64_t told = work().messages.told();
    const bool asked = work().messages.question().has_value();
    work_->update();
    if (work().messages.told() != told || work().messages.question().has_value() != asked)
        frames.want(FrameReason::news);
    want_frames();
    return frames.left() <= 0;
}

// Nobody can see a window that is minimised. An export is drawn all the same.
bool App::is_hidden() const {
    return window_ != nullptr && !window_->is_shown() && !shell_->exporter().is_running();
}

// Time that nobody sees stands still: behind the gallery, and where the window is minimised, and goes on
// when it is seen again.
void App::stop_unseen_time() {
    const bool seen = (shows_run(work()) && !is_hidden()) || shell_->exporter().is_running();
    if (!seen && work().running.now().run.playing && !stopped_time_) {
        work().running.play(false);
        stopped_time_ = true;
    } else if (seen && stopped_time_) {
        work().running.play(true);
        stopped_time_ = false;
    }
}

void App::run() {
    Clock::time_point next = Clock::now();
    while (frame()) {
        next = std::max(next + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(frame_seconds)),
                        Clock::now());
        if (window_ == nullptr) continue;
        window_->poll();
        // Events that wake the window are taken up at the next frame's time, not before.
        for (;;) {
            const double left = std::chrono::duration<double>(next - Clock::now()).count();
            if (left <= 0) break;
            window_->wait(left);
        }
        while (!wants_frame()) window_->wait(std::min(frame_wishes().left(), idle_seconds));
    }
}

bool App::frame() {
    try {
        if (frames_since_loss_ >= 0) ++frames_since_loss_;
        if (options_.interrupted && options_.interrupted())
            work().ending.end_without_asking(is_hidden());
        return draw_frame();
    } catch (const Error& error) {
        if (!vulkan_->lost()) throw;
        // In the middle of a panel, perhaps: what ImGui has open is closed.
        if (ImGui::GetCurrentContext()->WithinFrameScope) {
            ImGuiIO& io = ImGui::GetIO();
            const bool asserts = io.ConfigErrorRecoveryEnableAssert,
                       logs = io.ConfigErrorRecoveryEnableDebugLog,
                       tips = io.ConfigErrorRecoveryEnableTooltip;
            io.ConfigErrorRecoveryEnableAssert = io.ConfigErrorRecoveryEnableDebugLog =
                io.ConfigErrorRecoveryEnableTooltip = false;
            ImGui::ErrorRecoveryTryToRecoverState(
                &ImGui::GetCurrentContext()->StackSizesInNewFrame);
            ImGui::EndFrame();
            io.ConfigErrorRecoveryEnableAssert = asserts;
            io.ConfigErrorRecoveryEnableDebugLog = logs;
            io.ConfigErrorRecoveryEnableTooltip = tips;
        }
        recover(error);
    }
    return !work().ending.has_come();
}

bool App::draw_frame() {
    const Clock::time_point begin = Clock::now();
    ImGuiIO& io = ImGui::GetIO();
    frame_wishes().set_now(clock());
    stop_unseen_time();
    if (is_hidden()) return rest_hidden();
    if (window_ != nullptr) {
        canvas_->resize(window_->width(), window_->height());
        canvas_->new_frame();
        window_->new_frame();
        if (window_->closed()) {
            window_->keep_open();
            work().ending.request();
        }
    } else {
        canvas_->resize(options_.width, options_.height);
        canvas_->new_frame();
        io.DisplaySize = {static_cast<float>(options_.width), static_cast<float>(options_.height)};
        io.DeltaTime = static_cast<float>(
            std::max(passed_ - std::exchange(passed_before_, passed_), frame_seconds));
    }
    want_frames();  // also where a test or an export draws without having asked
    frame_wishes().begin();
    if (before_panels) before_panels();
    // The window may have come to a monitor of another scale.
    const double scale = window_ != nullptr ? window_->content_scale() : options_.content_scale;
    if (work().settings.changed || scale != content_scale_) {
        work().settings.changed = false;
        content_scale_ = scale;
        theme_->apply(work().settings.dark, static_cast<float>(work().settings.font_scale * scale));
        set_style(theme_.get());
        work().settings.set(work().looks.view);
    }
    const ImVector<ImGuiInputEvent> late = take_late_releases();
    ImGui::NewFrame();
    for (const ImGuiInputEvent& event : late)
        ImGui::GetCurrentContext()->InputEventsQueue.push_back(event);
    ImGuizmo::BeginFrame();
    draw();
    ImGui::Render();
    ImDrawData* data = ImGui::GetDrawData();
    if (shell_->exporter().takes_frame()) {
        canvas_->draw(*data);
        Context context{work(), actions_, *picture_};
        shell_->exporter().take_frame(context, canvas_->read());
    } else if (window_ != nullptr && window_->is_shown()) {
        window_->show(*canvas_, *data);
    } else if (!options_.is_seen || options_.is_seen()) {
        canvas_->draw(*data);
    }
    if (after_show) after_show();
    take_screenshot();

    Measured& measured = work().measured;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    measured.frame_seconds += 0.1 * (seconds - measured.frame_seconds);
    measured.longest = std::max(seconds, measured.longest * 0.99);
    seen_ = work().running.now().serial;
    shown_log_ = work().messages.log->serial();
    bool held = ImGui::IsAnyMouseDown();
    for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_NamedKey_END && !held; ++key)
        held = ImGui::IsKeyDown(static_cast<ImGuiKey>(key));
    if (held) frame_wishes().want(FrameReason::input);
    want_what_imgui_does(frame_wishes());
    frame_wishes().end();
    if (window_ == nullptr) passed_ += frame_seconds;
    return !work().ending.has_come();
}

// Looks a few times a second, and draws nothing. A question to the user restores the window.
bool App::rest_hidden() {
    window_->wait(idle_seconds);
    frame_wishes().set_now(clock());
    if (window_->closed()) {
        window_->keep_open();
        work().ending.request();
    }
    work_->update();
    if (work().messages.question()) window_->restore();
    return !work().ending.has_come();
}

void App::draw() {
    picture_->finish_drawing();
    work_->update();
    measure_memory();
    work().camera.follow();
    picture_->connect(work().running, work().measured, work().messages);
    actions_.dispatch(work());
    Context context{work(), actions_, *picture_};
    shell_->exporter().advance(context);
    shell_->draw(context);
    if (window_ != nullptr) {
        const std::string title =
            work().scene.heading() +
            (work().scene.is_open() && work().scene.editor().unsaved() ? " *" : "") + " - Hindcast";
        if (title != shown_title_) window_->set_title(shown_title_ = title);
    }
}

// Once a second is enough.
void App::measure_memory() {
    const double now = clock();
    if (memory_measured_ && now - *memory_measured_ < 1) return;
    memory_measured_ = now;
    Measured& measured = work().measured;
    measured.resident_bytes = resident_bytes();
    if (measured.most_bytes == 0) measured.most_bytes = most_bytes();
    measured.device_bytes =
        vulkan_->facts().software ? 0 : static_cast<std::int64_t>(vulkan_->counters().live_bytes);
    const bool large = is_large(measured.resident_bytes, measured.most_bytes);
    if (large && !std::exchange(large_, true))
        work().messages.tell(
            {.kind = Notice::Kind::error,
             .text = fmt::format("Hindcast has {} of the {} of memory that there are",
                                 bytes_text(static_cast<double>(measured.resident_bytes)),
                                 bytes_text(static_cast<double>(measured.most_bytes))),
             .detail = "Save what is unsaved. A smaller scene, or \"memory\" of its "
                       "gradients, takes less.",
             .until = 0,
             .button = {},
             .action = {}});
    if (!large) large_ = false;
}

render::Image App::screenshot() { return canvas_->read(); }

void App::take_screenshot() {
    const std::optional<fs::path> wanted = std::exchange(work().requests.screenshot, std::nullopt);
    if (!wanted) return;
    fs::path file = *wanted;
    try {
        if (file.empty()) {
            const fs::path folder = work().scene.output_folder();
            for (int k = 1; file.empty() || fs::exists(file); ++k)
                file = folder / fmt::format("{}_{}.png", work().scene.file_stem(), k);
        }
        render::write_png(file, screenshot());
        work().messages.tell("Saved " + file.string(), Notice::Kind::success);
    } catch (const std::exception& error) {
        work().messages.fail(error);
    }
}

}  // namespace hindcast::gui
