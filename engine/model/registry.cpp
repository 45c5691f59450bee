#include "engine/model/registry.hpp"

#include <set>

#include "engine/base/error.hpp"

namespace hindcast {

const char* model::name_of(Section section) {
    switch (section) {
        case Section::bodies: return "bodies";
        case Section::forces: return "forces";
        case Section::colliders: return "colliders";
        case Section::controllers: return "controllers";
        case Section::objective: return "objective";
    }
    return "?";
}

void Registry::add(model::ModuleType type) {
    if (find(type.section, type.type) != nullptr)
        throw Error(std::string("the section ") + name_of(type.section) +
                    " has two module types called '" + type.type + "'");
    std::set<std::string> keys{"type", "name"};
    for (const model::Field& f : type.fields)
        if (!keys.insert(f.key).second)
            throw Error("the module type '" + type.type + "' has two fields called '" + f.key +
                        "'");
    types_.push_back(std::move(type));
}

const model::ModuleType* Registry::find(model::Section section, const std::string& type) const {
    for (const model::ModuleType& t : types_)
        if (t.section == section && t.type == type) return &t;
    return nullptr;
}

std::vector<std::string> Registry::types(model::Section section) const {
    std::vector<std::string> names;
    for (const model::ModuleType& t : types_)
        if (t.section == section) names.push_back(t.type);
    return names;
}

}  // namespace hindcast
