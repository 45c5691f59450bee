#include "app/session/document/add_object_task.hpp"

#include <utility>

#include "app/session/document/default_object.hpp"

namespace hindcast::session {

AddObjectTask::AddObjectTask(const Editor& editor, const Registry& registry, model::Section section,
                             const std::string& type)
    : editor_(&editor), registry_(registry), type_(registry.find(section, type)) {
    if (type_ == nullptr)
        throw Error("there is no type '" + type + "' in " + model::name_of(section));
    begin(editor);
}

void AddObjectTask::begin(const Editor& editor) {
    background_.cancel();
    name_ = editor.name_for(type_->type);
    document_ = editor.document();
    made_.reset();
    problem_.reset();
    ready_ = false;
    background_.start(
        [this, file = editor.file()] {
            made_ = with_default_object(*document_, file, registry_, *type_, name_,
                                        &background_.cancelled());
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
    background_.cancel();  // it has come to its end: what it wrote is seen
    if (problem_) throw *problem_;
    if (!made_) throw Error("internal: nothing was made to be added");
    return editor.put_added(std::move(*made_), name_);
}

}  // namespace hindcast::session
