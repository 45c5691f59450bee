// Everything that is wrong in a text is found at once and at its place; the check that runs beside a
// window tells of the newest text only.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "app/session/text/check_task.hpp"
#include "app/session/text/text_tree.hpp"
#include "engine/base/files.hpp"
#include "tests/session/support.hpp"

using namespace hindcast;
using session::SceneFault;

namespace {

std::vector<SceneFault> faults_of(const std::string& text,
                                  const std::filesystem::path& file = test::scene_file("x.json")) {
    return session::find_faults(text, file, test::all_modules(), {});
}

// "stiffness: -1": where each is, and the text that is underlined.
std::string places(const std::string& text) {
    std::string all;
    for (const SceneFault& f : faults_of(text)) {
        if (!all.empty()) all += "; ";
        all += f.pointer + " " + text.substr(f.begin, f.end - f.begin);
    }
    return all;
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, from);
    return text.replace(at, from.size(), to);
}

std::string cage() { return read_file(test::scene_file("spring_cage.json")); }

// A small scene, an object on each line.
std::string small(const std::string& forces, const std::string& rest = "") {
    return "{ \"format\": 1, \"time\": { \"step\": \"1/60\", \"steps\": 3 },\n"
           "\"bodies\": [{ \"type\": \"particles\", \"name\": \"a\", \"positions\": "
           "[[0,0,0],[1,0,0]] }],\n"
           "\"forces\": [\n" +
           forces + "]\n" + rest + "}";
}

const std::string good =
    R"({ "type": "springs", "name": "s", "connect": [["a", 0, "a", 1]], "stiffness": 1 })";

}  // namespace

TEST_CASE("scene faults: the bundled scenes have none") {
    for (const char* name :
         {"spring_cage.json", "flag.json", "soft_beam.json", "wave_image.json"}) {
        CAPTURE(name);
        const auto file = test::scene_file(name);
        CHECK(faults_of(read_file(file), file).empty());
    }
}

TEST_CASE("scene faults: a text that does not parse has one, where the reader stumbles") {
    const std::string text = changed(cage(), "\"damping\": 10,", "\"damping\": 10");
    const auto faults = faults_of(text);
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].happened.find("',' is missing") != std::string::npos);
    // The key behind the missing comma.
    const std::size_t key = text.find('"', text.find("\"damping\": 10") + 13);
    CHECK(faults[0].begin == key);
    CHECK(faults[0].end == text.find('"', key + 1) + 1);
    CHECK(faults[0].line == static_cast<std::size_t>(std::count(
                                text.begin(), text.begin() + static_cast<long>(key), '\n')));
    CHECK(faults_of("").size() == 1);
    CHECK(faults_of("[1, 2").size() == 1);
    CHECK(faults_of("[]").size() == 1);
}

TEST_CASE("scene faults: all of one object, of several objects and of the scene, in their order") {
    // Three values of one object, one of another, one of the whole.
    CHECK(
        places(small(
            R"({ "type": "springs", "name": "s", "connect": [["a", 0, "a", 1]], "stiffness": -1, "damping": "x", "acts": "pul" },
{ "type": "damping", "rate": -2 })",
            ",\"view\": { \"color\": 1 }")) ==
        "/forces/0/stiffness -1; /forces/0/damping \"x\"; /forces/0/acts \"pul\"; "
        "/forces/1/rate -2; /view/color \"color\"");
}

TEST_CASE("scene faults: missing keys, and misspelled ones whose values are looked at too") {
    CHECK(places(small(R"({ "type": "springs" })")).starts_with("/forces/0 {"));
    CHECK(faults_of(small(R"({ "type": "springs" })")).size() == 2);  // connect, stiffness
    const std::string misspelled = small(changed(good, "\"stiffness\": 1", "\"stifness\": -1"));
    CHECK(places(misspelled) == "/forces/0/stifness \"stifness\"; /forces/0/stifness -1");
    CHECK(places(small(good, ",\"parametes\": []")) == "/parametes \"parametes\"");
}

TEST_CASE("scene faults: what only follows from another one is not told") {
    // A body of a type that does not exist: springs that name it, and a parameter of theirs, are as
    // they should be. A fault elsewhere is still found.
    const std::string text = changed(small(good + ",\n{ \"type\": \"damping\", \"rate\": -2 }",
                                           ",\"parameters\": [{ \"path\": \"s.stiffness\" }]"),
                                     "\"particles\"", "\"partcles\"");
    CHECK(places(text) == "/bodies/0/type \"partcles\"; /forces/1/rate -2");
    // Two that are wrong in the same way, each on its own.
    const std::string other = changed(good, "\"s\"", "\"t\"");
    CHECK(places(small(changed(good, "\"a\", 1", "\"b\", 1") + ",\n" +
                       changed(other, "\"a\", 1", "\"c\", 1"))) ==
          "/forces/0/connect/0/2 \"b\"; /forces/1/connect/0/2 \"c\"");
    // A dangling path, between two good ones.
    CHECK(places(small(good,
                       ",\"parameters\": [{ \"path\": \"s.stiffness\" }, { \"path\": \"s.stif\" }, "
                       "{ \"path\": \"s.rest_length\" }]")) == "/parameters/1/path \"s.stif\"");
}

TEST_CASE("scene faults: what the optimizer's settings refuse is found as well") {
    const std::string text = changed(cage(), "\"rate\"", "\"rat\"");
    const auto faults = faults_of(text, test::scene_file("spring_cage.json"));
    REQUIRE_FALSE(faults.empty());
    CHECK(faults[0].pointer == "/optimizer/rat");
}

TEST_CASE("scene faults: the loader's first error is among them") {
    const std::string text = small(changed(good, "\"stiffness\": 1", "\"stiffness\": -1"));
    SimulationOptions options;
    options.device = test::session_device();
    std::string first;
    try {
        session::load_scene(document::Document::parse(text), test::scene_file("x.json"),
                            test::all_modules(), options);
    } catch (const Error& error) {
        first = error.happened();
    }
    const auto faults = faults_of(text);
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].happened == first);
}

TEST_CASE(
    "scene faults: the check beside a window waits for a pause and tells of the newest text") {
    session::CheckTask check(test::all_modules(), {});
    const auto file = test::scene_file("spring_cage.json");
    const auto until_news = [&](double now) {
        for (int k = 0; k < 3000; ++k) {
            if (check.update(now)) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    };
    CHECK_FALSE(check.is_busy());
    check.want(changed(cage(), "\"damping\": 10", "\"damping\": -1"), file, 1.0);
    CHECK(check.is_busy());
    CHECK_FALSE(check.update(1.0));
    check.want(changed(cage(), "\"damping\": 10", "\"damping\": -2"), file, 1.2);
    CHECK_FALSE(check.update(1.4));  // 0.3 s after the first, not after the second
    CHECK(check.checked().empty());
    REQUIRE(until_news(1.6));
    REQUIRE(check.faults().size() == 1);
    CHECK(check.faults()[0].pointer == "/forces/0/damping");
    CHECK(check.checked().find("-2") != std::string::npos);
    CHECK_FALSE(check.is_busy());
    // Changed while it is checked: what is found is of the later text.
    check.want(changed(cage(), "\"damping\": 10", "\"damping\": -3"), file, 2.0);
    CHECK_FALSE(check.update(3.0));
    check.want(cage(), file, 3.0);
    REQUIRE(until_news(4.0));
    CHECK(check.faults().empty());
    CHECK(check.checked() == cage());
    // Given up: nothing is told.
    check.want(changed(cage(), "\"damping\": 10", "\"damping\": -4"), file, 5.0);
    CHECK_FALSE(check.update(6.0));
    check.forget();
    for (int k = 0; k < 3000 && check.is_busy(); ++k) {
        CHECK_FALSE(check.update(7.0));
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK_FALSE(check.is_busy());
}

TEST_CASE(
    "scene faults: whatever is done to a scene, there are some exactly when it does not load") {
    for (const char* name : {"spring_cage.json", "soft_beam.json", "wave_image.json"}) {
        const auto file = test::scene_file(name);
        const std::string text = read_file(file);
        std::vector<std::string> damaged;
        // Each line left out; each of the first numbers and words made another.
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
            damaged.push_back(text.substr(0, begin) + text.substr(end));
            begin = end;
        }
        const session::TextTree tree(text);
        int numbers = 0;
        for (const session::TextTree::Entry& e : tree.entries()) {
            if (e.kind == session::TextTree::Kind::word && ++numbers > 25) continue;
            if (e.kind != session::TextTree::Kind::word &&
                e.kind != session::TextTree::Kind::string)
                continue;
            damaged.push_back(text.substr(0, e.begin) + "\"oops\"" + text.substr(e.end));
            damaged.push_back(text.substr(0, e.begin) + "-7" + text.substr(e.end));
        }
        int refused = 0;
        for (const std::string& one : damaged) {
            std::string first;
            try {
                SimulationOptions options;
                options.device = test::session_device();
                session::load_scene(document::Document::parse(one, file.string()), file,
                                    test::all_modules(), options);
            } catch (const Error& error) {
                first = error.happened();
            }
            const auto faults = faults_of(one, file);
            CAPTURE(one);
            CHECK(faults.empty() == first.empty());
            if (first.empty()) continue;
            ++refused;
            CHECK(std::ranges::count(faults, first, &SceneFault::happened) >= 1);
            for (const SceneFault& fault : faults) {
                CHECK(fault.begin <= fault.end);
                CHECK(fault.end <= one.size());
                CHECK(one.substr(fault.begin, fault.end - fault.begin).find('\n') ==
                      std::string::npos);
            }
        }
        CHECK(refused > 20);
    }
}
