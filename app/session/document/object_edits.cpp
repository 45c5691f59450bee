#include "app/session/document/object_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/session/document/default_object.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/scene/path.hpp"
#include "engine/sim/scene/scene.hpp"

namespace hindcast::session {

namespace {

using document::Document;
using document::Node;
using model::Field;
using model::FieldKind;
using model::ModuleType;
using model::Section;

// The object at "/SECTION/k".
struct Place {
    Section section = Section::bodies;
    std::size_t index = 0;
};

Place place_of(const Document& document, const std::string& pointer) {
    const std::vector<std::string> tokens = document::split_pointer(pointer);
    for (const Section section : model::all_sections)
        if (tokens.size() == 2 && tokens[0] == model::name_of(section))
            if (const auto index = document::pointer_index(tokens[1]);
                index && document.find(pointer) != nullptr)
                return {section, *index};
    throw Error("there is no object of the scene at " + pointer)
        .remedy("name one as /bodies/0 does");
}

std::string name_at(const Document& document, const std::string& pointer) {
    const Scene scene = Scene::of(document, {});
    for (const Scene::Object& object : scene.objects())
        if (object.node->pointer() == pointer) return object.name;
    throw Error("there is no object of the scene at " + pointer);
}

}  // namespace

std::string unused_name(const Document& document, const std::string& wanted) {
    std::set<std::string> names{"gravity", "time", "gradients"};
    const Scene scene = Scene::of(document, {});
    for (const Scene::Object& object : scene.objects()) names.insert(object.name);
    if (!names.contains(wanted)) return wanted;
    // "ball_2" is followed by "ball_3".
    std::string stem = wanted;
    const std::size_t bar = wanted.find_last_of('_');
    if (bar != std::string::npos && bar > 0 && bar + 1 < wanted.size() &&
        wanted.find_first_not_of("0123456789", bar + 1) == std::string::npos)
        stem = wanted.substr(0, bar);
    for (int number = 2;; ++number) {
        const std::string name = stem + "_" + std::to_string(number);
        if (!names.contains(name)) return name;
    }
}

namespace {

bool is_path_of(const std::string& text, const std::string& name) {
    return text.starts_with(name + ".") || text.starts_with(name + "[");
}

// Goes over a document, finds what refers to a name, and changes it.
class References {
public:
    References(Document& document, const Registry& registry, const std::string& name,
               const std::string* new_name)
        : document_(document), registry_(registry), name_(name), new_name_(new_name) {}

    std::vector<std::string> find() {
        Node& root = document_.root();
        for (const Section section : model::all_sections) {
            Node* const list = root.find(model::name_of(section));
            for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
                object(list->item(k), section);
        }
        if (Node* const list = root.find("parameters"))
            for (std::size_t k = 0; k < list->size(); ++k) paths(list->item(k), "parameters");
        for (const char* key : {"outputs", "view"})
            if (Node* const node = root.find(key)) paths(*node, key);
        if (Node* const optimizer = root.find("optimizer"))
            keys(optimizer->find("groups"), "optimizer.groups");
        if (Node* const list = root.find("checkpoints"))
            for (std::size_t k = 0; k < list->size(); ++k)
                keys(list->item(k).find("values"), "checkpoints");
        return std::move(found_);
    }

private:
    void object(Node& node, Section section) {
        const Node* const type = node.find("type");
        if (type == nullptr || !type->is_string()) return;
        const ModuleType* const module = registry_.find(section, type->string());
        if (module == nullptr) return;
        const Node* const own = node.find("name");
        const std::string where =
            (own != nullptr && own->is_string() ? own->string() : type->string());
        for (const Field& field : module->fields) {
            Node* const value = node.find(field.key);
            if (value == nullptr) continue;
            const std::string label = where + "." + field.key;
            if (field.kind == FieldKind::body || field.kind == FieldKind::list ||
                field.kind == FieldKind::any)
                names(*value, label);
            else if (field.kind == FieldKind::text)
                paths(*value, label);
        }
    }

    // Strings that are the name.
    void names(Node& node, const std::string& label) {
        for (std::size_t k = 0; k < node.size(); ++k) names(node.item(k), label);
        if (!node.is_string() || node.string() != name_) return;
        note(label);
        if (new_name_ != nullptr) node = Node(*new_name_);
    }

    // Strings that are the name, or a path that begins with it.
    void paths(Node& node, const std::string& label) {
        for (std::size_t k = 0; k < node.size(); ++k) paths(node.item(k), label);
        if (!node.is_string()) return;
        const std::string text = node.string();
        if (text != name_ && !is_path_of(text, name_)) return;
        note(label + ": " + text);
        if (new_name_ != nullptr) node = Node(*new_name_ + text.substr(name_.size()));
    }

    // Keys that are paths: of the optimizer's groups, where parameters name none, and of the
    // values of checkpoints.
    void keys(Node* const old, const std::string& label) {
        if (old == nullptr || !old->is_object()) return;
        Node changed = Node::object();
        bool any = false;
        for (std::size_t k = 0; k < old->size(); ++k) {
            std::string key = old->key(k);
            if (is_path_of(key, name_)) {
                note(fmt::format("{}: {}", label, key));
                any = true;
                if (new_name_ != nullptr) key = *new_name_ + key.substr(name_.size());
            }
            changed.set(key, old->item(k));
        }
        if (any && new_name_ != nullptr) *old = std::move(changed);
    }

    void note(const std::string& label) {
        if (std::find(found_.begin(), found_.end(), label) == found_.end()) found_.push_back(label);
    }

    Document& document_;
    const Registry& registry_;
    const std::string& name_;
    const std::string* new_name_;
    std::vector<std::string> found_;
};

// The references in the document to the object of this name, each as a pointer and a description.
// With `new_name` they are changed.
std::vector<std::string> references(Document& document, const Registry& registry,
                                    const std::string& name, const std::string* new_name) {
    return References(document, registry, name, new_name).find();
}

}  // namespace

std::string ObjectEdits::add(Section section, const std::string& type) {
    const Document& before = needed_document();
    const ModuleType* const module = registry_.find(section, type);
    if (module == nullptr)
        throw Error("there is no type '" + type + "' in " + model::name_of(section));
    const std::string name = unused_name(before, type);
    return put_added(with_default_object(before, file(), registry_, *module, name), name);
}

std::string ObjectEdits::name_for(const std::string& type) const {
    return unused_name(needed_document(), type);
}

std::string ObjectEdits::put_added(Document changed, const std::string& name) {
    const Scene scene = Scene::of(changed, file());
    const std::vector<Scene::Object> objects = scene.objects();
    const auto pointer_of = [&](const auto& is_it) {
        const auto found = std::ranges::find_if(objects, is_it);
        return found == objects.end() ? std::string() : found->node->pointer();
    };
    std::string pointer =
        pointer_of([&](const Scene::Object& object) { return object.name == name; });
    if (pointer.empty())  // it has joined an object that was there
        pointer = pointer_of([&](const Scene::Object& object) {
            const Node* const before = needed_document().find(object.node->pointer());
            return before != nullptr && *before != *object.node;
        });
    replace(std::move(changed), "Add " + name);
    return pointer;
}

std::string ObjectEdits::append(Section section, Node object, const std::string& name) {
    Document changed = needed_document();
    object.set("name", Node(unused_name(changed, object.find("name")->string())));
    const std::string list = std::string("/") + model::name_of(section);
    if (changed.find(list) == nullptr) changed.set(list, Node::array());
    const std::string pointer = list + "/" + std::to_string(changed.at(list).size());
    changed.set(list + "/-", std::move(object));
    Scene::of(changed, file());
    replace(std::move(changed), name);
    return pointer;
}

std::string ObjectEdits::duplicate(const std::string& pointer) {
    Document changed = needed_document();
    if (pointer.starts_with("/parameters/")) {
        const std::string target = duplicate_parameter(changed, pointer);
        replace(std::move(changed), "Duplicate parameter");
        return target;
    }
    if (pointer.starts_with("/optimizer/groups/"))
        throw Error("a parameter is in one group only, so a copy of a group would have none")
            .remedy("make a group of another parameter, and give it this one's rate");
    const Place place = place_of(changed, pointer);
    const std::string old = name_at(changed, pointer), name = unused_name(changed, old);
    // A name that comes from the order of its type would go to the copy.
    if (changed.at(pointer).find("name") == nullptr) changed.set(pointer + "/name", Node(old));
    Node copy = changed.at(pointer);
    copy.set("name", Node(name));
    const std::string target =
        std::string("/") + model::name_of(place.section) + "/" + std::to_string(place.index + 1);
    if (place.index + 1 < changed.at(std::string("/") + model::name_of(place.section)).size())
        changed.insert(target, std::move(copy));
    else
        changed.set(std::string("/") + model::name_of(place.section) + "/-", std::move(copy));
    Scene::of(changed, file());
    replace(std::move(changed), "Duplicate " + old);
    return target;
}

void ObjectEdits::remove(const std::string& pointer) {
    const Document& document = needed_document();
    const std::vector<std::string> tokens = document::split_pointer(pointer);
    if (tokens.size() == 3 && tokens[0] == "optimizer" && tokens[1] == "groups") {
        remove_group(tokens[2]);
        return;
    }
    Document changed = document;
    if (pointer.starts_with("/parameters/")) {
        remove_parameters(changed, {pointer});
        replace(std::move(changed), "Delete parameter");
        return;
    }
    place_of(changed, pointer);
    const std::string name = name_at(changed, pointer);
    changed.erase(pointer);
    replace(std::move(changed), "Delete " + name);
}

void ObjectEdits::rename(const std::string& pointer, const std::string& name) {
    Document changed = needed_document();
    place_of(changed, pointer);
    const std::string old = name_at(changed, pointer);
    if (old == name) return;
    changed.set(pointer + "/name", Node(name));
    references(changed, registry_, old, &name);
    Scene::of(changed, file());  // the name is allowed, and not taken
    replace(std::move(changed), "Rename " + old + " to " + name);
}

std::vector<std::string> ObjectEdits::references_to(const std::string& name) const {
    Document copy = needed_document();
    return references(copy, registry_, name, nullptr);
}

void ObjectEdits::reset(const std::string& pointer) {
    Document changed = needed_document();
    std::string path = pointer.substr(1);
    const Field* field = nullptr;
    const std::size_t slash = pointer.find_last_of('/');
    if (slash > 0) {  // of an object
        const std::string object = pointer.substr(0, slash), key = pointer.substr(slash + 1);
        const Place place = place_of(changed, object);
        const ModuleType* const type =
            registry_.find(place.section, changed.find(object)->find("type")->string());
        path = name_at(changed, object) + "." + key;
        for (const Field& f : type->fields)
            if (f.key == key) field = &f;
    }
    const Node* const objective = changed.root().find("objective");
    std::string named_by;
    for (std::size_t k = 0; objective != nullptr && k < objective->size(); ++k)
        for (std::size_t j = 0; j < objective->item(k).size(); ++j)
            if (const Node& value = objective->item(k).item(j);
                value.is_string() && value.string() == path)
                named_by = name_at(changed, "/objective/" + std::to_string(k));
    Node* const list = changed.root().find("parameters");
    std::vector<std::size_t> parameters;
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
        if (const Node* const text = list->item(k).find("path");
            text != nullptr && text->is_string() && Path::parse(text->string()).base() == path)
            parameters.push_back(k);
    const bool named = !named_by.empty() || !parameters.empty();
    if (!named || field == nullptr || field->fallback_json == "zero") {
        changed.erase(pointer);
    } else if (field->fallback_json != "none") {
        // A field that is not written may have no number: so its default is written out.
        changed.set(pointer, Document::parse(field->fallback_json).root());
    } else if (!named_by.empty()) {
        throw Error(path + " has no default, and the objective " + named_by + " names it")
            .remedy("change or erase that objective first");
    } else {
        const std::set<std::string> groups = groups_of_parameters(changed);
        for (auto k = parameters.rbegin(); k != parameters.rend(); ++k) list->erase(*k);
        changed.erase(pointer);
        drop_unused_groups(changed, groups);
    }
    replace(std::move(changed), "Reset " + path);
}

}  // namespace hindcast::session
