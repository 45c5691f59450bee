// Which geoms may touch, against MuJoCo; the list of contacts; what is refused.
#include <doctest/doctest.h>

#include "tests/robots/collision/contacts.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// All geoms are in one place, so that every pair that MuJoCo looks at has a contact.
std::string crowd(const std::string& option, const std::string& contact) {
    return "<mujoco><option>" + option + R"(</option>
  <default><geom size="0.2" margin="0.01"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" pos="0 0 0.05"/>
    <geom name="post" type="capsule" size="0.2 0.1"/>
    <body name="mocap" mocap="true">
      <geom name="target" condim="1"/>
      <body name="held"><joint axis="0 1 0"/><geom name="held" type="box" size="0.2 0.2 0.2"/></body>
      <body name="glued"><geom name="glued"/></body>
    </body>
    <body name="trunk" pos="0.01 0 0.01">
      <freejoint/>
      <geom name="chest" priority="1" condim="4"/>
      <geom name="back" type="box" size="0.2 0.2 0.2" contype="2" conaffinity="4"/>
      <body name="arm" pos="0 0.01 0">
        <joint axis="0 1 0"/>
        <geom name="upper" type="capsule" size="0.2 0.1" condim="6" gap="0.02"/>
        <body name="hand">
          <geom name="palm"/>
          <body name="finger"><joint axis="1 0 0"/><geom name="finger" type="capsule" size="0.2 0.1"/></body>
        </body>
      </body>
      <body name="leg"><joint axis="1 0 0"/><geom name="shin" contype="4" conaffinity="2"/></body>
    </body>
    <body name="other" pos="0.02 0.01 0"><freejoint/><geom name="ball" contype="0" conaffinity="0"/></body>
  </worldbody>
  <contact>)" +
           contact + "</contact></mujoco>";
}

const char* const pairs = R"(
  <exclude body1="finger" body2="trunk"/>
  <exclude body1="world" body2="leg"/>
  <pair geom1="ball" geom2="chest" condim="1" margin="0.2"/>
  <pair geom1="upper" geom2="chest"/>
  <pair geom1="floor" geom2="shin" gap="0.1" margin="0.05"/>
  <pair geom1="finger" geom2="post" condim="6"/>
  <pair geom1="glued" geom2="target"/>
  <pair geom1="ball" geom2="shin"/>)";

}  // namespace

TEST_CASE("the pairs of geoms that may touch are MuJoCo's, in its order") {
    HINDCAST_NEEDS_MUJOCO();
    for (const std::string option : {"", R"(<flag filterparent="disable"/>)"})
        for (const std::string contact : {"", pairs}) {
            CAPTURE(option);
            CAPTURE(contact);
            Oracle oracle(crowd(option, contact), "crowd.xml");
            oracle.forward();
            std::vector<FoundContact> expected;
            for (const FoundContact& c : contacts_of(oracle))
                if (expected.empty() || expected.back().geom1 != c.geom1 ||
                    expected.back().geom2 != c.geom2)
                    expected.push_back(c);
            const auto found = articulated::candidate_pairs(oracle.model());
            CHECK(found.size() > 10);
            REQUIRE(found.size() == expected.size());
            for (std::size_t k = 0; k < found.size(); ++k) {
                CAPTURE(k);
                CHECK(found[k].geom1 == expected[k].geom1);
                CHECK(found[k].geom2 == expected[k].geom2);
                CHECK(found[k].condim == expected[k].condim);
                CHECK(found[k].margin == expected[k].margin);
                CHECK(found[k].body1 ==
                      oracle.model().integers(
                          "geom_bodyid")[static_cast<std::size_t>(found[k].geom1)]);
                CHECK(found[k].slots > 0);
            }
        }
}

TEST_CASE("slots in contact are listed in order, and more than there is room for are an error") {
    for (const auto& device : devices()) {
        CAPTURE(device->describe());
        const auto real = [](const std::vector<double>& values) {
            return Array::from(values, ir::Type::f64,
                               {static_cast<std::int64_t>(values.size()), 1});
        };
        const Array dist = real({0.1, -0.1, 1e10, 0.02, 0.0, -2}),
                    margin = real({0, 0, 0, 0.03, 0, -1});
        const auto launch = [&](int capacity) {
            const Array slot(ir::Type::i32, {capacity, 1}), count(ir::Type::i32, {1, 1});
            const Launch l(device, articulated::gather(6, capacity, "too many for %; make room"),
                           ir::Precision::f64, 1, {dist, margin, slot, count});
            l.forward().run();
            device->synchronize();
            CHECK(count.value(0) == 3);
            return slot.to_doubles();
        };
        CHECK(launch(3) == std::vector<double>{1, 3, 5});
        CHECK(launch(5) == std::vector<double>{1, 3, 5, -1, -1});
        CHECK(message([&] { launch(2); }).find("too many for 5; make room") != std::string::npos);
    }
}
