#include "engine/sim/scene/scene_check.hpp"

#include <cmath>
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

// One end of a distance: a place, or what it goes along with.
void check_end(const Node& end) {
    if (end.is_array()) {
        document::numbers_of(end, 3, Range::any("m"));
        return;
    }
    Reader reader(end, "an end of a distance");
    reader.string("of");
    if (reader.has("point")) {
        reader.integer("point", 0);
    } else if (reader.has("points")) {
        const Node& points = reader.array("points", 1);
        for (std::size_t k = 0; k < points.size(); ++k) document::integer_of(points.item(k), 0);
        double sum = 0;
        for (const double weight : reader.numbers("weights", points.size())) sum += weight;
        if (!(std::abs(sum - 1) <= 1e-6))
            throw document::fault(reader.require("weights"), "the weights do not sum to 1")
                .remedy("scale them");
    } else if (reader.has("part")) {
        reader.integer("part", 0);
        reader.numbers("place", 3, Range::any("m"));
    } else {
        throw document::fault(end, "this end of a distance is nowhere")
            .remedy("add a \"point\", \"points\" with \"weights\", or a \"part\" with a \"place\"");
    }
    reader.finish();
}

// Checks the options for drawing: arrows, tubes and the like.
void check_looks(Reader& view) {
    view.string_or("arrows", "");
    view.integer_or("most_arrows", 400, 1);
    if (view.has("tubes")) {
        Reader tubes = view.object("tubes", "the thickness of tubes");
        const bool meters = tubes.has("radius"), pixels = tubes.has("pixels");
        if (meters == pixels)
            throw document::fault(tubes.node(), "tubes have one thickness")
                .remedy("write either \"radius\" (m) or \"pixels\"");
        tubes.number(meters ? "radius" : "pixels", Range::positive(meters ? "m" : "pixels"));
        tubes.finish();
    }
    if (view.has("slice")) {
        Reader slice = view.object("slice", "the slice");
        const std::vector<double> normal = slice.numbers("normal", 3);
        if (normal == std::vector<double>(3, 0.0))
            throw document::fault(slice.require("normal"), "the slice's normal has no direction")
                .remedy("write such as [1, 0, 0]");
        slice.number("offset", Range::any("m"));
        slice.finish();
    }
    if (view.has("heights")) view.number("heights", Range::positive("m per unit of the field"));
    if (view.has("distances")) {
        const Node& distances = view.array("distances");
        for (std::size_t k = 0; k < distances.size(); ++k) {
            Reader distance(distances.item(k), "a distance");
            for (const char* const end : {"from", "to"}) check_end(distance.require(end));
            distance.finish();
        }
    }
}

}  // namespace

void check_view(const Node& view) {
    Reader reader(view, "the scene's view");
    reader.string_or("color_by", "");
    if (const Node* const range = reader.find("color_range")) {
        if (range->is_array()) {
            const std::vector<double> ends = reader.numbers("color_range", 2);
            if (!(ends[0] < ends[1]))
                throw document::fault(*range, "the range of the colors is empty")
                    .remedy("write the smaller number first");
        } else {
            reader.choice("color_range", {"run", "frame"});
        }
    }
    reader.choice_or("color_scale", {"linear", "log"}, 0);
    const Node* const map = reader.find("color_map");
    if (map != nullptr && !(map->is_string() && map->string() == british_gray))
        reader.choice("color_map", color_map_names);
    check_looks(reader);
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
    "color_by": {"description": "what is shown as color, such as speed; default: each thing's own color", "type": "string", "means": "color"},
    "color_range": {"description": "the numbers that the first and the last color stand for: the least and the largest of the whole run (run), of each moment (frame), or two numbers, in the unit of what is shown", "default": "run", "anyOf": [
      {"enum": ["run", "frame"]}, {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["number", "string"]}}]},
    "color_scale": {"description": "colors by the numbers, or by their logarithm, down to a ten-thousandth of the largest", "enum": ["linear", "log"], "default": "linear"},
    "color_map": {"description": "default: viridis, and coolwarm, symmetric about 0 as purple_orange is, where the numbers have both signs; viridis, magma, cubehelix and gray get evenly lighter", "enum": ["viridis", "magma", "turbo", "coolwarm", "cubehelix", "gray", "purple_orange"]},
    "arrows": {"description": "what is shown as arrows, such as velocity; default: none", "type": "string", "means": "arrows"},
    "most_arrows": {"description": "where there are more arrows of a kind, so many of them, spread evenly over the bodies as they start", "type": "integer", "minimum": 1, "default": 400},
    "tubes": {"description": "how thick springs and chains are drawn; default: by how close the points start to each other", "anyOf": [
      {"title": "in meters", "type": "object", "required": ["radius"], "additionalProperties": false, "properties": {"radius": {"description": "m", "$ref": "#/$defs/positive"}}},
      {"title": "in pixels", "type": "object", "required": ["pixels"], "additionalProperties": false, "properties": {"pixels": {"description": "radius on the screen", "$ref": "#/$defs/positive"}}}]},
    "slice": {"description": "a plane in space: what is on the side that its normal points to is hidden, where normal . x > offset", "type": "object", "required": ["normal", "offset"], "additionalProperties": false,
      "properties": {"normal": {"$ref": "#/$defs/place"}, "offset": {"description": "m, along a normal of length 1", "type": ["number", "string"]}}},
    "heights": {"description": "fields of the plane are drawn as surfaces, so many m high for each unit of the field; default: as images", "$ref": "#/$defs/positive"},
    "distances": {"description": "distances that are shown and follow what they end at", "type": "array", "items": {
      "type": "object", "required": ["from", "to"], "additionalProperties": false,
      "properties": {"from": {"$ref": "#/$defs/distance_end"}, "to": {"$ref": "#/$defs/distance_end"}}}},
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
