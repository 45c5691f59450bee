// Each step gives the points the velocity that takes them from o(t) to o(t + h), o the offset from
// where they start: offsets o_k at the times k interval, straight lines between them, and rest
// after the last.
#include "kernels/pins/pins.hpp"

#include "engine/document/read.hpp"
#include "engine/model/built_by.hpp"
#include "engine/model/value_request.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

using namespace lang;
using model::Model;
using model::Settings;

namespace {

template <int D>
KernelDef move_pins(std::int64_t rows) {
    using V = Vec<Float, D>;
    return kernel("move_pins", {"points", "offsets", "interval", "step", "h", "v"},
                  [rows](Int i, Read<Int> points, Read<V> offsets, Param<Float> interval,
                         Param<Int> step, Param<Float> h, Write<V> v) {
                      const auto last = static_cast<std::int32_t>(rows - 1);
                      const auto offset = [&](const Float& at) {
                          const Float s = at / interval.value();
                          const Int k = min(Int(floor(s)), Int(last - 1));
                          const Float part = min(s - Float(k), Float(1));
                          return V(offsets[k]) * (1.0 - part) + V(offsets[k + 1]) * part;
                      };
                      const Float now = Float(step.value()) * h.value();
                      v[injective(points[i])] = (offset(now + h.value()) - offset(now)) / h.value();
                  });
}

void build_pins(const Settings& settings, Model& model) {
    const particles::Selection selection = particles::select_points(settings, model);
    const std::vector<char>& fixed = model.shared<particles::FixedPoints>().flags;
    const auto is_fixed = [&](std::int64_t p) { return fixed[static_cast<std::size_t>(p)] != 0; };
    std::vector<std::int64_t> points;
    for (std::int64_t k = 0; k < selection.count(); ++k) {
        const std::int64_t p = selection.listed ? selection.points[static_cast<std::size_t>(k)]
                                                : selection.body.first + k;
        if (is_fixed(p))
            points.push_back(p);
        else if (selection.listed)
            throw settings
                .error("points", "point " + std::to_string(p - selection.body.first) +
                                     " is not fixed: forces would move it too")
                .remedy("name it in the body's \"fixed\"");
    }
    if (points.empty())
        throw settings.error("of", "this body has no fixed points")
            .remedy("say in its \"fixed\" which are");
    document::ValueRequest request = model::value_request(model);
    request.components = model.dimension();
    const std::int64_t rows = document::evaluate(*settings.find("offsets"), request).count;
    if (rows < 2)
        throw settings.error("offsets", "a motion needs two offsets or more")
            .remedy("write one for each time");
    model.add(model::Phase::controllers,
              model.launch(model::for_dimension(model, [&](auto D) { return move_pins<D>(rows); }),
                           static_cast<std::int64_t>(points.size()),
                           {{"points", model.index_array(points, 1)},
                            {"offsets", settings.quantity(model, "offsets", rows).argument()},
                            {"interval", settings.quantity(model, "interval").argument()},
                            {"step", model.step_counter()},
                            {"h", model.step()},
                            {"v", particles::arrays(model).velocity}},
                           settings.name() + ": pins"));
}

}  // namespace

void register_pins(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::controllers,
         "pins",
         "Fixed points that move",
         "Fixed points that move as prescribed: at time t they are o(t) away from where they "
         "start. "
         "Offsets o_k hold at the times k interval, with straight lines between them; after the "
         "last "
         "the points rest.",
         {particles::of_field(),
          list("points")
              .optional()
              .doc(
                  "these points of the body, which are fixed: their numbers; default: all that are")
              .schema(R"({"type":"integer","minimum":0,"means":"point"})"),
          vectors("offsets")
              .schema(R"({"$ref":"#/$defs/counted"})")
              .unit("m")
              .differentiable()
              .doc("one for each time, two or more: a list, or a file"),
          number("interval").unit("s").positive().doc("between one offset and the next")},
         built_by(build_pins),
         true});
}

}  // namespace hindcast
