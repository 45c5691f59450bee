// Values of parameters that are kept and used again: checkpoints of the scene, runs that are
// compared, rows of results.
#include <utility>

#include "app/gui/work/workspace.hpp"
#include "app/session/document/checkpoints.hpp"
#include "engine/sim/values/checkpoint.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;

void Workspace::keep_checkpoint(const std::string& name,
                                std::shared_ptr<const std::vector<double>> parameters,
                                std::int64_t build, double loss) {
    if (name.empty()) {
        fail(Error("a checkpoint needs a name"));
        return;
    }
    keeping_ = Keeping{++kept_, name, loss};
    // An example's folder is not written to: all is in the text then, which is saved elsewhere.
    const fs::path& file = editor_->file();
    const bool own = !file.empty() && !is_example();
    send(session::KeepValues{kept_, std::move(parameters), build,
                             own ? fs::absolute(file).parent_path() : fs::path(),
                             file.stem().string() + "_checkpoint"});
}

void Workspace::take_kept_values() {
    const auto& answer = now().kept_values;
    if (!keeping_ || !answer || answer->number != keeping_->number) return;
    const Keeping kept = std::move(*keeping_);
    keeping_.reset();
    if (change("Keep " + kept.name, [&](const document::Document& scene) {
            return session::with_checkpoint(scene, kept.name, answer->values, kept.loss);
        }))
        tell("Kept as " + kept.name + ", a part of the scene: Ctrl+S saves it with the others",
             Notice::Kind::success);
}

void Workspace::use_values(const std::string& name, std::shared_ptr<const document::Node> values,
                           bool any_number) {
    ask_for({.name = name, .values = std::move(values), .any_number = any_number});
}

void Workspace::ask_for(session::UseValues values) {
    branch_asked_.reset();
    after_accept_ = {};
    values.number = ++accept_number_;
    send(std::move(values));
}

void Workspace::use_checkpoint(const std::string& name, bool optimises) {
    try {
        const document::Node& checkpoint = checkpoint_named(document(), name);
        use_values("Show " + name,
                   std::make_shared<const document::Node>(*checkpoint.find("values")));
    } catch (const Error& error) {
        fail(error);
        return;
    }
    if (optimises)
        after_accept_ = [this] {
            apply();  // first the values
            optimise(session::Optimise::What::start);
        };
}

void Workspace::use_result(std::size_t row) {
    if (!results) return;
    std::shared_ptr<const document::Node> values = results->values(row);
    if (!values) {
        fail(Error("the values of this row are not in the table")
                 .remedy("optimise with fewer parameters, or open optimized_scene.json"));
        return;
    }
    const bool starts = results->kind == session::ResultsTable::Kind::starts;
    session::UseValues wanted{
        .name = (starts ? "Take start " : "Take variant ") + std::to_string(row),
        .values = std::move(values),
        .any_number = true,
        .checkpoint = results->checkpoint,
        .changes = results->changes};
    std::error_code error;
    const fs::path& file = results->scene_file;
    const bool open_now = has_scene() && !editor_->file().empty() && !file.empty() &&
                          fs::equivalent(editor_->file(), file, error);
    if (open_now || (file.empty() && has_scene() && title() == results->scene)) {
        show_gallery = false;
        ask_for(std::move(wanted));
        return;
    }
    if (file.empty()) {
        fail(Error("the scene " + results->scene_named + " of these results is not found")
                 .remedy("open it first; a double click then takes the row's values"));
        return;
    }
    waiting_values_ = WaitingValues{file, std::move(wanted)};
    open(file);
}

void Workspace::use_waiting_values() {
    if (!waiting_values_ || opening_ || question_) return;
    std::error_code error;
    const bool there = has_scene() && !editor_->file().empty() && !show_gallery &&
                       fs::equivalent(editor_->file(), waiting_values_->scene, error);
    WaitingValues waiting = std::move(*waiting_values_);
    waiting_values_.reset();
    if (there) ask_for(std::move(waiting.values));
}

void Workspace::open_results(const fs::path& chosen) {
    try {
        const session::ResultsFound found = session::find_results(chosen);
        std::shared_ptr<const session::ResultsTable> table;
        if (found.variants || found.starts)
            table = std::make_shared<const session::ResultsTable>(session::read_results(chosen));
        std::string text = "Opened the results in " + found.folder.string();
        if (found.curves) {
            std::vector<session::KeptRun> more = session::read_runs(chosen);
            text += more.size() == 1 ? ": its curve is in the plots"
                                     : ": the curves of its starts are in the plots";
            runs.add(std::move(more));
        }
        if (table) results = std::move(table);
        focus_panel = found.variants || found.starts ? "Results" : "Plots";
        if (!has_scene()) text += ". Open its scene to see them";
        tell(text, Notice::Kind::success);
    } catch (const Error& error) {
        fail(error);
    }
}

}  // namespace hindcast::gui
