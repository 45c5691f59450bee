// Controllers of robots: courses over time, Fourier series, springs and dampers, neural networks.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_controllers(Registry& registry);

namespace controllers {

void register_spline(Registry& registry);
void register_sines(Registry& registry);
void register_pd(Registry& registry);
void register_network(Registry& registry);
void register_recorded(Registry& registry);

}  // namespace controllers
}  // namespace hindcast
