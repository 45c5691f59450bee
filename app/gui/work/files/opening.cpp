#include "app/gui/work/files/opening.hpp"

#include <fmt/format.h>

#include <utility>

#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/scene_text.hpp"
#include "app/gui/work/values/handover.hpp"
#include "app/session/making/templates.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;

Opening::Opening(Running& running, EditedScene& scene, SceneText& text, Chosen& chosen,
                 Handover& handover, Saving& saving, Requests& requests, Messages& messages)
    : running_(running),
      scene_(scene),
      text_(text),
      chosen_(chosen),
      handover_(handover),
      saving_(saving),
      requests_(requests),
      messages_(messages) {}

void Opening::begin(const std::function<void(session::Editor&)>& load,
                    const std::function<void(const Error&)>& failed) {
    saving_.when_saved([this, load, failed] {
        auto fresh = scene_.fresh_editor();
        try {
            load(*fresh);
        } catch (const Error& error) {
            failed(error);
            return;
        }
        handover_.open(std::move(fresh));
    });
}

void Opening::open(const fs::path& file) {
    begin([file](session::Editor& e) { e.open(file); },
          [this, file](const Error& error) { failed_load(file, error); });
}

void Opening::open_autosave(const session::Editor::Autosave& found) {
    begin([found](session::Editor& e) { e.open_autosave(found); },
          [this](const Error& error) { messages_.fail(error); });
}

void Opening::make_new() {
    saving_.when_saved([this] {
        auto fresh = scene_.fresh_editor();
        fresh->make_new();
        handover_.open(std::move(fresh));
    });
}

void Opening::make_from(const std::string& scene_template) {
    begin(
        [this, scene_template](session::Editor& e) {
            e.make_new(session::scene_of_template(scene_.registry(), scene_template));
        },
        [this](const Error& error) { messages_.fail(error); });
}

void Opening::close() {
    saving_.when_saved([this] {
        scene_.close();
        text_.changed = false;
        chosen_.clear();
        requests_.show_gallery = true;
        running_.send(session::Play{false});
        running_.send(session::ShowIteration{});
        running_.send(session::Ghost{});
        if (running_.is_optimizing()) running_.optimize(session::Optimize::What::stop);
    });
}

void Opening::offer_autosave() {
    const fs::path& file = scene_.editor().file();
    if (file.empty()) return;
    const auto found = scene_.editor().find_autosave(file);
    if (!found) return;
    messages_.ask(
        {"Unsaved changes were kept",
         fmt::format("The last session with {} did not end by itself. Its scene of {}, with what "
                     "was not saved, was kept.",
                     file.filename().string(), found->when),
         "Without opening it, it stays kept; the gallery offers it too.",
         {{"Open what was kept", "Opens it in place of what the file has",
           [this, found] { open_autosave(*found); }},
          {"Throw it away", "Deletes what was kept",
           [found] { session::Editor::discard_autosave(*found); }},
          {"Not now", "Goes on with what the file has", [] {}}}});
}

// ---- scenes that do not load --------------------------------------------------------------------

void Opening::show_refused() {
    const std::unique_ptr<session::Editor> refused = handover_.take_refused();
    failed_load(refused->place(), *running_.now().reports.error);
}

// Shows the text with the fault marked, in the panel, or in the whole window without a scene.
void Opening::show_broken(const fs::path& file, const Error& error) {
    try {
        text_.mark_broken(file, error);
        messages_.log_error(error.what());
        requests_.focus_panel = "Scene file";
    } catch (const Error& unreadable) {
        messages_.fail(unreadable);
    }
}

void Opening::failed_load(const fs::path& file, const Error& error) {
    if (text_.mended == file && !file.empty()) {  // its text is on the screen
        show_broken(file, error);
        return;
    }
    messages_.log_error(error.what());
    Question question;
    question.title = "This scene cannot be opened";
    question.text = file.empty() ? "" : file.filename().string();
    question.detail = error.what();
    if (!file.empty()) {
        question.answers.push_back({"Show in the file",
                                    "Shows the text with the fault marked, to be put right here",
                                    [this, file, error] { show_broken(file, error); }});
    }
    question.answers.push_back(
        {"Close", scene_.is_open() ? "What was open stays open" : "Nothing is opened", [] {}});
    messages_.ask(std::move(question));
}

}  // namespace hindcast::gui
