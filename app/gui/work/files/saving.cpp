#include "app/gui/work/files/saving.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/scene_text.hpp"
#include "app/gui/work/values/found_values.hpp"
#include "app/gui/work/values/handover.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;

Saving::Saving(Running& running, EditedScene& scene, SceneText& text, Handover& handover,
               FoundValues& values, Requests& requests, Messages& messages)
    : running_(running),
      scene_(scene),
      text_(text),
      handover_(handover),
      values_(values),
      requests_(requests),
      messages_(messages) {}

void Saving::when_saved(std::function<void()> next) {
    if (scene_.is_open() && text_.changed) {
        messages_.ask({"The text is not applied",
                       "The text of " + scene_.title() +
                           " was changed in the panel Scene file and not applied yet.",
                       "Ctrl+Enter there applies it.",
                       {{"Discard the text", "What was typed is lost",
                         [this, next] {
                             text_.changed = false;
                             when_saved(next);
                         }},
                        {"Cancel", "Everything stays as it is",
                         [this] { requests_.focus_panel = "Scene file"; }}},
                       1});
        return;
    }
    const bool unsaved = scene_.editor().has_scene() && scene_.editor().unsaved(),
               example = scene_.is_example();
    const bool optimized = values_.has_unaccepted(),
               identified = values_.has_unaccepted_identification();
    const bool identifies = values_.is_identifying();
    const bool found = optimized || identified;
    if (!unsaved && !found && !identifies) {
        next();
        return;
    }
    const std::string file = scene_.editor().file().empty()
                                 ? "the scene that is open, which has no file"
                                 : scene_.editor().file().filename().string();
    const auto save_then = [this, next] {
        after_name_ = next;
        if (save_as_it_is()) {
            forget_name();
            next();
        } else if (!requests_.show_save_as) {
            forget_name();
        }
    };
    const std::string save = example ? "Save as..." : "Save";
    Question question;
    question.title = unsaved ? "Unsaved changes"
                     : found ? "Values that are not accepted"
                             : "The identification is running";
    const auto add_accept = [&](const char* label, const char* values, std::function<void()> act) {
        question.answers.push_back(
            {std::string(label) + (example ? " and save as..." : " and save"),
             std::string("Writes the values ") + values + " into the scene and the scene into " +
                 (example ? "a file of yours" : "its file") + ", then goes on",
             std::move(act)});
    };
    if (found) {
        const std::string by = !identified ? "optimization has"
                               : optimized ? "optimization and the identification have"
                                           : "identification has";
        question.text = std::string(unsaved ? "There are unsaved changes, and the " : "The ") + by +
                        " found values that are not in " + file + " yet.";
        if (optimized) {
            question.detail = "Accepting writes " + values_.results_text() + ", into the scene.";
            add_accept(identified ? "Accept optimized" : "Accept", "of the optimization",
                       [this, save_then] { accept_and_save(save_then); });
        }
        if (identified)
            add_accept(optimized ? "Accept identified" : "Accept", "of the identification",
                       [this, save_then] { accept_identified_and_save(save_then); });
    } else if (unsaved) {
        question.text = example ? "Save the changes to the example " + file + " in a file of yours?"
                                : "Save the changes to " + file + "?";
    } else {
        question.text = "The parameters of " + file + " are still being identified.";
    }
    const auto add_detail = [&question](const std::string& sentence) {
        question.detail += (question.detail.empty() ? "" : " ") + sentence;
    };
    if (identifies) add_detail("Going on ends the identification; nothing of it is kept.");
    if (example && (unsaved || found)) add_detail("The bundled example stays as it is.");
    if (unsaved)
        question.answers.push_back({found ? save + (example ? " without" : " without them") : save,
                                    found ? "Writes the scene as it was edited; the values that "
                                            "were found are lost"
                                    : example
                                        ? "Writes the scene into a file of yours, then goes on"
                                        : "Writes the scene's file, then goes on",
                                    save_then});
    question.answers.push_back({unsaved || found ? "Discard" : "End it",
                                unsaved ? "The changes are lost"
                                : found ? "The values that were found are lost"
                                        : "The identification is lost",
                                next});
    question.answers.push_back({"Cancel", "Everything stays as it is", [] {}});
    // Accepting replaces values of the scene, and saving without them loses those that were found.
    if (found || !unsaved) question.chosen = question.answers.size() - 1;
    messages_.ask(std::move(question));
}

bool Saving::save_as_it_is() {
    if (scene_.editor().file().empty() || scene_.is_example()) {
        requests_.show_save_as = true;
        return false;
    }
    if (!scene_.edit([](session::Editor& e) { e.save(); })) return false;
    messages_.mended_now(scene_.editor().file().string());
    messages_.tell("Saved " + scene_.editor().file().filename().string(), Notice::Kind::success);
    return true;
}

bool Saving::save() {
    after_name_ = {};
    const bool found = values_.has_unaccepted(),
               identified = values_.has_unaccepted_identification();
    if (!save_as_it_is()) return false;
    if (text_.changed) {
        Notice notice;
        notice.text = "What was typed into the scene's text is not saved";
        notice.detail = "It is not applied yet: Ctrl+Enter in the panel Scene file does that.";
        notice.until = frame_wishes().now() + 3 * Messages::notice_seconds;
        messages_.tell(std::move(notice));
    }
    if (!found && !identified) return true;
    const std::string saved = "Saved " + scene_.editor().file().filename().string();
    Notice notice;
    notice.text = saved + " without what was found";
    notice.detail =
        fmt::format("The {} has found values that are not in the scene: accepting writes {}.",
                    found ? "optimization" : "identification",
                    found ? values_.results_text() : "its estimates");
    notice.button = "Accept and save";
    notice.action = [this, found] { found ? accept_and_save() : accept_identified_and_save(); };
    notice.until = frame_wishes().now() + 5 * Messages::notice_seconds;
    messages_.remove(saved);
    messages_.tell(std::move(notice));
    return true;
}

bool Saving::save_as(const fs::path& file) {
    if (scene_.is_bundled(file)) {
        messages_.fail(Error("the folder of the bundled scenes is not written to: " + file.string())
                           .remedy("choose another folder"));
        return false;
    }
    const std::string before = scene_.editor().file().string();
    if (!scene_.edit([&](session::Editor& e) { e.save_as(file); })) return false;
    if (!before.empty()) messages_.mended_now(before);
    messages_.tell("Saved " + file.string(), Notice::Kind::success);
    if (const std::function<void()> next = std::exchange(after_name_, {})) next();
    return true;
}

void Saving::forget_name() { after_name_ = {}; }

void Saving::reload(bool by_user) {
    const std::string name = scene_.editor().file().filename().string();
    try {
        scene_.editor().reload(!handover_.is_refused());
        text_.clear();
        messages_.mended_now(scene_.editor().file().string());
        messages_.tell(by_user ? name + " was read once more"
                               : name + " was changed elsewhere and was read again");
    } catch (const Error& error) {
        // The running scene stays; the text is shown at its fault.
        try {
            text_.mark_broken(scene_.editor().file(), error);
        } catch (const Error&) {
            text_.broken.reset();
        }
        Notice notice;
        notice.kind = Notice::Kind::error;
        notice.text = name + (by_user ? " does not load" : " was changed and does not load");
        notice.detail = error.what();
        notice.about = scene_.editor().file().string();
        if (text_.broken) {
            notice.button = "Show in the file";
            notice.action = [this] { requests_.focus_panel = "Scene file"; };
        }
        messages_.tell(std::move(notice));
    }
}

void Saving::accept_and_save(std::function<void()> next) {
    if (running_.is_optimizing()) messages_.tell("Accepting at the end of this iteration");
    values_.accept_then(
        next ? std::move(next) : [this] { save_as_it_is(); }, running_.now().shows_older_scene());
}

void Saving::accept_identified_and_save(const std::function<void()>& next) {
    if (!values_.has_unaccepted_identification() || !values_.identification->accept()) return;
    values_.identification.reset();
    if (next)
        next();
    else
        save_as_it_is();
}

void Saving::watch_files() {
    if (!scene_.editor().has_scene() || handover_.is_opening()) return;
    try {
        const session::Editor::FileNews news = scene_.editor().look_at_file();
        const std::string file = scene_.editor().file().string();
        if (news == session::Editor::FileNews::gone)
            messages_.tell(
                {.kind = Notice::Kind::error,
                 .text = scene_.editor().file().filename().string() + " is no longer there",
                 .detail = file + " was deleted, moved or renamed elsewhere. The scene is still "
                                  "here, unsaved; saving writes the file anew.",
                 .until = 0,
                 .button = {},
                 .action = {},
                 .about = file});
        if (news == session::Editor::FileNews::changed) {
            messages_.mended_now(file);
            if (!scene_.editor().unsaved()) {
                reload(false);
            } else {
                Notice notice;
                notice.text = scene_.editor().file().filename().string() + " was changed elsewhere";
                notice.detail = "You have unsaved changes here. Reloading can be undone.";
                notice.button = "Reload";
                notice.action = [this] { reload(false); };
                messages_.tell(std::move(notice));
            }
        }
        if (frame_wishes().now() > next_autosave_) {
            next_autosave_ = frame_wishes().now() + autosave_interval;
            scene_.editor().autosave();
        }
    } catch (const Error& error) {
        messages_.fail(error);
    }
}

}  // namespace hindcast::gui
