#include "engine/runtime/minimization/energy/carried_points.hpp"

#include <algorithm>
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

// The shared arguments that a kernel has a parameter for, and its own.
std::vector<NamedArgument> arguments_of(const KernelDef& kernel, const Carrier& carrier,
                                        std::vector<NamedArgument> own) {
    for (const NamedArgument& a : carrier.arguments)
        if (std::ranges::any_of(kernel.parameters(),
                                [&](const ir::Parameter& p) { return p.name == a.parameter; }))
            own.push_back(a);
    return own;
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
      points_(carrier.points),
      y_(carrier.coordinates),
      force_(ir::Type::f64, y_.shape()),
      frame_(ir::Type::f64, {carrier.bodies * frame_numbers}),
      frame_force_(ir::Type::f64, frame_.shape()),
      value_at_(ir::Type::f64, {1}),
      frames_([&] {
          const auto fail = [&](const std::string& what, std::size_t k) {
              throw Error("'" + carrier.name + "' carries " + what).at_item(carrier.points[k]);
          };
          if (carrier.points.size() != carrier.point_bodies.size() ||
              static_cast<std::int64_t>(carrier.points.size()) != carrier.places.elements())
              throw Error("'" + carrier.name + "' carries " +
                          std::to_string(carrier.points.size()) + " points, but has " +
                          std::to_string(carrier.point_bodies.size()) + " bodies and " +
                          std::to_string(carrier.places.elements()) + " places of them");
          for (std::size_t k = 0; k < carrier.points.size(); ++k) {
              if (carrier.points[k] < 0 || carrier.points[k] >= x.elements())
                  fail("point " + std::to_string(carrier.points[k]) + ", which is not there", k);
              if (carrier.point_bodies[k] < 0 || carrier.point_bodies[k] >= carrier.bodies)
                  fail("a point by body " + std::to_string(carrier.point_bodies[k]) +
                           ", which is not there",
                       k);
          }
          const KernelDef& kernel = carrier.kernels.frames;
          return LaunchDirections{
              Launch(device, kernel, ir::Precision::f64, 1,
                     arguments_of(kernel, carrier, {{"y", y_}, {"frame", frame_}}),
                     name_ + ": frames of bodies")};
      }()),
      frame_forces_{
          Launch(device, carrier.kernels.frame_force, ir::Precision::f64, 1,
                 arguments_of(carrier.kernels.frame_force, carrier,
                              {{"y", y_}, {"frame_force", frame_force_}, {"gradient", force_}}),
                 name_ + ": forces on bodies")},
      gradient_{
          Launch(device, carrier.kernels.gradient, ir::Precision::f64, 1,
                 arguments_of(carrier.kernels.gradient, carrier, {{"y", y_}, {"gradient", force_}}),
                 name_ + ": gradient")},
      value_{Launch(device, carrier.kernels.value, ir::Precision::f64, 1,
                    arguments_of(carrier.kernels.value, carrier,
                                 {{"y", y_}, {"scale", 1.0}, {"value", value_at_}}),
                    name_ + ": value")},
      place_{Launch(device, place_kernel(), ir::Precision::f64, carrier.places.elements(),
                    std::vector<NamedArgument>{{"number", numbers(carrier.points)},
                                               {"body", numbers(carrier.point_bodies)},
                                               {"place", carrier.places},
                                               {"frame", frame_},
                                               {"x", x}},
                    name_ + ": carried points")},
      gather_{Launch(device, gather_kernel(), ir::Precision::f64, carrier.places.elements(),
                     std::vector<NamedArgument>{{"number", numbers(carrier.points)},
                                                {"body", numbers(carrier.point_bodies)},
                                                {"place", carrier.places},
                                                {"g", g},
                                                {"frame_force", frame_force_}},
                     name_ + ": forces on carried points")},
      turned_y_(ir::Type::f64, y_.shape()),
      turned_frame_(ir::Type::f64, frame_.shape()),
      turned_x_(ir::Type::f64, {carrier.places.elements(), 3}),
      turned_force_(ir::Type::f64, y_.shape()),
      turned_frames_{Launch(device, carrier.kernels.frames, ir::Precision::f64, 1,
                            arguments_of(carrier.kernels.frames, carrier,
                                         {{"y", turned_y_}, {"frame", turned_frame_}}),
                            name_ + ": derivative of frames")},
      turned_place_{
          Launch(device, place_kernel(), ir::Precision::f64, carrier.places.elements(),
                 std::vector<NamedArgument>{{"number",
                                             [&] {
                                                 std::vector<std::int64_t> own(points_.size());
                                                 for (std::size_t k = 0; k < own.size(); ++k)
                                                     own[k] = static_cast<std::int64_t>(k);
                                                 return numbers(own);
                                             }()},
                                            {"body", numbers(carrier.point_bodies)},
                                            {"place", carrier.places},
                                            {"frame", turned_frame_},
                                            {"x", turned_x_}},
                 name_ + ": derivative of carried points")},
      turned_forces_{Launch(
          device, carrier.kernels.frame_force, ir::Precision::f64, 1,
          arguments_of(
              carrier.kernels.frame_force, carrier,
              {{"y", turned_y_}, {"frame_force", frame_force_}, {"gradient", turned_force_}}),
          name_ + ": derivative of forces on bodies")},
      turned_gradient_{Launch(device, carrier.kernels.gradient, ir::Precision::f64, 1,
                              arguments_of(carrier.kernels.gradient, carrier,
                                           {{"y", turned_y_}, {"gradient", turned_force_}}),
                              name_ + ": derivative of the gradient")} {
    turned_frames_.launch.differentiate_only({"y", "frame"});
    turned_place_.launch.differentiate_only({"frame", "x"});
    turned_forces_.launch.differentiate_only({"y", "gradient"});
    turned_gradient_.launch.differentiate_only({"y", "gradient"});
    const auto n = static_cast<std::size_t>(size());
    jacobians_.resize(points_.size() * 3 * n);
    curvature_.resize(n * n);
}

void CarriedPoints::place(Direction direction) {
    if (!goes_back(direction)) {
        frames_.in(direction).run();
        place_.in(direction).run();
        return;
    }
    clear_gradients(frame_, direction);
    place_.in(direction).run();
    frames_.in(direction).run();
}

void CarriedPoints::collect(Direction direction) {
    if (!goes_back(direction)) {
        clear_outputs(frame_force_, direction);
        clear_outputs(force_, direction);
        gather_.in(direction).run();
        frame_forces_.in(direction).run();
        gradient_.in(direction).run();
        return;
    }
    clear_gradients(frame_force_, direction);
    gradient_.in(direction).run();
    frame_forces_.in(direction).run();
    gather_.in(direction).run();
}

double CarriedPoints::value() {
    value_at_.clear();
    value_.in().run();
    return value_at_.value(0);
}

void CarriedPoints::linearize() {
    const auto n = static_cast<std::size_t>(size());
    turned_y_.copy_from(y_);
    const Array dy = turned_y_.tangent(), dx = turned_x_.tangent(), df = turned_force_.tangent();
    for (std::size_t j = 0; j < n; ++j) {
        dy.clear();
        dy.set_value(static_cast<std::int64_t>(j), 0, 1.0);
        turned_frames_.in(Direction::tangent).run();
        turned_place_.in(Direction::tangent).run();
        const std::vector<double> columns = dx.to_doubles();
        for (std::size_t k = 0; k < points_.size(); ++k)
            std::copy_n(columns.begin() + static_cast<std::ptrdiff_t>(3 * k), 3,
                        jacobians_.begin() + static_cast<std::ptrdiff_t>((k * n + j) * 3));
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
    for (LaunchDirections* work : {&frames_, &frame_forces_, &gradient_, &place_, &gather_}) {
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
