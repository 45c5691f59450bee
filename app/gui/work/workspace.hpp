// The state that the panels share: the edited document, the newest snapshot, view and selection,
// and the operations that change them. There is one per window. It is used only by the window's
// thread and never waits for the simulation.
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
#include "app/gui/draw/words.hpp"
#include "app/render/renderer.hpp"
#include "app/session/document/add_object_task.hpp"
#include "app/session/document/editor.hpp"
#include "app/session/runs/kept_runs.hpp"
#include "app/session/runs/results_table.hpp"
#include "app/session/session.hpp"
#include "app/session/shapes/parts.hpp"
#include "app/session/shapes/shapes.hpp"
#include "app/session/view/camera_path.hpp"
#include "app/session/view/colour_look.hpp"
#include "app/session/view/view_look.hpp"

namespace hindcast::gui {

class ProcessLog;

// The connection to the session.
struct SessionLink {
    std::function<void(session::Command)> send;
    std::function<std::shared_ptr<const session::Snapshot>()> snapshot;
};

// The user's settings, kept in settings.json of the state folder.
struct Settings {
    bool dark = true;
    double font_scale = 1;
    bool tour_done = false;
    bool shadows = true, ambient_occlusion = true, floor = true;
    int samples = 4;
    bool text_beside = false;  // the scene's text beside the view, not behind it
    int layout = -1;           // the size of window that the layout is for (shell.cpp)
    std::string folder;        // where the dialog last opened or saved a scene

    void set(render::View& view) const;  // the view's fields that are settings
};

// A message that disappears by itself or stays until it is answered.
struct Notice {
    enum class Kind { information, success, warning, error } kind = Kind::information;
    std::string text;
    std::string detail;
    double until = 0;  // in frame_wishes().now(); 0: until closed
    std::string button;
    std::function<void()> action;
    std::string about = {};  // the message holds until this is mended (Workspace::mended_now)
    std::string other_button = {};
    std::function<void()> other_action = {};
};

// A modal question. Enter takes the chosen answer (at first `chosen`, which must not lose
// anything), Escape the last one. Tab and the arrows go from one to the next. An answer's first
// letter takes it if no other answer begins with it and no action has that key.
struct Question {
    std::string title, text, detail;
    struct Answer {
        std::string label, tooltip;
        std::function<void()> action;
    };
    std::vector<Answer> answers;
    std::size_t chosen = 0;
};

// Box and lasso choose parts: points or elements. Measure: clicks are the ends of distances.
enum class Tool { look, move, rotate, box, lasso, measure };
constexpr bool has_gizmo(Tool tool) { return tool == Tool::move || tool == Tool::rotate; }

// What the camera should frame.
enum class Framing { nothing, selection, scene };

struct Selection {
    std::string pointer;        // "/forces/0", "/optimizer", "": nothing
    std::int64_t element = -1;  // the picked element; -1: the whole object
    std::string field;          // the field to show in the scene's text, or empty
    render::ElementKind kind = render::ElementKind::none;  // what `element` counts

    render::Element part() const { return {kind, element}; }
};

// A file that is asked for. Its names end with one of these (".obj").
struct FileWish {
    std::string title;
    std::vector<std::string> endings;
    std::function<void(const std::filesystem::path& file)> chosen;
    std::function<void()> cancelled;  // may be empty
};

class Workspace {
public:
    Workspace(const Registry& registry, SessionLink link, std::filesystem::path state_folder,
              std::vector<std::filesystem::path> galleries);

    const Registry& registry() const { return registry_; }
    const session::Snapshot& now() const { return *snapshot_; }
    const std::shared_ptr<const session::Snapshot>& snapshot() const { return snapshot_; }
    session::Editor& editor() { return *editor_; }
    const session::Editor& editor() const { return *editor_; }
    bool has_scene() const { return editor_->has_scene(); }
    // The editor's document; an empty one without a scene.
    const document::Document& document() const;
    int dimension() const;  // of that: 2 or 3
    const std::filesystem::path& state_folder() const { return state_folder_; }
    const std::vector<std::filesystem::path>& galleries() const { return galleries_; }

    // ---- called once for each frame, and a few times a second while none is drawn: takes the
    // newest snapshot and reacts to it ----
    void update();
    static constexpr double autosave_interval = 5;  // s
    void send(session::Command command) { link_.send(std::move(command)); }

    // ---- edits. One that fails changes nothing and shows why. ----
    bool edit(const std::function<void(session::Editor&)>& change);
    bool set(const std::string& pointer, document::Node value, const std::string& name,
             const std::string& merge = {});
    // The last edit is undone, and the reason shown, if the scene cannot be built with it.
    void take_back_unless_it_loads();
    // Adds an object with values that load and selects it. The values are found on another thread,
    // since each try builds the scene. One at a time.
    void add(model::Section section, const std::string& type);
    // The same with a shape.
    void add_shape(session::ShapeWish wish);
    void cancel_adding() { adding_.reset(); }
    // The name for a file in the scene. One of another folder is copied beside the scene; a scene
    // without a file that names none yet goes to live in the folder of this one instead. None: what
    // prevents it is shown.
    std::optional<std::string> bring(const std::filesystem::path& file);
    // One step of undo with that name: the document that `make` gives. What it throws is shown.
    bool change(const std::string& name,
                const std::function<document::Document(const document::Document&)>& make);
    const session::AddObjectTask* adding() const { return adding_.get(); }  // null: none

    // ---- scenes and files ----
    void open(const std::filesystem::path& file);  // asks about unsaved changes first
    void open_autosave(const session::Editor::Autosave& found);
    void make_new();
    void make_from(const std::string& scene_template);  // its id
    void close();
    // Writes the document. Values found by the optimisation are not in it before they are accepted;
    // the user is then told, with a button that accepts and saves. False: needs a name, or failed.
    bool save();
    bool save_as(const std::filesystem::path& file);
    void forget_name();  // the user has cancelled the dialog for the name
    void reload(bool by_user = true);
    // Runs `next` at once, or after the user has decided about unsaved changes and about values that
    // were found and are not accepted.
    void when_saved(std::function<void()> next);
    // True if the optimisation has found values that are not in the document.
    bool has_unaccepted() const;
    // An identification whose values are not in the document; its panel keeps this up to date.
    struct Identification {
        bool runs = false;             // it has no values yet
        std::function<bool()> accept;  // writes them into the document; false: it failed
    };
    std::optional<Identification> identification;
    // The same for the identification; false while it runs.
    bool has_unaccepted_identification() const {
        return has_scene() && !opening_ && identification && !identification->runs;
    }
    bool is_opening() const { return opening_ != nullptr; }
    std::filesystem::path opening_file() const;
    std::string title() const;    // "spring cage"
    std::string heading() const;  // "spring cage (cage2.json)"
    // The title as a part of file names: its only ASCII characters are letters, digits, '.', '-',
    // '_'.
    std::string file_stem() const;
    // Bundled scenes are examples: neither they nor their folders are written to.
    bool is_example() const { return !editor_->file().empty() && is_bundled(editor_->file()); }
    bool is_bundled(const std::filesystem::path& file) const;
    // The folder for pictures and tables: the scene's, or the current one for an example or a new
    // scene.
    std::filesystem::path output_folder() const;
    void request_quit();
    // Ends without a question, as on a signal. Unsaved changes stay in the autosave, with the
    // values that the optimisation has found; for these it waits for the end of the current
    // iteration, at most two seconds, and not at all with `now`. May be called more than once.
    void end_without_asking(bool now = false);
    bool quit() const { return quit_; }
    bool left_autosave() const { return left_autosave_; }
    // A text that does not load, to be shown at its fault; taken by the text panel.
    struct Broken {
        std::filesystem::path file;
        std::string text;
        Error error{""};
    };
    std::optional<Broken> broken;
    // What scenes are built with, without the session's device.
    SimulationOptions built_with = {};
    std::string text_fault;     // the fault in the text that the text panel shows
    bool text_changed = false;  // the text has edits that were not applied
    std::uint64_t scenes_shown() const { return scenes_shown_; }  // so far
    // The file whose text is being corrected there.
    std::optional<std::filesystem::path> mended;
    // It is not the scene's file. If no scene is shown, its text fills the window.
    bool mends_another() const { return mended && *mended != editor_->file(); }

    // ---- simulation and optimisation ----
    // Whether the simulation does not run the current document, yet or at all.
    bool is_behind() const {
        return editor_->revision() != sent_revision_ || now().revision < number_;
    }
    // Or waits for an edit, to go on.
    bool is_optimising() const {
        return now().activity == session::Activity::optimising || now().live_waits;
    }
    bool has_run() const { return now().stage != nullptr; }
    // Whether the window shows the scene that runs.
    bool shows_run() const { return has_run() && has_scene() && !show_gallery; }
    // The iteration with the lowest loss of the scene as it is now; null: there is none.
    const session::IterationInfo* best_row() const;
    void play(bool on);
    void set_speed(double seconds_per_second);  // 0: as fast as possible
    double speed() const { return speed_.value_or(now().speed_asked); }
    void optimise(session::Optimise::What what);
    void accept();
    void accept_best();  // the iteration with the lowest loss, whichever is shown
    void accept_and_save(std::function<void()> next = {});  // then does the next thing
    void accept_identified_and_save(const std::function<void()>& next = {});
    // Goes back to that iteration and optimises on. For one of an older scene this restores that
    // scene, as an edit.
    void branch(std::int64_t iteration);
    // Keeps these parameters of the scene of that build under this name, as a checkpoint of the
    // scene; in place of one of the same name.
    void keep_checkpoint(const std::string& name,
                         std::shared_ptr<const std::vector<double>> parameters, std::int64_t build,
                         double loss);
    // Writes values into the scene as one step of undo with this name: an object of numbers by
    // paths. `any_number`: see session::UseValues.
    void use_values(const std::string& name, std::shared_ptr<const document::Node> values,
                    bool any_number = false);
    // The same with the values of a checkpoint of the scene; optimises then if that is wanted.
    void use_checkpoint(const std::string& name, bool optimises = false);
    // Values were asked for, or an iteration, and the scene does not have them yet.
    bool waits_for_values() const { return answered_ != accept_number_; }
    // The same with a row of the results and what they were made with; opens their scene first where
    // it is another one.
    void use_result(std::size_t row);
    // Shows what a command has left: a table of variants or starts, and curves of optimisations.
    void open_results(const std::filesystem::path& chosen);
    session::KeptRuns runs;                                // to be compared in the plots
    std::shared_ptr<const session::ResultsTable> results;  // null: none were opened
    void send_frame_contents();  // after a change of colours, arrows or trails
    // The range goes on as it was, but for one set by hand: that was of another field.
    void colour_by(const std::string& field);
    // Writes the colours into the scene's view, where the next start and `render` find them.
    void keep_colours();
    // The same with arrows, slice, tubes and distances.
    void keep_view();
    // Starts a pull with the mouse on that one of these points of the scene that is nearest to the
    // place. On release its force is written into the scene, unless it is discarded. Returns its
    // number.
    std::uint64_t grab(std::vector<std::int64_t> points, const render::Vec3& place);

    // ---- the camera path, which is part of the document ----
    const session::CameraPath& camera_path() const { return path_; }  // at the start of the frame
    double shown_time() const;                                        // s, on the timeline
    void set_camera_key();     // at the shown time, with the current camera
    void remove_camera_key();  // at the shown time
    // Moves the camera along the path, until something else moves it.
    void follow_camera_path();

    // ---- messages. Errors go to the log too. ----
    void tell(Notice notice);
    void tell(const std::string& text, Notice::Kind kind = Notice::Kind::information);
    void fail(const std::exception& error);
    void mended_now(const std::string& about);  // removes those messages
    std::deque<Notice>& notices() { return notices_; }
    std::uint64_t told() const { return told_; }  // messages so far
    std::shared_ptr<ProcessLog> log;              // for the log panel; may be null
    // Warnings of the simulation are told once; the panel Warnings keeps them.
    std::size_t warning_count() const;
    // Writes into the scene that its author means what the warnings with this identifier say, or
    // that they are to be told again.
    void accept_warning(const std::string& identifier, bool on = true);
    // The same for two objects that pass through each other.
    void except_pair(const std::string& a, const std::string& b, bool on = true);
    void ask(Question question) { question_ = std::move(question); }
    std::optional<Question>& question() { return question_; }

    // ---- selection ----
    const Selection& selection() const { return selection_; }
    void select(Selection selection) { selection_ = std::move(selection); }
    // The pointer of the object of this name; "" if there is none.
    std::string pointer_of(const std::string& name) const;
    std::string name_at(const std::string& pointer) const;

    // ---- parts that were chosen in the picture ----
    session::Parts parts;
    session::WhereIs where_is;  // set by the view: throws Error where that is not known
    // Makes an object of them, whose name begins with `stem`, and selects it.
    using FromParts =
        std::function<document::Document(const document::Document&, const std::string& name)>;
    void make_from_parts(const std::string& what, const std::string& stem, const FromParts& make);

    // ---- view ----
    render::View view;
    session::ColourLook look;  // sets the view's map, range and scale of colours
    std::string arrows;
    std::vector<session::Distance> distances;  // shown in the picture
    std::string distance_problem;              // why not all of them are; or empty
    bool camera_is_set = false;
    bool show_labels = false;   // names of the objects
    bool show_measured = true;  // ghosts where measured data say that robots were
    bool has_measured() const;  // whether there are such ghosts
    bool show_time = false;     // a time stamp
    bool follow_path = false;   // the camera moves along the scene's camera path
    Tool tool = Tool::look;
    // Why the tool cannot change the selected object; empty if it can.
    std::string tool_problem;
    bool fit_arrows = true;        // their scale is automatic until the user chooses one
    std::set<std::string> hidden;  // names of hidden objects of this scene
    // Shown as a plane, only from above.
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

    // ---- requests to the parts of the window that handle them ----
    std::optional<std::filesystem::path> screenshot;
    std::string focus_panel;               // to bring to the front
    std::optional<std::string> plot_only;  // a path: the plots show only its parameters
    bool reset_layout = false, hide_panels = false;
    std::optional<FileWish> wants_file;
    bool show_open_results = false;
    bool show_open = false, show_save_as = false, show_help = false, show_palette = false;
    bool show_tour = false, show_gallery = false, show_export = false;
    bool show_settings = false;
    std::string show_shape;                      // the id of the shape whose numbers are asked for
    bool show_array = false, show_size = false;  // how often, and how large, the selected object
    bool optimise_when_open = false;             // the next scene that opens
    std::string checkpoint_when_open;            // the same: its values are used; empty: none
    Framing framing = Framing::nothing;
    bool text_beside_changed = false;  // Settings::text_beside, by the user
    int tour_step = 0;

    // ---- measurements for the status bar ----
    struct Measured {
        double frame_seconds = 0, draw_seconds = 0, device_seconds = 0, longest = 0;
        // Of the process, its limit, and of the graphics device (0: it has no memory of its own).
        std::int64_t resident_bytes = 0, most_bytes = 0, device_bytes = 0;
        std::string transport, device;
    };
    Measured measured;

    // How long a message stays that disappears by itself.
    static constexpr double notice_seconds = 4;

private:
    void read_camera_path();
    void apply();
    void take_answer();
    void take_back_refused();
    void take_released_pull();
    void take_kept_values();
    void use_waiting_values();
    void ask_for(session::UseValues values);
    void take_added();
    std::unique_ptr<session::Editor> fresh_editor() const;
    void begin_opening(std::unique_ptr<session::Editor> fresh);
    void finish_opening();
    void watch_files();
    void load_settings();
    void show_notice(Notice notice);
    void tell_warnings();
    void failed_load(const std::filesystem::path& file, const Error& error);
    void mark_broken(const std::filesystem::path& file, const Error& error);
    void show_broken(const std::filesystem::path& file, const Error& error);
    void offer_autosave();
    std::string results_text() const;
    std::string better_text() const;
    void accept_and(std::function<void()> next, bool newest = false,
                    std::optional<std::int64_t> iteration = {});
    bool save_as_it_is();
    void go_on_ending();

    const Registry& registry_;
    SessionLink link_;
    std::filesystem::path state_folder_;
    std::vector<std::filesystem::path> galleries_;
    std::unique_ptr<session::Editor> editor_;
    std::unique_ptr<session::AddObjectTask> adding_;
    std::shared_ptr<const session::Snapshot> snapshot_;
    // A scene to be opened: it replaces the editor once its simulation is built.
    std::unique_ptr<session::Editor> opening_;
    std::uint64_t opening_number_ = 0;
    // Each document sent has a new number, whichever editor it is from.
    std::uint64_t number_ = 0, sent_revision_ = 0, accept_number_ = 0, answered_ = 0;
    std::optional<double> speed_;  // the requested speed, until the session has it
    std::optional<std::int64_t> branch_asked_,
        branch_to_;                               // until answered; until the scene is sent
    std::uint64_t grab_number_ = 0, pulled_ = 0;  // of the last grab; of the last pull written
    bool accepted_waits_ = false;                 // to be sent
    std::optional<std::uint64_t> on_trial_;       // the editor's revision with such an edit
    std::uint64_t scenes_shown_ = 0;
    std::uint64_t accepted_in_ = 0;  // the number of the document in which the last was accepted
    std::function<void()> after_accept_, after_name_;
    // What a KeepValues is for, until it is answered.
    struct Keeping {
        std::uint64_t number = 0;
        std::string name;
        double loss = 0;
    };
    std::optional<Keeping> keeping_;
    std::uint64_t kept_ = 0;  // KeepValues sent so far
    struct WaitingValues {    // for their scene to be opened
        std::filesystem::path scene;
        session::UseValues values;
    };
    std::optional<WaitingValues> waiting_values_;
    std::shared_ptr<const Error> shown_error_, error_before_;
    std::shared_ptr<const std::vector<std::vector<render::Vec3>>> trails_;  // kept for `view`
    std::shared_ptr<const std::vector<Warning>> warned_;
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

// "memory 181 MiB, graphics 24 MiB": the process, and the graphics device if it has its own memory.
std::string memory_text(const Workspace::Measured& measured);

}  // namespace hindcast::gui
