// One line of controls: a number, a word, a name, a formula, a file; and a few numbers side by side.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <limits>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/panels/fields/field_view.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/session/document/fields/formula_check.hpp"

namespace hindcast::gui {

namespace {

using document::Node;
using session::Form;
using session::FormKind;

constexpr std::size_t most_names_shown = 200;

// The lowest and highest number that a field takes.
std::pair<double, double> range_of(const Form& form) {
    const auto& range = form.range;
    const bool positive = range.low_open && range.low == 0;
    return {positive ? std::numeric_limits<double>::min() : range.low, range.high};
}

// The help of a field; one without help of its own says how to change it.
std::string said(const std::string& help, const Form& form) {
    if (!help.empty()) return help;
    if (!form.help.empty()) return form.help;
    switch (form.kind) {
        case FormKind::number:
        case FormKind::integer: return "A number: drag it, or double-click and type";
        case FormKind::choice: return "One of these words";
        case FormKind::boolean: return "On or off";
        default: return "A text";
    }
}

void draw_number(FieldPlace& place, const std::string& below, const Form& form,
                 const std::string& help, float width, bool bare) {
    const Node* const value = place.find(below);
    const std::optional<double> number = value != nullptr ? plain_number(*value) : std::nullopt;
    const auto [low, high] = range_of(form);
    NumberField field{.value = number.value_or(0),
                      .unit = form.unit,
                      .low = low,
                      .high = high,
                      .width = width,
                      .whole = form.kind == FormKind::integer,
                      .tooltip = help,
                      .mixed = !number};
    // A word that is no number yet is shown as it is.
    if (!number && value != nullptr && value->is_string()) field.shown = value->string();
    if (bare && number && !field.whole) field.shown = number_text(*number, 6);
    // A fraction is shown as it is written.
    if (number && value->is_string() && !bare)
        field.shown = value->string() + (form.unit.empty() ? "" : " " + form.unit);
    const Edited edited = number_field("##value", field);
    if (edited != Edited::no)
        place.put(below,
                  field.whole ? Node(static_cast<std::int64_t>(field.value)) : Node(field.value),
                  true);
    if (edited == Edited::done) place.end_drag();
}

// A popup of names; the chosen one, or "".
std::string choose_name(const std::vector<std::string>& names) {
    std::string chosen;
    if (icon_button(
            "names", icon::list,
            names.empty() ? "No names are known here" : "Choose among the names that there are",
            !names.empty()))
        ImGui::OpenPopup("names");
    if (ImGui::BeginPopup("names")) {
        for (std::size_t k = 0; k < std::min(names.size(), most_names_shown); ++k)
            if (ImGui::MenuItem(names[k].c_str())) chosen = names[k];
        if (names.size() > most_names_shown)
            quiet_text(fmt::format("and {} more", names.size() - most_names_shown));
        ImGui::EndPopup();
    }
    return chosen;
}

// `bare`: without an arrow, where there is little room.
bool choose_word(const std::vector<std::string>& words, std::string& chosen,
                 const std::string& help, float width, bool bare) {
    if (!bare) return choice("##value", words, chosen, help, width);
    bool changed = false;
    ImGui::SetNextItemWidth(width > 0 ? width : -FLT_MIN);
    if (ImGui::BeginCombo("##value", chosen.empty() ? "choose" : chosen.c_str(),
                          ImGuiComboFlags_NoArrowButton)) {
        for (const std::string& word : words)
            if (ImGui::Selectable(word.c_str(), word == chosen) && word != chosen) {
                chosen = word;
                changed = true;
            }
        ImGui::EndCombo();
    }
    tip(chosen + "\n" + help);
    return changed;
}

// A text that is taken over with Enter, or when the field is left.
std::optional<std::string> text_field(const std::string& shown, const char* hint, float width) {
    std::string text = shown;
    ImGui::SetNextItemWidth(width > 0 ? width : -FLT_MIN);
    ImGui::InputTextWithHint("##value", hint, &text);
    if (!ImGui::IsItemDeactivatedAfterEdit() || text == shown) return std::nullopt;
    return text;
}

void draw_formula(FieldPlace& place, const std::string& below, const std::string& help,
                  float width) {
    const Node* const value = place.find(below);
    const std::string written = value == nullptr     ? ""
                                : value->is_string() ? value->string()
                                                     : document::to_line(*value);
    std::string text = written;
    const bool was_typed = ImGui::GetActiveID() == ImGui::GetID("##value");
    ImGui::SetNextItemWidth(width > 0 ? width : -FLT_MIN);
    ImGui::PushFont(style().fonts().fixed, 0);
    ImGui::InputTextWithHint("##value", "sin(3*x) + 0.1*i", &text);
    ImGui::PopFont();
    const bool left = ImGui::IsItemDeactivatedAfterEdit();
    tip(help + (help.empty() ? "" : "\n\n") + session::formula_names());
    if (const std::string fault = session::formula_fault(text);
        !fault.empty() && (was_typed || !written.empty()))
        wrapped_text(fault, style().palette().bad);
    if (left && text != written) place.put(below, Node(text));
}

void draw_file(FieldPlace& place, const std::string& below, const Form& form,
               const std::string& help, float width) {
    const Node* const value = place.find(below);
    const std::string shown = value != nullptr && value->is_string() ? value->string() : "";
    const float side = ImGui::GetFrameHeight() + px(4);
    const float room = width > 0 ? width : ImGui::GetContentRegionAvail().x;
    if (const auto text = text_field(shown, "no file yet", room - side - px(4)))
        place.put(below, Node(*text));
    tip((shown.empty() ? "" : shown + "\n") + help);
    ImGui::SameLine(0, px(4));
    const auto later = [&work = place.work(), pointer = place.pointer() + below,
                        undo = place.undo()](const std::string& name) {
        work.scene.set(pointer, Node(name), undo);
    };
    if (const std::string chosen = choose_file(place, form, later); !chosen.empty())
        place.put(below, Node(chosen));
}

void draw_text(FieldPlace& place, const std::string& below, const Form& form,
               const std::string& help, float width) {
    const Node* const value = place.find(below);
    const std::string shown = value == nullptr     ? ""
                              : value->is_string() ? value->string()
                                                   : document::to_line(*value);
    const auto node_of = [&](const std::string& text) {
        const bool digits = !text.empty() && text.size() < 18 &&
                            text.find_first_not_of("0123456789") == std::string::npos;
        return form.kind == FormKind::element && digits ? Node(std::int64_t{std::stoll(text)})
                                                        : Node(text);
    };
    const std::vector<std::string> names =
        form.means.empty() ? std::vector<std::string>() : place.names_for(form);
    const float side = names.empty() ? 0 : ImGui::GetFrameHeight() + px(4);
    const float room = width > 0 ? width : ImGui::GetContentRegionAvail().x;
    const auto text = text_field(shown, "", room - (side > 0 ? side + px(4) : 0));
    tip(help + "\nEnter takes it over");
    if (text) place.put(below, node_of(*text));
    if (names.empty()) return;
    ImGui::SameLine(0, px(4));
    if (const std::string chosen = choose_name(names); !chosen.empty())
        place.put(below, node_of(chosen));
}

}  // namespace

void draw_scalar(FieldPlace& place, const std::string& below, const Form& form,
                 const std::string& own_help, float width, bool bare) {
    const Node* const value = place.find(below);
    const std::string help = said(own_help, form);
    switch (form.kind) {
        case FormKind::number:
        case FormKind::integer: return draw_number(place, below, form, help, width, bare);
        case FormKind::boolean: {
            bool on = value != nullptr && value->is_boolean() && value->boolean();
            if (ImGui::Checkbox("##value", &on)) place.put(below, Node(on));
            tip(help);
            return;
        }
        case FormKind::choice: {
            std::vector<std::string> words;
            std::string chosen;
            for (const Node& v : form.values) {
                words.push_back(v.is_string() ? session::in_words(v.string())
                                              : document::to_line(v));
                if (value != nullptr && *value == v) chosen = words.back();
            }
            if (!choose_word(words, chosen, help, width, bare)) return;
            const auto at = std::ranges::find(words, chosen) - words.begin();
            place.put(below, form.values[static_cast<std::size_t>(at)]);
            return;
        }
        case FormKind::text:
        case FormKind::element:
            if (form.means == "body") {
                std::string chosen = value != nullptr && value->is_string() ? value->string() : "";
                if (choose_word(place.names_for(form), chosen, help, width, bare))
                    place.put(below, Node(chosen));
                return;
            }
            if (form.means == "formula") return draw_formula(place, below, help, width);
            if (form.means == "file") return draw_file(place, below, form, help, width);
            return draw_text(place, below, form, help, width);
        default: return;
    }
}

// Side by side if they can be read, else one below the other.
void draw_vector(FieldPlace& place, const std::string& below, const Form& form,
                 const std::string& help, float keep) {
    const Node* const value = place.find(below);
    const bool written = value != nullptr && value->is_array();
    const Node made = written ? *value : session::blank(form, place.surroundings());
    const std::size_t count = made.size();
    const bool resizes = form.least != form.most && form.means == "counts";
    const float start = ImGui::GetCursorPosX();
    const float side = keep + (resizes ? 2 * (ImGui::GetFrameHeight() + px(4)) : 0);
    const float room = ImGui::GetContentRegionAvail().x - side;
    // Up to three stand in one line, if short numbers can be read there.
    const float narrow = ImGui::CalcTextSize(count <= 3 ? "-0.88" : "-8.888").x + px(6);
    const auto columns = static_cast<std::size_t>(
        std::clamp(room / (narrow + px(3)), 1.0F, std::max(1.0F, static_cast<float>(count))));
    const float width = room / static_cast<float>(columns) - px(3);
    for (std::size_t k = 0; k < count; ++k) {
        ImGui::PushID(static_cast<int>(k));
        if (k % columns != 0)
            ImGui::SameLine(0, px(3));
        else if (k > 0)
            ImGui::SetCursorPosX(start);
        if (written) {
            draw_scalar(place, fmt::format("{}/{}", below, k), form.parts[0], help, width, true);
        } else {
            // The first edit writes all of them.
            NumberField field{.value = plain_number(made.item(k)).value_or(0),
                              .unit = form.parts[0].unit,
                              .low = range_of(form.parts[0]).first,
                              .high = range_of(form.parts[0]).second,
                              .width = width,
                              .whole = form.parts[0].kind == FormKind::integer,
                              .tooltip = said(help, form.parts[0]),
                              .mixed = true};
            if (number_field("##value", field) != Edited::no) {
                Node fresh = made;
                fresh.item(k) =
                    field.whole ? Node(static_cast<std::int64_t>(field.value)) : Node(field.value);
                place.put(below, std::move(fresh));
            }
        }
        ImGui::PopID();
    }
    if (resizes && written) {
        ImGui::SameLine(0, px(4));
        Node fresh = made;
        if (icon_button("more", icon::add, "One more axis", count < form.most)) {
            fresh.push_back(fresh.item(count - 1));
            place.put(below, std::move(fresh));
        }
        ImGui::SameLine(0, px(2));
        if (icon_button("less", icon::close, "One axis less", count > form.least)) {
            Node fewer = made;
            fewer.erase(count - 1);
            place.put(below, std::move(fewer));
        }
    }
    if (const std::string text = session::count_text(form, made); written && !text.empty()) {
        ImGui::SetCursorPosX(start);
        quiet_text(text);
    }
}

}  // namespace hindcast::gui
