// Checkpoints of a scene: what they hold reads back to the same bits, a scene that begins from one
// runs as if its parameters had been set by hand, and what does not fit any more is one clear error.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "engine/base/files.hpp"
#include "engine/document/npy.hpp"
#include "engine/sim/results/results.hpp"
#include "engine/sim/values/checkpoint.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using document::Document;
using document::Node;
using test::message;

namespace {

SimulationOptions options() {
    SimulationOptions o;
    o.device = std::make_shared<Device>(DeviceOptions{
        .kind = test::has_cpu_device() ? DeviceKind::cpu : DeviceKind::interpreter, .threads = 2});
    return o;
}

Document cage() {
    return Document::load(std::filesystem::path(test::source_dir) / "scenes/spring_cage.json");
}

// The cage with these checkpoints, and the stiffness and one component of a velocity optimized too.
Document cage_with(const std::string& checkpoints) {
    Document scene = cage();
    scene.set("/bodies/0/velocity", Document::parse("[[0.5, 0, 0]]").root());
    scene.set("/parameters", Document::parse(R"([{"path": "cage.rest_length", "bounds": [0.01, 10]},
        {"path": "cage.stiffness", "bounds": [1, 1000], "scale": "log"},
        {"path": "ball.velocity[0].z"}])")
                                 .root());
    scene.set("/checkpoints", Document::parse(checkpoints).root());
    return scene;
}

std::vector<NewNumbers> numbers_of(Simulation& simulation, const std::string& values) {
    const Document document = Document::parse(values);
    return new_numbers(document.root(), simulation);
}

std::string fault_of(Simulation& simulation, const std::string& values) {
    return message([&] { numbers_of(simulation, values); });
}

struct Outcome {
    StateHash state;
    double loss = 0;
};

Outcome run(Simulation& simulation) {
    const double loss = simulation.run();
    return {simulation.state_hash(), loss};
}

}  // namespace

TEST_CASE("checkpoints: what is wrong in their form is refused with its place") {
    const auto fault = [](const std::string& list) {
        return message([&] { Scene::of(cage_with(list), "scene.json"); });
    };
    CHECK(fault(R"([{"name": "a", "values": {}}])") == "no error");
    CHECK(fault(R"([{"name": "a", "loss": "1/3", "values": {"cage.stiffness": 50}}])") ==
          "no error");
    CHECK(fault(R"({"name": "a"})").find("/checkpoints") != std::string::npos);
    CHECK(fault(R"([{"values": {}}])").find("name") != std::string::npos);
    CHECK(fault(R"([{"name": "", "values": {}}])").find("needs a name") != std::string::npos);
    CHECK(fault(R"([{"name": "a"}])").find("values") != std::string::npos);
    CHECK(fault(R"([{"name": "a", "values": {}, "lost": 1}])").find("lost") != std::string::npos);
    CHECK(fault(R"([{"name": "a", "values": {"cage.": 1}}])").find("/values/cage.") !=
          std::string::npos);
    CHECK(
        fault(R"([{"name": "a", "values": {"cage.stiffness": "soft"}}])").find("cage.stiffness") !=
        std::string::npos);
    CHECK(fault(R"([{"name": "a", "values": {"cage.stiffness": {"formula": "2"}}}])")
              .find("'file' is missing") != std::string::npos);
    const std::string twice =
        fault(R"([{"name": "a", "values": {}}, {"name": "a", "values": {}}])");
    CHECK(twice.find("two checkpoints are called 'a'") != std::string::npos);
    CHECK(twice.find("/checkpoints/1/name") != std::string::npos);
}

TEST_CASE("checkpoints: numbers come back with the same bits, through the text of the scene") {
    Document document = cage_with("[]");
    Simulation simulation(Scene::of(document, "scene.json"), test::all_modules(), options());
    REQUIRE(simulation.parameters().size() == 10);
    std::mt19937_64 random(11);
    for (int round = 0; round < 20; ++round) {
        std::vector<double> values;
        for (int k = 0; k < 8; ++k)
            values.push_back(std::uniform_real_distribution(0.01, 10.0)(random));
        values.push_back(std::uniform_real_distribution(1.0, 1000.0)(random));
        values.push_back(round == 0   ? -0.0
                         : round == 1 ? std::numeric_limits<double>::denorm_min()
                         : round == 2 ? -std::numeric_limits<double>::max()
                                      : std::normal_distribution<double>(0, 1e-3)(random));
        const Node kept = checkpoint_values(simulation, values);
        // What covers a quantity is written as the scene writes it, the rest number by number.
        CHECK(kept.find("cage.rest_length")->size() == 8);
        CHECK(kept.find("cage.stiffness")->is_real());
        CHECK(kept.find("ball.velocity[0].z") != nullptr);
        CHECK(kept.size() == 3);
        const Document read = Document::parse(Document(kept).to_text());
        std::vector<double> back;
        for (const NewNumbers& numbers : new_numbers(read.root(), simulation))
            back.insert(back.end(), numbers.values.begin(), numbers.values.end());
        REQUIRE(back.size() == values.size());
        for (std::size_t k = 0; k < back.size(); ++k)
            CHECK(std::bit_cast<std::uint64_t>(back[k]) == std::bit_cast<std::uint64_t>(values[k]));
    }
    std::vector<double> bad(10, 1.0);
    bad[8] = std::nan("");
    CHECK(message([&] {
              checkpoint_values(simulation, bad);
          }).find("'cage.stiffness' is not finite") != std::string::npos);
}

TEST_CASE("checkpoints: a parameter that is gone or has another shape is one error with place") {
    Document document = cage_with("[]");
    Simulation simulation(Scene::of(document, "scene.json"), test::all_modules(), options());
    CHECK(fault_of(simulation, R"({"cage.stiffness": 50})") == "no error");
    const std::string gone = fault_of(simulation, R"({"cage.damping": 3})");
    CHECK(gone.find("'cage.damping' is no parameter of this scene") != std::string::npos);
    CHECK(gone.find("/cage.damping") != std::string::npos);
    CHECK(gone.find("leave 'cage.damping' out") != std::string::npos);
    CHECK(fault_of(simulation, R"({"net.stiffness": 3})").find("'net.stiffness' is no parameter") !=
          std::string::npos);
    // The whole velocity, of which only a component is one.
    CHECK(fault_of(simulation, R"({"ball.velocity": [[1, 2, 3]]})")
              .find("'ball.velocity[0].x' is no parameter") != std::string::npos);
    CHECK(fault_of(simulation, R"({"cage.rest_length": [1, 2, 3]})")
              .find("has 'cage.rest_length' for 3 elements, and the scene has 8") !=
          std::string::npos);
    CHECK(fault_of(simulation, R"({"cage.rest_length": 2})")
              .find("one value of 'cage.rest_length' for all, and the scene one per element") !=
          std::string::npos);
    CHECK(fault_of(simulation, R"({"cage.stiffness": [50, 60]})") != "no error");
    CHECK(fault_of(simulation, R"({"cage.stiffness[3]": 50})")
              .find("one value for all elements in this scene") != std::string::npos);
    CHECK(fault_of(simulation, R"({"cage.rest_length[9]": 50})").find("no element 9") !=
          std::string::npos);
    CHECK(fault_of(simulation, R"({"cage.stiffness": 5000})")
              .find("cage.stiffness = 5000 is outside the bounds of the parameter") !=
          std::string::npos);
    CHECK(fault_of(simulation, R"({"cage.stiffness": -1})") != "no error");
    CHECK(fault_of(simulation,
                   R"({"cage.rest_length": [1, 1, 1, 1, 1, 1, 1, 1], "cage.rest_length[2]": 2})")
              .find("'cage.rest_length[2]' is given twice") != std::string::npos);
    // A row of a batch may name what is no parameter, and give one number for all elements.
    const Document row = Document::parse(R"({"cage.damping": 3, "cage.rest_length": 2})");
    const auto numbers = new_numbers(row.root(), simulation, Naming::any_number);
    REQUIRE(numbers.size() == 2);
    CHECK(numbers[1].values == std::vector<double>(8, 2.0));
}

TEST_CASE("checkpoints: a scene that begins from one runs as with its parameters set by hand") {
    const std::vector<double> lengths{0.5, 0.75, 1, 1.25, 1.5, 0.625, 0.875, 2};
    const Document document = cage_with(R"([{"name": "first", "values": {"cage.stiffness": 60}},
                      {"name": "soft", "loss": 0.25, "values": {"ball.velocity[0].z": 0.125,
                        "cage.rest_length": [0.5, 0.75, 1, 1.25, 1.5, 0.625, 0.875, 2]}}])");
    Scene scene = Scene::of(document, "scene.json");
    use_checkpoint(scene, test::all_modules(), {}, "soft");
    Simulation begun(scene, test::all_modules(), options());
    std::vector<double> values = lengths;
    values.push_back(100);  // it names no stiffness: the scene's stays
    values.push_back(0.125);
    CHECK(begun.parameters().values() == values);
    Simulation by_hand(Scene::of(document, "scene.json"), test::all_modules(), options());
    by_hand.parameters().set_values(values);
    const Outcome a = run(begun), b = run(by_hand);
    CHECK(a.loss == b.loss);
    CHECK((a.state.digest() == b.state.digest()));
    Simulation plain(Scene::of(document, "scene.json"), test::all_modules(), options());
    CHECK(run(plain).loss != a.loss);

    const std::string unknown = message([&] {
        Scene other = Scene::of(document, "scene.json");
        use_checkpoint(other, test::all_modules(), {}, "hard");
    });
    CHECK(unknown.find("no checkpoint 'hard'") != std::string::npos);
    CHECK(unknown.find("it has: first, soft") != std::string::npos);
}

TEST_CASE("checkpoints: lengths that were made at load from positions stay what they were") {
    Document document =
        cage_with(R"([{"name": "moved", "values": {"ball.positions": [[0.25, 0, 0]]}}])");
    document.set("/parameters", Document::parse(R"([{"path": "ball.positions"}])").root());
    Simulation by_hand(Scene::of(document, "scene.json"), test::all_modules(), options());
    by_hand.parameters().set_values(std::vector<double>{0.25, 0, 0});
    Scene scene = Scene::of(document, "scene.json");
    use_checkpoint(scene, test::all_modules(), {}, "moved");
    Simulation begun(scene, test::all_modules(), options());
    const auto lengths = [](Simulation& s) {
        return s.model().find_quantity("cage.rest_length")->values;
    };
    CHECK(lengths(begun) == lengths(by_hand));
    CHECK(lengths(begun)[0] == doctest::Approx(std::sqrt(0.04 + 0.49 + 0.64)).epsilon(1e-12));
    const Outcome a = run(begun), b = run(by_hand);
    CHECK(a.loss == b.loss);
    CHECK((a.state.digest() == b.state.digest()));
}

TEST_CASE("checkpoints: many numbers go to a file of 64 bits, which results take along") {
    const test::TemporaryFolder folder;
    constexpr int n = 1200;
    Document document = Document::parse(R"({"format": 1, "time": {"step": 0.01, "steps": 2},
        "bodies": [{"type": "particles", "name": "dust", "velocity": {"formula": ["i", "0", "0"]},
                    "positions": {"grid": {"counts": [1200, 1, 1], "spacing": 1}}}],
        "objective": [{"type": "point_target", "name": "target", "of": "dust", "target": [0, 0, 0]}],
        "parameters": [{"path": "dust.velocity"}]})");
    document.save(folder / "dust.json");
    Simulation simulation(Scene::load(folder / "dust.json"), test::all_modules(), options());
    std::vector<double> values(std::size_t{3} * n);
    std::mt19937_64 random(3);
    for (double& value : values) value = std::normal_distribution<double>(0, 1)(random);
    const Node kept = checkpoint_values(simulation, values, folder.path(), "dust_checkpoint");
    REQUIRE(kept.find("dust.velocity") != nullptr);
    REQUIRE(kept.find("dust.velocity")->is_object());
    const std::string name = kept.find("dust.velocity")->find("file")->string();
    CHECK(name.starts_with("dust_checkpoint_dust_velocity_"));
    CHECK(new_numbers(kept, simulation).front().values == values);
    // Without a folder all is in the text.
    CHECK(checkpoint_values(simulation, values).find("dust.velocity")->size() == n);

    Node list = Node::array();
    list.push_back(Node::object({{"name", "blown"}, {"values", kept}}));
    document.set("/checkpoints", std::move(list));
    document.save(folder / "dust.json");
    Scene scene = Scene::load(folder / "dust.json");
    use_checkpoint(scene, test::all_modules(), {}, "blown");
    Simulation begun(scene, test::all_modules(), options());
    CHECK(begun.parameters().values() == values);
    // A saved scene has its own copy.
    Simulation again(Scene::load(folder / "dust.json"), test::all_modules(), options());
    std::filesystem::create_directories(folder / "out");
    save_scene(again, folder / "out", "optimized_scene.json");
    Scene saved = Scene::load(folder / "out/optimized_scene.json");
    use_checkpoint(saved, test::all_modules(), {}, "blown");
    CHECK(Simulation(saved, test::all_modules(), options()).parameters().values() == values);
    CHECK(std::filesystem::exists(folder / "out/files" / name));
}

TEST_CASE("checkpoints: every command begins from one, and --set comes after it") {
    HINDCAST_NEEDS_PROGRAM();
    const test::TemporaryFolder folder;
    Document document = cage_with(
        R"([{"name": "soft", "values": {"cage.stiffness": 50, "ball.velocity[0].z": 0.25}}])");
    document.save(folder / "scene.json");
    const auto loss_of = [&](std::vector<std::string> words, const std::string& to) {
        words.insert(words.begin(),
                     {"run", "scene.json", "--device", test::test_device(), "--output", to});
        const test::Finished run = test::run_program(words, folder.path());
        CAPTURE(run.err);
        REQUIRE(run.status == 0);
        return Document::load(folder / (to + "/summary.json")).at("/loss").real();
    };
    const double soft = loss_of({"--checkpoint", "soft"}, "a");
    CHECK(soft == loss_of({"--set", "cage.stiffness=50", "--set", "ball.velocity[0].z=0.25"}, "b"));
    CHECK(soft != loss_of({}, "c"));
    CHECK(loss_of({"--checkpoint", "soft", "--set", "cage.stiffness=100"}, "d") ==
          loss_of({"--set", "ball.velocity[0].z=0.25"}, "e"));

    const test::Finished optimize =
        test::run_program({"optimize", "scene.json", "--device", test::test_device(),
                           "--checkpoint", "soft", "--iterations", "2", "--output", "o"},
                          folder.path());
    CAPTURE(optimize.err);
    REQUIRE(optimize.status == 0);
    CHECK(read_history(folder / "o/history.csv").rows.front()[1] == soft);
    // What it found can be gone on from, and still has the checkpoint.
    CHECK(test::run_program({"run", "o/optimized_scene.json", "--device", test::test_device(),
                             "--checkpoint", "soft", "--output", "p"},
                            folder.path())
              .status == 0);

    const test::Finished unknown =
        test::run_program({"run", "scene.json", "--checkpoint", "hard"}, folder.path());
    CHECK(unknown.status == 1);
    CHECK(unknown.err.find("scene.json: the scene has no checkpoint 'hard'; it has: soft") !=
          std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_CASE("checkpoints: optimize --keep writes the best into the scene's file, all else stays") {
    HINDCAST_NEEDS_PROGRAM();
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder / "scene.json";
    Document scene = cage();
    scene.set("/checkpoints",
              Document::parse(R"([{"name": "a", "values": {"cage.rest_length": 1.5}}])").root());
    scene.save(file);
    const std::string text = "// written by hand\n" + read_file(file);
    write_file_atomically(file, text);
    const auto optimize = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"optimize", "scene.json", "--device", test::test_device(),
                                     "--iterations", "3", "--output", "o"});
        return test::run_program(words, folder.path());
    };
    REQUIRE(optimize({"--keep", "found"}).status == 0);
    const Document kept = Document::load(file);
    CHECK(read_file(file).starts_with("// written by hand\n"));
    const Document summary = Document::load(folder / "o/summary.json");
    CHECK(kept.at("/checkpoints/0/name").string() == "a");
    CHECK(kept.at("/checkpoints/1/name").string() == "found");
    CHECK(kept.at("/checkpoints/1/loss").real() == summary.at("/best/loss").real());
    // A run that begins from it has the best iteration's loss, to the bit.
    REQUIRE(test::run_program({"run", "scene.json", "--device", test::test_device(), "--checkpoint",
                               "found", "--output", "r"},
                              folder.path())
                .status == 0);
    CHECK(Document::load(folder / "r/summary.json").at("/loss").real() ==
          summary.at("/best/loss").real());
    Document without = kept;
    without.erase("/checkpoints/1");
    CHECK(without.root() == Document::parse(text).root());

    // In place of the one with its name; the loss of a changed scene is not the scene's.
    REQUIRE(optimize({"--keep", "a", "--set", "cage.stiffness=70"}).status == 0);
    const Document again = Document::load(file);
    CHECK(again.at("/checkpoints").size() == 2);
    CHECK(again.at("/checkpoints/0/name").string() == "a");
    CHECK(again.find("/checkpoints/0/loss") == nullptr);
    CHECK(again.at("/checkpoints/1") == kept.at("/checkpoints/1"));

    CHECK(optimize({"--keep", ""}).err.find("a checkpoint needs a name") != std::string::npos);
}
