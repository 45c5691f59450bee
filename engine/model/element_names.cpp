#include "engine/model/element_names.hpp"

#include <algorithm>
#include <map>

#include "engine/document/text.hpp"

namespace hindcast::model {

using document::Node;

namespace {

struct AllNames {
    std::map<std::string, ElementNames> by_path;
};

}  // namespace

void ElementNames::add(const std::string& name, std::int64_t count) {
    const auto thing = static_cast<std::int64_t>(things_.size());
    things_.push_back({name, {next_, count}});
    for (std::int64_t e = next_; e < next_ + count; ++e)
        thing_of_.at(static_cast<std::size_t>(e)) = thing;
    next_ += count;
}

const ElementNames::Thing* ElementNames::thing(std::string_view name) const {
    if (name.empty()) return nullptr;
    const auto found = std::ranges::find(things_, name, &Thing::name);
    return found == things_.end() ? nullptr : &*found;
}

std::string ElementNames::name(std::int64_t element) const {
    const std::int64_t number = thing_of_.at(static_cast<std::size_t>(element));
    if (number < 0) return "";
    const Thing& of = things_[static_cast<std::size_t>(number)];
    if (of.name.empty() || of.elements.count == 1) return of.name;
    std::string part = of.name + ":" + std::to_string(element - of.elements.first);
    return thing(part) == nullptr ? part : "";
}

std::optional<ElementRange> ElementNames::find(std::string_view name) const {
    if (const Thing* const whole = thing(name)) return whole->elements;
    const std::size_t colon = name.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const Thing* const whole = thing(name.substr(0, colon));
    if (whole == nullptr || whole->elements.count == 1) return std::nullopt;
    const auto part = document::pointer_index(name.substr(colon + 1));
    if (!part || static_cast<std::int64_t>(*part) >= whole->elements.count) return std::nullopt;
    return ElementRange{whole->elements.first + static_cast<std::int64_t>(*part), 1};
}

ElementRange ElementNames::at(const std::string& owner, std::string_view name) const {
    if (const auto found = find(name)) return *found;
    std::vector<std::string_view> known;
    for (const Thing& thing : things_)
        if (!thing.name.empty()) known.push_back(thing.name);
    Error error("'" + owner + "' has no element called " + document::shown(name));
    const std::size_t colon = name.rfind(':');
    if (const Thing* const whole = thing(name.substr(0, colon)))
        throw error.remedy(whole->elements.count == 1
                               ? "'" + whole->name + "' is one number: leave out what follows it"
                               : "'" + whole->name + "' has the numbers 0 to " +
                                     std::to_string(whole->elements.count - 1));
    throw error.remedy(known.empty() ? "none of its elements has a name: give a number"
                                     : document::suggestion(name, known, "there are"));
}

void name_elements(Model& model, const std::string& path, ElementNames names) {
    model.shared<AllNames>().by_path.insert_or_assign(path, std::move(names));
}

const ElementNames* element_names(Model& model, const std::string& path) {
    const auto& all = model.shared<AllNames>().by_path;
    const auto found = all.find(path);
    return found == all.end() ? nullptr : &found->second;
}

bool is_by_name(const Node& value) {
    if (!value.is_object() || value.size() == 0) return false;
    if (value.size() > 1) return true;
    const std::string& key = value.key(0);
    const Node& item = value.item(0);
    const bool is_text = item.is_string() && !document::is_fraction(item.string());
    if (key == "file") return !is_text;
    if (key == "formula") {
        bool formulas = item.is_string();
        for (std::size_t k = 0; item.is_array() && k < item.size(); ++k)
            formulas = formulas || item.item(k).is_string();
        return !formulas;
    }
    if (key == "random" || key == "grid" || key == "box" || key == "mesh") return !item.is_object();
    return true;
}

document::Values evaluate(const Node& value, const document::ValueRequest& request,
                          const ElementNames* names) {
    if (names == nullptr || names->otherwise.empty() || !is_by_name(value))
        return document::evaluate(value, request);
    document::Values all;
    all.data = names->otherwise;
    all.count = names->count();
    all.components = request.components;
    all.written = value;
    std::vector<std::string> taken(static_cast<std::size_t>(names->count()));
    const std::string pointer = value.pointer(), owner = pointer.substr(pointer.rfind('/') + 1);
    for (std::size_t k = 0; k < value.size(); ++k) {
        const std::string& key = value.key(k);
        ElementRange range;
        try {
            range = names->at(owner, key);
        } catch (const Error& error) {
            throw document::fault_at_key(value, k, error.happened()).remedy(error.what_to_do());
        }
        for (std::int64_t e = range.first; e < range.first + range.count; ++e) {
            std::string& by = taken[static_cast<std::size_t>(e)];
            if (!by.empty())
                throw document::fault_at_key(
                    value, k,
                    document::shown(key) + " and " + document::shown(by) + " name the same number")
                    .remedy("remove one of them");
            by = key;
        }
        document::ValueRequest one = request;
        one.count = range.count;
        one.positions = {};
        one.grid = {};
        const std::vector<double> rows = document::evaluate(value.item(k), one).rows();
        std::ranges::copy(
            rows, all.data.begin() + static_cast<std::ptrdiff_t>(range.first * request.components));
    }
    return all;
}

}  // namespace hindcast::model
