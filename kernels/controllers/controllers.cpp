#include "kernels/controllers/controllers.hpp"

namespace hindcast {

void register_controllers(Registry& registry) {
    controllers::register_spline(registry);
    controllers::register_sines(registry);
    controllers::register_pd(registry);
    controllers::register_network(registry);
    controllers::register_recorded(registry);
}

}  // namespace hindcast
