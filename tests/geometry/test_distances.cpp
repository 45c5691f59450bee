// Distances and normals of shapes against coal 3.0.3: distances.json, made by make_distances.py.
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "engine/ad/grad.hpp"
#include "engine/document/read.hpp"
#include "engine/geometry/kinds/distances.hpp"
#include "engine/geometry/kinds/row.hpp"
#include "tests/robots/collision/contacts.hpp"
#include "tests/support/paths.hpp"

using namespace hindcast;
using namespace hindcast::test;
using document::Node;
using geometry::PlacedBy;

namespace {

document::Document reference() {
    return document::Document::load(std::filesystem::path(source_dir) /
                                    "tests/geometry/distances.json");
}

std::vector<double> numbers(const Node& list) {
    std::vector<double> all;
    for (std::size_t k = 0; k < list.size(); ++k) all.push_back(document::number_of(list.item(k)));
    return all;
}

std::string mesh_of_box(std::size_t k, const std::vector<double>& half) {
    std::string vertices;
    for (const double x : {-half[0], half[0]})
        for (const double y : {-half[1], half[1]})
            for (const double z : {-half[2], half[2]})
                vertices += fmt::format("{} {} {} ", x, y, z);
    return fmt::format(R"(<mesh name="{}" vertex="{}"/>)", k, vertices);
}

// Two bodies of one geom each for every pair, which may touch from far away. The closed form of two
// boxes gives MuJoCo's contacts, whose distances are true where the boxes touch only: of two, one is a
// mesh.
std::string model_of(const Node& pairs) {
    std::string meshes, bodies, contact;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const Node& pair = pairs.item(k);
        const bool boxes = pair.find("first")->string() == pair.find("second")->string() &&
                           pair.find("first")->string() == "box";
        if (boxes) meshes += mesh_of_box(k, numbers(pair.find("sizes")->item(1)));
        for (std::size_t side = 0; side < 2; ++side) {
            const std::string& kind = pair.find(side == 0 ? "first" : "second")->string();
            const std::string geom =
                boxes && side == 1
                    ? fmt::format(R"(type="mesh" mesh="{}")", k)
                    : fmt::format(R"(type="{}" size="{}")", kind,
                                  fmt::join(numbers(pair.find("sizes")->item(side)), " "));
            bodies += fmt::format(
                R"(<body><freejoint/><geom name="{}_{}" {} density="100"/></body>)", k, side, geom);
        }
        contact += fmt::format(R"(<pair geom1="{0}_0" geom2="{0}_1" margin="5"/>)", k);
    }
    return "<mujoco><asset>" + meshes +
           "</asset><default><geom contype=\"0\" conaffinity=\"0\"/></default><worldbody>" +
           bodies + "</worldbody><contact>" + contact + "</contact></mujoco>";
}

}  // namespace

TEST_CASE("shapes that are apart have coal's distance and normal, every pair of kinds") {
    HINDCAST_NEEDS_MUJOCO();
    const document::Document file = reference();
    const Node& pairs = file.at("/pairs");
    const Oracle oracle(model_of(pairs), "pairs.xml");
    OurContacts ours(oracle.model(), interpreter_device());
    std::vector<double> places{0, 0, 0}, turns{1, 0, 0, 0};
    for (std::size_t k = 0; k < pairs.size(); ++k)
        for (std::size_t side = 0; side < 2; ++side) {
            const std::vector<double> place =
                side == 0 ? std::vector<double>(3) : numbers(*pairs.item(k).find("place"));
            const std::vector<double> turn = numbers(pairs.item(k).find("turns")->item(side));
            places.insert(places.end(), place.begin(), place.end());
            turns.insert(turns.end(), turn.begin(), turn.end());
        }
    ours.set("xpos", places);
    ours.set("xquat", turns);
    ours.run();
    std::vector<bool> met(pairs.size(), false);
    for (const FoundContact& c : ours.contacts()) {
        const auto k = static_cast<std::size_t>(c.geom1 / 2);
        REQUIRE(c.geom2 / 2 == c.geom1 / 2);
        const Node& pair = pairs.item(k);
        CAPTURE(pair.find("first")->string());
        CAPTURE(pair.find("second")->string());
        CAPTURE(k);
        const double expected = document::number_of(*pair.find("distance"));
        const std::vector<double> normal = numbers(*pair.find("normal"));
        // A pair's second contact, such as at a capsule's other end, is farther.
        if (met[k] && c.dist > expected + 1e-4) continue;
        met[k] = true;
        CHECK(c.dist == doctest::Approx(expected).epsilon(2e-6));
        // coal's search ends where the distance is right; the normal then is to its square root.
        const bool turned = c.geom1 % 2 == 1;
        for (std::size_t i = 0; i < 3; ++i)
            CHECK(std::abs(c.frame[i] - (turned ? -normal[i] : normal[i])) < 2e-3);
    }
    for (std::size_t k = 0; k < met.size(); ++k) {
        CAPTURE(k);
        CHECK(met[k]);
    }
}

TEST_CASE("obstacles have coal's distance and normal at points outside") {
    using namespace lang;
    const document::Document file = reference();
    const Node& points = file.at("/points");
    std::set<std::string> kinds;
    for (std::size_t k = 0; k < points.size(); ++k) {
        const Node& point = points.item(k);
        const std::string& name = point.find("kind")->string();
        CAPTURE(name);
        CAPTURE(k);
        kinds.insert(name);
        const geometry::KindRow* const row = geometry::find_row(name);
        REQUIRE(row != nullptr);
        const std::vector<double> size = numbers(*point.find("size")),
                                  at = numbers(*point.find("point")),
                                  normal = numbers(*point.find("normal"));
        const KernelDef distance = kernel(
            "distance", {"x", "d", "n"}, [&](Int i, Read<Vec3> x, Write<Float> d, Write<Vec3> n) {
                const Vec3 p = ad::variable(Vec3(x[i]));
                const Vec3 extent =
                    row->has_axis() ? Vec3(0.0, 0.0, size[1]) : Vec3(size[0], size[1], size[2]);
                const Float there = geometry::distance(row->kind, p, extent, Float(size[0]));
                d[i] = there;
                n[i] = ad::grad(there, p);
            });
        const Array x(ir::Type::f64, {1, 3}), d(ir::Type::f64, {1, 1}), n(ir::Type::f64, {1, 3});
        x.assign(at);
        Launch(interpreter_device(), distance, ir::Precision::f64, 1,
               {{"x", x}, {"d", d}, {"n", n}})
            .forward()
            .run();
        CHECK(d.value(0) ==
              doctest::Approx(document::number_of(*point.find("distance"))).epsilon(1e-6));
        for (int i = 0; i < 3; ++i)
            CHECK(std::abs(n.value(0, i) - normal[static_cast<std::size_t>(i)]) < 2e-3);
    }
    CHECK(kinds == std::set<std::string>{"box", "capsule", "cone", "cylinder", "sphere"});
}
