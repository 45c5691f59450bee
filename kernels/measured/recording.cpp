#include "kernels/measured/recording.hpp"

#include <cstdint>

#include "engine/model/components.hpp"

namespace hindcast::measured {

using namespace lang;
using model::Model;
using model::Phase;

namespace {

template <int components>
KernelDef record_number(std::int32_t row, int component, std::int32_t first) {
    using V = Vec<Float, components>;
    return kernel(
        "record", {"source", "step", "kept"},
        [row, component, first](Int, Read<V> source, Param<Int> step, WriteSlice<Float> kept) {
            const V element = source[row];
            kept.store_once(step + first, element[component]);
        });
}

}  // namespace

int Recording::column(const Array& array, std::int64_t row, int component) {
    for (std::size_t c = 0; c < columns_.size(); ++c)
        if (columns_[c].array.same_memory(array) && columns_[c].row == row &&
            columns_[c].component == component)
            return static_cast<int>(c);
    columns_.push_back({array, row, component});
    return static_cast<int>(columns_.size()) - 1;
}

void Recording::make(const Model& model) {
    const auto numbers = model.options().steps * static_cast<std::int64_t>(columns_.size());
    if (numbers > INT32_MAX)
        throw Error(std::to_string(columns_.size()) + " numbers in each of " +
                    std::to_string(model.options().steps) + " steps are too many to be recorded")
            .remedy("compare fewer channels, or make fewer steps");
    begin_ = Array(model.real(), {numbers, 1});
    end_ = Array(model.real(), {numbers, 1});
}

void Recording::record(Model& model, const std::string& owner) const {
    const std::int64_t steps = model.options().steps;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const Column& from = columns_[c];
        const KernelDef kernel = model::for_components(from.array, [&](auto components) {
            return record_number<components>(
                static_cast<std::int32_t>(from.row), from.component,
                static_cast<std::int32_t>(static_cast<std::int64_t>(c) * steps));
        });
        const auto add = [&](Phase phase, const Array& kept) {
            model.add(phase,
                      model.launch(
                          kernel, 1,
                          {{"source", from.array}, {"step", model.step_counter()}, {"kept", kept}},
                          owner + ": record"));
        };
        add(Phase::begin, begin_);
        add(Phase::end, end_);
    }
}

}  // namespace hindcast::measured
