// The time that the simulation spends, one row for each launch and direction, and the code of the
// kernels: IR, code for the CPU, CUDA C++, made on the simulation's thread when looked at.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/draw/words.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/text_view.hpp"
#include "engine/backend/text/kernel_text.hpp"

namespace hindcast::gui {

namespace {

using backend::KernelText;
using session::LaunchText;

// The texts of one launch, as tabs.
struct Tab {
    const char *name, *ending, *help;
    KernelText what;
    std::optional<Direction> direction;  // none: the one that was timed
};
const Tab tabs[] = {
    {"IR", "ir", "The kernel as it was traced, simplified and, if joined with others, ran",
     KernelText::ir, std::nullopt},
    {"Adjoint IR", "adjoint.ir", "The kernel that runs backwards: reverse mode", KernelText::ir,
     Direction::adjoint},
    {"Tangent IR", "tangent.ir", "The kernel's forward mode", KernelText::ir, Direction::tangent},
    {"LLVM", "ll", "LLVM IR of the code for the CPU, for this machine's lanes", KernelText::llvm,
     std::nullopt},
    {"Assembly", "s", "The code for this CPU, as LLVM's compiler writes it", KernelText::assembly,
     std::nullopt},
    {"CUDA", "cu", "The CUDA C++ that NVRTC is given for a GPU", KernelText::cuda, std::nullopt}};

constexpr int columns = 8;

// Seconds of one run; 0: it has not run.
double each_of(const session::LaunchInfo& l) {
    return l.runs > 0 ? l.seconds / static_cast<double>(l.runs) : 0;
}

// GB/s; 0 where it is not known.
double bandwidth_of(const session::LaunchInfo& l) {
    const double each = each_of(l);
    return each > 0 && l.bytes > 0 ? l.bytes / each / 1e9 : 0;
}

class Launches final : public Panel {
public:
    Launches()
        : Panel("Launches", icon::speed, Place::bottom,
                "Time and bandwidth of every kernel launch, and what its kernel becomes") {}

    void draw(Context& context) override {
        Topics& work = context.work;
        if (ImGui::Checkbox("Measure", &measure_)) work.running.send(session::Profile{measure_});
        tip("Times every launch; costs a few percent");
        const auto& launches = work.running.now().tools.launches;
        if (launches.empty()) {
            empty_state(icon::speed, "Nothing measured yet",
                        "Switch measuring on, then simulate or optimize: times, bandwidth and "
                        "the texts of every kernel come here.");
            return;
        }
        take_answer(work.running);
        const session::LaunchInfo* const chosen = chosen_of(launches);
        double total = 0;
        for (const session::LaunchInfo& l : launches) total += l.seconds;
        ImGui::SameLine();
        quiet_text(fmt::format("{} in all", duration_text(total)));
        if (chosen == nullptr) {
            ImGui::SameLine();
            quiet_text("| click a launch for its IR, assembly and CUDA text");
        }
        const float width = ImGui::GetContentRegionAvail().x;
        if (chosen != nullptr) {
            ImGui::BeginChild("left", {width * 0.36F, 0}, ImGuiChildFlags_ResizeX);
            table(launches, total, true);
            ImGui::EndChild();
            ImGui::SameLine();
            ImGui::BeginChild("right");
            texts(work, *chosen);
            ImGui::EndChild();
        } else {
            table(launches, total, false);
        }
    }

private:
    const session::LaunchInfo* chosen_of(const std::vector<session::LaunchInfo>& launches) const {
        const auto found = std::ranges::find_if(launches, [&](const session::LaunchInfo& l) {
            return l.name == name_ && l.direction == ran_;
        });
        return found != launches.end() ? &*found : nullptr;
    }

    void take_answer(const Running& running) {
        const session::Snapshot& now = running.now();
        if (now.scene.build != build_) {  // other kernels
            build_ = now.scene.build;
            answer_ = nullptr;
            asked_.reset();
        }
        if (now.tools.launch_text == answer_ || !now.tools.launch_text || !asked_ ||
            now.tools.launch_text->asked != *asked_)
            return;
        answer_ = now.tools.launch_text;
        view_.set(answer_->text, asked_->what == KernelText::cuda ? TextView::Language::cpp
                                                                  : TextView::Language::plain);
    }

    void texts(Topics& work, const session::LaunchInfo& chosen) {
        const Tab* shown = nullptr;
        if (ImGui::BeginTabBar("texts", ImGuiTabBarFlags_FittingPolicyScroll)) {
            for (const Tab& tab : tabs) {
                if (ImGui::BeginTabItem(tab.name)) {
                    shown = &tab;
                    ImGui::EndTabItem();
                }
                tip(tab.help);
            }
            if (ImGui::TabItemButton(icon::close, ImGuiTabItemFlags_Trailing)) name_.clear();
            tip("Closes the text");
            ImGui::EndTabBar();
        }
        if (shown == nullptr) return;
        const LaunchText wanted{chosen.name, chosen.direction,
                                shown->direction.value_or(chosen.direction), shown->what};
        // After a failure once more when the launch has run again.
        if (answer_ && !answer_->problem.empty() && chosen.runs != runs_) asked_.reset();
        if (asked_ != wanted) {
            runs_ = chosen.runs;
            asked_ = wanted;
            answer_ = nullptr;
            work.running.send(wanted);
        }
        cut_text(fmt::format("{} ({})", chosen.name, name_of(wanted.direction)),
                 ImGui::GetContentRegionAvail().x);
        if (!answer_)
            quiet_text("Being made...");
        else if (!answer_->problem.empty())
            empty_state(icon::info, "There is no such text", answer_->problem);
        else
            view_.draw(work.scene, work.messages, fmt::format("{}.{}", chosen.name, shown->ending));
    }

    void table(const std::vector<session::LaunchInfo>& launches, double total, bool narrow) {
        // Columns are resized at the headers alone: a row can be clicked anywhere.
        if (!ImGui::BeginTable("launches", columns,
                               ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                   ImGuiTableFlags_Sortable | ImGuiTableFlags_Resizable |
                                   ImGuiTableFlags_Hideable | ImGuiTableFlags_NoBordersInBody))
            return;
        static constexpr const char* helps[columns] = {
            "Kernels that were joined to one launch stand together",
            "forward: the run itself; adjoint, tangent: its derivatives",
            "How often it was launched while measuring was on",
            "Time of all runs",
            "Time of one run, on the average",
            "Part of the time of all launches",
            "Read and written by one run, by what its buffers are declared to be",
            "Bandwidth: these bytes by the time of one run"};
        ImGui::TableSetupColumn("Launch");
        const auto column = [](const char* name, const char* widest, ImGuiTableColumnFlags flags) {
            const float width =
                std::max(ImGui::CalcTextSize(widest).x, ImGui::CalcTextSize(name).x + px(16));
            ImGui::TableSetupColumn(name, ImGuiTableColumnFlags_WidthFixed | flags, width);
        };
        constexpr ImGuiTableColumnFlags down = ImGuiTableColumnFlags_PreferSortDescending;
        column("Direction", "forward", 0);
        column("Runs", "8888888", down);
        column("Total", "888.8 ms", down | ImGuiTableColumnFlags_DefaultSort);
        column("Each", "888.8 ms", down);
        column("Share", "100 %  |||||", down);
        column("Bytes", "888.8 MiB", down);
        column("GB/s", "888.8", down);
        for (const int k : {2, 4, 5, 6, 7})  // beside a text there is no room for them
            ImGui::TableSetColumnEnabled(k, !narrow);
        ImGui::TableSetupScrollFreeze(0, 1);
        table_headers(helps);
        std::vector<const session::LaunchInfo*> rows;
        for (const session::LaunchInfo& l : launches) rows.push_back(&l);
        if (const ImGuiTableSortSpecs* sort = ImGui::TableGetSortSpecs();
            sort != nullptr && sort->SpecsCount > 0) {
            const int by = sort->Specs[0].ColumnIndex;
            const bool up = sort->Specs[0].SortDirection == ImGuiSortDirection_Ascending;
            std::ranges::stable_sort(rows, [&](const auto* a, const auto* b) {
                if (!up) std::swap(a, b);
                switch (by) {
                    case 0: return a->name < b->name;
                    case 1: return std::string_view(name_of(a->direction)) < name_of(b->direction);
                    case 2: return a->runs < b->runs;
                    case 4: return each_of(*a) < each_of(*b);
                    case 6: return a->bytes < b->bytes;
                    case 7: return bandwidth_of(*a) < bandwidth_of(*b);
                    default: return a->seconds < b->seconds;  // and the share
                }
            });
        }
        for (const session::LaunchInfo* l : rows) {
            const float share = total > 0 ? static_cast<float>(l->seconds / total) : 0;
            ImGui::TableNextRow();
            ImGui::TableNextColumn();
            ImGui::AlignTextToFramePadding();  // as the bar in a later column does
            const bool selected = l->name == name_ && l->direction == ran_;
            if (ImGui::Selectable(
                    fmt::format("{}##{}", l->name, name_of(l->direction)).c_str(), selected,
                    ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap)) {
                name_ = selected ? "" : l->name;
                ran_ = l->direction;
            }
            tip(l->name + "\nClick: its IR, adjoint, assembly and CUDA text");
            ImGui::TableNextColumn();
            if (l->direction == Direction::forward)
                quiet_text(name_of(l->direction));
            else
                ImGui::TextColored(style().palette().gradient, "%s", name_of(l->direction));
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(fmt::format("{}", l->runs).c_str());
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(duration_text(l->seconds).c_str());
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(duration_text(each_of(*l)).c_str());
            ImGui::TableNextColumn();
            ImGui::ProgressBar(share, {-FLT_MIN, ImGui::GetFrameHeight()},
                               fmt::format("{:.0f} %", share * 100).c_str());
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(l->bytes > 0 ? bytes_text(l->bytes).c_str() : "-");
            tip("Read and written by one run");
            ImGui::TableNextColumn();
            const double bandwidth = bandwidth_of(*l);
            ImGui::TextUnformatted(bandwidth > 0 ? number_text(bandwidth, 3).c_str() : "-");
            tip(fmt::format("{} read and written by one run", bytes_text(l->bytes)));
        }
        ImGui::EndTable();
    }

    bool measure_ = false;
    std::string name_;  // of the launch whose text is shown
    Direction ran_ = Direction::forward;
    std::optional<LaunchText> asked_;
    std::int64_t runs_ = 0;  // of the launch when it was asked for
    std::shared_ptr<const session::LaunchTextAnswer> answer_;
    std::int64_t build_ = 0;  // SceneSnapshot::build
    TextView view_;
};

}  // namespace

std::unique_ptr<Panel> make_launches() { return std::make_unique<Launches>(); }

}  // namespace hindcast::gui
