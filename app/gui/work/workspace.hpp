// What the panels share: the edited document, the newest snapshot, how the scene is looked at, what
// is selected, and the ways to change something. One per window; it belongs to the window's thread
// and never waits for the simulation.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/gui/draw/theme.hpp"
#include "app/render/renderer.hpp"
#include "app/session/document/adding.hpp"
#include "app/session/document/camera_path.hpp"
#include "app/session/document/editor.hpp"
#include "app/session/session.hpp"

namespace hindcast::gui {

class ProcessLog;

// The way to the simulation's thread.
struct Link {
    std::function<void(session::Command)> send;
    std::function<std::shared_ptr<const session::Snapshot>()> snapshot;
};

// What the user has chosen for good: kept in settings.json of the state folder.
struct Settings {
    bool dark = true;
    double font_scale = 1;
    bool tour_done = false;
    bool shadows = true, ambient_occlusion = true, floor = true;
    int samples = 4;
    bool text_beside = false;  // the scene's text beside the view, not behind it
    std::string folder;        // that a scene was last opened from or saved to by the dialog

    void set(render::View& view) const;  // what of it is a setting
};

// A message that goes by itself, or stays until it is answered.
struct Notice {
    enum class Kind { information, success, error } kind = Kind::information;
    std::string text;
    std::string detail;
    double until = 0;  // of ImGui::GetTime(); 0: until closed
    std::string button;
    std::function<void()> action;
    std::string about = {};  // what it says holds until this is mended: Workspace::mended_now
};

// A question in front of everything else. Enter takes the answer that is chosen (at first the one
// that `chosen` says, which must lose nothing), Escape the last one; Tab and the arrows go from one
// to the next, and an answer's first letter takes it where no other answer begins with it and no
// command has it as its key.
struct Question {
    std::string title, text, detail;
    struct Answer {
        std::string label, tooltip;
        std::function<void()> action;
    };
    std::vector<Answer> answers;
    std::size_t chosen = 0;
};

enum class Tool { look, move, rotate };

// What the camera is to be moved to.
enum class Framing { nothing, selection, scene };

struct Selection {
    std::string pointer;        // "/forces/0", "/optimizer", "": nothing
    std::int64_t element = -1;  // of what was picked; -1: all of it
    std::string field;          // where the scene file's text is shown from, or empty
    render::ElementKind kind = render::ElementKind::none;  // what `element` counts

    render::Element part() const { return {kind, element}; }
};

class Workspace {
public:
    Workspace(const Registry& registry, Link link, std::filesystem::path state_folder,
              std::vector<std::filesystem::path> galleries);

    const Registry& registry() const { return registry_; }
    const session::Snapshot& now() const { return *snapshot_; }
    const std::shared_ptr<const session::Snapshot>& snapshot() const { return snapshot_; }
    session::Editor& editor() { return *editor_; }
    const session::Editor& editor() const { return *editor_; }
    bool has_scene() const { return editor_->has_scene(); }
    // The document of the editor; an empty one where there is no scene.
    const document::Document& document() const;
    const std::filesystem::path& state_folder() const { return state_folder_; }
    const std::vector<std::filesystem::path>& galleries() const { return galleries_; }

    // ---- once for each frame of the window, and a few times a second while none is drawn: takes
    // the newest snapshot and answers it ----
    void update();
    static constexpr double autosave_interval = 5;  // s, of ImGui::GetTime()
    void send(session::Command command) { link_.send(std::move(command)); }

    // ---- edits. What fails is shown, and changes nothing. ----
    bool edit(const std::function<void(session::Editor&)>& change);
    bool set(const std::string& pointer, document::Node value, const std::string& name,
             const std::string& merge = {});
    // Adds an object with values that load, and selects it; they are found beside the window, which
    // stays live (the scene is built for each try). One at a time.
    void add(model::Section section, const std::string& type);
    void cancel_adding() { adding_.reset(); }
    const session::Adding* adding() const { return adding_.get(); }  // null: nothing is

    // ---- scenes and files ----
    void open(const std::filesystem::path& file);  // asks about unsaved changes first
    void open_rescued(const session::Editor::Rescued& found);
    void make_new();
    void close();
    // Writes the document. What the optimisation has found is not in it before it is accepted: then
    // the user is told, with a button that accepts and saves. False: needs a name, or failed.
    bool save();
    bool save_as(const std::filesystem::path& file);
    void forget_name();  // the user has not given the name that was asked for
    void reload(bool by_user = true);
    // Runs `next` at once, or after the user has decided about unsaved changes and about values
    // that the optimisation has found and that were not accepted.
    void when_saved(std::function<void()> next);
    // Whether the optimisation has found values that are not in the document.
    bool has_unaccepted() const;
    bool is_opening() const { return opening_ != nullptr; }
    std::filesystem::path opening_file() const;
    std::string title() const;    // "spring cage"
    std::string heading() const;  // "spring cage (cage2.json)"
    // The title as a part of file names: of ASCII nothing but letters, digits, '.', '-' and '_'.
    std::string file_stem() const;
    // Bundled scenes are examples: they and their folders are not written to.
    bool is_example() const { return !editor_->file().empty() && is_bundled(editor_->file()); }
    bool is_bundled(const std::filesystem::path& file) const;
    // For pictures and tables: the scene's folder; of an example or a new scene the current one.
    std::filesystem::path output_folder() const;
    void request_quit();
    // Ends without a question, as on a signal: what is unsaved stays in the autosave, with what the
    // optimisation has found (for which the current iteration's end is waited for, for two seconds
    // at most; not at all with `now`). To be called once or more.
    void end_without_asking(bool now = false);
    bool quit() const { return quit_; }
    bool left_autosave() const { return left_autosave_; }
    // A text that does not load, to be shown where it is wrong; taken by the JSON panel.
    struct Broken {
        std::filesystem::path file;
        std::string text;
        Error error{""};
    };
    std::optional<Broken> broken;
    std::string text_fault;     // what is wrong in the text that the JSON panel shows
    bool text_changed = false;  // it was typed into and not applied
    std::uint64_t scenes_shown() const { return scenes_shown_; }  // so far
    // The file whose text is being put right there.
    std::optional<std::filesystem::path> mended;
    // It is not that of the scene: where no scene is shown, it has the window to itself.
    bool mends_another() const { return mended && *mended != editor_->file(); }

    // ---- simulation and optimisation ----
    // Whether the simulation does not run yet what the document says, or cannot.
    bool is_behind() const {
        return editor_->revision() != sent_revision_ || now().revision < number_;
    }
    bool is_optimising() const { return now().activity == session::Activity::optimising; }
    bool has_run() const { return now().stage != nullptr; }
    // Whether the scene that runs is what the window shows.
    bool shows_run() const { return has_run() && has_scene() && !show_gallery; }
    // The iteration with the lowest loss of the scene as it is now; null: there is none.
    const session::IterationInfo* best_row() const;
    void play(bool on);
    void set_speed(double seconds_per_second);  // 0: as fast as possible
    double speed() const { return speed_.value_or(now().speed_asked); }
    void optimise(session::Optimise::What what);
    void accept();
    void accept_and_save(std::function<void()> next = {});  // then does the next thing
    // From that iteration, and optimises on. One of an older scene brings that scene back, as an
    // edit.
    void branch(std::int64_t iteration);
    void look();  // sends what colours and arrows are wanted
    // With the colours that fit: gradients have both signs, unless they are lengths.
    void colour_by(const std::string& field);
    // A pull by hand on the one of these points of the scene that is next to the place; when it is
    // released and kept, its force is written into the scene. Gives its number.
    std::uint64_t grab(std::vector<std::int64_t> points, const render::Vec3& place);

    // ---- the camera path: in the document, so its keys are undone and saved with the scene ----
    const session::CameraPath& camera_path() const { return path_; }  // as the frame began
    double shown_time() const;  // s, of what the timeline shows
    void set_camera_key();      // at the shown time, from where the camera is
    void remove_camera_key();   // at the shown time
    // Moves the camera while it follows the path, until somebody else moves it.
    void follow_camera_path();

    // ---- messages. Errors go to the log as well. ----
    void tell(Notice notice);
    void tell(const std::string& text, Notice::Kind kind = Notice::Kind::information);
    void fail(const std::exception& error);
    void mended_now(const std::string& about);  // takes those messages away
    std::deque<Notice>& notices() { return notices_; }
    std::uint64_t told() const { return told_; }  // messages so far
    std::shared_ptr<ProcessLog> log;              // for the log panel; may be null
    void ask(Question question) { question_ = std::move(question); }
    std::optional<Question>& question() { return question_; }

    // ---- selection ----
    const Selection& selection() const { return selection_; }
    void select(Selection selection) { selection_ = std::move(selection); }
    // Where the object of this name stands; "" if there is none.
    std::string pointer_of(const std::string& name) const;
    std::string name_at(const std::string& pointer) const;

    // ---- view ----
    render::View view;
    std::string colour, arrows;
    bool camera_is_set = false;
    bool show_labels = false;  // names of the objects
    bool show_time = false;    // a time stamp
    bool follow_path = false;  // the camera moves along the scene's camera path
    Tool tool = Tool::look;
    // Why the tool finds nothing to take hold of at what is selected; empty if it does.
    std::string tool_problem;
    bool fit_arrows = true;        // their scale follows what is shown, until it is chosen by hand
    std::set<std::string> hidden;  // names of objects that are not drawn, of this scene
    // Seen as a plane, from above alone.
    bool is_flat() const {
        return now().stage != nullptr && now().stage->dimension == 2 && !view.heights;
    }
    double duration() const {  // s, of a whole run
        return static_cast<double>(now().steps) * now().step_seconds;
    }
    bool looping = true;  // playing begins again at the end
    Settings settings;
    bool settings_are_kept = false;  // from an earlier session
    bool settings_changed = true;
    void save_settings();
    void reset_camera(double aspect);

    // ---- requests, taken by those who can do them ----
    std::optional<std::filesystem::path> screenshot;
    std::string focus_panel;               // brought to the front
    std::optional<std::string> plot_only;  // a path: the plots show its parameters alone
    bool reset_layout = false, hide_panels = false;
    bool show_open = false, show_save_as = false, show_help = false, show_palette = false;
    bool show_tour = false, show_gallery = false, show_export = false;
    bool show_settings = false;
    bool optimise_when_open = false;  // of the next scene that opens
    Framing framing = Framing::nothing;
    bool text_beside_changed = false;  // Settings::text_beside, by hand
    int tour_step = 0;

    // ---- what the machine does: for the status bar ----
    struct Measured {
        double frame_seconds = 0, draw_seconds = 0, device_seconds = 0, longest = 0;
        // Of the process, at most, and of the graphics device where that has memory of its own (0:
        // it has none).
        std::int64_t resident_bytes = 0, most_bytes = 0, device_bytes = 0;
        std::string transport, device;
    };
    Measured measured;

    // How long a message stays that goes by itself.
    static constexpr double notice_seconds = 4;

private:
    void read_camera_path();
    void apply();
    void take_answer();
    void take_pulled();
    void take_added();
    std::unique_ptr<session::Editor> fresh_editor() const;
    void begin_opening(std::unique_ptr<session::Editor> fresh);
    void finish_opening();
    void watch_files();
    void load_settings();
    void show_notice(Notice notice);
    void failed_load(const std::filesystem::path& file, const Error& error);
    void mark_broken(const std::filesystem::path& file, const Error& error);
    void show_broken(const std::filesystem::path& file, const Error& error);
    void offer_rescued();
    std::string results_text() const;
    std::string better_text() const;
    void accept_and(std::function<void()> next, bool newest = false);
    bool save_as_it_is();
    void go_on_ending();

    const Registry& registry_;
    Link link_;
    std::filesystem::path state_folder_;
    std::vector<std::filesystem::path> galleries_;
    std::unique_ptr<session::Editor> editor_;
    std::unique_ptr<session::Adding> adding_;
    std::shared_ptr<const session::Snapshot> snapshot_;
    // A scene that was asked for: becomes the editor's when the simulation could be built.
    std::unique_ptr<session::Editor> opening_;
    std::uint64_t opening_number_ = 0;
    // What was sent: each document has a number of its own, whichever editor it is from.
    std::uint64_t number_ = 0, sent_revision_ = 0, accept_number_ = 0, answered_ = 0;
    std::optional<double> speed_;  // that was asked for, until the session says the same
    std::optional<std::int64_t> branch_asked_,
        branch_to_;                               // until answered; until the scene is sent
    std::uint64_t grab_number_ = 0, pulled_ = 0;  // of the last grab; of the last one written
    bool accepted_waits_ = false;                 // for being sent
    std::uint64_t scenes_shown_ = 0;
    std::uint64_t accepted_in_ = 0;  // the number of the document in which the last was accepted
    std::function<void()> after_accept_, after_name_;
    std::shared_ptr<const Error> shown_error_, error_before_;
    std::shared_ptr<const std::vector<std::vector<render::Vec3>>> trails_;  // of the view
    Selection selection_;
    std::deque<Notice> notices_;
    std::uint64_t told_ = 0;
    std::optional<Question> question_;
    double next_autosave_ = 0;
    std::shared_ptr<const document::Document> path_of_;  // the document that path_ was read from
    session::CameraPath path_;
    std::optional<render::Camera> followed_;
    bool quit_ = false, left_autosave_ = false;
    std::optional<std::chrono::steady_clock::time_point> ends_by_;
};

// The name of the object at this pointer of a document; what has no name is called by its type and
// its place among those of the type. "" if there is nothing there.
std::string object_name(const document::Document& document, const std::string& pointer);

// Why what is shown is no iteration, though there are some; and the same in a word or two.
std::string no_iteration_text(const session::Snapshot& now);
std::string no_iteration_word(const session::Snapshot& now);

// "12.3 ms", "1.5 GiB", "3.42e-05": short numbers for people.
std::string duration_text(double seconds);
std::string bytes_text(double bytes);
std::string number_text(double value, int digits = 5);

}  // namespace hindcast::gui
