#include "app/gui/window/app.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <ImGuizmo.h>
#include <imgui_internal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "app/gui/draw/canvas.hpp"
#include "app/gui/draw/widgets.hpp"
#include "app/gui/work/edits/adding.hpp"
#include "app/gui/work/files/ending.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/picture.hpp"
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
#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "engine/base/log.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr double frame_seconds = 1.0 / 60;
constexpr double look_seconds = 0.1;  // between looks at work that goes on beside the window

// Layouts of earlier versions have the British name of the panel, which would lie nowhere.
void rename_optimizer(const fs::path& layout) {
    constexpr std::string_view old = "[###Optimiser]", now = "[###Optimizer]";
    try {
        std::error_code error;
        if (!fs::is_regular_file(layout, error)) return;
        std::string text = read_file(layout);
        const std::size_t at = text.find(old);
        if (at == std::string::npos) return;
        write_file_atomically(layout, text.replace(at, old.size(), now));
    } catch (const Error& error) {
        // ImGui goes on without a layout that cannot be read.
        log_warning("{}", error.what());
    }
}

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

// Writes the frame to the file that was asked for, if one was.
void take_screenshot(Topics& work, Canvas& canvas) {
    const std::optional<fs::path> wanted = std::exchange(work.requests.screenshot, std::nullopt);
    if (!wanted) return;
    fs::path file = *wanted;
    try {
        if (file.empty()) {
            const fs::path folder = work.scene.output_folder();
            for (int k = 1; file.empty() || fs::exists(file); ++k)
                file = folder / fmt::format("{}_{}.png", work.scene.file_stem(), k);
        }
        render::write_png(file, canvas.read());
        work.messages.tell("Saved " + file.string(), Notice::Kind::success);
    } catch (const std::exception& error) {
        work.messages.fail(error);
    }
}

}  // namespace

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
      clock_(window != nullptr),
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
    start();
    if (window != nullptr) session_->on_change([] { Window::wake(); });
}

App::App(const Registry& registry, AppOptions options, Window* window, SessionLink link)
    : options_(std::move(options)), window_(window), clock_(window != nullptr) {
    if (options_.state_folder.empty()) options_.state_folder = user_state_folder();
    work_ = std::make_unique<Workspace>(registry, std::move(link), options_.state_folder,
                                        options_.galleries);
    start();
}

void App::start() {
    rename_optimizer(options_.state_folder / "layout.ini");
    interface_ =
        std::make_unique<Interface>(options_.state_folder / "layout.ini", window_ != nullptr);
    work().messages.log = std::make_shared<ProcessLog>();
    shell_ = std::make_unique<Shell>();
    if (window_ != nullptr)
        window_->on_drop = [this](const std::vector<fs::path>& files) {
            if (!files.empty()) work().opening.open(files.front());
        };
    open_graphics();
    if (graphics_.context().facts().software && !work().settings.are_kept) {
        // The processor draws, and has a simulation to compute besides.
        work().settings.samples = 1;
        work().settings.ambient_occlusion = false;
    }
    frame_wishes() = {};
    frame_wishes().set_now(clock_.now());
    frame_wishes().want(FrameReason::screen);
    work().requests.show_tour = options_.tour && !work().settings.tour_done;
}

void App::open_graphics() {
    render::ContextOptions vulkan =
        window_ != nullptr ? window_->context_options() : render::ContextOptions{};
    vulkan.validation = options_.validation;
    if (const auto& solver = options_.session.simulation.device)
        vulkan.uuid = session::cuda_uuid(*solver);
    vulkan.on_message = options_.on_message;
    graphics_.open(std::move(vulkan), window_, options_.transport, options_.width, options_.height);
    shell_->gallery().set_canvas(graphics_.canvas());
    work().measured.device = graphics_.context().facts().name;
}

// The simulation keeps the memory that it may still write to until it has a new exchange.
void App::recover(const Error& loss) {
    const bool again = graphics_.note_loss();
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
        if (graphics_.is_open()) {
            Context context{work(), actions_, graphics_.picture()};
            shell_->exporter().abandon(context);
        }
        graphics_.close();
        open_graphics();
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
    graphics_.wait_idle();
    shell_.reset();
    graphics_.close();
}

Exporter& App::exporter() { return shell_->exporter(); }

void App::resize(int width, int height) {
    options_.width = width;
    options_.height = height;
}

void App::rescale(double content_scale) { options_.content_scale = content_scale; }

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
                    window_->width() != graphics_.canvas().width() ||
                    window_->height() != graphics_.canvas().height() ||
                    window_->content_scale() != interface_->content_scale(),
                FrameReason::screen);
    const session::Snapshot& now = work().running.now();
    want_if(now.serial != seen_ || work().messages.log->serial() != seen_log_ ||
                work().ending.has_come(),
            FrameReason::news);
    want_if(now.run.playing && !stopped_time_, FrameReason::motion);
    // Newer frames are taken where the picture is shown: not behind the gallery or another tab.
    want_if(frame_wishes().picture_is_shown() &&
                (graphics_.picture().expects() || graphics_.picture().is_behind()),
            FrameReason::picture);
    want_if(shell_->exporter().is_running(), FrameReason::work);
    want_if(work().handover.is_opening() || work().adding.task() != nullptr || shell_->is_busy(),
            FrameReason::work, look_seconds);
}

bool App::wants_frame() {
    FrameWishes& frames = frame_wishes();
    frames.set_now(clock_.now());
    const std::uint64_t told = work().messages.told();
    const bool asked = work().messages.question().has_value();
    work_->update();
    if (work().messages.told() != told || work().messages.question().has_value() != asked)
        frames.want(FrameReason::news);
    want_frames();
    return frames.left() <= 0;
}

// Nobody can see a window that is minimized. An export is drawn all the same.
bool App::is_hidden() const {
    return window_ != nullptr && !window_->is_shown() && !shell_->exporter().is_running();
}

// Time that nobody sees stands still: behind the gallery, and where the window is minimized, and goes on
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
        graphics_.count_frame();
        if (options_.interrupted && options_.interrupted())
            work().ending.end_without_asking(is_hidden());
        return draw_frame();
    } catch (const Error& error) {
        if (!graphics_.context().lost()) throw;
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
    Canvas& canvas = graphics_.canvas();
    frame_wishes().set_now(clock_.now());
    stop_unseen_time();
    if (is_hidden()) return rest_hidden();
    if (window_ != nullptr) {
        canvas.resize(window_->width(), window_->height());
        canvas.new_frame();
        window_->new_frame();
        if (window_->closed()) {
            window_->keep_open();
            work().ending.request();
        }
    } else {
        canvas.resize(options_.width, options_.height);
        canvas.new_frame();
        io.DisplaySize = {static_cast<float>(options_.width), static_cast<float>(options_.height)};
        io.DeltaTime = static_cast<float>(std::max(clock_.take_passed(), frame_seconds));
    }
    want_frames();  // also where a test or an export draws without having asked
    frame_wishes().begin();
    if (before_panels) before_panels();
    // The window may have come to a monitor of another scale.
    const double scale = window_ != nullptr ? window_->content_scale() : options_.content_scale;
    interface_->follow(work().settings, scale, work().looks.view);
    const ImVector<ImGuiInputEvent> late = take_late_releases();
    ImGui::NewFrame();
    for (const ImGuiInputEvent& event : late)
        ImGui::GetCurrentContext()->InputEventsQueue.push_back(event);
    ImGuizmo::BeginFrame();
    draw();
    ImGui::Render();
    ImDrawData* data = ImGui::GetDrawData();
    if (shell_->exporter().takes_frame()) {
        canvas.draw(*data);
        Context context{work(), actions_, graphics_.picture()};
        shell_->exporter().take_frame(context, canvas.read());
    } else if (window_ != nullptr && window_->is_shown()) {
        window_->show(canvas, *data);
    } else if (!options_.is_seen || options_.is_seen()) {
        canvas.draw(*data);
    }
    if (after_show) after_show();
    take_screenshot(work(), canvas);

    Measured& measured = work().measured;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    measured.frame_seconds += 0.1 * (seconds - measured.frame_seconds);
    measured.longest = std::max(seconds, measured.longest * 0.99);
    seen_ = work().running.now().serial;
    seen_log_ = work().messages.log->serial();
    bool held = ImGui::IsAnyMouseDown();
    for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_NamedKey_END && !held; ++key)
        held = ImGui::IsKeyDown(static_cast<ImGuiKey>(key));
    if (held) frame_wishes().want(FrameReason::input);
    want_what_imgui_does(frame_wishes());
    frame_wishes().end();
    if (window_ == nullptr) clock_.pass(frame_seconds);
    return !work().ending.has_come();
}

// Looks a few times a second, and draws nothing. A question to the user restores the window.
bool App::rest_hidden() {
    window_->wait(idle_seconds);
    frame_wishes().set_now(clock_.now());
    if (window_->closed()) {
        window_->keep_open();
        work().ending.request();
    }
    work_->update();
    if (work().messages.question()) window_->restore();
    return !work().ending.has_come();
}

void App::draw() {
    Picture& picture = graphics_.picture();
    picture.finish_drawing();
    work_->update();
    const render::VulkanContext& device = graphics_.context();
    memory_.update(
        clock_.now(),
        device.facts().software ? 0 : static_cast<std::int64_t>(device.counters().live_bytes),
        work().measured, work().messages);
    work().camera.follow();
    picture.connect(work().running, work().measured, work().messages);
    actions_.dispatch(work());
    Context context{work(), actions_, picture};
    shell_->exporter().advance(context);
    shell_->draw(context);
    if (window_ != nullptr) {
        const std::string title =
            work().scene.heading() +
            (work().scene.is_open() && work().scene.editor().unsaved() ? " *" : "") + " - Hindcast";
        if (title != shown_title_) window_->set_title(shown_title_ = title);
    }
}

render::Image App::screenshot() { return graphics_.canvas().read(); }

}  // namespace hindcast::gui
