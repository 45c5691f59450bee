#include "engine/model/registry.hpp"

#include <set>

#include "engine/base/error.hpp"
#include "engine/document/text.hpp"

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
    if (!modules_.empty()) type.module = modules_.back();
    types_.push_back(std::move(type));
}

const model::ModuleType* Registry::find(model::Section section, const std::string& type) const {
    for (const model::ModuleType& t : types_)
        if (t.section == section && t.type == type) return &t;
    return nullptr;
}

void Registry::publish(model::PublishedKernel kernel) {
    for (const model::PublishedKernel& other : kernels_)
        if (other.name == kernel.name)
            throw Error("two kernels are published as '" + kernel.name + "'");
    std::set<std::string> options, parameters;
    for (const model::Field& f : kernel.options)
        if (!options.insert(f.key).second)
            throw Error("the kernel '" + kernel.name + "' has two options called '" + f.key + "'");
    for (const auto& p : kernel.parameters)
        if (!parameters.insert(p.name).second)
            throw Error("the kernel '" + kernel.name + "' describes the parameter '" + p.name +
                        "' twice");
    kernels_.push_back(std::move(kernel));
}

const model::PublishedKernel& Registry::kernel(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const model::PublishedKernel& kernel : kernels_) {
        if (kernel.name == name) return kernel;
        names.push_back(kernel.name);
    }
    throw Error("there is no built-in kernel '" + name + "'")
        .remedy(document::suggestion(name, names, "there are"));
}

std::vector<std::string> Registry::types(model::Section section) const {
    std::vector<std::string> names;
    for (const model::ModuleType& t : types_)
        if (t.section == section) names.push_back(t.type);
    return names;
}

}  // namespace hindcast
