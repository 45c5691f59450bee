#include "engine/sim/functions/parameter_vector.hpp"

#include <cstdint>
#include <string>

#include "engine/sim/functions/element.hpp"

namespace hindcast {

namespace {

using namespace lang;

// R: Float, or Single where the quantity is f32. Entry `first` + k of the vector is component
// `component[k]` of element `element[k]`.
template <class R, int N>
KernelDef gather_kernel() {
    using E = ElementOf<R, N>;
    return kernel("gather_parameters", {"quantity", "element", "component", "first", "vector"},
                  [](Int k, Read<E> quantity, Read<Int> element, Read<Int> component,
                     Param<Int> first, WriteSlice<Float> vector) {
                      const E all = quantity[element[k]];
                      Float value = Float(component_of<N>(all, 0));
                      if constexpr (N > 1) {
                          const Int c = component[k];
                          for (int j = 1; j < N; ++j)
                              value = select(c == j, Float(component_of<N>(all, j)), value);
                      }
                      vector.store_once(k + first.value(), value);
                  });
}

// Each component of an element is entry `entry[e]` of the vector, or stays as it is (-1).
template <class R, int N>
KernelDef scatter_kernel() {
    using E = ElementOf<R, N>;
    using I = ElementOf<Int, N>;
    return kernel(
        "scatter_parameters", {"vector", "entry", "quantity"},
        [](Int e, Read<Float> vector, Read<I> entry, ReadWrite<E> quantity) {
            const E old = quantity[e];
            const I from = entry[e];
            const auto fresh = [&](int c) {
                const Int at = component_of<N>(from, c);
                return R(select(at >= 0, vector[max(at, 0)], Float(component_of<N>(old, c))));
            };
            store_components<N>(quantity, e, fresh);
        });
}

struct Kernels {
    KernelDef gather, scatter;
};
template <class R, int N>
Kernels kernels() {
    return {gather_kernel<R, N>(), scatter_kernel<R, N>()};
}
template <class R>
Kernels kernels(int components) {
    switch (components) {
        case 1: return kernels<R, 1>();
        case 2: return kernels<R, 2>();
        case 3: return kernels<R, 3>();
        default:
            throw Error("internal: a parameter of " + std::to_string(components) + " components");
    }
}

Kernels kernels_for(const Array& array) {
    return array.type() == ir::Type::f32 ? kernels<Single>(array.components())
                                         : kernels<Float>(array.components());
}

}  // namespace

ParameterVector::ParameterVector(const Parameters& parameters, std::shared_ptr<Device> device)
    : device_(std::move(device)) {
    std::int64_t first = 0;
    for (const Parameter& p : parameters.list()) {
        const model::Quantity& q = *p.quantity;
        const auto count = static_cast<std::int64_t>(p.entries.size());
        const auto components = static_cast<std::size_t>(q.components);
        std::vector<std::int64_t> element, component,
            entry(static_cast<std::size_t>(q.rows()) * components, -1);
        for (const std::size_t at : p.entries) {
            entry[at] = first + static_cast<std::int64_t>(element.size());
            element.push_back(static_cast<std::int64_t>(at / components));
            component.push_back(static_cast<std::int64_t>(at % components));
        }
        const auto integers = [](const std::vector<std::int64_t>& list,
                                 std::vector<std::int64_t> shape) {
            const Array array(ir::Type::i32, std::move(shape));
            array.assign_integers(list);
            return array;
        };
        parts_.push_back({p.path, q.array, first, integers(element, {count}),
                          integers(component, {count}), integers(entry, {q.rows(), q.components})});
        first += count;
    }
}

void ParameterVector::add_gather(Sequence& sequence, const Array& to, Pick pick) const {
    for (const Part& p : parts_)
        sequence.add(
            Launch(device_, kernels_for(p.array).gather, ir::Precision::f64, p.element.elements(),
                   {pick(p.array), p.element, p.component, p.first, to}, "gradient of " + p.path));
}

void ParameterVector::add_scatter(Sequence& sequence, const Array& from, Pick pick) const {
    for (const Part& p : parts_)
        sequence.add(Launch(device_, kernels_for(p.array).scatter, ir::Precision::f64,
                            p.entry.elements(), {from, p.entry, pick(p.array)},
                            "values of " + p.path));
}

}  // namespace hindcast
