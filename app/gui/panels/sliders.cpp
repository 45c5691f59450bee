// Sliders of the selected robot, or of the only one: the controls of its actuators and where its
// joints start. A slider edits the scene, as the inspector does.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/words.hpp"
#include "app/gui/panels/entry_place.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "engine/model/handles/sliders.hpp"

namespace hindcast::gui {

namespace {

using document::Node;
using model::Slider;
using session::QuantityInfo;

constexpr double finest = 300;  // steps of a slider over its range, at least

// So that what a slider writes is a short number.
int decimals(const Slider& slider) {
    const double step = (slider.high - slider.low) / finest;
    if (!(step > 0) || !std::isfinite(step)) return 6;
    return std::clamp(static_cast<int>(std::ceil(-std::log10(step))), 0, 9);
}

// ImGui formats with printf: what is shown is literal text.
std::string format_of(const Slider& slider) {
    std::string format = fmt::format("%.{}f", decimals(slider));
    if (!slider.unit.empty()) format += " " + slider.unit;
    return format;
}

class Sliders final : public Panel {
public:
    Sliders()
        : Panel("Sliders", icon::sliders, Place::right,
                "Controls of a robot's actuators and where its joints start, to try things out") {}

    void draw(Context& context) override {
        Topics& work = context.work;
        std::vector<const QuantityInfo*> offered;
        for (const QuantityInfo& q : work.running.now().values.present_quantities())
            if (q.sliders && !q.shared) offered.push_back(&q);
        if (offered.empty()) {
            empty_state(icon::sliders, "Nothing here has sliders",
                        "A robot has: the controls of its actuators and the positions of its "
                        "joints.");
            return;
        }
        const std::string object = chosen(work, offered);
        bool any = false;
        for (const bool controls : {true, false})
            for (const QuantityInfo* q : offered)
                if (owner(*q) == object && q->path.ends_with(".ctrl") == controls) {
                    group(work, *q);
                    any = true;
                }
        if (!any) wrapped_text("It has none.", style().palette().quiet);
    }

private:
    // "/bodies/0"
    static std::string owner(const QuantityInfo& q) {
        return q.scene_pointer.substr(0, q.scene_pointer.rfind('/'));
    }

    // The selected object, if it has sliders; else the first that has, or the one chosen before.
    std::string chosen(Topics& work, const std::vector<const QuantityInfo*>& offered) {
        std::vector<std::string> objects, names;
        for (const QuantityInfo* q : offered)
            if (std::ranges::find(objects, owner(*q)) == objects.end()) {
                objects.push_back(owner(*q));
                names.push_back(work.scene.name_at(objects.back()));
            }
        const auto selected = std::ranges::find(objects, work.chosen.object.pointer);
        if (selected != objects.end()) last_ = *selected;
        if (std::ranges::find(objects, last_) == objects.end()) last_ = objects.front();
        const auto number =
            static_cast<std::size_t>(std::ranges::find(objects, last_) - objects.begin());
        if (objects.size() == 1) {
            ImGui::PushFont(style().fonts().bold, 0);
            ImGui::TextUnformatted(names.front().c_str());
            ImGui::PopFont();
            return last_;
        }
        std::string name = names[number];
        if (choice("##of", names, name,
                   "Whose sliders these are; selecting another robot shows its"))
            last_ =
                objects[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
        return last_;
    }

    static void group(Topics& work, const QuantityInfo& q) {
        const std::vector<Slider>& sliders = *q.sliders;
        heading(sliders.front().group.c_str());
        ImGui::PushID(q.path.c_str());
        float widest = 0;
        for (const Slider& slider : sliders)
            widest = std::max(widest, ImGui::CalcTextSize(slider.name.c_str()).x);
        const float label = std::min(widest + px(10), ImGui::GetContentRegionAvail().x * 0.45F);
        for (const Slider& slider : sliders) {
            if (static_cast<std::size_t>(slider.element) >= q.values.size()) continue;
            ImGui::PushID(static_cast<int>(slider.element));
            row(work, q, slider, label);
            ImGui::PopID();
        }
        ImGui::PopID();
    }

    static void row(Topics& work, const QuantityInfo& q, const Slider& slider, float label) {
        const float start = ImGui::GetCursorPosX();
        ImGui::AlignTextToFramePadding();
        cut_text(slider.name, label - px(6));
        ImGui::SameLine(start + label);
        const auto element = static_cast<std::size_t>(slider.element);
        const EntryPlace place = place_of_entry(work.scene.document(), q, element, q.values);
        double value = q.values[element];
        // A moved value is shown before the simulation has it.
        if (const Node* const written = work.scene.document().find(place.pointer);
            written != nullptr && !place.pointer.empty())
            value = plain_number(*written).value_or(value);
        const std::string range =
            slider.limited ? fmt::format("From {} to {}, the range in the model.",
                                         number_text(slider.low), number_text(slider.high))
                           : "It has no limits: with Ctrl and a click any number can be typed.";
        const std::string help =
            fmt::format("{}: {}\n{}\n\nMove it; Ctrl and a click: type a number.", slider.name,
                        slider.meaning, range);
        ImGui::BeginDisabled(place.pointer.empty());
        ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
        const bool moved = ImGui::SliderScalar("##value", ImGuiDataType_Double, &value, &slider.low,
                                               &slider.high, format_of(slider).c_str(),
                                               slider.limited ? ImGuiSliderFlags_AlwaysClamp : 0);
        const bool ended = ImGui::IsItemDeactivatedAfterEdit();
        ImGui::EndDisabled();
        tip(place.pointer.empty() ? help + "\n" + place.why_not : help);
        if (moved && std::isfinite(value)) {
            if (slider.limited) value = std::clamp(value, slider.low, slider.high);
            work.scene.set(place.pointer, place.written(value), fmt::format("Move {}", slider.name),
                           fmt::format("{}#{}", q.path, element));
        }
        if (ended) work.scene.edit([](session::Editor& e) { e.end_merge(); });
    }

    std::string last_;
};

}  // namespace

std::unique_ptr<Panel> make_sliders() { return std::make_unique<Sliders>(); }

}  // namespace hindcast::gui
