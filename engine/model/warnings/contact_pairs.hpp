// The pairs of objects that can touch, each with the law that keeps them apart, or none.
//
// Every object with an extent adds itself while the scene is built: bodies of points, surfaces,
// rigid bodies, material points, obstacles. Every law of contact says which pairs it keeps apart.
// The other pairs pass through each other, and a warning names them. Pairs of bodies, never of
// elements.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/model/warnings/warning.hpp"

namespace hindcast::model {

// An axis-aligned box, m; unused axes of a plane scene are 0.
struct Box {
    static constexpr double inf = std::numeric_limits<double>::infinity();
    std::array<double, 3> low{inf, inf, inf}, high{-inf, -inf, -inf};

    bool empty() const { return low[0] > high[0]; }
    void add(const double* place, int dimension, double radius = 0);
    bool overlaps(const Box& other) const;
};

// n.x < offset, n of length 1.
struct HalfSpace {
    std::array<double, 3> normal{};
    double offset = 0;

    bool overlaps(const Box& box) const;
};

// The space that an object fills, at most.
struct Bounds {
    std::vector<Box> boxes;
    std::vector<HalfSpace> half_spaces;

    bool overlap(const Bounds& other) const;
};

enum class Extent : std::uint8_t {
    points,           // without a size: they touch what has one
    balls,            // points with a radius
    surface,          // triangles, or a solid inside
    rigid,            // robots and rigid shapes
    material_points,  // that share a grid
    obstacle          // prescribed by the scene
};

struct ContactBody {
    std::string name, pointer;  // of the scene's object
    Extent extent = Extent::points;
    bool moves = true;                            // false: fixed, or as prescribed
    bool several = true;                          // it has parts that can touch each other
    bool falls = true;                            // a part of it hangs on nothing
    std::vector<HalfSpace> own_ground{};          // resting, that its own parts do not enter
    std::function<Bounds(double time)> bounds{};  // from the state as it stands, s since the start

    // True if a resting half-space lies within its own ground: it never gets there.
    bool keeps_off(const HalfSpace& half) const;
};

class ContactPairs {
public:
    void add(ContactBody body);
    // An object that add() has been called for.
    ContactBody* find(const std::string& name);
    // Says that `law` keeps the two apart, in any order; the same name twice: a body with itself.
    // Both may be added later.
    void keep_apart(const std::string& a, const std::string& b, const std::string& law);
    // Reads the scene's "contact": {"exceptions": [["a", "b"], ...]}, pairs that are meant to pass
    // through each other. Throws Error at a name that no object of the scene has that can touch.
    void read_exceptions(const document::Node* contact);

    struct Pair {
        const ContactBody *a = nullptr, *b = nullptr;  // the same: a body with itself
        std::string law;                               // "": none
        bool is_exception = false;

        bool is_unguarded() const { return law.empty() && !is_exception; }
    };
    // All that can touch, in the order in which bodies were added. Two obstacles, two fixed bodies,
    // and points without a size among themselves cannot.
    std::vector<Pair> list() const;
    // A list of {"a", "b", "law"}; the law is null if there is none, and "exception" is true if the
    // scene declares one.
    document::Node to_node() const;

    // One warning that names up to five pairs of different bodies that nothing keeps apart.
    void warn_of_unguarded(Warnings& warnings) const;
    // Those pairs, for warn_of_overlaps(): none where the warning is accepted.
    std::vector<Pair> watched(const Warnings& warnings) const;
    // One warning for the first of these pairs whose bounds overlap. True if there was one.
    static bool warn_of_overlap(const std::vector<Pair>& pairs, double time, std::int64_t step,
                                Warnings& warnings);

private:
    static std::pair<std::string, std::string> ordered(const std::string& a, const std::string& b) {
        return a < b ? std::pair(a, b) : std::pair(b, a);
    }
    std::vector<ContactBody> bodies_;
    std::map<std::pair<std::string, std::string>, std::set<std::string>> laws_;
    std::set<std::pair<std::string, std::string>> exceptions_;
};

// A JSON schema of the scene's "contact".
std::string contact_schema();

}  // namespace hindcast::model
