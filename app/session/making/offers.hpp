// Things that modules offer to add to a scene: a cloth, a chain, a ball to fall on. An offer becomes
// objects of the document that load at once, at the place that is looked at.
//
//     const std::vector<model::Offer> offered = offers(registry, scene_dimension);
//     ChosenOffer chosen{offered[k], offered[k].values(), {}, camera.target};
//     count_of(chosen.offer, chosen.numbers).points;                  // before it is made
//     Document with = with_offer(document, file, registry, chosen, "cloth");
//
// The list is that of the modules' offers (engine/model/offers/offer.hpp). An offer whose modules are
// missing is left out; room.hpp finds the place.
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

// The offers of these modules that fit a scene of two or three dimensions, bodies first.
std::vector<model::Offer> offers(const Registry& registry, int dimension);
// The offer of this id. Throws Error if there is none.
model::Offer offer_of(const Registry& registry, int dimension, const std::string& id);

// The size it will have; numbers as in Offer::numbers.
model::OfferCount count_of(const model::Offer& offer, std::span<const double> numbers);
// "289 points, 512 triangles"; "" for what has neither.
std::string count_text(const model::OfferCount& count);

// An offer with the answers to what it asks for.
struct ChosenOffer {
    model::Offer offer;
    std::vector<double> numbers;         // as in offer.numbers
    std::filesystem::path file = {};     // if the offer needs one
    std::array<double, 3> look_at = {};  // m: what the view looks at
};

// The scene with the offer, whose main object has this new name. It stands on the ground (the
// highest plane that faces up) or, without one, around `look_at`, and in no other thing: bodies go
// above what is there, obstacles beside it. Elastic bodies and obstacles with a barrier make the
// steps implicit where everything else in the scene can be so, and give explicit steps as many
// substeps as they need. Throws Error with what prevents it; throws before the next try once
// `canceled` is set.
document::Document with_offer(const document::Document& document, const std::filesystem::path& file,
                              const Registry& registry, const ChosenOffer& chosen,
                              const std::string& name, const std::atomic<bool>* canceled = nullptr);

}  // namespace hindcast::session
