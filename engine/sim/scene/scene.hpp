// A scene: the document as the user wrote it, and what its global keys say. Physics objects are
// read by their modules.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/model/integrator.hpp"
#include "engine/model/registry.hpp"
#include "engine/runtime/minimization/rules/options.hpp"
#include "engine/sim/scene/gradient_settings.hpp"

namespace hindcast {

class Scene {
public:
    // Reads and checks the global keys; throws Error with file:line:column, JSON pointer and
    // remedy.
    static Scene load(const std::filesystem::path& path);
    static Scene parse(std::string_view text, std::string file = "scene");
    // The scene of a document that was read before, as if it were loaded from `file` (which need
    // not exist): files that it refers to are looked for beside it.
    static Scene of(document::Document document, std::filesystem::path file);

    // `--set`: replaces the value at a path ("cage.stiffness", "gravity", "time.steps",
    // "ball.velocity[0].z") by a JSON value, and reads the scene again. Throws Error and changes
    // nothing if the path or the value is wrong. Values computed at load from a body's positions,
    // or from other numbers, still come from those of loaded().
    void set(const std::string& path, std::string_view json);
    // The scene before the first set(); null if nothing was set.
    const Scene* loaded() const { return loaded_.get(); }
    // The node that a path names, with elements and components: nullptr if it is not written in the
    // scene.
    const document::Node* find(const std::string& path) const;

    const document::Document& document() const { return document_; }
    document::Document& document() { return document_; }
    const std::filesystem::path& file() const { return file_; }

    const std::string& name() const { return name_; }
    const std::string& description() const { return description_; }
    int dimension() const { return dimension_; }
    double step() const { return step_; }  // seconds of a whole step
    std::int64_t steps() const { return steps_; }
    std::int64_t substeps() const { return substeps_; }
    model::Integrator integrator() const { return integrator_; }
    const MinimizationOptions& minimization() const { return minimization_; }
    const GradientSettings& gradients() const { return gradients_; }

    // One object of a section, with the name it goes by.
    struct Object {
        model::Section section;
        std::string type, name;
        const document::Node* node;
    };
    std::vector<Object> objects() const;

private:
    explicit Scene(document::Document document) : document_(std::move(document)) { read(); }
    void read();
    void read_minimization(const document::Node& node);

    document::Document document_;
    std::filesystem::path file_;
    std::shared_ptr<const Scene> loaded_;
    std::string name_, description_;
    int dimension_ = 3;
    double step_ = 0;
    std::int64_t steps_ = 0, substeps_ = 1;
    model::Integrator integrator_ = model::Integrator::semi_implicit_euler;
    MinimizationOptions minimization_;
    GradientSettings gradients_;
};

}  // namespace hindcast
