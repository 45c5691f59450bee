#include "app/session/adding.hpp"

#include <utility>

#include "app/session/default_object.hpp"

namespace hindcast::session {

Adding::Adding(const Editor& editor, const Registry& registry, model::Section section,
               const std::string& type)
    : editor_(&editor), registry_(registry), type_(registry.find(section, type)) {
    if (type_ == nullptr)
        throw Error("there is no type '" + type + "' in " + model::name_of(section));
    begin(editor);
}

Adding::~Adding() { end(); }

void Adding::begin(const Editor& editor) {
    end();
    name_ = editor.name_for(type_->type);
    document_ = editor.document();
    made_.reset();
    problem_.reset();
    ready_ = cancelled_ = false;
    thread_ = std::thread([this, file = editor.file()] {
        try {
            made_ = with_default_object(*document_, file, registry_, *type_, name_, &cancelled_);
        } catch (const Error& error) {
            problem_ = error;
        } catch (const std::exception& error) {  // of the standard library: memory, threads
            problem_ = Error(error.what());
        }
        ready_ = true;
    });
}

void Adding::end() {
    cancelled_ = true;
    if (thread_.joinable()) thread_.join();
}

std::string Adding::finish(Editor& editor) {
    if (editor.document() != document_) {
        begin(editor);
        return "";
    }
    end();
    if (problem_) throw *problem_;
    return editor.put_added(std::move(*made_), name_);
}

}  // namespace hindcast::session
