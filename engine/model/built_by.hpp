// Short forms for modules that are one function, with no state but their settings:
//
//     void build_drag(const Settings& settings, Model& model);
//     registry.add({Section::forces, "drag", ..., built_by(build_drag)});
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/dimension.hpp"
#include "engine/model/model.hpp"
#include "engine/model/published_kernel.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::model {

using BuildFunction = void (*)(const Settings& settings, Model& model);

class OneFunction final : public Instance {
public:
    // Null: nothing to do in that call.
    OneFunction(std::shared_ptr<Settings> settings, BuildFunction at_build, BuildFunction at_finish)
        : settings_(std::move(settings)), build_(at_build), finish_(at_finish) {}

    void build(Model& model) override {
        if (build_ != nullptr) build_(*settings_, model);
    }
    void finish(Model& model) override {
        if (finish_ != nullptr) finish_(*settings_, model);
    }

private:
    std::shared_ptr<Settings> settings_;
    BuildFunction build_, finish_;
};

// ModuleType::make of a function that is Instance::build().
inline auto built_by(BuildFunction build) {
    return [build](std::shared_ptr<Settings> settings) -> std::unique_ptr<Instance> {
        return std::make_unique<OneFunction>(std::move(settings), build, nullptr);
    };
}
// The same of one that is Instance::finish().
inline auto finished_by(BuildFunction finish) {
    return [finish](std::shared_ptr<Settings> settings) -> std::unique_ptr<Instance> {
        return std::make_unique<OneFunction>(std::move(settings), nullptr, finish);
    };
}

// Adds the objective's term, a mean over its times. `program` gets the scale, 1 over their number,
// and the value that its launches add to at each of them. It is called once; in the other form once
// for each time, with the time's number.
inline void add_mean(const Settings& settings, Model& model,
                     const std::function<Program(double scale, const Array& value)>& program) {
    Term term = settings.term(model);
    const Program each = program(1.0 / static_cast<double>(term.times.size()), term.value);
    model.add_term(std::move(term), each);
}
inline void add_mean(
    const Settings& settings, Model& model,
    const std::function<Program(double scale, const Array& value, std::int64_t time)>& program) {
    Term term = settings.term(model);
    const auto times = static_cast<std::int64_t>(term.times.size());
    std::vector<Program> programs;
    for (std::int64_t k = 0; k < times; ++k)
        programs.push_back(program(1.0 / static_cast<double>(times), term.value, k));
    model.add_term(std::move(term), programs);
}

// Publishes a kernel that is made for a dimension, its first option. `make` gets the dimension as a
// constant, and the options.
template <class Make>
void publish_for_dimension(Registry& registry, std::string name, std::string documentation,
                           std::vector<Field> options,
                           std::vector<PublishedKernel::Parameter> parameters, Make make) {
    options.insert(options.begin(), dimension_option());
    registry.publish({std::move(name), std::move(documentation), std::move(options),
                      std::move(parameters), [make](const Settings& chosen) {
                          return for_dimension(chosen, [&](auto D) { return make(D, chosen); });
                      }});
}

}  // namespace hindcast::model
