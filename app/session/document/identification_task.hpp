// An identification of a scene from its measured data on a thread of its own, with a simulation and a
// device of its own: on the processor, in f64, as `hindcast identify` does it. Its numbers are that
// command's bit for bit.
//
//     IdentificationTask task(document, file, registry, {.fit = true, .starts = 5});
//     task.progress()            at any time, from any thread
//     task.ready()               then outcome() or problem() is there
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/session/background_task.hpp"
#include "engine/model/registry.hpp"
#include "engine/sim/identification/identification_run.hpp"

namespace hindcast::session {

struct IdentificationWanted {
    bool fit = false;  // else it only checks what the data can tell
    std::size_t starts = 1;
    std::int64_t iterations = 100;           // most, from each start
    std::uint64_t seed = 0;                  // of the random starts
    std::vector<std::string> validate = {};  // recordings: FILE or OLD=FILE
    // Folders besides the scene's that files may lie in.
    std::vector<std::filesystem::path> allowed_paths = {};
};

class IdentificationTask {
public:
    IdentificationTask(std::shared_ptr<const document::Document> document,
                       std::filesystem::path file, const Registry& registry,
                       IdentificationWanted wanted);
    ~IdentificationTask();  // ends it at the next step

    const std::shared_ptr<const document::Document>& document() const { return document_; }
    const IdentificationWanted& wanted() const { return wanted_; }

    struct Progress {
        enum class Phase : std::uint8_t { building, checking, fitting, ended } phase;
        std::size_t start = 0;                        // the one that is fitted, from 0
        std::int64_t iteration = 0;                   // of it
        std::vector<std::vector<double>> costs = {};  // of each start so far, at each iteration
        double seconds = 0;                           // that it took, once ended
    };
    Progress progress() const;
    // The fit ends at its next iteration, with the best found so far.
    void stop() { stopped_ = true; }
    bool ready() const { return ready_; }

    // The outcome so far: null before the check. Replaced by another one after the fit; neither
    // changes.
    std::shared_ptr<const IdentificationOutcome> outcome() const;
    std::optional<Error> problem() const;  // why it ended without a result

    // Once ready, after a fit: the document with the parameters that were found.
    document::Document identified() const;
    // Once ready: all files that the command leaves, with report.html. Throws Error if one cannot be
    // written.
    void save(const std::filesystem::path& folder);

private:
    void run();
    void tell(Progress progress);
    void keep_outcome();

    const std::shared_ptr<const document::Document> document_;
    const std::filesystem::path file_;
    const Registry& registry_;
    const IdentificationWanted wanted_;
    std::unique_ptr<Simulation> simulation_;
    std::unique_ptr<IdentificationRun> run_;

    mutable std::mutex mutex_;  // of the next three
    Progress progress_{Progress::Phase::building};
    std::shared_ptr<const IdentificationOutcome> outcome_;
    std::optional<Error> problem_;
    std::atomic<bool> stopped_ = false, ready_ = false;
    BackgroundTask background_;  // last: it ends before the members that it writes are destroyed
};

// The objects of type "measured" among a document's objectives.
struct MeasuredFile {
    std::string objective, file;
    std::string delay;  // s, as written; "0" where it is not
};
std::vector<MeasuredFile> measured_files(const document::Document& document);

}  // namespace hindcast::session
