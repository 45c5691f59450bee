#include "app/exchange/places.hpp"

#include <algorithm>

namespace hindcast::render {

std::optional<Vec3> point_in(const Exchange& exchange, const Frame& frame, std::int64_t point) {
    const Stage& stage = exchange.stage();
    const auto channel = std::ranges::find(stage.channels, "position", &Channel::name);
    if (frame.slot < 0 || channel == stage.channels.end() || point < 0 ||
        point >= channel->elements)
        return std::nullopt;
    const auto number = static_cast<std::size_t>(channel - stage.channels.begin());
    const std::byte* const host = exchange.slot(frame.slot)[number].host;
    if (host == nullptr) return std::nullopt;
    const auto components = static_cast<std::size_t>(channel->components);
    const std::size_t first = static_cast<std::size_t>(point) * components;
    Vec3 place{};
    for (std::size_t c = 0; c < std::min<std::size_t>(components, 3); ++c)
        place[c] = stage.real == RealType::f64
                       ? reinterpret_cast<const double*>(host)[first + c]
                       : static_cast<double>(reinterpret_cast<const float*>(host)[first + c]);
    return place;
}

}  // namespace hindcast::render
