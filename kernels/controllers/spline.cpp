// u_a(t), a course of values for each actuator: what trajectory optimization moves.
#include "engine/model/built_by.hpp"
#include "engine/model/components.hpp"
#include "kernels/controllers/actuators.hpp"
#include "kernels/controllers/controllers.hpp"
#include "kernels/controllers/course.hpp"

namespace hindcast::controllers {

namespace {

using namespace lang;
using model::Model;
using model::Settings;

KernelDef spline(const Course& course, const std::vector<int>& actuators) {
    return kernel("spline_control", {"values", "step", "control"},
                  [course, actuators](Int, Property<Float> values, Param<Int> step,
                                      Accumulate<Float> control) {
                      const auto now = course.at(values, step);
                      for (std::size_t a = 0; a < actuators.size(); ++a)
                          control[actuators[a]] += now[a].value;
                  });
}

void build_spline(const Settings& settings, Model& model) {
    const Actuators actuators = actuators_of(settings, model);
    const ReadCourse read =
        read_course(settings, model, "values", static_cast<int>(actuators.count()));
    add(model, settings, actuators, spline(read.course, actuators.numbers),
        {{"values", read.quantity->argument()}}, "course");
}

}  // namespace

void register_spline(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::controllers,
         "spline",
         "Course of a robot's control over time",
         "Adds a course over time to the controls of actuators: rows at equal intervals "
         "from the start on, with one value for each actuator.",
         {of_field(), actuators_field(),
          values("values")
              .fallback("0")
              .differentiable()
              .schema(rows_schema)
              .doc("for each time in order those of all actuators: a list of rows, number "
                   "time * actuators + actuator; or one number for all, then as many rows as "
                   "reach the end of the run"),
          interval_field(), interpolation_field()},
         built_by(build_spline),
         true});
}

}  // namespace hindcast::controllers
