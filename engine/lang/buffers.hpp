// Declarations of a kernel's parameters, each with one kind of access, which tracing checks.
//
//   Read<T> x          x[i] at any index
//   Write<T> x         x[i] = v at the item's own index, on every path; the old value is dead
//   ReadWrite<T> x     x[i] read and assigned, whole or by component, at the item's own index
//   Accumulate<T> x    x[j] += v at any index; adds to what is there, in item order
//   Sum<T> x           the same, after clearing the whole array
//   WriteSlice<T> x    x.store_once(j, v): elements that this item owns, each stored at most once
//                      and never read here
//   Reduce<T> e        e += v: one result per launch, fixed tree, accumulated in f64
//   Atomic<Int> n      n[j].add(v), .min(v), .max(v)
//   Param<T> p         p.value(), or p where a value is expected; one value per launch
//   Property<T> p      p[i]: one value per item, or one for all (decided when the kernel is traced)
//
// Compiled kernels do not check indices, except those of sums in fixed point: one out of range reads
// or writes other memory, which may pass unnoticed. The interpreter and checked kernels (--checked)
// raise, with item, line, index and size: run a new kernel that way first.
//
// T is Float, Int, UInt, Long, ULong, or a Vec or Mat of these.
#pragma once

#include <utility>

#include "engine/lang/matrix.hpp"

namespace hindcast::lang {

// Scalars of a traced type, in the order they stand in memory.
template <class T>
struct Shape;
template <class K>
struct Shape<Scalar<K>> {
    using S = Scalar<K>;
    static constexpr int components = 1, rows = 1;
    static S& component(S& s, int) { return s; }
    static const S& component(const S& s, int) { return s; }  // NOLINT: like those of vectors
};
template <class S_, int N>
struct Shape<Vec<S_, N>> {
    using S = S_;
    static constexpr int components = N, rows = 1;
    static S& component(Vec<S, N>& v, int k) { return v[k]; }
    static const S& component(const Vec<S, N>& v, int k) { return v[k]; }
};
template <class S_, int R, int C>
struct Shape<Mat<S_, R, C>> {
    using S = S_;
    static constexpr int components = R * C, rows = R;
    static S& component(Mat<S, R, C>& m, int k) { return m(k / C, k % C); }
    static const S& component(const Mat<S, R, C>& m, int k) { return m(k / C, k % C); }
};
template <class S>
struct KindOf;
template <class K>
struct KindOf<Scalar<K>> {
    using type = K;
};

template <class T>
ir::Type type_in_memory() {
    using K = typename KindOf<typename Shape<T>::S>::type;
    static_assert(!std::same_as<K, BoolKind>, "booleans do not stand in buffers: use Int");
    if constexpr (std::same_as<K, RealKind>)
        return ir::Type::f64;  // until traced
    else
        return K::type();
}

// The base of every parameter: its symbol in the kernel.
template <class T, ir::Access access_>
class ParameterOf {
public:
    static constexpr bool may_share = false;
    static ir::Parameter describe(const std::string& name) {
        return {name, access_, type_in_memory<T>(), Shape<T>::components, Shape<T>::rows};
    }
    ParameterOf(int symbol, bool /*shared*/) : symbol_(symbol) {}

protected:
    template <class F>
    static T make(F component) {
        T value;
        for (int k = 0; k < Shape<T>::components; ++k)
            Shape<T>::component(value, k) = Shape<T>::S::from(component(k));
        return value;
    }
    int symbol_;
};

template <class T>
class Read : public ParameterOf<T, ir::Access::read> {
public:
    using ParameterOf<T, ir::Access::read>::ParameterOf;
    T operator[](Int::Operand i) const {
        return this->make([&](int k) { return builder().load(this->symbol_, k, i.value); });
    }
};

// y[i] of a buffer the item owns an element of. Not a value: it cannot be kept (`auto old = y[i]`
// does not compile).
template <class T>
class OwnElement {
public:
    using S = typename Shape<T>::S;
    template <class U>
    static constexpr bool is_element_of = std::same_as<U, T>;
    OwnElement(int symbol, ir::Value index) : symbol_(symbol), index_(index) {}
    OwnElement(const OwnElement&) = delete;
    OwnElement& operator=(const OwnElement&) = delete;

    operator T() && { return get(); }  // NOLINT: reading is what an element is for
    void operator=(const T& value) && {
        for (int k = 0; k < Shape<T>::components; ++k)
            builder().write(slot(k), Shape<T>::component(value, k).value());
    }
    void operator=(OwnElement&& other) && { std::move(*this) = other.get(); }  // NOLINT: records
    void operator+=(const T& value) && { std::move(*this) = get() + value; }
    void operator-=(const T& value) && { std::move(*this) = get() - value; }
    void operator*=(const S& factor) && { std::move(*this) = get() * factor; }
    void operator/=(const S& divisor) && { std::move(*this) = get() / divisor; }
    // The product of square matrices, in this order.
    void operator*=(const T& value) && requires(Shape<T>::rows > 1) {
        std::move(*this) = get() * value;
    }

    // A template of S so that operators on S are found for it.
    template <class>
    class ComponentOf {
    public:
        template <class U>
        static constexpr bool is_element_of = std::same_as<U, S>;
        ComponentOf(int symbol, ir::Value index, int k)
            : slot_(builder().own(symbol, index, k)), symbol_(symbol) {}
        ComponentOf(const ComponentOf&) = delete;
        ComponentOf& operator=(const ComponentOf&) = delete;
        operator S() && { return get(); }  // NOLINT
        void operator=(const S& value) && { builder().write(slot_, value.value()); }
        void operator=(ComponentOf&& other) && {  // NOLINT: records, so it may throw
            builder().write(slot_, other.get().value());
        }
        void operator+=(const S& value) && { std::move(*this) = get() + value; }
        void operator-=(const S& value) && { std::move(*this) = get() - value; }
        void operator*=(const S& value) && { std::move(*this) = get() * value; }
        void operator/=(const S& value) && { std::move(*this) = get() / value; }

    private:
        S get() const { return S::from(read_own(slot_, symbol_)); }
        ir::Slot slot_;
        int symbol_;
    };
    using Component = ComponentOf<S>;
    Component operator[](int k) && { return component(k); }
    Component x() && { return component(0); }
    Component y() && { return component(1); }
    Component z() && { return component(2); }
    Component operator()(int r, int c) && {
        constexpr int columns = Shape<T>::components / Shape<T>::rows;
        return component(c >= 0 && c < columns ? r * columns + c : -1);
    }

private:
    static ir::Value read_own(ir::Slot slot, int symbol) {
        const ir::Value v = builder().read(slot);
        if (v == ir::no_value)
            throw builder()
                .error("'" + builder().kernel().parameter(symbol).name +
                       "' is declared Write, but is read before it is stored")
                .remedy("declare it ReadWrite to use the old value");
        return v;
    }
    ir::Slot slot(int k) const { return builder().own(symbol_, index_, k); }
    T get() const {
        T value;
        for (int k = 0; k < Shape<T>::components; ++k)
            Shape<T>::component(value, k) = S::from(read_own(slot(k), symbol_));
        return value;
    }
    Component component(int k) const {
        if (k < 0 || k >= Shape<T>::components)
            throw builder().error("an element has no component " + std::to_string(k));
        return Component(symbol_, index_, k);
    }
    int symbol_;
    ir::Value index_;
};

// The own index: the work item, or a value declared injective (checked mode verifies it).
ir::Value own_index(int symbol, ir::Value index);
// Declares that no two items of a launch compute the same value of this index.
Int injective(const Int& index);

template <class T, ir::Access access_>
class Own : public ParameterOf<T, access_> {
public:
    using ParameterOf<T, access_>::ParameterOf;
    OwnElement<T> operator[](Int::Operand i) const {
        return {this->symbol_, own_index(this->symbol_, i.value)};
    }
};
template <class T>
class Write : public Own<T, ir::Access::write> {
    using Own<T, ir::Access::write>::Own;
};
template <class T>
class ReadWrite : public Own<T, ir::Access::read_write> {
    using Own<T, ir::Access::read_write>::Own;
};

// force[j]: takes += and -=, whole or by component, and nothing else.
template <class T>
class SumElement {
public:
    using S = typename Shape<T>::S;
    SumElement(int symbol, ir::Value index) : symbol_(symbol), index_(index) {}
    SumElement(const SumElement&) = delete;
    SumElement& operator=(const SumElement&) = delete;
    void operator+=(const T& value) && {
        for (int k = 0; k < Shape<T>::components; ++k) add(k, Shape<T>::component(value, k));
    }
    void operator-=(const T& value) && {
        for (int k = 0; k < Shape<T>::components; ++k) add(k, -Shape<T>::component(value, k));
    }
    class Component {
    public:
        Component(const SumElement& element, int k) : element_(element), k_(k) {
            if (k < 0 || k >= Shape<T>::components)
                throw builder().error("an element has no component " + std::to_string(k));
        }
        Component(const Component&) = delete;
        Component& operator=(const Component&) = delete;
        void operator+=(const S& value) && { element_.add(k_, value); }
        void operator-=(const S& value) && { element_.add(k_, -value); }

    private:
        const SumElement& element_;
        int k_;
    };
    Component operator[](int k) const { return {*this, k}; }
    Component x() const { return {*this, 0}; }
    Component y() const { return {*this, 1}; }
    Component z() const { return {*this, 2}; }

private:
    void add(int k, const S& value) const {
        builder().effect(ir::OpCode::accumulate, symbol_, k, index_, value.value());
    }
    int symbol_;
    ir::Value index_;
};
template <class T, ir::Access access_>
class Summed : public ParameterOf<T, access_> {
public:
    using ParameterOf<T, access_>::ParameterOf;
    SumElement<T> operator[](Int::Operand i) const { return {this->symbol_, i.value}; }
};
template <class T>
class Accumulate : public Summed<T, ir::Access::accumulate> {
    using Summed<T, ir::Access::accumulate>::Summed;
};
template <class T>
class Sum : public Summed<T, ir::Access::sum> {
    using Summed<T, ir::Access::sum>::Summed;
};

template <class T>
class WriteSlice : public ParameterOf<T, ir::Access::slice> {
public:
    using ParameterOf<T, ir::Access::slice>::ParameterOf;
    void store_once(Int::Operand index, const T& value) const {
        for (int k = 0; k < Shape<T>::components; ++k)
            builder().effect(ir::OpCode::store_once, this->symbol_, k, index.value,
                             Shape<T>::component(value, k).value());
    }
};

template <class T>
class Reduce : public ParameterOf<T, ir::Access::reduce> {
    static_assert(std::same_as<typename Shape<T>::S, Float>,
                  "Reduce sums reals: add Float(n), or use Atomic for integers");

public:
    using ParameterOf<T, ir::Access::reduce>::ParameterOf;
    void operator+=(const T& value) const {
        for (int k = 0; k < Shape<T>::components; ++k)
            builder().effect(ir::OpCode::reduce, this->symbol_, k,
                             Shape<T>::component(value, k).value());
    }
    void operator-=(const T& value) const { *this += -value; }
};

template <class T>
class Atomic : public ParameterOf<T, ir::Access::atomic> {
    static_assert(Shape<T>::components == 1 && !std::same_as<T, Float>,
                  "Atomic is for integers: use Accumulate for reals");

public:
    using ParameterOf<T, ir::Access::atomic>::ParameterOf;
    class Element {
    public:
        Element(int symbol, ir::Value index) : symbol_(symbol), index_(index) {}
        void add(const T& v) const { effect(ir::OpCode::atomic_add, v); }
        void min(const T& v) const { effect(ir::OpCode::atomic_min, v); }
        void max(const T& v) const { effect(ir::OpCode::atomic_max, v); }

    private:
        void effect(ir::OpCode code, const T& v) const {
            builder().effect(code, symbol_, 0, index_, v.value());
        }
        int symbol_;
        ir::Value index_;
    };
    Element operator[](Int::Operand i) const { return {this->symbol_, i.value}; }
};

template <class T>
class Param : public ParameterOf<T, ir::Access::value> {
public:
    using ParameterOf<T, ir::Access::value>::ParameterOf;
    template <class U>
    static constexpr bool is_param_of = std::same_as<U, T>;
    T value() const {
        return this->make([&](int k) { return builder().parameter(this->symbol_, k); });
    }
    operator T() const { return value(); }  // NOLINT
};

template <class T>
class Property : public ParameterOf<T, ir::Access::read> {
public:
    static constexpr bool may_share = true;
    Property(int symbol, bool shared)
        : ParameterOf<T, ir::Access::read>(symbol, shared), shared_(shared) {}
    bool shared() const { return shared_; }
    T operator[](Int::Operand i) const {
        return this->make([&](int k) {
            return shared_ ? builder().parameter(this->symbol_, k)
                           : builder().load(this->symbol_, k, i.value);
        });
    }

private:
    bool shared_;
};

}  // namespace hindcast::lang
