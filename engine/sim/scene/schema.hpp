// The format of scenes, for people and for editors: the JSON schema (draft 2020-12) and the
// reference text. Both are derived from the field rows of the Registry, as the reader is, so that
// the three cannot drift apart. scenes/scene.schema.json is `hindcast info --schema`.
//
// Beyond the standard's keywords a field carries "unit" and, if it has a gradient,
// "differentiable": true. "means" says what a text or a number stands for: "body", "path",
// "formula", "file" (with "files", the endings that fit), "point" (of the body in "of"), "element"
// (of the array that "of" names), "object" (of the type that "of" names), "array", "column" (of the
// object's "file"), "color", "counts" and "cells" (along the axes of a grid). A schema cannot know the names of bodies, the number of elements or the
// scene's dimension: the reader checks those.
#pragma once

#include <string>

#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast {

document::Document scene_schema(const Registry& registry);

// One line per field: key, kind, unit, default, bounds, documentation.
std::string reference(const model::ModuleType& type);
// The whole list: one line per module type, by section.
std::string module_list(const Registry& registry);
// The same of kernels that anyone may launch: what they do, their options and parameters.
std::string reference(const model::PublishedKernel& kernel);
std::string kernel_list(const Registry& registry);

}  // namespace hindcast
