// Traced vectors: Vec<S, N>, with Vec2, Vec3, Vec4, Int2, Int3, ... Components are variables of
// their own: v.x() += s, v[1] = s, and v[k] = s with a traced k (small fixed sizes only: it costs N
// selects).
#pragma once

#include <array>

#include "engine/lang/scalar.hpp"

namespace hindcast::lang {

template <class S, int N>
class Vec {
public:
    using Component = S;
    static constexpr int size = N;
    // The component at a traced index, of a local vector. A template of S so that operators on S
    // are found for it.
    template <class>
    class ComponentAt {
    public:
        ComponentAt(Vec& vector, Int index) : vector_(vector), index_(index) {}
        ComponentAt(const ComponentAt&) = delete;
        ComponentAt& operator=(const ComponentAt&) = delete;
        template <class T>
        static constexpr bool is_element_of = std::same_as<T, S>;
        operator S() && { return value(); }  // NOLINT
        void operator=(const S& s) && {
            for (int k = 0; k < N; ++k)
                vector_.c_[static_cast<std::size_t>(k)] =
                    select(index_ == k, s, vector_.c_[static_cast<std::size_t>(k)]);
        }
        void operator+=(const S& s) && { std::move(*this) = value() + s; }
        void operator-=(const S& s) && { std::move(*this) = value() - s; }
        void operator*=(const S& s) && { std::move(*this) = value() * s; }
        void operator/=(const S& s) && { std::move(*this) = value() / s; }

    private:
        S value() const { return std::as_const(vector_)[index_]; }
        Vec& vector_;
        Int index_;
    };
    using At = ComponentAt<S>;

    Vec() = default;
    Vec(const Vec&) = default;
    Vec& operator=(const Vec&) & = default;
    template <class... C>
    requires(sizeof...(C) == N && N > 1 && (std::convertible_to<C, S> && ...))
        Vec(C&&... components)
        : c_{S(std::forward<C>(components))...} {}  // NOLINT: Vec3(1, 2, z)
    static Vec filled(const S& s) {
        Vec v;
        for (S& c : v.c_) c = s;
        return v;
    }

    // Components of variables can be assigned, those of results (rvalues) only read.
    S& operator[](int k) & { return c_[position(k)]; }
    const S& operator[](int k) const& { return c_[position(k)]; }
    At operator[](const Int& k) & { return At(*this, k); }
    S operator[](const Int& k) const& {
        S s = c_[0];
        for (int j = 1; j < N; ++j) s = select(k == j, c_[static_cast<std::size_t>(j)], s);
        return s;
    }
    S& x() & { return c_[0]; }
    S& y() & requires(N > 1) { return c_[1]; }
    S& z() & requires(N > 2) { return c_[2]; }
    S& w() & requires(N > 3) { return c_[3]; }
    const S& x() const& { return c_[0]; }
    const S& y() const& requires(N > 1) { return c_[1]; }
    const S& z() const& requires(N > 2) { return c_[2]; }
    const S& w() const& requires(N > 3) { return c_[3]; }

    // An operand with the place of the expression it stands in.
    struct Operand {
        const Vec v;
        PlaceScope scope;
        Operand(const Vec& vector, const Location& location = Location::current())
            : v(vector), scope(location) {}  // NOLINT
        template <class P>
        requires StandsFor<P, Vec> Operand(P&& element,
                                           const Location& location = Location::current())
            : v(static_cast<Vec>(std::forward<P>(element))), scope(location) {}  // NOLINT
    };
    friend Vec operator+(const Operand& a, const Operand& b) {
        return map([&](int k) { return a.v[k] + b.v[k]; });
    }
    friend Vec operator-(const Operand& a, const Operand& b) {
        return map([&](int k) { return a.v[k] - b.v[k]; });
    }
    friend Vec operator-(const Operand& a) {
        return map([&](int k) { return -a.v[k]; });
    }
    friend Vec operator*(const Operand& a, typename S::Operand s) {
        const S f = S::from(s.value);
        return map([&](int k) { return a.v[k] * f; });
    }
    friend Vec operator*(typename S::Operand s, const Operand& a) {
        const S f = S::from(s.value);
        return map([&](int k) { return f * a.v[k]; });
    }
    friend Vec operator/(const Operand& a, typename S::Operand s) {
        const S f = S::from(s.value);
        return map([&](int k) { return a.v[k] / f; });
    }
    Vec& operator+=(const Operand& b) & { return *this = *this + b.v; }
    Vec& operator-=(const Operand& b) & { return *this = *this - b.v; }
    Vec& operator*=(typename S::Operand s) & { return *this = *this * S::from(s.value); }
    Vec& operator/=(typename S::Operand s) & { return *this = *this / S::from(s.value); }

    friend Vec cwise_product(const Operand& a, const Operand& b) {
        return map([&](int k) { return a.v[k] * b.v[k]; });
    }
    friend Vec min(const Operand& a, const Operand& b) {
        return map([&](int k) { return min(a.v[k], b.v[k]); });
    }
    friend Vec max(const Operand& a, const Operand& b) {
        return map([&](int k) { return max(a.v[k], b.v[k]); });
    }
    friend Vec select(const Bool& c, const Operand& a, const Operand& b) {
        return map([&](int k) { return select(c, a.v[k], b.v[k]); });
    }
    // a0 b0 + a1 b1 + ..., each sum fused.
    friend S dot(const Operand& a, const Operand& b) {
        S s = a.v[0] * b.v[0];
        for (int k = 1; k < N; ++k) s = s + a.v[k] * b.v[k];
        return s;
    }
    friend S sum(const Operand& a) {
        S s = a.v[0];
        for (int k = 1; k < N; ++k) s = s + a.v[k];
        return s;
    }
    friend S squared_norm(const Operand& a) { return dot(a.v, a.v); }
    // Euclidean length; the derivative at zero is zero in both modes.
    friend S norm(const Operand& a) requires std::same_as<S, Float> {
        ir::Builder& b = builder();
        const ir::Type t = b.type_of(a.v[0].value());
        if constexpr (N == 1)
            return abs(a.v[0]);
        else if constexpr (N == 2)
            return S::from(b.emit(ir::OpCode::norm2, t, a.v[0].value(), a.v[1].value()));
        else {
            S n = S::from(
                b.emit(ir::OpCode::norm3, t, a.v[0].value(), a.v[1].value(), a.v[2].value()));
            for (int k = 3; k < N; ++k)
                n = S::from(b.emit(ir::OpCode::norm2, t, n.value(), a.v[k].value()));
            return n;
        }
    }
    // a / |a|; the zero vector at zero.
    friend Vec normalize(const Operand& a) requires std::same_as<S, Float> {
        const S n = norm(a.v);
        return map([&](int k) { return divz(a.v[k], n); });
    }
    // sqrt(|a|^2 + epsilon^2): smooth, with a bounded derivative.
    friend S safe_norm(const Operand& a,
                       typename S::Operand epsilon) requires std::same_as<S, Float> {
        const S e = S::from(epsilon.value);
        return sqrt(dot(a.v, a.v) + e * e);
    }
    friend Vec cross(const Operand& a, const Operand& b) requires(N == 3) {
        return Vec(a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2],
                   a.v[0] * b.v[1] - a.v[1] * b.v[0]);
    }
    friend S cross(const Operand& a, const Operand& b) requires(N == 2) {
        return a.v[0] * b.v[1] - a.v[1] * b.v[0];
    }

private:
    static std::size_t position(int k) {
        if (k < 0 || k >= N)
            throw builder().error("a vector of " + std::to_string(N) + " has no component " +
                                  std::to_string(k));
        return static_cast<std::size_t>(k);
    }
    template <class F>
    static Vec map(F f) {
        Vec v;
        for (int k = 0; k < N; ++k) v[k] = f(k);
        return v;
    }
    std::array<S, N> c_;
};

using Vec2 = Vec<Float, 2>;
using Vec3 = Vec<Float, 3>;
using Vec4 = Vec<Float, 4>;
using Int2 = Vec<Int, 2>;
using Int3 = Vec<Int, 3>;
using Int4 = Vec<Int, 4>;

}  // namespace hindcast::lang
