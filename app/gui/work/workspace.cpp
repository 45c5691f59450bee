#include "app/gui/work/workspace.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/work/frame_wishes.hpp"
#include "app/gui/work/process_log.hpp"
#include "engine/base/files.hpp"
#include "engine/document/text.hpp"

namespace hindcast::gui {

namespace {

namespace fs = std::filesystem;
using document::Document;
using document::Node;

constexpr const char* about_simulation = "the simulation";  // Notice::about

}  // namespace

std::string memory_text(const Workspace::Measured& measured) {
    std::string text = "memory " + bytes_text(static_cast<double>(measured.resident_bytes));
    if (measured.device_bytes > 0)
        text +=
            fmt::format(", graphics {}", bytes_text(static_cast<double>(measured.device_bytes)));
    return text;
}

Workspace::Workspace(const Registry& registry, SessionLink link, fs::path state_folder,
                     std::vector<fs::path> galleries)
    : registry_(registry),
      link_(std::move(link)),
      state_folder_(std::move(state_folder)),
      galleries_(std::move(galleries)),
      editor_(std::make_unique<session::Editor>(registry)),
      snapshot_(link_.snapshot()) {
    std::error_code ignored;
    fs::create_directories(state_folder_, ignored);
    editor_->keep_in(state_folder_);
    load_settings();
}

const Document& Workspace::document() const {
    static const Document empty;
    return editor_->document() ? *editor_->document() : empty;
}

// ---- once a frame -------------------------------------------------------------------------------

void Workspace::update() {
    snapshot_ = link_.snapshot();
    if (speed_ == now().speed_asked) speed_.reset();
    if (now().error && now().error != shown_error_) after_accept_ = {};
    finish_opening();
    look.apply(view, now());
    if (now().trails != trails_) {
        trails_ = now().trails;
        view.trail_lines.clear();
        if (trails_) view.trail_lines = *trails_;
    }
    take_answer();
    take_released_pull();
    take_kept_values();
    use_waiting_values();
    take_added();
    apply();
    take_back_refused();
    go_on_ending();
    watch_files();
    // What failed in the simulation is said once; the panels show it as long as it is so.
    if (!opening_ && now().error && now().error != shown_error_) {
        Notice notice;
        notice.kind = Notice::Kind::error;
        notice.text = now().error->happened();
        // Where it happened and what to do; what has been said is not said twice.
        notice.detail = now().error->what();
        if (notice.detail.starts_with(notice.text)) notice.detail = now().error->what_to_do();
        if (now().error->place().line > 0) {
            notice.button = "Show in the file";
            notice.action = [this] { focus_panel = "Scene file"; };
        }
        notice.until = frame_wishes().now() + 3 * notice_seconds;
        notice.about = about_simulation;
        show_notice(std::move(notice));  // the session has put it into the log
    }
    tell_warnings();
    if (!now().error && shown_error_) mended_now(about_simulation);
    shown_error_ = now().error;
    std::erase_if(notices_,
                  [](const Notice& n) { return n.until > 0 && n.until < frame_wishes().now(); });
}

void Workspace::apply() {
    if (opening_ || !editor_->has_scene() || editor_->revision() == sent_revision_) return;
    sent_revision_ = editor_->revision();
    send(session::Apply{editor_->document(), ++number_, editor_->place(), false});
    if (std::exchange(accepted_waits_, false)) accepted_in_ = number_;
    if (const auto branch = std::exchange(branch_to_, std::nullopt)) {
        send(session::Branch{*branch});
        optimise(session::Optimise::What::start);
    }
}

void Workspace::take_answer() {
    if (!now().answer || now().answer_to == answered_ || now().answer_to != accept_number_) return;
    answered_ = now().answer_to;
    const std::string name = now().answer_name.empty() ? "Accept parameters" : now().answer_name;
    const auto branch = std::exchange(branch_asked_, std::nullopt);
    const std::function<void()> next = std::exchange(after_accept_, {});
    const std::uint64_t before = editor_->revision();
    if (!edit([&](session::Editor& e) { e.replace(*now().answer, name); })) return;
    if (branch) branch_to_ = branch;  // once the scene is sent
    accepted_waits_ = !branch && editor_->revision() != before;
    if (next) {
        next();
        return;
    }
    tell(branch ? name + ": the scene is as it was then. Ctrl+Z brings the newer one back."
                : name + ": written into the scene. Ctrl+S saves it, Ctrl+Z takes it back." +
                      better_text(),
         Notice::Kind::success);
}

// What is shown was accepted, though another iteration has found more.
std::string Workspace::better_text() const {
    const session::IterationInfo* const best = best_row();
    if (best == nullptr || best->iteration == now().shown_iteration || !(best->loss < now().loss))
        return "";
    return fmt::format(" Iteration {} is better: its loss is {}, not {}.", best->iteration,
                       number_text(best->loss, 4), number_text(now().loss, 4));
}

const session::IterationInfo* Workspace::best_row() const {
    if (!now().history) return nullptr;
    const auto row =
        std::ranges::find(*now().history, now().best_iteration, &session::IterationInfo::iteration);
    return row == now().history->end() ? nullptr : &*row;
}

void Workspace::take_released_pull() {
    const auto& pulled = now().released_pull;
    if (!pulled || pulled->number == pulled_ || pulled->number != grab_number_) return;
    pulled_ = pulled->number;
    std::string pointer;
    if (edit([&](session::Editor& e) {
            pointer = e.append(model::Section::forces, pulled->force, pulled->name);
        }))
        tell(fmt::format("{}: the path of the hand is the force {} of the scene now. Ctrl+Z takes "
                         "it back.",
                         pulled->name, name_at(pointer)),
             Notice::Kind::success);
}

void Workspace::take_added() {
    if (!adding_) return;
    if (!adding_->is_for(*editor_)) {  // another scene is open
        adding_.reset();
        return;
    }
    if (!adding_->ready()) return;
    std::string pointer;
    edit([&](session::Editor& e) { pointer = adding_->finish(e); });
    if (adding_->ready()) adding_.reset();  // else it goes on, with the scene as it is now
    if (!pointer.empty()) select({pointer, -1, ""});
}

void Workspace::watch_files() {
    if (!editor_->has_scene() || opening_) return;
    try {
        const session::Editor::FileNews news = editor_->look_at_file();
        const std::string file = editor_->file().string();
        if (news == session::Editor::FileNews::gone)
            tell({.kind = Notice::Kind::error,
                  .text = editor_->file().filename().string() + " is no longer there",
                  .detail = file + " was deleted, moved or renamed elsewhere. The scene is still "
                                   "here, unsaved; saving writes the file anew.",
                  .until = 0,
                  .button = {},
                  .action = {},
                  .about = file});
        if (news == session::Editor::FileNews::changed) {
            mended_now(file);
            if (!editor_->unsaved()) {
                reload(false);
            } else {
                Notice notice;
                notice.text = editor_->file().filename().string() + " was changed elsewhere";
                notice.detail = "You have unsaved changes here. Reloading can be undone.";
                notice.button = "Reload";
                notice.action = [this] { reload(false); };
                tell(std::move(notice));
            }
        }
        if (frame_wishes().now() > next_autosave_) {
            next_autosave_ = frame_wishes().now() + autosave_interval;
            editor_->autosave();
        }
    } catch (const Error& error) {
        fail(error);
    }
}

// ---- edits --------------------------------------------------------------------------------------

bool Workspace::edit(const std::function<void(session::Editor&)>& change) {
    try {
        change(*editor_);
        return true;
    } catch (const Error& error) {
        fail(error);
        return false;
    }
}

bool Workspace::set(const std::string& pointer, Node value, const std::string& name,
                    const std::string& merge) {
    return edit([&](session::Editor& e) { e.set(pointer, std::move(value), name, merge); });
}

void Workspace::take_back_unless_it_loads() {
    if (!now().error) on_trial_ = editor_->revision();  // else it may be there to mend something
}

void Workspace::take_back_refused() {
    if (!on_trial_) return;
    const bool edited = opening_ || editor_->revision() != *on_trial_ || !editor_->can_undo();
    const bool tried = sent_revision_ == *on_trial_ && now().applied_revision >= number_;
    if (!edited && !tried) return;
    on_trial_.reset();
    if (edited || now().revision == number_ || !now().error) return;
    const std::string name = editor_->undo_name(), reason = now().error->what();
    if (!edit([](session::Editor& e) { e.undo(); })) return;
    shown_error_ = now().error;  // said here
    Notice notice;
    notice.kind = Notice::Kind::error;
    notice.text = name + " is taken back";
    notice.detail = "The scene cannot be built with it: " + reason;
    notice.until = frame_wishes().now() + 3 * notice_seconds;
    tell(std::move(notice));
}

void Workspace::add(model::Section section, const std::string& type) {
    edit([&](session::Editor& e) {
        adding_.reset();
        adding_ = std::make_unique<session::AddObjectTask>(e, registry_, section, type);
    });
}

// ---- simulation ---------------------------------------------------------------------------------

void Workspace::play(bool on) { send(session::Play{on}); }

void Workspace::set_speed(double seconds_per_second) {
    speed_ = seconds_per_second;
    send(session::SetSpeed{seconds_per_second});
}

void Workspace::optimise(session::Optimise::What what) { send(session::Optimise{what}); }

void Workspace::accept() { accept_and({}); }

void Workspace::accept_best() {
    if (const session::IterationInfo* const best = best_row())
        accept_and({}, false, best->iteration);
}

void Workspace::accept_and(std::function<void()> next, bool newest,
                           std::optional<std::int64_t> iteration) {
    branch_asked_.reset();
    after_accept_ = std::move(next);
    send(session::Accept{++accept_number_, newest, iteration});
}

void Workspace::accept_and_save(std::function<void()> next) {
    if (is_optimising()) tell("Accepting at the end of this iteration");
    accept_and(
        next ? std::move(next) : [this] { save_as_it_is(); }, now().shows_older_scene());
}

void Workspace::accept_identified_and_save(const std::function<void()>& next) {
    if (!has_unaccepted_identification() || !identification->accept()) return;
    identification.reset();
    if (next)
        next();
    else
        save_as_it_is();
}

void Workspace::branch(std::int64_t iteration) {
    after_accept_ = {};
    branch_asked_ = iteration;
    send(session::Branch{iteration, ++accept_number_});
    if (!now().shows_older_scene()) optimise(session::Optimise::What::start);
}

std::uint64_t Workspace::grab(std::vector<std::int64_t> points, const render::Vec3& place) {
    send(session::Grab{++grab_number_, std::move(points), place});
    return grab_number_;
}

void Workspace::colour_by(const std::string& field) {
    if (look.by != field && look.range == session::ColourLook::Range::hand)
        look.range = session::ColourLook::Range::run;
    look.by = field;
    look.apply(view, now());
    send_frame_contents();
}

void Workspace::keep_colours() {
    if (!set("/view", look.in_view_of(document()), "Colours of the view")) return;
    tell("The colours are part of the scene now; Ctrl+S writes its file");
}

void Workspace::keep_view() {
    const session::ViewLook looks{.arrows = arrows,
                                  .most_arrows = view.most_arrows,
                                  .tubes = view.tubes,
                                  .slice = view.slice,
                                  .heights = view.heights ? view.height_scale : 0,
                                  .distances = distances};
    if (!set("/view", looks.in_view_of(document()), "View")) return;
    tell(
        "Arrows, tubes, slice, heights and distances are part of the scene now; Ctrl+S writes its "
        "file");
}

bool Workspace::has_measured() const {
    return now().stage != nullptr &&
           std::ranges::any_of(now().stage->drawables, &render::Drawable::measured);
}

void Workspace::send_frame_contents() {
    send(session::FrameContents{look.by, arrows, view.trails});
}

// ---- messages -----------------------------------------------------------------------------------

void Workspace::tell(Notice notice) {
    if (log && notice.kind == Notice::Kind::error) {
        const bool both = !notice.detail.empty() && notice.detail != notice.text;
        log->add(session::LogLine::Level::error,
                 both ? notice.text + ": " + notice.detail : notice.text);
    }
    show_notice(std::move(notice));
}

void Workspace::show_notice(Notice notice) {
    ++told_;
    // The same again replaces the old one: a fault in a slider's range is not said sixty times.
    std::erase_if(notices_, [&](const Notice& n) { return n.text == notice.text; });
    notices_.push_back(std::move(notice));
    while (notices_.size() > 4) notices_.pop_front();
}

void Workspace::tell(const std::string& text, Notice::Kind kind) {
    Notice notice;
    notice.kind = kind;
    notice.text = text;
    notice.until = frame_wishes().now() + notice_seconds;
    tell(std::move(notice));
}

void Workspace::fail(const std::exception& error) {
    Notice notice;
    notice.kind = Notice::Kind::error;
    notice.text = error.what();
    notice.until = frame_wishes().now() + 3 * notice_seconds;
    tell(std::move(notice));
}

void Workspace::mended_now(const std::string& about) {
    std::erase_if(notices_, [&](const Notice& n) { return n.about == about; });
}

// ---- selection ----------------------------------------------------------------------------------

int Workspace::dimension() const {
    const document::Node* const d = document().find("/dimension");
    return d != nullptr && d->is_integer() && d->integer() == 2 ? 2 : 3;
}

std::string Workspace::name_at(const std::string& pointer) const {
    return object_name(document(), pointer);
}

std::string Workspace::pointer_of(const std::string& name) const {
    for (const model::Section section : model::all_sections) {
        const std::string head = std::string("/") + model::name_of(section);
        const Node* list = document().find(head);
        if (list == nullptr) continue;
        for (std::size_t k = 0; k < list->size(); ++k) {
            std::string pointer = fmt::format("{}/{}", head, k);
            if (name_at(pointer) == name) return pointer;
        }
    }
    return "";
}

// ---- view ---------------------------------------------------------------------------------------

void Workspace::reset_camera(double aspect) {
    if (!now().stage) return;
    render::Stage seen;
    seen.dimension = is_flat() ? 2 : 3;  // a field's heights are looked at from the side
    seen.up = now().stage->up;
    seen.low = now().stage->low;
    seen.high = now().stage->high;
    view.camera = render::default_camera(seen, aspect);
    const auto vector = [&](const char* pointer, render::Vec3& place) {
        const Node* node = document().find(pointer);
        if (node == nullptr || !node->is_array() || node->size() != 3) return;
        for (std::size_t k = 0; k < 3; ++k) {
            const Node& n = node->item(k);
            if (n.is_integer() || n.is_real())
                place[k] = n.is_integer() ? static_cast<double>(n.integer()) : n.real();
        }
    };
    if (now().stage->dimension == 3) {
        vector("/view/camera/eye", view.camera.eye);
        vector("/view/camera/target", view.camera.target);
    }
    camera_is_set = true;
}

// ---- settings -----------------------------------------------------------------------------------

void Settings::set(render::View& view) const {
    view.dark = dark;
    view.shadows = shadows;
    view.ambient_occlusion = ambient_occlusion;
    view.floor = floor;
    view.samples = samples;
    const auto grey = [](float r, float g, float b) { return render::Colour{r, g, b, 1}; };
    view.background_top = dark ? grey(0.17F, 0.185F, 0.21F) : grey(0.93F, 0.945F, 0.96F);
    view.background_bottom = dark ? grey(0.09F, 0.097F, 0.11F) : grey(0.80F, 0.825F, 0.85F);
}

void Workspace::load_settings() {
    try {
        const fs::path file = state_folder_ / "settings.json";
        if (!fs::exists(file)) return;
        settings_are_kept = true;
        const Document kept = Document::load(file);
        const auto flag = [&](const char* pointer, bool& value) {
            if (const Node* n = kept.find(pointer); n != nullptr && n->is_boolean())
                value = n->boolean();
        };
        flag("/dark", settings.dark);
        flag("/tour_done", settings.tour_done);
        flag("/shadows", settings.shadows);
        flag("/ambient_occlusion", settings.ambient_occlusion);
        flag("/floor", settings.floor);
        flag("/text_beside", settings.text_beside);
        if (const Node* n = kept.find("/font_scale"); n != nullptr && n->is_real())
            settings.font_scale = std::clamp(n->real(), 0.6, 3.0);
        if (const Node* n = kept.find("/layout"); n != nullptr && n->is_integer())
            settings.layout = static_cast<int>(n->integer());
        if (const Node* n = kept.find("/folder"); n != nullptr && n->is_string())
            settings.folder = n->string();
        if (const Node* n = kept.find("/samples"); n != nullptr && n->is_integer())
            settings.samples = n->integer() == 1 ? 1 : 4;
    } catch (const Error&) {
        settings = {};  // a broken file must not keep the window from opening
    }
}

void Workspace::save_settings() {
    settings_changed = true;
    try {
        Document kept;
        kept.set("/dark", settings.dark);
        kept.set("/font_scale", settings.font_scale);
        kept.set("/tour_done", settings.tour_done);
        kept.set("/shadows", settings.shadows);
        kept.set("/ambient_occlusion", settings.ambient_occlusion);
        kept.set("/floor", settings.floor);
        kept.set("/samples", settings.samples);
        kept.set("/text_beside", settings.text_beside);
        kept.set("/layout", settings.layout);
        kept.set("/folder", settings.folder);
        kept.save(state_folder_ / "settings.json");
    } catch (const Error& error) {
        fail(error);
    }
}

}  // namespace hindcast::gui
