// hindcast render SCENE: pictures and films of a scene, without a window.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/cli/command.hpp"
#include "app/cli/interrupt.hpp"
#include "app/cli/progress.hpp"
#include "app/cli/render/labels.hpp"
#include "app/cli/render/looks.hpp"
#include "app/picture/scene_view.hpp"
#include "app/render/device/vulkan_context.hpp"
#include "app/render/output/png.hpp"
#include "app/render/output/video.hpp"
#include "app/session/view/camera_path.hpp"
#include "app/session/view/color_look.hpp"
#include "engine/sim/scene/scene_check.hpp"

namespace hindcast::cli {

namespace {

struct Options {
    SceneOptions scene;
    std::string output, size = "1280x720", transport = "auto", over = "time";
    double time = -1, until = -1, speed = 0, rate = 30;  // 0: what suits the duration
    std::int64_t step = -1, iteration = -1;
    int samples = 4;
    std::string view = "default", eye, target, up, range, map, theme = "dark";
    double field_of_view = 40, closer = 1, turn = 0, arrow_scale = 0;
    std::string color;
    bool orthographic = false, symmetric = false, log_colors = false, linear_colors = false,
         smooth = false, edges = false;
    bool no_floor = false, no_shadows = false, no_occlusion = false, no_measured = false,
         arrow_log = false;
    bool quiet = false;
    std::string camera_path;
    LabelOptions labels;
    LookOptions looks;
};

std::pair<int, int> parse_size(const std::string& text) {
    int width = 0, height = 0;
    char rest = 0;
    constexpr int most = 16384;
    if (std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &rest) != 2 || width < 1 ||
        height < 1 || width > most || height > most)
        throw Error("'" + text + "' is no size of a picture")
            .remedy("write WIDTHxHEIGHT in pixels, such as 1280x720");
    return {width, height};
}

template <std::size_t n>
std::array<double, n> parse_numbers(const std::string& text, const char* what) {
    std::array<double, n> numbers{};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::size_t k = 0; k < n; ++k) {
        const auto [next, failed] = std::from_chars(at, end, numbers[k]);
        const bool separated = k + 1 < n ? next != end && *next == ',' : next == end;
        if (failed != std::errc() || !separated || !std::isfinite(numbers[k]))
            throw Error(fmt::format("'{}' is no {}", text, what))
                .remedy(fmt::format("write {} numbers with commas between them", n));
        at = next + 1;
    }
    return numbers;
}

std::array<double, 2> parse_range(const std::string& text) {
    const std::array<double, 2> range = parse_numbers<2>(text, "range");
    if (!(range[0] < range[1]))
        throw Error("the range '" + text + "' is empty").remedy("write the smaller number first");
    return range;
}

template <class Parse>
CLI::Validator checked(Parse parse) {
    return {[parse](const std::string& text) -> std::string {
                try {
                    parse(text);
                } catch (const Error& error) {
                    return error.what();
                }
                return "";
            },
            ""};
}

// The view by the options; where they are not given, by the scene.
render::View make_view(const Options& options, const session::ViewLook& looks,
                       const render::Stage& stage, const document::Document& document) {
    render::View view;
    looks.apply(view);
    std::tie(view.width, view.height) = parse_size(options.size);
    view.samples = options.samples;
    view.dark = options.theme == "dark";
    if (!view.dark) {
        view.background_top = {0.95F, 0.96F, 0.97F, 1};
        view.background_bottom = {0.80F, 0.83F, 0.86F, 1};
    }
    view.floor = !options.no_floor;
    for (const render::Drawable& drawable : stage.drawables)
        view.hidden.push_back(options.no_measured && drawable.measured);
    view.shadows = !options.no_shadows;
    view.ambient_occlusion = !options.no_occlusion;
    view.smooth_fields = options.smooth;
    view.edges = options.edges;
    view.arrow_log = options.arrow_log;
    view.arrow_scale = options.arrow_scale;

    picture::CameraWish wish{.side = options.view,
                             .field_of_view = options.field_of_view,
                             .orthographic = options.orthographic,
                             .closer = options.closer,
                             .heights = view.heights};
    if (!options.eye.empty()) wish.eye = parse_numbers<3>(options.eye, "place");
    if (!options.target.empty()) wish.target = parse_numbers<3>(options.target, "place");
    if (!options.up.empty()) wish.up = parse_numbers<3>(options.up, "direction");
    view.camera =
        picture::camera_of(wish, stage, document, static_cast<double>(view.width) / view.height);
    if (view.arrow_scale <= 0) {
        view.arrow_scale = picture::fitting_arrow(stage);
        view.arrow_log = true;
    }
    return view;
}

bool ends_in(const std::string& file, const char* ending) {
    return std::filesystem::path(file).extension() == ending;
}

std::string names_of(const std::vector<session::ShownField>& fields) {
    std::string names;
    for (const auto& field : fields) names += (names.empty() ? "" : ", ") + field.name;
    return names.empty() ? "none" : names;
}

void check_name(const std::string& name, const std::vector<session::ShownField>& fields,
                const char* option) {
    for (const auto& field : fields)
        if (field.name == name) return;
    if (name.empty()) return;
    throw Error(fmt::format("this scene has no '{}' to show", name))
        .remedy(fmt::format("for {} there is: {}", option, names_of(fields)));
}

// True if a gradient is shown, which exists only at the steps that are kept.
bool shows_gradients(const std::string& color, const std::string& arrows,
                     const session::ViewSnapshot& now) {
    const auto is_gradient = [](const std::vector<session::ShownField>& fields,
                                const std::string& name) {
        for (const auto& field : fields)
            if (field.name == name) return field.gradient;
        return false;
    };
    return is_gradient(now.colors, color) || is_gradient(now.arrows, arrows);
}

// The way of the camera; empty if none was asked for.
session::CameraPath camera_path(const Options& options) {
    return options.camera_path.empty() ? session::CameraPath()
                                       : session::CameraPath::load(options.camera_path);
}

// Waits for the range of colors over the run, if it is that, and gives the view its colors.
void set_colors(const Options& options, const session::ColorLook& look, picture::Director& director,
                render::View& view) {
    if (look.range == session::ColorLook::Range::run)
        director.wait([&](const session::Snapshot& s) {
            const bool over =
                s.reports.activity == session::Activity::idle && s.reports.error != nullptr;
            return look.is_settled(s.view) || over;
        });
    const auto now = director.now();
    look.apply(view, now->view);
    if (!options.symmetric) return;
    view.symmetric = true;
    if (!view.range || look.range == session::ColorLook::Range::hand) return;
    const double most = std::max(std::abs((*view.range)[0]), std::abs((*view.range)[1]));
    view.range = std::array{-most, most};
}

// The range of colors over the runs of all these iterations together, so that they can be compared.
void join_ranges(session::ColorLook& look, picture::Director& director, std::int64_t iterations) {
    std::optional<std::array<double, 2>> all;
    for (std::int64_t k = 0; k < iterations; ++k) {
        director.show_iteration(k);
        director.wait([&](const session::Snapshot& s) { return look.is_settled(s.view); });
        const auto now = director.now();
        const auto& shown = now->view.color_range;
        const auto one = shown ? shown->range : all;
        if (!one) continue;
        if (!all) all = one;
        all = std::array{std::min((*all)[0], (*one)[0]), std::max((*all)[1], (*one)[1])};
        look.map = look.map_for(now->view);
    }
    if (!all || !look.map || !((*all)[0] < (*all)[1])) return;
    const double most = std::max(std::abs((*all)[0]), std::abs((*all)[1]));
    look.range = session::ColorLook::Range::hand;
    look.ends_are = "of all iterations";
    look.ends = render::is_diverging(*look.map) ? std::array{-most, most} : *all;
}

void make_film(const Options& options, session::ColorLook look, const std::string& arrows,
               picture::Director& director, Photographer& photographer, render::View view) {
    const session::CameraPath path = camera_path(options);
    const auto snapshot = director.now();
    const double step_seconds = snapshot->run.step_seconds;
    const bool iterations = options.over == "iterations";
    const double until = options.until >= 0
                             ? options.until
                             : step_seconds * static_cast<double>(snapshot->run.steps);
    const double from = std::max(options.time, 0.0);
    const double speed = options.speed > 0 ? options.speed : session::fitting_speed(until - from);
    const std::int64_t pictures =
        iterations ? std::max<std::int64_t>(options.iteration, 0) + 1
                   : 1 + static_cast<std::int64_t>(
                             std::floor((until - from) / speed * options.rate + 1e-9));
    if (pictures < 1) throw Error("the film would be empty").remedy("let --until be after --time");
    const bool colored = !look.by.empty() && look.range == session::ColorLook::Range::run;
    if (iterations && colored) join_ranges(look, director, pictures);
    render::Video video(options.output, view.width, view.height, options.rate);
    Progress progress("picture", pictures, Progress::Pipe::silent, options.quiet);
    for (std::int64_t k = 0; k < pictures; ++k) {
        double time = from + static_cast<double>(k) / options.rate * speed;
        if (iterations) {
            director.show_iteration(k);
            time = options.time >= 0 ? options.time : until;
        }
        director.show_step(
            std::clamp<std::int64_t>(static_cast<std::int64_t>(std::llround(time / step_seconds)),
                                     0, snapshot->run.steps),
            shows_gradients(options.color, arrows, snapshot->view));
        if (!path.empty()) {
            // Along iterations the whole path is gone during the film.
            const double first = path.keys().front().time, last = path.keys().back().time;
            const double part = static_cast<double>(k) /
                                static_cast<double>(std::max<std::int64_t>(pictures - 1, 1));
            view.camera = path.at(iterations ? first + (last - first) * part : time);
        }
        set_colors(options, look, director, view);
        video.add(photographer.take(view, look, *director.now()));
        if (options.turn != 0)
            render::orbit(view.camera, -options.turn / static_cast<double>(pictures), 0);
        progress.update(k + 1);
    }
    progress.clear();
    video.finish();
    say(options.quiet, "{}: {} pictures{}\n", options.output, pictures,
        iterations ? "" : fmt::format(", {:g} simulated seconds per second", speed));
}

// The colors that the options ask for, else those of the scene, which are explained unless the
// options say otherwise.
session::ColorLook choose_colors(Options& options, const document::Document& document,
                                 const session::Snapshot& now) {
    const char* asked_by = "--color-by";
    std::optional<bool>& bar = options.labels.color_bar;
    session::ColorLook look = session::ColorLook::of(document);
    if (options.color == "none") {
        options.color.clear();
    } else if (options.color.empty()) {
        options.color = look.by;
        if (!bar) bar = !options.color.empty();
        asked_by = "view.color_by";
    }
    options.color = session::present_field(options.color);
    // Fields show their own values in any case.
    const bool own =
        options.color == "field" &&
        std::ranges::any_of(now.scene.stage->drawables, [](const render::Drawable& drawable) {
            return drawable.kind == render::Drawable::Kind::field;
        });
    if (!own) check_name(options.color, now.view.colors, asked_by);
    if (bar.value_or(false) && options.color.empty())
        throw Error("there are no colors for --color-bar to explain")
            .remedy("say what is shown with --color-by");
    // A range in the scene is of what the scene shows.
    if (options.color != look.by && look.range == session::ColorLook::Range::hand)
        look.range = session::ColorLook::Range::run;
    look.by = options.color;
    if (options.range == "run" || options.range == "frame") {
        look.range = options.range == "run" ? session::ColorLook::Range::run
                                            : session::ColorLook::Range::frame;
    } else if (!options.range.empty()) {
        look.range = session::ColorLook::Range::hand;
        look.ends = parse_range(options.range);
    }
    if (options.log_colors || options.linear_colors) look.logarithmic = options.log_colors;
    if (!options.map.empty()) look.map = session::color_map_named(options.map);
    return look;
}

int run(Options options) {
    const bool film = !ends_in(options.output, ".png");
    require_folder_of(options.output);
    session::SessionOptions settings;
    settings.simulation = options.scene.simulation_options();
    render::ContextOptions vulkan;
    vulkan.uuid = session::cuda_uuid(*settings.simulation.device);
    render::VulkanContext context(std::move(vulkan));
    const Scene scene = options.scene.load();
    picture::Director director(registry(), std::move(settings),
                               std::make_shared<const document::Document>(scene.document()),
                               std::filesystem::absolute(options.scene.scene),
                               [] { return interrupted(); });
    const auto snapshot = director.now();
    const session::ColorLook look = choose_colors(options, *director.document(), *snapshot);
    const session::ViewLook looks = options.looks.look(*director.document());
    check_name(looks.arrows, snapshot->view.arrows,
               options.looks.arrows.empty() ? "view.arrows" : "--arrows");
    director.send(session::FrameContents{options.color, looks.arrows, false});
    render::Renderer renderer(context);
    const auto exchange = director.show(renderer, render::transport_named(options.transport));
    render::View view = make_view(options, looks, *snapshot->scene.stage, *director.document());
    Photographer photographer(context, renderer, options.labels, director.document(),
                              looks.distances);
    try {
        if (film) {
            if (options.iteration >= 0 && options.over == "time")
                director.show_iteration(options.iteration);
            make_film(options, look, looks.arrows, director, photographer, view);
            return 0;
        }
        if (options.iteration >= 0) director.show_iteration(options.iteration);
        std::int64_t step = options.step;
        if (step < 0)
            step = options.time < 0 ? snapshot->run.steps
                                    : std::llround(options.time / snapshot->run.step_seconds);
        if (step > snapshot->run.steps)
            throw Error(
                fmt::format("the scene ends after {} steps, at {:g} s", snapshot->run.steps,
                            snapshot->run.step_seconds * static_cast<double>(snapshot->run.steps)))
                .remedy("ask for an earlier time, or give --steps");
        director.show_step(step, shows_gradients(options.color, looks.arrows, snapshot->view));
        director.wait([&](const session::Snapshot&) { return exchange->serial() > 0; });
        if (const session::CameraPath path = camera_path(options); !path.empty())
            view.camera = path.at(static_cast<double>(step) * snapshot->run.step_seconds);
        set_colors(options, look, director, view);
        render::write_png(options.output, photographer.take(view, look, *director.now()));
        const render::Frame drawn = renderer.frame().value_or(render::Frame{});
        say(options.quiet, "{}: step {}, {:g} s; {}, {}\n", options.output, drawn.step, drawn.time,
            context.facts().name, render::name_of(exchange->kind()));
    } catch (const picture::Director::Interrupted&) {
        say(options.quiet, "stopped; nothing was written\n");
        return interrupted_status();
    }
    return 0;
}

void add_view_options(CLI::App& app, Options& o) {
    constexpr const char* group = "View";
    const auto place = [](const std::string& text) { parse_numbers<3>(text, "place"); };
    app.add_option("--view", o.view, "From where: default, front, right or top")
        ->check(CLI::IsMember({"default", "front", "right", "top"}))
        ->capture_default_str()
        ->group(group);
    app.add_option("--eye", o.eye, "Where the camera stands, m")
        ->check(checked(place))
        ->type_name("X,Y,Z")
        ->group(group);
    app.add_option("--target", o.target, "What it looks at, m (default: the middle of the scene)")
        ->check(checked(place))
        ->type_name("X,Y,Z")
        ->group(group);
    app.add_option("--up", o.up, "The direction that points up in the picture")
        ->check(checked(place))
        ->type_name("X,Y,Z")
        ->group(group);
    app.add_option("--field-of-view", o.field_of_view, "Vertical, degrees")
        ->check(CLI::Range(1.0, 170.0))
        ->capture_default_str()
        ->group(group);
    app.add_option("--closer", o.closer, "So many times nearer than where all is seen")
        ->check(CLI::Range(0.01, 100.0))
        ->group(group);
    app.add_flag("--orthographic", o.orthographic, "Without perspective")->group(group);
    app.add_option("--turn", o.turn, "Degrees that the camera turns during a film")->group(group);
    auto* const path =
        app.add_option("--camera-path", o.camera_path,
                       "The camera moves along the keys of this file: a scene saved with a camera "
                       "path, or {\"camera_path\": [{\"time\": s, \"eye\": [...], \"target\": "
                       "[...]}, ...]}")
            ->check(CLI::ExistingFile)
            ->type_name("FILE")
            ->group(group);
    for (const char* const other : {"--turn", "--view", "--eye", "--target", "--up",
                                    "--field-of-view", "--closer", "--orthographic"})
        path->excludes(app.get_option(other));
    app.add_option("--theme", o.theme, "Of the background: dark or light")
        ->check(CLI::IsMember({"dark", "light"}))
        ->capture_default_str()
        ->group(group);
    app.add_flag("--no-floor", o.no_floor, "Without the grid")->group(group);
    app.add_flag("--no-shadows", o.no_shadows, "Without shadows")->group(group);
    app.add_flag("--no-occlusion", o.no_occlusion, "Without ambient occlusion")->group(group);
    app.add_flag("--no-measured", o.no_measured,
                 "Without the ghost of a robot where measured data say that it was")
        ->group(group);
    app.add_flag("--edges", o.edges, "With the edges of triangles")->group(group);
}

void add_color_options(CLI::App& app, Options& o) {
    constexpr const char* group = "Colors and arrows";
    app.add_option("--color-by", o.color,
                   "What is shown as color, such as speed; none: each thing's own color "
                   "(default: view.color_by of the scene)")
        ->type_name("NAME")
        ->group(group);
    const CLI::IsMember maps(
        std::vector<std::string>(color_map_names.begin(), color_map_names.end()),
        [](const std::string& name) { return name == british_gray ? "gray" : name; });
    app.add_option(
           "--color-map", o.map,
           "viridis, magma, cubehelix, gray (evenly lighter), turbo (a rainbow), coolwarm or "
           "purple_orange (symmetric about 0) (default: view.color_map of the scene, else "
           "viridis, or coolwarm for numbers of both signs)")
        ->check(maps)
        ->type_name("NAME")
        ->group(group);
    // The British spellings of earlier versions.
    app.add_option("--colour-by", o.color)->excludes("--color-by")->group("");
    app.add_option("--colour-map", o.map)->check(maps)->excludes("--color-map")->group("");
    app.add_option("--range", o.range,
                   "Of the colors: run (all moments), frame (each moment its own) or two numbers "
                   "(default: view.color_range of the scene, else run)")
        ->check(checked([](const std::string& text) {
            if (text != "run" && text != "frame") parse_range(text);
        }))
        ->type_name("run|frame|LOW,HIGH")
        ->group(group);
    auto* const log = app.add_flag("--log-colors", o.log_colors,
                                   "Colors by the logarithm of the numbers (default: "
                                   "view.color_scale of the scene)")
                          ->group(group);
    auto* const linear =
        app.add_flag("--linear-colors", o.linear_colors, "By the numbers themselves")
            ->excludes(log)
            ->group(group);
    app.add_flag("--log-colours", o.log_colors)->excludes(linear)->group("");
    app.add_flag("--linear-colours", o.linear_colors)
        ->excludes(log)
        ->excludes("--log-colours")
        ->group("");
    app.add_flag("--symmetric", o.symmetric, "The range is the same on both sides of 0")
        ->group(group);
    app.add_option("--arrow-scale", o.arrow_scale,
                   "m per unit (default: by the logarithm, the longest an eighth of the scene)")
        ->check(CLI::PositiveNumber)
        ->group(group);
    app.add_flag("--smooth", o.smooth, "Fields are interpolated between their nodes")->group(group);
}

}  // namespace

Command add_render(CLI::App& app) {
    CLI::App* command = app.add_subcommand("render", "Pictures and films of a scene");
    auto options = std::make_shared<Options>();
    Options& o = *options;
    o.scene.add_to(*command);
    command->add_option("-o,--output", o.output, "The picture (.png) or film (.mp4, .gif)")
        ->required()
        ->type_name("FILE")
        ->check(CLI::Validator(
            [](const std::string& file) -> std::string {
                for (const char* const ending : {".png", ".mp4", ".gif"})
                    if (ends_in(file, ending)) return "";
                return "'" + file + "' ends neither in .png nor in .mp4 or .gif";
            },
            ""));
    constexpr const char* moment = "Moment";
    auto* const time = command
                           ->add_option("--time", o.time,
                                        "s (the nearest step; with gradients the last one that is "
                                        "kept until then); of a film: where it begins (default: "
                                        "the end; of a film: 0)")
                           ->check(CLI::NonNegativeNumber)
                           ->group(moment);
    command->add_option("--step", o.step, "The same in steps")
        ->check(CLI::NonNegativeNumber)
        ->excludes(time)
        ->group(moment);
    command
        ->add_option("--iteration", o.iteration,
                     "Optimize first, and show this iteration (0: the first)")
        ->check(CLI::NonNegativeNumber)
        ->group(moment);
    command->add_option("--until", o.until, "s; where a film ends (default: with the scene)")
        ->check(CLI::NonNegativeNumber)
        ->group(moment);
    command
        ->add_option(
            "--speed", o.speed,
            "Simulated seconds per second of a film (default: 1, and slower for what lasts "
            "less than a second)")
        ->check(CLI::PositiveNumber)
        ->group(moment);
    command->add_option("--rate", o.rate, "Pictures per second of a film")
        ->check(CLI::Range(1.0, 240.0))
        ->capture_default_str()
        ->group(moment);
    command
        ->add_option("--over", o.over,
                     "What a film runs over: time, or iterations (0 to --iteration, at --time)")
        ->check(CLI::IsMember({"time", "iterations"}))
        ->capture_default_str()
        ->group(moment);
    constexpr const char* picture_group = "Picture";
    command->add_option("--size", o.size, "Pixels")
        ->check(checked([](const std::string& text) { parse_size(text); }))
        ->type_name("WIDTHxHEIGHT")
        ->capture_default_str()
        ->group(picture_group);
    command->add_option("--samples", o.samples, "Per pixel: 1 or 4")
        ->check(CLI::IsMember({1, 4}))
        ->capture_default_str()
        ->group(picture_group);
    command
        ->add_option("--transport", o.transport,
                     "How frames reach the renderer: auto, exported, imported, mapped or "
                     "staging")
        ->check(CLI::IsMember({"auto", "exported", "imported", "mapped", "staging"}))
        ->capture_default_str()
        ->group(picture_group);
    add_view_options(*command, o);
    add_color_options(*command, o);
    o.labels.add_to(*command);
    o.looks.add_to(*command);
    add_quiet(*command, o.quiet);
    command->footer(
        "Needs a Vulkan driver; mesa-vulkan-drivers draws on the processor.\n"
        "Example: hindcast render scenes/spring_cage.json --time 1 --output cage.png");
    return {command, about_scene(options->scene.scene, [options] { return run(*options); })};
}

}  // namespace hindcast::cli
