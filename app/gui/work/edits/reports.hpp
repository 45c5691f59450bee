// Reports of the simulation: its error, and its warnings. Each is told once; a scene accepts the
// warnings that its author means.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/model/warnings/warning.hpp"

namespace hindcast::gui {

struct Chosen;
class EditedScene;
class Messages;
struct Requests;
class Running;

class Reports {
public:
    Reports(Running& running, EditedScene& scene, Chosen& chosen, Requests& requests,
            Messages& messages);

    // Tells the error and the warnings that are new; call it once a frame. `opening`: another scene
    // is being opened, whose errors are told by that.
    void update(bool opening);
    // True if the snapshot has an error that has not been told.
    bool has_new_error() const;
    // Counts the snapshot's error as told, because the caller tells it.
    void error_is_told();

    // Number of warnings that hold; the panel Warnings shows them all.
    std::size_t warning_count() const;
    // Writes into the scene that its author means what the warnings with this identifier say, or
    // that they are to be told again.
    void accept(const std::string& identifier, bool on = true);
    // Does the same for two objects that pass through each other.
    void except_pair(const std::string& a, const std::string& b, bool on = true);

private:
    void tell_error();
    void tell_warnings();

    Running& running_;
    EditedScene& scene_;
    Chosen& chosen_;
    Requests& requests_;
    Messages& messages_;
    std::shared_ptr<const Error> told_error_;
    std::shared_ptr<const std::vector<Warning>> told_warnings_;
};

}  // namespace hindcast::gui
