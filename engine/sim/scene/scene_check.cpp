#include "engine/sim/scene/scene_check.hpp"

#include <set>
#include <string>
#include <vector>

#include "engine/document/read.hpp"
#include "engine/optim/settings.hpp"

namespace hindcast {

using document::Node;
using document::Range;
using document::Reader;

namespace {

void check_camera(Reader& camera) {
    std::vector<std::vector<double>> places;
    for (const char* const place : {"eye", "target"})
        if (camera.has(place)) places.push_back(camera.numbers(place, 3, Range::any("m")));
    if (places.size() == 2 && places[0] == places[1])
        throw document::fault(camera.node(), "the camera stands where it looks at")
            .remedy("move \"eye\" or \"target\"");
}

}  // namespace

void check_view(const Node& view) {
    Reader reader(view, "the scene's view");
    reader.string_or("color_by", "");
    if (reader.has("camera")) {
        Reader camera = reader.object("camera", "the camera");
        check_camera(camera);
        camera.finish();
    }
    if (reader.has("camera_path")) {
        const Node& path = reader.array("camera_path");
        for (std::size_t k = 0; k < path.size(); ++k) {
            Reader key(path.item(k), "a key of the camera path");
            key.number("time", Range::at_least(0, "s"));
            for (const char* const place : {"eye", "target"}) key.require(place);
            check_camera(key);
            if (key.has("up")) key.numbers("up", 3);
            key.number_or("field_of_view", 40, Range::between(1, 170, "degrees"));
            if (key.has("height")) key.number("height", Range::positive("m"));
            key.finish();
        }
    }
    reader.finish();
}

const char* view_schema() {
    return R"json({"description": "how the scene is looked at", "type": "object", "additionalProperties": false,
  "properties": {
    "camera": {"description": "where the camera stands first (m); default: where all is seen", "type": "object", "additionalProperties": false,
      "properties": {"eye": {"$ref": "#/$defs/place"}, "target": {"$ref": "#/$defs/place"}}},
    "color_by": {"description": "what is shown as colour, such as speed; default: each thing's own colour", "type": "string"},
    "camera_path": {"description": "where the camera stands at moments of simulated time; it moves smoothly between them", "type": "array", "items": {
      "type": "object", "required": ["time", "eye", "target"], "additionalProperties": false,
      "properties": {
        "time": {"description": "simulated (s)", "type": ["number", "string"], "minimum": 0},
        "eye": {"$ref": "#/$defs/place"}, "target": {"$ref": "#/$defs/place"}, "up": {"$ref": "#/$defs/place"},
        "field_of_view": {"description": "vertical (degrees)", "type": ["number", "string"], "minimum": 1, "maximum": 170, "default": 40},
        "height": {"description": "of what is seen, without perspective (m)", "$ref": "#/$defs/positive"}}}}}})json";
}

void check_optimizer(const Node& scene) {
    const Node* const optimizer = scene.find("optimizer");
    if (optimizer == nullptr) return;
    std::set<std::string> groups;
    const Node* const parameters = scene.find("parameters");
    for (std::size_t k = 0; parameters != nullptr && k < parameters->size(); ++k) {
        const Node& parameter = parameters->item(k);
        if (!parameter.is_object()) continue;  // refused where parameters are read
        const Node* group = parameter.find("group");
        if (group == nullptr) group = parameter.find("path");
        if (group != nullptr && group->is_string()) groups.insert(group->string());
    }
    const std::vector<std::string> known(groups.begin(), groups.end());
    optim::Settings::read(optimizer, known);
}

}  // namespace hindcast
