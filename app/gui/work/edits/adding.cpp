#include "app/gui/work/edits/adding.hpp"

#include <utility>

#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/view/looks.hpp"
#include "app/session/document/scene_files.hpp"

namespace hindcast::gui {

using document::Document;

Adding::Adding(EditedScene& scene, Chosen& chosen, const Looks& looks)
    : scene_(scene), chosen_(chosen), looks_(looks) {}

void Adding::add(model::Section section, const std::string& type) {
    scene_.edit([&](session::Editor& e) {
        task_.reset();
        task_ = std::make_unique<session::AddObjectTask>(e, scene_.registry(), section, type);
    });
}

void Adding::add_offer(session::ChosenOffer chosen) {
    for (std::size_t k = 0; k < 3; ++k) chosen.look_at[k] = looks_.view.camera.target[k];
    scene_.edit([&](session::Editor& e) {
        task_.reset();
        // The name is that of the thing, without how it is made: "cloth" from a file too.
        const std::string stem = chosen.offer.id.substr(0, chosen.offer.id.find('_'));
        const std::string label = chosen.offer.label;
        task_ = std::make_unique<session::AddObjectTask>(
            e, label, stem,
            [&registry = scene_.registry(), chosen = std::move(chosen)](
                const Document& document, const std::filesystem::path& file,
                const std::string& name, const std::atomic<bool>* canceled) {
                return session::with_offer(document, file, registry, chosen, name, canceled);
            });
    });
}

void Adding::update() {
    if (!task_) return;
    if (!task_->is_for(scene_.editor())) {  // another scene is open
        task_.reset();
        return;
    }
    if (!task_->ready()) return;
    std::string pointer;
    scene_.edit([&](session::Editor& e) { pointer = task_->finish(e); });
    if (task_->ready()) task_.reset();  // else it goes on, with the scene as it is now
    if (!pointer.empty()) chosen_.select({pointer, -1, ""});
}

void Adding::make_from_parts(const std::string& what, const std::string& stem,
                             const FromParts& make) {
    std::string pointer;
    scene_.edit([&](session::Editor& e) {
        const std::string name = e.name_for(stem);
        e.replace(make(*e.document(), name), what);
        pointer = scene_.pointer_of(name);
    });
    if (!pointer.empty()) chosen_.select({pointer, -1, ""});
}

std::optional<std::string> Adding::bring(const std::filesystem::path& file) {
    std::optional<std::string> name;
    scene_.edit([&](session::Editor& e) {
        if (!e.has_scene()) throw Error("there is no scene");
        const std::filesystem::path folder = e.place().parent_path();
        if (scene_.is_example() && !session::name_below(file, folder))
            throw Error("the folder of the bundled scenes is not written to")
                .remedy("save the scene in a folder of yours first");
        if (e.file().empty() && session::files_named_in(*e.document(), folder).empty())
            e.live_in(std::filesystem::absolute(file).parent_path());
        name = session::brought_beside(file, e.place().parent_path());
    });
    return name;
}

}  // namespace hindcast::gui
