// The scene's text, as it is saved: edited here and taken over by Ctrl+Enter. While it is typed it is
// checked by the loader beside the window (session/text/check_task.hpp), and what does not load is
// marked at its place; the simulation goes on with what it had. The cursor selects the entry that it
// is in, and what is selected elsewhere is shown here.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "app/gui/draw/words.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/panels/scene_file/completion_popup.hpp"
#include "app/gui/panels/scene_file/find_bar.hpp"
#include "app/gui/panels/scene_file/text_faults.hpp"
#include "app/gui/panels/scene_file/text_widget.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/scene_text.hpp"
#include "engine/base/files.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/scene/schema.hpp"

namespace hindcast::gui {

namespace {

using session::TextTree;

constexpr std::size_t most_fault_rows = 4;

// The thing around this pointer that has a row in the scene's tree; "" if none.
std::string selectable(const std::string& pointer) {
    const std::vector<std::string> tokens = document::split_pointer(pointer);
    if (tokens.empty()) return "";
    const std::string& first = tokens.front();
    std::string top = "/" + document::pointer_token(first);
    if (first == "optimizer" && tokens.size() > 2 && tokens[1] == "groups")
        return top + "/groups/" + document::pointer_token(tokens[2]);
    if (first == "time" || first == "gravity" || first == "optimizer" || first == "gradients")
        return top;
    bool list = first == "parameters";
    for (const model::Section section : model::all_sections)
        list |= first == model::name_of(section);
    return list && tokens.size() > 1 ? top + "/" + tokens[1] : "";
}

class SceneFile final : public Panel {
public:
    SceneFile()
        : Panel("Scene file", icon::code, Place::center,
                "The scene as text: everything that the panels change is written here") {}

    // Also while another panel is in front: a check that has ended is taken up.
    void update(Context&) override { faults_.update(); }
    bool is_busy() const override { return faults_.is_busy(); }

    void draw(Context& context) override {
        Topics& work = context.work;
        if (!faults_.has_started()) {
            faults_.start(work.scene.registry(), work.text.built_with);
            guide_ = std::make_unique<session::SchemaGuide>(scene_schema(work.scene.registry()));
        }
        take_text(work);
        mark_error_of_session(work);
        follow_selection(work);
        header(work);
        offer(work);
        find_.draw(text_);
        // To the text editor these keys mean an empty line: it must not see them.
        const bool applies = ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) &&
                             (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_Enter) ||
                              ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_KeypadEnter));
        holds_ = applies || (holds_ && (ImGui::IsKeyDown(ImGuiKey_Enter) ||
                                        ImGui::IsKeyDown(ImGuiKey_KeypadEnter)));
        if (!completion_.is_open()) find_.take_keys(text_);
        completion_.take_keys(text_);
        const ImVec2 room = ImGui::GetContentRegionAvail();
        const float line = ImGui::GetTextLineHeightWithSpacing();
        // At most a quarter of a low panel.
        const auto fit = static_cast<std::size_t>(std::max(room.y * 0.25F / line, 1.0F));
        const std::size_t rows = std::min({faults_.shown().size(), most_fault_rows, fit});
        const float below = line + (rows > 0 ? line * static_cast<float>(rows) + px(8) : 0) + px(2);
        text_.draw({room.x, std::max(room.y - below, line * 2)}, !holds_, !completion_.is_open());
        completion_.draw(text_, [&] { return completion_source(work); });
        help_line();
        faults_.draw(rows);
        if (applies) apply(work);
        faults_.check_if_changed(!text_.changed() && !broken_file_,
                                 broken_file_ ? *broken_file_ : work.scene.editor().place());
        select_by_cursor(work);
        work.text.fault = faults_.first();
        work.text.changed = text_.changed() && !broken_file_;
    }

private:
    // ---- what stands above and below the text ----

    void header(Topics& work) {
        const bool changed = text_.changed();
        if (text_button(icon::check, "Apply",
                        broken_file_
                            ? "Writes the text into " + broken_file_->string() +
                                  " and opens it (Ctrl+Enter)"
                            : "Takes the text over as the scene (Ctrl+Enter); can be undone",
                        changed || broken_file_, changed))
            apply(work);
        ImGui::SameLine();
        if (text_button(
                icon::undo, "Discard",
                broken_file_ ? "Leaves the file as it is" : "Shows the scene as it is again",
                changed || broken_file_)) {
            broken_file_.reset();
            work.text.mended.reset();
            faults_.forget();
            shown_document_ = nullptr;
            text_.set_clean();
        }
        ImGui::SameLine();
        if (icon_button("find", icon::search, "Find and replace (Ctrl+F; Ctrl+G: the next one)"))
            find_.open(text_);
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        const float left = ImGui::GetContentRegionAvail().x;
        if (const std::size_t count = faults_.shown().size(); count > 0) {
            ImGui::PushStyleColor(ImGuiCol_Text, style().palette().bad);
            cut_text(count == 1 ? std::string(icon::error) + "  1 fault"
                                : fmt::format("{}  {} faults", icon::error, count),
                     left);
            ImGui::PopStyleColor();
        } else if (broken_file_) {
            ImGui::PushStyleColor(ImGuiCol_Text, style().palette().warn);
            cut_text(broken_file_->filename().string(), left);
            ImGui::PopStyleColor();
        } else {
            ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
            cut_text(!changed                ? "the scene as it is"
                     : faults_.is_checking() ? "changed, not applied yet; being checked"
                                             : "changed, not applied yet; it loads",
                     left);
            ImGui::PopStyleColor();
        }
    }

    // A key that the user was sent for and that is not written: it can be.
    void offer(Topics& work) {
        if (!offered_) return;
        const int object = text_.tree().find(offered_->pointer);
        const bool there =
            object != TextTree::none && text_.tree()[object].kind == TextTree::Kind::object;
        if (!there || text_.tree().member(object, offered_->key) != TextTree::none) {
            offered_.reset();
            return;
        }
        const session::CompletionSource source = completion_source(work);
        const bool inserts =
            text_button(icon::add, "Write it",
                        "Inserts the key with its default, or a value to begin with", true, true);
        ImGui::SameLine();
        const bool leaves = icon_button("no", icon::close, "Leaves it as it is");
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        ImGui::PushStyleColor(ImGuiCol_Text, style().palette().warn);
        cut_text(fmt::format("\"{}\" is not written here", offered_->key),
                 ImGui::GetContentRegionAvail().x);
        ImGui::PopStyleColor();
        if (inserts) {
            text_.replace(session::with_key(text_.tree(), object, offered_->key, source));
            text_.focus();
        }
        if (inserts || leaves) offered_.reset();
    }

    // The key that the cursor is in: its path, what it takes and what it means.
    void help_line() {
        if (help_version_ != text_.version() || help_cursor_ != text_.cursor()) {
            help_version_ = text_.version();
            help_cursor_ = text_.cursor();
            const TextTree& tree = text_.tree();
            const int entry = tree.entry_at(help_cursor_);
            help_ = entry == TextTree::none ? session::KeyHelp{} : guide_->help(tree, entry);
        }
        if (help_.key.empty()) {
            quiet_text("Ctrl+Space: what may stand here");
            tip("Ctrl+F finds and replaces, Ctrl+/ makes lines comments, Ctrl+Z undoes what was "
                "typed, Ctrl+Enter takes the text over");
            return;
        }
        ImGui::TextUnformatted(help_.key.c_str());
        ImGui::SameLine(0, px(10));
        ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
        std::string rest = help_.facts;
        if (!help_.documentation.empty()) rest += (rest.empty() ? "" : ": ") + help_.documentation;
        cut_text(rest, ImGui::GetContentRegionAvail().x);
        ImGui::PopStyleColor();
    }

    // ---- the text and the document ----

    // A new document replaces the text, unless the user is in the middle of changing it.
    void take_text(Topics& work) {
        if (work.text.broken) {
            broken_file_ = work.text.broken->file;
            // A text that is being put right keeps its undo.
            text_.set_text(work.text.broken->text);
            faults_.refuse(work.text.broken->error, true);
            work.text.broken.reset();
            shown_document_ = work.scene.editor().document();
            return;
        }
        if (broken_file_ && !work.text.mended) {  // it was opened, or given up
            broken_file_.reset();
            shown_document_ = nullptr;
            text_.set_clean();
            faults_.forget();
        }
        if (scene_ !=
            work.scene.scenes_shown()) {  // what was typed was into the text of another one
            scene_ = work.scene.scenes_shown();
            followed_.clear();
            offered_.reset();
            if (!broken_file_) shown_document_ = nullptr;
        }
        const auto& document = work.scene.editor().document();
        if (document && document != shown_document_ && !broken_file_ &&
            (shown_document_ == nullptr || !text_.changed())) {
            const bool same_scene = shown_document_ != nullptr;
            shown_document_ = document;
            text_.set_text(work.scene.editor().text(), same_scene);
            faults_.note_checked();
            faults_.forget();
        }
    }

    void apply(Topics& work) {
        const std::string text = text_.text();
        try {
            if (broken_file_) {
                // A file that did not open is put right where it is, then opened.
                document::Document::parse(text, broken_file_->string());
                const std::filesystem::path file = *broken_file_;
                write_file_atomically(file, text);
                text_.set_clean();
                faults_.forget();
                if (file == work.scene.editor().file()) {
                    work.text.mended.reset();
                    broken_file_.reset();
                    shown_document_ = nullptr;
                    work.saving.reload();
                } else {
                    work.opening.open(file);
                }
                return;
            }
            work.scene.editor().replace_text(text, "Edit the scene's text");
            shown_document_ = work.scene.editor().document();
            text_.set_clean();
            faults_.accept();
            work.messages.tell("Applied", Notice::Kind::success);
        } catch (const Error& error) {
            faults_.refuse(error, broken_file_.has_value());
        }
    }

    // ---- faults ----

    // An error without a file is of the scene that runs, whose text is not shown while another
    // one is put right.
    bool is_of_shown(const EditedScene& scene, const std::string& file) const {
        if (file.empty()) return !broken_file_;
        return file == (broken_file_ ? *broken_file_ : scene.editor().file());
    }

    // The simulation may still refuse a text that parsed here.
    void mark_error_of_session(Topics& work) {
        const auto& error = work.running.now().reports.error;
        if (error == marked_) return;
        marked_ = error;
        if (error && !is_of_shown(work.scene, error->place().file)) return;
        if (error) {
            faults_.refuse(*error, broken_file_.has_value());
        } else if (!broken_file_) {
            faults_.accept();
        }
    }

    // ---- the selection ----

    // The entry of the text that the document has at this pointer: by its name, where the text has
    // been changed.
    int entry_of(const EditedScene& scene, const std::string& pointer) const {
        const TextTree& tree = text_.tree();
        const int same = tree.find(pointer);
        if (!text_.changed() || selectable(pointer) != pointer) return same;
        const std::string name = object_name(scene.document(), pointer);
        for (const auto& [section, object] : tree.objects())
            if (pointer.starts_with("/" + section + "/") && tree.object_name(object) == name)
                return object;
        return same;
    }

    void follow_selection(Topics& work) {
        const Selection selection = work.chosen.object;
        if (broken_file_ || !work.scene.is_open()) return;
        if (!selection.field.empty()) {  // asked for once, however often for the same one
            Selection taken = selection;
            taken.field.clear();
            work.chosen.select(taken);
            followed_ = selection.pointer;
            show_field(work, selection.pointer, selection.field);
            return;
        }
        if (selection.pointer == followed_) return;
        followed_ = selection.pointer;
        offered_.reset();
        if (selection.pointer.empty()) return;
        if (const int entry = entry_of(work.scene, selection.pointer); entry != TextTree::none)
            go_to_entry(entry);
    }

    void show_field(const Topics& work, const std::string& pointer, const std::string& field) {
        offered_.reset();
        text_.focus();
        const int object = entry_of(work.scene, pointer);
        const int member = text_.tree().member(object, field);
        if (member != TextTree::none) {
            go_to_entry(member);
        } else if (object != TextTree::none) {
            go_to_entry(object);
            offered_ = Offer{text_.tree().pointer(object), field};
        } else {  // not even what it belongs to
            const std::size_t slash = pointer.rfind('/');
            offered_ = Offer{pointer.substr(0, slash), pointer.substr(slash + 1)};
        }
    }

    void go_to_entry(int entry) {
        text_.go_to(text_.tree()[entry].from());
        cursor_ = text_.cursor();
    }

    // The user has moved the cursor, or typed: what it is in is selected.
    void select_by_cursor(Topics& work) {
        const std::size_t cursor = text_.cursor();
        if (cursor == cursor_) return;
        cursor_ = cursor;
        if (!text_.is_focused() || broken_file_ || !work.scene.is_open()) return;
        const TextTree& tree = text_.tree();
        const int entry = tree.entry_at(cursor);
        if (entry == TextTree::none) return;
        std::string pointer = selectable(tree.pointer(entry));
        if (pointer.empty()) return;
        // A changed text may have other pointers than the scene: the name finds the object.
        if (const int object = tree.find(pointer); text_.changed() &&
                                                   std::ranges::count(pointer, '/') == 2 &&
                                                   !pointer.starts_with("/parameters/"))
            pointer = work.scene.pointer_of(tree.object_name(object));
        if (pointer.empty() || pointer == work.chosen.object.pointer) return;
        if (work.scene.document().find(pointer) == nullptr) return;
        followed_ = pointer;
        offered_.reset();
        work.chosen.select({pointer, -1, ""});
    }

    // ---- completion ----

    session::CompletionSource completion_source(const Topics& work) const {
        session::CompletionSource source{*guide_, work.scene.registry()};
        source.folder = (broken_file_ ? *broken_file_ : work.scene.editor().place()).parent_path();
        for (const session::QuantityInfo& q : work.running.now().values.present_quantities())
            if (q.may_optimize) source.paths.push_back(q.path);
        for (const session::ShownField& field : work.running.now().view.colors)
            source.colors.push_back(field.name);
        for (const session::ShownField& field : work.running.now().view.arrows)
            source.arrows.push_back(field.name);
        return source;
    }

    struct Offer {
        std::string pointer, key;  // an object of the text, and what it has not got
    };

    TextWidget text_;
    CompletionPopup completion_;
    FindBar find_;
    TextFaults faults_{text_};
    std::unique_ptr<session::SchemaGuide> guide_;  // made when the text is first shown
    std::shared_ptr<const document::Document> shown_document_;
    std::uint64_t scene_ = 0;  // EditedScene::scenes_shown
    bool holds_ = false;       // the keys of Apply, still
    std::shared_ptr<const Error> marked_;
    std::optional<std::filesystem::path> broken_file_;
    std::string followed_;    // the selection that the text has gone to or has made
    std::size_t cursor_ = 0;  // that the selection has been made of
    std::optional<Offer> offered_;
    session::KeyHelp help_;
    std::uint64_t help_version_ = 0;
    std::size_t help_cursor_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_scene_file() { return std::make_unique<SceneFile>(); }

}  // namespace hindcast::gui
