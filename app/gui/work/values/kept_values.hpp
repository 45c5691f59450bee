// Checkpoints: values of the parameters that are kept in the scene under a name and used again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hindcast::gui {

class EditedScene;
class FoundValues;
class Messages;
class Running;

class KeptValues {
public:
    KeptValues(Running& running, EditedScene& scene, FoundValues& values, Messages& messages);

    // Keeps these parameters of the scene of that build as a checkpoint of this name. It replaces
    // one of the same name.
    void keep(const std::string& name, std::shared_ptr<const std::vector<double>> parameters,
              std::int64_t build, double loss);
    // Writes the values of a checkpoint into the scene; then optimizes if that is wanted.
    void use(const std::string& name, bool optimizes = false);
    void update();  // writes the checkpoint that the session has answered; call it once a frame

private:
    Running& running_;
    EditedScene& scene_;
    FoundValues& values_;
    Messages& messages_;
    // A checkpoint that waits for the session's answer.
    struct Keeping {
        std::uint64_t number = 0;
        std::string name;
        double loss = 0;
    };
    std::optional<Keeping> keeping_;
    std::uint64_t asked_ = 0;  // questions to the session so far
};

}  // namespace hindcast::gui
