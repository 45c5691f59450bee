// Traced matrices, row by row: Mat<S, R, C>, with Mat2 and Mat3.
#pragma once

#include "engine/lang/vector.hpp"

namespace hindcast::lang {

template <class S, int R, int C>
class Mat {
public:
    using Component = S;
    static constexpr int rows = R, columns = C;

    Mat() = default;
    Mat(const Mat&) = default;
    Mat& operator=(const Mat&) & = default;
    static Mat identity() requires(R == C) {
        Mat m;
        for (int r = 0; r < R; ++r) m(r, r) = S(1);
        return m;
    }
    static Mat from_columns(const std::array<Vec<S, R>, C>& v) {
        Mat m;
        for (int r = 0; r < R; ++r)
            for (int c = 0; c < C; ++c) m(r, c) = v[static_cast<std::size_t>(c)][r];
        return m;
    }
    S& operator()(int r, int c) & { return m_[position(r, c)]; }
    const S& operator()(int r, int c) const& { return m_[position(r, c)]; }
    Vec<S, R> column(int c) const {
        Vec<S, R> v;
        for (int r = 0; r < R; ++r) v[r] = (*this)(r, c);
        return v;
    }

    struct Operand {
        const Mat m;
        PlaceScope scope;
        Operand(const Mat& matrix, const Location& location = Location::current())
            : m(matrix), scope(location) {}  // NOLINT
        template <class P>
        requires StandsFor<P, Mat> Operand(P&& element,
                                           const Location& location = Location::current())
            : m(static_cast<Mat>(std::forward<P>(element))), scope(location) {}  // NOLINT
    };
    friend Mat operator+(const Operand& a, const Operand& b) {
        return map([&](int r, int c) { return a.m(r, c) + b.m(r, c); });
    }
    friend Mat operator-(const Operand& a, const Operand& b) {
        return map([&](int r, int c) { return a.m(r, c) - b.m(r, c); });
    }
    friend Mat operator-(const Operand& a) {
        return map([&](int r, int c) { return -a.m(r, c); });
    }
    friend Mat operator*(const Operand& a, typename S::Operand s) {
        const S f = S::from(s.value);
        return map([&](int r, int c) { return a.m(r, c) * f; });
    }
    friend Mat operator*(typename S::Operand s, const Operand& a) {
        const S f = S::from(s.value);
        return map([&](int r, int c) { return f * a.m(r, c); });
    }
    friend Mat operator/(const Operand& a, typename S::Operand s) {
        const S f = S::from(s.value);
        return map([&](int r, int c) { return a.m(r, c) / f; });
    }
    Mat& operator+=(const Operand& b) & { return *this = *this + b.m; }
    Mat& operator-=(const Operand& b) & { return *this = *this - b.m; }
    friend Vec<S, R> operator*(const Operand& a, const Vec<S, C>& v) {
        Vec<S, R> u;
        for (int r = 0; r < R; ++r) {
            S s = a.m(r, 0) * v[0];
            for (int c = 1; c < C; ++c) s = s + a.m(r, c) * v[c];
            u[r] = s;
        }
        return u;
    }
    friend Mat<S, C, R> transpose(const Operand& a) {
        Mat<S, C, R> t;
        for (int r = 0; r < R; ++r)
            for (int c = 0; c < C; ++c) t(c, r) = a.m(r, c);
        return t;
    }
    friend S trace(const Operand& a) requires(R == C) {
        S s = a.m(0, 0);
        for (int r = 1; r < R; ++r) s = s + a.m(r, r);
        return s;
    }
    // Frobenius product: the sum of a_rc b_rc.
    friend S inner(const Operand& a, const Operand& b) {
        S s = a.m(0, 0) * b.m(0, 0);
        for (int k = 1; k < R * C; ++k) s = s + a.m(k / C, k % C) * b.m(k / C, k % C);
        return s;
    }
    friend S determinant(const Operand& a) requires(R == C && R == 2) {
        return a.m(0, 0) * a.m(1, 1) - a.m(0, 1) * a.m(1, 0);
    }
    friend S determinant(const Operand& a) requires(R == C && R == 3) {
        return a.m(0, 0) * (a.m(1, 1) * a.m(2, 2) - a.m(1, 2) * a.m(2, 1)) -
               a.m(0, 1) * (a.m(1, 0) * a.m(2, 2) - a.m(1, 2) * a.m(2, 0)) +
               a.m(0, 2) * (a.m(1, 0) * a.m(2, 1) - a.m(1, 1) * a.m(2, 0));
    }
    // The transpose of the cofactor matrix: adjugate(a) a = det(a) I.
    friend Mat adjugate(const Operand& a) requires(R == C && (R == 2 || R == 3)) {
        Mat m;
        if constexpr (R == 2) {
            m(0, 0) = a.m(1, 1), m(0, 1) = -a.m(0, 1), m(1, 0) = -a.m(1, 0), m(1, 1) = a.m(0, 0);
        } else {
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c) {
                    const int r1 = (c + 1) % 3, r2 = (c + 2) % 3, c1 = (r + 1) % 3,
                              c2 = (r + 2) % 3;
                    m(r, c) = a.m(r1, c1) * a.m(r2, c2) - a.m(r1, c2) * a.m(r2, c1);
                }
        }
        return m;
    }
    friend Mat inverse(const Operand& a) requires(R == C && (R == 2 || R == 3)) {
        return adjugate(a.m) * (1.0 / determinant(a.m));
    }

private:
    static std::size_t position(int r, int c) {
        if (r < 0 || r >= R || c < 0 || c >= C)
            throw builder().error("a matrix of " + std::to_string(R) + " x " + std::to_string(C) +
                                  " has no element (" + std::to_string(r) + ", " +
                                  std::to_string(c) + ")");
        return static_cast<std::size_t>(r) * C + static_cast<std::size_t>(c);
    }
    template <class F>
    static Mat map(F f) {
        Mat m;
        for (int r = 0; r < R; ++r)
            for (int c = 0; c < C; ++c) m(r, c) = f(r, c);
        return m;
    }
    std::array<S, static_cast<std::size_t>(R* C)> m_;
};

template <class S, int R, int K, int C>
Mat<S, R, C> operator*(const Mat<S, R, K>& a, const Mat<S, K, C>& b) {
    Mat<S, R, C> m;
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            S s = a(r, 0) * b(0, c);
            for (int k = 1; k < K; ++k) s = s + a(r, k) * b(k, c);
            m(r, c) = s;
        }
    return m;
}

// a b^T
template <class S, int R, int C>
Mat<S, R, C> outer(const Vec<S, R>& a, const Vec<S, C>& b) {
    Mat<S, R, C> m;
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) m(r, c) = a[r] * b[c];
    return m;
}

using Mat2 = Mat<Float, 2, 2>;
using Mat3 = Mat<Float, 3, 3>;

}  // namespace hindcast::lang
