#include "engine/sim/scene/checkpoint_list.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "engine/document/read.hpp"
#include "engine/sim/scene/path.hpp"

namespace hindcast {

using document::Node;

void check_checkpoints(const Node& list) {
    document::array_of(list);
    std::map<std::string, const Node*> names;
    for (std::size_t k = 0; k < list.size(); ++k) {
        document::Reader reader(list.item(k), "a checkpoint");
        const std::string name = reader.string("name");
        const Node& at = *list.item(k).find("name");
        if (name.empty()) throw document::fault(at, "a checkpoint needs a name");
        const auto [other, fresh] = names.try_emplace(name, &at);
        if (!fresh)
            throw document::fault(at, "two checkpoints are called '" + name + "'")
                .note("the other stands at " + to_string(other->second->place()))
                .remedy("give one of them another name");
        if (reader.has("loss")) reader.number("loss");
        const Node& values = document::object_of(reader.require("values"));
        for (std::size_t v = 0; v < values.size(); ++v) {
            const Node& value = values.item(v);
            document::at_node(value, [&] { return Path::parse(values.key(v)); });
            if (value.is_object()) {
                document::Reader file(value, "a file of numbers");
                file.string("file");
                file.finish();
            } else if (!document::is_number(value) && !value.is_array()) {
                throw document::mismatch(value, "numbers of '" + values.key(v) + "'");
            }
        }
        reader.finish();
    }
}

const char* checkpoints_schema() {
    return R"json({"description": "values of the parameters that are kept under a name, to go back to", "type": "array", "items": {
  "type": "object", "required": ["name", "values"], "additionalProperties": false,
  "properties": {
    "name": {"description": "what --checkpoint and the window call it; unique among checkpoints", "type": "string", "pattern": "."},
    "loss": {"description": "that the values have; for people, nothing reads it", "$ref": "#/$defs/number"},
    "values": {"description": "by paths of parameters: numbers as the scene writes them; parameters that are not named keep the scene's", "type": "object", "additionalProperties": {"anyOf": [
      {"$ref": "#/$defs/number"},
      {"type": "array", "items": {"$ref": "#/$defs/number"}},
      {"type": "array", "items": {"type": "array", "items": {"$ref": "#/$defs/number"}}},
      {"type": "object", "required": ["file"], "additionalProperties": false, "properties": {
        "file": {"description": "an .npy file, relative to the scene, of shape (elements, components)", "type": "string", "means": "file", "files": [".npy"]}}}]}}}}})json";
}

const Node& checkpoint_named(const document::Document& scene, std::string_view name) {
    const Node* const list = scene.root().find("checkpoints");
    std::vector<std::string_view> known;
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) {
        const Node* const own = list->item(k).find("name");
        if (own == nullptr || !own->is_string()) continue;
        if (own->string() == name) return list->item(k);
        known.push_back(own->string());
    }
    Error error(fmt::format("the scene has no checkpoint '{}'", name));
    if (known.empty())
        throw error.remedy("keep one in the window (panel Optimizer), or write \"checkpoints\"");
    throw error.remedy(fmt::format("it has: {}", fmt::join(known, ", ")));
}

}  // namespace hindcast
