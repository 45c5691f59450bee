#include "kernels/measured/recording.hpp"

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

KernelDef record_number(int components, std::int32_t row, int component, std::int32_t first) {
    switch (components) {
        case 1: return record_number<1>(row, component, first);
        case 2: return record_number<2>(row, component, first);
        case 3: return record_number<3>(row, component, first);
        case 4: return record_number<4>(row, component, first);
        case 6: return record_number<6>(row, component, first);
        case 9: return record_number<9>(row, component, first);
        case 10: return record_number<10>(row, component, first);
        default:
            throw Error("arrays of " + std::to_string(components) + " components are not recorded");
    }
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
    begin_ = Array(model.real(), {numbers, 1});
    end_ = Array(model.real(), {numbers, 1});
}

void Recording::record(Model& model, const std::string& owner) const {
    const std::int64_t steps = model.options().steps;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const Column& from = columns_[c];
        const KernelDef kernel = record_number(
            from.array.components(), static_cast<std::int32_t>(from.row), from.component,
            static_cast<std::int32_t>(static_cast<std::int64_t>(c) * steps));
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
