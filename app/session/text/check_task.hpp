// find_faults on a thread of its own, for a text that is being typed: it begins once the text has
// rested, and a text that has changed meanwhile is looked at again.
//
//     checking.want(text, file);               // after each change
//     if (checking.update(now)) show(checking.faults());     // once a frame
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/background_task.hpp"
#include "app/session/text/scene_faults.hpp"

namespace hindcast::session {

class CheckTask {
public:
    // `options` without a device: the check has one of its own.
    CheckTask(const Registry& registry, SimulationOptions options);
    ~CheckTask() { forget(); }
    CheckTask(const CheckTask&) = delete;
    CheckTask& operator=(const CheckTask&) = delete;

    static constexpr double rest = 0.3;  // s without a change

    void want(std::string text, std::filesystem::path file, double now);
    // Gives up the check; one that runs ends at its next build, and its result is dropped.
    void forget();
    // Begins what is due. True once for each finished check of the text that is wanted.
    bool update(double now);
    // True while a check is wanted or runs.
    bool is_busy() const { return wanted_.has_value() || running_; }
    const std::vector<SceneFault>& faults() const { return faults_; }
    const std::string& checked() const { return checked_; }  // the text that they are of

private:
    struct Wanted {
        std::string text;
        std::filesystem::path file;
        double at = 0;
    };
    const Registry& registry_;
    const SimulationOptions options_;
    std::optional<Wanted> wanted_;
    bool running_ = false, seen_ = true;
    std::string checked_;
    std::vector<SceneFault> faults_;
    std::vector<SceneFault> found_;  // of the thread, until `ended_`
    std::atomic<bool> ended_ = false, stop_ = false;
    BackgroundTask background_;  // last: it ends before the members that it writes are destroyed
};

}  // namespace hindcast::session
