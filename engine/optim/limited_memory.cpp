#include "engine/optim/limited_memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/document/read.hpp"
#include "engine/optim/update_rule.hpp"

namespace hindcast::optim {

namespace {

constexpr double least_curvature = 0x1p-40;  // s.y, relative to |s| |y|

// A small square matrix of rows.
using RowMatrix = std::vector<Vector>;

Vector times(const RowMatrix& a, const Vector& x) {
    Vector y(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) y[k] = dot(a[k], x);
    return y;
}

// Solves A X = B by elimination with the largest pivot of each column; B becomes X.
void solve(RowMatrix a, RowMatrix& b) {
    const std::size_t n = a.size();
    for (std::size_t c = 0; c < n; ++c) {
        std::size_t pivot = c;
        for (std::size_t r = c + 1; r < n; ++r)
            if (std::fabs(a[r][c]) > std::fabs(a[pivot][c])) pivot = r;
        std::swap(a[c], a[pivot]);
        std::swap(b[c], b[pivot]);
        for (std::size_t r = c + 1; r < n; ++r) {
            const double factor = -a[r][c] / a[c][c];
            if (factor == 0) continue;
            add(a[r], factor, a[c]);
            add(b[r], factor, b[c]);
        }
    }
    for (std::size_t c = n; c-- > 0;) {
        for (std::size_t k = c + 1; k < n; ++k) add(b[c], -a[c][k], b[k]);
        for (double& x : b[c]) x /= a[c][c];
    }
}

RowMatrix identity(std::size_t n) {
    RowMatrix a(n, Vector(n, 0.0));
    for (std::size_t k = 0; k < n; ++k) a[k][k] = 1;
    return a;
}

}  // namespace

// The compact form of the model.
class LimitedMemory::Model {
public:
    explicit Model(const LimitedMemory& memory)
        : pairs_(memory.pairs_), theta_(memory.theta_), count_(pairs_.size()) {
        RowMatrix inverse(2 * count_, Vector(2 * count_, 0.0));
        for (std::size_t i = 0; i < count_; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                const double sy = dot(pairs_[i].s, pairs_[j].y);
                if (i == j)
                    inverse[i][i] = -sy;
                else
                    inverse[count_ + i][j] = inverse[j][count_ + i] = sy;
                const double ss = theta_ * dot(pairs_[i].s, pairs_[j].s);
                inverse[count_ + i][count_ + j] = inverse[count_ + j][count_ + i] = ss;
            }
        m_ = identity(2 * count_);
        solve(std::move(inverse), m_);
    }

    // Algorithm CP.
    Cauchy cauchy(const Vector& u, const Vector& g, const Vector& low, const Vector& high) const {
        const std::size_t n = u.size();
        Cauchy found{u, Vector(2 * count_, 0.0), std::vector<bool>(n, true), true};
        Vector d(n, 0.0), at(n, std::numeric_limits<double>::infinity());
        std::vector<std::size_t> order;
        for (std::size_t k = 0; k < n; ++k) {
            if (g[k] != 0) at[k] = (u[k] - (g[k] < 0 ? high[k] : low[k])) / g[k];
            if (at[k] > 0)
                d[k] = -g[k];
            else
                hold(found, k);
            if (at[k] > 0 && std::isfinite(at[k])) order.push_back(k);
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return at[a] < at[b]; });
        Vector p = transposed(d);
        double first = -dot(d, d), second = -theta_ * first - dot(p, times(m_, p));
        const double least = 0x1p-52 * theta_ * -first;  // of the curvature: rounding
        second = std::max(second, least);
        double t = 0, step = first < 0 ? -first / second : 0;
        for (const std::size_t k : order) {
            const double part = at[k] - t;
            if (step < part) break;
            t = at[k];
            found.x[k] = g[k] < 0 ? high[k] : low[k];
            hold(found, k);
            const double z = found.x[k] - u[k];
            const Vector w = row(k), mw = times(m_, w);
            add(found.c, part, p);
            first += part * second + g[k] * g[k] + theta_ * g[k] * z - g[k] * dot(mw, found.c);
            second -= theta_ * g[k] * g[k] + 2 * g[k] * dot(mw, p) + g[k] * g[k] * dot(mw, w);
            second = std::max(second, least);
            add(p, g[k], w);
            step = first < 0 ? -first / second : 0;
        }
        t += step;
        for (std::size_t k = 0; k < n; ++k)
            if (found.free[k]) found.x[k] = u[k] - t * g[k];
        add(found.c, step, p);
        return found;
    }

    // From the Cauchy point to the minimum over the free entries, (5.11).
    Vector step(const Cauchy& from, const Vector& u, const Vector& g) const {
        const std::size_t n = u.size();
        const Vector mc = times(m_, from.c);
        Vector r(n, 0.0);
        for (std::size_t k = 0; k < n; ++k)
            if (from.free[k]) r[k] = g[k] + theta_ * (from.x[k] - u[k]) - dot(row(k), mc);
        RowMatrix inner(2 * count_, Vector(2 * count_, 0.0));  // W_F^T W_F / theta
        for (std::size_t k = 0; k < n; ++k) {
            if (!from.free[k]) continue;
            const Vector w = row(k);
            for (std::size_t a = 0; a < w.size(); ++a) add(inner[a], w[a] / theta_, w);
        }
        RowMatrix a = identity(2 * count_);
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = 0; j < a.size(); ++j) add(a[i], -m_[i][j], inner[j]);
        RowMatrix v;
        for (const double x : times(m_, transposed(r))) v.push_back({x});
        solve(std::move(a), v);
        Vector d(n, 0.0);
        for (std::size_t k = 0; k < n; ++k) {
            if (!from.free[k]) continue;
            double sum = 0;
            const Vector w = row(k);
            for (std::size_t j = 0; j < w.size(); ++j) sum += w[j] * v[j][0];
            d[k] = -(r[k] + sum / theta_) / theta_;
        }
        return d;
    }

private:
    static void hold(Cauchy& point, std::size_t k) { point.free[k] = point.all_free = false; }

    // Row k of W, and W^T v.
    Vector row(std::size_t k) const {
        Vector w(2 * count_);
        for (std::size_t j = 0; j < count_; ++j) {
            w[j] = pairs_[j].y[k];
            w[count_ + j] = theta_ * pairs_[j].s[k];
        }
        return w;
    }
    Vector transposed(const Vector& v) const {
        Vector result(2 * count_);
        for (std::size_t j = 0; j < count_; ++j) {
            result[j] = dot(pairs_[j].y, v);
            result[count_ + j] = theta_ * dot(pairs_[j].s, v);
        }
        return result;
    }

    const std::deque<Pair>& pairs_;
    double theta_;
    std::size_t count_;
    RowMatrix m_;
};

void LimitedMemory::clear(double theta) {
    pairs_.clear();
    theta_ = theta;
}

void LimitedMemory::add_pair(Vector s, Vector y) {
    const double sy = dot(s, y), yy = dot(y, y);
    if (!(sy > least_curvature * norm(s) * norm(y)) || !std::isfinite(yy / sy)) return;
    theta_ = yy / sy;
    pairs_.push_back({std::move(s), std::move(y), sy});
    if (pairs_.size() > most_) pairs_.pop_front();
}

Vector LimitedMemory::two_loop(const Vector& g) const {
    Vector q = g, alpha(pairs_.size());
    for (std::size_t k = pairs_.size(); k-- > 0;) {
        alpha[k] = dot(pairs_[k].s, q) / pairs_[k].sy;
        add(q, -alpha[k], pairs_[k].y);
    }
    for (double& x : q) x /= theta_;
    for (std::size_t k = 0; k < pairs_.size(); ++k)
        add(q, alpha[k] - dot(pairs_[k].y, q) / pairs_[k].sy, pairs_[k].s);
    return q;
}

Vector LimitedMemory::minimum(const Vector& u, const Vector& g, const Vector& low,
                              const Vector& high) const {
    const auto finite = [](double x) { return std::isfinite(x); };
    const bool bounded = std::any_of(low.begin(), low.end(), finite) ||
                         std::any_of(high.begin(), high.end(), finite);
    Vector from = u, cauchy, d;
    bool all_free = true;
    if (bounded) {
        const Model model(*this);
        Cauchy first = model.cauchy(u, g, low, high);
        cauchy = std::move(first.x);
        all_free = first.all_free;
        if (!all_free) {
            from = cauchy;
            d = model.step({cauchy, std::move(first.c), std::move(first.free), false}, u, g);
        }
    }
    if (all_free) {
        d = two_loop(g);
        for (double& x : d) x = -x;
    }
    const auto toward = [&](double part) {
        Vector x = from;
        add(x, part, d);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::clamp(x[k], low[k], high[k]);
        return x;
    };
    const auto descends = [&](const Vector& x) { return dot(difference(x, u), g) < 0; };
    if (Vector x = toward(1); descends(x) || !bounded) return x;
    double part = 1;
    for (std::size_t k = 0; k < d.size(); ++k)
        if (d[k] != 0) part = std::min(part, ((d[k] > 0 ? high[k] : low[k]) - from[k]) / d[k]);
    if (Vector x = toward(part); descends(x)) return x;
    return cauchy;
}

document::Node LimitedMemory::state() const {
    document::Node pairs = document::Node::array();
    for (const Pair& pair : pairs_)
        pairs.push_back(
            document::Node::object({{"s", exact_numbers(pair.s)}, {"y", exact_numbers(pair.y)}}));
    return document::Node::object(
        {{"theta", exact_numbers(std::span(&theta_, 1))}, {"pairs", std::move(pairs)}});
}

void LimitedMemory::restore(const document::Node& state, std::size_t entries) {
    document::Reader reader(state, "the memory of lbfgs");
    const double theta = exact_numbers_of(reader.require("theta"), 1)[0];
    const document::Node& list = reader.array("pairs");
    reader.finish();
    if (list.size() > most_)
        throw document::fault(list, std::to_string(list.size()) + " pairs do not fit a memory of " +
                                        std::to_string(most_))
            .remedy("continue with the \"memory\" that the state was saved with");
    std::deque<Pair> pairs;
    for (std::size_t k = 0; k < list.size(); ++k) {
        document::Reader item(list.item(k), "a pair of lbfgs");
        Pair pair{exact_numbers_of(item.require("s"), entries),
                  exact_numbers_of(item.require("y"), entries), 0};
        item.finish();
        pair.sy = dot(pair.s, pair.y);
        pairs.push_back(std::move(pair));
    }
    pairs_ = std::move(pairs);
    theta_ = theta;
}

}  // namespace hindcast::optim
