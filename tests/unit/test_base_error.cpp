// The one exception type: the order of its parts, and places shown from the project's root.
#include <doctest/doctest.h>

#include <string>

#include "engine/base/error.hpp"

using namespace hindcast;

TEST_CASE("an error composes its message from what each level knows") {
    Error error("stiffness must be positive, got -3");
    error.remedy("write a number above 0").at_pointer("/forces/0/stiffness");
    CHECK(std::string(error.what()) ==
          "at /forces/0/stiffness: stiffness must be positive, got -3; write a number above 0");
    error.in_kernel("springs").at_item(7).at(SourcePlace{"kernels/springs/springs.cpp", 12, 3});
    error.note("seen first in step 4");
    CHECK(std::string(error.what()) ==
          "kernels/springs/springs.cpp:12:3: in kernel 'springs', item 7: at /forces/0/stiffness: "
          "stiffness must be positive, got -3; write a number above 0\n  seen first in step 4");
}

TEST_CASE("a source place is shown from the project's root") {
    const auto place = SourcePlace::from(std::source_location::current());
    CHECK(place.file == "tests/unit/test_base_error.cpp");
    CHECK(place.line > 0);
    CHECK_FALSE(SourcePlace{}.known());
}
