// u_a(t), a course of values for each actuator: what trajectory optimisation moves.
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

class Spline final : public model::Instance {
public:
    explicit Spline(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const Actuators actuators = actuators_of(*settings_, model);
        const ReadCourse read =
            read_course(*settings_, model, "values", static_cast<int>(actuators.count()));
        add(model, *settings_, actuators, spline(read.course, actuators.numbers),
            {{"values", read.quantity->argument()}}, "course");
    }

private:
    std::shared_ptr<Settings> settings_;
};

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
         [](std::shared_ptr<Settings> s) { return std::make_unique<Spline>(std::move(s)); },
         true});
}

}  // namespace hindcast::controllers
