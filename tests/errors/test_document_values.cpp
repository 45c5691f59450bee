// Values that cannot be: every message has the place, the pointer and what would do.
#include <doctest/doctest.h>

#include <string>

#include "engine/base/error.hpp"
#include "engine/document/document.hpp"
#include "engine/document/values.hpp"
#include "tests/support/elementary.hpp"

using namespace hindcast;
using namespace hindcast::document;

namespace {

std::string message(const char* text, const ValueRequest& request) {
    const Document document = Document::parse(std::string("{\"v\": ") + text + "}", "s.json");
    try {
        evaluate(document.at("/v"), request);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

std::string message(const char* text, std::optional<std::int64_t> count, int components,
                    const Range& range = {}) {
    ValueRequest request;
    request.count = count;
    request.components = components;
    request.range = range;
    request.functions = test::elementary_of_the_c_library();
    return message(text, request);
}

}  // namespace

TEST_CASE("values errors: shapes") {
    CHECK(message("3", 2, 3) ==
          "s.json:1:7: at /v: expected a vector of 3 numbers, found the integer 3; write 3 numbers "
          "in [ ]");
    CHECK(message("[1, 2]", 3, 1) ==
          "s.json:1:7: at /v: expected values for 3 elements, found 2; write 3 of them, or a "
          "number for "
          "all");
    CHECK(
        message("[[1, 2, 3], [4, 5]]", 2, 3) ==
        "s.json:1:19: at /v/1: expected an array of 3 numbers, found an array of 2 items; write 3 "
        "numbers in [ ]");
    CHECK(
        message("[1, 2]", 2, 3).find("expected an array of 3 numbers, found an array of 2 items") !=
        std::string::npos);
    CHECK(message("[1, [2]]", 2, 1).find("at /v/1: expected a number, found an array of 1 item") !=
          std::string::npos);
    CHECK(message("[0, 0, 1]", std::nullopt, 3) ==
          "s.json:1:7: at /v: expected a vector of 3 numbers per element, found an array of 3 "
          "items; put "
          "it in brackets if there is one element: [[0, ...]]");
    CHECK(message("5", std::nullopt, 1).find("if there is one element: [5]") != std::string::npos);
    CHECK(message("\"initial\"", 2, 1) ==
          "s.json:1:7: at /v: expected a number, one per element, or a generator, found the string "
          "'initial'; write for instance 0.5, [1, 2, 3] or {\"formula\": \"0.1*i\"}");
    CHECK(message("true", 2, 2).find("write for instance [0, 0] or [[0, 0], ...]") !=
          std::string::npos);
    CHECK(message("[1, -2]", 2, 1, Range::positive("kg")) ==
          "s.json:1:11: at /v/1: expected a number above 0 (kg), found the integer -2; change the "
          "number");
}

TEST_CASE("values errors: generators") {
    CHECK(message("{\"fromula\": \"i\"}", 2, 1) ==
          "s.json:1:8: at /v/fromula: unknown generator 'fromula'; did you mean 'formula'?");
    CHECK(
        message("{\"sphere\": 1}", 2, 1).find("generators are formula, random, grid, box, file") !=
        std::string::npos);
    CHECK(message("{}", 2, 1).find("an empty object says no values") != std::string::npos);
    CHECK(message("{\"formula\": \"i\", \"grid\": {}}", 2, 1)
              .find("at /v/grid: a second generator 'grid' beside 'formula'") != std::string::npos);
    CHECK(message("{\"mesh\": \"bunny.obj\"}", 2, 3) ==
          "s.json:1:16: at /v/mesh: values from a mesh are not supported yet; store the values as "
          ".npy "
          "and write {\"file\": \"x.npy\"}");
    CHECK(message("{\"formula\": \"log(i)\"}", 2, 1) ==
          "s.json:1:19: at /v/formula: expected finite numbers, but element 0 is -inf; change what "
          "computes it");
    CHECK(message("{\"formula\": \"1-i\"}", 3, 1, Range::at_least(0))
              .find("expected a number of at least 0, but element 2 is -1") != std::string::npos);
    CHECK(message("{\"formula\": \"i\"}", 2, 3).find("expected an array of 3 formulas") !=
          std::string::npos);
    CHECK(message("{\"formula\": \"i\"}", std::nullopt, 1)
              .find("the number of elements is not known here") != std::string::npos);
    CHECK(message("{\"formula\": \"x\"}", 2, 1).find("unknown name 'x' at column 1") !=
          std::string::npos);
    CHECK(message("{\"formula\": 1}", 2, 1) == "accepted");
    CHECK(message("{\"formula\": true}", 2, 1).find("expected a formula, found true") !=
          std::string::npos);

    CHECK(message("{\"random\": {\"normal\": [0, 1]}}", 2, 1)
              .find("the key 'seed' is missing in a random "
                    "generator") != std::string::npos);
    CHECK(message("{\"random\": {\"seed\": -1, \"normal\": [0, 1]}}", 2, 1)
              .find("expected an integer of at least 0") != std::string::npos);
    CHECK(message("{\"random\": {\"seed\": 1}}", 2, 1).find("the distribution is missing") !=
          std::string::npos);
    CHECK(message("{\"random\": {\"seed\": 1, \"normal\": [0, -1]}}", 2, 1)
              .find("at /v/random/normal/1: expected a number of at least 0") != std::string::npos);
    CHECK(message("{\"random\": {\"seed\": 1, \"uniform\": [2, 1]}}", 2, 1)
              .find("the lower end 2 lies above the upper end 1") != std::string::npos);
    CHECK(message("{\"random\": {\"seed\": 1, \"uniform\": [-1e308, 1e308]}}", 2, 1)
              .find("the range from -1e+308 to 1e+308 is too wide for f64") != std::string::npos);
    CHECK(message("{\"random\": {\"seed\": 1, \"gauss\": [2, 1]}}", 2, 1)
              .find("unknown key 'gauss'") != std::string::npos);
    ValueRequest bare;
    bare.count = 2;
    CHECK(message("{\"random\": {\"seed\": 1, \"normal\": [0, 1]}}", bare)
              .find("normal numbers are not available here; use \"uniform\"") != std::string::npos);

    CHECK(message("{\"grid\": {\"counts\": [2, 2], \"spacing\": 1}}", 4, 3)
              .find("at /v/grid/counts: expected an array of 3 items, found an array of 2 items") !=
          std::string::npos);
    CHECK(message("{\"grid\": {\"counts\": [2, 2, 1], \"spacing\": 1}}", 5, 3)
              .find("expected values for 5 elements, found 4") != std::string::npos);
    CHECK(message("{\"grid\": {\"counts\": [2, 0, 1], \"spacing\": 1}}", 5, 3)
              .find("at /v/grid/counts/1: expected an integer from 1 to") != std::string::npos);
    CHECK(
        message("{\"grid\": {\"counts\": [1], \"spacing\": 1, \"origin\": 0, \"center\": 0}}", 1, 1)
            .find("both 'origin' and 'center'") != std::string::npos);
    CHECK(message("{\"grid\": {\"counts\": [60000000, 60000000, 60000000], \"spacing\": 1}}",
                  std::nullopt, 3)
              .find("are more than 67108864 numbers") != std::string::npos);
    CHECK(message("{\"box\": {\"min\": [0, 0], \"max\": [1, -1], \"counts\": [1, 1]}}",
                  std::nullopt, 2)
              .find("max -1 lies below min 0") != std::string::npos);
    CHECK(message("{\"random\": {\"seed\": 1, \"uniform\": [0, 1]}}", 1'000'000'000'000, 3)
              .find("are more than 67108864 numbers") != std::string::npos);
}
