// Values: written numbers, generators and files against numbers worked out here.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "engine/base/error.hpp"
#include "engine/document/document.hpp"
#include "engine/document/npy.hpp"
#include "engine/document/values.hpp"
#include "tests/support/elementary.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::document;
namespace fs = std::filesystem;

namespace {

using Numbers = std::vector<double>;

ValueRequest request(std::optional<std::int64_t> count, int components) {
    ValueRequest result;
    result.count = count;
    result.components = components;
    result.functions = test::elementary_of_the_c_library();
    return result;
}

Values values(const char* text, const ValueRequest& wanted) {
    const Document document = Document::parse(text, "s.json");
    return evaluate(document.root(), wanted);
}

Values values(const char* text, std::optional<std::int64_t> count, int components) {
    return values(text, request(count, components));
}

}  // namespace

TEST_CASE("values: one shared value or one per element") {
    const Values one = values("\"1/30\"", 4, 1);
    CHECK(one.shared);
    CHECK(one.data == Numbers{1.0 / 30.0});
    CHECK(one.rows() == Numbers(4, 1.0 / 30.0));
    CHECK(one.form == ValueForm::Written);
    CHECK(one.written == Node("1/30"));

    const Values vector = values("[0, 0, -9.81]", 2, 3);
    CHECK(vector.shared);
    CHECK(vector.count == 2);
    CHECK(vector.rows() == Numbers{0, 0, -9.81, 0, 0, -9.81});

    const Values list = values("[1, \"1/2\", 3]", 3, 1);
    CHECK_FALSE(list.shared);
    CHECK(list.data == Numbers{1, 0.5, 3});

    const Values rows = values("[[0, 1], [2, 3], [4, 5]]", std::nullopt, 2);
    CHECK_FALSE(rows.shared);
    CHECK(rows.count == 3);
    CHECK(rows.data == Numbers{0, 1, 2, 3, 4, 5});

    CHECK(values("[]", std::nullopt, 3).count == 0);
    CHECK(values("[]", 0, 1).data.empty());
}

TEST_CASE("values: grid, last index fastest") {
    const Values grid =
        values(R"({"grid": {"counts": [2, 3], "spacing": [1, 0.25], "origin": [10, -1]}})",
               std::nullopt, 2);
    CHECK(grid.form == ValueForm::Grid);
    CHECK_FALSE(grid.shared);
    CHECK(grid.count == 6);
    CHECK(grid.data == Numbers{10, -1, 10, -0.75, 10, -0.5, 11, -1, 11, -0.75, 11, -0.5});

    const Values plain = values(R"({"grid": {"counts": [1, 1, 3], "spacing": 2}})", 3, 3);
    CHECK(plain.data == Numbers{0, 0, 0, 0, 0, 2, 0, 0, 4});

    const Values centered =
        values(R"({"grid": {"counts": [3, 2], "spacing": 1, "center": [0, 5]}})", std::nullopt, 2);
    CHECK(centered.data == Numbers{-1, 4.5, -1, 5.5, 0, 4.5, 0, 5.5, 1, 4.5, 1, 5.5});
}

TEST_CASE("values: box, centers of its cells") {
    const Values box = values(
        R"({"box": {"min": [0, 1, 0], "max": [1, 2, 0], "counts": [2, 1, 2]}})", std::nullopt, 3);
    CHECK(box.count == 4);
    CHECK(box.data == Numbers{0.25, 1.5, 0, 0.25, 1.5, 0, 0.75, 1.5, 0, 0.75, 1.5, 0});
}

TEST_CASE("values: formulas see element, count and position") {
    const Values line = values(R"({"formula": "10*i + n"})", 3, 1);
    CHECK(line.form == ValueForm::Formula);
    CHECK_FALSE(line.shared);
    CHECK(line.data == Numbers{3, 13, 23});

    const Numbers positions = {0, 1, 2, 3, 4, 5};
    ValueRequest wanted = request(2, 3);
    wanted.positions = positions;
    const char* const vector = R"json({"formula": ["sin(x)", 0, "z - y"]})json";
    CHECK(values(vector, wanted).data == Numbers{std::sin(0.0), 0, 1, std::sin(3.0), 0, 1});
    wanted = request(3, 1);
    wanted.positions = positions;
    wanted.dimension = 2;
    CHECK(values(R"({"formula": "x + 10*y"})", wanted).data == Numbers{10, 32, 54});
    CHECK_THROWS_WITH_AS(values(R"({"formula": "z"})", wanted),
                         doctest::Contains("unknown name 'z'"), Error);

    // A formula that names no variable is one value for all elements.
    const Values constant = values(R"({"formula": "2*pi"})", 5, 1);
    CHECK(constant.shared);
    CHECK(constant.data == Numbers{2 * 3.141592653589793});
    CHECK(values(R"({"formula": ["1", "2", 3]})", 4, 3).shared);
}

TEST_CASE("values: random numbers depend on seed and element alone") {
    const char* const normal = R"({"random": {"seed": 7, "normal": [2, 0.5]}})";
    const Values many = values(normal, 100'000, 1);
    CHECK(many.form == ValueForm::Random);
    CHECK_FALSE(many.shared);
    const Values few = values(normal, 10, 1);
    CHECK(std::equal(few.data.begin(), few.data.end(), many.data.begin()));
    // Mean and variance within five standard errors.
    double sum = 0, squares = 0;
    for (const double v : many.data) {
        sum += v;
        squares += (v - 2) * (v - 2);
    }
    CHECK(std::abs(sum / 1e5 - 2) < 5 * 0.5 / std::sqrt(1e5));
    CHECK(std::abs(squares / 1e5 - 0.25) < 5 * 0.25 * std::sqrt(2 / 1e5));

    const Values uniform = values(R"({"random": {"seed": 7, "uniform": [-1, 3]}})", 100'000, 1);
    double mean = 0;
    for (const double v : uniform.data) {
        CHECK_FALSE((v < -1 || v >= 3));
        mean += v / 1e5;
    }
    CHECK(std::abs(mean - 1) < 5 * 4 / std::sqrt(12e5));

    ValueRequest wanted = request(10, 1);
    wanted.seed = 1;
    CHECK(values(normal, wanted).data != few.data);
    CHECK(values(R"({"random": {"seed": 8, "normal": [2, 0.5]}})", 10, 1).data != few.data);
    CHECK(mixed_seed(7, 0) == 7);
    CHECK(mixed_seed(7, 1) != mixed_seed(7, 2));

    const Values vectors =
        values(R"({"random": {"seed": 7, "uniform": [[0, 10, 20], [1, 11, 20]]}})", 100, 3);
    for (std::size_t i = 0; i < 100; ++i) {
        CHECK(std::floor(vectors.data[3 * i]) == 0);
        CHECK(std::floor(vectors.data[3 * i + 1]) == 10);
        CHECK(vectors.data[3 * i + 2] == 20);
    }
}

TEST_CASE("values: files, and what may be named") {
    const test::TemporaryFolder temporary;
    const fs::path& folder = temporary.path();
    fs::create_directories(folder / "scene" / "data");
    fs::create_directories(folder / "other");
    const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
    const auto write = [&](const fs::path& name, std::vector<std::int64_t> shape) {
        write_npy(folder / name, std::span<const std::int64_t>(shape),
                  std::span<const float>(numbers));
    };
    write("scene/data/rows.npy", {2, 3});
    write("scene/line.npy", {6});
    write("scene/column.npy", {6, 1});
    write("other/rows.npy", {2, 3});

    ValueRequest wanted = request(std::nullopt, 3);
    wanted.files.folder = folder / "scene";
    const Values rows = values(R"({"file": "data/rows.npy"})", wanted);
    CHECK(rows.form == ValueForm::File);
    CHECK(rows.count == 2);
    CHECK(rows.data == Numbers{1, 2, 3, 4, 5, 6});
    CHECK(values(R"({"file": "./data/../data/rows.npy"})", wanted).count == 2);

    ValueRequest scalar = request(6, 1);
    scalar.files.folder = folder / "scene";
    CHECK(values(R"({"file": "line.npy"})", scalar).count == 6);
    CHECK(values(R"({"file": "column.npy"})", scalar).count == 6);
    ValueRequest six = request(2, 6);
    six.files.folder = folder / "scene";
    const Values shared = values(R"({"file": "line.npy"})", six);
    CHECK(shared.shared);
    CHECK(shared.rows().size() == 12);

    const auto refused = [&](const std::string& name, const char* part) {
        CAPTURE(name);
        CHECK_THROWS_WITH_AS(values(to_line(Node::object({{"file", name}})).c_str(), wanted),
                             doctest::Contains(part), Error);
    };
    refused("missing.npy", "there is no file 'missing.npy'");
    refused("data", "is no regular file");
    refused("line.npy", "has shape (6,), expected (elements, 3)");
    refused("../other/rows.npy", "lies outside the document's folder");
    refused((folder / "other" / "rows.npy").string(), "lies outside the document's folder");
    refused("data/../../other/rows.npy", "lies outside the document's folder");
    refused("/etc/passwd", "lies outside the document's folder");
    refused("", "is no file name");
    fs::create_symlink(folder / "other", folder / "scene" / "link");
    refused("link/rows.npy", "lies outside the document's folder");
    wanted.files.allowed = {folder / "other"};
    CHECK(values(R"({"file": "link/rows.npy"})", wanted).count == 2);
    CHECK(values(R"({"file": "../other/rows.npy"})", wanted).count == 2);
    wanted.count = 3;
    refused("data/rows.npy", "expected values for 3 elements, found 2");

    const std::vector<double> bad = {1, 2, std::nan(""), 4, 5, 6};
    write_npy(folder / "scene" / "nan.npy", std::vector<std::int64_t>{2, 3},
              std::span<const double>(bad));
    wanted.count = 2;
    refused("nan.npy", "expected finite numbers, but element 0, component 2 is nan");
}

TEST_CASE("values: saving writes short arrays into the document and long ones into files") {
    CHECK(to_line(written_form(Numbers{2}, 1, true)) == "2.0");
    CHECK(to_line(written_form(Numbers{1, 2}, 2, true)) == "[1.0, 2.0]");
    CHECK(to_line(written_form(Numbers{1, 2}, 1, false)) == "[1.0, 2.0]");
    CHECK(to_line(written_form(Numbers{1, 2, 3, 4}, 2, false)) == "[[1.0, 2.0], [3.0, 4.0]]");

    const test::TemporaryFolder temporary;
    const fs::path& folder = temporary.path();
    Numbers many(1002);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = 1.0 / static_cast<double>(i + 1);
    const Node saved = saved_form(many, 3, false, folder, "rest.npy");
    CHECK(to_line(saved) == "{ \"file\": \"rest.npy\" }");
    ValueRequest wanted = request(334, 3);
    wanted.files.folder = folder;
    CHECK(evaluate(saved, wanted).data == many);
    CHECK(saved_form(std::span(many).first(999), 3, false, folder, "short.npy").is_array());
    CHECK_FALSE(fs::exists(folder / "short.npy"));
}
