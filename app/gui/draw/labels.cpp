#include "app/gui/draw/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/handles.hpp"
#include "app/gui/work/workspace.hpp"
#include "app/render/colour_map.hpp"
#include "app/render/renderer.hpp"

namespace hindcast::gui {

namespace {

// A text on a plate of the theme's background, so that it is readable on any picture.
void plate(ImVec2 from, const std::string& text) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    ImVec4 back = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
    back.w = 0.7F;
    list->AddRectFilled({from.x - px(4), from.y - px(1)},
                        {from.x + size.x + px(4), from.y + size.y + px(1)},
                        ImGui::GetColorU32(back), px(3));
    list->AddText(from, ImGui::GetColorU32(ImGuiCol_Text), text.c_str());
}

}  // namespace

std::vector<PlacedName> names_in(render::Renderer& renderer, const render::Stage& stage,
                                 const document::Document& document, const Registry& registry) {
    using Kind = render::Drawable::Kind;
    std::vector<PlacedName> names;
    const std::optional<render::Frame>& frame = renderer.frame();
    std::vector<int> bodies;
    for (std::size_t k = 0; frame && k < stage.drawables.size(); ++k) {
        const render::Drawable& drawable = stage.drawables[k];
        if (drawable.ghost || drawable.name.empty()) continue;
        if (drawable.kind == Kind::points || drawable.kind == Kind::surface)
            bodies.push_back(static_cast<int>(k));
        if ((drawable.kind != Kind::ball && drawable.kind != Kind::solid &&
             drawable.kind != Kind::markers) ||
            k >= frame->numbers.size() || frame->numbers[k].size() < 3)
            continue;
        const std::vector<double>& of = frame->numbers[k];
        names.push_back({{of[0], of[1], of[2]}, drawable.name});
    }
    const auto has_name = [&](const std::string& name) {
        return std::ranges::find(names, name, &PlacedName::text) != names.end();
    };
    const std::vector<std::optional<render::Bounds>> boxes = renderer.bounds_of_each(bodies);
    for (std::size_t k = 0; k < bodies.size(); ++k) {
        const std::string& name = stage.drawables[static_cast<std::size_t>(bodies[k])].name;
        const std::optional<render::Bounds>& box = boxes[k];
        if (!box || has_name(name)) continue;
        PlacedName placed{{}, name};
        for (std::size_t c = 0; c < 3; ++c) placed.place[c] = (box->low[c] + box->high[c]) / 2;
        names.push_back(placed);
    }
    for (const model::Section section : {model::Section::bodies, model::Section::objective}) {
        const document::Node* const list =
            document.find(std::string("/") + model::name_of(section));
        for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) {
            const std::string pointer = fmt::format("/{}/{}", model::name_of(section), k);
            const std::string name = object_name(document, pointer);
            if (name.empty() || has_name(name)) continue;
            const Handles handles = handles_of(document, registry, pointer, {}, stage.dimension);
            if (!handles.all.empty()) names.push_back({handles.all.front().centre, name});
        }
    }
    return names;
}

std::string colour_title(const std::vector<session::ShownField>& fields, const std::string& name) {
    const auto field = std::ranges::find(fields, name, &session::ShownField::name);
    if (field == fields.end()) return name;
    const std::string title = field->length ? "|" + name + "|" : name;
    return field->unit.empty() ? title : fmt::format("{} ({})", title, field->unit);
}

std::string moment_text(double seconds, double duration) {
    struct Unit {
        const char* name;
        double seconds;
    };
    // Three decimals of the unit tell at least a hundredth of the whole apart.
    static constexpr Unit units[] = {{"s", 1}, {"ms", 1e-3}, {"\u00b5s", 1e-6}, {"ns", 1e-9}};
    const Unit* unit = &units[0];
    while (duration > 0 && duration < 0.1 * unit->seconds && unit != std::end(units) - 1) ++unit;
    return fmt::format("{:.3f} {}", seconds / unit->seconds, unit->name);
}

std::string time_text(double seconds, std::int64_t iteration, double duration) {
    const std::string moment = moment_text(seconds, duration);
    return iteration >= 0 ? fmt::format("{}, iteration {}", moment, iteration) : moment;
}

void draw_names(ImVec2 at, int width, int height, const render::Camera& camera,
                const std::vector<PlacedName>& names) {
    struct Box {
        ImVec2 low, high;
    };
    std::vector<Box> taken;
    for (const PlacedName& name : names) {
        const auto place = render::project(camera, name.place, width, height);
        if (!place) continue;
        const ImVec2 size = ImGui::CalcTextSize(name.text.c_str());
        const ImVec2 point{at.x + static_cast<float>((*place)[0]),
                           at.y + static_cast<float>((*place)[1])};
        // Right above its place or, where a name stands there already, beside, below, further away.
        ImVec2 chosen{};
        const float step = size.y + px(4);
        for (int k = 0; k < 12; ++k) {
            const int pair = k / 2;
            const auto row = static_cast<float>(pair);
            const float down = k % 4 < 2 ? -step * (row / 2 + 1) : px(4) + step * ((row - 1) / 2);
            const float right = k % 2 == 0 ? px(8) : -px(8) - size.x;
            const ImVec2 from{std::floor(point.x + right), std::floor(point.y + down)};
            if (k == 0) chosen = from;
            const Box box{{from.x - px(4), from.y - px(1)},
                          {from.x + size.x + px(4), from.y + size.y + px(1)}};
            const bool free = std::ranges::none_of(taken, [&](const Box& other) {
                return box.low.x < other.high.x && other.low.x < box.high.x &&
                       box.low.y < other.high.y && other.low.y < box.high.y;
            });
            if (!free) continue;
            chosen = from;
            taken.push_back(box);
            break;
        }
        plate(chosen, name.text);
    }
}

BarPlace draw_colour_bar(ImVec2 at, int width, int height, const ColourBar& bar) {
    if (static_cast<float>(height) < px(190)) return {};
    const float tall = std::min(px(170), static_cast<float>(height) - px(90)), thick = px(12);
    const ImVec2 top{at.x + static_cast<float>(width) - px(24) - thick, at.y + px(34)};
    ImDrawList* const list = ImGui::GetWindowDrawList();
    constexpr int parts = 32;
    const bool one = bar.range[0] == bar.range[1];  // has the colour in the middle
    const auto colour = [&](int part) {
        const render::Colour c =
            render::colour_at(bar.map, one ? 0.5 : 1 - static_cast<double>(part) / parts);
        return ImGui::ColorConvertFloat4ToU32({c[0], c[1], c[2], 1});
    };
    for (int k = 0; k < parts; ++k) {
        const float y0 = top.y + tall * static_cast<float>(k) / parts;
        const float y1 = top.y + tall * static_cast<float>(k + 1) / parts;
        list->AddRectFilledMultiColor({top.x, y0}, {top.x + thick, y1}, colour(k), colour(k),
                                      colour(k + 1), colour(k + 1));
    }
    list->AddRect(top, {top.x + thick, top.y + tall}, ImGui::GetColorU32(ImGuiCol_Border));
    const auto text = [&](const std::string& words, float y) {
        const ImVec2 size = ImGui::CalcTextSize(words.c_str());
        list->AddText({top.x - size.x - px(6), y - size.y / 2}, ImGui::GetColorU32(ImGuiCol_Text),
                      words.c_str());
    };
    if (one) {
        text(fmt::format("all {}", number_text(bar.range[0], 3)), top.y + tall / 2);
    } else {
        text(number_text(bar.range[1], 3), top.y + px(2));
        text(number_text((bar.range[0] + bar.range[1]) / 2, 3), top.y + tall / 2);
        text(number_text(bar.range[0], 3), top.y + tall - px(2));
    }
    const ImVec2 size = ImGui::CalcTextSize(bar.title.c_str());
    list->AddText({top.x + thick - size.x, top.y - size.y - px(8)},
                  ImGui::GetColorU32(ImGuiCol_Text), bar.title.c_str());
    return {top, {thick, tall}};
}

void draw_time(ImVec2 at, int height, const std::string& text) {
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    plate({at.x + px(14), at.y + static_cast<float>(height) - size.y - px(12)}, text);
}

}  // namespace hindcast::gui
