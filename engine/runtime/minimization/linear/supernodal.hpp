// LDL^T of a sparse symmetric matrix by dense blocks: the multifrontal method (Duff and Reid 1983) on
// relaxed supernodes (Ashcraft and Grimes 1989), in the approximate minimum degree order (Amestoy,
// Davis and Duff 1996) of the graph whose vertices are unknowns with equal columns, such as the
// components of a point.
//
// Every element of L is a sum in one fixed order: the bits depend on the matrix alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hindcast {

struct SymmetricMatrix;

class Supernodal {
public:
    // Orders and lays out; later calls allocate nothing.
    explicit Supernodal(const SymmetricMatrix& pattern);

    // A = L D L^T up to the order, for a matrix of the pattern. Does not pivot and always runs to
    // the end: numbers after a pivot that is zero or not finite are meaningless.
    void factorize(const SymmetricMatrix& matrix);
    // D, and the unknown of each, in the order of elimination.
    std::span<const double> pivots() const { return pivots_; }
    std::span<const int> order() const { return order_; }
    // x = A^-1 b by the last factorize(); x may be b.
    void solve(std::span<const double> b, std::span<double> x);

private:
    // A supernode: columns eliminated together. Its front has the rows of its own columns, then
    // those below, both padded with zeros to multiples of four; the panel holds the first `wide`
    // columns, column by column, and ends as L without its diagonal. The update that it subtracts
    // from the rows below is on a stack, for its parent to add.
    struct Node {
        int first, width, below;   // first column; columns; rows below
        int wide, high;            // padded: columns of the panel, rows of the front
        int children;              // the last ones that no earlier node has added
        std::size_t panel, rows;   // where they begin in panels_; in rows_ and places_
        std::size_t entries;       // where they end in entries_
        std::size_t work, update;  // on the stack: where the update is made, and where it stays

        int deep() const { return high - wide; }  // rows of the update
    };
    struct Entry {
        int from;          // in the matrix's values
        std::uint32_t to;  // in the panel
    };
    struct Graph;

    void lay_out(const Graph& graph, const std::vector<std::vector<int>>& columns,
                 const std::vector<int>& parents, const SymmetricMatrix& pattern);
    void eliminate(const Node& node);
    void add_update(const Node& child, const Node& to);

    std::vector<Node> nodes_;     // children before parents
    std::vector<int> children_;   // of all nodes in turn
    std::vector<int> order_;      // position -> unknown
    std::vector<int> rows_;       // positions of the rows below, ascending
    std::vector<int> places_;     // of these in the parent's front
    std::vector<Entry> entries_;  // by node
    std::vector<double> panels_, stack_, pivots_;
    std::vector<double> scaled_;  // D L^T of one panel: four columns at a time
    std::vector<double> strip_, x_, front_;
};

}  // namespace hindcast
