// The force f(t) on each of some points, with t the time at the beginning of a substep, from rows
// over time (kernels/controllers/course.hpp). In an implicit step f is constant, and its energy is
// -f.x.
//
// One item finds f and stores it in the array NAME.applied, from which all points take it: so the
// gradient by a row is a sum over fixed indices, and objectives can weigh the force itself.
#include "kernels/push/push.hpp"

#include "engine/document/read.hpp"
#include "engine/model/built_by.hpp"
#include "engine/model/shown.hpp"
#include "engine/runtime/minimization/energy/energy.hpp"
#include "kernels/controllers/course.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using namespace lang;
using controllers::Course;
using model::for_dimension;
using model::Model;
using model::Phase;
using model::Settings;
using particles::Selection;

template <int D>
KernelDef push_course(const Course& course) {
    using V = Vec<Float, D>;
    return kernel("push_course", {"rows", "substep", "applied"},
                  [course](Int i, Property<V> rows, Param<Int> substep, Write<V> applied) {
                      applied[i] = course.vector_at<D>(rows, substep.value());
                  });
}

template <int D>
KernelDef push_force(const Selection& on) {
    using V = Vec<Float, D>;
    return kernel("push_force", {"applied", "index", "force"},
                  [on](Int i, Read<V> applied, Read<Int> index, Accumulate<V> force) {
                      const Int j =
                          on.listed ? injective(index[i]) : particles::point_at(i, on.body.first);
                      force[j] += applied[0];
                  });
}

template <int D>
EnergyKernels push_energy() {
    using V = Vec<Float, D>;
    return energy<D, 1>("push", {"applied"},
                        [](Int, const Points<D, 1>& x, Read<V> applied) -> Float {
                            return -dot(applied[0], x[0]);
                        });
}

Selection points(const Settings& settings, Model& model) {
    if (settings.find("of") != nullptr) return particles::select_points(settings, model);
    if (settings.find("points") != nullptr)
        throw settings.error("points", "these are numbers of a body's points, and none is named")
            .remedy("add \"of\", or leave \"points\" out: then all points of the scene are pushed");
    return {.body = {0, model.point_count()}, .points = {}, .index = {}};
}

void build_push(const Settings& settings, Model& model) {
    const Selection on = points(settings, model);
    const controllers::ReadCourse read = controllers::read_vector_course(settings, model, "force");
    const Array applied = model.add_array(
        settings.name() + ".applied", 1, model.dimension(),
        {.unit = "N", .meaning = "force on each of its points, in the last substep"});
    const auto find = [course = read.course, rows = read.quantity->argument(),
                       name = settings.name()](Model& of, const Array& to) {
        return of.launch(for_dimension(of, [&](auto D) { return push_course<D>(course); }), 1,
                         {{"rows", rows}, {"substep", of.step_counter()}, {"applied", to}},
                         name + ": course");
    };
    const auto add = [on, name = settings.name()](Model& of, const Array& from, const Array& to) {
        std::vector<NamedArgument> arguments{{"applied", from}, {"force", to}};
        if (on.listed) arguments.push_back(on.argument());
        return of.launch(for_dimension(of, [&](auto D) { return push_force<D>(on); }), on.count(),
                         arguments, name + ": push");
    };
    model.add(Phase::forces, find(model, applied));
    if (model.is_implicit())
        model.add_energy({settings.name() + ": push",
                          for_dimension(model, [](auto D) { return push_energy<D>(); }),
                          on.count(),
                          on.listed ? on.index : particles::numbers_of(model, on.body),
                          {{"applied", applied}}});
    else
        model.add(Phase::forces, add(model, applied, particles::force(model)));
    model::publish(model, {.owner = settings.name(),
                           .name = "pushing force",
                           .unit = "N",
                           .meaning = "the sum of what pushes add to each point, from now on",
                           .of = model::ShownQuantity::Of::points,
                           .count = model.point_count(),
                           .components = model.dimension(),
                           .add = [find, add](Model& of, const Array& values, Program& program) {
                               const Array now(of.real(), {1, of.dimension()});
                               program.add(find(of, now));
                               program.add(add(of, now, values));
                           }});
}

}  // namespace

void register_push(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::forces,
         "push",
         "Push over time",
         "The force f(t) on each of some points, t being the time at the beginning of a substep: "
         "one for all times, one for each step, or rows at equal intervals with a held, linear or "
         "cubic course between them; the last one is held. NAME.applied is the force as it acts, "
         "for "
         "objectives.",
         {particles::of_field().optional().doc("the body; without it, all points of the scene"),
          particles::points_field(),
          vectors("force").unit("N").differentiable().doc(
              "on each point. Without \"interval\" one for all steps, or one for each whole step, "
              "which its substeps hold; with it, one for each time, or one, then as many as reach "
              "the "
              "end of the run. In formulas t is the time of the row"),
          controllers::interval_field().doc("between rows, the first of which is at the start; "
                                            "without it each whole step has one"),
          controllers::interpolation_field()},
         built_by(build_push),
         true});
}

}  // namespace hindcast
