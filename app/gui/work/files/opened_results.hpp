// Results of commands and runs of the optimization that are kept to be compared: the table that is
// open, the curves, and the way of a row's values into its scene.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/session/link/command.hpp"
#include "app/session/runs/kept_runs.hpp"
#include "app/session/runs/results_table.hpp"

namespace hindcast::gui {

class EditedScene;
class FoundValues;
class Handover;
class Messages;
class Opening;
struct Requests;
class Running;

class OpenedResults {
public:
    OpenedResults(Running& running, EditedScene& scene, Handover& handover, FoundValues& values,
                  Opening& opening, Requests& requests, Messages& messages);

    session::KeptRuns runs;                              // to be compared in the plots
    std::shared_ptr<const session::ResultsTable> table;  // null: none was opened

    // Shows what a command has left: a table of variants or starts, and curves of optimizations.
    void open(const std::filesystem::path& chosen);
    // Writes the values of a row of the table into its scene. Opens that scene first if another one
    // is open.
    void use(std::size_t row);
    void update();  // uses values that waited for their scene; call it once a frame
    // Hides curves of other scenes, which are not compared unless the user asks for them.
    void begin();

private:
    Running& running_;
    EditedScene& scene_;
    Handover& handover_;
    FoundValues& values_;
    Opening& opening_;
    Requests& requests_;
    Messages& messages_;
    struct Waiting {  // for their scene to be opened
        std::filesystem::path scene;
        session::UseValues values;
    };
    std::optional<Waiting> waiting_;
};

}  // namespace hindcast::gui
