// hindcast render draws arrows, tubes, the slice and distances as the scene's view says, and as options do.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "app/render/output/png.hpp"
#include "engine/document/document.hpp"
#include "tests/render/studio.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast::render;
using namespace hindcast::test;
using hindcast::document::Document;

namespace {

class Looks {
public:
    Looks() : Looks(scene("spring_cage.json"), "0.2") {}
    Looks(Document scene, std::string time) : scene_(std::move(scene)), time_(std::move(time)) {}
    static Document scene(const std::string& name) {
        return Document::load(std::string(source_dir) + "/scenes/" + name);
    }
    // The scene with this view at that time (s), with more options.
    Finished run(const std::string& view, const std::vector<std::string>& more = {}) const {
        Document document = scene_;
        document.set("/view", Document::parse(view).root());
        document.save(folder_ / "scene.json");
        std::vector<std::string> words = {
            "render",   folder_ / "scene.json", "--size", "240x180", "--time", time_,
            "--output", folder_ / "x.png"};
        if (test_device() == "interpreter") words.insert(words.end(), {"--device", "interpreter"});
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words);
    }
    std::vector<std::uint8_t> draw(const std::string& view,
                                   const std::vector<std::string>& more = {}) const {
        const Finished finished = run(view, more);
        INFO(finished.err);
        CHECK(finished.status == 0);
        return read_png(folder_ / "x.png").pixels;
    }

private:
    Document scene_;
    std::string time_;
    TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("command: arrows, tubes and the slice are those of the view, or of the options") {
    HINDCAST_NEEDS_PROGRAM();
    const Looks looks;
    const auto plain = looks.draw("{}");
    const auto slice = looks.draw(R"({"slice": {"normal": [1, 0, 0], "offset": 0}})");
    CHECK(slice != plain);
    CHECK(slice == looks.draw("{}", {"--slice", "x,0"}));
    CHECK(slice == looks.draw("{}", {"--slice", "2,0,0,0"}));
    CHECK(plain == looks.draw(R"({"slice": {"normal": [1, 0, 0], "offset": 0}})", {"--no-slice"}));
    const auto other = looks.draw("{}", {"--slice=-x,0"});
    CHECK(other != slice);
    CHECK(other != plain);
    const auto thick = looks.draw(R"({"tubes": {"radius": 0.05}})");
    CHECK(thick != plain);
    CHECK(thick == looks.draw("{}", {"--tube-radius", "0.05"}));
    CHECK(looks.draw(R"({"tubes": {"pixels": 4}})") == looks.draw("{}", {"--tube-pixels", "4"}));
    const auto arrows = looks.draw(R"({"arrows": "velocity"})");
    CHECK(arrows == looks.draw("{}", {"--arrows", "velocity"}));
    CHECK(arrows != looks.draw("{}"));
    CHECK(looks.draw("{}") == looks.draw(R"({"arrows": "velocity"})", {"--arrows", "none"}));
    CHECK(arrows != looks.draw(R"({"arrows": "velocity", "most_arrows": 2})"));
    const Finished bad = looks.run("{}", {"--slice", "up,0"});
    CHECK(bad.status == 2);
    CHECK(bad.err.find("is no slice") != std::string::npos);
    const Finished unknown = looks.run(R"({"arrows": "wind"})");
    CHECK(unknown.status == 1);
    CHECK(unknown.err.find("no 'wind' to show; for view.arrows there is: ") != std::string::npos);
}

TEST_CASE("command: fields are as high as the view says, or the options") {
    HINDCAST_NEEDS_PROGRAM();
    Document scene = Looks::scene("wave_image.json");
    scene.set("/bodies/0/level_0",
              Document::parse(R"json({"formula": "exp(-((x-1/2)^2+(y-1/2)^2)/0.02)"})json").root());
    const Looks looks(std::move(scene), "1e-4");
    const auto plain = looks.draw("{}");
    const auto high = looks.draw(R"({"heights": 0.5})");
    CHECK(high != plain);
    CHECK(high == looks.draw("{}", {"--heights", "--height-scale", "0.5"}));
    CHECK(high == looks.draw(R"({"heights": 0.5})", {"--heights"}));
    CHECK(high == looks.draw(R"({"heights": 2})", {"--height-scale", "0.5"}));
    CHECK(plain == looks.draw(R"({"heights": 0.5})", {"--no-heights"}));
    CHECK(looks.draw("{}", {"--heights"}) == looks.draw(R"({"heights": 1})"));
    const Finished bad = looks.run(R"({"heights": 0})");
    CHECK(bad.status == 1);
    CHECK(bad.err.find("heights") != std::string::npos);
}

TEST_CASE("command: distances of the view are drawn, and one that ends nowhere is an error") {
    HINDCAST_NEEDS_PROGRAM();
    const Looks looks;
    const auto plain = looks.draw("{}");
    const std::string between =
        R"({"distances": [{"from": [0, 0, 0], "to": {"of": "ball", "point": 0}}]})";
    CHECK(looks.draw(between) != plain);
    CHECK(looks.draw(between, {"--no-distances"}) == plain);
    const Finished nobody =
        looks.run(R"({"distances": [{"from": [0, 0, 0], "to": {"of": "nobody", "point": 0}}]})");
    CHECK(nobody.status == 1);
    CHECK(nobody.err.find("a distance ends at 'nobody'") != std::string::npos);
    const Finished far =
        looks.run(R"({"distances": [{"from": [0, 0, 0], "to": {"of": "ball", "point": 999}}]})");
    CHECK(far.status == 1);
    CHECK(far.err.find("point 999 of ball") != std::string::npos);
}
