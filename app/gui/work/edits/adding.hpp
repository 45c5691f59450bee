// Objects that are added to the scene: by their type, as modules offer them, or made of parts chosen in the
// picture.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/session/document/add_object_task.hpp"
#include "app/session/making/offers.hpp"

namespace hindcast::gui {

struct Chosen;
class EditedScene;
class Looks;

class Adding {
public:
    Adding(EditedScene& scene, Chosen& chosen, const Looks& looks);

    // Adds an object with values that load and selects it. The values are found on another thread,
    // since each try builds the scene. One at a time.
    void add(model::Section section, const std::string& type);
    // Does the same with an offer.
    void add_offer(session::ChosenOffer chosen);
    void cancel() { task_.reset(); }
    const session::AddObjectTask* task() const { return task_.get(); }  // null: none runs
    void update();  // takes the object of a task that has ended; call it once a frame

    // Makes an object of the chosen parts, whose name begins with `stem`, and selects it.
    using FromParts =
        std::function<document::Document(const document::Document&, const std::string& name)>;
    void make_from_parts(const std::string& what, const std::string& stem, const FromParts& make);

    // Returns the name for a file in the scene. A file of another folder is copied beside the
    // scene; a scene without a file that names none yet goes to live in the folder of this one
    // instead. None: the reason is shown.
    std::optional<std::string> bring(const std::filesystem::path& file);

private:
    EditedScene& scene_;
    Chosen& chosen_;
    const Looks& looks_;
    std::unique_ptr<session::AddObjectTask> task_;
};

}  // namespace hindcast::gui
