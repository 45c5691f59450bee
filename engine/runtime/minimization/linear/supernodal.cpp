#include "engine/runtime/minimization/linear/supernodal.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/runtime/minimization/linear/eigen.hpp"
#include "engine/runtime/minimization/linear/linear_solver.hpp"

namespace hindcast {

namespace {

// Four rows of a column; operations are by element.
typedef double Four __attribute__((vector_size(32)));

Four load(const double* p) {
    Four v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
void store(double* p, Four v) { std::memcpy(p, &v, sizeof v); }

constexpr int padded(int n) { return (n + 3) & ~3; }

// Four rows of four columns, while products are subtracted from them.
struct Tile {
    Four c0, c1, c2, c3;

    Tile(const double* c, std::size_t stride)
        : c0(load(c)), c1(load(c + stride)), c2(load(c + 2 * stride)), c3(load(c + 3 * stride)) {}
    void subtract(Four a, const double* b) {
        c0 -= a * b[0];
        c1 -= a * b[1];
        c2 -= a * b[2];
        c3 -= a * b[3];
    }
    void store_to(double* c, std::size_t stride) const {
        store(c, c0);
        store(c + stride, c1);
        store(c + 2 * stride, c2);
        store(c + 3 * stride, c3);
    }
};

// C -= A B for four columns of C, in the order of A's columns. B is row by row.
void subtract_product(double* c, std::size_t c_stride, const double* a, std::size_t a_stride,
                      const double* b, int rows, int terms) {
    for (; rows >= 8; rows -= 8, c += 8, a += 8) {
        Tile upper(c, c_stride), lower(c + 4, c_stride);
        const double *ak = a, *bk = b;
        for (int k = 0; k < terms; ++k, ak += a_stride, bk += 4) {
            upper.subtract(load(ak), bk);
            lower.subtract(load(ak + 4), bk);
        }
        upper.store_to(c, c_stride);
        lower.store_to(c + 4, c_stride);
    }
    if (rows == 0) return;
    Tile tile(c, c_stride);
    for (int k = 0; k < terms; ++k) tile.subtract(load(a + k * a_stride), b + 4 * k);
    tile.store_to(c, c_stride);
}

// True if so many columns may be eliminated together although this fraction of their L is zero.
bool acceptable(std::int64_t columns, double zeros) {
    return columns <= 4 || zeros < (columns <= 16 ? 0.8 : columns <= 48 ? 0.1 : 0.05);
}

}  // namespace

// Vertices are groups of adjacent unknowns with equal columns.
struct Supernodal::Graph {
    std::vector<int> group_of, first;  // of an unknown; first unknown of a group, and the end
    SymmetricMatrix matrix;            // its pattern
    std::vector<std::vector<int>> neighbors;

    explicit Graph(const SymmetricMatrix& pattern) {
        const int n = pattern.size();
        std::vector<std::vector<int>> left(static_cast<std::size_t>(n));
        const auto below = [&](int i) {
            return std::span(pattern.rows)
                .subspan(pattern.starts[i] + 1, pattern.starts[i + 1] - pattern.starts[i] - 1);
        };
        for (int c = 0; c < n; ++c)
            for (const int r : below(c)) left[r].push_back(c);
        const auto joins = [&](int i) {  // the one before
            const auto a = below(i - 1), b = below(i);
            return a.size() == b.size() + 1 && a[0] == i && std::ranges::equal(a.subspan(1), b) &&
                   left[i].size() == left[i - 1].size() + 1 &&
                   std::equal(left[i - 1].begin(), left[i - 1].end(), left[i].begin());
        };
        for (int i = 0; i < n; ++i) {
            if (i == 0 || !joins(i)) first.push_back(i);
            group_of.push_back(static_cast<int>(first.size()) - 1);
        }
        neighbors.resize(first.size());
        matrix.starts.push_back(0);
        for (int g = 0; g < size(); ++g) {
            const auto add = [&](int unknown) {
                const int other = group_of[unknown];
                if (other == g || (!neighbors[g].empty() && neighbors[g].back() == other)) return;
                neighbors[g].push_back(other);
                if (other > g) matrix.rows.push_back(other);
            };
            matrix.rows.push_back(g);
            for (const int c : left[first[g]]) add(c);
            for (const int r : below(first[g])) add(r);
            matrix.starts.push_back(static_cast<int>(matrix.rows.size()));
        }
        matrix.values.resize(matrix.rows.size());
        first.push_back(n);
    }
    int size() const { return static_cast<int>(neighbors.size()); }
    int weight(int group) const { return first[group + 1] - first[group]; }
};

Supernodal::Supernodal(const SymmetricMatrix& pattern) {
    const Graph graph(pattern);
    const int n = graph.size();
    if (n == 0) return;
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
    const SymmetricMatrix& m = graph.matrix;
    const Eigen::Map<const Eigen::SparseMatrix<double>> view(n, n, m.starts[n], m.starts.data(),
                                                             m.rows.data(), m.values.data());
    Eigen::AMDOrdering<int>()(view.selfadjointView<Eigen::Lower>(), permutation);
    const auto& group_at = permutation.indices();
    std::vector<int> position(n);
    for (int k = 0; k < n; ++k) position[group_at[k]] = k;

    // The elimination tree (Liu 1990), and the rows of each column of L, counted in unknowns.
    std::vector<int> parent(n, -1), ancestor(n, -1), mark(n, -1);
    std::vector<std::int64_t> rows(n), width(n), zeros(n, 0);
    for (int i = 0; i < n; ++i) {
        const int weight = graph.weight(group_at[i]);
        rows[i] = width[i] = weight;
        mark[i] = i;
        for (const int neighbor : graph.neighbors[group_at[i]])
            for (int k = position[neighbor]; k < i;) {
                const int up = ancestor[k];
                ancestor[k] = i;
                if (up == i) break;
                if (up < 0) parent[k] = i;
                k = up < 0 ? i : up;
            }
        for (const int neighbor : graph.neighbors[group_at[i]])
            for (int k = position[neighbor]; k < i && mark[k] != i; k = parent[k]) {
                rows[k] += weight;
                mark[k] = i;
            }
    }
    // Columns join their parents: first where no zero is added, then where few are.
    std::vector<int> joined(n, -1);
    const auto top = [&](int k) {
        while (k >= 0 && joined[k] >= 0) k = joined[k];
        return k;
    };
    const auto entries = [](std::int64_t w, std::int64_t r) { return w * r - w * (w - 1) / 2; };
    for (const bool relaxed : {false, true})
        for (int s = 0; s < n; ++s) {
            if (joined[s] >= 0 || parent[s] < 0) continue;
            const int p = top(parent[s]);
            const std::int64_t columns = width[s] + width[p], high = width[s] + rows[p],
                               all = entries(columns, high),
                               empty = zeros[s] + zeros[p] + all - entries(width[s], rows[s]) -
                                       entries(width[p], rows[p]);
            if (relaxed
                    ? !acceptable(columns, static_cast<double>(empty) / static_cast<double>(all))
                    : rows[s] != high)
                continue;
            joined[s] = p;
            width[p] = columns;
            rows[p] = high;
            zeros[p] = empty;
        }
    // Supernodes in postorder: groups in the order of elimination, and the parents.
    std::vector<std::vector<int>> members(n), children(n + 1), columns;
    for (int k = 0; k < n; ++k) members[top(k)].push_back(group_at[k]);
    for (int k = 0; k < n; ++k)
        if (joined[k] < 0) children[parent[k] < 0 ? n : top(parent[k])].push_back(k);
    std::vector<int> parents, number(n, -1), path{n};
    std::vector<std::size_t> next(n + 1, 0);
    while (!path.empty()) {
        const int k = path.back();
        if (next[k] < children[k].size()) {
            path.push_back(children[k][next[k]++]);
            continue;
        }
        path.pop_back();
        if (k == n) continue;
        number[k] = static_cast<int>(columns.size());
        columns.push_back(std::move(members[k]));
        parents.push_back(path.back());
    }
    for (int& p : parents) p = p == n ? -1 : number[p];
    lay_out(graph, columns, parents, pattern);
}

void Supernodal::lay_out(const Graph& graph, const std::vector<std::vector<int>>& columns,
                         const std::vector<int>& parents, const SymmetricMatrix& pattern) {
    const int n = pattern.size(), count = static_cast<int>(columns.size());
    std::vector<int> position(n), node_of(n), mark(graph.size(), -1);
    std::vector<std::vector<int>> below(count);  // first positions of groups
    std::vector<std::vector<int>> children(count);
    for (int s = 0; s < count; ++s) {
        Node node{};
        node.first = static_cast<int>(order_.size());
        for (const int g : columns[s])
            for (int u = graph.first[g]; u < graph.first[g + 1]; ++u) {
                position[u] = static_cast<int>(order_.size());
                node_of[u] = s;
                order_.push_back(u);
            }
        node.width = static_cast<int>(order_.size()) - node.first;
        nodes_.push_back(node);
        if (parents[s] >= 0) children[parents[s]].push_back(s);
    }
    std::size_t panels = 0, top = 0, most_stack = 0, most_panel = 0;
    int most_high = 0, most_wide = 0;
    for (int s = 0; s < count; ++s) {
        Node& node = nodes_[s];
        std::vector<int>& groups = below[s];
        const auto add = [&](int g) {
            if (node_of[graph.first[g]] <= s || mark[g] == s) return;
            mark[g] = s;
            groups.push_back(g);
        };
        for (const int g : columns[s]) std::ranges::for_each(graph.neighbors[g], add);
        for (const int c : children[s]) {
            std::ranges::for_each(below[c], add);
            below[c] = {};
        }
        std::ranges::sort(groups, {}, [&](int g) { return position[graph.first[g]]; });
        node.rows = rows_.size();
        for (const int g : groups)
            for (int u = graph.first[g]; u < graph.first[g + 1]; ++u) rows_.push_back(position[u]);
        node.below = static_cast<int>(rows_.size() - node.rows);
        node.wide = padded(node.width);
        node.high = node.wide + padded(node.below);
        node.children = static_cast<int>(children[s].size());
        children_.insert(children_.end(), children[s].begin(), children[s].end());
        const std::size_t size = static_cast<std::size_t>(node.high) * node.wide,
                          square = static_cast<std::size_t>(node.deep()) * node.deep();
        node.panel = panels;
        panels += size;
        node.work = top;
        node.update = children[s].empty() ? top : nodes_[children[s][0]].update;
        most_stack = std::max(most_stack, top + square);
        top = node.update + square;
        most_panel = std::max(most_panel, size);
        most_high = std::max(most_high, node.high);
        most_wide = std::max(most_wide, node.wide);
    }
    // The row of a position in the front of a node.
    const auto place = [&](const Node& node, int at) {
        if (at < node.first + node.width) return at - node.first;
        const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(node.rows);
        return node.wide +
               static_cast<int>(std::lower_bound(begin, begin + node.below, at) - begin);
    };
    places_.resize(rows_.size());
    for (int s = 0; s < count; ++s)
        for (std::size_t k = nodes_[s].rows; k < nodes_[s].rows + nodes_[s].below; ++k)
            places_[k] = place(nodes_[parents[s]], rows_[k]);
    // Entries of the matrix, counted by node, then put there.
    std::vector<std::size_t> ends(count + 1, 0);
    const auto each = [&](const auto& visit) {
        for (int c = 0; c < n; ++c)
            for (int k = pattern.starts[c]; k < pattern.starts[c + 1]; ++k) {
                const auto [column, row] = std::minmax(position[c], position[pattern.rows[k]]);
                visit(k, column, row, node_of[order_[column]]);
            }
    };
    each([&](int, int, int, int s) { ++ends[s + 1]; });
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    entries_.resize(pattern.rows.size());
    each([&](int k, int column, int row, int s) {
        const Node& node = nodes_[s];
        entries_[ends[s]++] = {
            k, static_cast<std::uint32_t>(column - node.first) * node.high + place(node, row)};
    });
    for (int s = 0; s < count; ++s) nodes_[s].entries = ends[s];
    panels_.resize(panels);
    stack_.resize(most_stack);
    scaled_.resize(most_panel);
    strip_.resize(8 * static_cast<std::size_t>(most_wide));
    front_.resize(most_high);
    pivots_.resize(n);
    x_.resize(n);
}

void Supernodal::factorize(const SymmetricMatrix& matrix) {
    std::size_t entry = 0;
    const int* child = children_.data();
    for (const Node& node : nodes_) {
        double* panel = panels_.data() + node.panel;
        std::fill_n(panel, static_cast<std::size_t>(node.high) * node.wide, 0.0);
        for (; entry < node.entries; ++entry)
            panel[entries_[entry].to] = matrix.values[entries_[entry].from];
        const std::size_t deep = node.deep();
        std::fill_n(stack_.data() + node.work, deep * deep, 0.0);
        for (int k = 0; k < node.children; ++k) add_update(nodes_[*child++], node);
        eliminate(node);
        if (node.work != node.update)
            std::memmove(stack_.data() + node.update, stack_.data() + node.work,
                         deep * deep * sizeof(double));
    }
}

void Supernodal::add_update(const Node& child, const Node& to) {
    const int* places = places_.data() + child.rows;
    const double* from = stack_.data() + child.update;
    const std::size_t deep = to.deep();
    for (int j = 0; j < child.below; ++j, from += child.deep()) {
        const int column = places[j];
        double* target =
            column < to.wide
                ? panels_.data() + to.panel + static_cast<std::size_t>(column) * to.high
                : stack_.data() + to.work + (column - to.wide) * deep - to.wide;
        for (int i = j; i < child.below; ++i) target[places[i]] += from[i];
    }
}

// Four columns at a time: what those before subtract, then their own elimination; last, what all
// subtract from the rows below.
void Supernodal::eliminate(const Node& node) {
    const std::size_t high = node.high, strip = static_cast<std::size_t>(node.wide) * 4;
    double* panel = panels_.data() + node.panel;
    for (int j = 0; j < node.wide; j += 4) {
        double *block = panel + j * high + j, *scaled = scaled_.data() + j / 4 * strip;
        subtract_product(block, high, panel + j, high, scaled, node.high - j, j);
        double w[4][4], inverse[4];  // D L^T above the diagonal of the block; of the pivots
        for (int k = 0; k < 4; ++k) {
            double* column = block + k * high;
            const double pivot = j + k < node.width ? column[k] : 1.0;
            if (j + k < node.width) pivots_[node.first + j + k] = pivot;
            inverse[k] = 1.0 / pivot;
            for (int i = 0; i <= k; ++i) column[i] = 0;
            for (int i = k + 1; i < 4; ++i) {
                w[k][i] = column[i];
                column[i] *= inverse[k];
            }
            for (int c = k + 1; c < 4; ++c)
                for (int i = c; i < 4; ++i) block[c * high + i] -= column[i] * w[k][c];
        }
        scaled += strip + static_cast<std::size_t>(j) * 4;
        double *c0 = block, *c1 = c0 + high, *c2 = c1 + high, *c3 = c2 + high;
        for (int i = 4; i < node.high - j; i += 4, scaled += strip) {
            const Four w0 = load(c0 + i), l0 = w0 * inverse[0];
            const Four w1 = load(c1 + i) - l0 * w[0][1], l1 = w1 * inverse[1];
            const Four w2 = load(c2 + i) - l0 * w[0][2] - l1 * w[1][2], l2 = w2 * inverse[2];
            const Four w3 = load(c3 + i) - l0 * w[0][3] - l1 * w[1][3] - l2 * w[2][3];
            store(c0 + i, l0);
            store(c1 + i, l1);
            store(c2 + i, l2);
            store(c3 + i, w3 * inverse[3]);
            store(scaled, w0);
            store(scaled + 4, w1);
            store(scaled + 8, w2);
            store(scaled + 12, w3);
        }
    }
    const std::size_t deep = node.deep();
    double* update = stack_.data() + node.work;
    // A panel that a processor's own cache does not hold is copied eight rows at a time.
    const bool large = high * node.width > 65'536;
    const int step = large ? 8 : std::max(node.deep(), 1);
    for (int i = 0; i < node.deep(); i += step) {
        const int rows = std::min(step, node.deep() - i);
        const double* left = panel + node.wide + i;
        if (large) {
            for (int k = 0; k < node.width; ++k)
                std::memcpy(strip_.data() + 8 * k, left + k * high, rows * sizeof(double));
            left = strip_.data();
        }
        for (int j = 0; j < i + rows; j += 4) {
            const int skip = std::max(j - i, 0);
            subtract_product(update + j * deep + i + skip, deep, left + skip, large ? 8 : high,
                             scaled_.data() + (node.wide + j) / 4 * strip, rows - skip, node.width);
        }
    }
}

void Supernodal::solve(std::span<const double> b, std::span<double> x) {
    for (std::size_t k = 0; k < order_.size(); ++k) x_[k] = b[order_[k]];
    double* f = front_.data();
    for (const Node& node : nodes_) {  // L
        const int* rows = rows_.data() + node.rows;
        std::fill_n(f, node.high, 0.0);
        std::copy_n(x_.data() + node.first, node.width, f);
        for (int j = 0; j < node.wide; j += 4) {
            const double* c0 =
                panels_.data() + node.panel + static_cast<std::size_t>(j) * node.high;
            const double *c1 = c0 + node.high, *c2 = c1 + node.high, *c3 = c2 + node.high;
            f[j + 1] -= c0[j + 1] * f[j];
            f[j + 2] = f[j + 2] - c0[j + 2] * f[j] - c1[j + 2] * f[j + 1];
            f[j + 3] = f[j + 3] - c0[j + 3] * f[j] - c1[j + 3] * f[j + 1] - c2[j + 3] * f[j + 2];
            for (int i = j + 4; i < node.high; i += 4)
                store(f + i, load(f + i) - load(c0 + i) * f[j] - load(c1 + i) * f[j + 1] -
                                 load(c2 + i) * f[j + 2] - load(c3 + i) * f[j + 3]);
        }
        std::copy_n(f, node.width, x_.data() + node.first);
        for (int i = 0; i < node.below; ++i) x_[rows[i]] += f[node.wide + i];
    }
    for (std::size_t s = nodes_.size(); s-- > 0;) {  // D, then the transpose of L
        const Node& node = nodes_[s];
        const int* rows = rows_.data() + node.rows;
        std::fill_n(f, node.high, 0.0);
        for (int k = 0; k < node.width; ++k) f[k] = x_[node.first + k] / pivots_[node.first + k];
        for (int i = 0; i < node.below; ++i) f[node.wide + i] = x_[rows[i]];
        for (int j = node.wide - 4; j >= 0; j -= 4) {
            const double* c0 =
                panels_.data() + node.panel + static_cast<std::size_t>(j) * node.high;
            const double *c1 = c0 + node.high, *c2 = c1 + node.high, *c3 = c2 + node.high;
            Four s0{}, s1{}, s2{}, s3{};
            for (int i = j + 4; i < node.high; i += 4) {
                const Four y = load(f + i);
                s0 += load(c0 + i) * y;
                s1 += load(c1 + i) * y;
                s2 += load(c2 + i) * y;
                s3 += load(c3 + i) * y;
            }
            const auto sum = [](Four v) { return (v[0] + v[1]) + (v[2] + v[3]); };
            f[j + 3] -= sum(s3);
            f[j + 2] = f[j + 2] - sum(s2) - c2[j + 3] * f[j + 3];
            f[j + 1] = f[j + 1] - sum(s1) - c1[j + 2] * f[j + 2] - c1[j + 3] * f[j + 3];
            f[j] =
                f[j] - sum(s0) - c0[j + 1] * f[j + 1] - c0[j + 2] * f[j + 2] - c0[j + 3] * f[j + 3];
        }
        std::copy_n(f, node.width, x_.data() + node.first);
    }
    for (std::size_t k = 0; k < order_.size(); ++k) x[order_[k]] = x_[k];
}

}  // namespace hindcast
