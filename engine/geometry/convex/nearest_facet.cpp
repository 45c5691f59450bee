#include "engine/geometry/convex/convex_search.hpp"
#include "engine/lang/local_array.hpp"

// A polytope within the difference of two shapes grows by its farthest points until the facet that
// is nearest to the origin is one of the difference itself. Its facets are triangles around their
// outer normals; those that see a new point are replaced by ones that have it as a corner.

namespace hindcast::geometry {

namespace {

constexpr int most_points = 64, most_facets = 160, most_edges = 480;
constexpr double no_facet = 1e30;

class Polytope {
public:
    Polytope()
        : points_(most_points * 9),
          facets_(most_facets * 7),
          marks_(most_points * most_points),
          edges_(most_edges),
          free_(most_facets) {}

    Int add(const DifferencePoint& p) {
        const Int number = count_;
        for (int k = 0; k < 3; ++k) {
            points_.put(9 * number + k, p.w[k]);
            points_.put(9 * number + (3 + k), p.one[k]);
            points_.put(9 * number + (6 + k), p.two[k]);
        }
        count_ = count_ + 1;
        return number;
    }
    DifferencePoint point(const Int& number) const {
        return {vector(points_, 9 * number), vector(points_, 9 * number + 3),
                vector(points_, 9 * number + 6)};
    }
    void add_facet(const Int& a, const Int& b, const Int& c) {
        const Vec3 p = vector(points_, 9 * a);
        const Vec3 across = cross(vector(points_, 9 * b) - p, vector(points_, 9 * c) - p);
        const Vec3 normal = normalize(across);
        const Bool reuse = free_count_ > 0;
        const Int at = select(reuse, Int(free_[max(free_count_ - 1, 0)]), used_);
        free_count_ = select(reuse, free_count_ - 1, free_count_);
        used_ = select(reuse, used_, min(used_ + 1, most_facets - 1));
        const Int first = 7 * at;
        facets_.put(first, Float(a));
        facets_.put(first + 1, Float(b));
        facets_.put(first + 2, Float(c));
        for (int k = 0; k < 3; ++k) facets_.put(first + (3 + k), normal[k]);
        facets_.put(first + 6,
                    select(squared_norm(across) > 0.0, dot(normal, p), Float(0.5 * no_facet)));
    }
    // The facet of least height over the origin; a height is negative if the origin is outside.
    Int nearest() const {
        Int best = 0;
        Float least = no_facet;
        for_(0, used_, [&](Int f) {
            const Float there = height(f);
            best = select(there < least, f, best);
            least = min(least, there);
        });
        return best;
    }
    Float height(const Int& facet) const { return facets_[7 * facet + 6]; }
    Vec3 normal(const Int& facet) const { return vector(facets_, 7 * facet + 3); }
    Int corner(const Int& facet, int k) const { return Int(facets_[7 * facet + k]); }
    Bool full() const { return count_ >= most_points; }

    // Adds a corner, and replaces facets that see it: those that lie below it by more than `seen`.
    void grow(const DifferencePoint& p, const Float& seen) {
        const Int number = add(p);
        const Float round = Float(number);
        Int edges = 0;
        for_(0, used_, [&](Int f) {
            if_(height(f) < 0.25 * no_facet && dot(normal(f), p.w) > height(f) + seen, [&] {
                for (int k = 0; k < 3; ++k) {
                    const Int from = corner(f, k), to = corner(f, (k + 1) % 3);
                    marks_.put(most_points * from + to, round);
                    edges_.put(min(edges, most_edges - 1), Float(most_points * from + to));
                    edges = edges + 1;
                }
                facets_.put(7 * f + 6, Float(no_facet));
                free_.put(min(free_count_, most_facets - 1), Float(f));
                free_count_ = min(free_count_ + 1, most_facets);
            });
        });
        // Edges of only one replaced facet make new facets with the corner.
        for_(0, min(edges, most_edges), [&](Int e) {
            const Int edge = Int(edges_[e]), from = edge / most_points, to = edge % most_points;
            if_(marks_[most_points * to + from] != round, [&] { add_facet(from, to, number); });
        });
        for_(0, min(edges, most_edges), [&](Int e) { marks_.put(Int(edges_[e]), Float(0)); });
    }

private:
    static Vec3 vector(const LocalArray& a, const Int& first) {
        return Vec3(a[first], a[first + 1], a[first + 2]);
    }
    LocalArray points_, facets_, marks_, edges_, free_;
    Int count_ = 0, used_ = 0, free_count_ = 0;
};

// A tetrahedron of farthest points.
struct Tetrahedron {
    DifferencePoint corners[4];  // NOLINT
    Float size;
};

Tetrahedron first_tetrahedron(const SearchedShape& one, const SearchedShape& two) {
    const auto at = [&](const Vec3& way) { return farthest(one, two, way); };
    Tetrahedron t;
    const Vec3 way = direction_of(two.convex.shape.place - one.convex.shape.place);
    const DifferencePoint a = at(way), b = at(-way);
    // The farthest point along v or along -v, whichever leads farther from a.
    const auto farther = [&](const Vec3& v) {
        const DifferencePoint up = at(v), down = at(-v);
        return select(abs(dot(v, up.w - a.w)) < abs(dot(v, down.w - a.w)), down, up);
    };
    const Vec3 along = direction_of(b.w - a.w);
    const Vec3 axis = select(abs(along.x()) < 0.6, Vec3(1, 0, 0), Vec3(0, 1, 0));
    const DifferencePoint c = farther(normalize(cross(along, axis)));
    const Vec3 normal = direction_of(cross(b.w - a.w, c.w - a.w));
    const DifferencePoint d = farther(normal);
    const Bool turned = dot(normal, d.w - a.w) > 0.0;  // the facet a b c looks at d
    t.corners[0] = a;
    t.corners[1] = select(turned, c, b);
    t.corners[2] = select(turned, b, c);
    t.corners[3] = d;
    t.size = norm(b.w - a.w) + norm(c.w - a.w) + norm(d.w - a.w);
    return t;
}

}  // namespace

NearestFacet nearest_facet(const SearchedShape& one, const SearchedShape& two, const Bool& counts) {
    const bool is_double = current_real() == ir::Type::f64;
    const bool curved = one.convex.is_curved() || two.convex.is_curved();
    const double exact = is_double ? (curved ? 1e-9 : 1e-13) : 1e-6,
                 seen = is_double ? 1e-14 : 1e-7;
    NearestFacet best;
    best.normal = Vec3(0, 0, 1);
    if_(counts, [&] {
        Polytope polytope;
        const Tetrahedron start = first_tetrahedron(one, two);
        for (const DifferencePoint& corner : start.corners) polytope.add(corner);
        const int facets[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
        for (const auto& f : facets) polytope.add_facet(Int(f[0]), Int(f[1]), Int(f[2]));
        Bool growing = true;
        Float least = no_facet;
        while_([&] { return growing; },
               [&] {
                   const Int facet = polytope.nearest();
                   const Vec3 normal = polytope.normal(facet);
                   const DifferencePoint next = farthest(one, two, normal);
                   const Float height = dot(normal, next.w);
                   if_(height < least, [&] {
                       least = height;
                       best.normal = normal;
                       for (int k = 0; k < 3; ++k)
                           best.facet.corners[k] = polytope.point(polytope.corner(facet, k));
                   });
                   growing =
                       height - polytope.height(facet) > exact * start.size && !polytope.full();
                   if_(growing, [&] { polytope.grow(next, seen * start.size); });
               },
               most_points + 2);
    });
    return best;
}

}  // namespace hindcast::geometry
