// What `run` and `optimize` leave behind: readable, exact, complete after Ctrl-C, and continued bit
// for bit by --resume.
#include <doctest/doctest.h>
#include <signal.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/base/files.hpp"
#include "engine/document/npy.hpp"
#include "engine/sim/results/results.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;
namespace fs = std::filesystem;

namespace {

const std::string cage = std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json";

// A ball that flies for `steps` steps, recorded every `every` steps.
std::string flight(std::int64_t steps, std::int64_t every) {
    return R"({"format": 1, "name": "flight", "time": {"step": 0.5, "steps": )" +
           std::to_string(steps) + R"(}, "gravity": [0, 0, -8], "outputs": {"every": )" +
           std::to_string(every) + R"(},
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0], [1, 2, 3]],
                    "velocity": [0, 1, 2]}],
        "objective": [{"type": "point_target", "name": "aim", "of": "ball", "target": [0, 0, 0]}],
        "parameters": [{"path": "ball.velocity"}],
        "optimizer": {"type": "gradient_descent", "rate": 0.01, "iterations": 8}})";
}

struct Folder : TemporaryFolder {
    explicit Folder(const std::string& scene) { std::ofstream(*this / "scene.json") << scene; }
    Finished run(std::vector<std::string> words) const {
        words.insert(words.begin() + 2, {"--device", test_device()});
        return run_program(words, path());
    }
    document::Document json(const std::string& name) const {
        return document::Document::load(*this / name);
    }
};

bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

const document::Node& at(const document::Document& document, const std::string& pointer) {
    return document.at(pointer);
}

}  // namespace

TEST_CASE("results: run") {
    HINDCAST_NEEDS_PROGRAM();
    const Folder folder(flight(5, 2));
    const Finished run = folder.run({"run", "scene.json", "--precision", "f64", "--output", "r"});
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    for (const char* part : {"flight", "loss", "aim", "state hash", "5 (2.5 s)"})
        CHECK_MESSAGE(run.out.find(part) != std::string::npos, part);

    // Frames after 0, 2, 4 and, since that is the end, 5 steps: x = x0 + n h v0 + g h^2 n(n+1)/2.
    const document::NpyArray x = document::read_npy(folder / "r/states/position.npy");
    REQUIRE(x.shape == std::vector<std::int64_t>{4, 2, 3});
    const std::vector<double> values = x.to_f64();
    const double steps[] = {0, 2, 4, 5};
    for (std::size_t f = 0; f < 4; ++f) {
        const double n = steps[f];
        CHECK(values[f * 6 + 1] == doctest::Approx(0.5 * n));
        CHECK(values[f * 6 + 2] == doctest::Approx(2 * 0.5 * n - 8 * 0.25 * n * (n + 1) / 2));
        CHECK(values[f * 6 + 3] == 1);
    }
    const document::Document summary = folder.json("r/summary.json");
    CHECK(at(summary, "/finished").boolean());
    CHECK(at(summary, "/precision").string() == "f64");
    CHECK(at(summary, "/states/frames").integer() == 4);
    CHECK(at(summary, "/loss").real() ==
          doctest::Approx(0.5 * (2.5 * 2.5 + 625) + 0.5 * (1 + 4.5 * 4.5 + 22 * 22)));
    CHECK(run.out.find(at(summary, "/state_hash").string()) != std::string::npos);
}

TEST_CASE("results: f32 states are f32, and the scene chooses the arrays") {
    HINDCAST_NEEDS_PROGRAM();
    std::string text = flight(3, 1);
    text.replace(text.find("\"every\": 1"), 10, "\"arrays\": [\"velocity\"]");
    const Folder folder(text);
    REQUIRE(folder.run({"run", "scene.json"}).status == 0);
    CHECK(!fs::exists(folder / "out/scene/states/position.npy"));
    const document::NpyArray v = document::read_npy(folder / "out/scene/states/velocity.npy");
    CHECK(v.type == document::NpyType::F4);
    CHECK(v.shape == std::vector<std::int64_t>{4, 2, 3});
}

TEST_CASE("results: a later run leaves no frames of an earlier one") {
    HINDCAST_NEEDS_PROGRAM();
    const Folder folder(flight(3, 1));
    REQUIRE(folder.run({"run", "scene.json", "--output", "r"}).status == 0);
    std::string text = flight(3, 1);
    text.replace(text.find("\"every\": 1"), 10, "\"arrays\": [\"velocity\"]");
    std::ofstream(folder / "scene.json") << text;
    REQUIRE(folder.run({"run", "scene.json", "--output", "r"}).status == 0);
    CHECK(!fs::exists(folder / "r/states/position.npy"));
}

TEST_CASE("results: --quiet prints nothing") {
    HINDCAST_NEEDS_PROGRAM();
    const Folder folder(flight(4, 1));
    for (const char* command : {"run", "optimize", "check"}) {
        CAPTURE(command);
        const Finished run = folder.run({command, "scene.json", "--quiet"});
        CHECK(run.status == 0);
        CHECK(run.out == "");
        CHECK(run.err == "");
    }
    CHECK(fs::exists(folder / "out/scene/summary.json"));
}

TEST_CASE("results: --profile names the launches") {
    HINDCAST_NEEDS_PROGRAM();
    const Folder folder(flight(4, 1));
    const Finished run = folder.run({"run", "scene.json", "--profile"});
    CHECK(run.status == 0);
    CHECK(run.out.find("position update") != std::string::npos);
    const Finished optimize = folder.run({"optimize", "scene.json", "--profile"});
    CHECK(optimize.out.find("adjoint") != std::string::npos);
}

TEST_CASE("results: the history of an optimization reads back bit for bit") {
    HINDCAST_NEEDS_PROGRAM();
    const Folder folder(flight(4, 1));
    for (const char* precision : {"f64", "f32"}) {
        const Finished run = folder.run({"optimize", "scene.json", "--precision", precision,
                                         "--iterations", "5", "--output", "o"});
        CAPTURE(run.err);
        REQUIRE(run.status == 0);
        CHECK(run.err.find("iteration 5/5") != std::string::npos);  // a pipe: lines, no bar
        CHECK(run.err.find('\r') == std::string::npos);

        // The same in this process.
        SimulationOptions options;
        DeviceOptions device;
        choose_device(device, test_device());
        options.device = std::make_shared<Device>(device);
        options.precision =
            precision == std::string("f64") ? ir::Precision::f64 : ir::Precision::f32;
        Simulation simulation(Scene::load(folder / "scene.json"), test::all_modules(), options);
        Optimization optimization(simulation, 5);
        std::vector<Optimization::Row> rows;
        optimization.run([&](const Optimization::Row& row) {
            rows.push_back(row);
            return true;
        });

        const HistoryTable table = read_history(folder / "o/history.csv");
        REQUIRE(table.columns == std::vector<std::string>{"iteration", "loss", "gradient_norm",
                                                          "aim", "ball.velocity.x",
                                                          "ball.velocity.y", "ball.velocity.z"});
        REQUIRE(table.rows.size() == rows.size());
        REQUIRE(rows.size() == 6);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            CHECK(table.rows[k][0] == static_cast<double>(k));
            CHECK(same_bits(table.rows[k][1], rows[k].loss));
            CHECK(same_bits(table.rows[k][2], rows[k].gradient_norm));
            CHECK(same_bits(table.rows[k][3], rows[k].terms[0].value));
            for (std::size_t p = 0; p < 3; ++p)
                CHECK(same_bits(table.rows[k][4 + p], rows[k].parameters[p]));
        }

        // The optimized scene is a scene, and its loss is the best one.
        const Finished again = folder.run(
            {"run", "o/optimized_scene.json", "--precision", precision, "--output", "b"});
        CHECK(again.status == 0);
        const document::Document best = folder.json("o/summary.json");
        const document::Document rerun = folder.json("b/summary.json");
        CHECK(same_bits(at(best, "/best/loss").real(), at(rerun, "/loss").real()));
        CHECK(at(best, "/state_hash").string() == at(rerun, "/state_hash").string());
        CHECK(same_bits(at(best, "/initial_loss").real(), rows[0].loss));
    }
}

TEST_CASE("results: the optimized scene finds the files of the scene") {
    HINDCAST_NEEDS_PROGRAM();
    std::string text = flight(4, 1);
    text.replace(text.find("[[0, 0, 0], [1, 2, 3]]"), 22, R"({"file": "data/x.npy"})");
    const Folder folder(text);
    fs::create_directory(folder / "data");
    const std::vector<double> x = {0, 0, 0, 1, 2, 3};
    const std::vector<std::int64_t> shape = {2, 3};
    document::write_npy<double>(folder / "data/x.npy", shape, x);
    REQUIRE(folder.run({"optimize", "scene.json", "--iterations", "2"}).status == 0);
    const Finished run = folder.run({"run", "out/scene/optimized_scene.json"});
    CAPTURE(run.err);
    CHECK(run.status == 0);
}

TEST_CASE("results: many parameters") {
    HINDCAST_NEEDS_PROGRAM();
    // 1203 numbers: the history names only those that stand alone, the scene refers to a file.
    const Folder folder(R"({"format": 1, "time": {"step": 0.1, "steps": 3},
        "bodies": [{"type": "particles", "name": "cloud", "positions":
                    {"grid": {"counts": [20, 20, 1], "spacing": 1}}, "velocity": [0, 0, 1]}],
        "objective": [{"type": "point_target", "of": "cloud", "target": [0, 0, 0]}],
        "parameters": [{"path": "cloud.velocity", "per": "element"}, {"path": "gravity.x"}],
        "optimizer": {"type": "gradient_descent", "rate": 1, "iterations": 3}})");
    const Finished run = folder.run({"optimize", "scene.json", "--output", "o"});
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.out.find("and 1185 more in") != std::string::npos);
    const HistoryTable history = read_history(folder / "o/history.csv");
    CHECK(history.columns == std::vector<std::string>{"iteration", "loss", "gradient_norm",
                                                      "point_target_1", "gravity.x"});
    CHECK(fs::exists(folder / "o/cloud_velocity.npy"));
    // The gradient: those of the large parameter in an array, rows for the best and the last point.
    CHECK(read_file(folder / "o/gradient.csv").starts_with("parameter,best,last\ngravity.x,"));
    const document::Document summary = folder.json("o/summary.json");
    CHECK(at(summary, "/gradient/arrays/0/parameter").string() == "cloud.velocity");
    const document::NpyArray gradient =
        document::read_npy(folder / "o" / at(summary, "/gradient/arrays/0/file").string());
    CHECK(gradient.shape == std::vector<std::int64_t>{2, 1200});
    // Mean over 400 points of |x|^2, x = x_0 + v n h for the 3 steps of 0.1: 2 * 0.3 x / 400, and
    // point 0, whose x and y are the grid's corner, has x_z = v_z n h.
    const document::NpyArray velocity = document::read_npy(folder / "o/cloud_velocity.npy");
    CHECK(gradient.to_f64()[2] ==
          doctest::Approx(0.6 / 400 * (0.3 * velocity.to_f64()[2] - 9.81 * 0.06)).epsilon(1e-5));
    const Finished again = folder.run({"run", "o/optimized_scene.json", "--output", "b"});
    CAPTURE(again.err);
    REQUIRE(again.status == 0);
    CHECK(same_bits(at(folder.json("o/summary.json"), "/best/loss").real(),
                    at(folder.json("b/summary.json"), "/loss").real()));
}

TEST_CASE(
    "results: the gradient is written with its paths, at the best and at the last iteration") {
    HINDCAST_NEEDS_PROGRAM();
    // Loss (v - a)^2 with x = v after a step of 1 s: gradient 2 (v - 3), and rate 2 overshoots, so
    // that v - 3 goes from 1 to -3 to 9: the first is the best.
    const Folder folder(R"({"format": 1, "time": {"step": 1, "steps": 1}, "gravity": [0, 0, 0],
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0]],
                    "velocity": [4, 0, 0]}],
        "objective": [{"type": "point_target", "of": "ball", "target": [3, 0, 0]}],
        "parameters": [{"path": "ball.velocity", "components": ["x"]}],
        "optimizer": {"type": "gradient_descent", "rate": 2, "iterations": 2}})");
    const Finished run = folder.run({"optimize", "scene.json", "--output", "o"});
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    CHECK(read_file(folder / "o/gradient.csv") ==
          "parameter,best,last\nball.velocity.x,2.0,18.0\n");
    const document::Document summary = folder.json("o/summary.json");
    CHECK(at(summary, "/gradient/file").string() == "gradient.csv");
    CHECK(at(summary, "/best/iteration").integer() == 0);
    CHECK(at(summary, "/last/iteration").integer() == 2);
    CHECK(run.out.find("best loss     1.0 in iteration 0") != std::string::npos);
    CHECK(run.out.find("last loss     81.0 in iteration 2") != std::string::npos);
    CHECK(folder.json("o/optimized_scene.json").at("/bodies/0/velocity/0").real() == 4);
    // Another optimization in the folder leaves none of it behind, that is of what the summary lists.
    fs::create_directory(folder / "o/gradient");
    std::ofstream(folder / "o/gradient/old_0.npy") << "x";
    CHECK(folder.run({"optimize", "scene.json", "--output", "o"}).status == 1);
    CHECK(fs::exists(folder / "o/gradient/old_0.npy"));
    document::Document listing = folder.json("o/summary.json");
    listing.insert("/files/0", document::Node("gradient/old_0.npy"));
    listing.save(folder / "o/summary.json");
    REQUIRE(folder.run({"optimize", "scene.json", "--output", "o"}).status == 0);
    CHECK(!fs::exists(folder / "o/gradient/old_0.npy"));
}

TEST_CASE("results: --resume goes on as if there had been no break") {
    HINDCAST_NEEDS_PROGRAM();
    for (const char* optimizer :
         {R"({"type": "gradient_descent", "rate": 0.01, "iterations": 8})",
          R"({"type": "adam", "rate": 0.05, "iterations": 8})",
          R"({"type": "momentum", "rate": 0.005, "iterations": 8})",
          R"({"type": "lbfgs", "memory": 2, "iterations": 8})",
          R"({"type": "newton_cg", "cg_iterations": 1, "iterations": 8})",
          R"({"type": "nelder_mead", "iterations": 8})", R"({"type": "subplex", "iterations": 8})",
          R"({"type": "cobyla", "iterations": 8})", R"({"type": "bobyqa", "iterations": 8})"}) {
        CAPTURE(optimizer);
        std::string text = flight(4, 1);
        const std::size_t begin = text.find("\"optimizer\": ") + 13;
        text.replace(begin, text.find('}', begin) + 1 - begin, optimizer);
        const Folder folder(text);
        REQUIRE(folder.run({"optimize", "scene.json", "--output", "whole"}).status == 0);
        REQUIRE(folder.run({"optimize", "scene.json", "--output", "part", "--iterations", "3"})
                    .status == 0);
        const Finished resumed =
            folder.run({"optimize", "scene.json", "--resume", "part", "--iterations", "8"});
        CAPTURE(resumed.err);
        REQUIRE(resumed.status == 0);
        const bool same =
            read_file(folder / "part/history.csv") == read_file(folder / "whole/history.csv");
        CHECK(same);
        const document::Document whole = folder.json("whole/resume.json");
        const document::Document part = folder.json("part/resume.json");
        CHECK(at(whole, "/optimization/parameters") == at(part, "/optimization/parameters"));
        CHECK(at(whole, "/optimization/evaluations") == at(part, "/optimization/evaluations"));
        CHECK(at(whole, "/optimization/rule") == at(part, "/optimization/rule"));
        CHECK(at(whole, "/optimization/best/loss") == at(part, "/optimization/best/loss"));
        CHECK(read_file(folder / "whole/optimized_scene.json") ==
              read_file(folder / "part/optimized_scene.json"));
        CHECK(at(folder.json("whole/summary.json"), "/state_hash") ==
              at(folder.json("part/summary.json"), "/state_hash"));

        // Once more, with nothing left to do: the history stays.
        REQUIRE(folder.run({"optimize", "scene.json", "--resume", "part"}).status == 0);
        const bool still =
            read_file(folder / "part/history.csv") == read_file(folder / "whole/history.csv");
        CHECK(still);
    }
}

TEST_CASE("results: --resume of L-BFGS with bounds and log scales, wherever it was stopped") {
    HINDCAST_NEEDS_PROGRAM();
    document::Document scene = document::Document::load(cage);
    scene.set(
        "/optimizer",
        document::Document::parse(R"({"type": "lbfgs", "memory": 4, "iterations": 12})").root());
    scene.set("/parameters", document::Document::parse(R"([
        {"path": "cage.rest_length", "bounds": [0.82, 1.5]},
        {"path": "cage.stiffness", "bounds": [10, 1000], "scale": "log"}])")
                                 .root());
    const Folder folder(scene.to_text());
    const auto optimize = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"optimize", "scene.json"});
        return folder.run(words).status;
    };
    REQUIRE(optimize({"--output", "whole"}) == 0);
    for (const char* stop : {"0", "1", "2", "5", "11"}) {
        CAPTURE(stop);
        fs::remove_all(folder / "part");
        REQUIRE(optimize({"--output", "part", "--iterations", stop}) == 0);
        REQUIRE(optimize({"--resume", "part"}) == 0);
        for (const char* file : {"history.csv", "gradient.csv", "states/position.npy"}) {
            CAPTURE(file);
            const bool same =
                read_file(folder / "part" / file) == read_file(folder / "whole" / file);
            CHECK(same);
        }
        CHECK(at(folder.json("part/resume.json"), "/optimization") ==
              at(folder.json("whole/resume.json"), "/optimization"));
    }
}

TEST_CASE("results: --resume after a kill: a history that is ahead comes right") {
    HINDCAST_NEEDS_PROGRAM();
    const Folder folder(flight(4, 1));
    REQUIRE(folder.run({"optimize", "scene.json", "--output", "whole"}).status == 0);
    REQUIRE(
        folder.run({"optimize", "scene.json", "--output", "part", "--iterations", "3"}).status ==
        0);
    std::ofstream(folder / "part/history.csv", std::ios::app)
        << "4,1.0,1.0,1.0,1.0,1.0,1.0\n5,1.0,1.0,1";  // the last line was cut off
    REQUIRE(
        folder.run({"optimize", "scene.json", "--resume", "part", "--iterations", "8"}).status ==
        0);
    const bool same =
        read_file(folder / "part/history.csv") == read_file(folder / "whole/history.csv");
    CHECK(same);
}

TEST_CASE("results: --resume into another folder, and what it refuses") {
    HINDCAST_NEEDS_PROGRAM();
    const Folder folder(flight(4, 1));
    REQUIRE(folder.run({"optimize", "scene.json", "--output", "a", "--iterations", "3"}).status ==
            0);
    const std::string before = read_file(folder / "a/history.csv");
    REQUIRE(folder.run({"optimize", "scene.json", "--resume", "a", "--output", "b"}).status == 0);
    CHECK(read_file(folder / "a/history.csv") == before);
    CHECK(read_file(folder / "b/history.csv").starts_with(before));

    const Finished precision =
        folder.run({"optimize", "scene.json", "--resume", "a", "--precision", "f64"});
    CHECK(precision.status == 1);
    CHECK(precision.err.find("--precision f32") != std::string::npos);
    const Finished steps = folder.run({"optimize", "scene.json", "--resume", "a", "--steps", "2"});
    CHECK(steps.status == 1);
    CHECK(steps.err.find("--steps 4") != std::string::npos);
    CHECK(read_file(folder / "a/history.csv") == before);

    // Those of older programs held nothing of a derivative-free search, which would begin anew.
    std::ofstream(folder / "a/resume.json") << R"({"format": 1, "precision": "f32"})";
    const Finished broken = folder.run({"optimize", "scene.json", "--resume", "a"});
    CHECK(broken.status == 1);
    CHECK(broken.err.find("resume.json") != std::string::npos);
    CHECK(broken.err.find("cannot read the format") != std::string::npos);
    CHECK(read_file(folder / "a/history.csv") == before);
}

TEST_CASE("results: a derivative-free search is not resumed without what it has seen") {
    document::Document scene = document::Document::load(cage);
    for (const char* type : {"nelder_mead", "subplex", "cobyla", "bobyqa"}) {
        CAPTURE(type);
        scene.set("/optimizer", document::Node::object({{"type", type}, {"iterations", 2}}));
        SimulationOptions options;
        options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        Simulation simulation(Scene::of(scene, cage), all_modules(), options);
        Optimization first(simulation), second(simulation);
        document::Node state = first.state();
        second.restore(state);  // it had not begun: nothing is missing
        first.run();
        state = first.state();
        REQUIRE(state.find("iteration")->integer() > 0);
        second.restore(state);
        state.set("rule", document::Node::object({}));
        CHECK_THROWS_WITH_AS(second.restore(state), doctest::Contains("was not saved"), Error);
    }
}

TEST_CASE("results: Ctrl-C stops a run at the next step and saves") {
    HINDCAST_NEEDS_PROGRAM();
    const Folder folder(flight(100'000'000, 100));
    Child child({"run", "scene.json", "--device", test_device(), "--output", "r"}, folder.path());
    REQUIRE(grows_beyond(folder / "r/states/position.npy", 4000));
    child.signal(SIGINT);
    const Finished run = child.wait();
    CHECK(run.status == 130);
    CHECK(run.out.find("stopped after") != std::string::npos);
    const document::Document summary = folder.json("r/summary.json");
    CHECK_FALSE(at(summary, "/finished").boolean());
    CHECK(at(summary, "/loss").is_null());
    const std::int64_t steps = at(summary, "/steps_done").integer();
    const document::NpyArray x = document::read_npy(folder / "r/states/position.npy");
    REQUIRE(x.shape.size() == 3);
    CHECK(x.shape[0] == at(summary, "/states/frames").integer());
    CHECK(x.shape[0] == steps / 100 + (steps % 100 == 0 ? 1 : 2));
    const document::NpyArray v = document::read_npy(folder / "r/states/velocity.npy");
    CHECK(v.shape[0] == x.shape[0]);
}

TEST_CASE("results: Ctrl-C stops an optimization, and --resume goes on") {
    HINDCAST_NEEDS_PROGRAM();
    const Folder folder(flight(4, 1));
    Child child({"optimize", "scene.json", "--device", test_device(), "--output", "o",
                 "--iterations", "100000000"},
                folder.path());
    REQUIRE(grows_beyond(folder / "o/history.csv", 2000));
    child.signal(SIGINT);
    const Finished run = child.wait();
    CHECK(run.status == 130);
    const document::Document summary = folder.json("o/summary.json");
    CHECK(at(summary, "/stop").string() == "stopped");
    const HistoryTable history = read_history(folder / "o/history.csv");
    const std::int64_t done = at(summary, "/iterations").integer();
    CHECK(static_cast<std::int64_t>(history.rows.size()) == done + 1);
    CHECK(fs::exists(folder / "o/optimized_scene.json"));

    const std::string all = std::to_string(done + 5);
    REQUIRE(folder.run({"optimize", "scene.json", "--resume", "o", "--iterations", all}).status ==
            0);
    REQUIRE(folder.run({"optimize", "scene.json", "--output", "w", "--iterations", all}).status ==
            0);
    const bool same = read_file(folder / "o/history.csv") == read_file(folder / "w/history.csv");
    CHECK(same);
}

TEST_CASE("results: numbers as text") {
    CHECK(number_text(0.1) == "0.1");
    CHECK(number_text(1) == "1.0");
    CHECK(number_text(std::nan("")) == "nan");
    CHECK(number_text(-std::numeric_limits<double>::infinity()) == "-inf");
    CHECK(number_node(std::nan("")).string() == "nan");
}

TEST_CASE("results: the saved scene says where its schema is, from its own folder") {
    HINDCAST_NEEDS_PROGRAM();
    const Folder folder(R"({"$schema": "scene.schema.json", )" + flight(4, 1).substr(1));
    const auto schema_in = [&](const std::string& output) {
        const Finished done =
            folder.run({"optimize", "scene.json", "--iterations", "1", "--output", output});
        CHECK_MESSAGE(done.status == 0, done.err);
        const document::Document saved = folder.json(output + "/optimized_scene.json");
        const document::Node* const schema = saved.find("/$schema");
        return schema == nullptr ? std::string("none") : schema->string();
    };
    CHECK(schema_in("nowhere") == "none");
    std::ofstream(folder / "scene.schema.json") << "{}";
    CHECK(schema_in("out/found") == "../../scene.schema.json");
    std::ofstream(folder / "nowhere/scene.schema.json") << "{}";
    CHECK(schema_in("nowhere") == "scene.schema.json");
}
