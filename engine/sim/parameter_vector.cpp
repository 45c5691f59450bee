#include "engine/sim/parameter_vector.hpp"

#include <cstdint>
#include <string>

namespace hindcast {

namespace {

using namespace lang;

// An element of N components, and its components. R: Float, or Single where the quantity is f32.
template <class R, int N>
struct Element {
    using Type = Vec<R, N>;
    using Index = Vec<Int, N>;
    template <class V>
    static const auto& at(const V& v, int c) {
        return v[c];
    }
};
template <class R>
struct Element<R, 1> {
    using Type = R;
    using Index = Int;
    template <class V>
    static V at(const V& v, int) {
        return v;
    }
};

// Entry `first` + k of the vector is component `component[k]` of element `element[k]`.
template <class R, int N>
KernelDef gather_kernel() {
    using E = Element<R, N>;
    return kernel("gather_parameters", {"quantity", "element", "component", "first", "vector"},
                  [](Int k, Read<typename E::Type> quantity, Read<Int> element, Read<Int> component,
                     Param<Int> first, WriteSlice<Float> vector) {
                      const typename E::Type all = quantity[element[k]];
                      Float value = Float(E::at(all, 0));
                      if constexpr (N > 1) {
                          const Int c = component[k];
                          for (int j = 1; j < N; ++j)
                              value = select(c == j, Float(E::at(all, j)), value);
                      }
                      vector.store_once(k + first.value(), value);
                  });
}

// Each component of an element is entry `entry[e]` of the vector, or stays as it is (-1).
template <class R, int N>
KernelDef scatter_kernel() {
    using E = Element<R, N>;
    return kernel("scatter_parameters", {"vector", "entry", "quantity"},
                  [](Int e, Read<Float> vector, Read<typename E::Index> entry,
                     ReadWrite<typename E::Type> quantity) {
                      const typename E::Type old = quantity[e];
                      const typename E::Index from = entry[e];
                      const auto fresh = [&](int c) {
                          const Int at = E::at(from, c);
                          return R(select(at >= 0, vector[max(at, 0)], Float(E::at(old, c))));
                      };
                      if constexpr (N == 1)
                          quantity[e] = fresh(0);
                      else
                          for (int c = 0; c < N; ++c) quantity[e][c] = fresh(c);
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

}  // namespace

ParameterVector::ParameterVector(const Parameters& parameters,
                                 const std::shared_ptr<Device>& device, const Array& values,
                                 const Array& gradient) {
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
        const Kernels code = q.array.type() == ir::Type::f32 ? kernels<Single>(q.components)
                                                             : kernels<Float>(q.components);
        gather_.emplace_back(device, code.gather, ir::Precision::f64, count,
                             std::vector<Argument>{q.array.gradient(), integers(element, {count}),
                                                   integers(component, {count}), first, gradient},
                             "gradient of " + p.path);
        scatter_.emplace_back(
            device, code.scatter, ir::Precision::f64, q.rows(),
            std::vector<Argument>{values, integers(entry, {q.rows(), q.components}), q.array},
            "values of " + p.path);
        first += count;
    }
}

void ParameterVector::add_gather(Sequence& sequence) const {
    for (const Launch& launch : gather_) sequence.add(launch);
}

void ParameterVector::add_scatter(Sequence& sequence) const {
    for (const Launch& launch : scatter_) sequence.add(launch);
}

}  // namespace hindcast
