#include "engine/geometry/convex/convex_search.hpp"

namespace hindcast::geometry {

namespace {

Vec3 farthest_corner(const std::array<Vec3, 6>& corners, const Vec3& way) {
    Vec3 best = corners[0];
    Float most = dot(best, way);
    for (const Vec3& corner : corners) {
        const Float there = dot(corner, way);
        best = select(there > most, corner, best);
        most = max(there, most);
    }
    return best;
}

}  // namespace

Vec3 farthest(const SearchedShape& s, const Vec3& way) {
    const ConvexShape& c = s.convex;
    const Vec3 w = c.shape.inward(way);
    const auto side = [&](int k) { return select(w[k] < 0.0, Float(-1), Float(1)); };
    switch (c.core) {
        case Core::point:
        case Core::ellipsoid: return {};
        case Core::segment:
        case Core::cylinder: return Vec3(0.0, 0.0, side(2));
        case Core::prism: return farthest_corner(s.corners, w);
        case Core::box: return Vec3(side(0), side(1), side(2));
        default: return s.hulls->hull_vertex[farthest_vertex(*s.hulls, s.geom, w)];
    }
}

DifferencePoint farthest(const SearchedShape& one, const SearchedShape& two, const Vec3& way) {
    const auto place = [](const SearchedShape& s, const Vec3& corner, const Vec3& outwards) {
        const ConvexShape& c = s.convex;
        return c.shape.outward(cwise_product(c.unit(), corner)) + c.curve(outwards, Bool(false));
    };
    DifferencePoint p;
    p.one = farthest(one, -way);
    p.two = farthest(two, way);
    p.w = two.convex.shape.place - one.convex.shape.place + place(two, p.two, way) -
          place(one, p.one, -way);
    return p;
}

namespace {

// The point of a triangle that is nearest to the origin, and the weights of the corners in it.
struct NearestOnTriangle {
    Float squared;
    Vec3 point, weights;
};

NearestOnTriangle on_edge(const Vec3& a, const Vec3& b, int from, int to) {
    const Vec3 along = b - a;
    const Float t = clamp(divz(-dot(a, along), squared_norm(along)), 0.0, 1.0);
    NearestOnTriangle n;
    n.point = a + t * along;
    n.squared = squared_norm(n.point);
    n.weights[from] = 1.0 - t;
    n.weights[to] = t;
    return n;
}

NearestOnTriangle select(const Bool& c, const NearestOnTriangle& a, const NearestOnTriangle& b) {
    return {select(c, a.squared, b.squared), select(c, a.point, b.point),
            select(c, a.weights, b.weights)};
}

NearestOnTriangle on_triangle(const Vec3& a, const Vec3& b, const Vec3& c) {
    NearestOnTriangle best = on_edge(a, b, 0, 1);
    for (const NearestOnTriangle& other : {on_edge(b, c, 1, 2), on_edge(c, a, 2, 0)})
        best = select(other.squared < best.squared, other, best);
    const Vec3 normal = cross(b - a, c - a);
    const Float squared = squared_norm(normal);
    NearestOnTriangle inner;
    inner.weights =
        Vec3(dot(normal, cross(b, c)), dot(normal, cross(c, a)), dot(normal, cross(a, b)));
    const Bool within = squared > 0.0 && inner.weights.x() > 0.0 && inner.weights.y() > 0.0 &&
                        inner.weights.z() > 0.0;
    inner.weights = inner.weights / squared;
    inner.point = (dot(a, normal) / squared) * normal;
    inner.squared = squared_norm(inner.point);
    return select(within, inner, best);
}

// True if the origin is within the tetrahedron of these corners, which is not flat.
Bool holds_origin(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    const auto volume = [](const Vec3& x, const Vec3& y, const Vec3& z) {
        return dot(x, cross(y, z));
    };
    const Float p = volume(b, d, c), q = volume(a, c, d), r = volume(a, d, b), s = volume(a, b, c);
    const Float lengths = norm(a) + norm(b) + norm(c) + norm(d);
    const double flat = current_real() == ir::Type::f64 ? 1e-15 : 1e-7;
    const Float least = flat * (lengths * lengths * lengths);
    return (p > least && q > least && r > least && s > least) ||
           (p < -least && q < -least && r < -least && s < -least);
}

// Replaces corners without weight by one that has some.
Triangle without_idle(const Triangle& t, const Vec3& weights) {
    const DifferencePoint some = select(weights.x() > 0.0, t.corners[0],
                                        select(weights.y() > 0.0, t.corners[1], t.corners[2]));
    Triangle kept = t;
    for (int k = 0; k < 3; ++k) kept.corners[k] = select(weights[k] > 0.0, t.corners[k], some);
    return kept;
}

}  // namespace

NearestPoint nearest_point(const SearchedShape& one, const SearchedShape& two, const Float& reach) {
    const bool is_double = current_real() == ir::Type::f64;
    const double exact = is_double ? 1e-14 : 1e-6, touching = is_double ? 1e-18 : 1e-10;
    const DifferencePoint start =
        farthest(one, two, one.convex.shape.place - two.convex.shape.place);
    NearestPoint n;
    n.around = {{start, start, start}};
    n.point = start.w;
    n.overlap = Bool(false);
    n.beyond = Bool(false);
    Bool searching = true;
    Int trips = 0;
    while_([&] { return searching && trips < 80; },
           [&] {
               trips = trips + 1;
               const DifferencePoint next = farthest(one, two, -n.point);
               const Float squared = squared_norm(n.point), bound = dot(n.point, next.w);
               n.beyond = bound > 0.0 && bound * bound > reach * reach * squared;
               Triangle& t = n.around;
               n.overlap = holds_origin(t.corners[0].w, t.corners[1].w, t.corners[2].w, next.w);
               Triangle best;
               NearestOnTriangle nearest;
               for (int k = 0; k < 3; ++k) {
                   const Triangle other{{t.corners[k], t.corners[(k + 1) % 3], next}};
                   const NearestOnTriangle there =
                       on_triangle(other.corners[0].w, other.corners[1].w, other.corners[2].w);
                   const Bool better = k == 0 ? Bool(true) : there.squared < nearest.squared;
                   nearest = select(better, there, nearest);
                   for (int c = 0; c < 3; ++c)
                       best.corners[c] = select(better, other.corners[c], best.corners[c]);
               }
               const Bool nearer = nearest.squared < squared && squared - bound > exact * squared;
               const Bool goes_on = nearer && !n.overlap && !n.beyond;
               best = without_idle(best, nearest.weights);
               for (int c = 0; c < 3; ++c)
                   t.corners[c] = select(goes_on, best.corners[c], t.corners[c]);
               n.point = select(goes_on, nearest.point, n.point);
               const Float largest = squared_norm(next.w) + squared_norm(start.w);
               n.overlap = n.overlap || squared_norm(n.point) <= touching * largest;
               searching = goes_on && !n.overlap;
           },
           81);
    n.beyond = n.beyond && !n.overlap;
    return n;
}

}  // namespace hindcast::geometry
