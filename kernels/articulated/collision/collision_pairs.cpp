#include "kernels/articulated/collision/collision_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/base/error.hpp"
#include "engine/robot/model_reader.hpp"
#include "kernels/articulated/collision/height_field.hpp"
#include "kernels/articulated/collision/hull_arrays.hpp"
#include "kernels/articulated/collision/narrow_phase.hpp"

namespace hindcast::articulated {

using namespace robot;

namespace {

class Candidates : robot::ModelReader {
public:
    explicit Candidates(const RobotModel& model) : ModelReader(model), bodies_(count("nbody")) {
        const auto excluded = m_.integers("exclude_signature");
        excluded_.insert(excluded.begin(), excluded.end());
        for (int k = 0; k < count("npair"); ++k) {
            const int a = integer("pair_geom1", k), b = integer("pair_geom2", k);
            predefined_pairs_.insert(std::minmax(a, b));
        }
    }

    // By pairs of bodies, in order; the model's own <pair>s, which it keeps in that order too, come
    // first among those of the same bodies.
    std::vector<CollisionPair> run() {
        for (int a = 0; a < bodies_; ++a)
            for (int b = a + 1; b < bodies_; ++b) {
                if (!has_geoms(a) || !has_geoms(b)) continue;
                predefined_up_to(signature(a, b));
                if (may_meet(a, b)) geoms_of(a, b);
            }
        predefined_up_to(signature(bodies_, bodies_));
        return std::move(found_);
    }

private:
    static int signature(int low, int high) { return (low << 16) + high; }
    GeomType type(int geom) const { return enum_at<GeomType>(m_.integers("geom_type"), geom); }
    bool is_ground(int geom) const {
        return type(geom) == GeomType::plane || type(geom) == GeomType::hfield;
    }
    bool has_geoms(int body) const { return integer("body_geomnum", body) > 0; }

    // Bodies that are rigidly joined are one; a parent does not meet its child.
    bool may_meet(int a, int b) const {
        const int one = integer("body_weldid", a), two = integer("body_weldid", b);
        if (one == two || excluded_.contains(signature(a, b))) return false;
        if (integer("body_dofnum", one) == 0 && integer("body_dofnum", two) == 0) return false;
        const auto over = [&](int weld) {
            return integer("body_weldid", integer("body_parentid", weld));
        };
        return m_.options().disabled(DisableFlag::filterparent) || one == 0 || two == 0 ||
               (over(one) != two && over(two) != one);
    }
    bool may_meet_by_bits(int a, int b) const {
        return (integer("geom_contype", a) & integer("geom_conaffinity", b)) != 0 ||
               (integer("geom_contype", b) & integer("geom_conaffinity", a)) != 0;
    }

    void geoms_of(int a, int b) {
        const auto first = [&](int body) { return integer("body_geomadr", body); };
        const auto end = [&](int body) { return first(body) + integer("body_geomnum", body); };
        for (int g = first(a); g < end(a); ++g)
            for (int h = first(b); h < end(b); ++h)
                if (may_meet_by_bits(g, h) && !predefined_pairs_.contains(std::minmax(g, h)))
                    add(g, h);
    }
    void predefined_up_to(int last) {
        for (; next_ < count("npair") && integer("pair_signature", next_) <= last; ++next_) {
            if (!add(integer("pair_geom1", next_), integer("pair_geom2", next_))) continue;
            CollisionPair& pair = found_.back();
            pair.predefined = next_;
            pair.condim = integer("pair_dim", next_);
            pair.margin = real("pair_margin", next_);
            pair.gap = real("pair_gap", next_);
        }
    }
    bool add(int a, int b) {
        if (is_ground(a) && is_ground(b)) return false;
        if (type(a) > type(b)) std::swap(a, b);
        CollisionPair pair{a, b, integer("geom_bodyid", a), integer("geom_bodyid", b)};
        const int rank_a = integer("geom_priority", a), rank_b = integer("geom_priority", b);
        const int dim_a = integer("geom_condim", a), dim_b = integer("geom_condim", b);
        pair.condim = rank_a == rank_b ? std::max(dim_a, dim_b) : rank_a > rank_b ? dim_a : dim_b;
        pair.margin = real("geom_margin", a) + real("geom_margin", b);
        pair.gap = real("geom_gap", a) + real("geom_gap", b);
        pair.slots = slots_of(type(a), type(b));
        if (m_.options().disabled(DisableFlag::multiccd) && is_searched(type(a), type(b)) &&
            type(a) != GeomType::hfield)
            pair.slots = 1;
        found_.push_back(pair);
        return true;
    }

    int bodies_;
    std::set<int> excluded_;
    std::set<std::pair<int, int>> predefined_pairs_;
    int next_ = 0;  // <pair>
    std::vector<CollisionPair> found_;
};

}  // namespace

std::vector<CollisionPair> candidate_pairs(const RobotModel& model) {
    return Candidates(model).run();
}

bool Collisions::searches() const {
    return std::ranges::any_of(groups, [](const CollisionGroup& g) { return g.searched; });
}

std::vector<CollisionGroup> grouped(const robot::RobotModel& model,
                                    std::vector<CollisionPair>& pairs, bool searched) {
    std::map<std::pair<GeomType, GeomType>, std::vector<int>> groups;
    const auto types = model.integers("geom_type");
    int slots = 0;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        CollisionPair& pair = pairs[k];
        pair.first_slot = slots;
        slots += pair.slots;
        groups[{enum_at<GeomType>(types, pair.geom1), enum_at<GeomType>(types, pair.geom2)}]
            .push_back(static_cast<int>(k));
    }
    std::vector<CollisionGroup> all;
    for (auto& [two, own] : groups) {
        const bool boxes = two.first == GeomType::box && two.second == GeomType::box;
        const int each = pairs[static_cast<std::size_t>(own[0])].slots;
        all.push_back({two.first, two.second, own, each,
                       is_searched(two.first, two.second) || (searched && boxes)});
    }
    return all;
}

Collisions collisions_of(const RobotModel& model) {
    Collisions all;
    all.pairs = candidate_pairs(model);
    for (const CollisionPair& pair : all.pairs) {
        if (pair.slots == 0)
            throw Error(
                fmt::format("{} and {} may touch; contacts of these types are not simulated "
                            "yet",
                            model.describe(ObjectKind::geom, pair.geom1),
                            model.describe(ObjectKind::geom, pair.geom2)))
                .remedy(
                    "write contype=\"0\" and conaffinity=\"0\" in one of them, or give it "
                    "another type");
        all.slots += pair.slots;
    }
    all.hulls = hull_arrays(model);
    for (robot::ModelArray& array : field_arrays(model)) all.hulls.push_back(std::move(array));
    all.groups = grouped(model, all.pairs);
    return all;
}

}  // namespace hindcast::articulated
