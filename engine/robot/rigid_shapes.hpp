// Rigid bodies without a model's file: a list of simple shapes, each a body that moves freely or is
// fixed, as a model in MJCF.
//
//     "model": {"ground": 0, "shapes": [{"type": "box", "size": [0.2, 0.1, 0.1],
//                                        "position": [0, 0, 0.5]}]}
//
// Contact begins softly unless "solref" and "solimp" say otherwise, of all or of one shape: a ball
// that slides and then rolls ends where the closed form says, with its derivative.
#pragma once

#include <cstdint>
#include <string>

#include "engine/document/node.hpp"

namespace hindcast::robot {

enum class UpAxis : std::uint8_t { y, z };  // the floor lies across it

// The MJCF text of {"shapes": [...], "ground": m, "solref": [...], "solimp": [...]}. Each shape is a
// body, a free joint and a geom of its name, which is TYPE_NUMBER where it has none; "ground" is a geom
// of the world. Throws Error at the node for unknown keys, sizes or masses that are not positive,
// contacts that MuJoCo would change, and names that occur twice. `integrator`: MuJoCo's word.
std::string model_of_shapes(const document::Node& description, UpAxis up = UpAxis::z,
                            const std::string& integrator = "implicitfast");

// The JSON schema of such a description.
std::string schema_of_shapes();

// The list of shapes of a body of the scene whose model is such a description; null: it is not.
const document::Node* rigid_shapes_of(const document::Node& body);

}  // namespace hindcast::robot
