#include "app/session/document/add_object_task.hpp"

#include <utility>

#include "app/session/document/default_object.hpp"

namespace hindcast::session {

AddObjectTask::AddObjectTask(const Editor& editor, const Registry& registry, model::Section section,
                             const std::string& type)
    : editor_(&editor), stem_(type) {
    const model::ModuleType* const found = registry.find(section, type);
    if (found == nullptr)
        throw Error("there is no type '" + type + "' in " + model::name_of(section));
    label_ = found->title;
    make_ = [&registry, found](const document::Document& document,
                               const std::filesystem::path& file, const std::string& name,
                               const std::atomic<bool>* canceled) {
        return with_default_object(document, file, registry, *found, name, canceled);
    };
    begin(editor);
}

AddObjectTask::AddObjectTask(const Editor& editor, std::string label, std::string stem, Make make)
    : editor_(&editor), label_(std::move(label)), stem_(std::move(stem)), make_(std::move(make)) {
    begin(editor);
}

void AddObjectTask::begin(const Editor& editor) {
    background_.cancel();
    name_ = editor.name_for(stem_);
    document_ = editor.document();
    made_.reset();
    problem_.reset();
    ready_ = false;
    background_.start(
        [this, file = editor.place()] {
            made_ = make_(*document_, file, name_, &background_.canceled());
        },
        [this](const std::optional<Error>& failure) {
            problem_ = failure;
            ready_ = true;
        });
}

std::string AddObjectTask::finish(Editor& editor) {
    if (editor.document() != document_) {
        begin(editor);
        return "";
    }
    background_.cancel();  // it has ended, so its results are visible
    if (problem_) throw *problem_;
    if (!made_) throw Error("internal: nothing was made to be added");
    return editor.put_added(std::move(*made_), name_);
}

}  // namespace hindcast::session
