#include "app/cli/render/looks.hpp"

#include <charconv>
#include <cmath>
#include <vector>

#include "app/cli/command.hpp"
#include "engine/base/error.hpp"

namespace hindcast::cli {

namespace {

// "x,0.2", "-z,0.2" or "1,1,0,0.2": an axis or a normal, and the offset along it.
render::Slice parse_slice(const std::string& text) {
    const auto fail = [&]() -> Error {
        return Error("'" + text + "' is no slice")
            .remedy(
                "write an axis and an offset in m, such as x,0.2 or -z,0.5, or a normal and an "
                "offset, such as 1,1,0,0.2");
    };
    render::Slice slice{{0, 0, 0}, 0};
    std::string rest = text;
    const bool negative = rest.starts_with('-');
    const std::size_t letter = negative ? 1 : 0;
    std::size_t numbers = 4;
    if (rest.size() > letter + 1 && rest[letter] >= 'x' && rest[letter] <= 'z' &&
        rest[letter + 1] == ',') {
        slice.normal[static_cast<std::size_t>(rest[letter] - 'x')] = negative ? -1 : 1;
        rest = rest.substr(letter + 2);
        numbers = 1;
    }
    std::vector<double> found;
    const char* at = rest.data();
    const char* const end = at + rest.size();
    while (found.size() < numbers) {
        double number = 0;
        const auto [next, failed] = std::from_chars(at, end, number);
        const bool last = found.size() + 1 == numbers;
        if (failed != std::errc() || !std::isfinite(number) ||
            (last ? next != end : next == end || *next != ','))
            throw fail();
        found.push_back(number);
        at = next + 1;
    }
    slice.offset = found.back();
    for (std::size_t c = 0; numbers == 4 && c < 3; ++c) slice.normal[c] = found[c];
    if (slice.normal == render::Vec3{0, 0, 0}) throw fail();
    return slice;
}

}  // namespace

void LookOptions::add_to(CLI::App& app) {
    constexpr const char* group = "Colors and arrows";
    app.add_option("--arrows", arrows,
                   "What is shown as arrows; none: nothing (default: view.arrows of the scene)")
        ->type_name("NAME")
        ->group(group);
    app.add_option("--most-arrows", most_arrows,
                   "Where there are more, so many, spread evenly over the bodies as they start "
                   "(default: view.most_arrows of the scene, else 400)")
        ->check(CLI::PositiveNumber)
        ->group(group);
    constexpr const char* view = "View";
    auto* const radius = app.add_option("--tube-radius", tube_radius,
                                        "Of springs and chains, m (default: view.tubes of the "
                                        "scene, else by how close the points are)")
                             ->check(CLI::PositiveNumber)
                             ->group(view);
    app.add_option("--tube-pixels", tube_pixels, "The same on the picture")
        ->check(CLI::PositiveNumber)
        ->excludes(radius)
        ->group(view);
    auto* const cut =
        app.add_option("--slice", slice,
                       "Hides what is before a plane, in space: an axis, toward which it is "
                       "hidden, and an offset in m (x,0.2 or -z,0.5), or a normal and an offset "
                       "along it (1,1,0,0.2) (default: view.slice of the scene)")
            ->check(CLI::Validator(
                [](const std::string& text) -> std::string {
                    try {
                        parse_slice(text);
                    } catch (const Error& error) {
                        return error.what();
                    }
                    return "";
                },
                ""))
            ->type_name("AXIS,OFFSET")
            ->group(view);
    app.add_flag("--no-slice", no_slice, "Without a slice, whatever the scene says")
        ->excludes(cut)
        ->group(view);
    auto* const flat =
        app.add_flag("--no-heights", no_heights, "Fields as images, whatever the scene says")
            ->group(view);
    app.add_flag("--heights", heights,
                 "Fields as surfaces instead of images (default: view.heights of the scene)")
        ->excludes(flat)
        ->group(view);
    app.add_option("--height-scale", height_scale,
                   "Of fields as surfaces, m per unit of the field (default: that of the scene's "
                   "view, else 1)")
        ->check(CLI::PositiveNumber)
        ->group(view);
    app.add_flag("--no-distances", no_distances, "Without the distances of the scene's view")
        ->group("Labels");
}

session::ViewLook LookOptions::look(const document::Document& document) const {
    session::ViewLook look = session::ViewLook::of(document);
    if (!arrows.empty()) look.arrows = arrows == "none" ? "" : arrows;
    if (most_arrows > 0) look.most_arrows = most_arrows;
    if (tube_radius > 0 || tube_pixels > 0) look.tubes = {tube_radius, tube_pixels};
    if (!slice.empty()) look.slice = parse_slice(slice);
    if (no_slice) look.slice.reset();
    if (heights && look.heights <= 0) look.heights = 1;
    if (look.heights > 0 && height_scale > 0) look.heights = height_scale;
    if (no_heights) look.heights = 0;
    if (no_distances) look.distances.clear();
    return look;
}

}  // namespace hindcast::cli
