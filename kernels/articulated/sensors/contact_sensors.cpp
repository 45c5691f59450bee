#include "kernels/articulated/sensors/contact_sensors.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "engine/ad/grad.hpp"
#include "engine/robot/model_reader.hpp"

namespace hindcast::articulated {

using robot::ObjectType;

namespace {

// All that may be told of a contact.
constexpr int numbers = 23;
constexpr int corners = 8;  // of a box; what places in an order are apart
constexpr std::array<int, 9> lengths = {1, 3, 3, 1, 3, 3, 3, 3, 3};
using Told = std::array<Float, numbers>;

void say(const Sensor& s, const Told& all, std::vector<Float>& told) {
    int first = 0;
    for (std::size_t bit = 0; bit < lengths.size(); ++bit) {
        for (int k = first; k < first + lengths[bit] && (s.data & (1U << bit)) != 0; ++k)
            told.push_back(all[at(k)]);
        first += lengths[bit];
    }
}

Float size_of(const Six& wrench) {
    const Float square = wrench[0] * wrench[0] + wrench[1] * wrench[1] + wrench[2] * wrench[2];
    return select(square > 1e-300, safe_sqrt(square, 1e-300), Float(0));
}

}  // namespace

Vec3 in_world(const Mat3& frame, const Six& local, int first) {
    Vec3 sum;
    for (int j = 0; j < 3; ++j)
        sum = sum + Vec3(frame(j, 0), frame(j, 1), frame(j, 2)) * local[first + j];
    return sum;
}

ContactSensors::Match ContactSensors::match(const Sensor& s, const Int& slot) const {
    const Vec<Int, 7> pair = from_.contacts.pair_numbers[from_.contacts.slot_pair[slot]];
    const auto is_of = [&](const ContactSide& side, int which) {
        if (side.type == ObjectType::geom) return pair[2 + which] == side.number;
        Bool is = side.any();
        for (const int b : side.bodies) is = is || pair[which] == b;
        return is;
    };
    const Bool straight = is_of(s.sides[0], 0) && is_of(s.sides[1], 1),
               turned = is_of(s.sides[0], 1) && is_of(s.sides[1], 0);
    Bool is = straight || turned;
    if (s.sides[0].type == ObjectType::site)
        is = is && frames_.holds(s, frames_.now(s.frame), from_.contacts.slot_pos[slot]);
    return {pair, select(straight, Float(1), Float(-1)), is};
}

std::vector<std::int64_t> pair_order(const robot::RobotModel& model) {
    using robot::GeomType;
    const std::vector<CollisionPair> pairs = candidate_pairs(model);
    const auto types = model.integers("geom_type");
    const bool sorted = !model.options().disabled(robot::DisableFlag::midphase);
    std::vector<std::int64_t> all;
    int slots = 0;
    for (const CollisionPair& pair : pairs) {
        const bool is_box_on_plane =
            robot::enum_at<GeomType>(types, pair.geom1) == GeomType::plane &&
            robot::enum_at<GeomType>(types, pair.geom2) == GeomType::box;
        all.insert(all.end(), {0, slots, is_box_on_plane ? 1 : 0});
        slots += pair.slots;
    }
    std::vector<int> places(pairs.size());
    std::iota(places.begin(), places.end(), 0);
    std::ranges::stable_sort(places, {}, [&](int k) {
        const CollisionPair& pair = pairs[at(k)];
        const auto bodies = std::minmax(pair.body1, pair.body2);
        const bool by_geoms = sorted && pair.predefined < 0;
        return std::tuple(bodies.first, bodies.second, pair.predefined < 0 ? 1 : 0,
                          by_geoms ? pair.geom1 : 0, by_geoms ? pair.geom2 : 0);
    });
    int begin = 0;
    for (const int k : places) {
        all[3 * at(k)] = begin;
        begin += corners * pairs[at(k)].slots;
    }
    return all;
}

Int ContactSensors::order(const Match& m, const Int& slot) const {
    // As round_shapes.cpp has them: of two opposite corners the lower one.
    const Int3 own = from_.contacts.pair_order[from_.contacts.slot_pair[slot]];
    const Int number = slot - own.y();
    const Vec3 size = from_.model.geom_size[m.pair[3]];
    const Mat3 frame = from_.contacts.slot_frame[slot], axes = from_.geometry.geom_xmat[m.pair[3]];
    const Vec3 corner(select(number % 2 == 1, size[0], -size[0]),
                      select(number / 2 == 1, size[1], -size[1]), -size[2]);
    const Bool turned = dot(Vec3(frame(0, 0), frame(0, 1), frame(0, 2)), axes * corner) > 0.0;
    return own.x() + select(own.z() == 1, select(turned, 7 - number, number), corners * number);
}

Motion ContactSensors::motion_of(const Int& body, const Vec3& place) const {
    std::set<int> bodies;
    for (const CollisionPair& pair : p_.collisions.pairs) bodies.insert({pair.body1, pair.body2});
    Motion sum;
    for (const int b : bodies) {
        if (!t_.moves(b)) continue;
        const Bool is = body == b;
        sum.angular = select(is, Motion(from_.cvel[b]).angular, sum.angular);
        sum.linear = select(is, frames_.velocity_of(b, place), sum.linear);
    }
    return sum;
}

std::vector<Float> ContactSensors::told(const Sensor& s) const {
    if (p_.contacts == 0) return std::vector<Float>(at(s.count));
    return s.reduce == Sensor::net_force ? net(s) : chosen(s);
}

// The best ones are found first, without derivatives; of equal ones the first.
std::vector<Float> ContactSensors::chosen(const Sensor& s) const {
    std::vector<Float> values(at(s.contacts));
    std::vector<Int> best(at(s.contacts)), places(at(s.contacts));
    for (Float& value : values) value = -1e300;
    for (Int& contact : best) contact = -1;
    for (Int& place : places) place = 0;
    Float found = 0;
    for_(
        0, from_.contacts.contact_count[0],
        [&](Int contact) {
            const Int slot = from_.contacts.contact_slot[contact];
            const Match m = match(s, slot);
            found += select(m.is, Float(1), Float(0));
            Float value = 0;
            if (s.reduce == Sensor::most_force)
                value = ad::stop_gradient(size_of(from_.contacts.contact_wrench[contact]));
            if (s.reduce == Sensor::least_distance)
                value = -ad::stop_gradient(from_.contacts.slot_dist[slot]);
            Int number = contact, place = order(m, slot);
            Bool moves = false;  // those that come after this one
            for (std::size_t k = 0; k < best.size(); ++k) {
                moves = moves ||
                        (m.is && (value > values[k] || (value == values[k] && place < places[k])));
                const Float last_value = values[k];
                const Int last = best[k], last_place = places[k];
                values[k] = select(moves, value, last_value);
                best[k] = select(moves, number, last);
                places[k] = select(moves, place, last_place);
                place = select(moves, last_place, place);
                value = select(moves, last_value, value);
                number = select(moves, last, number);
            }
        },
        p_.contacts);
    std::vector<Float> told;
    for (const Int& number : best) {
        const Bool is = number >= 0;
        const Int contact = max(number, Int(0));
        const Int slot = max(Int(from_.contacts.contact_slot[contact]), Int(0));
        const Match m = match(s, slot);
        const Vec<Int, 7>& pair = m.pair;
        const Float& sign = m.sign;
        const Mat3 frame = from_.contacts.slot_frame[slot];
        const Vec3 place = from_.contacts.slot_pos[slot];
        Told all;
        all[0] = found;
        if (s.needs_forces) {
            const Six local = from_.contacts.contact_wrench[contact];
            // With exchanged sides, normal and first tangent of the frame change their sign.
            for (int k = 0; k < 6; ++k) all[at(1 + k)] = local[k] * (k % 3 == 2 ? sign : Float(1));
        }
        all[7] = from_.contacts.slot_dist[slot];
        for (int k = 0; k < 3; ++k) {
            all[at(8 + k)] = place[k];
            all[at(11 + k)] = frame(0, k) * sign;
            all[at(14 + k)] = frame(1, k) * sign;
        }
        if ((s.data & (128U | 256U)) != 0) {
            const Motion one = motion_of(pair[0], place), two = motion_of(pair[1], place);
            const Vec3 moving = frame * (two.linear - one.linear),
                       turning = frame * (two.angular - one.angular);
            for (int k = 0; k < 3; ++k) {
                const Float way = k == 2 ? sign : Float(1);
                all[at(17 + k)] = moving[k] * way;
                all[at(20 + k)] = turning[k] * way;
            }
        }
        for (Float& value : all) value = select(is, value, Float(0));
        say(s, all, told);
    }
    return told;
}

// The net force and its mean place, in the world's axes.
std::vector<Float> ContactSensors::net(const Sensor& s) const {
    Float found = 0, weight = 0;
    std::array<Float, 9> sums;  // force, moment about the origin, place times force
    for (Float& sum : sums) sum = 0;
    for_(
        0, from_.contacts.contact_count[0],
        [&](Int contact) {
            const Int slot = from_.contacts.contact_slot[contact];
            const Match m = match(s, slot);
            const Float counts = select(m.is, Float(1), Float(0));
            found += counts;
            const Mat3 frame = from_.contacts.slot_frame[slot];
            const Six local = from_.contacts.contact_wrench[contact];
            const Vec3 place = from_.contacts.slot_pos[slot];
            const Float way = counts * m.sign, share = counts * size_of(local);
            const Vec3 force = in_world(frame, local, 0) * way;
            const Vec3 moment = in_world(frame, local, 3) * way + cross(place, force);
            weight += share;
            for (int k = 0; k < 3; ++k) {
                sums[at(k)] += force[k];
                sums[at(3 + k)] += moment[k];
                sums[at(6 + k)] += share * place[k];
            }
        },
        p_.contacts);
    const Float all = select(weight > 0.0, weight, Float(1));
    const Vec3 place = Vec3(sums[6], sums[7], sums[8]) / all, force(sums[0], sums[1], sums[2]);
    const Vec3 moment = Vec3(sums[3], sums[4], sums[5]) - cross(place, force);
    Told numbers_told;
    numbers_told[0] = found;
    for (int k = 0; k < 3; ++k) {
        numbers_told[at(1 + k)] = force[k];
        numbers_told[at(4 + k)] = moment[k];
        numbers_told[at(8 + k)] = place[k];
    }
    numbers_told[11] = numbers_told[15] = select(found > 0.0, Float(1), Float(0));
    std::vector<Float> told;
    say(s, numbers_told, told);
    return told;
}

}  // namespace hindcast::articulated
