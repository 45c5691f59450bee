#include "kernels/articulated/numbers/equal_frictions.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "engine/model/kinks.hpp"

namespace hindcast::articulated {

namespace {

constexpr const char* kinds[] = {"sliding", "torsional", "rolling"};

// The number of frictions that count in a contact of this dimension.
std::size_t numbers_of(int condim) {
    return condim >= 6 ? 3 : condim >= 4 ? 2 : condim >= 3 ? 1 : 0;
}

}  // namespace

void tell_equal_frictions(model::Model& model, const model::Quantity& friction,
                          std::shared_ptr<const robot::RobotModel> robot, PlanPointer plan) {
    const auto kinks = [&friction, of = std::move(robot), pairs = std::move(plan)] {
        std::vector<model::Kink> found;
        if (friction.shared) return found;  // one number for all: no geom's is changed alone
        std::set<std::size_t> told;
        for (std::size_t k = 0; k < pairs->collisions.pairs.size(); ++k) {
            const CollisionPair& pair = pairs->collisions.pairs[k];
            if (pair.predefined >= 0 || pair.slots == 0 || pairs->priorities[k] != 0) continue;
            for (std::size_t c = 0; c < numbers_of(pair.condim); ++c) {
                const std::size_t one = 3 * static_cast<std::size_t>(pair.geom1) + c,
                                  two = 3 * static_cast<std::size_t>(pair.geom2) + c;
                if (friction.values[one] != friction.values[two]) continue;
                for (const std::size_t entry : {one, two})
                    if (told.insert(entry).second)
                        found.push_back(
                            {friction.path, entry,
                             fmt::format(
                                 "{} and {} have the same {} friction {:g}, of which a contact "
                                 "takes the larger: a kink; write different numbers",
                                 of->describe(robot::ObjectKind::geom, pair.geom1),
                                 of->describe(robot::ObjectKind::geom, pair.geom2), kinds[c],
                                 friction.values[one])});
            }
        }
        return found;
    };
    model.shared<model::Kinks>().of_modules.emplace_back(kinks);
}

}  // namespace hindcast::articulated
