#include "app/gui/work/state/settings.hpp"

#include <algorithm>
#include <utility>

#include "app/exchange/stage.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/render/renderer.hpp"
#include "engine/document/document.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;
using document::Document;
using document::Node;

void Settings::set(render::View& view) const {
    view.dark = dark;
    view.shadows = shadows;
    view.ambient_occlusion = ambient_occlusion;
    view.floor = floor;
    view.samples = samples;
    const auto gray = [](float r, float g, float b) { return render::Color{r, g, b, 1}; };
    view.background_top = dark ? gray(0.17F, 0.185F, 0.21F) : gray(0.93F, 0.945F, 0.96F);
    view.background_bottom = dark ? gray(0.09F, 0.097F, 0.11F) : gray(0.80F, 0.825F, 0.85F);
}

KeptSettings::KeptSettings(fs::path state_folder, Messages& messages)
    : file_(std::move(state_folder) / "settings.json"), messages_(messages) {
    load();
}

void KeptSettings::load() {
    Settings& settings = *this;
    try {
        if (!fs::exists(file_)) return;
        are_kept = true;
        const Document kept = Document::load(file_);
        const auto flag = [&](const char* pointer, bool& value) {
            if (const Node* n = kept.find(pointer); n != nullptr && n->is_boolean())
                value = n->boolean();
        };
        flag("/dark", settings.dark);
        flag("/tour_done", settings.tour_done);
        flag("/shadows", settings.shadows);
        flag("/ambient_occlusion", settings.ambient_occlusion);
        flag("/floor", settings.floor);
        flag("/text_beside", settings.text_beside);
        if (const Node* n = kept.find("/font_scale"); n != nullptr && n->is_real())
            settings.font_scale = std::clamp(n->real(), 0.6, 3.0);
        if (const Node* n = kept.find("/layout"); n != nullptr && n->is_integer())
            settings.layout = static_cast<int>(n->integer());
        if (const Node* n = kept.find("/folder"); n != nullptr && n->is_string())
            settings.folder = n->string();
        if (const Node* n = kept.find("/samples"); n != nullptr && n->is_integer())
            settings.samples = n->integer() == 1 ? 1 : 4;
    } catch (const Error&) {
        settings = {};  // a broken file must not keep the window from opening
    }
}

void KeptSettings::save() {
    changed = true;
    try {
        Document kept;
        kept.set("/dark", dark);
        kept.set("/font_scale", font_scale);
        kept.set("/tour_done", tour_done);
        kept.set("/shadows", shadows);
        kept.set("/ambient_occlusion", ambient_occlusion);
        kept.set("/floor", floor);
        kept.set("/samples", samples);
        kept.set("/text_beside", text_beside);
        kept.set("/layout", layout);
        kept.set("/folder", folder);
        kept.save(file_);
    } catch (const Error& error) {
        messages_.fail(error);
    }
}

}  // namespace hindcast::gui
