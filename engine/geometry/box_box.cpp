#include <array>

#include "engine/geometry/box_pairs.hpp"
#include "engine/geometry/segments.hpp"

// Two boxes overlap least along one of 15 axes (Gottschalk, Lin, Manocha, OBBTree, 1996): the
// normal of a face of either, or the cross product of an edge of each. A face meets the most
// opposed face of the other box, clipped to its own rectangle; edges meet at their nearest points.

namespace hindcast::geometry {

namespace {

// The axis of least overlap.
struct Separation {
    Float dist;  // along it, negative if the boxes overlap
    Int face;    // 0 to 2 of the first box, 3 to 5 of the second; -1: edges
    Int edge_one, edge_two;
};

struct TwoBoxes {
    Shape one, two;
    Mat3 turned;          // the second box's axes in those of the first
    Vec3 to_two, to_one;  // from middle to middle, in the axes of the first and of the second

    TwoBoxes(const Shape& a, const Shape& b)
        : one(a),
          two(b),
          turned(transpose(a.axes) * b.axes),
          to_two(a.inward(b.place - a.place)),
          to_one(b.inward(b.place - a.place)) {}
};

// The distance along a unit axis, given by its components in the axes of either box.
Float distance_along(const TwoBoxes& boxes, const Vec3& in_one, const Vec3& in_two) {
    Float dist = abs(dot(boxes.to_two, in_one));
    for (int k = 0; k < 3; ++k)
        dist = dist - boxes.one.size[k] * abs(in_one[k]) - boxes.two.size[k] * abs(in_two[k]);
    return dist;
}

Separation face_separation(const TwoBoxes& boxes) {
    Separation best{Float(-1e300), Int(-1), Int(0), Int(0)};
    const Mat3 back = transpose(boxes.turned);
    const auto consider = [&](const Float& dist, int face) {
        const Bool better = dist > best.dist;
        best.dist = select(better, dist, best.dist);
        best.face = select(better, Int(face), best.face);
    };
    for (int k = 0; k < 3; ++k) {
        Vec3 axis;
        axis[k] = Float(1);
        consider(distance_along(boxes, axis, back.column(k)), k);
        consider(distance_along(boxes, boxes.turned.column(k), axis), 3 + k);
    }
    return best;
}

// Edges count if they separate the boxes by more than faces do. If their axis is nearly that of the
// best face, they must do so by more than a twentieth of its distance, as in MuJoCo.
Separation least_overlap(const TwoBoxes& boxes) {
    const Separation faces = face_separation(boxes);
    Separation edges{Float(-1e300), Int(-1), Int(0), Int(0)};
    Vec3 along, unit[3];
    for (int k = 0; k < 3; ++k) unit[k][k] = Float(1);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const Vec3 across = cross(unit[i], boxes.turned.column(j)), axis = normalize(across);
            const Float dist = distance_along(boxes, axis, transpose(boxes.turned) * axis);
            const Bool better = norm(across) > 1e-10 && dist > edges.dist;
            edges.dist = select(better, dist, edges.dist);
            edges.edge_one = select(better, Int(i), edges.edge_one);
            edges.edge_two = select(better, Int(j), edges.edge_two);
            along = select(better, axis, along);
        }
    Vec3 normal = unit[0];
    for (int k = 1; k < 3; ++k) normal = select(faces.face == k, unit[k], normal);
    for (int k = 0; k < 3; ++k)
        normal = select(faces.face == 3 + k, boxes.turned.column(k), normal);
    const Float much = select(abs(dot(along, normal)) > 0.99, 0.05 * abs(faces.dist), Float(0));
    const Bool is_edge = edges.dist > faces.dist + much;
    Separation best = edges;
    best.dist = select(is_edge, edges.dist, faces.dist);
    best.face = select(is_edge, Int(-1), faces.face);
    return best;
}

Vec3 column(const Mat3& m, const Int& k) {
    return select(k == 0, m.column(0), select(k == 1, m.column(1), m.column(2)));
}

// The edge of a box along one of its axes that lies farthest along `way`.
struct BoxEdge {
    Vec3 middle, half;
};
BoxEdge farthest_edge(const Shape& box, const Int& axis, const Vec3& way) {
    BoxEdge edge{box.place, box.size[axis] * column(box.axes, axis)};
    for (int k = 0; k < 3; ++k) {
        const Float side = select(dot(box.axis(k), way) > 0.0, box.size[k], -box.size[k]);
        edge.middle = edge.middle + select(axis == k, Float(0), side) * box.axis(k);
    }
    return edge;
}

Contact edge_contact(const TwoBoxes& boxes, const Separation& axis) {
    const Vec3 a = column(boxes.one.axes, axis.edge_one), b = column(boxes.two.axes, axis.edge_two);
    const Vec3 across = normalize(cross(a, b)), between = boxes.two.place - boxes.one.place;
    const Vec3 normal = select(dot(across, between) < 0.0, -across, across);
    const BoxEdge one = farthest_edge(boxes.one, axis.edge_one, normal),
                  two = farthest_edge(boxes.two, axis.edge_two, -normal);
    const Vec3 gap = two.middle - one.middle;
    const Nearest n = TwoSegments(one.half, two.half, gap).nearest();
    const Vec3 on_one = one.middle + n.s * one.half, on_two = two.middle + n.t * two.half;
    return Contact(axis.face == -1, dot(gap, normal), 0.5 * (on_one + on_two), normal);
}

// A face that is met (the reference face), and the most opposed face of the other box, seen from
// it: the third component is the height above it.
struct TwoFaces {
    Vec3 middle, normal, u, v;  // of the face that is met, in the world
    Vec2 half;
    Vec3 other, side_one, side_two;  // the other face's middle and half axes
};

TwoFaces faces_of(const TwoBoxes& boxes, const Int& face) {
    const Bool is_second = face >= 3;
    const Int k = face % 3, next = (k + 1) % 3, last = (k + 2) % 3;
    const auto chosen = [&](const Shape& a, const Shape& b) {
        Shape s;
        s.place = select(is_second, b.place, a.place);
        for (int c = 0; c < 9; ++c)
            s.axes(c / 3, c % 3) = select(is_second, b.axes(c / 3, c % 3), a.axes(c / 3, c % 3));
        s.size = select(is_second, b.size, a.size);
        return s;
    };
    const Shape met = chosen(boxes.one, boxes.two), other = chosen(boxes.two, boxes.one);
    TwoFaces f;
    const Vec3 axis = column(met.axes, k), between = other.place - met.place;
    f.normal = select(dot(axis, between) < 0.0, -axis, axis);
    f.u = column(met.axes, next), f.v = column(met.axes, last);
    f.half = Vec2(met.size[next], met.size[last]);
    f.middle = met.place + met.size[k] * f.normal;
    const auto seen = [&](const Vec3& w) {
        return Vec3(dot(f.u, w), dot(f.v, w), dot(f.normal, w));
    };
    Vec3 slope;
    for (int j = 0; j < 3; ++j) slope[j] = dot(other.axis(j), f.normal);
    const Int most = select(abs(slope[0]) >= abs(slope[1]) && abs(slope[0]) >= abs(slope[2]),
                            Int(0), select(abs(slope[1]) >= abs(slope[2]), Int(1), Int(2)));
    const Int p = (most + 1) % 3, q = (most + 2) % 3;
    const Vec3 looks = column(other.axes, most);
    const Float depth = select(slope[most] > 0.0, -other.size[most], other.size[most]);
    f.other = seen(other.place + depth * looks - f.middle);
    f.side_one = seen(other.size[p] * column(other.axes, p));
    f.side_two = seen(other.size[q] * column(other.axes, q));
    return f;
}

// The part of a segment that is within the rectangle: from + t along, with t in [0, 1] (Liang,
// Barsky, 1984).
struct Part {
    Float begin, end;
};
Part clipped(const Vec3& from, const Vec3& along, const Vec2& half) {
    Part part{Float(0), Float(1)};
    for (int k = 0; k < 2; ++k) {
        const Bool still = abs(along[k]) < no_length, inside = abs(from[k]) <= half[k];
        const Float a = (-half[k] - from[k]) / along[k], b = (half[k] - from[k]) / along[k];
        const Float enter = select(still, select(inside, Float(0), Float(2)), min(a, b));
        const Float leave = select(still, select(inside, Float(1), Float(-1)), max(a, b));
        part.begin = max(part.begin, enter);
        part.end = min(part.end, leave);
    }
    return part;
}

// The corners of the two faces' common part, as seen from the face that is met: the ends of the
// other face's edges, clipped to the rectangle, and the rectangle's corners under the other face.
struct Corner {
    Bool exists;
    Vec3 seen;
};
std::vector<Corner> common_corners(const TwoFaces& f) {
    std::vector<Corner> all;
    const Vec3 corners[] = {f.other - f.side_one - f.side_two, f.other + f.side_one - f.side_two,
                            f.other + f.side_one + f.side_two, f.other - f.side_one + f.side_two};
    for (int k = 0; k < 4; ++k) {
        const Vec3 &from = corners[k], along = corners[(k + 1) % 4] - from;
        const Part part = clipped(from, along, f.half);
        all.push_back({part.begin <= part.end, from + part.begin * along});
        all.push_back({part.begin < part.end && part.end < 1.0, from + part.end * along});
    }
    const Vec3 &p = f.side_one, &q = f.side_two;
    const Float area = p.x() * q.y() - p.y() * q.x();
    for (const int x : {-1, 1})
        for (const int y : {-1, 1}) {
            const Float u = static_cast<double>(x) * f.half[0] - f.other.x(),
                        v = static_cast<double>(y) * f.half[1] - f.other.y();
            const Float a = (u * q.y() - v * q.x()) / area, b = (p.x() * v - p.y() * u) / area;
            all.push_back({abs(a) < 1.0 && abs(b) < 1.0, f.other + a * p + b * q});
        }
    return all;
}

}  // namespace

Contacts box_box(const Shape& one, const Shape& two, const Float& reach) {
    const TwoBoxes boxes(one, two);
    const Separation axis = least_overlap(boxes);
    const Bool near = axis.dist <= reach;
    const TwoFaces faces = faces_of(boxes, max(axis.face, Int(0)));
    const Bool is_second = axis.face >= 3;
    const Vec3 normal = select(is_second, -faces.normal, faces.normal);
    Contacts all;
    for (const Corner& corner : common_corners(faces)) {
        const Float dist = corner.seen.z();
        const Vec3 place = faces.middle + corner.seen.x() * faces.u + corner.seen.y() * faces.v +
                           (0.5 * dist) * faces.normal;
        all.emplace_back(near && corner.exists && dist <= reach && axis.face >= 0, dist, place,
                         normal);
    }
    Contact edges = edge_contact(boxes, axis);
    edges.exists = edges.exists && near;
    all[0] = select(edges.exists, edges, all[0]);
    return all;
}

}  // namespace hindcast::geometry
