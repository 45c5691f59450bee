#include "app/session/view/color_look.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/document/read.hpp"
#include "engine/sim/scene/scene_check.hpp"

namespace hindcast::session {

using document::Node;
using render::ColorMap;

static_assert(color_map_names.size() == render::color_maps);

namespace {

// The range of these colors over the run; null: nothing is known of it yet.
const std::array<double, 2>* range_of_run(const ColorLook& look, const ViewSnapshot& now) {
    if (!now.color_range || now.color_range->color != look.by || !now.color_range->range)
        return nullptr;
    return &*now.color_range->range;
}

}  // namespace

const char* name_of(ColorMap map) {
    return color_map_names.at(static_cast<std::size_t>(map)).data();
}

std::optional<ColorMap> color_map_named(const std::string& name) {
    if (name == british_gray) return ColorMap::gray;
    const auto found = std::ranges::find(color_map_names, name);
    if (found == color_map_names.end()) return std::nullopt;
    return static_cast<ColorMap>(found - color_map_names.begin());
}

std::string present_field(const std::string& name) {
    constexpr std::string_view old = "fibre tension", now = "fiber tension";
    return name.starts_with(old) ? std::string(now) + name.substr(old.size()) : name;
}

ColorLook ColorLook::of(const document::Document& document) {
    ColorLook look;
    const Node* const view = document.find("/view");
    if (view == nullptr) return look;
    check_view(*view);
    if (const Node* const by = view->find("color_by")) look.by = present_field(by->string());
    if (const Node* const range = view->find("color_range")) {
        if (range->is_array()) {
            const std::vector<double> ends = document::numbers_of(*range, 2);
            look.range = Range::hand;
            look.ends = {ends[0], ends[1]};
        } else {
            look.range = range->string() == "frame" ? Range::frame : Range::run;
        }
    }
    if (const Node* const scale = view->find("color_scale"))
        look.logarithmic = scale->string() == "log";
    if (const Node* const map = view->find("color_map")) look.map = color_map_named(map->string());
    return look;
}

Node ColorLook::in_view_of(const document::Document& document) const {
    const Node* const old = document.find("/view");
    Node view = old != nullptr ? *old : Node::object();
    // Defaults are left out.
    const auto say = [&](const char* key, bool wanted, Node value) {
        if (wanted)
            view.set(key, std::move(value));
        else
            view.erase(key);
    };
    say("color_by", !by.empty(), Node(by));
    say("color_range", range != Range::run,
        range == Range::hand ? Node::array({Node(ends[0]), Node(ends[1])}) : Node("frame"));
    say("color_scale", logarithmic, Node("log"));
    say("color_map", map.has_value(), Node(map ? name_of(*map) : ""));
    return view;
}

ColorMap ColorLook::map_for(const ViewSnapshot& now) const {
    if (map) return *map;
    const auto shown = std::ranges::find(now.colors, by, &ShownField::name);
    const bool has_sign = shown != now.colors.end() && shown->gradient && !shown->length;
    const std::array<double, 2>* const run = range_of_run(*this, now);
    const bool both = run != nullptr && (*run)[0] < 0 && (*run)[1] > 0;
    return has_sign || both ? ColorMap::coolwarm : ColorMap::viridis;
}

void ColorLook::apply(render::View& view, const ViewSnapshot& now) const {
    view.map = map_for(now);
    view.symmetric = render::is_diverging(view.map);
    view.log_colors = logarithmic;
    view.range.reset();
    if (range == Range::hand) view.range = ends;
    const std::array<double, 2>* const run = range_of_run(*this, now);
    if (range != Range::run || run == nullptr) return;
    view.range = *run;
    if (!view.symmetric) return;
    const double most = std::max(std::abs((*run)[0]), std::abs((*run)[1]));
    view.range = std::array{-most, most};
}

bool ColorLook::is_settled(const ViewSnapshot& now) const {
    return range != Range::run ||
           (now.color_range ? now.color_range->color == by && now.color_range->complete
                            : by.empty());
}

std::string ColorLook::words(const ViewSnapshot& now) const {
    switch (range) {
        case Range::hand: return ends_are;
        case Range::frame: return "of this moment";
        case Range::run: break;
    }
    const auto& of_run = now.color_range;
    if (!of_run || range_of_run(*this, now) == nullptr) return "of this moment";
    return of_run->complete ? "of the whole run" : "of the run so far";
}

}  // namespace hindcast::session
