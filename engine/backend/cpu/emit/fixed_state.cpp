#include "engine/backend/cpu/emit/fixed_state.hpp"

namespace hindcast::backend::cpu {

int fixed_slots(int components) {
    int slots = 0;
    for (int g = 0; g < group_count(components); ++g) slots += padded(group_size(components, g));
    return slots;
}

int fixed_position(int lane, int width, int n, ir::Type type) {
    if (type == ir::Type::f64 || n == 1 || width < 4) return lane;
    if (n == 2) return lane % 4 / 2 * (width / 2) + lane / 4 * 2 + lane % 2;
    return lane % 4 * (width / 4) + lane / 4;
}

}  // namespace hindcast::backend::cpu
