// Names, alternatives, objects, and lists of such; single lines are in scalars.cpp, lists of
// numbers in sheet.cpp.
#include "app/gui/panels/fields/field_view.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/gestures.hpp"
#include "app/gui/work/edits/adding.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/topics.hpp"
#include "app/gui/work/values/handover.hpp"
#include "engine/document/text.hpp"

namespace hindcast::gui {

namespace {

using document::Node;
using session::Form;
using session::FormKind;

constexpr float member_part = 0.40F;  // of a line, for the names within an object
constexpr std::size_t most_blocks = 200;

std::string below_of(const std::string& below, const std::string& key) {
    return below + "/" + document::pointer_token(key);
}

// That one of the alternatives that the value has; null: none.
const Form* alternative(const Form& form, const Node* value) {
    if (value == nullptr || form.kind != FormKind::alternatives) return nullptr;
    const std::size_t which = session::alternative_of(form, *value).value_or(form.parts.size());
    return which < form.parts.size() ? &form.parts[which] : nullptr;
}

// The name of a line; the cursor then stands where its value begins.
void line_label(const std::string& label, const std::string& help, float part) {
    const float start = ImGui::GetCursorPosX(), column = label_width(part);
    ImGui::AlignTextToFramePadding();
    cut_text(label, column - px(8));
    tip(help);
    ImGui::SameLine(start + column);
}

std::string count_of(const Node* value, const char* one, const char* many) {
    const std::size_t count = value != nullptr ? value->size() : 0;
    if (value == nullptr) return "not set";
    return count == 0 ? "none" : fmt::format("{} {}", count, count == 1 ? one : many);
}

bool folded(const std::string& text, const std::string& help, bool open_first = false) {
    const bool open =
        ImGui::TreeNodeEx("###fold",
                          ImGuiTreeNodeFlags_SpanAvailWidth | ImGuiTreeNodeFlags_NoTreePushOnOpen |
                              (open_first ? ImGuiTreeNodeFlags_DefaultOpen : 0),
                          "%s", text.c_str());
    tip(help);
    return open;
}

// The choice among keys that exclude each other, then the value of the chosen key.
void draw_exclusive(FieldPlace& place, const std::string& below, const Form& form,
                    const Form::Exclusive& group) {
    std::string chosen, all;
    std::vector<std::string> words;
    for (const std::string& key : group.keys) {
        words.push_back(session::in_words(key));
        all += (all.empty() ? "" : " or ") + words.back();
        if (place.find(below_of(below, key)) != nullptr) chosen = words.back();
    }
    const std::string before = chosen;
    ImGui::PushID(all.c_str());
    line_label(all, "Only one of them is written", member_part);
    if (choice("##which", words, chosen, "Only one of them is written", 0,
               group.needed ? nullptr : "not set")) {
        const Node* const object = place.find(below);
        Node fresh = object != nullptr ? *object : Node::object();
        Node old;
        for (std::size_t k = 0; k < words.size(); ++k)
            if (words[k] == before) {
                old = *fresh.find(group.keys[k]);
                fresh.erase(group.keys[k]);
            }
        for (std::size_t k = 0; k < words.size(); ++k)
            if (const Form* const part = form.member(group.keys[k]);
                part != nullptr && words[k] == chosen)
                fresh.set(group.keys[k], session::converted(*part, old, place.surroundings()));
        place.put(below, std::move(fresh));
    } else {
        for (std::size_t k = 0; k < words.size(); ++k)
            if (const Form* const part = form.member(group.keys[k]);
                part != nullptr && words[k] == chosen) {
                ImGui::PushID(group.keys[k].c_str());
                draw_block(place, below_of(below, group.keys[k]), *part, part->help);
                ImGui::PopID();
            }
    }
    ImGui::PopID();
}

void draw_members(FieldPlace& place, const std::string& below, const Form& form) {
    for (std::size_t k = 0; k < form.keys.size(); ++k) {
        const std::string& key = form.keys[k];
        const auto group = std::ranges::find_if(form.exclusive, [&](const Form::Exclusive& g) {
            return std::ranges::find(g.keys, key) != g.keys.end();
        });
        if (group != form.exclusive.end()) {
            if (group->keys.front() == key) draw_exclusive(place, below, form, *group);
            continue;
        }
        const Form& part = form.parts[k];
        std::string help = part.help;
        if (!part.fallback.is_null())
            help += (help.empty() ? "" : "\n") + std::string("Default: ") +
                    document::to_line(part.fallback);
        if (!part.unit.empty()) help += "\nUnit: " + part.unit;
        ImGui::PushID(key.c_str());
        line_label(session::in_words(key), help, member_part);
        if (happens(Gesture::quantity_menu) && ImGui::IsItemHovered() && !form.required[k] &&
            place.find(below_of(below, key)) != nullptr)
            ImGui::OpenPopup("member");
        draw_value(place, below_of(below, key), part, help, !form.required[k]);
        if (ImGui::BeginPopup("member")) {
            if (ImGui::MenuItem("Leave it out")) place.erase(below_of(below, key));
            ImGui::EndPopup();
        }
        ImGui::PopID();
    }
}

// The label of one object in a list of objects: its first texts and numbers.
std::string summary(const Node& object) {
    std::string text;
    for (std::size_t k = 0; k < object.size() && text.size() < 60; ++k) {
        const Node& item = object.item(k);
        const std::string word = item.is_string() ? item.string() : document::to_line(item);
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

// A list of what is no number: each item by itself.
void draw_items(FieldPlace& place, const std::string& below, const Form& form,
                const std::string& help) {
    const Form& item = form.parts[0];
    const Node* const list = place.find(below);
    const std::size_t count = list != nullptr ? list->size() : 0;
    for (std::size_t k = 0; list != nullptr && k < std::min(count, most_blocks); ++k) {
        const std::string at = fmt::format("{}/{}", below, k);
        ImGui::PushID(static_cast<int>(k));
        const float side = ImGui::GetFrameHeight() + px(4);
        const float start = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x;
        bool open = true;
        if (item.kind == FormKind::object) {
            open = ImGui::TreeNodeEx("###item",
                                     ImGuiTreeNodeFlags_NoTreePushOnOpen |
                                         ImGuiTreeNodeFlags_AllowOverlap |
                                         ImGuiTreeNodeFlags_SpanAvailWidth,
                                     "%zu: %s", k, summary(list->item(k)).c_str());
            tip(help);
        } else {
            ImGui::AlignTextToFramePadding();
            quiet_text(std::to_string(k));
        }
        ImGui::SameLine(start + room - side + px(4));
        if (icon_button("remove", icon::close, "Takes it out of the list")) {
            place.erase(at);
            ImGui::PopID();
            return;
        }
        if (open) {
            ImGui::Indent(px(12));
            draw_block(place, at, item, help);
            ImGui::Unindent(px(12));
        }
        ImGui::PopID();
    }
    if (count > most_blocks) quiet_text(fmt::format("and {} more", count - most_blocks));
    if (text_button(icon::add, "Add", "Adds one to the list", count < form.most)) {
        Node next = count > 0 ? list->item(count - 1) : session::blank(item, place.surroundings());
        Node fresh = list != nullptr ? *list : Node::array();
        fresh.push_back(std::move(next));
        place.put(below, std::move(fresh));
    }
}

// Several words of a few: a box for each.
void draw_words(FieldPlace& place, const std::string& below, const Form& form,
                const std::string& help) {
    const Node* const list = place.find(below);
    const auto has = [&](const Node& word) {
        for (std::size_t j = 0; list != nullptr && j < list->size(); ++j)
            if (list->item(j) == word) return true;
        return list == nullptr;  // not written: all
    };
    const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
    const float start = ImGui::GetCursorPosX();
    const std::vector<Node>& words = form.parts[0].values;
    for (std::size_t k = 0; k < words.size(); ++k) {
        const std::string word =
            words[k].is_string() ? words[k].string() : document::to_line(words[k]);
        const float width = ImGui::CalcTextSize(session::in_words(word).c_str()).x +
                            ImGui::GetFrameHeight() + px(6);
        if (k > 0) {
            ImGui::SameLine(0, px(8));
            if (ImGui::GetCursorPosX() + width > right) {
                ImGui::NewLine();
                ImGui::SetCursorPosX(start);
            }
        }
        bool on = has(words[k]);
        if (ImGui::Checkbox(session::in_words(word).c_str(), &on)) {
            Node fresh = Node::array();
            for (std::size_t j = 0; j < words.size(); ++j)
                if (j == k ? on : has(words[j])) fresh.push_back(words[j]);
            if (fresh.size() > 0) place.put(below, std::move(fresh));
        }
        tip(help + "\nAt least one stays");
    }
}

void draw_by_name(FieldPlace& place, const std::string& below, const Form& form,
                  const std::string& help) {
    const Node* const object = place.find(below);
    const session::Surroundings around = place.surroundings();
    for (std::size_t k = 0; object != nullptr && k < object->size(); ++k) {
        const std::string& name = object->key(k);
        const std::string at = below_of(below, name);
        const Node& value = object->item(k);
        ImGui::PushID(name.c_str());
        const float side = ImGui::GetFrameHeight() + px(4);
        const float start = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x;
        const float column = std::min(label_width(member_part), room - side - px(60));
        ImGui::AlignTextToFramePadding();
        cut_text(name, column - px(6));
        tip(help);
        ImGui::SameLine(start + column);
        const Form* const own = alternative(form.parts[0], &value);
        const Form& part = own != nullptr ? *own : form.parts[0];
        const float width = room - column - side;
        if (part.is_scalar())
            draw_scalar(place, at, part, help, width);
        else
            cut_text(document::to_line(value), width);
        ImGui::SameLine(start + room - side + px(4));
        if (icon_button("remove", icon::close, "Leaves it as it is without this line",
                        object->size() > 1)) {
            place.erase(at);
            ImGui::PopID();
            return;
        }
        if (!part.is_scalar()) {
            ImGui::Indent(px(12));
            draw_block(place, at, part, help);
            ImGui::Unindent(px(12));
        }
        ImGui::PopID();
    }
    if (text_button(icon::add, "Add a name", "A value for another element"))
        ImGui::OpenPopup("names");
    if (!ImGui::BeginPopup("names")) return;
    std::string chosen;
    if (around.elements.empty()) quiet_text("Enter takes the name over");
    std::string typed;
    ImGui::SetNextItemWidth(px(180));
    if (ImGui::InputTextWithHint("##typed", "name", &typed, ImGuiInputTextFlags_EnterReturnsTrue))
        chosen = typed;
    const auto columns = static_cast<std::size_t>(std::max(around.components, 1));
    for (std::size_t k = 0; k < around.elements.size(); ++k)
        if ((object == nullptr || object->find(around.elements[k]) == nullptr) &&
            ImGui::MenuItem(around.elements[k].c_str()))
            chosen = around.elements[k];
    if (!chosen.empty()) {
        // The numbers that it has now.
        const auto named = std::ranges::find(around.elements, chosen);
        const auto row = static_cast<std::size_t>(named - around.elements.begin()) * columns;
        session::Surroundings own = around;
        own.rows = 1;
        own.numbers = named != around.elements.end() && row + columns <= around.numbers.size() &&
                              around.elements.size() == around.rows
                          ? around.numbers.subspan(row, columns)
                          : std::span<const double>{};
        Node value = own.numbers.size() > 1
                         ? [&] {
                               Node list = Node::array();
                               for (const double x : own.numbers) list.push_back(Node(x));
                               return list;
                           }()
                     : own.numbers.size() == 1 ? Node(own.numbers[0])
                                               : session::blank(form.parts[0], own);
        Node fresh = object != nullptr ? *object : Node::object();
        fresh.set(chosen, std::move(value));
        place.put(below, std::move(fresh));
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
}

void draw_tuple(FieldPlace& place, const std::string& below, const Form& form) {
    for (std::size_t k = 0; k < form.parts.size(); ++k) {
        const Form& part = form.parts[k];
        ImGui::PushID(static_cast<int>(k));
        line_label(part.title.empty() ? std::to_string(k) : part.title, part.help, member_part);
        draw_value(place, fmt::format("{}/{}", below, k), part, part.help);
        ImGui::PopID();
    }
}

bool is_list_of_words(const Form& form) {
    return form.kind == FormKind::list && form.parts[0].kind == FormKind::choice;
}

// Writes the value in another way. One that names a file asks for it first, so that the scene never
// has a name without a file.
void write_as(FieldPlace& place, const std::string& below, const Form& way) {
    const Node* const value = place.find(below);
    const Node old = value != nullptr ? *value : Node();
    Node fresh = session::converted(way, old, place.surroundings());
    const std::string undo = fmt::format("{}: {}", place.undo(), session::title_of(way));
    const auto wanted = session::wanted_file(way, fresh);
    if (!wanted) {
        place.put(below, std::move(fresh), false, undo);
        return place.work().handover.take_back_unless_it_loads();
    }
    const Node* const root = place.find("");
    const Node whole = root != nullptr ? *root : Node();
    const auto write = [&work = place.work(), pointer = place.pointer(), at = below + wanted->place,
                        below, whole, fresh, undo](const std::filesystem::path& file) {
        const auto name = work.adding.bring(file);
        if (!name) return;
        Node written = whole;
        session::set_below(written, below, fresh);
        session::set_below(written, at, Node(*name));
        if (work.scene.set(pointer, std::move(written), undo))
            work.handover.take_back_unless_it_loads();
    };
    place.work().requests.wants_file = {"Choose a file", wanted->files, write, {}};
}

// "the text of the scene file": for what has no form.
void draw_as_text(FieldPlace& place, const std::string& below) {
    const Node* const value = place.find(below);
    if (icon_button("text", icon::code, "Edit it in the scene file's text")) {
        place.work().chosen.select(
            {place.object(), -1, document::split_pointer(place.pointer()).back()});
        place.work().requests.focus_panel = "Scene file";
    }
    ImGui::SameLine(0, px(4));
    ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
    cut_text(value != nullptr ? document::to_line(*value).substr(0, 200) : "-",
             ImGui::GetContentRegionAvail().x);
    ImGui::PopStyleColor();
}

}  // namespace

std::string refusal_at(const Running& running, const std::string& pointer) {
    const std::shared_ptr<const Error>& error = running.now().reports.error;
    if (!error) return "";
    const std::string& at = error->json_pointer();
    if (at != pointer && !at.starts_with(pointer + "/")) return "";
    return error->happened() + (error->what_to_do().empty() ? "" : "; " + error->what_to_do());
}

void draw_refusal(const Topics& work, const std::string& pointer) {
    const std::string text = refusal_at(work.running, pointer);
    if (text.empty()) return;
    wrapped_text(std::string(icon::error) + " " + text, style().palette().bad);
}

void draw_choice_of_form(FieldPlace& place, const std::string& below, const Form& form,
                         const std::string& help, bool optional) {
    const Node* const value = place.find(below);
    const Form* const now = alternative(form, value);
    const session::Surroundings around = place.surroundings();
    std::vector<std::string> titles;
    std::vector<const Form*> ways;
    for (const Form& part : form.parts) {
        if (&part != now && !session::can_write(part, value != nullptr ? *value : Node(), around))
            continue;
        titles.push_back(session::title_of(part));
        ways.push_back(&part);
    }
    std::string chosen = now != nullptr ? session::title_of(*now) : "";
    const char* const none = optional ? "not set" : value != nullptr ? "something else" : "choose";
    const std::string own = now != nullptr && !now->help.empty() && now->help != help
                                ? help + "\n\n" + now->help
                                : help;
    if (!choice("##form", titles, chosen, own, 0, optional || now == nullptr ? none : nullptr))
        return;
    if (chosen.empty()) {
        if (optional) place.erase(below);
        return;
    }
    write_as(place, below,
             *ways[static_cast<std::size_t>(std::ranges::find(titles, chosen) - titles.begin())]);
}

void draw_ways(FieldPlace& place, const std::string& below, const Form& form, bool optional) {
    ImGui::PushStyleColor(ImGuiCol_Button, ImVec4(0, 0, 0, 0));
    ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, ImGui::GetStyle().FramePadding.y});
    if (ImGui::Button("\xef\x84\x87##ways", {ImGui::GetTextLineHeight(), 0}))  // angle down
        ImGui::OpenPopup("ways");
    ImGui::PopStyleVar();
    ImGui::PopStyleColor(2);
    tip("Other ways to write it");
    if (!ImGui::BeginPopup("ways")) return;
    quiet_text("Write it as");
    const Node* const value = place.find(below);
    const Form* const now = alternative(form, value);
    const session::Surroundings around = place.surroundings();
    for (const Form& part : form.parts) {
        const bool possible =
            &part == now || session::can_write(part, value != nullptr ? *value : Node(), around);
        if (ImGui::MenuItem(session::title_of(part).c_str(), nullptr, &part == now, possible) &&
            &part != now)
            write_as(place, below, part);
        tip(possible ? part.help : part.help + "\nNot here: it cannot say the numbers");
    }
    if (optional) {
        ImGui::Separator();
        if (ImGui::MenuItem("Leave it out")) place.erase(below);
    }
    ImGui::EndPopup();
}

void draw_value(FieldPlace& place, const std::string& below, const Form& form,
                const std::string& help, bool optional) {
    const Node* const value = place.find(below);
    if (form.is_scalar()) {
        draw_scalar(place, below, form, help);
    } else if (form.is_vector()) {
        draw_vector(place, below, form, help);
    } else if (is_list_of_words(form)) {
        draw_words(place, below, form, help);
    } else if (form.kind == FormKind::alternatives) {
        // A number or a vector stands in the line, other ways to write it behind a small button.
        const Form* const plain = alternative(form, value);
        const bool vector = plain != nullptr && plain->is_vector();
        if (plain != nullptr && plain->title.empty() &&
            (vector || plain->kind == FormKind::number || plain->kind == FormKind::integer)) {
            const float arrow = ImGui::GetTextLineHeight();
            const float room = ImGui::GetContentRegionAvail().x - arrow - px(4);
            if (vector)
                draw_vector(place, below, *plain, help, arrow + px(4));
            else
                draw_scalar(place, below, *plain, help, room);
            ImGui::SameLine(0, px(2));
            draw_ways(place, below, form, optional && place.find(below) != nullptr);
            return;
        }
        draw_choice_of_form(place, below, form, help, optional);
        const Form* const now = alternative(form, value);
        if (now == nullptr) return;
        ImGui::Indent(px(12));
        ImGui::PushID("alternative");
        draw_block(place, below, *now, now->help);
        ImGui::PopID();
        ImGui::Unindent(px(12));
    } else if (form.kind == FormKind::unknown) {
        draw_as_text(place, below);
    } else {
        const bool list = form.kind == FormKind::list;
        const bool open = folded(list               ? count_of(value, "row", "rows")
                                 : value != nullptr ? "set"
                                                    : "not set",
                                 help, form.kind == FormKind::tuple);
        if (!open) return;
        ImGui::Indent(px(12));
        draw_block(place, below, form, help);
        ImGui::Unindent(px(12));
    }
}

void draw_block(FieldPlace& place, const std::string& below, const Form& form,
                const std::string& help) {
    switch (form.kind) {
        case FormKind::word: return;
        case FormKind::list:
            if (form.is_vector()) return draw_vector(place, below, form, help);
            if (is_list_of_words(form)) return draw_words(place, below, form, help);
            if (form.is_sheet()) return draw_sheet(place, below, form, help);
            return draw_items(place, below, form, help);
        case FormKind::tuple: return draw_tuple(place, below, form);
        case FormKind::by_name: return draw_by_name(place, below, form, help);
        case FormKind::object:
            // One key that says which alternative it is: its value alone.
            if (form.keys.size() == 1) {
                ImGui::PushID(form.keys[0].c_str());
                draw_block(place, below_of(below, form.keys[0]), form.parts[0], form.parts[0].help);
                ImGui::PopID();
                return;
            }
            return draw_members(place, below, form);
        default: return draw_value(place, below, form, help);
    }
}

float label_width(float part) {
    const float room = ImGui::GetContentRegionAvail().x;
    return std::max(std::min(ImGui::GetFontSize() * 6, room * 0.5F), room * part);
}

void draw_field(FieldPlace& place, const FieldLook& look) {
    if (!look.below) {
        line_label(look.label, look.help, look.part);
        if (happens(Gesture::quantity_menu) && ImGui::IsItemHovered()) ImGui::OpenPopup("field");
    }
    draw_value(place, "", place.form(), look.help, look.optional);
    if (ImGui::BeginPopup("field")) {
        if (ImGui::MenuItem("Reset to the default", nullptr, false, place.written()))
            place.erase("");
        tip(place.form().fallback.is_null()
                ? "Takes it out of the scene file"
                : "Takes it out of the scene file, so that its default holds: " +
                      document::to_line(place.form().fallback));
        if (ImGui::MenuItem("Show it in the text")) {
            place.work().chosen.select(
                {place.object(), -1, document::split_pointer(place.pointer()).back()});
            place.work().requests.focus_panel = "Scene file";
        }
        tip("Goes to it in the scene file's text");
        ImGui::EndPopup();
    }
    draw_refusal(place.work(), place.pointer());
}

}  // namespace hindcast::gui
