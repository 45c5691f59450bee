#include "engine/runtime/minimization/energy/carried_points.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "engine/base/error.hpp"

namespace hindcast {

using namespace lang;

namespace {

const KernelDef& place_kernel() {
    static const KernelDef made =
        kernel("place_carried_points", {"number", "body", "place", "frame", "x"},
               [](Int i, Read<Int> number, Read<Int> body, Read<Vec3> place, Read<Float> frame,
                  WriteSlice<Vec3> x) {
                   const Int at = body[i] * frame_numbers;
                   const Vec3 s = place[i];
                   Vec3 p;
                   for (int r = 0; r < 3; ++r) {
                       const Int row = at + (3 + 3 * r);
                       p[r] = frame[at + r] + frame[row] * s[0] + frame[row + 1] * s[1] +
                              frame[row + 2] * s[2];
                   }
                   x.store_once(number[i], p);
               });
    return made;
}

const KernelDef& gather_kernel() {
    static const KernelDef made =
        kernel("gather_forces_of_carried_points", {"number", "body", "place", "g", "frame_force"},
               [](Int i, Read<Int> number, Read<Int> body, Read<Vec3> place, Read<Vec3> g,
                  Accumulate<Float> frame_force) {
                   const Int at = body[i] * frame_numbers;
                   const Vec3 s = place[i], f = g[number[i]];
                   for (int r = 0; r < 3; ++r) {
                       frame_force[at + r] += f[r];
                       for (int c = 0; c < 3; ++c) frame_force[at + (3 + 3 * r + c)] += f[r] * s[c];
                   }
               });
    return made;
}

Array numbers(const std::vector<std::int64_t>& list) {
    Array array(ir::Type::i32, {static_cast<std::int64_t>(list.size())});
    array.assign_integers(list);
    return array;
}

// A kernel of the carrier with its own arguments and those that it shares with the others.
LaunchDirections launch_of(const std::shared_ptr<Device>& device, const Carrier& carrier,
                           const KernelDef& kernel, std::vector<NamedArgument> own,
                           const char* what) {
    for (const NamedArgument& a : carrier.arguments)
        if (std::ranges::any_of(kernel.parameters(),
                                [&](const ir::Parameter& p) { return p.name == a.parameter; }))
            own.push_back(a);
    return {Launch(device, kernel, ir::Precision::f64, 1, own, carrier.name + ": " + what)};
}

// Clears an array and its derivatives of a forward direction.
void clear_outputs(const Array& array, Direction direction) {
    array.clear();
    if (direction == Direction::forward) return;
    array.tangent().clear();
    if (direction != Direction::tangent_tangent) return;
    array.second_tangent().clear();
    array.tangent().second_tangent().clear();
}

// Clears the gradients of an intermediate array before an adjoint adds to them.
void clear_gradients(const Array& array, Direction direction) {
    array.gradient().clear();
    if (direction == Direction::adjoint_tangent) array.gradient().tangent().clear();
}

}  // namespace

CarriedPoints::CarriedPoints(const std::shared_ptr<Device>& device, const Carrier& carrier,
                             const Array& x, const Array& g, int first)
    : name_(carrier.name),
      first_(first),
      y_(carrier.coordinates),
      force_(ir::Type::f64, y_.shape()),
      frame_(ir::Type::f64, {carrier.bodies * frame_numbers}),
      frame_force_(ir::Type::f64, frame_.shape()),
      value_at_(ir::Type::f64, {1}),
      frames_(launch_of(device, carrier, carrier.kernels.frames, {{"y", y_}, {"frame", frame_}},
                        "frames of bodies")),
      frame_forces_(launch_of(device, carrier, carrier.kernels.frame_force,
                              {{"y", y_}, {"frame_force", frame_force_}, {"gradient", force_}},
                              "forces on bodies")),
      gradient_(launch_of(device, carrier, carrier.kernels.gradient,
                          {{"y", y_}, {"gradient", force_}}, "gradient")),
      value_(launch_of(device, carrier, carrier.kernels.value,
                       {{"y", y_}, {"scale", 1.0}, {"value", value_at_}}, "value")),
      turned_y_(ir::Type::f64, y_.shape()),
      turned_frame_(ir::Type::f64, frame_.shape()),
      turned_force_(ir::Type::f64, y_.shape()),
      turned_frames_(launch_of(device, carrier, carrier.kernels.frames,
                               {{"y", turned_y_}, {"frame", turned_frame_}},
                               "derivative of frames")),
      turned_forces_(
          launch_of(device, carrier, carrier.kernels.frame_force,
                    {{"y", turned_y_}, {"frame_force", frame_force_}, {"gradient", turned_force_}},
                    "derivative of forces on bodies")),
      turned_gradient_(launch_of(device, carrier, carrier.kernels.gradient,
                                 {{"y", turned_y_}, {"gradient", turned_force_}},
                                 "derivative of the gradient")) {
    turned_frames_.launch.differentiate_only({"y", "frame"});
    turned_forces_.launch.differentiate_only({"y", "gradient"});
    turned_gradient_.launch.differentiate_only({"y", "gradient"});
    if (carrier.points.size() != carrier.point_bodies.size() ||
        static_cast<std::int64_t>(carrier.points.size()) != carrier.places.elements())
        throw Error("'" + carrier.name + "' carries " + std::to_string(carrier.points.size()) +
                    " points, but has " + std::to_string(carrier.point_bodies.size()) +
                    " bodies and " + std::to_string(carrier.places.elements()) + " places of them");
    std::vector<std::int64_t> ends, bodies;
    std::vector<double> places;
    for (const Carrier::Frame& frame : carrier.frames)
        for (std::int64_t k = 0; k < frame_points; ++k) {
            ends.push_back(frame.first + k);
            bodies.push_back(frame.body);
            for (std::int64_t c = 1; c < frame_points; ++c) places.push_back(c == k ? 1 : 0);
        }
    const auto check = [&](const std::vector<std::int64_t>& list,
                           const std::vector<std::int64_t>& of) {
        const auto fail = [&](const std::string& what, std::size_t k) {
            throw Error("'" + carrier.name + "' carries " + what + ", which is not there")
                .at_item(list[k]);
        };
        for (std::size_t k = 0; k < list.size(); ++k) {
            if (list[k] < 0 || list[k] >= x.elements()) fail("point " + std::to_string(list[k]), k);
            if (of[k] < 0 || of[k] >= carrier.bodies)
                fail("a point by body " + std::to_string(of[k]), k);
        }
    };
    check(carrier.points, carrier.point_bodies);
    check(ends, bodies);
    if (!carrier.points.empty())
        add(device, carrier.points, carrier.point_bodies, carrier.places, x, g);
    if (!ends.empty()) {
        const Array at(ir::Type::f64, {static_cast<std::int64_t>(ends.size()), 3});
        at.assign(places);
        add(device, ends, bodies, at, x, g);
    }
    const auto n = static_cast<std::size_t>(size());
    jacobians_.resize(points_.size() * 3 * n);
    curvature_.resize(n * n);
}

void CarriedPoints::add(const std::shared_ptr<Device>& device,
                        const std::vector<std::int64_t>& points,
                        const std::vector<std::int64_t>& bodies, const Array& places,
                        const Array& x, const Array& g) {
    const auto count = static_cast<std::int64_t>(points.size());
    std::vector<std::int64_t> own(points.size());
    std::iota(own.begin(), own.end(), 0);
    const Array turned_x(ir::Type::f64, {count, 3});
    const auto launch = [&](const KernelDef& kernel, const std::vector<std::int64_t>& list,
                            std::vector<NamedArgument> arguments, const char* what) {
        arguments.insert(arguments.end(),
                         {{"number", numbers(list)}, {"body", numbers(bodies)}, {"place", places}});
        return LaunchDirections{
            Launch(device, kernel, ir::Precision::f64, count, arguments, name_ + what)};
    };
    groups_.push_back(
        {points.size(),
         launch(place_kernel(), points, {{"frame", frame_}, {"x", x}}, ": carried points"),
         launch(gather_kernel(), points, {{"g", g}, {"frame_force", frame_force_}},
                ": forces on carried points"),
         launch(place_kernel(), own, {{"frame", turned_frame_}, {"x", turned_x}},
                ": derivative of carried points"),
         turned_x});
    groups_.back().turned_place.launch.differentiate_only({"frame", "x"});
    points_.insert(points_.end(), points.begin(), points.end());
}

void CarriedPoints::place(Direction direction) {
    if (!goes_back(direction)) {
        frames_.in(direction).run();
        for (Group& group : groups_) group.place.in(direction).run();
        return;
    }
    clear_gradients(frame_, direction);
    for (Group& group : groups_) group.place.in(direction).run();
    frames_.in(direction).run();
}

void CarriedPoints::collect(Direction direction) {
    if (!goes_back(direction)) {
        clear_outputs(frame_force_, direction);
        clear_outputs(force_, direction);
        for (Group& group : groups_) group.gather.in(direction).run();
        frame_forces_.in(direction).run();
        gradient_.in(direction).run();
        return;
    }
    clear_gradients(frame_force_, direction);
    gradient_.in(direction).run();
    frame_forces_.in(direction).run();
    for (Group& group : groups_) group.gather.in(direction).run();
}

double CarriedPoints::value() {
    value_at_.clear();
    value_.in().run();
    return value_at_.value(0);
}

void CarriedPoints::linearize() {
    const auto n = static_cast<std::size_t>(size());
    turned_y_.copy_from(y_);
    const Array dy = turned_y_.tangent(), df = turned_force_.tangent();
    for (std::size_t j = 0; j < n; ++j) {
        dy.clear();
        dy.set_value(static_cast<std::int64_t>(j), 0, 1.0);
        turned_frames_.in(Direction::tangent).run();
        std::size_t point = 0;
        for (Group& group : groups_) {
            group.turned_place.in(Direction::tangent).run();
            const std::vector<double> columns = group.turned_x.tangent().to_doubles();
            for (std::size_t k = 0; k < group.count; ++k, ++point)
                std::copy_n(columns.begin() + static_cast<std::ptrdiff_t>(3 * k), 3,
                            jacobians_.begin() + static_cast<std::ptrdiff_t>((point * n + j) * 3));
        }
        turned_force_.clear();
        df.clear();
        turned_forces_.in(Direction::tangent).run();
        turned_gradient_.in(Direction::tangent).run();
        std::ranges::copy(df.to_doubles(), curvature_.begin() + static_cast<std::ptrdiff_t>(j * n));
    }
    // Rounding leaves it unsymmetric.
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j)
            curvature_[i * n + j] = curvature_[j * n + i] =
                0.5 * (curvature_[i * n + j] + curvature_[j * n + i]);
}

void CarriedPoints::differentiate_only(const std::function<bool(const Array&)>& varies) {
    std::vector<LaunchDirections*> all{&frames_, &frame_forces_, &gradient_};
    for (Group& group : groups_) all.insert(all.end(), {&group.place, &group.gather});
    for (LaunchDirections* work : all) {
        std::vector<std::string> names;
        const ir::Kernel& kernel = work->launch.kernel();
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
            if (!ir::is_real(kernel.parameters[p].type)) continue;
            const Array& array = work->launch.arrays()[p];
            const bool own = array.same_memory(y_) || array.same_memory(force_) ||
                             array.same_memory(frame_) || array.same_memory(frame_force_);
            if (own || varies(array)) names.push_back(kernel.parameters[p].name);
        }
        work->launch.differentiate_only(names);
    }
}

}  // namespace hindcast
