#include "engine/geometry/convex/convex_search.hpp"

#include "engine/lang/local_array.hpp"

namespace hindcast::geometry {

namespace {

// The flat through a polytope's corners, as a feature.
Feature through(const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 to_b = b - a, to_c = c - a, from_b = c - b;
    Feature f;
    f.point = a;
    f.first = select(is_some(to_b), to_b, to_c);
    f.second = select(is_some(to_b) && is_some(to_c) && is_some(from_b), to_c, Vec3());
    return f;
}

// The features through the corners of a triangle, with at most two directions together.
FoundFeatures of_polytopes(const Triangle& t, const Vec3& normal) {
    const DifferencePoint &a = t.corners[0], &b = t.corners[1], &c = t.corners[2];
    FoundFeatures f;
    f.normal = normal;
    f.one = through(a.one, b.one, c.one);
    f.two = through(a.two, b.two, c.two);
    const Bool one_is_face = is_some(f.one.second), two_is_face = is_some(f.two.second);
    f.one.first = select(two_is_face && !one_is_face, Vec3(), f.one.first);
    f.two.first = select(one_is_face, Vec3(), f.two.first);
    f.two.second = select(one_is_face, Vec3(), f.two.second);
    return f;
}

// Drops the second shape's edge if it is parallel to the first's.
FoundFeatures without_parallel(const SearchedShape& one, const SearchedShape& two,
                               const FoundFeatures& found) {
    const auto turned = [](const SearchedShape& s, const Vec3& v) {
        return s.convex.shape.outward(cwise_product(s.convex.unit_of_directions(), v));
    };
    const Vec3 a = turned(one, found.one.first), b = turned(two, found.two.first);
    const double parallel = current_real() == ir::Type::f64 ? 1e-14 : 1e-8;
    const Bool both =
        is_some(a) && is_some(b) && !is_some(found.one.second) && !is_some(found.two.second);
    const Bool beside =
        both && squared_norm(cross(a, b)) <= parallel * (squared_norm(a) * squared_norm(b));
    FoundFeatures f = found;
    f.two.first = select(beside, Vec3(), found.two.first);
    return f;
}

// The features near these corners with which a shape may meet another one. A polytope has a corner,
// an edge between two of them and the face of all three; a cylinder its rim, side and cap.
std::vector<Feature> choices(const SearchedShape& s, const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 none, x(1, 0, 0), y(0, 1, 0), z(0, 0, 1);
    switch (s.convex.core) {
        case Core::point:
        case Core::ellipsoid: return {Feature()};
        case Core::cylinder: return {Feature(a, none, none), Feature(a, z, none), Feature(a, x, y)};
        case Core::segment: return {Feature(a, none, none), Feature(a, z, none)};
        default:
            return {Feature(a, none, none), Feature(a, b - a, none), Feature(b, c - b, none),
                    Feature(c, a - c, none), through(a, b, c)};
    }
}

int directions(std::size_t choice) { return choice == 0 ? 0 : choice == 4 ? 2 : 1; }
int directions(const SearchedShape& s, std::size_t choice) {
    if (s.convex.core == Core::cylinder) return static_cast<int>(choice);
    return directions(choice);
}

// The normal, near that of f, at which these features separate most.
Vec3 best_normal(const SearchedShape& one, const SearchedShape& two, const FoundFeatures& f) {
    const Meeting meeting(one.convex, f.one, two.convex, f.two);
    Vec3 normal = f.normal;
    repeat(current_real() == ir::Type::f64 ? 12 : 6,
           [&](Int /*trip*/) { normal = meeting.normal_from(normal); });
    return normal;
}

// The features at their points with the normal of f.
FoundFeatures at_normal(const SearchedShape& one, const SearchedShape& two,
                        const FoundFeatures& f) {
    FoundFeatures moved = f;
    const auto take = [](const SearchedShape& s, const Feature& feature, const Vec3& way) {
        const bool round = s.convex.core == Core::cylinder;
        return select(is_some(feature.first) && !(Bool(round) && is_some(feature.second)),
                      feature.point, farthest(s, way));
    };
    moved.one.point = take(one, f.one, f.normal);
    moved.two.point = take(two, f.two, -f.normal);
    return moved;
}

// Tries features near a triangle, and takes those whose best normal separates the shapes most;
// among equal ones, those with more directions.
FoundFeatures most_separating(const SearchedShape& one, const SearchedShape& two, const Triangle& t,
                              const Vec3& normal) {
    const DifferencePoint &a = t.corners[0], &b = t.corners[1], &c = t.corners[2];
    const std::vector<Feature> of_one = choices(one, a.one, b.one, c.one),
                               of_two = choices(two, a.two, b.two, c.two);
    std::vector<std::pair<Feature, Feature>> all;
    for (int most = 2; most >= 0; --most)
        for (std::size_t i = 0; i < of_one.size(); ++i)
            for (std::size_t j = 0; j < of_two.size(); ++j)
                if (directions(one, i) + directions(two, j) == most)
                    all.emplace_back(of_one[i], of_two[j]);
    const auto clear = current_real() == ir::Type::f64 ? 1e-13 : 1e-6;
    FoundFeatures best;
    best.normal = normal;
    Float most = -1e30;
    repeat(static_cast<std::int64_t>(all.size()), [&](Int number) {
        FoundFeatures tried;
        tried.normal = normal;
        for (std::size_t k = 0; k < all.size(); ++k) {
            const Bool is = number == static_cast<int>(k);
            const auto take = [&](Feature& to, const Feature& from) {
                to.point = select(is, from.point, to.point);
                to.first = select(is, from.first, to.first);
                to.second = select(is, from.second, to.second);
            };
            take(tried.one, all[k].first);
            take(tried.two, all[k].second);
        }
        tried = at_normal(one, two, without_parallel(one, two, tried));
        tried.normal = best_normal(one, two, tried);
        const DifferencePoint there = farthest(one, two, -tried.normal);
        const Float dist = dot(tried.normal, there.w);
        const Float room = clear * (norm(there.w) + abs(most));
        // No normal is left if a direction is parallel to it.
        const Bool better =
            squared_norm(tried.normal) > 0.5 && dist > most + select(most < -1e29, Float(0), room);
        most = select(better, dist, most);
        best.normal = select(better, tried.normal, best.normal);
        best.one = Feature::chosen(better, tried.one, best.one);
        best.two = Feature::chosen(better, tried.two, best.two);
    });
    return best;
}

// The features that separate most, with corners that are farthest along the normal. If the search
// has ended next to a face without having seen all its corners, others are farther and are tried as
// well.
FoundFeatures settled(const SearchedShape& one, const SearchedShape& two, const Triangle& around,
                      const Vec3& normal) {
    const double clear = current_real() == ir::Type::f64 ? 1e-13 : 1e-6;
    Triangle t = around;
    FoundFeatures best;
    best.normal = normal;
    Float most = -1e30;
    Bool searching = true;
    Int trips = 0;
    while_([&] { return searching && trips < 4; },
           [&] {
               trips = trips + 1;
               const FoundFeatures found = most_separating(one, two, t, best.normal);
               const DifferencePoint next = farthest(one, two, -found.normal);
               const Vec3 gap =
                   Meeting(one.convex, found.one, two.convex, found.two).gap(found.normal);
               const Float dist = dot(found.normal, next.w);
               const Bool better = dist > most;
               most = select(better, dist, most);
               best.normal = select(better, found.normal, best.normal);
               best.one = Feature::chosen(better, found.one, best.one);
               best.two = Feature::chosen(better, found.two, best.two);
               searching =
                   better && dot(found.normal, gap) - dist > clear * (norm(gap) + norm(next.w));
               const auto corners = [&](const Feature& f, const Vec3& other) {
                   return select(is_some(f.first), f.point + f.first, other);
               };
               const DifferencePoint a{next.w, found.one.point, found.two.point},
                   b{next.w, corners(found.one, t.corners[1].one),
                     corners(found.two, t.corners[1].two)};
               t = {{a, b, next}};
           },
           5);
    return best;
}

}  // namespace

FoundFeatures meeting_features(const SearchedShape& one, const SearchedShape& two,
                               const Float& reach) {
    const Float within = reach + one.convex.radius() + two.convex.radius();
    const NearestPoint apart = nearest_point(one, two, within);
    const NearestFacet deep = nearest_facet(one, two, apart.overlap);
    Triangle t;
    for (int k = 0; k < 3; ++k)
        t.corners[k] = select(apart.overlap, deep.facet.corners[k], apart.around.corners[k]);
    const Vec3 normal = select(apart.overlap, -deep.normal, normalize(apart.point));
    FoundFeatures found;
    if (one.convex.is_curved() || two.convex.is_curved()) {
        if_(!apart.beyond, [&] { found = settled(one, two, t, normal); });
    } else
        found = without_parallel(one, two, of_polytopes(t, normal));
    found.normal = select(apart.beyond, Vec3(), found.normal);
    return found;
}

}  // namespace hindcast::geometry
