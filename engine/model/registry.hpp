// Registry: the interface that a physics module implements. A module is a folder kernels/NAME with
// NAME.hpp, which declares `void register_NAME(Registry&)`; CMake finds the folders and generates
// the call. Nothing else names a module.
//
// A module type is one `"type"` of one section of the scene. For each object of that type an
// Instance is made:
//   declare()  announces what it adds to the model (points of a body), before any array exists
//   build()    makes arrays, reads quantities, adds launches to phases and to the prologue, and
//              adds objective terms
//   finish()   runs after all instances were built: for what depends on the others (is there any
//              force?)
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/model/field.hpp"
#include "engine/model/published_kernel.hpp"

namespace hindcast {

namespace document {
class Node;
}

namespace model {

class Model;
class Settings;
struct Offer;

class Instance {
public:
    virtual ~Instance() = default;
    virtual void declare(Model&) {}
    virtual void build(Model& model) = 0;
    virtual void finish(Model&) {}
};

enum class Section { bodies, forces, colliders, controllers, objective };
inline constexpr Section all_sections[] = {Section::bodies, Section::forces, Section::colliders,
                                           Section::controllers, Section::objective};
const char* name_of(Section section);  // the scene's key

struct ModuleType {
    Section section = Section::forces;
    std::string type;           // "springs"
    std::string title;          // in words: "Springs between points"
    std::string documentation;  // with the formula
    std::vector<Field> fields;  // besides type and name (and, for objectives, weight and at)
    std::function<std::unique_ptr<Instance>(std::shared_ptr<Settings>)> make;
    // Its objects may stand in a scene with an implicit integrator (Model::is_implicit()), where
    // they add energies in place of forces. Objectives always may.
    bool is_implicit = false;
    // Changes an object so that a scene with an implicit integrator can have it; null: nothing to do.
    std::function<void(document::Node& object)> make_implicit = {};
    std::string module = {};  // the folder that it comes from; the registry says it

    bool may_be_implicit() const { return is_implicit || section == Section::objective; }
};

}  // namespace model

class Registry {
public:
    // Whose types follow. The generated call says it before it calls register_NAME.
    void enter(const std::string& module) { modules_.push_back(module); }
    const std::vector<std::string>& modules() const { return modules_; }
    // Throws Error if the section has that type already, or two fields one key.
    void add(model::ModuleType type);
    const model::ModuleType* find(model::Section section, const std::string& type) const;
    std::vector<std::string> types(model::Section section) const;
    const std::vector<model::ModuleType>& all() const { return types_; }

    // Throws Error if a kernel of that name is there, or two options or parameters have one name.
    void publish(model::PublishedKernel kernel);
    // Throws Error, with "did you mean", if there is none.
    const model::PublishedKernel& kernel(const std::string& name) const;
    const std::vector<model::PublishedKernel>& kernels() const { return kernels_; }

    // A thing to add to scenes (engine/model/offers/offer.hpp). Throws Error if there is one with its id.
    void offer(model::Offer offer);
    // In the order of their ranks.
    const std::vector<std::shared_ptr<const model::Offer>>& offers() const { return offers_; }

private:
    std::vector<std::string> modules_;
    std::vector<model::ModuleType> types_;
    std::vector<model::PublishedKernel> kernels_;
    std::vector<std::shared_ptr<const model::Offer>> offers_;
};

// Registers every module that was built in (generated).
void register_all_modules(Registry& registry);

}  // namespace hindcast
