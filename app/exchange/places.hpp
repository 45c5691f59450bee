// Where points are in a frame, read from the memory that solver and renderer share. For the reader of
// the exchange, while it holds the frame.
#pragma once

#include <cstdint>
#include <optional>

#include "app/exchange/transport.hpp"

namespace hindcast::render {

// The position of element `point` of the channel "position", m; z is 0 in the plane. None where
// there is no such point, and where the host cannot read its place: in memory `exported` to a device.
std::optional<Vec3> point_in(const Exchange& exchange, const Frame& frame, std::int64_t point);

}  // namespace hindcast::render
