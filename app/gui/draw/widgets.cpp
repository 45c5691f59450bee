#include "app/gui/draw/widgets.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include "app/gui/draw/words.hpp"
#include "app/session/document/editor.hpp"

namespace hindcast::gui {

namespace {

Style the_style;  // of the one frame that is being drawn

// The field that is being typed into.
struct Typing {
    ImGuiID id = 0;
    std::string text, fault;
    bool fresh = false;
};
Typing typing;

// The field that is being dragged. It shows where the mouse has brought it: the value that the
// caller shows may come from a simulation that is not there yet.
struct Dragging {
    ImGuiID id = 0;
    double place = 0;  // in and out of the drag: not rounded, of a logarithmic field its logarithm
    bool moved = false;
};
Dragging dragging;

}  // namespace

const Style& style() { return the_style; }
void set_style(const Theme* theme) { the_style.theme = theme; }
float px(float length) { return std::floor(length * the_style.scale() + 0.5F); }

float right_edge() { return ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x; }

void tip(const std::string& text) {
    if (text.empty() ||
        !ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled))
        return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 24);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

void quiet_text(const std::string& text) {
    ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopStyleColor();
}

void wrapped_text(const std::string& text, const ImVec4& color) {
    ImGui::PushStyleColor(ImGuiCol_Text, color);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
}

Typed name_field(const char* id, std::string& name, bool& fresh, const std::string& tooltip) {
    if (fresh) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-FLT_MIN);
    const bool entered = ImGui::InputText(
        id, &name, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    tip(tooltip);
    const bool left = !std::exchange(fresh, false) && ImGui::IsItemDeactivated();
    return entered ? Typed::entered : left ? Typed::left : Typed::goes_on;
}

bool begin_modal(const char* id, float width) {
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.45F});
    ImGui::SetNextWindowSize({width, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(18), px(14)});
    const bool open = ImGui::BeginPopupModal(id, nullptr,
                                             ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                                 ImGuiWindowFlags_NoSavedSettings |
                                                 ImGuiWindowFlags_AlwaysAutoResize);
    ImGui::PopStyleVar();
    return open;
}

void heading(const char* text) {
    ImGui::Spacing();
    ImGui::PushFont(style().fonts().bold, 0);
    ImGui::TextUnformatted(text);
    ImGui::PopFont();
}

void beside(float width, float spacing) {
    ImGui::SameLine(0, px(spacing));
    if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

std::string cut_to(const std::string& text, float width) {
    const auto wide = [](const std::string& t) { return ImGui::CalcTextSize(t.c_str()).x; };
    if (wide(text) <= width) return text;
    // The first byte of each character: the text may be cut there.
    std::vector<std::size_t> begins;
    for (std::size_t k = 0; k < text.size(); ++k)
        if ((static_cast<unsigned char>(text[k]) & 0xC0U) != 0x80U) begins.push_back(k);
    begins.push_back(text.size());
    const std::size_t count = begins.size() - 1;
    const auto with = [&](std::size_t kept) {
        const std::size_t front = (kept + 1) / 2, back = kept / 2;
        return text.substr(0, begins[front]) + "\u2026" + text.substr(begins[count - back]);
    };
    std::size_t low = 0, high = count > 0 ? count - 1 : 0;
    while (low < high) {
        const std::size_t middle = (low + high + 1) / 2;
        if (wide(with(middle)) <= width)
            low = middle;
        else
            high = middle - 1;
    }
    return with(low);
}

void cut_text(const std::string& text, float width) {
    const std::string cut = cut_to(text, width);
    ImGui::TextUnformatted(cut.c_str());
    if (cut != text) tip(text);
}

std::string label_of(const std::string& identifier) {
    static const std::map<std::string, std::string> special = {{"lbfgs", "L-BFGS"},
                                                               {"newton_cg", "Newton-CG"},
                                                               {"bdf2", "BDF2"},
                                                               {"mpm_grid", "MPM grid"},
                                                               {"quasi_static", "quasi-static"},
                                                               {"mjcf", "MJCF"},
                                                               {"urdf", "URDF"},
                                                               {"adam", "Adam"}};
    if (const auto found = special.find(identifier); found != special.end()) return found->second;
    std::string text = identifier;
    std::ranges::replace(text, '_', ' ');
    return text;
}

std::string path_label(const std::string& path) {
    const std::size_t dot = path.find('.');
    if (dot == std::string::npos) return path;
    std::string text = path;
    bool inside = false;  // names of elements stay
    for (std::size_t k = dot; k < text.size(); ++k) {
        inside = text[k] == '[' || (inside && text[k] != ']');
        if (text[k] == '_' && !inside) text[k] = ' ';
    }
    return text;
}

void table_headers(std::span<const char* const> helps) {
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers, ImGui::TableGetHeaderRowHeight());
    for (int column = 0; column < ImGui::TableGetColumnCount(); ++column) {
        if (!ImGui::TableSetColumnIndex(column)) continue;
        ImGui::PushID(column);
        ImGui::TableHeader(ImGui::TableGetColumnName(column));
        tip(static_cast<std::size_t>(column) < helps.size()
                ? helps[static_cast<std::size_t>(column)]
                : "");
        ImGui::PopID();
    }
}

bool icon_button(const char* id, const char* icon, const std::string& tooltip, bool enabled,
                 bool pressed) {
    const float side = ImGui::GetFrameHeight();
    ImGui::BeginDisabled(!enabled);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, ImGui::GetStyle().FramePadding.y});
    ImGui::PushStyleColor(ImGuiCol_Button, pressed ? ImGui::GetStyleColorVec4(ImGuiCol_HeaderActive)
                                                   : ImVec4(0, 0, 0, 0));
    const bool clicked =
        ImGui::Button(fmt::format("{}##{}", icon, id).c_str(), {side + px(4), side});
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    ImGui::EndDisabled();
    tip(tooltip);
    return clicked;
}

void popup_below() {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImGui::SetNextWindowPos({low.x, high.y + px(2)}, ImGuiCond_Appearing);
}

bool text_button(const char* icon, const std::string& label, const std::string& tooltip,
                 bool enabled, bool strong, float width) {
    ImGui::BeginDisabled(!enabled);
    if (strong) {
        ImVec4 accent = style().palette().accent;
        ImGui::PushStyleColor(ImGuiCol_Button, accent);
        accent.w = 0.85F;
        ImGui::PushStyleColor(ImGuiCol_ButtonHovered, accent);
        ImGui::PushStyleColor(ImGuiCol_ButtonActive, accent);
        ImGui::PushStyleColor(ImGuiCol_Text, style().theme->dark() ? ImVec4(0.05F, 0.07F, 0.1F, 1)
                                                                   : ImVec4(1, 1, 1, 1));
    }
    const std::string text =
        icon != nullptr ? fmt::format("{} {}###{}", icon, label, label) : label;
    const bool clicked = ImGui::Button(text.c_str(), {width, 0});
    if (strong) ImGui::PopStyleColor(4);
    ImGui::EndDisabled();
    tip(tooltip);
    return clicked;
}

void empty_state(const char* icon, const std::string& text, const std::string& hint) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float width = std::min(room.x - px(8), px(300));
    const float lines = ImGui::CalcTextSize(hint.c_str(), nullptr, false, width).y;
    const float height = ImGui::GetTextLineHeight() * 3.4F + lines;
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + std::max((room.y - height) * 0.42F, px(4)));
    const auto centered = [&](const char* words) {
        const float w = ImGui::CalcTextSize(words, nullptr, false, width).x;
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max((room.x - w) / 2, 0.0F));
    };
    ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
    ImGui::PushFont(nullptr, font_size * 1.7F);
    centered(icon);
    ImGui::TextUnformatted(icon);
    ImGui::PopFont();
    ImGui::PopStyleColor();
    centered(text.c_str());
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
    centered(hint.c_str());
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
    ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
    ImGui::TextUnformatted(hint.c_str());
    ImGui::PopStyleColor();
    ImGui::PopTextWrapPos();
}

namespace {

Edited type_into(const char* id, NumberField& field) {
    Edited result = Edited::no;
    if (typing.fresh) ImGui::SetKeyboardFocusHere();
    const bool faulty = !typing.fault.empty();
    if (faulty) {
        ImGui::PushStyleColor(ImGuiCol_Border, style().palette().bad);
        ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
    }
    const bool entered = ImGui::InputText(
        id, &typing.text, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    if (faulty) {
        ImGui::PopStyleVar();
        ImGui::PopStyleColor();
        ImGui::SetItemTooltip("%s", typing.fault.c_str());
    }
    const bool left = !typing.fresh && ImGui::IsItemDeactivated();
    typing.fresh = false;
    const bool canceled = ImGui::IsKeyPressed(ImGuiKey_Escape, false);
    if (entered || (left && !canceled)) {
        try {
            double value = session::number_of_input(typing.text, field.unit);
            if (field.whole) value = std::round(value);
            if (value < field.low || value > field.high)
                throw Error(fmt::format("{} is not between {} and {}", number_text(value),
                                        number_text(field.low), number_text(field.high)))
                    .remedy("write a number in this range");
            result = value != field.value ? Edited::done : Edited::no;
            field.value = value;
            typing = {};
        } catch (const Error& error) {
            typing.fault = error.what();
            if (entered)
                typing.fresh = true;  // it stays open, with the fault as its tooltip
            else
                typing = {};
        }
    } else if (left) {
        typing = {};
    }
    return result;
}

}  // namespace

Edited number_field(const char* id, NumberField& field) {
    const float width = field.width > 0 ? field.width : ImGui::GetContentRegionAvail().x;
    ImGui::SetNextItemWidth(width);
    const ImGuiID own = ImGui::GetID(id);
    if (typing.id == own) return type_into(id, field);

    const bool logarithmic = field.logarithmic;
    const auto on_drag = [&](double x) { return logarithmic ? std::log10(x) : x; };
    const auto value_at = [&](double place) {
        const double value = logarithmic ? std::pow(10, place) : place;
        return field.whole ? std::round(value) : value;
    };
    const bool goes_on = dragging.id == own && ImGui::GetActiveID() == own;
    if (goes_on && dragging.moved) field.value = value_at(dragging.place);
    const std::string shown =
        !field.shown.empty() ? field.shown
        : field.mixed        ? "-"
        : field.whole        ? fmt::format("{:.0f}", field.value)
                      : number_text(field.value, 6) + (field.unit.empty() ? "" : " " + field.unit);
    // A number that has no room for its digits is shown with fewer, one with no room for its unit
    // without it; the tooltip has all.
    const float room = width - 2 * ImGui::GetStyle().FramePadding.x;
    const auto wide = [](const std::string& t) { return ImGui::CalcTextSize(t.c_str()).x; };
    std::string fitting = shown;
    if (field.shown.empty() && !field.mixed && !field.whole)
        for (int digits = 5; digits > 1 && wide(fitting) > room; --digits)
            fitting = number_text(field.value, digits) +
                      (field.unit.empty() || digits < 3 ? "" : " " + field.unit);
    fitting = cut_to(fitting, room);
    // ImGui formats with printf: what is shown is literal text.
    std::string format;
    for (const char c : fitting) format += c == '%' ? std::string("%%") : std::string(1, c);
    double dragged =
        goes_on ? dragging.place : on_drag(std::clamp(field.value, field.low, field.high));
    const double low_end = on_drag(field.low), high_end = on_drag(field.high);
    const bool bounded = std::isfinite(low_end) && std::isfinite(high_end);
    const double reach = bounded            ? (high_end - low_end) / 300
                         : field.value != 0 ? std::abs(field.value) / 200
                                            : 0.01;
    const auto speed = static_cast<float>(field.whole ? std::max(reach, 0.1) : reach);
    const bool moved = ImGui::DragScalar(
        id, ImGuiDataType_Double, &dragged, speed, &low_end, &high_end, format.c_str(),
        ImGuiSliderFlags_NoInput | ImGuiSliderFlags_NoRoundToFormat | ImGuiSliderFlags_AlwaysClamp);
    // The drag marks a bounded value by how far it is along its range.
    if (bounded && high_end > low_end && !field.mixed) {
        const auto part =
            static_cast<float>(std::clamp((dragged - low_end) / (high_end - low_end), 0.0, 1.0));
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        ImVec4 color = style().palette().accent;
        color.w = 0.7F;
        ImGui::GetWindowDrawList()->AddRectFilled({low.x, high.y - px(2)},
                                                  {low.x + (high.x - low.x) * part, high.y},
                                                  ImGui::GetColorU32(color), px(1));
    }
    if (ImGui::IsItemActivated()) dragging = {own, dragged};
    const bool changed = moved && value_at(dragged) != field.value;
    if (moved) dragging.place = dragged;
    dragging.moved |= changed;
    const bool ended = ImGui::IsItemDeactivated();
    if (ended && !dragging.moved &&
        ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem)) {
        typing = {own,
                  field.whole ? fmt::format("{:.0f}", field.value) : fmt::format("{}", field.value),
                  "", true};
    }
    const bool was_dragged = ended && dragging.moved;
    if (changed) field.value = value_at(dragged);
    std::string help = fitting == shown ? "" : shown + "\n";
    help += field.tooltip;
    if (!help.empty()) help += "\n\n";
    help += "Drag sideways, or click and type";
    help += field.unit.empty() ? " a number or an expression."
                               : fmt::format("; {} unless another unit is typed.", field.unit);
    const bool above_zero = field.low == std::numeric_limits<double>::min();
    if (std::isfinite(field.low) && std::isfinite(field.high))
        help += fmt::format("\nFrom {} to {}.", above_zero ? "above 0" : number_text(field.low),
                            number_text(field.high));
    else if (std::isfinite(field.low))
        help += above_zero ? "\nGreater than 0." : "\nAt least " + number_text(field.low) + ".";
    else if (std::isfinite(field.high))
        help += "\nAt most " + number_text(field.high) + ".";
    tip(help);
    if (changed) return Edited::dragging;
    return was_dragged ? Edited::done : Edited::no;
}

bool choice(const char* id, const std::vector<std::string>& words, std::string& chosen,
            const std::string& tooltip, float width, const char* none,
            std::string (*shown)(const std::string&)) {
    bool changed = false;
    const float own = width > 0 ? width : ImGui::GetContentRegionAvail().x;
    ImGui::SetNextItemWidth(own);
    const auto label = [&](const std::string& word) { return shown ? shown(word) : word; };
    const std::string preview =
        !chosen.empty() ? label(chosen) : std::string(none != nullptr ? none : "choose");
    const std::string cut =
        cut_to(preview, own - ImGui::GetFrameHeight() - 2 * ImGui::GetStyle().FramePadding.x);
    if (ImGui::BeginCombo(id, cut.c_str())) {
        if (none != nullptr && ImGui::Selectable(none, chosen.empty())) {
            chosen.clear();
            changed = true;
        }
        for (const std::string& word : words) {
            const std::string text = label(word) == word ? word : label(word) + "###" + word;
            if (ImGui::Selectable(text.c_str(), word == chosen) && word != chosen) {
                chosen = word;
                changed = true;
            }
        }
        ImGui::EndCombo();
    }
    tip(cut != preview ? preview + "\n" + tooltip : tooltip);
    return changed;
}

bool search_field(const char* id, std::string& text, const char* hint) {
    ImGui::SetNextItemWidth(-FLT_MIN);
    const bool changed =
        ImGui::InputTextWithHint(id, hint, &text, ImGuiInputTextFlags_EscapeClearsAll);
    tip("Shows only what has these words in it");
    return changed;
}

bool matches(const std::string& text, const std::string& search) {
    const auto lower = [](std::string s) {
        std::ranges::transform(s, s.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return s;
    };
    const std::string whole = lower(text);
    std::istringstream words(lower(search));
    std::string word;
    while (words >> word)
        if (whole.find(word) == std::string::npos) return false;
    return true;
}

std::optional<double> plain_number(const document::Node& node) {
    if (node.is_integer()) return static_cast<double>(node.integer());
    if (node.is_real()) return node.real();
    if (node.is_string()) {
        const std::size_t slash = node.string().find('/');
        if (slash == std::string::npos) return std::nullopt;
        char* end = nullptr;
        const double top = std::strtod(node.string().c_str(), &end);
        if (end != node.string().c_str() + slash) return std::nullopt;
        const double bottom = std::strtod(node.string().c_str() + slash + 1, &end);
        if (*end != '\0' || bottom == 0) return std::nullopt;
        return top / bottom;
    }
    return std::nullopt;
}

}  // namespace hindcast::gui
