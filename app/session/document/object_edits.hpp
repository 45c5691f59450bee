// Edits of the objects of a scene's sections (bodies, forces ...), by the registry's rows.
#pragma once

#include <string>
#include <vector>

#include "app/session/document/parameter_edits.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::session {

// Each edit throws Error and then changes nothing.
class ObjectEdits : public ParameterEdits {
public:
    // Adds an object with a new name. Its required fields get values that load in this scene (the
    // first body for a body field, and so on). Returns its pointer. This may build the scene many
    // times; a window does it on another thread (add_object_task.hpp).
    std::string add(model::Section section, const std::string& type);
    // The name for a new object of the type.
    std::string name_for(const std::string& type) const;
    // Takes over the document with the added object of this name. Returns the object's pointer.
    std::string put_added(document::Document changed, const std::string& name);
    // Appends this object, under its name or a similar one if that is taken. Returns its pointer.
    std::string append(model::Section section, document::Node object, const std::string& name);
    // Inserts a copy after it with a new name; returns its pointer. For a parameter that is
    // restricted to some components, the copy has the components without a parameter. For any other
    // parameter, and for a group, it is an error that says why.
    std::string duplicate(const std::string& pointer);
    // Removes an object of a section, a parameter or a group of the optimizer.
    void remove(const std::string& pointer);
    // Changes all references to the old name too (paths, bodies, controllers).
    void rename(const std::string& pointer, const std::string& name);
    // The references to this name, shown before it is removed.
    std::vector<std::string> references_to(const std::string& name) const;
    // Removes a field, such as "/forces/0/damping", so that its default holds. If a parameter or an
    // objective names the field, the default is written out instead. If the field has no default,
    // parameters that name it are removed in the same undo step; for an objective it is an error.
    void reset(const std::string& pointer);

protected:
    explicit ObjectEdits(const Registry& registry) : registry_(registry) {}
    ~ObjectEdits() = default;

private:
    const Registry& registry_;
};

// `wanted`, or a similar name that no object of the document has.
std::string unused_name(const document::Document& document, const std::string& wanted);

}  // namespace hindcast::session
