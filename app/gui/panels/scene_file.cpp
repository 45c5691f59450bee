// The scene's text, as it is saved: edited here and taken over by Ctrl+Enter. What does not load is
// marked at its line, and the simulation goes on with what it had.
#include <TextEditor.h>
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/panels/panel.hpp"
#include "engine/base/files.hpp"

namespace hindcast::gui {

namespace {

class SceneFile final : public Panel {
public:
    SceneFile()
        : Panel("Scene file", icon::code, Place::centre,
                "The scene as text: everything that the panels change is written here") {
        editor_.SetLanguage(TextEditor::Language::Json());
        editor_.SetTabSize(4);
        editor_.SetInsertSpacesOnTabs(true);
        editor_.SetShowWhitespacesEnabled(false);
        editor_.SetShowScrollbarMiniMapEnabled(false);
    }

    void draw(Context& context) override {
        Workspace& work = context.work;
        take_text(work);
        const bool changed = editor_.GetUndoIndex() != clean_;
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
            work.mended.reset();
            editor_.ClearMarkers();
            fault_.clear();
            shown_ = nullptr;
            clean_ = editor_.GetUndoIndex();
        }
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        if (!fault_.empty()) {
            ImGui::PushStyleColor(ImGuiCol_Text, style().palette().bad);
            cut_text(std::string(icon::error) + "  " + fault_, ImGui::GetContentRegionAvail().x);
            ImGui::PopStyleColor();
        } else if (broken_file_) {
            ImGui::TextColored(style().palette().warn, "%s", broken_file_->filename().c_str());
        } else {
            quiet_text(changed ? "changed, not applied yet" : "the scene as it is");
        }
        mark_error_of_session(work);
        ImGui::PushFont(style().fonts().fixed, 0);
        editor_.SetPalette(style().theme->dark() ? TextEditor::GetDarkPalette()
                                                 : TextEditor::GetLightPalette());
        // To the text editor these keys mean an empty line: it must not see them.
        const bool applies = ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) &&
                             (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_Enter) ||
                              ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_KeypadEnter));
        holds_ = applies || (holds_ && (ImGui::IsKeyDown(ImGuiKey_Enter) ||
                                        ImGui::IsKeyDown(ImGuiKey_KeypadEnter)));
        editor_.SetReadOnlyEnabled(holds_);
        editor_.Render("text", ImGui::GetContentRegionAvail(), false);
        editor_.SetReadOnlyEnabled(false);
        ImGui::PopFont();
        if (applies) apply(work);
        work.text_fault = fault_;
        work.text_changed = editor_.GetUndoIndex() != clean_ && !broken_file_;
    }

private:
    // A new document replaces the text, unless the user is in the middle of changing it.
    void take_text(Workspace& work) {
        if (work.broken) {
            broken_file_ = work.broken->file;
            // A text that is being put right keeps its undo.
            if (editor_.GetText() != work.broken->text) editor_.SetText(work.broken->text);
            clean_ = editor_.GetUndoIndex();
            mark(work.broken->error);
            work.broken.reset();
            shown_ = work.editor().document();
            return;
        }
        if (broken_file_ && !work.mended) {  // it was opened, or given up
            broken_file_.reset();
            shown_ = nullptr;
            clean_ = editor_.GetUndoIndex();
            editor_.ClearMarkers();
            fault_.clear();
        }
        if (scene_ != work.scenes_shown()) {  // what was typed was into the text of another one
            scene_ = work.scenes_shown();
            if (!broken_file_) shown_ = nullptr;
        }
        const auto& document = work.editor().document();
        if (document && document != shown_ && !broken_file_ &&
            (shown_ == nullptr || editor_.GetUndoIndex() == clean_)) {
            shown_ = document;
            const std::string& text = work.editor().text();
            if (text != editor_.GetText()) editor_.SetText(text);
            clean_ = editor_.GetUndoIndex();
            editor_.ClearMarkers();
            fault_.clear();
        }
        // The field that the inspector sent the user for.
        if (const std::string& field = work.selection().field;
            !field.empty() && document && work.selection().pointer + field != sought_) {
            sought_ = work.selection().pointer + field;
            try {
                const document::Document placed = document::Document::parse(editor_.GetText());
                if (const document::Node* node =
                        placed.find(work.selection().pointer + "/" + field)) {
                    const auto line = static_cast<std::size_t>(std::max(node->place().line - 1, 0));
                    editor_.SetCursor({line, 0});
                    editor_.ScrollToLine(line);
                }
            } catch (const Error&) {
                sought_.clear();
            }
        }
    }

    void mark(const Error& error) {
        fault_ = error.what();
        editor_.ClearMarkers();
        int found = error.place().line;
        // The lines of an error in a scene that was edited are those of the text that was read: in
        // this text it stands where its pointer leads.
        try {
            if (!error.json_pointer().empty() && !broken_file_) {
                const document::Document placed = document::Document::parse(editor_.GetText());
                if (const document::Node* node = placed.find(error.json_pointer()))
                    found = node->place().line;
            }
        } catch (const Error&) {  // the text is in the middle of being changed: the line, then
            found = error.place().line;
        }
        if (found <= 0) return;
        const auto line = static_cast<std::size_t>(found - 1);
        const ImVec4 bad = style().palette().bad;
        ImVec4 pale = bad;
        pale.w = 0.25F;
        editor_.AddMarker(line, ImGui::GetColorU32(bad), ImGui::GetColorU32(pale), error.what(),
                          error.what());
        editor_.SetCursor({line, 0});
        editor_.ScrollToLine(line);
    }

    // An error without a file is of the scene that runs, whose text is not shown while another
    // one is put right.
    bool is_of_shown(const Workspace& work, const std::string& file) const {
        if (file.empty()) return !broken_file_;
        return file == (broken_file_ ? *broken_file_ : work.editor().file());
    }

    // What parsed here may still be refused by the simulation.
    void mark_error_of_session(Workspace& work) {
        const auto& error = work.now().error;
        if (error == marked_) return;
        marked_ = error;
        if (error && !is_of_shown(work, error->place().file)) return;
        if (error)
            mark(*error);
        else if (!broken_file_) {
            editor_.ClearMarkers();
            fault_.clear();
        }
    }

    void apply(Workspace& work) {
        const std::string text = editor_.GetText();
        try {
            if (broken_file_) {
                // A file that did not open is put right where it is, then opened.
                document::Document::parse(text, broken_file_->string());
                const std::filesystem::path file = *broken_file_;
                write_file_atomically(file, text);
                clean_ = editor_.GetUndoIndex();
                fault_.clear();
                editor_.ClearMarkers();
                if (file == work.editor().file()) {
                    work.mended.reset();
                    broken_file_.reset();
                    shown_ = nullptr;
                    work.reload();
                } else {
                    work.open(file);
                }
                return;
            }
            work.editor().replace_text(text, "Edit the scene's text");
            shown_ = work.editor().document();
            clean_ = editor_.GetUndoIndex();
            editor_.ClearMarkers();
            fault_.clear();
            work.tell("Applied", Notice::Kind::success);
        } catch (const Error& error) {
            mark(error);
        }
    }

    TextEditor editor_;
    std::shared_ptr<const document::Document> shown_;
    std::uint64_t scene_ = 0;  // Workspace::scenes_shown
    std::size_t clean_ = 0;
    bool holds_ = false;  // the keys of Apply, still
    std::string fault_, sought_;
    std::optional<std::filesystem::path> broken_file_;
    std::shared_ptr<const Error> marked_;
};

}  // namespace

std::unique_ptr<Panel> make_scene_file() { return std::make_unique<SceneFile>(); }

}  // namespace hindcast::gui
