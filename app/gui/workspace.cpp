#include "app/gui/workspace.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <cmath>
#include <utility>

#include "app/gui/process_log.hpp"
#include "engine/base/files.hpp"
#include "engine/document/text.hpp"

namespace hindcast::gui {

namespace {

namespace fs = std::filesystem;
using document::Document;
using document::Node;

constexpr double autosave_interval = 5;  // s
constexpr double notice_seconds = 4;

}  // namespace

std::string duration_text(double seconds) {
    if (!std::isfinite(seconds)) return "-";
    if (seconds >= 100) return fmt::format("{:.0f} s", seconds);
    if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
    if (seconds >= 1e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
    if (seconds >= 1e-5 || seconds <= 0) return fmt::format("{:.0f} us", seconds * 1e6);
    return fmt::format("{:.0f} ns", seconds * 1e9);
}

std::string bytes_text(double bytes) {
    static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1000 && unit < 4) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes)
                     : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string number_text(double value, int digits) {
    if (std::isnan(value)) return "-";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return fmt::format("{:.{}g}", value, digits);
}

Workspace::Workspace(const Registry& registry, Link link, fs::path state_folder,
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
    finish_opening();
    take_answer();
    take_pulled();
    take_added();
    apply();
    watch_files();
    // What failed in the simulation is said once; the panels show it as long as it is so.
    if (!opening_ && now().error && now().error != shown_error_) {
        Notice notice;
        notice.kind = Notice::Kind::error;
        notice.text = now().error->happened();
        notice.detail = now().error->what();
        if (now().error->place().line > 0) {
            notice.button = "Show in the file";
            notice.action = [this] { focus_panel = "Scene file"; };
        }
        notice.until = ImGui::GetTime() + 3 * notice_seconds;
        tell(std::move(notice));
    }
    shown_error_ = now().error;
    std::erase_if(notices_,
                  [](const Notice& n) { return n.until > 0 && n.until < ImGui::GetTime(); });
}

void Workspace::apply() {
    if (opening_ || !editor_->has_scene() || editor_->revision() == sent_revision_) return;
    sent_revision_ = editor_->revision();
    send(session::Apply{editor_->document(), ++number_, editor_->file(), false});
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
    if (!edit([&](session::Editor& e) { e.replace(*now().answer, name); })) return;
    if (branch) branch_to_ = branch;  // once the scene is sent
    tell(branch ? name + ": the scene is as it was then. Ctrl+Z brings the newer one back."
                : name + ": written into the scene. Ctrl+S saves it, Ctrl+Z takes it back.",
         Notice::Kind::success);
}

void Workspace::take_pulled() {
    const auto& pulled = now().pulled;
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
        if (editor_->changed_on_disk()) {
            if (!editor_->unsaved()) {
                reload();
            } else {
                Notice notice;
                notice.text = editor_->file().filename().string() + " was changed elsewhere";
                notice.detail = "You have unsaved changes here. Reloading can be undone.";
                notice.button = "Reload";
                notice.action = [this] { reload(); };
                tell(std::move(notice));
            }
        }
        if (ImGui::GetTime() > next_autosave_) {
            next_autosave_ = ImGui::GetTime() + autosave_interval;
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

void Workspace::add(model::Section section, const std::string& type) {
    edit([&](session::Editor& e) {
        adding_.reset();
        adding_ = std::make_unique<session::Adding>(e, registry_, section, type);
    });
}

// ---- scenes and files ---------------------------------------------------------------------------

void Workspace::open(const fs::path& file) {
    when_saved([this, file] {
        auto fresh = std::make_unique<session::Editor>(registry_);
        fresh->keep_in(state_folder_);
        try {
            fresh->open(file);
        } catch (const Error& error) {
            failed_load(file, error);
            return;
        }
        begin_opening(std::move(fresh));
    });
}

void Workspace::make_new() {
    when_saved([this] {
        auto fresh = std::make_unique<session::Editor>(registry_);
        fresh->keep_in(state_folder_);
        fresh->make_new();
        begin_opening(std::move(fresh));
    });
}

void Workspace::open_rescued() {
    auto fresh = std::make_unique<session::Editor>(registry_);
    fresh->keep_in(state_folder_);
    try {
        fresh->open_rescued();
    } catch (const Error& error) {
        fail(error);
        return;
    }
    begin_opening(std::move(fresh));
}

void Workspace::begin_opening(std::unique_ptr<session::Editor> fresh) {
    opening_ = std::move(fresh);
    opening_number_ = ++number_;
    error_before_ = now().error;
    send(session::Apply{opening_->document(), opening_number_, opening_->file(), true});
}

fs::path Workspace::opening_file() const { return opening_ ? opening_->file() : fs::path(); }

void Workspace::finish_opening() {
    if (!opening_ || now().applied_revision < opening_number_) return;
    if (now().revision < opening_number_) {
        // While it is being built there is no error yet, or one of something before.
        if (!now().error || now().error == error_before_) return;
        const std::unique_ptr<session::Editor> refused = std::move(opening_);
        shown_error_ = now().error;
        failed_load(refused->file(), *now().error);
        return;
    }
    std::unique_ptr<session::Editor> fresh = std::move(opening_);
    editor_ = std::move(fresh);
    sent_revision_ = editor_->revision();
    selection_ = {};
    camera_is_set = false;
    show_gallery = false;
    colour.clear();
    arrows.clear();
    hidden.clear();
    fit_arrows = true;
    if (const Node* wanted = document().find("/view/color_by");
        wanted != nullptr && wanted->is_string())
        colour = wanted->string();
    look();
    send(session::Repeat{looping});
    set_speed(session::fitting_speed(duration()));
    send(session::Play{true});
}

void Workspace::failed_load(const fs::path& file, const Error& error) {
    Question question;
    question.title = "This scene cannot be opened";
    question.text = file.empty() ? "" : file.filename().string();
    question.detail = error.what();
    if (!file.empty()) {
        question.answers.push_back({"Show in the file",
                                    "Shows the text with the fault marked, to be put right here",
                                    [this, file, error] {
                                        try {
                                            broken = Broken{file, read_file(file), error};
                                            focus_panel = "Scene file";
                                        } catch (const Error& unreadable) {
                                            fail(unreadable);
                                        }
                                    }});
    }
    question.answers.push_back(
        {"Close", has_scene() ? "What was open stays open" : "Nothing is opened", [] {}});
    ask(std::move(question));
}

void Workspace::when_saved(std::function<void()> next) {
    if (!editor_->has_scene() || !editor_->unsaved()) {
        next();
        return;
    }
    Question question;
    question.title = "Unsaved changes";
    question.text = fmt::format(
        "Save the changes to {}?",
        editor_->file().empty() ? "the new scene" : editor_->file().filename().string());
    question.answers = {{"Save", "Writes the scene's file, then goes on",
                         [this, next] {
                             if (save()) next();
                         }},
                        {"Discard", "The changes are lost", next},
                        {"Cancel", "Everything stays as it is", [] {}}};
    ask(std::move(question));
}

void Workspace::close() {
    when_saved([this] {
        edit([](session::Editor& e) { e.close(); });
        selection_ = {};
        show_gallery = true;
        send(session::Play{false});
        send(session::ShowIteration{});
        send(session::Ghost{});
    });
}

bool Workspace::save() {
    if (editor_->file().empty()) {
        show_save_as = true;
        return false;
    }
    if (!edit([](session::Editor& e) { e.save(); })) return false;
    tell("Saved " + editor_->file().filename().string(), Notice::Kind::success);
    return true;
}

bool Workspace::save_as(const fs::path& file) {
    if (!edit([&](session::Editor& e) { e.save_as(file); })) return false;
    tell("Saved " + file.string(), Notice::Kind::success);
    return true;
}

void Workspace::reload() {
    try {
        editor_->reload();
        tell(editor_->file().filename().string() + " was changed elsewhere and is shown anew");
    } catch (const Error& error) {
        // What runs stays; the text is shown where it is wrong.
        try {
            broken = Broken{editor_->file(), read_file(editor_->file()), error};
        } catch (const Error&) {
            broken.reset();
        }
        Notice notice;
        notice.kind = Notice::Kind::error;
        notice.text = editor_->file().filename().string() + " was changed and does not load";
        notice.detail = error.what();
        notice.button = "Show in the file";
        notice.action = [this] { focus_panel = "Scene file"; };
        tell(std::move(notice));
    }
}

std::string Workspace::title() const {
    if (!has_scene()) return "no scene";
    const Node* name = document().find("/name");
    std::string text = name != nullptr && name->is_string() ? name->string()
                       : editor_->file().empty()            ? "new scene"
                                                            : editor_->file().stem().string();
    return text;
}

void Workspace::request_quit() {
    when_saved([this] { quit_ = true; });
}

// ---- simulation ---------------------------------------------------------------------------------

void Workspace::play(bool on) { send(session::Play{on}); }

void Workspace::set_speed(double seconds_per_second) {
    speed_ = seconds_per_second;
    send(session::SetSpeed{seconds_per_second});
}

void Workspace::optimise(session::Optimise::What what) { send(session::Optimise{what}); }

void Workspace::accept() {
    branch_asked_.reset();
    send(session::Accept{++accept_number_});
}

void Workspace::branch(std::int64_t iteration) {
    branch_asked_ = iteration;
    send(session::Branch{iteration, ++accept_number_});
    if (!now().shows_older_scene()) optimise(session::Optimise::What::start);
}

std::uint64_t Workspace::grab(std::vector<std::int64_t> points, const render::Vec3& place) {
    send(session::Grab{++grab_number_, std::move(points), place});
    return grab_number_;
}

void Workspace::look() { send(session::Look{colour, arrows, view.trails}); }

// ---- messages -----------------------------------------------------------------------------------

void Workspace::tell(Notice notice) {
    // The same again replaces the old one: a fault in a slider's range is not said sixty times.
    std::erase_if(notices_, [&](const Notice& n) { return n.text == notice.text; });
    notices_.push_back(std::move(notice));
    while (notices_.size() > 4) notices_.pop_front();
}

void Workspace::tell(const std::string& text, Notice::Kind kind) {
    Notice notice;
    notice.kind = kind;
    notice.text = text;
    notice.until = ImGui::GetTime() + notice_seconds;
    tell(std::move(notice));
}

void Workspace::fail(const std::exception& error) {
    Notice notice;
    notice.kind = Notice::Kind::error;
    notice.text = error.what();
    if (log) log->add(session::LogLine::Level::error, notice.text);
    notice.until = ImGui::GetTime() + 3 * notice_seconds;
    tell(std::move(notice));
}

// ---- selection ----------------------------------------------------------------------------------

std::string Workspace::name_at(const std::string& pointer) const {
    return object_name(document(), pointer);
}

std::string object_name(const Document& document, const std::string& pointer) {
    const Node* node = document.find(pointer);
    if (node == nullptr) return "";
    if (const Node* name = node->find("name"); name != nullptr && name->is_string())
        return name->string();
    // What has no name is called by its type and its place among those of the type.
    const Node* type = node->find("type");
    if (type == nullptr || !type->is_string() || node->parent() == nullptr) return "";
    int number = 0;
    for (std::size_t k = 0; k < node->parent()->size(); ++k) {
        const Node& other = node->parent()->item(k);
        const Node* other_type = other.find("type");
        if (other.find("name") == nullptr && other_type != nullptr && other_type->is_string() &&
            other_type->string() == type->string())
            ++number;
        if (&other == node) break;
    }
    return fmt::format("{}_{}", type->string(), number);
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
        if (const Node* n = kept.find("/font_scale"); n != nullptr && n->is_real())
            settings.font_scale = std::clamp(n->real(), 0.6, 3.0);
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
        kept.save(state_folder_ / "settings.json");
    } catch (const Error& error) {
        fail(error);
    }
}

}  // namespace hindcast::gui
