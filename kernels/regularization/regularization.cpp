// value = mean (or sum) over the numbers p of a path of (p - reference)^2, components included. The
// reference is one number, or the values that the scene was loaded with. The term depends on no
// state: it is evaluated once, before the first step.
#include "kernels/regularization/regularization.hpp"

#include "engine/document/read.hpp"
#include "engine/model/built_by.hpp"
#include "engine/model/value_request.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Quantity;
using model::Settings;

template <class T>
KernelDef deviation() {
    return kernel(
        "regularization", {"p", "reference", "scale", "value"},
        [](Int i, Property<T> p, Property<T> reference, Param<Float> scale, Reduce<Float> value) {
            const T d = p[i] - reference[i];
            if constexpr (std::is_same_v<T, Float>)
                value += d * d * scale.value();
            else
                value += dot(d, d) * scale.value();
        });
}

KernelDef deviation(int components) {
    switch (components) {
        case 1: return deviation<Float>();
        case 2: return deviation<Vec2>();
        default: return deviation<Vec3>();
    }
}

void publish_kernels(Registry& registry) {
    registry.publish(
        {"regularization",
         "One item per number or vector: value += scale |p - reference|^2.",
         {model::integer("components").fallback("1").at_least(1).at_most(3).doc("of each")},
         {{"p", "any unit"}, {"reference", "the same"}, {"scale", "a factor"}, {"value", "a sum"}},
         [](const Settings& options) {
             return deviation(static_cast<int>(options.integer("components")));
         }});
}

void finish_regularization(const Settings& settings, Model& model) {
    if (settings.written("at"))
        throw settings.error("at", "a regularization does not depend on time")
            .remedy("leave out \"at\"");
    const document::Node& path = *settings.find("of");
    Quantity* quantity = model.find_quantity(settings.text("of"));
    if (quantity == nullptr) {
        std::vector<std::string_view> known;
        for (const auto& [name, q] : model.quantities())
            if (q->may_optimize) known.push_back(name);
        document::choice_of(path, known, "path");  // throws, with "did you mean"
        throw document::fault(path, "the scene has no number at '" + settings.text("of") + "'");
    }
    const Quantity& q = *quantity;
    const document::Node& reference = *settings.find("reference");
    std::vector<double> values;
    if (reference.is_string() && reference.string() == "initial") {
        values = q.loaded();
        if (values.size() != q.values.size())
            throw settings
                .error("of", "'" + q.path + "' was loaded with " + std::to_string(values.size()) +
                                 " numbers, and has " + std::to_string(q.values.size()) + " now")
                .remedy("write \"reference\"");
        model.keep(
            {q.path, settings.node().pointer() + "/reference", values, q.components, q.shared});
    } else if (document::is_number(reference)) {
        values.assign(q.values.size(), document::number_of(reference));
    } else {
        document::ValueRequest request = model::value_request(model);
        request.count = q.rows();
        request.components = q.components;
        values = document::evaluate(reference, request).rows();
    }
    const double count = static_cast<double>(values.size());
    model::Term term = settings.term(model);
    term.times = {0};
    Program program;
    const Argument target =
        q.shared
            ? Argument(values)
            : Argument(Array::from(values, model.real(), {q.count, q.components}, Layout::planar));
    program.add(model.launch(deviation(q.components), q.rows(),
                             {{"p", q.argument()},
                              {"reference", target},
                              {"scale", settings.boolean("sum") ? 1.0 : 1.0 / count},
                              {"value", term.value}},
                             settings.name() + ": regularization"));
    model.add_term(std::move(term), program);
}

}  // namespace

void register_regularization(Registry& registry) {
    using namespace model;
    publish_kernels(registry);
    registry.add(
        {Section::objective,
         "regularization",
         "Numbers near a reference",
         "Keeps numbers near a reference: mean over the numbers p of a path, components "
         "included, of (p - reference)^2; a sum if \"sum\".",
         {text("of")
              .schema(R"({"type":"string","means":"path"})")
              .doc("the path of the numbers, such as cage.rest_length"),
          any("reference")
              .fallback("\"initial\"")
              .doc("\"initial\": the values that the scene is loaded with; one number for all; or "
                   "as many numbers, written as the values themselves are")
              .schema(R"({"anyOf":[{"const":"initial"},{"$ref":"#/$defs/number"},)"
                      R"({"type":"array","items":{"$ref":"#/$defs/number"}},)"
                      R"({"type":"array","items":{"type":"array",)"
                      R"("items":{"$ref":"#/$defs/number"}}},{"$ref":"#/$defs/generator"}]})"),
          boolean("sum").fallback("false").doc("sum instead of mean")},
         finished_by(finish_regularization)});
}

}  // namespace hindcast
