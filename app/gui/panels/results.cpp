// Results of hindcast batch, or of optimize with --starts: the runs as a table and as points over
// two of the columns. A double click shows the scene with the values of a run.
#include <fmt/format.h>
#include <imgui.h>
#include <implot.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/gui/draw/words.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/work/files/opened_results.hpp"
#include "app/gui/work/state/requests.hpp"

namespace hindcast::gui {

namespace {

using session::ResultsTable;

constexpr std::size_t most_columns = 60;  // in the table
constexpr std::size_t most_points = 20'000;

class Results final : public Panel {
public:
    Results()
        : Panel(
              "Results", icon::list, Place::bottom,
              "Runs of hindcast batch, or starts of hindcast optimize, as a table and as points") {}

    void draw(Context& context) override {
        Topics& work = context.work;
        if (!work.results.table) {
            empty_state(icon::list, "No results are open",
                        "File > Open results... shows what hindcast batch has written.");
            return;
        }
        if (work.results.table != shown_) begin(work.results.table);
        head(work.requests);
        if (shown_->rows() == 0) {
            quiet_text("The table has no rows.");
            return;
        }
        const ImVec2 room = ImGui::GetContentRegionAvail();
        // In a narrow panel the points are below the table.
        const bool beside = room.x > px(460);
        const ImVec2 size = beside ? ImVec2{room.x * 0.52F, room.y} : ImVec2{room.x, room.y * 0.5F};
        const std::optional<std::size_t> pointed = hovered_;
        hovered_.reset();
        table(work, size, pointed);
        if (beside) ImGui::SameLine(0, px(8));
        if (ImGui::BeginChild("points")) points(work, pointed);
        ImGui::EndChild();
    }

private:
    void begin(const std::shared_ptr<const ResultsTable>& table) {
        shown_ = table;
        labels_.clear();
        for (const ResultsTable::Column& column : table->columns)
            labels_.push_back(column.role == ResultsTable::Role::parameter ? path_label(column.name)
                                                                           : label_of(column.name));
        const std::size_t loss = std::min(table->loss(), table->columns.size() - 1);
        const auto first = std::ranges::find(table->columns, ResultsTable::Role::parameter,
                                             &ResultsTable::Column::role);
        x_ = first == table->columns.end()
                 ? 0
                 : static_cast<std::size_t>(first - table->columns.begin());
        y_ = loss;
        order_ = session::sorted_rows(*table, loss, false);
        chosen_.reset();
        hovered_.reset();
        log_y_ = std::ranges::all_of(table->columns[loss].values,
                                     [](double v) { return !std::isfinite(v) || v > 0; });
        log_x_ = false;
        ++number_;
        fit_ = true;
    }

    void head(Requests& requests) {
        const bool starts = shown_->kind == ResultsTable::Kind::starts;
        if (text_button(icon::open, "Open...", "Opens other results"))
            requests.show_open_results = true;
        ImGui::SameLine(0, px(8));
        ImGui::AlignTextToFramePadding();
        std::string text =
            fmt::format("{}: {} {}", shown_->scene, shown_->rows(), starts ? "starts" : "variants");
        if (!shown_->made.empty()) text += ", stopped after " + shown_->made;
        const std::string changes = made_with();
        if (!changes.empty()) text += ", made with " + changes;
        if (shown_->columns.size() > most_columns)
            text += fmt::format(", {} of {} columns", most_columns, shown_->columns.size());
        if (every() > 1) text += fmt::format(", one of {} drawn as a point", every());
        const float room = ImGui::GetContentRegionAvail().x;
        const float axes = std::clamp(room * 0.62F, std::min(room, px(230)), px(460));
        ImGui::TextUnformatted(cut_to(text, room - axes - px(12)).c_str());
        tip(text + "\n" + shown_->folder.string() +
            (changes.empty() ? "" : "\nA row is shown with what it was made with."));
        ImGui::SameLine(0, 0);
        ImGui::SetCursorPosX(right_edge() - axes);
        const float half = (axes - px(8)) / 2;
        fit_ |= axis("x", x_, log_x_, half, "What stands along the horizontal axis");
        ImGui::SameLine(0, px(8));
        fit_ |= axis("y", y_, log_y_, half, "What stands along the vertical axis");
    }

    std::string made_with() const {
        std::string text;
        if (!shown_->checkpoint.empty()) text = "checkpoint " + shown_->checkpoint;
        for (const std::string& change : shown_->changes)
            text += (text.empty() ? "" : ", ") + change;
        return text;
    }

    // The stride of the rows that are drawn as points, besides those that are marked.
    std::size_t every() const {
        return std::max<std::size_t>((shown_->rows() + most_points - 1) / most_points, 1);
    }

    void show(OpenedResults& results, std::size_t row) {
        chosen_ = row;
        results.use(row);
    }

    void table(Topics& work, const ImVec2& size, std::optional<std::size_t> pointed) {
        const std::size_t count = std::min(shown_->columns.size(), most_columns);
        const std::string id = fmt::format("runs{}", number_);  // its columns are of these results
        if (!ImGui::BeginTable(id.c_str(), static_cast<int>(count) + 1,
                               ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                   ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersOuter |
                                   ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_Sortable |
                                   ImGuiTableFlags_Resizable | ImGuiTableFlags_Hideable,
                               size))
            return;
        ImGui::TableSetupScrollFreeze(1, 1);
        ImGui::TableSetupColumn("#",
                                ImGuiTableColumnFlags_WidthFixed | ImGuiTableColumnFlags_NoHide);
        std::vector<std::string> helps{"Its number; a click sorts"};
        for (std::size_t k = 0; k < count; ++k) {
            const bool loss = k == shown_->loss();
            ImGui::TableSetupColumn(
                labels_[k].c_str(),
                ImGuiTableColumnFlags_WidthFixed | (loss ? ImGuiTableColumnFlags_DefaultSort : 0));
            helps.push_back(shown_->columns[k].name + "; a click sorts");
        }
        if (ImGuiTableSortSpecs* const wanted = ImGui::TableGetSortSpecs();
            wanted != nullptr && wanted->SpecsDirty && wanted->SpecsCount > 0) {
            const int column = wanted->Specs[0].ColumnIndex;
            const bool descending = wanted->Specs[0].SortDirection == ImGuiSortDirection_Descending;
            // Column 0 is the rows as they stand.
            order_ = session::sorted_rows(
                *shown_, column > 0 ? static_cast<std::size_t>(column) - 1 : labels_.size(), false);
            if (column > 0 && descending)
                order_ = session::sorted_rows(*shown_, static_cast<std::size_t>(column) - 1, true);
            if (column == 0 && descending) std::ranges::reverse(order_);
            wanted->SpecsDirty = false;
        }
        std::vector<const char*> texts;
        for (const std::string& help : helps) texts.push_back(help.c_str());
        table_headers(texts);
        // A point under the mouse is looked for once in the table.
        const bool scroll = pointed && pointed != scrolled_to_ && from_points_;
        ImGuiListClipper clipper;
        clipper.Begin(static_cast<int>(order_.size()));
        const auto place = scroll ? std::ranges::find(order_, *pointed) : order_.end();
        if (place != order_.end())
            clipper.IncludeItemByIndex(static_cast<int>(place - order_.begin()));
        while (clipper.Step())
            for (int k = clipper.DisplayStart; k < clipper.DisplayEnd; ++k)
                row(work, order_[static_cast<std::size_t>(k)], count, pointed, scroll);
        scrolled_to_ = pointed;
        ImGui::EndTable();
    }

    void row(Topics& work, std::size_t row, std::size_t count, std::optional<std::size_t> pointed,
             bool scroll) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        if (pointed == row) {
            ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1,
                                   ImGui::GetColorU32(ImGuiCol_HeaderHovered));
            if (scroll) ImGui::SetScrollHereY();
        }
        if (ImGui::Selectable(
                fmt::format("{}", row).c_str(), chosen_ == row,
                ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick)) {
            chosen_ = row;
            if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) show(work.results, row);
        }
        if (ImGui::IsItemHovered()) {
            hovered_ = row;
            from_points_ = false;
        }
        tip("A double click shows the scene with the values of this row; can be undone");
        for (std::size_t k = 0; k < count; ++k) {
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(number_text(shown_->columns[k].values[row], 6).c_str());
        }
    }

    bool axis(const char* id, std::size_t& column, bool& logarithmic, float width,
              const std::string& help) {
        std::string name = labels_[column];
        const float box = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x +
                          ImGui::CalcTextSize("log").x;
        ImGui::PushID(id);
        bool changed = false;
        if (choice("##axis", labels_, name, help, width - box - px(4))) {
            column = static_cast<std::size_t>(std::ranges::find(labels_, name) - labels_.begin());
            changed = true;
        }
        ImGui::SameLine(0, px(4));
        changed |= ImGui::Checkbox("log", &logarithmic);
        tip("Logarithmic axis; what is not positive is left out");
        ImGui::PopID();
        return changed;
    }

    void points(Topics& work, std::optional<std::size_t> pointed) {
        const std::vector<double>&xs = shown_->columns[x_].values, &ys = shown_->columns[y_].values;
        const auto is_drawn = [&](std::size_t k) {
            return std::isfinite(xs[k]) && std::isfinite(ys[k]) && (!log_x_ || xs[k] > 0) &&
                   (!log_y_ || ys[k] > 0);
        };
        if (fit_) ImPlot::SetNextAxesToFit();
        fit_ = false;
        ImPlot::PushStyleVar(ImPlotStyleVar_FitPadding, ImVec2{0.06F, 0.08F});
        const bool open =
            ImPlot::BeginPlot("##points", {-1, -1},
                              ImPlotFlags_NoMouseText | ImPlotFlags_NoLegend | ImPlotFlags_NoMenus);
        ImPlot::PopStyleVar();
        if (!open) return;
        ImPlot::SetupAxes(labels_[x_].c_str(), labels_[y_].c_str());
        if (log_x_) ImPlot::SetupAxisScale(ImAxis_X1, ImPlotScale_Log10);
        if (log_y_) ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
        std::vector<double> x, y;
        std::optional<std::size_t> best;
        const std::size_t loss = shown_->loss();
        for (std::size_t k = 0; k < xs.size(); ++k) {
            if (!is_drawn(k)) continue;
            if (k % every() == 0) {
                x.push_back(xs[k]);
                y.push_back(ys[k]);
            }
            if (loss < shown_->columns.size() && std::isfinite(shown_->columns[loss].values[k]) &&
                (!best || shown_->columns[loss].values[k] < shown_->columns[loss].values[*best]))
                best = k;
        }
        const auto dots = [](const char* name, const double* a, const double* b, std::size_t count,
                             const ImVec4& color, float size) {
            ImPlotSpec spec;
            spec.Marker = ImPlotMarker_Circle;
            spec.MarkerSize = px(size);
            spec.LineColor = spec.FillColor = color;
            spec.MarkerFillColor = spec.MarkerLineColor = color;
            ImPlot::PlotScatter(name, a, b, static_cast<int>(count), spec);
        };
        dots("runs", x.data(), y.data(), x.size(), ImPlot::GetColormapColor(0), 2.6F);
        const auto mark = [&](std::optional<std::size_t> k, const char* name, const ImVec4& color,
                              float size) {
            if (k && *k < xs.size() && is_drawn(*k)) dots(name, &xs[*k], &ys[*k], 1, color, size);
        };
        mark(best, "best", style().palette().good, 4.2F);
        mark(chosen_, "chosen", style().palette().accent, 4.2F);
        mark(pointed, "pointed", style().palette().warn, 5);
        if (ImPlot::IsPlotHovered()) under_mouse(work, xs, ys, is_drawn);
        ImPlot::EndPlot();
    }

    template <class F>
    void under_mouse(Topics& work, const std::vector<double>& xs, const std::vector<double>& ys,
                     const F& is_drawn) {
        const ImVec2 mouse = ImGui::GetMousePos();
        float least = px(9) * px(9);
        std::optional<std::size_t> near;
        for (std::size_t k = 0; k < xs.size(); ++k) {
            if (!is_drawn(k)) continue;
            const ImVec2 at = ImPlot::PlotToPixels(xs[k], ys[k]);
            const float away =
                (at.x - mouse.x) * (at.x - mouse.x) + (at.y - mouse.y) * (at.y - mouse.y);
            if (away >= least) continue;
            least = away;
            near = k;
        }
        if (!near) return;
        hovered_ = near;
        from_points_ = true;
        ImGui::BeginTooltip();
        ImGui::TextUnformatted(
            fmt::format("{} {}", shown_->kind == ResultsTable::Kind::starts ? "start" : "variant",
                        *near)
                .c_str());
        for (const std::size_t column : {x_, y_})
            ImGui::TextUnformatted(
                fmt::format("{}  {}", labels_[column],
                            number_text(shown_->columns[column].values[*near], 6))
                    .c_str());
        quiet_text("A double click shows the scene with its values");
        ImGui::EndTooltip();
        if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
            show(work.results, *near);
        else if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
            chosen_ = near;
    }

    std::shared_ptr<const ResultsTable> shown_;
    std::vector<std::string> labels_;  // of its columns
    std::vector<std::size_t> order_;   // its rows as they are sorted
    std::size_t x_ = 0, y_ = 0;        // columns
    bool log_x_ = false, log_y_ = false, fit_ = true;
    std::optional<std::size_t> chosen_, hovered_, scrolled_to_;  // rows
    bool from_points_ = false;                                   // hovered_ is a point
    int number_ = 0;                                             // of the results shown
};

}  // namespace

std::unique_ptr<Panel> make_results() { return std::make_unique<Results>(); }

}  // namespace hindcast::gui
