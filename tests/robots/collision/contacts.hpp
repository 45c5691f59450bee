// Contacts of a model's geoms: MuJoCo's, and those of our kernels at the same places of bodies.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/robot/layout/model_layout.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "kernels/articulated/collision/collision_pairs.hpp"
#include "kernels/articulated/collision/narrow_phase.hpp"
#include "tests/robots/oracle.hpp"
#include "tests/support/devices.hpp"

namespace hindcast::test {

struct FoundContact {
    int geom1 = 0, geom2 = 0, condim = 0;
    double dist = 0, margin = 0;
    std::array<double, 3> place{};
    std::array<double, 9> frame{};
};

// Where things lie in mjData and mjContact of the release that layout_version() names.
struct ContactLayout {
    static constexpr std::size_t ncon = 160560, contact = 161488, xpos = 160848, xquat = 160856;
    static constexpr std::size_t size = 608, place = 8, frame = 32, margin = 104, condim = 552,
                                 geom = 564;
};

// Of the oracle's state after forward(), in MuJoCo's order.
inline std::vector<FoundContact> contacts_of(const Oracle& oracle) {
    using L = ContactLayout;
    REQUIRE(robot::layout_version() == 4000001);
    int count = 0;
    const std::byte* all = nullptr;
    std::memcpy(&count, oracle.data() + L::ncon, sizeof count);
    std::memcpy(static_cast<void*>(&all), oracle.data() + L::contact, sizeof(void*));
    std::vector<FoundContact> list(static_cast<std::size_t>(count));
    for (FoundContact& c : list) {
        std::array<int, 2> geoms{};
        std::memcpy(&c.dist, all, sizeof c.dist);
        std::memcpy(c.place.data(), all + L::place, sizeof c.place);
        std::memcpy(c.frame.data(), all + L::frame, sizeof c.frame);
        std::memcpy(geoms.data(), all + L::geom, sizeof geoms);
        std::memcpy(&c.margin, all + L::margin, sizeof c.margin);
        std::memcpy(&c.condim, all + L::condim, sizeof c.condim);
        c.geom1 = geoms[0], c.geom2 = geoms[1];
        all += L::size;
    }
    return list;
}

// "xpos" or "xquat" of the bodies.
inline std::vector<double> places_of(const Oracle& oracle, const std::string& what) {
    const double* numbers = nullptr;
    const bool turned = what == "xquat";
    std::memcpy(static_cast<void*>(&numbers),
                oracle.data() + (turned ? ContactLayout::xquat : ContactLayout::xpos),
                sizeof(void*));
    return {numbers, numbers + oracle.model().size("nbody") * (turned ? 4 : 3)};
}

// Our kernels on the geoms of a model, with arrays of their own.
class OurContacts {
public:
    OurContacts(const robot::RobotModel& model, const std::shared_ptr<Device>& device,
                ir::Precision precision = ir::Precision::f64)
        : collisions_(articulated::collisions_of(model)), device_(device), precision_(precision) {
        using namespace articulated;
        const std::int64_t bodies = model.size("nbody"), geoms = model.size("ngeom"),
                           slots = collisions_.slots;
        add("xpos", bodies, 3), add("xquat", bodies, 4);
        for (const auto& [name, columns] :
             std::map<std::string, int>{{"geom_pos", 3}, {"geom_quat", 4}, {"geom_size", 3}})
            add(name, geoms, columns).assign(model.reals(name));
        add("geom_xpos", geoms, 3), add("geom_xmat", geoms, 9);
        add("slot_dist", slots, 1), add("slot_pos", slots, 3), add("slot_frame", slots, 9);
        add("slot_normal", slots, 3), add("slot_one", slots, 9), add("slot_two", slots, 9);
        std::vector<double> margins;
        for (const CollisionPair& pair : collisions_.pairs)
            margins.insert(margins.end(), static_cast<std::size_t>(pair.slots),
                           // also what touches but exactly
                           std::nextafter(pair.margin + pair.gap, 1e9));
        add("slot_margin", slots, 1).assign(margins);
        integers("geom_body", 1, to_doubles(model.integers("geom_bodyid")));
        integers("contact_slot", 1, std::vector<double>(static_cast<std::size_t>(slots)));
        integers("contact_count", 1, {0});
        for (const robot::ModelArray& array : collisions_.hulls) {
            const int columns = static_cast<int>(array.columns);
            if (array.is_real())
                add(array.name, array.rows, columns).assign(std::get<0>(array.values));
            else
                integers(array.name, columns, to_doubles(std::get<1>(array.values)));
        }
        launch(geom_places(), geoms);
        for (const CollisionGroup& group : collisions_.groups) {
            std::vector<double> geom_numbers, first, reach;
            for (const int k : group.pairs) {
                const CollisionPair& pair = collisions_.pairs[static_cast<std::size_t>(k)];
                geom_numbers.push_back(pair.geom1), geom_numbers.push_back(pair.geom2);
                first.push_back(pair.first_slot), reach.push_back(pair.margin + pair.gap);
            }
            integers("pair_geoms", 2, geom_numbers);
            integers("pair_slot", 1, first);
            add("pair_reach", static_cast<std::int64_t>(reach.size()), 1).assign(reach);
            if (is_searched(group.first, group.second)) {
                launch(search(group.first, group.second, group.slots),
                       static_cast<std::int64_t>(group.pairs.size()));
                launches_.back().differentiate_only({});
            }
            launch(narrow_phase(group.first, group.second, group.slots),
                   static_cast<std::int64_t>(group.pairs.size()));
        }
        launches_.push_back(
            make(gather(collisions_.slots, collisions_.slots, "too many; fewer"), 1));
    }

    const articulated::Collisions& collisions() const { return collisions_; }
    const Array& array(const std::string& name) const { return arrays_.at(name); }
    void set(const std::string& name, const std::vector<double>& values) {
        arrays_.at(name).assign(values);
    }
    void run() const {
        for (const Launch& l : launches_) l.forward().run();
    }
    // Seeds and results stand in the arrays' gradients.
    void run_adjoint() const {
        for (std::size_t k = launches_.size() - 1; k-- > 0;)
            if (launches_[k].has_derivative()) launches_[k].adjoint().run();
    }
    std::vector<double> numbers(const std::string& name) const {
        return arrays_.at(name).to_doubles();
    }

    std::vector<FoundContact> contacts() const {
        const std::vector<double> listed = numbers("contact_slot"), dist = numbers("slot_dist"),
                                  place = numbers("slot_pos"), frame = numbers("slot_frame");
        std::vector<FoundContact> list;
        for (std::size_t k = 0; k < static_cast<std::size_t>(numbers("contact_count")[0]); ++k) {
            const auto slot = static_cast<std::size_t>(listed[k]);
            const auto pair = std::ranges::find_if(collisions_.pairs, [&](const auto& p) {
                return static_cast<int>(slot) < p.first_slot + p.slots;
            });
            FoundContact c;
            c.geom1 = pair->geom1, c.geom2 = pair->geom2, c.condim = pair->condim;
            c.margin = pair->margin;
            c.dist = dist[slot];
            std::copy_n(&place[3 * slot], 3, c.place.begin());
            std::copy_n(&frame[9 * slot], 9, c.frame.begin());
            list.push_back(c);
        }
        return list;
    }

private:
    static std::vector<double> to_doubles(std::span<const std::int32_t> list) {
        return {list.begin(), list.end()};
    }
    ir::Type real() const {
        return precision_ == ir::Precision::f64 ? ir::Type::f64 : ir::Type::f32;
    }
    Array& add(const std::string& name, std::int64_t rows, int columns) {
        return arrays_[name] = Array(real(), {rows, columns});
    }
    void integers(const std::string& name, int columns, const std::vector<double>& values) {
        const auto rows = static_cast<std::int64_t>(values.size()) / columns;
        arrays_[name] = Array(ir::Type::i32, {rows, columns});
        arrays_[name].assign(values);
    }
    Launch make(const lang::KernelDef& kernel, std::int64_t items) const {
        std::vector<NamedArgument> arguments;
        for (const ir::Parameter& parameter : kernel.parameters())
            arguments.emplace_back(parameter.name, arrays_.at(parameter.name));
        return Launch(device_, kernel, precision_, items, arguments);
    }
    void launch(const lang::KernelDef& kernel, std::int64_t items) {
        launches_.push_back(make(kernel, items));
    }

    articulated::Collisions collisions_;
    std::shared_ptr<Device> device_;
    ir::Precision precision_;
    std::map<std::string, Array> arrays_;
    std::vector<Launch> launches_;
};

// Random places of bodies.
struct Pose {
    std::array<double, 3> place{};
    std::array<double, 4> turned{1, 0, 0, 0};
};

class RandomPoses {
public:
    explicit RandomPoses(std::uint64_t seed) : generator_(seed) {}
    double uniform(double low, double high) {
        return low + (high - low) * static_cast<double>(generator_() >> 11) * 0x1p-53;
    }
    Pose pose(double far) {
        Pose p;
        for (double& x : p.place) x = uniform(-far, far);
        double length = 0;
        for (double& x : p.turned) x = uniform(-1, 1), length += x * x;
        for (double& x : p.turned) x /= std::sqrt(length);
        return p;
    }
    // Turned by half turns about axes, or by a third about a diagonal, whose matrices are exact; and
    // by as much more.
    Pose aligned(double far, double more) {
        Pose p = pose(far);
        std::array<double, 4> q{};
        if (uniform(0, 1) < 0.5)
            q[static_cast<std::size_t>(uniform(0, 4))] = 1;
        else
            for (double& x : q) x = uniform(-1, 1) < 0 ? -0.5 : 0.5;
        if (more > 0)
            for (double& x : q) x += uniform(-more, more);
        p.turned = q;
        return p;
    }

private:
    std::mt19937_64 generator_;
};

inline std::vector<double> joined(const std::vector<Pose>& poses) {
    std::vector<double> all;
    for (const Pose& p : poses) {
        all.insert(all.end(), p.place.begin(), p.place.end());
        all.insert(all.end(), p.turned.begin(), p.turned.end());
    }
    return all;
}

// A height field; meshes of triangles and of polygons with many corners.
inline const char* const hull_assets = R"(<asset>
  <hfield name="hills" nrow="5" ncol="6" size="0.8 0.6 0.3 0.2" elevation="
    0.71 0.12 0.55 0.93 0.34 0.08 0.26 0.87 0.41 0.63 0.99 0.17 0.02 0.48 0.79 0.21 0.58
    0.36 0.91 0.67 0.05 0.44 0.73 0.52 0.3 0.84 0.15 0.96 0.61 0.23"/>
  <mesh name="stone" vertex="
    0.012 0.106 -0.176 0.066 0.129 0.096 0.174 -0.074 0.009 -0.132 -0.11 -0.043 0.064
    0.09 0.183 0.155 0.045 -0.139 0.049 -0.112 -0.155 0.111 -0.014 -0.207 0.05 -0.035
    -0.235 -0.165 -0.084 -0.005 -0.045 0.006 0.243 -0.138 -0.104 -0.054 0.113 -0.055
    0.185 -0.157 -0.093 -0.008 -0.15 -0.08 0.098 0.185 0.022 -0.088 0.189 0.042 -0.041
    0.16 -0.089 0.027 0.151 -0.002 -0.164 0.08 -0.092 -0.17 -0.117 0.112 -0.079 0.186
    0.046 -0.052 0.182 0.056 0.045 -0.168 0.006 0.136"/>
  <mesh name="prism" vertex="
    0.199 0.025 -0.1 0.153 0.161 -0.1 0.014 0.249 -0.1 -0.171 0.129 -0.1 -0.197 -0.039
    -0.1 -0.115 -0.205 -0.1 0.094 -0.221 -0.1 0.119 0.015 0.12 0.092 0.097 0.12 0.008
    0.15 0.12 -0.103 0.077 0.12 -0.118 -0.024 0.12 -0.069 -0.123 0.12 0.056 -0.133 0.12"/>
</asset>)";

// Two geoms on free bodies; a plane stands in the world.
struct TwoGeoms {
    std::string first, second;
    double reach = 0;  // of the middles, beyond which nothing touches

    bool has_ground() const { return first.starts_with("plane") || first.starts_with("hfield"); }
    std::string text(const std::string& attributes, bool askew) const {
        const std::string geom = "<geom " + attributes + " type=\"";
        return std::string("<mujoco>") + hull_assets + "<worldbody>" +
               (has_ground()
                    ? geom + first + " pos=\"0.1 -0.2 0.05\"" +
                          (askew ? " quat=\"0.9 0.1 -0.2 0.15\"/>" : "/>")
                    : "<body><freejoint/>" + geom + first + " pos=\"0.02 0.01 -0.03\"/></body>") +
               "<body><freejoint/>" + geom + second + " pos=\"-0.01 0.04 0.02\"" +
               (askew ? " quat=\"0.8 0.2 0.3 -0.4\"" : "") + "/></body></worldbody></mujoco>";
    }
};

// Of every combination of types whose contacts have closed forms.
inline const std::vector<TwoGeoms>& closed_forms() {
    static const std::vector<TwoGeoms> all = {
        {R"(plane" size="1 1 1")", R"(sphere" size="0.2")", 0.3},
        {R"(plane" size="1 1 1")", R"(capsule" size="0.1 0.25")", 0.8},
        {R"(plane" size="1 1 1")", R"(ellipsoid" size="0.1 0.25 0.17")", 0.3},
        {R"(plane" size="1 1 1")", R"(cylinder" size="0.12 0.25")", 0.4},
        {R"(plane" size="1 1 1")", R"(box" size="0.1 0.25 0.17")", 0.4},
        {R"(plane" size="1 1 1")", R"(mesh" mesh="stone")", 0.4},
        {R"(plane" size="1 1 1")", R"(mesh" mesh="prism")", 0.4},
        {R"(sphere" size="0.3")", R"(sphere" size="0.2")", 0.4},
        {R"(sphere" size="0.3")", R"(capsule" size="0.1 0.25")", 0.5},
        {R"(sphere" size="0.1")", R"(cylinder" size="0.3 0.25")", 0.4},
        {R"(sphere" size="0.1")", R"(box" size="0.2 0.25 0.3")", 0.4},
        {R"(capsule" size="0.1 0.2")", R"(capsule" size="0.15 0.25")", 0.5},
        {R"(capsule" size="0.1 0.2")", R"(box" size="0.2 0.25 0.3")", 0.6},
        {R"(capsule" size="0.03 0.4")", R"(box" size="0.2 0.15 0.1")", 0.4},
        {R"(box" size="0.15 0.2 0.25")", R"(box" size="0.2 0.25 0.3")", 0.5},
        {R"(box" size="0.15 0.2 0.25")", R"(box" size="0.02 0.35 0.3")", 0.4},
    };
    return all;
}

// Of general convex shapes.
inline const std::vector<TwoGeoms>& convex_shapes() {
    static const std::vector<TwoGeoms> all = {
        {R"(sphere" size="0.1")", R"(ellipsoid" size="0.1 0.25 0.17")", 0.3},
        {R"(sphere" size="0.1")", R"(mesh" mesh="stone")", 0.3},
        {R"(capsule" size="0.1 0.2")", R"(ellipsoid" size="0.1 0.25 0.17")", 0.4},
        {R"(capsule" size="0.1 0.2")", R"(cylinder" size="0.12 0.25")", 0.4},
        {R"(capsule" size="0.1 0.2")", R"(mesh" mesh="stone")", 0.4},
        {R"(ellipsoid" size="0.1 0.25 0.17")", R"(ellipsoid" size="0.2 0.15 0.1")", 0.3},
        {R"(ellipsoid" size="0.1 0.25 0.17")", R"(cylinder" size="0.12 0.25")", 0.3},
        {R"(ellipsoid" size="0.1 0.25 0.17")", R"(box" size="0.1 0.2 0.15")", 0.3},
        {R"(ellipsoid" size="0.1 0.25 0.17")", R"(mesh" mesh="prism")", 0.3},
        {R"(cylinder" size="0.12 0.25")", R"(cylinder" size="0.2 0.1")", 0.3},
        {R"(cylinder" size="0.12 0.25")", R"(box" size="0.1 0.2 0.15")", 0.3},
        {R"(cylinder" size="0.12 0.25")", R"(mesh" mesh="stone")", 0.3},
        {R"(box" size="0.1 0.2 0.15")", R"(mesh" mesh="stone")", 0.3},
        {R"(box" size="0.1 0.2 0.15")", R"(mesh" mesh="prism")", 0.3},
        {R"(mesh" mesh="stone")", R"(mesh" mesh="prism")", 0.3},
    };
    return all;
}

// Of a height field.
inline const std::vector<TwoGeoms>& height_fields() {
    static const std::vector<TwoGeoms> all = {
        {R"(hfield" hfield="hills")", R"(sphere" size="0.2")", 0.5},
        {R"(hfield" hfield="hills")", R"(capsule" size="0.1 0.25")", 0.5},
        {R"(hfield" hfield="hills")", R"(ellipsoid" size="0.15 0.2 0.1")", 0.5},
        {R"(hfield" hfield="hills")", R"(cylinder" size="0.15 0.2")", 0.5},
        {R"(hfield" hfield="hills")", R"(box" size="0.15 0.2 0.1")", 0.5},
        {R"(hfield" hfield="hills")", R"(mesh" mesh="prism")", 0.5},
    };
    return all;
}

// How far two lists of contacts are from each other, as sets; of what is unlike infinity.
struct ContactDifference {
    double dist = 0, place = 0, normal = 0, frame = 0;
};

inline double largest_difference(const double* a, const double* b, int count) {
    double largest = 0;
    for (int k = 0; k < count; ++k) largest = std::max(largest, std::fabs(a[k] - b[k]));
    return largest;
}

inline ContactDifference difference(const std::vector<FoundContact>& ours,
                                    const std::vector<FoundContact>& theirs) {
    constexpr double unlike = std::numeric_limits<double>::infinity();
    if (ours.size() != theirs.size()) return {unlike, unlike, unlike, unlike};
    ContactDifference most;
    std::vector<bool> taken(ours.size());
    for (const FoundContact& their : theirs) {
        std::size_t nearest = ours.size();
        double least = unlike;
        for (std::size_t k = 0; k < ours.size(); ++k) {
            if (taken[k] || ours[k].geom1 != their.geom1 || ours[k].geom2 != their.geom2) continue;
            const double way = largest_difference(ours[k].place.data(), their.place.data(), 3) +
                               std::fabs(ours[k].dist - their.dist);
            if (way < least) least = way, nearest = k;
        }
        if (nearest == ours.size()) return {unlike, unlike, unlike, unlike};
        taken[nearest] = true;
        const FoundContact& our = ours[nearest];
        most.dist = std::max(most.dist, std::fabs(our.dist - their.dist));
        most.place =
            std::max(most.place, largest_difference(our.place.data(), their.place.data(), 3));
        most.normal =
            std::max(most.normal, largest_difference(our.frame.data(), their.frame.data(), 3));
        most.frame =
            std::max(most.frame, largest_difference(our.frame.data(), their.frame.data(), 9));
    }
    return most;
}

}  // namespace hindcast::test
