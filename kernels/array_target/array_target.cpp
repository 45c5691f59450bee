// array_target    mean over times t of  sum over elements i and components c of
//                 w_{i,c} (a_{i,c}(t) - target_{i,c})^2
#include "kernels/array_target/array_target.hpp"

#include "engine/document/read.hpp"
#include "engine/model/built_by.hpp"
#include "engine/model/components.hpp"
#include "engine/model/element_names.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Settings;

// Item i is the element `element_i` of the array.
template <int components>
KernelDef array_distance() {
    using V = Vec<Float, components>;
    return kernel("array_distance", {"source", "element", "target", "factor", "scale", "value"},
                  [](Int i, Read<V> source, Read<Int> element, Property<Float> target,
                     Property<Float> factor, Param<Float> scale, Reduce<Float> value) {
                      const V now = source[element[i]];
                      Float sum;
                      for (int c = 0; c < components; ++c) {
                          const Int k = i * components + c;
                          const Float d = now[c] - target[k];
                          sum = sum + factor[k] * (d * d);
                      }
                      value += sum * scale.value();
                  });
}

std::vector<std::int64_t> elements_of(const Settings& settings, Model& model, std::int64_t all) {
    std::vector<std::int64_t> elements;
    const document::Node* const list = settings.find("elements");
    if (list == nullptr) {
        for (std::int64_t i = 0; i < all; ++i) elements.push_back(i);
        return elements;
    }
    const std::string& array = settings.find("array")->string();
    const model::ElementNames* const names = model::element_names(model, array);
    for (std::size_t k = 0; k < document::array_of(*list, 1).size(); ++k) {
        const document::Node& item = list->item(k);
        if (names == nullptr || !item.is_string()) {
            elements.push_back(document::integer_of(item, 0, all - 1));
            continue;
        }
        try {
            const model::ElementRange range = names->at(array, item.string());
            for (std::int64_t e = 0; e < range.count; ++e) elements.push_back(range.first + e);
        } catch (const Error& error) {
            throw document::fault(item, error.happened()).remedy(error.what_to_do());
        }
    }
    return elements;
}

void build_array_target(const Settings& settings, Model& model) {
    const Array array = model::array_named(model, *settings.find("array"));
    const std::vector<std::int64_t> elements = elements_of(settings, model, array.shape()[0]);
    const auto count = static_cast<std::int64_t>(elements.size()),
               numbers = count * array.shape()[1];
    const std::int64_t grid[] = {count, array.shape()[1]};
    const auto number = [&](const char* key) {
        return settings.quantity(model, key, numbers, {}, grid).argument();
    };
    add_mean(settings, model, [&](double scale, const Array& value) {
        Program program;
        program.add(model.launch(
            model::for_components(array, [](auto C) { return array_distance<C>(); }), count,
            {{"source", array},
             {"element", model.index_array(elements, 1)},
             {"target", number("target")},
             {"factor", number("factor")},
             {"scale", scale},
             {"value", value}},
            settings.name() + ": squared distance"));
        return program;
    });
}

}  // namespace

void register_array_target(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::objective,
         "array_target",
         "Numbers of an array",
         "Squared distance of an array's numbers to targets: mean over the times of the "
         "sum of factor (number - target)^2. With target 0 and \"at\": \"all\" the mean "
         "effort of a robot's controls or forces.",
         {text("array")
              .schema(R"({"type":"string","means":"array"})")
              .doc("a published array, as `info --scene` lists them: "
                   "\"robot.qvel\", \"robot.control\", \"position\""),
          list("elements")
              .optional()
              .schema(
                  R"({"anyOf":[{"type":"integer","minimum":0,"means":"element"},{"type":"string"}]})")
              .doc("of the array, by number, or by name where they have names (\"hip\", "
                   "\"root:0\"); without it all"),
          values("target")
              .schema(rows_schema)
              .fallback("0")
              .differentiable()
              .doc("one for all numbers, or a list: element by element, all components of each"),
          values("factor")
              .schema(rows_schema)
              .fallback("1")
              .at_least(0)
              .differentiable()
              .doc("of each number, in the same order")},
         built_by(build_array_target)});
    array_target::register_joint_target(registry);
}

}  // namespace hindcast
