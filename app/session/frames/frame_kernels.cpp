#include "app/session/frames/frame_kernels.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "engine/lang/control.hpp"
#include "engine/lang/kernel.hpp"

namespace hindcast::session {

namespace {

using namespace lang;

template <class T>
KernelDef copy_kernel() {
    return kernel("frame_copy", {"from", "to"},
                  [](Int i, Read<T> from, Write<T> to) { to[i] = from[i]; });
}

template <class T>
KernelDef fill_kernel() {
    return kernel("frame_fill", {"value", "to"}, [](Int i, Param<Float> value, Write<T> to) {
        T all;
        for (int k = 0; k < Shape<T>::components; ++k) Shape<T>::component(all, k) = value.value();
        to[i] = all;
    });
}

template <class T>
KernelDef magnitude_kernel() {
    return kernel("frame_magnitude", {"from", "to"}, [](Int i, Read<T> from, Write<Float> to) {
        const T element = from[i];
        if constexpr (Shape<T>::components == 1) {
            to[i] = element;
        } else {
            Float sum = 0;
            for (int k = 0; k < Shape<T>::components; ++k) {
                const Float component = Shape<T>::component(element, k);
                sum = sum + component * component;
            }
            to[i] = sqrt(sum);
        }
    });
}

KernelDef middle_kernel() {
    return kernel("frame_middle", {"numbers", "ends", "to"},
                  [](Int i, Read<Float> numbers, Read<Vec<Int, 2>> ends, Write<Float> to) {
                      const Vec<Int, 2> e = ends[i];
                      to[i] = (numbers[e[0]] + numbers[e[1]]) * 0.5;
                  });
}

// One item per point: the mean of numbers[which[k]], begins[i] <= k < begins[i + 1].
KernelDef mean_kernel() {
    return kernel("frame_mean", {"numbers", "points", "begins", "which", "to"},
                  [](Int i, Read<Float> numbers, Read<Int> points, Read<Int> begins,
                     Read<Int> which, Write<Float> to) {
                      const Int begin = begins[i], end = begins[i + 1];
                      Float sum = 0;
                      for_(begin, end, [&](const Int& k) { sum += numbers[which[k]]; });
                      to[injective(points[i])] = sum / Float(end - begin);
                  });
}

template <class T>
KernelDef gather_kernel() {
    return kernel(
        "frame_gather", {"from", "which", "to"},
        [](Int i, Read<T> from, Read<Int> which, Write<T> to) { to[i] = from[which[i]]; });
}

template <class T>
struct Halves;
template <int N>
struct Halves<Vec<Float, N>> {
    static KernelDef kernel_of() {
        using V = Vec<Float, N>;
        return kernel("frame_split", {"from", "places", "vectors"},
                      [](Int i, Read<Vec<Float, 2 * N>> from, Write<V> places, Write<V> vectors) {
                          const Vec<Float, 2 * N> all = from[i];
                          V place, vector;
                          for (int k = 0; k < N; ++k) {
                              place[k] = all[k];
                              vector[k] = all[N + k];
                          }
                          places[i] = place;
                          vectors[i] = vector;
                      });
    }
};

template <class T>
KernelDef by_name(const std::string& name) {
    if (name == "copy") return copy_kernel<T>();
    if (name == "fill") return fill_kernel<T>();
    if (name == "magnitude") return magnitude_kernel<T>();
    if (name == "gather") return gather_kernel<T>();
    if constexpr (std::is_same_v<T, Vec<Float, 2>> || std::is_same_v<T, Vec<Float, 3>>)
        if (name == "split") return Halves<T>::kernel_of();
    if (name == "mean") return mean_kernel();
    return middle_kernel();
}

// f with the type of an element of these extents; false: there is none.
template <class F>
bool with_element(const std::vector<std::int64_t>& shape, F f) {
    const std::vector<std::int64_t> extents(shape.begin() + 1, shape.end());
    const auto is = [&](std::initializer_list<std::int64_t> e) {
        return extents == std::vector<std::int64_t>(e);
    };
    if (is({}) || is({1})) return f.template operator()<Float>(), true;
    if (is({2})) return f.template operator()<Vec<Float, 2>>(), true;
    if (is({3})) return f.template operator()<Vec<Float, 3>>(), true;
    if (is({4})) return f.template operator()<Vec<Float, 4>>(), true;
    if (is({6})) return f.template operator()<Vec<Float, 6>>(), true;
    if (is({2, 2})) return f.template operator()<Mat<Float, 2, 2>>(), true;
    if (is({3, 3})) return f.template operator()<Mat<Float, 3, 3>>(), true;
    return false;
}

}  // namespace

bool FrameKernels::takes(const Array& array) {
    return ir::is_real(array.type()) && with_element(array.shape(), []<class T>() {});
}

void FrameKernels::run(const std::string& name, std::int64_t items, const Array& shaped_like,
                       std::vector<Argument> arguments) {
    if (items == 0) return;
    std::string key = fmt::format("{} {} {}", name, items, static_cast<int>(shaped_like.type()));
    for (const Argument& argument : arguments)
        for (const double number : argument.numbers()) key += fmt::format(" {}", number);
    for (std::size_t k = 1; k < shaped_like.shape().size(); ++k)
        key += fmt::format(" {}", shaped_like.shape()[k]);
    auto found = launches_.find(key);
    if (found == launches_.end()) {
        const auto precision =
            shaped_like.type() == ir::Type::f64 ? ir::Precision::f64 : ir::Precision::f32;
        const auto make = [&]<class T>() {
            Launch launch(device_, by_name<T>(name), precision, items, arguments,
                          "a frame's " + name);
            launch.differentiate_only({});
            found = launches_.emplace(key, std::move(launch)).first;
        };
        if (!with_element(shaped_like.shape(), make))
            throw Error("internal: a frame has no way to show elements of this shape");
    } else {
        for (std::size_t k = 0; k < arguments.size(); ++k)
            if (arguments[k].is_array())  // numbers are part of the key
                found->second.set(static_cast<int>(k), arguments[k]);
    }
    found->second.forward().run();
}

void FrameKernels::copy(const Array& from, const Array& to) {
    run("copy", to.elements(), to, {from, to});
}
void FrameKernels::fill(const Array& to, double value) {
    run("fill", to.elements(), to, {value, to});
}
void FrameKernels::magnitude(const Array& from, const Array& to) {
    run("magnitude", to.elements(), from, {from, to});
}
void FrameKernels::middle(const Array& numbers, const Array& ends, const Array& to) {
    run("middle", to.elements(), to, {numbers, ends, to});
}
void FrameKernels::mean(const Array& numbers, const Means& of, const Array& to) {
    run("mean", of.points.elements(), to, {numbers, of.points, of.begins, of.which, to});
}
void FrameKernels::split(const Array& from, const Array& places, const Array& vectors) {
    run("split", from.elements(), places, {from, places, vectors});
}
void FrameKernels::gather(const Array& from, const Array& which, const Array& to) {
    run("gather", which.elements(), from, {from, which, to});
}

}  // namespace hindcast::session
