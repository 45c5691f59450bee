#include "app/gui/work/files/opened_results.hpp"

#include <string>
#include <utility>
#include <vector>

#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/found_values.hpp"
#include "app/gui/work/values/handover.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;

OpenedResults::OpenedResults(Running& running, EditedScene& scene, Handover& handover,
                             FoundValues& values, Opening& opening, Requests& requests,
                             Messages& messages)
    : running_(running),
      scene_(scene),
      handover_(handover),
      values_(values),
      opening_(opening),
      requests_(requests),
      messages_(messages) {}

void OpenedResults::use(std::size_t row) {
    if (!table) return;
    std::shared_ptr<const document::Node> values = table->values(row);
    if (!values) {
        messages_.fail(Error("the values of this row are not in the table")
                           .remedy("optimize with fewer parameters, or open optimized_scene.json"));
        return;
    }
    const bool starts = table->kind == session::ResultsTable::Kind::starts;
    session::UseValues wanted{
        .name = (starts ? "Take start " : "Take variant ") + std::to_string(row),
        .values = std::move(values),
        .any_number = true,
        .checkpoint = table->checkpoint,
        .changes = table->changes};
    std::error_code error;
    const fs::path& file = table->scene_file;
    const fs::path& open_file = scene_.editor().file();
    const bool open_now = scene_.is_open() && !open_file.empty() && !file.empty() &&
                          fs::equivalent(open_file, file, error);
    if (open_now || (file.empty() && scene_.is_open() && scene_.title() == table->scene)) {
        requests_.show_gallery = false;
        values_.use(std::move(wanted));
        return;
    }
    if (file.empty()) {
        messages_.fail(Error("the scene " + table->scene_named + " of these results is not found")
                           .remedy("open it first; a double click then takes the row's values"));
        return;
    }
    waiting_ = Waiting{file, std::move(wanted)};
    opening_.open(file);
}

void OpenedResults::update() {
    if (!waiting_ || handover_.is_opening() || messages_.question()) return;
    std::error_code error;
    const fs::path& open_file = scene_.editor().file();
    const bool there = scene_.is_open() && !open_file.empty() && !requests_.show_gallery &&
                       fs::equivalent(open_file, waiting_->scene, error);
    Waiting waiting = std::move(*waiting_);
    waiting_.reset();
    if (there) values_.use(std::move(waiting.values));
}

void OpenedResults::open(const fs::path& chosen) {
    try {
        const session::ResultsFound found = session::find_results(chosen);
        std::shared_ptr<const session::ResultsTable> read;
        if (found.variants || found.starts)
            read = std::make_shared<const session::ResultsTable>(session::read_results(chosen));
        std::string text = "Opened the results in " + found.folder.string();
        if (found.curves) {
            std::vector<session::KeptRun> more = session::read_runs(chosen);
            text += more.size() == 1 ? ": its curve is in the plots"
                                     : ": the curves of its starts are in the plots";
            runs.add(std::move(more));
        }
        if (read) table = std::move(read);
        requests_.focus_panel = found.variants || found.starts ? "Results" : "Plots";
        if (!scene_.is_open()) text += ". Open its scene to see them";
        messages_.tell(text, Notice::Kind::success);
    } catch (const Error& error) {
        messages_.fail(error);
    }
}

void OpenedResults::begin() {
    for (std::size_t k = 0; k < runs.list().size(); ++k) {
        const session::KeptRun& run = runs.list()[k];
        runs.show(run.number, run.shown && run.scene == running_.now().scene.name);
    }
}

}  // namespace hindcast::gui
