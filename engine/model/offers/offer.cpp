#include "engine/model/offers/offer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.hpp"
#include "engine/document/read.hpp"

namespace hindcast::model {

using document::Node;

OfferNumber offer_length(const char* key, const char* label, double value, const char* help) {
    return {key, label, "m", help, value, 1e-3, 1e3, false};
}

OfferNumber offer_whole(const char* key, const char* label, double value, double low, double high) {
    return {key, label, "", "", value, low, high, true};
}

OfferNumber offer_number(const char* key, const char* label, const char* unit, double value,
                         const char* help) {
    return {key, label, unit, help, value, 1e-9, 1e12, false};
}

std::vector<double> Offer::values() const {
    std::vector<double> list;
    for (const OfferNumber& number : numbers) list.push_back(number.value);
    return list;
}

ChosenNumbers::ChosenNumbers(const Offer& offer, std::span<const double> values)
    : offer_(offer), values_(values) {
    if (values.size() != offer.numbers.size())
        throw Error(fmt::format("{} has {} numbers, not {}", offer.label, offer.numbers.size(),
                                values.size()));
    for (std::size_t k = 0; k < values.size(); ++k) {
        const OfferNumber& number = offer.numbers[k];
        if (!(values[k] >= number.low && values[k] <= number.high) ||
            (number.whole && values[k] != std::floor(values[k])))
            throw Error(fmt::format("{}: {} cannot be {}", offer.label, number.label, values[k]))
                .remedy(fmt::format("a {}number from {} to {}", number.whole ? "whole " : "",
                                    number.low, number.high));
    }
}

double ChosenNumbers::operator[](std::string_view key) const {
    for (std::size_t k = 0; k < values_.size(); ++k)
        if (offer_.numbers[k].key == key) return values_[k];
    if (key.ends_with("_y")) return 1;  // in the plane
    throw Error("internal: " + offer_.id + " has no number " + std::string(key));
}

std::int64_t ChosenNumbers::whole(std::string_view key) const {
    return static_cast<std::int64_t>((*this)[key]);
}

Node OfferSite::vector(double right, double back, double upwards) const {
    if (room.dimension == 2) return Node::array({tidy(right), tidy(upwards)});
    if (room.up == 1) return Node::array({tidy(right), tidy(upwards), tidy(back)});
    return Node::array({tidy(right), tidy(back), tidy(upwards)});
}

Node OfferSite::at(double right, double back, double upwards) const {
    const std::size_t depth = room.up == 1 ? 2 : 1;
    return vector(low[0] + right, low[depth] + back, low[room.up] + upwards);
}

void OfferSite::add(Section section, Node object) const {
    const std::string list = std::string("/") + name_of(section);
    if (document.find(list) == nullptr) document.set(list, Node::array());
    document.set(list + "/-", std::move(object));
}

Node tidy(double value) {
    const double scale = std::pow(10.0, 9 - std::ceil(std::log10(std::abs(value) + 1e-300)));
    const double rounded = value == 0 ? 0 : std::round(value * scale) / scale;
    const double at = std::abs(rounded) < 1e-12 ? 0 : rounded;
    return at == std::floor(at) && std::abs(at) < 1e6 ? Node(static_cast<std::int64_t>(at))
                                                      : Node(at);
}

double number_at(const Node& object, const char* key, double otherwise) {
    const Node* const node = object.find(key);
    return node != nullptr && document::is_number(*node) ? document::number_of(*node) : otherwise;
}

std::optional<std::vector<double>> numbers_in(const Node* node, std::size_t size, bool alike) {
    if (node == nullptr) return std::nullopt;
    if (alike && document::is_number(*node))
        return std::vector<double>(size, document::number_of(*node));
    if (!node->is_array() || node->size() != size) return std::nullopt;
    std::vector<double> list;
    for (std::size_t k = 0; k < size; ++k) {
        if (!document::is_number(node->item(k))) return std::nullopt;
        list.push_back(document::number_of(node->item(k)));
    }
    return list;
}

}  // namespace hindcast::model

namespace hindcast {

void Registry::offer(model::Offer offer) {
    for (const auto& other : offers_)
        if (other->id == offer.id) throw Error("two things are offered as '" + offer.id + "'");
    // A file says how large its thing is.
    if (!offer.count)
        offer.count = [](const model::ChosenNumbers&, int) { return model::OfferCount{-1, -1}; };
    if (!offer.size) offer.size = [](const model::ChosenNumbers&) { return model::Place{}; };
    const auto after = std::ranges::upper_bound(offers_, offer.rank, {},
                                                [](const auto& other) { return other->rank; });
    offers_.insert(after, std::make_shared<const model::Offer>(std::move(offer)));
}

}  // namespace hindcast
