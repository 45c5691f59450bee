#include "app/gui/places/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/places/handles.hpp"
#include "app/render/color_map.hpp"
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
    const std::optional<render::Frame>& frame = renderer.frame();
    std::vector<PlacedName> names;
    if (frame) names = wanted_fields(stage, *frame);
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
            if (!handles.all.empty()) names.push_back({handles.all.front().center, name});
        }
    }
    return names;
}

std::vector<PlacedName> wanted_fields(const render::Stage& stage, const render::Frame& frame) {
    std::vector<PlacedName> names;
    for (std::size_t k = 0; k < stage.drawables.size(); ++k) {
        const render::Drawable& drawable = stage.drawables[k];
        if (drawable.kind != render::Drawable::Kind::field || drawable.origin == render::Vec3{})
            continue;
        const bool hidden = k < frame.numbers.size() && frame.numbers[k] == std::vector<double>{0};
        if (hidden) continue;
        render::Vec3 above = drawable.origin;
        above[1] += static_cast<double>(drawable.columns) * drawable.spacing;
        names.push_back({above, drawable.name});
    }
    return names;
}

std::string color_title(const std::vector<session::ShownField>& fields, const std::string& name) {
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

namespace {

// The colors of a bar, from its first number (`from`) to its last.
void fill_bar(const ColorBar& bar, ImVec2 from, ImVec2 to, bool upright) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    constexpr int parts = 32;
    const bool one = bar.range[0] == bar.range[1];  // has the color in the middle
    const auto color = [&](int part) {
        const render::Color c =
            render::color_at(bar.map, one ? 0.5 : static_cast<double>(part) / parts);
        return ImGui::ColorConvertFloat4ToU32({c[0], c[1], c[2], 1});
    };
    const auto at = [&](int part) {
        const float t = static_cast<float>(part) / parts;
        return ImVec2{from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t};
    };
    for (int k = 0; k < parts; ++k) {
        const ImVec2 a = at(k), b = at(k + 1);
        if (upright)  // the last number is above
            list->AddRectFilledMultiColor({from.x, b.y}, {to.x, a.y}, color(k + 1), color(k + 1),
                                          color(k), color(k));
        else
            list->AddRectFilledMultiColor({a.x, from.y}, {b.x, to.y}, color(k), color(k + 1),
                                          color(k + 1), color(k));
    }
    list->AddRect({from.x, std::min(from.y, to.y)}, {to.x, std::max(from.y, to.y)},
                  ImGui::GetColorU32(ImGuiCol_Border));
}

// The number whose color is at that part of the bar.
std::string bar_number(const ColorBar& bar, double part) {
    return number_text(render::number_at(bar.range, bar.logarithmic, part), 3);
}

// Title and words in one line, where the bar lies.
BarPlace lying_bar(ImVec2 at, int width, int height, const ColorBar& bar) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight(), thick = px(10);
    const float long_ = std::min(px(220), static_cast<float>(width) - px(28));
    const ImVec2 from{at.x + static_cast<float>(width) - px(14) - long_,
                      at.y + static_cast<float>(height) - px(10) - thick - line};
    if (long_ < px(60) || static_cast<float>(height) < thick + 2 * line + px(20)) return {};
    fill_bar(bar, from, {from.x + long_, from.y + thick}, false);
    const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text);
    const auto text = [&](const std::string& words, float x, float y) {
        list->AddText({x, y}, ink, words.c_str());
    };
    const auto wide = [](const std::string& words) { return ImGui::CalcTextSize(words.c_str()).x; };
    const float below = from.y + thick + px(2);
    if (bar.range[0] == bar.range[1]) {
        text("all " + number_text(bar.range[0], 3), from.x, below);
    } else {
        text(bar_number(bar, 0), from.x, below);
        text(bar_number(bar, 1), from.x + long_ - wide(bar_number(bar, 1)), below);
        const std::string words = bar.logarithmic ? bar.words + ", log" : bar.words;
        const float room =
            long_ - 2 * std::max(wide(bar_number(bar, 0)), wide(bar_number(bar, 1))) - px(12);
        if (wide(words) <= room)
            list->AddText({from.x + (long_ - wide(words)) / 2, below},
                          ImGui::GetColorU32(ImGuiCol_TextDisabled), words.c_str());
    }
    const std::string& title = bar.title;
    text(title, from.x + long_ - std::min(wide(title), long_), from.y - line - px(2));
    return {from, {long_, thick}};
}

}  // namespace

BarPlace draw_color_bar(ImVec2 at, int width, int height, const ColorBar& bar) {
    if (static_cast<float>(height) < px(190)) return lying_bar(at, width, height, bar);
    const float tall = std::min(px(170), static_cast<float>(height) - px(90)), thick = px(12);
    const ImVec2 top{at.x + static_cast<float>(width) - px(24) - thick, at.y + px(34)};
    ImDrawList* const list = ImGui::GetWindowDrawList();
    fill_bar(bar, {top.x, top.y + tall}, {top.x + thick, top.y}, true);
    const auto text = [&](const std::string& words, float y) {
        const ImVec2 size = ImGui::CalcTextSize(words.c_str());
        list->AddText({top.x - size.x - px(6), y - size.y / 2}, ImGui::GetColorU32(ImGuiCol_Text),
                      words.c_str());
    };
    if (bar.range[0] == bar.range[1]) {
        text(fmt::format("all {}", number_text(bar.range[0], 3)), top.y + tall / 2);
    } else {
        text(bar_number(bar, 1), top.y + px(2));
        text(bar_number(bar, 0.5), top.y + tall / 2);
        text(bar_number(bar, 0), top.y + tall - px(2));
    }
    const auto beside = [&](const std::string& words, float y, ImU32 ink) {
        const float wide = ImGui::CalcTextSize(words.c_str()).x;
        list->AddText({top.x + thick - wide, y}, ink, words.c_str());
    };
    beside(bar.title, top.y - ImGui::GetTextLineHeight() - px(8),
           ImGui::GetColorU32(ImGuiCol_Text));
    if (!bar.words.empty() || bar.logarithmic)
        beside(bar.logarithmic ? bar.words + (bar.words.empty() ? "log" : ", log") : bar.words,
               top.y + tall + px(6), ImGui::GetColorU32(ImGuiCol_TextDisabled));
    return {top, {thick, tall}};
}

void draw_time(ImVec2 at, int height, const std::string& text) {
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    plate({at.x + px(14), at.y + static_cast<float>(height) - size.y - px(12)}, text);
}

std::vector<PlacedDistance> distances_in(const std::vector<session::Distance>& distances,
                                         const render::Stage& stage, const render::Frame& frame,
                                         const session::PointPlaces& points, std::string& problem) {
    std::vector<PlacedDistance> placed;
    for (const session::Distance& distance : distances) {
        try {
            placed.push_back({session::place_of(distance.from, stage, frame, points),
                              session::place_of(distance.to, stage, frame, points)});
        } catch (const Error& error) {
            problem = error.what();
        }
    }
    return placed;
}

std::string distance_text(const PlacedDistance& distance) {
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += std::pow(distance.to[c] - distance.from[c], 2);
    return number_text(std::sqrt(sum), 4) + " m";
}

std::string way_text(const PlacedDistance& distance, int dimension) {
    std::string text;
    for (std::size_t c = 0; c < static_cast<std::size_t>(dimension); ++c)
        text += fmt::format("{}{} {}", c > 0 ? "  " : "", "xyz"[c],
                            number_text(distance.to[c] - distance.from[c], 4));
    return text;
}

void draw_distances(ImVec2 at, int width, int height, const render::Camera& camera,
                    const std::vector<PlacedDistance>& distances, int dimension) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const auto pixel = [&](const render::Vec3& place) -> std::optional<ImVec2> {
        const auto p = render::project(camera, place, width, height);
        if (!p) return std::nullopt;
        return ImVec2{at.x + static_cast<float>((*p)[0]), at.y + static_cast<float>((*p)[1])};
    };
    const auto line = [&](const render::Vec3& a, const render::Vec3& b, ImU32 color, float thick) {
        const auto p = pixel(a), q = pixel(b);
        if (p && q) list->AddLine(*p, *q, color, thick);
    };
    // As the axes of the gizmo.
    static constexpr std::array<ImU32, 3> axes{
        IM_COL32(214, 72, 72, 255), IM_COL32(72, 176, 84, 255), IM_COL32(80, 120, 230, 255)};
    const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text),
                border = ImGui::GetColorU32(ImGuiCol_WindowBg, 0.8F);
    list->PushClipRect(at, {at.x + static_cast<float>(width), at.y + static_cast<float>(height)},
                       true);
    for (const PlacedDistance& distance : distances) {
        render::Vec3 corner = distance.from;
        const std::size_t along = dimension == 3 ? 3 : 2;
        for (std::size_t c = 0; c < along; ++c) {
            render::Vec3 next = corner;
            next[c] = distance.to[c];
            line(corner, next, axes[c], px(1.5F));
            corner = next;
        }
        line(distance.from, distance.to, border, px(4));
        line(distance.from, distance.to, ink, px(2));
        render::Vec3 middle{};
        for (std::size_t c = 0; c < 3; ++c) middle[c] = (distance.from[c] + distance.to[c]) / 2;
        for (const render::Vec3* end : {&distance.from, &distance.to})
            if (const auto p = pixel(*end)) {
                list->AddCircleFilled(*p, px(4.5F), border);
                list->AddCircleFilled(*p, px(3), ink);
            }
        if (const auto p = pixel(middle)) {
            const std::string text = distance_text(distance) + "\n" + way_text(distance, dimension);
            const ImVec2 size = ImGui::CalcTextSize(text.c_str());
            plate({std::floor(p->x + px(10)), std::floor(p->y - size.y / 2)}, text);
        }
    }
    list->PopClipRect();
}

}  // namespace hindcast::gui
