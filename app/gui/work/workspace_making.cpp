// What is made in the window: shapes, scenes of templates, objects of chosen parts.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/work/workspace.hpp"
#include "app/session/document/scene_files.hpp"
#include "app/session/shapes/templates.hpp"

namespace hindcast::gui {

using document::Document;

bool Workspace::change(const std::string& name,
                       const std::function<Document(const Document&)>& make) {
    return edit([&](session::Editor& e) {
        if (!e.has_scene()) throw Error("there is no scene");
        e.replace(make(*e.document()), name);
    });
}

std::optional<std::string> Workspace::bring(const std::filesystem::path& file) {
    std::optional<std::string> name;
    edit([&](session::Editor& e) {
        if (!e.has_scene()) throw Error("there is no scene");
        const std::filesystem::path folder = e.place().parent_path();
        if (is_example() && !session::name_below(file, folder))
            throw Error("the folder of the bundled scenes is not written to")
                .remedy("save the scene in a folder of yours first");
        if (e.file().empty() && session::files_named_in(*e.document(), folder).empty())
            e.live_in(std::filesystem::absolute(file).parent_path());
        name = session::brought_beside(file, e.place().parent_path());
    });
    return name;
}

void Workspace::add_shape(session::ShapeWish wish) {
    for (std::size_t k = 0; k < 3; ++k) wish.look_at[k] = view.camera.target[k];
    edit([&](session::Editor& e) {
        adding_.reset();
        // The name is what the shape is, without how it is made: "cloth" from a file too.
        const std::string stem = wish.shape.id.substr(0, wish.shape.id.find('_'));
        const std::string label = wish.shape.label;
        adding_ = std::make_unique<session::AddObjectTask>(
            e, label, stem,
            [&registry = registry_, wish = std::move(wish)](
                const Document& document, const std::filesystem::path& file,
                const std::string& name, const std::atomic<bool>* cancelled) {
                return session::with_shape(document, file, registry, wish, name, cancelled);
            });
    });
}

void Workspace::make_from(const std::string& scene_template) {
    when_saved([this, scene_template] {
        auto fresh = fresh_editor();
        try {
            fresh->make_new(session::scene_of_template(registry_, scene_template));
        } catch (const Error& error) {
            fail(error);
            return;
        }
        begin_opening(std::move(fresh));
    });
}

void Workspace::make_from_parts(const std::string& what, const std::string& stem,
                                const FromParts& make) {
    std::string pointer;
    edit([&](session::Editor& e) {
        const std::string name = e.name_for(stem);
        e.replace(make(*e.document(), name), what);
        pointer = pointer_of(name);
    });
    if (!pointer.empty()) select({pointer, -1, ""});
}

}  // namespace hindcast::gui
