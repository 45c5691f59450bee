// Kernel definitions: a name, parameter names, and a lambda over traced values.
//
//     const KernelDef scale = kernel("scale", {"x", "factor", "y"},
//         [](Int i, Read<Vec3> x, Param<Float> factor, Write<Vec3> y) { y[i] = x[i] * factor; });
//     ir::Kernel k = scale.trace(ir::Precision::f32);
//
// The lambda's first parameter is the work item; the others say how each parameter is used
// (buffers.hpp). It runs once per trace, so host `if` and `for` specialize and unroll, and captured
// host numbers are literals.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/lang/buffers.hpp"
#include "engine/lang/control.hpp"
#include "engine/lang/matrix.hpp"

namespace hindcast::lang {

class KernelDef {
public:
    using Body = std::function<void(const std::vector<int>& symbols, std::uint64_t shared)>;

    KernelDef(std::string name, std::vector<ir::Parameter> parameters, std::vector<bool> may_share,
              Body body)
        : name_(std::move(name)),
          parameters_(std::move(parameters)),
          may_share_(std::move(may_share)),
          body_(std::move(body)) {}

    const std::string& name() const { return name_; }
    bool may_share(int parameter) const { return may_share_[static_cast<std::size_t>(parameter)]; }
    // As declared; types of real parameters are those of f64.
    const std::vector<ir::Parameter>& parameters() const { return parameters_; }
    // Records, simplifies and verifies the kernel. `shared` names the Property parameters that hold
    // one value for all items instead of one per item.
    ir::Kernel trace(ir::Precision precision, const std::vector<std::string>& shared = {}) const;
    // The same kernel without the parameters that no op of its body refers to.
    KernelDef without_unused() const;
    // The same kernel with an Accumulate as a Sum: the array is cleared before. Throws Error if it
    // is none.
    KernelDef with_sum(std::string_view parameter) const;

private:
    // The kernel as the body records it, before anything is simplified.
    ir::Kernel record(ir::Precision precision, const std::vector<std::string>& shared) const;
    std::string name_;
    std::vector<ir::Parameter> parameters_;
    std::vector<bool> may_share_;
    Body body_;
};

namespace detail {
template <class F>
struct Signature;
template <class C, class First, class... P>
struct Signature<void (C::*)(First, P...) const> {
    static_assert(std::same_as<First, Int>, "a kernel's first parameter is the work item: Int");
    static std::vector<ir::Parameter> parameters(const std::vector<std::string>& names) {
        std::vector<ir::Parameter> list;
        std::size_t k = 0;
        (list.push_back(std::decay_t<P>::describe(k < names.size() ? names[k] : "?")), ...,
         void(++k));
        k = 0;
        for (ir::Parameter& p : list) p.name = names[k++];
        return list;
    }
    static std::vector<bool> may_share() { return {std::decay_t<P>::may_share...}; }
    static constexpr std::size_t count = sizeof...(P);
    template <class L, std::size_t... K>
    static void call(const L& lambda, const std::vector<int>& symbols, std::uint64_t shared,
                     std::index_sequence<K...>) {
        std::tuple<std::decay_t<P>...> parameters{
            std::decay_t<P>(symbols[K], ((shared >> K) & 1) != 0)...};
        lambda(Int::from(builder().item()), std::get<K>(parameters)...);
    }
};
void check_names(const std::string& kernel, const std::vector<std::string>& names,
                 std::size_t expected, const Location& location);
}  // namespace detail

template <class L>
KernelDef kernel(std::string name, std::vector<std::string> parameter_names, L lambda,
                 const Location& location = Location::current()) {
    using S = detail::Signature<decltype(&L::operator())>;
    detail::check_names(name, parameter_names, S::count, location);
    return KernelDef(std::move(name), S::parameters(parameter_names), S::may_share(),
                     [lambda](const std::vector<int>& symbols, std::uint64_t shared) {
                         S::call(lambda, symbols, shared, std::make_index_sequence<S::count>());
                     });
}

}  // namespace hindcast::lang
