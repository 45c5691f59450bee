// Shapes that can be added to a scene: a cloth, a chain, a ball to fall on. A shape becomes objects
// of the document that load at once, at the place that is looked at.
//
//     const std::vector<Shape> offered = shapes(registry, scene_dimension);
//     ShapeWish wish{offered[k], offered[k].values(), {}, camera.target};
//     count_of(wish.shape, wish.numbers).points;                  // before it is made
//     Document with = with_shape(document, file, registry, wish, "cloth");
//
// The list is that of the modules' offers (engine/model/offers/offer.hpp). A shape whose modules are
// missing is not offered; shape_place.hpp finds its place.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/model/offers/offer.hpp"

namespace hindcast::session {

using Shape = model::Offer;
using ShapeNumber = model::OfferNumber;
using ShapeCount = model::OfferCount;

// Those that a scene of two or three dimensions can have with these modules, bodies first.
std::vector<Shape> shapes(const Registry& registry, int dimension);
// Throws Error if there is none of this id.
Shape shape_of(const Registry& registry, int dimension, const std::string& id);

// The size it will have; numbers as in Offer::numbers.
ShapeCount count_of(const Shape& shape, std::span<const double> numbers);
// "289 points, 512 triangles"; "" for what has neither.
std::string count_text(const ShapeCount& count);

struct ShapeWish {
    Shape shape;
    std::vector<double> numbers;         // as in shape.numbers
    std::filesystem::path file = {};     // where the shape needs one
    std::array<double, 3> look_at = {};  // m: what the view looks at
};

// The scene with the shape, whose main object has this new name. It stands on the ground (the
// highest plane that faces up) or, without one, around `look_at`, and in no other thing: bodies go
// above what is there, obstacles beside it. Elastic bodies and obstacles with a barrier make the
// steps implicit where everything else in the scene can be so, and give explicit steps as many
// substeps as they need. Throws Error with what prevents it; throws before the next try once
// `cancelled` is set.
document::Document with_shape(const document::Document& document, const std::filesystem::path& file,
                              const Registry& registry, const ShapeWish& wish,
                              const std::string& name,
                              const std::atomic<bool>* cancelled = nullptr);

}  // namespace hindcast::session
