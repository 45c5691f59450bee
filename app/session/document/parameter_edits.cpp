#include "app/session/document/parameter_edits.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "app/session/document/schema_view.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/scene/path.hpp"
#include "engine/sim/scene/scene.hpp"

namespace hindcast::session {

namespace {

using document::Document;
using document::Node;

constexpr const char* axes[] = {"x", "y", "z"};

const Node* list_of(const Document& document) { return document.root().find("parameters"); }

std::string pointer_to(std::size_t parameter) { return "/parameters/" + std::to_string(parameter); }

// 3 for /parameters/3.
std::size_t place_in_list(const std::string& parameter) {
    const auto place = document::pointer_index(document::split_pointer(parameter)[1]);
    if (!place) throw Error("there is no parameter of the scene at " + parameter);
    return *place;
}

std::string pointer_to_group(const std::string& name) {
    return "/optimizer/groups/" + document::pointer_token(name);
}

std::string group_of(const Node& parameter) {
    const std::string group = text_of(parameter, "group");
    return group.empty() ? text_of(parameter, "path") : group;
}

const Node& parameter_at(const Document& document, const std::string& pointer) {
    const std::vector<std::string> tokens = document::split_pointer(pointer);
    const Node* const node = document.find(pointer);
    if (tokens.size() != 2 || tokens[0] != "parameters" || node == nullptr || !node->is_object())
        throw Error("there is no parameter of the scene at " + pointer)
            .remedy("name one as /parameters/0 does");
    return *node;
}

// The numbers of a quantity that a parameter has: of these elements, these components.
struct Cover {
    std::string base;
    std::set<std::string> elements;    // as "[3]", "[torso]"; empty: all
    std::set<std::string> components;  // empty: all

    bool meets(const Cover& other) const {
        const auto common = [](const auto& a, const auto& b) {
            return a.empty() || b.empty() ||
                   std::any_of(a.begin(), a.end(), [&](const auto& x) { return b.contains(x); });
        };
        return base == other.base && common(elements, other.elements) &&
               common(components, other.components);
    }
};

// The engine may still refuse the parameter. A restriction that is not understood counts as none.
// The name of a number is not known here: the engine refuses one that is named in both ways.
Cover cover_of(const Node& parameter) {
    Cover cover;
    const std::string text = text_of(parameter, "path");
    try {
        const Path path = Path::parse(text);
        cover.base = path.base();
        if (path.has_element()) cover.elements.insert(path.index());
        if (!path.component.empty()) cover.components.insert(path.component);
    } catch (const Error&) {
        cover.base = text;
    }
    const Node* const select = parameter.find("select");
    for (const char* const key : {"indices", "names"}) {
        const Node* const chosen = select != nullptr ? select->find(key) : nullptr;
        for (std::size_t k = 0; chosen != nullptr && k < chosen->size(); ++k) {
            const Node& one = chosen->item(k);
            if (one.is_integer()) cover.elements.insert("[" + std::to_string(one.integer()) + "]");
            if (one.is_string()) cover.elements.insert(Path::in_brackets(one.string()));
        }
    }
    const Node* const components = parameter.find("components");
    for (std::size_t k = 0; components != nullptr && k < components->size(); ++k)
        if (components->item(k).is_string()) cover.components.insert(components->item(k).string());
    return cover;
}

void need_unclaimed(const Document& document, const Cover& cover, const std::string& path,
                    std::size_t except) {
    const Node* const list = list_of(document);
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
        if (k != except && cover_of(list->item(k)).meets(cover))
            throw Error("'" + path + "' is optimized already: a number belongs to one parameter")
                .remedy("restrict the parameter that is there by \"components\" or \"select\"");
}

// The optimizer's groups, made if they are not there.
Node& made_groups(Document& document) {
    if (document.find("/optimizer") == nullptr)  // the defaults without one
        document.set("/optimizer", Node::object({{"type", "lbfgs"}}));
    if (document.find("/optimizer/groups") == nullptr)
        document.set("/optimizer/groups", Node::object());
    return *document.root().find("optimizer")->find("groups");
}

const Node* factors_of(const Document& document) {
    const Node* const factors = document.find("/optimizer/groups");
    return factors != nullptr && factors->is_object() ? factors : nullptr;
}

bool has_factor(const Document& document, const std::string& group) {
    const Node* const factors = factors_of(document);
    return factors != nullptr && factors->find(group) != nullptr;
}

void erase_factor(Document& document, const std::string& group) {
    if (!has_factor(document, group)) return;
    const bool others = factors_of(document)->size() > 1;
    document.erase(others ? pointer_to_group(group) : "/optimizer/groups");
}

void rename_factor(Document& document, const std::string& old, const std::string& fresh) {
    if (!has_factor(document, old)) return;
    const Node* const factors = factors_of(document);
    Node changed = Node::object();
    for (std::size_t k = 0; k < factors->size(); ++k)
        changed.set(factors->key(k) == old ? fresh : factors->key(k), factors->item(k));
    document.set("/optimizer/groups", std::move(changed));
}

void write_group(Document& document, const std::string& pointer, const std::string& group) {
    Node& parameter = document.set(pointer, Node(parameter_at(document, pointer)));
    if (group.empty() || group == text_of(parameter, "path"))
        parameter.erase("group");
    else
        parameter.set("group", Node(group));
}

}  // namespace

// ---------------------------------------------------------------- parts of other edits

std::set<std::string> groups_of_parameters(const Document& document) {
    std::set<std::string> names;
    const Node* const list = list_of(document);
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
        names.insert(group_of(list->item(k)));
    return names;
}

void drop_unused_groups(Document& document, const std::set<std::string>& before) {
    const std::set<std::string> after = groups_of_parameters(document);
    for (const std::string& name : before)
        if (!after.contains(name)) erase_factor(document, name);
}

void remove_parameters(Document& document, const std::vector<std::string>& pointers) {
    const std::set<std::string> groups = groups_of_parameters(document);
    std::vector<std::size_t> places;
    for (const std::string& pointer : pointers) {
        parameter_at(document, pointer);
        places.push_back(place_in_list(pointer));
    }
    std::ranges::sort(places, std::greater());
    for (const std::size_t k : places) document.erase(pointer_to(k));
    drop_unused_groups(document, groups);
}

std::string duplicate_parameter(Document& document, const std::string& pointer) {
    const Node& parameter = parameter_at(document, pointer);
    const Cover own = cover_of(parameter);
    std::set<std::string> rest;
    if (!own.components.empty())
        for (int c = 0; c < Scene::of(document, {}).dimension(); ++c) rest.insert(axes[c]);
    const Node* const list = list_of(document);
    for (std::size_t k = 0; k < list->size(); ++k) {
        Cover other = cover_of(list->item(k));
        const std::set<std::string> taken = std::exchange(other.components, {});
        if (!other.meets({own.base, own.elements, {}})) continue;
        if (taken.empty()) rest.clear();
        for (const std::string& c : taken) rest.erase(c);
    }
    if (rest.empty())
        throw Error("every number of '" + text_of(parameter, "path") +
                    "' belongs to a parameter, and to one only: a copy would have none")
            .remedy("restrict it by \"components\" first; its copy then has the others");
    Node copy = parameter;
    const Path path = Path::parse(text_of(parameter, "path"));
    copy.set("path", Node(path.base() + path.index()));
    if (copy.find("group") == nullptr && group_of(parameter) != text_of(copy, "path"))
        copy.set("group", Node(group_of(parameter)));
    Node components = Node::array();
    for (const std::string& c : rest) components.push_back(Node(c));
    copy.set("components", std::move(components));
    const std::size_t place = place_in_list(pointer) + 1;
    if (place < list->size())
        document.insert(pointer_to(place), std::move(copy));
    else
        document.set("/parameters/-", std::move(copy));
    return pointer_to(place);
}

// ---------------------------------------------------------------- parameters

std::vector<std::string> ParameterEdits::parameters_of(const std::string& path) const {
    std::vector<std::string> pointers;
    const Node* const list = list_of(needed_document());
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
        if (text_of(list->item(k), "path") == path || cover_of(list->item(k)).base == path)
            pointers.push_back(pointer_to(k));
    return pointers;
}

bool ParameterEdits::is_optimized(const std::string& path) const {
    return !parameters_of(path).empty();
}

void ParameterEdits::set_optimized(const std::string& path, bool on) {
    Path::parse(path);
    const std::vector<std::string> there = parameters_of(path);
    if (!there.empty() == on) return;
    if (on) {
        add_parameter(path);
        return;
    }
    Document changed = needed_document();
    remove_parameters(changed, there);
    replace(std::move(changed), "Do not optimize " + path);
}

std::string ParameterEdits::add_parameter(const std::string& path) {
    Path::parse(path);
    Document changed = needed_document();
    const Node fresh = Node::object({{"path", path}});
    if (list_of(changed) == nullptr) changed.set("/parameters", Node::array());
    const std::size_t count = list_of(changed)->size();
    need_unclaimed(changed, cover_of(fresh), path, count);
    changed.set("/parameters/-", fresh);
    replace(std::move(changed), "Optimize " + path);
    return pointer_to(count);
}

void ParameterEdits::set_parameter_path(const std::string& pointer, const std::string& path) {
    Path::parse(path);
    Document changed = needed_document();
    const std::string old = text_of(parameter_at(changed, pointer), "path");
    if (old == path) return;
    const std::set<std::string> groups = groups_of_parameters(changed);
    changed.set(pointer + "/path", Node(path));
    need_unclaimed(changed, cover_of(changed.at(pointer)), path, place_in_list(pointer));
    // A factor by the old path is one by the new path, unless another parameter has it too.
    const std::set<std::string> after = groups_of_parameters(changed);
    if (!after.contains(old) && !groups.contains(path) && after.contains(path))
        rename_factor(changed, old, path);
    drop_unused_groups(changed, groups);
    replace(std::move(changed), "Path of a parameter");
}

// ---------------------------------------------------------------- groups

std::vector<ParameterEdits::Group> ParameterEdits::groups() const {
    const Document& document = needed_document();
    const Node* const list = list_of(document);
    const Node* const factors = factors_of(document);
    std::vector<Group> groups;
    const auto at = [&](const std::string& name) -> Group& {
        const auto found = std::ranges::find(groups, name, &Group::name);
        if (found != groups.end()) return *found;
        groups.push_back({name, pointer_to_group(name), std::nullopt, {}});
        return groups.back();
    };
    std::set<std::string> named;
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
        if (const std::string name = text_of(list->item(k), "group"); !name.empty())
            named.insert(name);
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
        if (const std::string name = group_of(list->item(k));
            named.contains(name) || has_factor(document, name))
            at(name).parameters.push_back(pointer_to(k));
    for (std::size_t k = 0; factors != nullptr && k < factors->size(); ++k) {
        Group& group = at(factors->key(k));
        const Node* const rate = factors->item(k).find("rate");
        if (rate == nullptr) continue;
        if (rate->is_integer()) group.rate = static_cast<double>(rate->integer());
        if (rate->is_real()) group.rate = rate->real();
        if (rate->is_string()) group.rate = document::parse_fraction(rate->string());
    }
    return groups;
}

std::string ParameterEdits::add_group(const std::string& parameter) {
    Document changed = needed_document();
    parameter_at(changed, parameter);
    const std::set<std::string> before = groups_of_parameters(changed);
    std::string name = "group";
    const auto taken = [&] { return before.contains(name) || has_factor(changed, name); };
    for (int number = 2; taken(); ++number) name = "group_" + std::to_string(number);
    write_group(changed, parameter, name);
    made_groups(changed).set(name, Node::object({{"rate", 1}}));
    drop_unused_groups(changed, before);
    replace(std::move(changed), "Add " + name);
    return pointer_to_group(name);
}

void ParameterEdits::set_group(const std::string& parameter, const std::string& group) {
    Document changed = needed_document();
    const std::set<std::string> before = groups_of_parameters(changed);
    write_group(changed, parameter, group);
    drop_unused_groups(changed, before);
    const std::string name = "Group of " + text_of(changed.at(parameter), "path");
    replace(std::move(changed), name);
}

std::string ParameterEdits::rename_group(const std::string& name, const std::string& fresh) {
    if (fresh == name) return pointer_to_group(name);
    if (fresh.empty()) throw Error("a group needs a name");
    Document changed = needed_document();
    if (groups_of_parameters(changed).contains(fresh) || has_factor(changed, fresh))
        throw Error("there is a group '" + fresh + "'")
            .remedy("choose another name, or put the parameters into that group");
    const Node* const list = list_of(changed);
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
        if (group_of(list->item(k)) == name) write_group(changed, pointer_to(k), fresh);
    rename_factor(changed, name, fresh);
    replace(std::move(changed), "Rename " + name + " to " + fresh);
    return pointer_to_group(fresh);
}

void ParameterEdits::set_group_rate(const std::string& name, double rate,
                                    const std::string& merge) {
    if (has_factor(needed_document(), name)) {
        set(pointer_to_group(name) + "/rate", Node(rate), "Rate of " + name, merge);
        return;
    }
    Document changed = needed_document();
    made_groups(changed).set(name, Node::object({{"rate", rate}}));
    replace(std::move(changed), "Rate of " + name);
    merge_next(merge);
}

void ParameterEdits::remove_group(const std::string& name) {
    Document changed = needed_document();
    const Node* const list = list_of(changed);
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
        if (text_of(list->item(k), "group") == name) write_group(changed, pointer_to(k), "");
    erase_factor(changed, name);
    replace(std::move(changed), "Delete " + name);
}

}  // namespace hindcast::session
