// Pictures of a scene: the program's renderer, without a window.
#include <fmt/format.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "app/picture/scene_view.hpp"
#include "app/python/src/scenes/shared_scene.hpp"
#include "app/render/device/vulkan_context.hpp"
#include "app/session/view/color_look.hpp"
#include "app/session/view/view_look.hpp"
#include "engine/document/document.hpp"
#include "engine/document/text.hpp"

namespace hindcast::python {

using namespace nb::literals;

namespace {

struct PictureWish {
    std::int64_t frame = -1;  // steps; -1: the last
    int width = 0, height = 0;
    picture::CameraWish camera;
    std::optional<std::string> color;   // none: as the scene says
    std::optional<std::string> arrows;  // likewise
    // The height of fields drawn as surfaces, m per unit; below 0: the scene's, else 1; 0: images;
    // none: as in the scene.
    std::optional<double> heights;
    bool floor = true, dark = true, edges = false;
};

// Pictures of one scene with its values at that time: a session that keeps the frames it has
// computed.
class Painter {
public:
    Painter(const SceneRuns& runs, Scene scene, std::string text)
        : text_(std::move(text)), context_({}) {
        session::SessionOptions settings;
        settings.simulation = runs.options();
        settings.simulation.device = std::make_shared<Device>(runs.options().device->options());
        director_ = std::make_unique<picture::Director>(
            all_modules(), std::move(settings),
            std::make_shared<const document::Document>(scene.document()), scene.file(),
            [this] { return !goes_on_(); });
        renderer_ = std::make_unique<render::Renderer>(context_);
        exchange_ = director_->show(*renderer_);
    }

    const std::string& text() const { return text_; }

    render::Image take(const PictureWish& wish, std::function<bool()> goes_on) {
        goes_on_ = std::move(goes_on);
        const auto snapshot = director_->now();
        const document::Document& document = *director_->document();
        if (wish.frame > snapshot->run.steps) {
            ArgumentFault fault(fmt::format("frame: {} is after the last step, {}", wish.frame,
                                            snapshot->run.steps));
            fault.remedy("a run of so many steps is made with load(steps=...)");
            throw fault;
        }
        session::ColorLook look = session::ColorLook::of(document);
        const std::string color = session::present_field(wish.color.value_or(look.by));
        // A range in the scene is of what the scene shows.
        if (color != look.by && look.range == session::ColorLook::Range::hand)
            look.range = session::ColorLook::Range::run;
        look.by = color;
        check("color_by", color, snapshot->view.colors);
        session::ViewLook looks = session::ViewLook::of(document);
        if (wish.heights)
            looks.heights = *wish.heights >= 0  ? *wish.heights
                            : looks.heights > 0 ? looks.heights
                                                : 1;
        const std::string arrows = wish.arrows.value_or(looks.arrows);
        check("arrows", arrows, snapshot->view.arrows);
        director_->send(session::FrameContents{color, arrows, false});
        director_->show_step(wish.frame < 0 ? snapshot->run.steps : wish.frame, false);
        director_->wait([&](const session::Snapshot&) { return exchange_->serial() > 0; });
        director_->wait([&](const session::Snapshot& s) {
            return look.is_settled(s.view) ||
                   (s.reports.activity == session::Activity::idle && s.reports.error != nullptr);
        });
        render::View view;
        look.apply(view, director_->now()->view);
        looks.apply(view);
        view.width = wish.width;
        view.height = wish.height;
        view.floor = wish.floor;
        view.dark = wish.dark;
        view.edges = wish.edges;
        if (!wish.dark) {
            view.background_top = {0.95F, 0.96F, 0.97F, 1};
            view.background_bottom = {0.80F, 0.83F, 0.86F, 1};
        }
        view.arrow_log = true;
        view.arrow_scale = picture::fitting_arrow(*snapshot->scene.stage);
        picture::CameraWish camera = wish.camera;
        camera.heights = view.heights;
        view.camera = picture::camera_of(camera, *snapshot->scene.stage, document,
                                         static_cast<double>(view.width) / view.height);
        return renderer_->picture(view);
    }

private:
    static void check(const std::string& argument, const std::string& name,
                      const std::vector<session::ShownField>& fields) {
        std::vector<std::string_view> known;
        for (const auto& field : fields) known.push_back(field.name);
        if (name.empty() || name == "field" || std::ranges::find(known, name) != known.end())
            return;
        ArgumentFault fault(fmt::format("{}: this scene has no '{}' to show", argument, name));
        fault.remedy(document::suggestion(name, known, "there are"));
        throw fault;
    }

    std::string text_;
    std::function<bool()> goes_on_ = [] { return true; };
    render::VulkanContext context_;
    std::unique_ptr<picture::Director> director_;
    std::unique_ptr<render::Renderer> renderer_;  // goes before the director, whose frames it has
    std::shared_ptr<render::Exchange> exchange_;
};

nb::object render_scene(const Shared& scene, const PictureWish& wish) {
    render::Image image = scene->with([&](SceneRuns& runs) {
        Scene now = runs.written();
        std::string text = now.document().to_text();
        auto painter = std::static_pointer_cast<Painter>(scene->painter);
        if (!painter || painter->text() != text) {
            scene->painter.reset();
            painter = std::make_shared<Painter>(runs, std::move(now), std::move(text));
            scene->painter = painter;
        }
        try {
            return painter->take(wish, [&runs] { return runs.goes_on(); });
        } catch (const picture::Director::Interrupted&) {
            throw Interrupted();
        }
    });
    for (std::size_t k = 3; k < image.pixels.size(); k += 4) image.pixels[k] = 255;
    auto* const kept = new std::vector<std::uint8_t>(std::move(image.pixels));
    const nb::capsule owner(
        kept, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, std::uint8_t>(
        kept->data(),
        {static_cast<std::size_t>(image.height), static_cast<std::size_t>(image.width), 4}, owner));
}

}  // namespace

void bind_pictures(nb::module_& m) {
    using Place = std::optional<std::array<double, 3>>;
    m.def(
        "render_scene",
        [](const Shared& scene, std::int64_t frame, int width, int height, const std::string& side,
           const Place& eye, const Place& target, const Place& up, double field_of_view,
           bool orthographic, double closer, std::optional<double> heights,
           std::optional<std::string> color, std::optional<std::string> arrows, bool floor,
           bool dark, bool edges) {
            return render_scene(scene, {.frame = frame,
                                        .width = width,
                                        .height = height,
                                        .camera = {.side = side,
                                                   .eye = eye,
                                                   .target = target,
                                                   .up = up,
                                                   .field_of_view = field_of_view,
                                                   .orthographic = orthographic,
                                                   .closer = closer},
                                        .color = std::move(color),
                                        .arrows = std::move(arrows),
                                        .heights = heights,
                                        .floor = floor,
                                        .dark = dark,
                                        .edges = edges});
        },
        "scene"_a, "frame"_a, "width"_a, "height"_a, "side"_a, "eye"_a.none(), "target"_a.none(),
        "up"_a.none(), "field_of_view"_a, "orthographic"_a, "closer"_a, "heights"_a.none(),
        "color_by"_a.none(), "arrows"_a.none(), "floor"_a, "dark"_a, "edges"_a);
}

}  // namespace hindcast::python
