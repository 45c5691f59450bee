// u_a(t) = offset_a + sum over k = 1 .. K of amplitude_{a,k} sin(2 pi k f t + phase_{a,k}): a Fourier
// series with the frequency f, for gaits and for motions that excite the parameters to be
// identified.
#include <numbers>

#include "engine/model/built_by.hpp"
#include "engine/model/components.hpp"
#include "kernels/controllers/actuators.hpp"
#include "kernels/controllers/controllers.hpp"

namespace hindcast::controllers {

namespace {

using namespace lang;
using model::Model;
using model::Settings;

KernelDef sines(int harmonics, const std::vector<int>& actuators) {
    return kernel(
        "sine_control", {"frequency", "amplitude", "phase", "offset", "step", "h", "control"},
        [harmonics, actuators](Int, Property<Float> frequency, Property<Float> amplitude,
                               Property<Float> phase, Property<Float> offset, Param<Int> step,
                               Param<Float> h, Accumulate<Float> control) {
            const Float turn =
                2 * std::numbers::pi * (frequency[0] * (Float(step.value()) * h.value()));
            for (std::size_t a = 0; a < actuators.size(); ++a) {
                const int row = static_cast<int>(a);
                Float sum = offset[row];
                for (int k = 0; k < harmonics; ++k)
                    sum = sum + amplitude[row * harmonics + k] *
                                    sin(double(k + 1) * turn + phase[row * harmonics + k]);
                control[actuators[a]] += sum;
            }
        });
}

void build_sines(const Settings& settings, Model& model) {
    const Actuators actuators = actuators_of(settings, model);
    const std::int64_t harmonics = settings.integer("harmonics");
    const auto number = [&](const char* key) {
        return numbers_of_each(model, settings, key, actuators, harmonics);
    };
    add(model, settings, actuators, sines(static_cast<int>(harmonics), actuators.numbers),
        {{"frequency", settings.quantity(model, "frequency").argument()},
         {"amplitude", number("amplitude")},
         {"phase", number("phase")},
         {"offset", numbers_of_each(model, settings, "offset", actuators)},
         {"h", model.step()}},
        "Fourier series");
}

}  // namespace

void register_sines(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::controllers,
         "sines",
         "Sum of sines for a robot",
         "Adds a Fourier series to the controls of actuators: offset + sum over k = 1 .. harmonics "
         "of amplitude_k sin(2 pi k frequency t + phase_k).",
         {of_field(), actuators_field(),
          integer("harmonics").fallback("1").at_least(1).at_most(64).doc("how many"),
          number("frequency").unit("Hz").positive().differentiable().doc("of the first harmonic"),
          values("amplitude")
              .schema(rows_schema)
              .fallback("0")
              .differentiable()
              .doc("of each actuator those of all harmonics: a list of rows, number "
                   "actuator * harmonics + k - 1; or one number for all"),
          values("phase")
              .schema(rows_schema)
              .unit("rad")
              .fallback("0")
              .differentiable()
              .doc("in the same order"),
          values("offset").fallback("0").differentiable().doc("of each actuator")},
         built_by(build_sines),
         true});
}

}  // namespace hindcast::controllers
