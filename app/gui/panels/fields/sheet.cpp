// A list of scalars or of rows, as a small spreadsheet: rows are added, taken out, copied, and
// pasted from the clipboard.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/panels/fields/field_view.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/session/document/fields/rows.hpp"

namespace hindcast::gui {

namespace {

using document::Node;
using session::Form;
using session::FormKind;

constexpr std::size_t rows_seen = 10;
constexpr std::size_t most_columns = 16;

Node list_at(const FieldPlace& place, const std::string& below) {
    const Node* const list = place.find(below);
    return list != nullptr && list->is_array() ? *list : Node::array();
}

bool is_number_or_name(const Form& item) {
    return item.kind == FormKind::integer || item.kind == FormKind::element;
}

bool counts_points(const Form& item) { return is_number_or_name(item) && item.means == "point"; }

// Pairs of points, as springs connect them: [body, point, body, point].
bool is_pair_of_points(const Form& item) {
    return item.kind == FormKind::tuple && item.parts.size() == 4 &&
           item.parts[0].means == "body" && item.parts[2].means == "body" &&
           is_number_or_name(item.parts[1]) && is_number_or_name(item.parts[3]);
}

// The button that adds the points picked in the view to the list.
void draw_take_picks(FieldPlace& place, const std::string& below, const Form& form) {
    const Form& item = form.parts[0];
    if (place.picks() == nullptr) return;
    if (counts_points(item)) {
        const std::string body = place.body();
        const std::vector<std::int64_t> picked = place.picks()->of(body);
        ImGui::SameLine(0, px(2));
        if (icon_button("take", icon::pointer,
                        picked.empty()
                            ? "Takes the points of " + body +
                                  " that were clicked on in the view: "
                                  "none was yet"
                            : fmt::format("Takes the point that was clicked on in the view last: "
                                          "{} of {}",
                                          picked.back(), body),
                        !picked.empty())) {
            Node list = list_at(place, below);
            bool there = false;
            for (std::size_t k = 0; k < list.size(); ++k)
                there |= list.item(k).is_integer() && list.item(k).integer() == picked.back();
            if (!there) {
                list.push_back(Node(picked.back()));
                place.put(below, std::move(list));
            }
        }
    } else if (is_pair_of_points(item)) {
        const std::vector<Picks::Point>& all = place.picks()->points();
        const bool two = all.size() >= 2;
        const std::string words =
            two ? fmt::format(
                      "Joins the two points that were clicked on in the view last: {} of "
                      "{} and {} of {}",
                      all.end()[-2].number, all.end()[-2].body, all.back().number, all.back().body)
                : "Joins the two points that were clicked on in the view last: click on two first";
        ImGui::SameLine(0, px(2));
        if (icon_button("take", icon::pointer, words, two)) {
            Node list = list_at(place, below);
            list.push_back(Node::array({Node(all.end()[-2].body), Node(all.end()[-2].number),
                                        Node(all.back().body), Node(all.back().number)}));
            place.put(below, std::move(list));
        }
    }
}

void draw_tools(FieldPlace& place, const std::string& below, const Form& form) {
    const Node* const list = place.find(below);
    const std::size_t count = list != nullptr ? list->size() : 0;
    if (icon_button("add", icon::add, "Adds a row like the last one", count < form.most)) {
        Node fresh = list_at(place, below);
        Node row =
            count > 0 ? fresh.item(count - 1) : session::blank(form.parts[0], place.surroundings());
        // A number of something: the next one.
        if (row.is_integer() && count > 0) row = Node(row.integer() + 1);
        fresh.push_back(std::move(row));
        place.put(below, std::move(fresh), false, place.undo() + ": add a row");
    }
    ImGui::SameLine(0, px(2));
    const bool paste = icon_button("paste", icon::book,
                                   "Puts rows of the clipboard after the last row: of a "
                                   "spreadsheet, a CSV file or a scene file");
    if (paste) ImGui::OpenPopup("paste");
    if (ImGui::BeginPopup("paste")) {
        for (const bool replaces : {false, true})
            if (ImGui::MenuItem(replaces ? "Paste in place of all rows" : "Paste after the rows"))
                place.work().scene.edit([&](session::Editor&) {
                    const char* const text = ImGui::GetClipboardText();
                    const Node rows = session::rows_of_text(text != nullptr ? text : "", form);
                    Node fresh = replaces ? Node::array() : list_at(place, below);
                    for (std::size_t k = 0; k < rows.size(); ++k) fresh.push_back(rows.item(k));
                    place.put(below, std::move(fresh), false, place.undo() + ": paste rows");
                });
        ImGui::EndPopup();
    }
    ImGui::SameLine(0, px(2));
    if (icon_button("copy", icon::copy, "Copies all rows, for a spreadsheet", count > 0) &&
        list != nullptr)
        ImGui::SetClipboardText(session::text_of_rows(*list).c_str());
    draw_take_picks(place, below, form);
    ImGui::SameLine(0, px(8));
    ImGui::AlignTextToFramePadding();
    quiet_text(count == 0 ? "no rows" : fmt::format("{} row{}", count, count == 1 ? "" : "s"));
}

std::string column_title(const Form& item, std::size_t column, std::size_t columns) {
    std::string title;
    const Form* part = &item;
    if (item.kind == FormKind::tuple)
        part = &item.parts[column];
    else if (item.kind == FormKind::list)
        part = &item.parts[0];
    if (item.kind == FormKind::tuple)
        title = part->title;
    else if (part->kind == FormKind::number && (columns == 2 || columns == 3) && item.is_vector())
        title = std::string(1, "xyz"[column]);
    else if (item.kind == FormKind::list)
        title = std::to_string(column);
    else
        title = part->means.empty() ? "value" : session::in_words(part->means);
    return part->unit.empty() ? title : title + ", " + part->unit;
}

}  // namespace

void draw_sheet(FieldPlace& place, const std::string& below, const Form& form,
                const std::string& help) {
    draw_tools(place, below, form);
    const Node* const list = place.find(below);
    if (list == nullptr || list->size() == 0) return;
    const Form& item = form.parts[0];
    const bool rows = !item.is_scalar();
    std::size_t columns = 1;
    if (item.kind == FormKind::tuple) columns = item.parts.size();
    if (item.kind == FormKind::list)
        for (std::size_t k = 0; k < std::min<std::size_t>(list->size(), 64); ++k)
            columns = std::max(columns, list->item(k).size());
    const bool cut = columns > most_columns;
    columns = std::min(columns, most_columns);
    const bool scrolls = list->size() > rows_seen;
    const float line = ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().CellPadding.y;
    ImGuiTableFlags flags = ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_RowBg |
                            ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingStretchSame;
    if (scrolls) flags |= ImGuiTableFlags_ScrollY;
    const float height = scrolls ? line * static_cast<float>(rows_seen + 1) : 0;
    if (!ImGui::BeginTable("sheet", static_cast<int>(columns) + 2, flags, {0, height})) return;
    ImGui::TableSetupColumn("##row", ImGuiTableColumnFlags_WidthFixed,
                            ImGui::CalcTextSize(std::to_string(list->size()).c_str()).x + px(2));
    for (std::size_t c = 0; c < columns; ++c) {
        // Words take more room than numbers.
        const bool words = item.kind == FormKind::tuple && item.parts[c].kind == FormKind::text;
        ImGui::TableSetupColumn(fmt::format("{}###{}", column_title(item, c, columns), c).c_str(),
                                ImGuiTableColumnFlags_WidthStretch, words ? 1.6F : 1.0F);
    }
    ImGui::TableSetupColumn("##remove", ImGuiTableColumnFlags_WidthFixed, ImGui::GetFrameHeight());
    ImGui::TableSetupScrollFreeze(0, 1);
    std::vector<std::string> helps = {"The number of the row, from 0"};
    for (std::size_t c = 0; c < columns; ++c)
        helps.push_back(column_title(item, c, columns) + " of each row");
    helps.emplace_back("Takes rows out");
    std::vector<const char*> texts;
    for (const std::string& one : helps) texts.push_back(one.c_str());
    table_headers(texts);
    std::optional<std::size_t> gone;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(list->size()), line);
    while (clipper.Step())
        for (int r = clipper.DisplayStart; r < clipper.DisplayEnd; ++r) {
            const auto row = static_cast<std::size_t>(r);
            const Node& written = list->item(row);
            const std::string at = fmt::format("{}/{}", below, row);
            ImGui::TableNextRow();
            ImGui::PushID(r);
            ImGui::TableNextColumn();
            ImGui::AlignTextToFramePadding();
            quiet_text(std::to_string(row));
            for (std::size_t c = 0; c < columns; ++c) {
                ImGui::TableNextColumn();
                ImGui::PushID(static_cast<int>(c));
                const std::string& tip_of_cell = help.empty() ? helps[c + 1] : help;
                const Form& cell = item.kind == FormKind::tuple  ? item.parts[c]
                                   : item.kind == FormKind::list ? item.parts[0]
                                                                 : item;
                if (!rows)
                    draw_scalar(place, at, cell, tip_of_cell, 0, true);
                else if (c < written.size())
                    draw_scalar(place, fmt::format("{}/{}", at, c), cell, tip_of_cell, 0, true);
                else
                    quiet_text("-");
                ImGui::PopID();
            }
            ImGui::TableNextColumn();
            if (icon_button("remove", icon::close, "Takes this row out", list->size() > form.least))
                gone = row;
            ImGui::PopID();
        }
    ImGui::EndTable();
    if (cut)
        quiet_text(fmt::format("The first {} columns; paste or copy the rows for all of them",
                               most_columns));
    if (!gone) return;
    Node fresh = *list;
    fresh.erase(*gone);
    place.put(below, std::move(fresh), false, place.undo() + ": take a row out");
}

}  // namespace hindcast::gui
