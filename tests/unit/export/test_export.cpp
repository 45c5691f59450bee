// run --export: what ParaView and others get, read back by readers that know nothing of the writer.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "app/export/export.hpp"
#include "engine/base/files.hpp"
#include "engine/mesh/read_mesh_file.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using hindcast::test::Finished;
using hindcast::test::message;
using hindcast::test::run_program;
using hindcast::test::TemporaryFolder;
using hindcast::test::test_device;

namespace {

// A cube, two free points that fly straight on, and a spring between two others. No gravity.
constexpr const char* scene = R"({
    "format": 1, "name": "parts", "time": { "step": "1/100", "steps": 25, "substeps": 2 },
    "gravity": [0, 0, 0],
    "bodies": [
        { "type": "solid", "name": "cube", "density": 1000, "young_modulus": 1000, "poisson_ratio": 0.3,
          "mesh": { "box": { "min": [0, 0, 0], "max": [1, 1, 1], "cells": [1, 1, 1] } } },
        { "type": "particles", "name": "free points", "mass": 1,
          "positions": [[5, 0, 0], [6, 0, 0]], "velocity": [1, 2, -3] },
        { "type": "particles", "name": "ends", "mass": 1, "positions": [[8, 0, 0], [9, 0, 0]] }
    ],
    "forces": [{ "type": "springs", "name": "a & b", "connect": [["ends", 0, "ends", 1]], "stiffness": 10 }]
})";

// The numbers that are appended for an array of this name, and its tag.
std::string appended(const std::string& file, const std::string& name) {
    const std::size_t tag = file.find("Name=\"" + name + "\"");
    REQUIRE(tag != std::string::npos);
    const std::size_t offset = file.find("offset=\"", tag) + 8;
    const std::size_t data = file.find('_', file.find("<AppendedData encoding=\"raw\">")) + 1 +
                             std::stoull(file.substr(offset));
    std::uint64_t length = 0;
    REQUIRE(data + 8 <= file.size());
    std::memcpy(&length, file.data() + data, 8);
    REQUIRE(data + 8 + length <= file.size());
    return file.substr(data + 8, length);
}

template <class T>
std::vector<T> numbers(const std::string& bytes) {
    std::vector<T> list(bytes.size() / sizeof(T));
    std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
    return list;
}

}  // namespace

TEST_CASE("export: a solid, springs and points as VTU, PLY and OBJ, frame by frame") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write_file_atomically(folder / "parts.json", scene);
    const Finished run =
        run_program({"run", "parts.json", "--device", test_device(), "--precision", "f64",
                     "--export", "vtu,ply,obj", "--export-every", "10", "--output", "o"},
                    folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.err);
    const auto exported = [&](const std::string& name) {
        return read_file(folder / ("o/export/" + name));
    };
    CHECK(exported("parts.pvd") ==
          "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
          "byte_order=\"LittleEndian\">\n<Collection>\n"
          "<DataSet timestep=\"0.0\" part=\"0\" file=\"parts_0000.vtu\"/>\n"
          "<DataSet timestep=\"0.1\" part=\"0\" file=\"parts_0001.vtu\"/>\n"
          "<DataSet timestep=\"0.2\" part=\"0\" file=\"parts_0002.vtu\"/>\n"
          "<DataSet timestep=\"0.25\" part=\"0\" file=\"parts_0003.vtu\"/>\n"
          "</Collection>\n</VTKFile>\n");
    const double times[] = {0, 0.1, 0.2, 0.25};
    for (int frame = 0; frame < 4; ++frame) {
        const double t = times[frame];
        const std::string name = fmt::format("parts_000{}", frame), file = exported(name + ".vtu");
        CHECK(numbers<double>(appended(file, "TimeValue")) == std::vector<double>{t});
        const std::vector<double> x = numbers<double>(appended(file, "Points")),
                                  v = numbers<double>(appended(file, "velocity"));
        REQUIRE(x.size() == 3 * 12);
        REQUIRE(v.size() == 3 * 12);
        // The cube rests; the free points are points 8 and 9.
        for (std::size_t k = 0; k < 24; ++k) CHECK(v[k] == 0);
        const double flight[] = {1, 2, -3};
        for (std::size_t p = 8; p < 10; ++p)
            for (std::size_t k = 0; k < 3; ++k) {
                CHECK(v[3 * p + k] == flight[k]);
                const double start = k == 0 ? static_cast<double>(p) - 3 : 0;
                CHECK(x[3 * p + k] == doctest::Approx(start + flight[k] * t).epsilon(1e-13));
            }
        // Cells: 12 triangles of the cube, 4 points, a spring.
        const std::vector<std::uint8_t> types = numbers<std::uint8_t>(appended(file, "types"));
        CHECK(std::ranges::count(types, 5) == 12);
        CHECK(std::ranges::count(types, 3) == 1);
        CHECK(std::ranges::count(types, 1) >= 4);
        const auto object = numbers<std::int32_t>(appended(file, "object"));
        CHECK(object.size() == types.size());
        CHECK(file.find(" a & b") != std::string::npos);  // in the comment
        // Read as a mesh: the cube alone has triangles. Its surface is closed, with the volume 1.
        for (const char* const ending : {".vtu", ".ply", ".obj"}) {
            CAPTURE(ending);
            const mesh::MeshFile m = mesh::parse_mesh(exported(name + ending), name + ending);
            CHECK(m.point_count() == 8);
            CHECK(m.triangles.size() == 12);
            double six_volumes = 0;
            for (const auto& c : m.triangles) {
                const double *const p = &m.points[static_cast<std::size_t>(3 * c[0])],
                                    *const q = &m.points[static_cast<std::size_t>(3 * c[1])],
                                    *const r = &m.points[static_cast<std::size_t>(3 * c[2])];
                six_volumes += p[0] * (q[1] * r[2] - q[2] * r[1]) +
                               p[1] * (q[2] * r[0] - q[0] * r[2]) +
                               p[2] * (q[0] * r[1] - q[1] * r[0]);
            }
            CHECK(six_volumes == 6);
        }
        const std::string obj = exported(name + ".obj");
        CHECK(obj.find("\no a_&_b\nl 11 12\n") != std::string::npos);
        CHECK(obj.find("\no free_points\np 9\np 10\n") != std::string::npos);
        const std::string ply = exported(name + ".ply");
        const std::size_t head = ply.find("end_header\n") + 11;
        const auto vertices = numbers<double>(ply.substr(head, std::size_t{12} * 6 * 8));
        for (std::size_t k = 0; k < 3; ++k) {
            CHECK(vertices[std::size_t{6} * 8 + k] == x[std::size_t{3} * 8 + k]);
            CHECK(vertices[std::size_t{6} * 8 + 3 + k] == flight[k]);
        }
        CHECK(ply.size() == head + std::size_t{12} * 6 * 8 + std::size_t{12} * 13 + 8);
    }
    // Another export takes the place of this one.
    const Finished again = run_program({"run", "parts.json", "--device", test_device(), "--export",
                                        "obj", "--export-every", "25", "--output", "o"},
                                       folder.path());
    REQUIRE_MESSAGE(again.status == 0, again.err);
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "o/export"))
        left.push_back(entry.path().filename().string());
    std::ranges::sort(left);
    CHECK(left == std::vector<std::string>{"parts_0000.obj", "parts_0001.obj"});
}

// All is held but for a point of 0.7 kg near a floor, and of each kind of thing one that shows
// something.
constexpr const char* shown_scene = R"({
    "format": 1, "name": "shown", "gravity": [0, 0, -9.81],
    "time": { "step": 0.05, "steps": 150, "integrator": "implicit_euler" },
    "bodies": [
        { "type": "solid", "name": "bar", "mu": 700, "lambda": 1100, "fixed": true,
          "mesh": { "box": { "min": [0, 0, 1], "max": [1, 1, 2], "cells": [1, 1, 1] } },
          "positions": { "formula": ["1.3*x", "y", "z"] } },
        { "type": "solid", "name": "bar 2", "mu": 700, "lambda": 0, "fixed": true,
          "mesh": { "box": { "min": [0, 0, 1], "max": [1, 1, 2], "cells": [1, 1, 1] } },
          "positions": { "formula": ["x+0.5*y", "y", "z"] } },
        { "type": "cloth", "name": "sheet", "area_density": 1, "warp_stiffness": 60, "poisson_ratio": 0,
          "fixed": true, "positions": { "formula": ["1.1*x", "y", "1"] },
          "mesh": { "grid": { "origin": [0, 0, 0], "warp": [1, 0, 0], "weft": [0, 1, 0], "cells": [1, 1] } } },
        { "type": "particles", "name": "ends", "fixed": true, "positions": [[8, 0, 2], [9, 0, 2], [9, 2, 2]] },
        { "type": "particles", "name": "block", "mass": 0.7, "positions": [[5, 0, 8e-3]] }
    ],
    "forces": [
        { "type": "springs", "name": "net", "connect": { "chain": "ends" }, "stiffness": 10,
          "rest_length": [0.25, 2.5] },
        { "type": "fibers", "name": "muscle", "of": "bar", "direction": [1, 0, 0], "stiffness": 5,
          "activation": 0.2 }
    ],
    "colliders": [{ "type": "plane", "name": "floor", "of": "block", "normal": [0, 0, 1],
        "response": "barrier", "stiffness": 2e4, "distance": 1e-2 }]
})";

TEST_CASE("export: what a scene shows is data of the cells and points of a VTU file") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write_file_atomically(folder / "shown.json", shown_scene);
    const Finished run =
        run_program({"run", "shown.json", "--device", test_device(), "--precision", "f64",
                     "--export", "vtu,obj", "--export-every", "150", "--output", "o"},
                    folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.err);
    const double s = 1.3, e = 0.5 * (1.1 * 1.1 - 1), d = 8e-3, r = 1e-2, off = d - r;
    for (int frame = 0; frame < 2; ++frame) {
        CAPTURE(frame);
        const std::string file = read_file(folder / fmt::format("o/export/shown_000{}.vtu", frame));
        // The values of the cells of these objects, and NaN in all others.
        const auto object = numbers<std::int32_t>(appended(file, "object"));
        const auto check = [&](const char* name, std::vector<std::pair<const char*, double>> all) {
            CAPTURE(name);
            const std::vector<double> values = numbers<double>(appended(file, name));
            REQUIRE(values.size() == object.size());
            CHECK(file.find(fmt::format("\"{}\"", name)) > file.find("<CellData>"));
            std::size_t numbered = 0;
            for (const auto& [owner, expected] : all) {
                int number = 0;
                while (file.find(fmt::format("{} {}", number, owner)) == std::string::npos)
                    REQUIRE(++number < 20);
                for (std::size_t k = 0; k < values.size(); ++k) {
                    if (object[k] != number || std::isnan(values[k])) continue;
                    ++numbered;
                    CHECK(values[k] == doctest::Approx(expected).epsilon(1e-12));
                }
            }
            CHECK(numbered == values.size() - static_cast<std::size_t>(std::ranges::count_if(
                                                  values, [](double x) { return std::isnan(x); })));
            return numbered;
        };
        // F = diag(s, 1, 1), and simple shear by 1/2 (tests/physics/test_shown.cpp).
        CHECK(check("von Mises stress",
                    {{"bar,", 700 * (s - 1 / s)}, {"bar 2,", 700 * 0.5 * std::sqrt(3.25)}}) == 24);
        CHECK(check("energy density", {{"bar,", 350 * (s * s - 1) - 700 * std::log(s) +
                                                    550 * std::log(s) * std::log(s)},
                                       {"bar 2,", 350 * 0.25}}) == 24);
        CHECK(check("fiber tension", {{"bar,", 5 * (s - 0.8)}}) == 12);
        CHECK(check("membrane tension", {{"sheet,", 60 * e * 1.1}}) == 2);
        CHECK(check("membrane energy density", {{"sheet,", 30 * e * e}}) == 2);
        const std::vector<double> tension = numbers<double>(appended(file, "tension"));
        std::vector<double> tensions;
        std::ranges::copy_if(tension, std::back_inserter(tensions),
                             [](double x) { return !std::isnan(x); });
        REQUIRE(tensions.size() == 2);
        CHECK(tensions[0] == doctest::Approx(7.5).epsilon(1e-14));
        CHECK(tensions[1] == doctest::Approx(-5).epsilon(1e-14));
        // The barrier's force at the start, -k b'(d), and the weight in the end.
        const std::vector<double> contact = numbers<double>(appended(file, "contact force")),
                                  x = numbers<double>(appended(file, "Points"));
        REQUIRE(contact.size() == x.size());
        CHECK(file.find("\"contact force\"") < file.find("</PointData>"));
        const double force =
            frame == 0 ? 2e4 * (2 * off * std::log(d / r) + off * off / d) : 0.7 * 9.81;
        for (std::size_t k = 0; k < contact.size(); ++k)
            CHECK(contact[k] == doctest::Approx(k + 1 == contact.size() ? force : 0).epsilon(1e-9));
    }
}

TEST_CASE("export: a field in the plane is a surface with its values at the nodes") {
    model::ModelOptions options;
    options.device = test::interpreter_device();
    options.dimension = 2;
    model::Model model(options);
    const Array values = model.add_array("pond.field", 6, 1,
                                         {.unit = "m", .meaning = "u", .state = true}),
                row = model.add_array("row", 3, 2, {.meaning = "of neither", .state = true});
    values.assign(std::vector<double>{0, 1, 2, 3, 4, 5});
    row.assign(std::vector<double>{1, 2, 3, 4, 5, 6});
    model.draw({"pond", model::DrawnField{2, 3, 0.5, values}});
    const exporting::Geometry geometry(model);
    const std::string file = exporting::to_vtu(geometry, 0.5);
    const mesh::MeshFile m = mesh::parse_mesh(file, "a.vtu");
    CHECK(m.triangles.size() == 4);
    CHECK(m.points ==
          std::vector<double>{0, 0, 0, 0, 0.5, 0, 0, 1, 0, 0.5, 0, 0, 0.5, 0.5, 0, 0.5, 1, 0});
    CHECK(numbers<float>(appended(file, "pond.field")) == std::vector<float>{0, 1, 2, 3, 4, 5});
    CHECK(numbers<float>(appended(file, "row")) == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(file.find("row") < file.find("</FieldData>"));
}

TEST_CASE("export: state arrays of elements are data of their cells, and not a number elsewhere") {
    model::ModelOptions options;
    options.device = test::interpreter_device();
    options.precision = ir::Precision::f64;
    model::Model model(options);
    model.add_points("net", 4);
    model.add_array("position", 4, 3, {.state = true})
        .assign(std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1});
    model.add_array("net: plastic strain", 2, 1, {.state = true})
        .assign(std::vector<double>{0.25, 0.5});
    model.add_array("net2.other", 2, 1, {.state = true});
    model.draw({"dots", model::DrawnPoints{0, 4, 0}});
    model.draw({"net", model::DrawnSurface{{0, 1, 2, 0, 2, 3, 0, 1, 3}, {0, 1, 1}}});
    const std::string file = exporting::to_vtu(exporting::Geometry(model), 0);
    const auto strain = numbers<double>(appended(file, "net: plastic strain"));
    REQUIRE(strain.size() == 7);
    for (std::size_t k = 0; k < 4; ++k) CHECK(std::isnan(strain[k]));
    CHECK(std::vector<double>(strain.begin() + 4, strain.end()) ==
          std::vector<double>{0.25, 0.5, 0.5});
    CHECK(file.find("net2.other") < file.find("</FieldData>"));
}

TEST_CASE("export: what cannot be asked for is an error with a remedy") {
    const auto formats = [](const char* list) {
        return message([&] { exporting::formats_of(list); });
    };
    CHECK(formats("vtu,obj") == "no error");
    CHECK(formats("vtk") == "--export: there is no format 'vtk'; did you mean 'vtu'?");
    CHECK(formats("abc") == "--export: there is no format 'abc'; formats are vtu, ply, obj, usd");
    CHECK(formats("vtu,") == "--export: there is no format ''; formats are vtu, ply, obj, usd");
    CHECK(formats("obj,obj") == "--export names obj twice; remove one");
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write_file_atomically(folder / "parts.json", scene);
    const Finished no_folder = run_program({"run", "parts.json", "--export", "vtu"}, folder.path());
    CHECK(no_folder.status == 1);
    CHECK(
        no_folder.err.find("--export needs a folder for its files; choose one with --output DIR") !=
        std::string::npos);
    const Finished no_format =
        run_program({"run", "parts.json", "--export-every", "3"}, folder.path());
    CHECK(no_format.status == 1);
    CHECK(no_format.err.find("--export-every without --export") != std::string::npos);
}
