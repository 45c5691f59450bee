#include "app/gui/making/add_menu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/work/edits/adding.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/session/document/scene_files.hpp"
#include "app/session/making/arrange.hpp"
#include "app/session/making/templates.hpp"

namespace hindcast::gui {

namespace {

using model::Section;
namespace fs = std::filesystem;

// A number with its name to the left of it.
bool row(const model::OfferNumber& number, double& value) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(number.label.c_str());
    ImGui::SameLine(px(150));
    NumberField field{.value = value,
                      .unit = number.unit,
                      .low = number.low,
                      .high = number.high,
                      .tooltip = number.help,
                      .logarithmic = !number.whole && number.low > 0};
    field.whole = number.whole;
    const bool changed = number_field(("##" + number.key).c_str(), field) != Edited::no;
    value = field.value;
    return changed;
}

// The two buttons at the end of a dialog; true: the first one.
bool buttons(const char* label, const char* help, bool enabled) {
    ImGui::Dummy({0, px(4)});
    const bool done = text_button(icon::add, label, help, enabled, enabled);
    ImGui::SameLine(0, px(8));
    const bool canceled =
        text_button(nullptr, "Cancel", "Changes nothing") ||
        (ImGui::IsKeyPressed(ImGuiKey_Escape, false) && !ImGui::GetIO().WantTextInput);
    if (done || canceled) ImGui::CloseCurrentPopup();
    return done;
}

}  // namespace

const char* title_of(Section section) {
    switch (section) {
        case Section::bodies: return "Bodies";
        case Section::forces: return "Forces";
        case Section::colliders: return "Colliders";
        case Section::controllers: return "Controllers";
        case Section::objective: return "Objective";
    }
    return "";
}

void add_items(const EditedScene& scene, Adding& adding, Requests& requests, Section section) {
    std::vector<std::string> offered;
    for (const model::Offer& offer : session::offers(scene.registry(), scene.dimension())) {
        if (offer.section != section) continue;
        offered.push_back(offer.type);
        if (ImGui::MenuItem(fmt::format("{}###offer {}", offer.label, offer.id).c_str()))
            requests.show_offer = offer.id;
        tip(offer.help);
    }
    bool first = !offered.empty();
    for (const model::ModuleType& type : scene.registry().all()) {
        if (type.section != section || std::ranges::find(offered, type.type) != offered.end())
            continue;
        if (std::exchange(first, false)) ImGui::Separator();
        if (ImGui::MenuItem(fmt::format("{}###{}", type.title, type.type).c_str()))
            adding.add(section, type.type);
        tip(type.documentation);
    }
}

void add_items_of_all(Context& context) {
    Topics& work = context.work;
    for (const Section section : model::all_sections) {
        if (!ImGui::BeginMenu(
                fmt::format("Add to {}###add {}", title_of(section), model::name_of(section))
                    .c_str()))
            continue;
        add_items(work.scene, work.adding, work.requests, section);
        ImGui::EndMenu();
    }
}

void object_items(Context& context) { context.actions.draw_object_menu(context.work); }

void template_items(const EditedScene& scene, Opening& opening) {
    for (const session::SceneTemplate& one : session::scene_templates(scene.registry())) {
        if (ImGui::MenuItem(fmt::format("{}###template {}", one.label, one.id).c_str()))
            opening.make_from(one.id);
        tip(one.help);
    }
}

void MakingDialogs::draw(Topics& work) {
    offer(work);
    array(work);
    size(work);
}

void MakingDialogs::offer(Topics& work) {
    if (const std::string asked = std::exchange(work.requests.show_offer, ""); !asked.empty()) {
        try {
            offer_ = session::offer_of(work.scene.registry(), work.scene.dimension(), asked);
            numbers_ = offer_.values();
            file_ = std::exchange(brought_, {});
            files_ = offer_.needs_file()
                         ? session::files_below(work.scene.editor().place().parent_path(),
                                                offer_.endings)
                         : std::vector<std::string>();
            if (file_.empty() && files_.size() == 1) file_ = files_.front();
            ImGui::OpenPopup("###offer");
        } catch (const Error& error) {
            work.messages.fail(error);
        }
    }
    if (!begin_modal((offer_.label + "###offer").c_str(), px(380))) return;
    wrapped_text(offer_.help, style().palette().quiet);
    ImGui::Spacing();
    if (offer_.needs_file()) {
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted("File");
        ImGui::SameLine(px(150));
        if (files_.empty()) {
            quiet_text("there is none beside the scene");
        } else {
            ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - px(100));
            choice("##file", files_, file_, "Files beside the scene that can be read");
        }
        ImGui::SameLine(0, px(8));
        if (text_button(icon::open, "Browse...",
                        "A file of another folder is copied beside the scene")) {
            work.requests.wants_file =
                FileWish{offer_.label, offer_.endings,
                         [this, &work, id = offer_.id](const fs::path& file) {
                             const auto name = work.adding.bring(file);
                             if (!name) return;
                             brought_ = *name;
                             work.requests.show_offer = id;
                         },
                         [&work, id = offer_.id] { work.requests.show_offer = id; }};
            ImGui::CloseCurrentPopup();
        }
    }
    for (std::size_t k = 0; k < offer_.numbers.size(); ++k) row(offer_.numbers[k], numbers_[k]);
    const model::OfferCount count = session::count_of(offer_, numbers_);
    const std::string text = session::count_text(count);
    if (!text.empty()) {
        ImGui::Spacing();
        ImGui::TextColored(style().palette().accent, "%s", text.c_str());
        tip("As many as these numbers make");
    }
    const bool ready = !offer_.needs_file() || !file_.empty();
    if (buttons("Add", "Puts it where the view looks, on the ground or on what is there", ready)) {
        const fs::path folder = fs::current_path() / work.scene.editor().place().parent_path();
        work.adding.add_offer({offer_, numbers_, file_.empty() ? fs::path() : folder / file_, {}});
    }
    ImGui::EndPopup();
}

void MakingDialogs::array(Topics& work) {
    if (std::exchange(work.requests.show_array, false)) ImGui::OpenPopup("###array");
    if (!begin_modal("Copies in a row###array", px(340))) return;
    const std::string pointer = work.chosen.object.pointer, name = work.scene.name_at(pointer);
    double count = count_;
    row({"count", "How many in all", "", "", 3, 1, 100, true}, count);
    count_ = static_cast<int>(count);
    const char* const axes[] = {"x", "y", "z"};
    for (int k = 0; k < work.scene.dimension(); ++k)
        row({axes[k], fmt::format("Each further along {}", axes[k]), "m", "", 0, -1e3, 1e3, false},
            offset_[static_cast<std::size_t>(k)]);
    if (buttons("Add", "Adds the copies; forces of this body alone are repeated with it",
                !name.empty() && count_ > 1))
        work.scene.change(
            fmt::format("{} copies of {}", count_ - 1, name), [&](const document::Document& d) {
                return session::arrayed(d, work.scene.registry(), pointer, count_, offset_);
            });
    ImGui::EndPopup();
}

void MakingDialogs::size(Topics& work) {
    if (std::exchange(work.requests.show_size, false)) ImGui::OpenPopup("###size");
    if (!begin_modal("Size###size", px(320))) return;
    const std::string pointer = work.chosen.object.pointer, name = work.scene.name_at(pointer);
    row({"factor", "Times as large", "", "About its middle", 2, 1e-3, 1e3, false}, factor_);
    if (buttons("Scale", "Makes it larger or smaller", !name.empty()))
        work.scene.change("Size of " + name, [&](const document::Document& d) {
            return session::scaled(d, work.scene.registry(), pointer, factor_);
        });
    ImGui::EndPopup();
}

}  // namespace hindcast::gui
