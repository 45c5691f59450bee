#include "engine/geometry/convex/contact_patch.hpp"

#include <functional>

namespace hindcast::geometry {

namespace {

constexpr double faces_look = 0.996;  // cosine of the angle between faces that meet
constexpr double edges_lie = 0.0894;  // sine of the angle between an edge and a face that meet
constexpr double in_feature = 5e-3;   // sine of the angle between a feature and its face
// Cosine of the angle between the normal that was found and that of the face that an edge meets; a
// core that is a segment may meet faces at larger angles.
constexpr double faces_it = 0.978, faces_axis = 0.76;

// Sine of the angle between a direction and a plane, by its normal.
Float slope(const Vec3& direction, const Vec3& normal) {
    return divz(abs(dot(direction, normal)), norm(direction));
}

bool has_faces(const SearchedShape& s) { return s.convex.core != Core::segment; }

// A shape, with its place relative to the first shape's.
struct Stance {
    const SearchedShape& shape;
    Vec3 place;

    const Hulls& hulls() const { return *shape.hulls; }
    Vec3 direction(const Vec3& in_units) const {
        const ConvexShape& c = shape.convex;
        return c.shape.outward(cwise_product(c.unit(), in_units));
    }
    Vec3 at(const Vec3& in_units) const { return place + direction(in_units); }
    Int corners(const Int& polygon) const { return Int2(hulls().polygon_corners[polygon]).y(); }
    Vec3 corner(const Int& polygon, const Int& k) const {
        const Int2 own = hulls().polygon_corners[polygon];
        return hulls().hull_vertex[hulls().corner_vertex[own.x() + k % own.y()]];
    }
    Vec3 normal(const Int& polygon) const {
        return shape.convex.shape.outward(hulls().polygon_normal[polygon]);
    }
    // A face as a feature, with its side k as the first direction. Its corners may be a little off
    // its plane, which goes through the first one.
    Feature face(const Int& polygon, const Int& k) const {
        const Vec3 a = corner(polygon, k), side = corner(polygon, k + 1) - a;
        const Vec3 up = hulls().polygon_normal[polygon], along = side - dot(side, up) * up;
        const Float off = dot(a - corner(polygon, Int(0)), up);
        return Feature(a - off * up, along, cross(up, along));
    }
    // True if the point is over the face, seen along this normal.
    Bool covers(const Int& polygon, const Vec3& point, const Vec3& normal) const {
        Bool inside = true;
        for_(0, corners(polygon), [&](Int k) {
            const Vec3 from = at(corner(polygon, k)), to = at(corner(polygon, k + 1));
            const Vec3 inwards = cross(normal, to - from);
            inside = inside && dot(inwards, point - from) >= -1e-12 * norm(inwards);
        });
        return inside;
    }
};

// The corner at a feature, in the hull that stands for the shape; for a cylinder, any of the cap.
Int corner_at(const Stance& s, const Feature& feature, const Vec3& way) {
    const ConvexShape& c = s.shape.convex;
    if (c.core == Core::cylinder) {
        const Int2 own = s.hulls().geom_hull[s.shape.geom];
        return own.x() + select(feature.point.z() > 0.0, Int(0), own.y() / 2);
    }
    return farthest_vertex(s.hulls(), s.shape.geom, cwise_product(c.unit(), c.shape.inward(way)));
}

// Calls `f` with every face that holds the feature.
void each_face(const Stance& s, const Feature& feature, const Vec3& way,
               const std::function<void(const Int& polygon, const Vec3& normal)>& f) {
    const auto turned = [&](const Vec3& v) {
        return s.shape.convex.shape.outward(cwise_product(s.shape.convex.unit_of_directions(), v));
    };
    const Int2 polygons = s.hulls().vertex_polygons[corner_at(s, feature, way)];
    const Vec3 first = turned(feature.first), second = turned(feature.second);
    for_(0, polygons.y(), [&](Int k) {
        const Int polygon = s.hulls().polygon_at[polygons.x() + k];
        const Vec3 normal = s.normal(polygon);
        if_(slope(first, normal) < in_feature && slope(second, normal) < in_feature,
            [&] { f(polygon, normal); });
    });
}

// An edge from one point to another, in units.
struct PatchEdge {
    Vec3 from, to;
};

// Calls `f` with every edge at the feature's corner, or with the feature itself if it is an edge.
void each_edge(const Stance& s, const Feature& feature, const Vec3& way,
               const std::function<void(const PatchEdge& edge)>& f) {
    const Vec3 lower(0, 0, -1), upper(0, 0, 1);
    if (s.shape.convex.core == Core::segment) return f({lower, upper});
    if (s.shape.convex.core == Core::cylinder) {
        if_(!is_some(feature.second), [&] { f({lower, upper}); });
        return;
    }
    const Int vertex = corner_at(s, feature, way);
    const Int2 polygons = s.hulls().vertex_polygons[vertex];
    const Vec3 only = s.direction(feature.first);
    const Bool is_edge = is_some(feature.first) && !is_some(feature.second);
    for_(0, polygons.y(), [&](Int k) {
        const Int polygon = s.hulls().polygon_at[polygons.x() + k];
        const Int2 own = s.hulls().polygon_corners[polygon];
        Int at = 0;
        for_(0, own.y(),
             [&](Int c) { at = select(s.hulls().corner_vertex[own.x() + c] == vertex, c, at); });
        // An edge has the same direction from either end.
        const Int next = s.hulls().corner_vertex[own.x() + (at + 1) % own.y()];
        const PatchEdge edge{s.hulls().hull_vertex[min(vertex, next)],
                             s.hulls().hull_vertex[max(vertex, next)]};
        const Vec3 along = s.direction(edge.to - edge.from);
        const Bool same = norm(cross(along, only)) <= 1e-6 * (norm(along) * norm(only));
        if_(!is_some(feature.second) && (!is_edge || same), [&] { f(edge); });
    });
}

// A face and an edge that meet; the slope is the sine of the angle between them.
struct FaceAndEdge {
    Float slope;
    Int polygon;
    PatchEdge edge;
};

void least_slope(const Stance& faces, const Feature& face_feature, const Stance& edges,
                 const Feature& edge_feature, const Vec3& from_faces, FaceAndEdge& best) {
    if (!has_faces(faces.shape)) return;
    const double facing = has_faces(edges.shape) ? faces_it : faces_axis;
    each_face(faces, face_feature, from_faces, [&](const Int& polygon, const Vec3& normal) {
        each_edge(edges, edge_feature, -from_faces, [&](const PatchEdge& edge) {
            const Float there = slope(edges.direction(edge.to - edge.from), normal);
            const Bool better = there < best.slope && dot(normal, from_faces) > facing;
            best.slope = select(better, there, best.slope);
            best.polygon = select(better, polygon, best.polygon);
            best.edge.from = select(better, edge.from, best.edge.from);
            best.edge.to = select(better, edge.to, best.edge.to);
        });
    });
}

using Slots = std::vector<FoundFeatures>;

// Fills two slots with the ends of the edge's part over the face, if one is within reach.
void edge_on_face(const Stance& faces, const Stance& edges, const FaceAndEdge& both,
                  bool face_is_first, const Float& reach, Slots& slots) {
    const Vec3 normal = faces.normal(both.polygon);
    const Vec3 curve = edges.shape.convex.curve(-normal, Bool(false));
    const Vec3 from = edges.at(both.edge.from) + curve,
               along = edges.direction(both.edge.to - both.edge.from);
    Float begin = 0, end = 1;
    Int begin_side = -1, end_side = -1;
    for_(0, faces.corners(both.polygon), [&](Int k) {
        const Vec3 corner = faces.at(faces.corner(both.polygon, k));
        const Vec3 inwards = cross(normal, faces.at(faces.corner(both.polygon, k + 1)) - corner);
        const Float inside = dot(inwards, from - corner), rises = dot(inwards, along);
        const Float way = divz(-inside, rises);
        const Bool enters = rises > 0.0 && way > begin, leaves = rises < 0.0 && way < end;
        begin_side = select(enters, k, begin_side);
        begin = select(enters, way, begin);
        end_side = select(leaves, k, end_side);
        end = select(leaves, way, end);
        end = select(rises == 0.0 && inside < 0.0, Float(-1), end);
    });
    const Vec3 on_face = faces.at(faces.corner(both.polygon, Int(0)));
    const auto height = [&](const Float& way) {
        return dot(normal, from + way * along - on_face) - edges.shape.convex.radius();
    };
    if_(begin < end && min(height(begin), height(end)) <= reach, [&] {
        const auto put = [&](FoundFeatures& slot, const Int& side, const Vec3& tip) {
            const Bool cut = side >= 0;
            const Feature face = faces.face(both.polygon, max(side, 0));
            const Feature edge =
                Feature::chosen(cut, Feature(both.edge.from, both.edge.to - both.edge.from, Vec3()),
                                Feature(tip, Vec3(), Vec3()));
            slot.normal = face_is_first ? normal : -normal;
            slot.one = face_is_first ? face : edge;
            slot.two = face_is_first ? edge : face;
        };
        put(slots[0], begin_side, both.edge.from);
        put(slots[1], end_side, both.edge.to);
    });
}

// Corners of the common part of two faces, numbered: corners of the first over the second, corners
// of the second under the first, and crossings of their sides.
class CommonPoints {
public:
    CommonPoints(const Stance& one, const Int& face_one, const Stance& two, const Int& face_two,
                 const Float& reach)
        : one_(one),
          two_(two),
          face_one_(face_one),
          face_two_(face_two),
          corners_one_(one.corners(face_one)),
          corners_two_(two.corners(face_two)),
          normal_(-two.normal(face_two)),
          normal_one_(one.normal(face_one)),
          reach_(reach) {}

    const Vec3& normal() const { return normal_; }
    Int count() const { return corners_one_ + corners_two_ + corners_one_ * corners_two_; }

    struct Point {
        Bool exists;
        Vec3 place;  // in the second's face
    };
    Point point(const Int& number) const {
        const Which w = which(number);
        const Vec3 a = one_.at(one_.corner(face_one_, w.one)),
                   along_a = one_.at(one_.corner(face_one_, w.one + 1)) - a;
        const Vec3 c = two_.at(two_.corner(face_two_, w.two)),
                   along_c = two_.at(two_.corner(face_two_, w.two + 1)) - c;
        const Float across = dot(normal_, cross(along_a, along_c));
        const Float s = divz(dot(normal_, cross(c - a, along_c)), across),
                    t = divz(dot(normal_, cross(c - a, along_a)), across);
        const Bool crosses =
            across != 0.0 && s > 1e-12 && s < 1.0 - 1e-12 && t > 1e-12 && t < 1.0 - 1e-12;
        const Vec3 on_one = a + select(w.crossing, s, Float(0)) * along_a;
        // Distances of the faces along the normal, at the first's point and at the second's corner.
        const Float from_one = dot(normal_, c - on_one),
                    to_two = divz(dot(normal_one_, c - a), dot(normal_one_, normal_));
        Point p{w.crossing && crosses && from_one <= reach_,
                select(w.of_two, c, on_one + from_one * normal_)};
        if_(w.of_two, [&] { p.exists = to_two <= reach_ && one_.covers(face_one_, c, normal_); });
        if_(!w.of_two && !w.crossing,
            [&] { p.exists = from_one <= reach_ && two_.covers(face_two_, a, -normal_); });
        return p;
    }
    FoundFeatures features(const Int& number) const {
        const Which w = which(number);
        FoundFeatures f;
        const Vec3 a = one_.corner(face_one_, w.one), b = one_.corner(face_one_, w.one + 1);
        f.normal = normal_;
        f.one = Feature::chosen(w.of_two, one_.face(face_one_, Int(0)),
                                Feature(a, select(w.crossing, b - a, Vec3()), Vec3()));
        f.two = two_.face(face_two_, w.two);
        return f;
    }

private:
    struct Which {
        Bool of_two, crossing;
        Int one, two;  // corners
    };
    Which which(const Int& number) const {
        const Int after_one = number - corners_one_, after_two = after_one - corners_two_;
        Which w{after_one >= 0 && after_two < 0, after_two >= 0, Int(0), Int(0)};
        w.one = select(w.crossing, max(after_two, 0) / corners_two_, min(number, corners_one_ - 1));
        w.two = select(w.crossing, max(after_two, 0) % corners_two_, max(after_one, 0));
        w.two = select(w.of_two || w.crossing, w.two, Int(0));
        w.one = select(w.of_two, Int(0), w.one);
        return w;
    }
    Stance one_, two_;
    Int face_one_, face_two_, corners_one_, corners_two_;
    Vec3 normal_, normal_one_;
    Float reach_;
};

// Chooses up to four common points: an outermost one, the one farthest from it, and on either side
// the one farthest from the line through these two.
void face_on_face(const CommonPoints& common, Slots& slots) {
    struct Chosen {
        Float most;
        Int number;
        Vec3 place;
    };
    const auto choose = [&](double least, const std::function<Float(const Vec3&)>& score) {
        Chosen best{Float(least), Int(-1), Vec3()};
        for_(0, common.count(), [&](Int number) {
            const CommonPoints::Point p = common.point(number);
            const Float there = score(p.place);
            const Bool better = p.exists && there > best.most;
            best.most = select(better, there, best.most);
            best.number = select(better, number, best.number);
            best.place = select(better, p.place, best.place);
        });
        return best;
    };
    const Vec3 outwards = direction_of(cross(common.normal(), Vec3(0.3, 0.5, 0.8)));
    const Chosen a = choose(-1e30, [&](const Vec3& p) { return dot(p, outwards); });
    const Chosen b = choose(1e-24, [&](const Vec3& p) { return squared_norm(p - a.place); });
    const Vec3 side = cross(common.normal(), b.place - a.place);
    const Float flat = 1e-9 * squared_norm(b.place - a.place);
    const auto across = [&](const Vec3& p) { return dot(side, p - a.place); };
    const Chosen c = choose(0.0, [&](const Vec3& p) { return across(p) - flat; });
    const Chosen d = choose(0.0, [&](const Vec3& p) { return -across(p) - flat; });
    const Chosen all[] = {a, b, c, d};
    for (std::size_t k = 0; k < 4; ++k) {
        const bool needs_two = k > 1;
        const Bool exists = all[k].number >= 0 && (!Bool(needs_two) || b.number >= 0);
        if_(exists, [&] { slots[k] = common.features(all[k].number); });
    }
}

// The faces that look at each other most.
struct FacePair {
    Float look;
    Int one, two;
};
FacePair looking(const Stance& one, const Stance& two, const FoundFeatures& f) {
    FacePair best{Float(-1), Int(0), Int(0)};
    each_face(one, f.one, f.normal, [&](const Int& p, const Vec3& normal) {
        each_face(two, f.two, -f.normal, [&](const Int& q, const Vec3& other) {
            const Float there = -dot(normal, other);
            const Bool better = there > best.look;
            best.look = select(better, there, best.look);
            best.one = select(better, p, best.one);
            best.two = select(better, q, best.two);
        });
    });
    return best;
}

}  // namespace

std::vector<FoundFeatures> contact_patch(const SearchedShape& one, const SearchedShape& two,
                                         const FoundFeatures& found, const Float& reach,
                                         int slots) {
    Slots all(static_cast<std::size_t>(slots));
    const Vec3 zero;
    const Stance first{one, zero}, second{two, two.convex.shape.place - one.convex.shape.place};
    if_(is_some(found.normal), [&] {
        Bool is_patch = false;
        if (slots == 4) {
            const FacePair faces = looking(first, second, found);
            is_patch = faces.look > faces_look;
            if_(is_patch, [&] {
                face_on_face(CommonPoints(first, faces.one, second, faces.two, reach), all);
            });
        }
        if_(!is_patch, [&] {
            FaceAndEdge of_one{Float(edges_lie), Int(-1), {}},
                of_two{Float(edges_lie), Int(-1), {}};
            least_slope(first, found.one, second, found.two, found.normal, of_one);
            least_slope(second, found.two, first, found.one, -found.normal, of_two);
            const Bool on_one = of_one.polygon >= 0 && of_one.slope <= of_two.slope;
            if (has_faces(one))
                if_(on_one, [&] { edge_on_face(first, second, of_one, true, reach, all); });
            if (has_faces(two))
                if_(!on_one && of_two.polygon >= 0,
                    [&] { edge_on_face(second, first, of_two, false, reach, all); });
        });
        if_(!is_some(all[0].normal), [&] { all[0] = found; });
    });
    return all;
}

}  // namespace hindcast::geometry
