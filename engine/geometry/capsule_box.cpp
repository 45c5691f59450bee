#include "engine/geometry/box_pairs.hpp"
#include "engine/geometry/segments.hpp"

// A capsule meets a box with the ball about the point of its axis that is nearest to the box, and
// with a second ball if it lies along a face or an edge. Everything is in the box's axes. A way
// from -1 to 1 along the capsule's half axis gives a point of its axis.

namespace hindcast::geometry {

namespace {

constexpr double no_way = 1e10;  // there is no second ball

struct CapsuleAtBox {
    Vec3 middle, half_axis, direction, half;  // of the capsule; half axes of the box
};

// An edge of the box: its axis, and the signs of the corner at its lower end.
struct Edge {
    Int axis;
    Vec3 corner;
};

Vec3 unit(const Int& axis) {
    Vec3 v;
    for (int k = 0; k < 3; ++k) v[k] = select(axis == k, Float(1), Float(0));
    return v;
}

Edge edge_of(const Int& number) {
    const Int axis = number / 4;
    // The sign along the lower one of the two other axes changes fastest.
    const Int low = number % 2, high = number / 2 % 2;
    const Int bits[] = {low, select(axis == 0, low, high), high};
    Vec3 corner;
    for (int k = 0; k < 3; ++k) corner[k] = select(axis == k || bits[k] == 0, Float(-1), Float(1));
    return {axis, corner};
}

// The nearest points of an edge and the capsule's axis, as ways from -1 to 1 along both.
struct CapsuleMeeting {
    Float along_edge, way, squared;
    Int part;  // of the edge: -1 its lower end, 1 its upper end
    Bool parallel;
};

CapsuleMeeting meet(const CapsuleAtBox& c, const Edge& edge) {
    const Vec3 along = unit(edge.axis);
    const Vec3 half_edge = cwise_product(along, c.half);
    const Vec3 middle = cwise_product(edge.corner, c.half - half_edge);
    const TwoSegments segments(half_edge, c.half_axis, c.middle - middle);
    const Nearest n = segments.nearest();
    const Vec3 between = c.middle + n.t * c.half_axis - middle - n.s * half_edge;
    return {n.s, n.t, squared_norm(between), segments.part_of_first(), segments.exactly_parallel()};
}

// An end of the capsule's axis; it counts if it is beyond one face of the box at most.
struct End {
    Bool counts;
    Float squared;  // distance from the box
    Int face;       // its axis; -1 within the box
};

End end_of(const CapsuleAtBox& c, double side) {
    const Vec3 point = c.middle + side * c.half_axis;
    End end{Bool(true), Float(0), Int(-1)};
    Int faces = 0;
    for (int k = 0; k < 3; ++k) {
        const Float over = abs(point[k]) - c.half[k];
        const Bool outside = over > 0.0;
        end.squared = select(outside, end.squared + over * over, end.squared);
        end.face = select(outside, Int(k), end.face);
        faces = faces + select(outside, Int(1), Int(0));
    }
    end.counts = faces < 2;
    return end;
}

// The feature of the box that is nearest to the capsule's axis.
struct BoxFeature {
    Int end;   // -1 or 1: that end of the capsule, above a face or within; 0: an edge
    Int face;  // of that end
    Int edge;  // its number
};

BoxFeature nearest_feature(const CapsuleAtBox& c) {
    BoxFeature f{Int(0), Int(-1), Int(0)};
    Float least = 1e300;
    for (const int side : {-1, 1}) {
        const End end = end_of(c, static_cast<double>(side));
        const Bool nearer = end.counts && end.squared < least;
        least = select(nearer, end.squared, least);
        f.end = select(nearer, Int(side), f.end);
        f.face = select(nearer, end.face, f.face);
    }
    for_(0, 12, [&](Int number) {
        const CapsuleMeeting m = meet(c, edge_of(number));
        const Bool nearer = !m.parallel && m.squared < least - no_length;
        least = select(nearer, m.squared, least);
        f.end = select(nearer, Int(0), f.end);
        f.edge = select(nearer, number, f.edge);
    });
    return f;
}

Float at(const Vec3& v, const Int& k) { return v[k]; }
// The way along the capsule's axis that covers this length along an axis of the box.
Float way_across(const CapsuleAtBox& c, const Float& length, const Int& axis) {
    return length / abs(at(c.half_axis, axis));
}
Float signed_by(const Bool& positive, const Float& x) { return select(positive, x, -x); }

// The way from the first ball to the second one above a face: as far as the axis stays above it.
Float second_above_face(const CapsuleAtBox& c, const BoxFeature& f) {
    const Float side = Float(f.end);
    const Vec3 point = c.middle + side * c.half_axis;
    Float way = 2;
    for (int k = 0; k < 3; ++k)
        for (const int bound : {1, -1}) {
            const Float there =
                -side * ((static_cast<double>(bound) * c.half[k] - point[k]) / c.half_axis[k]);
            way = select(f.face != k && there > 0.0 && there < way, there, way);
        }
    return select(f.face == -1, Float(no_way), -side * way);
}

// The axes along which the capsule points from a corner toward the box's other side.
struct Heading {
    Bool turned[3];  // NOLINT: one for each axis
    Bool of(const Int& axis) const {
        return (axis == 0 && turned[0]) || (axis == 1 && turned[1]) || (axis == 2 && turned[2]);
    }
};
Heading heading(const CapsuleAtBox& c, const Vec3& corner) {
    Heading h{{Bool(false), Bool(false), Bool(false)}};
    for (int k = 0; k < 3; ++k) h.turned[k] = (c.half_axis[k] > 0.0) != (corner[k] > 0.0);
    return h;
}
Int one_if(const Bool& c) { return select(c, Int(1), Int(0)); }

// The way to the second ball at a corner. One axis heads otherwise than the two others: the way
// leads along its edge or over its face.
Float second_at_corner(const CapsuleAtBox& c, const Vec3& corner, const Float& first) {
    const Heading h = heading(c, corner);
    const Int count = one_if(h.turned[0]) + one_if(h.turned[1]) + one_if(h.turned[2]);
    const Bool alone = count == 1;  // one heads away; else two do
    Int axis = 2;
    for (int k = 1; k >= 0; --k) axis = select(h.turned[k] == alone, Int(k), axis);
    const Int next = (axis + 1) % 3, last = (axis + 2) % 3;
    const Float ahead = 1.0 - signed_by(alone, first), behind = 1.0 + signed_by(alone, first);
    const auto across = [&](const Int& k) { return way_across(c, 2.0 * at(c.half, k), k); };
    const Float along_edge = min(ahead, across(axis));
    const Float over_face = min(min(behind, across(next)), across(last));
    const Float steep = at(c.direction, axis);
    const Float way =
        select(steep * steep > 0.5, signed_by(alone, along_edge), -signed_by(alone, over_face));
    return select(count == 0 || count == 3, Float(no_way), way);
}

// The way to the second ball across an edge: over the face to which the capsule is less steep.
Float second_at_edge(const CapsuleAtBox& c, const Edge& edge, const CapsuleMeeting& m) {
    const Heading h = heading(c, edge.corner);
    const Int axis = edge.axis, next = (axis + 1) % 3, last = (axis + 2) % 3;
    const Bool next_is_longer = abs(at(c.direction, next)) > abs(at(c.direction, last));
    const Int over = select(next_is_longer, next, last);
    const Bool crosses = h.of(next) != h.of(last), onwards = h.of(over);
    const Bool same_way = (at(c.half_axis, axis) > 0.0) == onwards;
    const Float left = 1.0 - signed_by(same_way, m.along_edge);
    const Float way =
        min(min(1.0 - signed_by(onwards, m.way), way_across(c, 2.0 * at(c.half, over), over)),
            way_across(c, at(c.half, axis) * left, axis));
    return select(crosses, signed_by(onwards, way), Float(no_way));
}

}  // namespace

Contacts capsule_box(const Shape& capsule, const Shape& box, const Float& /*reach*/) {
    const Vec3 direction = box.inward(capsule.axis(2));
    const CapsuleAtBox c{box.inward(capsule.place - box.place), capsule.half_length() * direction,
                         direction, box.size};
    const BoxFeature f = nearest_feature(c);
    const Bool at_end = f.end != 0;
    const Edge edge = edge_of(f.edge);
    const CapsuleMeeting m = meet(c, edge);
    const Vec3 corner = select(m.part == 1, edge.corner + 2.0 * unit(edge.axis), edge.corner);
    const Float first = select(at_end, Float(f.end), m.way);
    const Float further =
        select(at_end, second_above_face(c, f),
               select(m.part != 0, second_at_corner(c, corner, first), second_at_edge(c, edge, m)));
    const auto ball = [&](const Float& way) {
        return ball_box(capsule.place + way * (capsule.half_length() * capsule.axis(2)),
                        capsule.radius(), box);
    };
    const Bool exists = further < no_way;
    Contact second = ball(first + select(exists, further, Float(0)));
    second.exists = exists;
    return {ball(first), second};
}

}  // namespace hindcast::geometry
