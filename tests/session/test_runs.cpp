// Optimizations that are kept to be compared, and results that commands have left: cut out of a
// history, bounded, read from their files; what is missing or broken there is one message.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "app/session/runs/kept_runs.hpp"
#include "app/session/runs/results_table.hpp"
#include "engine/base/files.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/session/support.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace session;
using document::Node;
using test::message;

namespace fs = std::filesystem;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

struct Row {
    double loss = 0;
    std::int64_t branched_from = -1, epoch = 1, build = 1;
};

// Iterations from 10 on, with the parameters (loss, -loss).
Snapshot history_of(const std::vector<Row>& rows) {
    Snapshot snapshot;
    snapshot.scene.name = "swing";
    snapshot.scene.build = snapshot.scene.shown_build = 1;
    ParameterInfo p;
    p.path = "rope.stiffness";
    p.names = {"rope.stiffness[0]", "rope.stiffness[1]"};
    p.count = 2;
    snapshot.values.parameters = {p};
    snapshot.optimization.stop_reason = "converged: of itself";
    auto history = std::make_shared<std::vector<IterationInfo>>();
    for (const Row& row : rows) {
        IterationInfo info;
        info.iteration = 10 + static_cast<std::int64_t>(history->size());
        info.loss = row.loss;
        info.gradient_norm = 2 * row.loss;
        info.branched_from = row.branched_from;
        info.epoch = row.epoch;
        info.build = row.build;
        info.parameters =
            std::make_shared<const std::vector<double>>(std::vector{row.loss, -row.loss});
        history->push_back(std::move(info));
    }
    snapshot.optimization.history = std::move(history);
    return snapshot;
}

KeptRun plain_run(const std::string& name, std::size_t points = 3) {
    KeptRun run;
    run.name = name;
    for (std::size_t k = 0; k < points; ++k) {
        run.iterations.push_back(static_cast<double>(k));
        run.losses.push_back(1.0 / static_cast<double>(1 + k));
        run.gradient_norms.push_back(static_cast<double>(k));
    }
    return run;
}

void write(const fs::path& file, const std::string& text) { write_file_atomically(file, text); }

std::string fault_of(const fs::path& chosen) {
    return message([&] { read_results(chosen); });
}

const std::string cage = std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json";

double loss_of(const Node& values) {
    Scene scene = Scene::load(cage);
    Simulation simulation(scene, test::all_modules(), test::OpenScene::options(0).simulation);
    std::vector<double> parameters = simulation.parameters().values();
    for (std::size_t k = 0; k < parameters.size(); ++k)
        parameters[k] = values.find(simulation.parameters().names()[k])->real();
    simulation.parameters().set_values(parameters);
    return simulation.run();
}

}  // namespace

TEST_CASE("runs: one goes from where it began, was branched or edited, to its last row") {
    const Snapshot snapshot =
        history_of({{8}, {4}, {none}, {2}, {9, 11}, {3}, {5, -1, 2}, {1, -1, 2}});
    const KeptRun first = run_of(snapshot, 12, "first");
    CHECK(first.iterations == std::vector<double>{0, 1, 2, 3});
    CHECK(first.losses[1] == 4);
    CHECK(std::isnan(first.losses[2]));
    CHECK(first.gradient_norms[3] == 4);
    CHECK(first.best_loss == 2);
    CHECK(first.best_iteration == 3);
    CHECK(first.names == std::vector<std::string>{"rope.stiffness[0]", "rope.stiffness[1]"});
    CHECK(first.entries[1][0] == -8);
    CHECK(first.scene == "swing");
    CHECK(first.ended.empty());
    REQUIRE(first.values());
    CHECK(document::to_line(*first.values()) ==
          R"({ "rope.stiffness[0]": 2.0, "rope.stiffness[1]": -2.0 })");
    // A branch, and another scene.
    CHECK(run_of(snapshot, 14, "").losses == std::vector<double>{9, 3});
    const KeptRun last = run_of(snapshot, 16, "last");
    CHECK(last.losses == std::vector<double>{5, 1});
    CHECK(last.ended == "converged: of itself");
    CHECK(begin_of_run(snapshot.optimization, 13) == 10);
    CHECK(begin_of_run(snapshot.optimization, 15) == 14);
    CHECK(begin_of_run(snapshot.optimization, 17) == 16);
    CHECK(begin_of_run(snapshot.optimization, 99) == -1);
    CHECK(message([&] { run_of(snapshot, 99, ""); }).find("no iteration 99") != std::string::npos);
    // Of a build that is not shown, the names of the parameters are not known.
    Snapshot other = history_of({{8, -1, 1, 7}, {4, -1, 1, 7}});
    const KeptRun older = run_of(other, 10, "older");
    CHECK(older.losses.size() == 2);
    CHECK(older.names.empty());
    CHECK_FALSE(older.values());
}

TEST_CASE("runs: long curves keep their first, best and last points, and all is bounded") {
    KeptRuns runs;
    KeptRun longer = plain_run("long", 100'000);
    longer.names = {"x"};
    longer.entries = {longer.gradient_norms};
    longer.losses[77'777] = -1;
    longer.best_loss = -1;
    longer.best_iteration = 77'777;
    runs.add(longer);
    const KeptRun& kept = runs.list().front();
    CHECK(kept.iterations.size() <= KeptRuns::most_points);
    CHECK(kept.iterations.size() > KeptRuns::most_points / 2);
    CHECK(kept.iterations.front() == 0);
    CHECK(kept.iterations.back() == 99'999);
    CHECK(std::ranges::find(kept.iterations, 77'777.0) != kept.iterations.end());
    REQUIRE(kept.losses.size() == kept.iterations.size());
    REQUIRE(kept.entries[0].size() == kept.iterations.size());
    for (std::size_t k = 0; k < kept.iterations.size(); ++k) {
        CHECK(kept.entries[0][k] == kept.iterations[k]);
        CHECK(kept.losses[k] ==
              (kept.iterations[k] == 77'777 ? -1 : 1.0 / (1 + kept.iterations[k])));
    }
    KeptRun wide = plain_run("wide");
    for (int k = 0; k < 100; ++k) {
        wide.names.push_back("p" + std::to_string(k));
        wide.entries.push_back({1, 2, 3});
    }
    runs.add(wide);
    CHECK(runs.list().back().names.size() == KeptRuns::most_entries);
    CHECK(runs.list().back().entries.size() == KeptRuns::most_entries);
    const std::vector<KeptRun> many(KeptRuns::most_runs, plain_run("one"));
    CHECK(message([&] { runs.add(many); }).find("remove some") != std::string::npos);
    CHECK(runs.list().size() == 2);
    CHECK(runs.bytes() < std::int64_t{1} << 20);
}

TEST_CASE("runs: they are named, hidden and removed, alone and by groups") {
    KeptRuns runs;
    runs.add(plain_run("adam"));
    runs.add(plain_run("adam"));
    runs.add(plain_run(""));
    CHECK(runs.list()[1].name == "adam 2");
    CHECK(runs.list()[2].name == "run");
    CHECK(runs.list()[0].color != runs.list()[1].color);
    std::vector<KeptRun> starts(4, plain_run("start"));
    starts[2].best_of_group = true;
    runs.add(starts);
    REQUIRE(runs.list().size() == 7);
    const std::size_t group = runs.list()[3].group;
    CHECK(group != 0);
    CHECK(runs.list()[6].group == group);
    CHECK(runs.list()[0].group == 0);
    const std::uint64_t second = runs.list()[1].number;
    runs.show(second, false);
    CHECK_FALSE(runs.find(second)->shown);
    runs.rename(second, "adam");
    CHECK(runs.find(second)->name == "adam 2");
    runs.rename(second, "slow");
    CHECK(runs.find(second)->name == "slow");
    CHECK(message([&] { runs.rename(second, ""); }) != "no error");
    runs.remove(second);
    CHECK(runs.find(second) == nullptr);
    runs.remove_group(group);
    CHECK(runs.list().size() == 2);
}

TEST_CASE("results: a table of variants is read as it was written, and sorted") {
    const test::TemporaryFolder folder;
    fs::create_directories(folder / "work/out/swing");
    const fs::path out = folder / "work/out/swing";
    write(folder / "work/swing.json", "{}");
    write(out / "summary.json", R"({"command": "batch", "scene": "swing", "file": "swing.json",
        "axes": [{"path": "rope.stiffness"}, {"path": "ball.velocity[0].z"}], "variants": 6,
        "variants_done": 4, "set": ["time.steps=3"], "checkpoint": "soft"})");
    write(out / "batch.csv",
          "rope.stiffness,ball.velocity[0].z,loss,target\n10,0,3,1\n10,1,nan,2\n20,0,0.1,3\n"
          "20,1,inf,4\n");
    const ResultsTable table = read_results(out);
    CHECK(table.kind == ResultsTable::Kind::variants);
    CHECK(table.rows() == 4);
    CHECK(table.scene == "swing");
    CHECK(fs::equivalent(table.scene_file, folder / "work/swing.json"));
    CHECK(table.made == "4 of 6 variants");
    CHECK(table.checkpoint == "soft");
    CHECK(table.changes == std::vector<std::string>{"time.steps=3"});
    CHECK(table.loss() == 2);
    CHECK(table.columns[2].values[2] == 0.1);
    CHECK(std::isnan(table.columns[2].values[1]));
    CHECK(std::isinf(table.columns[2].values[3]));
    CHECK(document::to_line(*table.values(2)) ==
          R"({ "rope.stiffness": 20.0, "ball.velocity[0].z": 0.0 })");
    CHECK(sorted_rows(table, 2, false) == std::vector<std::size_t>{2, 0, 3, 1});
    CHECK(sorted_rows(table, 2, true) == std::vector<std::size_t>{3, 0, 2, 1});
    CHECK(sorted_rows(table, 0, true) == std::vector<std::size_t>{2, 3, 0, 1});
    // The table itself may be chosen.
    CHECK(read_results(out / "batch.csv").rows() == 4);
    CHECK(message([&] { read_runs(out); }).find("no optimization") != std::string::npos);

    // What is missing or broken.
    CHECK(fault_of(folder / "none").find("there is no") != std::string::npos);
    CHECK(fault_of(folder.path()).find("no summary.json") != std::string::npos);
    write(out / "batch.csv", "rope.stiffness,ball.velocity[0].z,loss\n10,0,3\n10,x,2\n");
    const std::string bad = fault_of(out);
    CHECK(bad.find("batch.csv:3:4") != std::string::npos);
    write(out / "batch.csv", "rope.stiffness,loss\n10,0\n");
    CHECK(fault_of(out).find("does not fit the summary.json beside it") != std::string::npos);
    write(out / "batch.csv", "rope.stiffness,ball.velocity[0].z,loss\n10,0,3\n");
    CHECK(fault_of(out).find("does not fit the summary.json beside it") != std::string::npos);
    fs::remove(out / "batch.csv");
    CHECK(fault_of(out).find("batch.csv") != std::string::npos);
    write(out / "summary.json", R"({"command": "run", "scene": "swing"})");
    CHECK(fault_of(out).find("is of hindcast run, whose results have no table") !=
          std::string::npos);
    write(out / "summary.json", R"({"command": )");
    CHECK(fault_of(out).find("summary.json:1:") != std::string::npos);
}

TEST_CASE("results: starts of an optimization, with all their curves, come to what they say") {
    HINDCAST_NEEDS_PROGRAM();
    const test::TemporaryFolder folder;
    const auto optimize = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"optimize", cage, "--device", test::test_device(),
                                   "--iterations", "3", "--output", "o"});
        const test::Finished run = test::run_program(more, folder.path());
        CAPTURE(run.err);
        REQUIRE(run.status == 0);
    };
    optimize({"--starts", "5", "--seed", "4"});
    const std::vector<KeptRun> runs = read_runs(folder / "o");
    const ResultsTable table = read_results(folder / "o");
    REQUIRE(runs.size() == 5);
    REQUIRE(table.rows() == 5);
    CHECK(table.kind == ResultsTable::Kind::starts);
    CHECK(fs::equivalent(table.scene_file, cage));
    CHECK(std::ranges::count(runs, true, &KeptRun::best_of_group) == 1);
    double least = INFINITY;
    for (std::size_t s = 0; s < 5; ++s) {
        CAPTURE(s);
        CHECK(runs[s].iterations == std::vector<double>{0, 1, 2, 3});
        const std::size_t initial = 2, best = table.loss();
        CHECK(runs[s].losses.front() == table.columns[initial].values[s]);
        CHECK(runs[s].best_loss == table.columns[best].values[s]);
        // Run with those values, the scene has that loss.
        REQUIRE(table.values(s));
        CHECK(loss_of(*table.values(s)) == runs[s].best_loss);
        CHECK(*table.values(s) == *runs[s].values());
        least = std::min(least, runs[s].best_loss);
    }
    const KeptRun& best = *std::ranges::find(runs, true, &KeptRun::best_of_group);
    CHECK(best.best_loss == least);
    // One alone: the same results as of the best start, by itself, without a table.
    optimize({});
    const std::vector<KeptRun> one = read_runs(folder / "o/history.csv");
    REQUIRE(one.size() == 1);
    CHECK(one[0].name == "o");
    CHECK(one[0].losses == runs[0].losses);
    CHECK(one[0].names.size() == 8);
    CHECK(loss_of(*one[0].values()) == one[0].best_loss);
    CHECK(fault_of(folder / "o").find("no table of several") != std::string::npos);
    CHECK_FALSE(fs::exists(folder / "o/starts_history.csv"));
    CHECK_FALSE(fs::exists(folder / "o/starts_found.csv"));
    // What a scene was changed to is said, also the number of steps.
    optimize({"--starts", "2", "--set", "cage.stiffness=80", "--steps", "20"});
    CHECK(read_results(folder / "o").changes ==
          std::vector<std::string>{"cage.stiffness=80", "time.steps=20"});
}

TEST_CASE("results: the variants of a batch come to the losses in the table") {
    HINDCAST_NEEDS_PROGRAM();
    const test::TemporaryFolder folder;
    const test::Finished run =
        test::run_program({"batch", cage, "--device", test::test_device(), "--vary",
                           "cage.damping=5,10", "--vary", "cage.rest_length=0.5:1:3", "--set",
                           "time.steps=20", "--set", "cage.stiffness=80", "--output", "o"},
                          folder.path());
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    const ResultsTable table = read_results(folder / "o");
    REQUIRE(table.rows() == 6);
    CHECK(table.changes == std::vector<std::string>{"time.steps=20", "cage.stiffness=80"});
    // In the session a row's values become those of the scene, also of what is no parameter, after
    // what all rows were made with.
    test::OpenScene scene(cage);
    scene.wait_complete();
    scene.session.send(
        UseValues{1, "Take variant 4", table.values(4), true, table.checkpoint, table.changes});
    const auto answer = scene.wait(
        [](const Snapshot& s) { return s.handover.answer && s.handover.answer_to == 1; });
    scene.apply(*answer->handover.answer);
    scene.wait([&](const Snapshot& s) {
        return s.reports.activity == Activity::idle &&
               s.run.loss == table.columns[table.loss()].values[4];
    });
    CHECK(document::to_line(answer->handover.answer->at("/time/steps")) == "20");
    // A change that does not fit is one error, and nothing changes.
    scene.session.send(
        UseValues{2, "Take variant 4", table.values(4), true, "", {"cage.stiffnes=80"}});
    const auto refused = scene.wait([](const Snapshot& s) { return s.reports.error != nullptr; });
    CHECK(std::string(refused->reports.error->what()).find("stiffnes") != std::string::npos);
    CHECK(refused->handover.answer_to == 1);
    scene.session.send(UseValues{3, "Take variant 4", table.values(4), true, "soft", {}});
    scene.wait([](const Snapshot& s) {
        return s.reports.error &&
               std::string(s.reports.error->what()).find("'soft'") != std::string::npos;
    });
}
