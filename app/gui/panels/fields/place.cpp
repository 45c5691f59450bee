#include "app/gui/panels/fields/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "app/gui/draw/words.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "engine/document/text.hpp"
#include "engine/model/element_names.hpp"

namespace hindcast::gui {

namespace {

using document::Node;
using session::Form;

constexpr std::size_t most_picks = 64;
constexpr std::size_t most_names = 2000;
constexpr std::size_t longest_header = 1 << 16;  // bytes of a table's first line

constexpr const char* default_method = "lbfgs";  // of a scene without "optimizer"

std::string text_at(const document::Document& document, const std::string& pointer) {
    const Node* const node = document.find(pointer);
    return node != nullptr && node->is_string() ? node->string() : "";
}

// The names of a table's columns.
std::vector<std::string> columns_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string line(longest_header, '\0');
    stream.getline(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount() - 1, 0)));
    std::vector<std::string> names;
    std::size_t begin = 0;
    while (begin < line.size()) {
        const std::size_t end = std::min(line.find(',', begin), line.size());
        std::string name = line.substr(begin, end - begin);
        std::erase_if(name, [](char c) { return c == '"' || c == '\r'; });
        name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
        if (!name.empty()) names.push_back(std::move(name));
        begin = end + 1;
    }
    return names;
}

}  // namespace

void Picks::look(const Topics& work) {
    const Selection& now = work.chosen.object;
    const std::string seen = fmt::format("{}#{}", now.pointer, now.element);
    if (seen == last_) return;
    last_ = seen;
    if (now.kind != render::ElementKind::point || now.element < 0) return;
    const Point point{work.scene.name_at(now.pointer), now.element};
    std::erase(points_, point);
    points_.push_back(point);
    if (points_.size() > most_picks) points_.erase(points_.begin());
}

std::vector<std::int64_t> Picks::of(const std::string& body) const {
    std::vector<std::int64_t> numbers;
    for (const Point& point : points_)
        if (point.body == body) numbers.push_back(point.number);
    return numbers;
}

FieldPlace::FieldPlace(Topics& work, std::string pointer, std::string undo, const Form& form,
                       const session::QuantityInfo* quantity, const Picks* picks)
    : work_(work),
      pointer_(std::move(pointer)),
      undo_(std::move(undo)),
      form_(form),
      quantity_(quantity),
      picks_(picks),
      document_(work.scene.editor().document()),
      root_(document_ ? document_->find(pointer_) : nullptr) {}

const Node* FieldPlace::find(const std::string& below) const {
    if (root_ != nullptr) return document::find_below(*root_, below);
    return form_.fallback.is_null() ? nullptr : document::find_below(form_.fallback, below);
}

void FieldPlace::put(const std::string& below, Node value, bool drag, const std::string& name) {
    const std::string step = name.empty() ? undo_ : name;
    work_.scene.edit([&](session::Editor& editor) {
        const document::Document& now = *editor.document();
        const std::string merge = drag ? pointer_ + "#" + below : "";
        const Node* const root = now.find(pointer_);
        if (below.empty() || root == nullptr) {
            Node whole;
            if (below.empty()) {
                whole = std::move(value);
            } else {
                whole = form_.fallback.is_null() ? session::blank(form_, surroundings())
                                                 : form_.fallback;
                session::set_below(whole, below, std::move(value));
            }
            // An object of the scene that is not written is made with this member.
            const std::string above = object();
            if (root == nullptr && !above.empty() && now.find(above) == nullptr) {
                Node made = Node::object();
                if (above == "/optimizer") made.set("type", Node(default_method));
                made.set(document::split_pointer(pointer_).back(), std::move(whole));
                editor.set(above, std::move(made), step, merge);
            } else {
                editor.set(pointer_, std::move(whole), step, merge);
            }
            return;
        }
        const Node* const above = document::find_below(*root, below.substr(0, below.rfind('/')));
        if (above != nullptr && (above->is_object() || above->is_array())) {
            editor.set(pointer_ + below, std::move(value), step, merge);
        } else {
            Node whole = *root;
            session::set_below(whole, below, std::move(value));
            editor.set(pointer_, std::move(whole), step, merge);
        }
    });
}

void FieldPlace::end_drag() {
    work_.scene.edit([](session::Editor& editor) { editor.end_merge(); });
}

void FieldPlace::erase(const std::string& below) {
    work_.scene.edit([&](session::Editor& editor) {
        if (editor.document()->find(pointer_ + below) == nullptr) return;
        if (!below.empty())
            editor.erase(pointer_ + below, undo_);
        else if (is_of_object())
            editor.reset(pointer_);  // others may refer to it
        else
            editor.erase(pointer_, undo_);
    });
}

bool FieldPlace::is_of_object() const {
    return std::ranges::any_of(model::all_sections, [&](model::Section section) {
        return pointer_.starts_with(std::string("/") + model::name_of(section) + "/");
    });
}

session::Surroundings FieldPlace::surroundings() const {
    session::Surroundings around =
        quantity_ != nullptr ? session::surroundings_of(*quantity_) : session::Surroundings{};
    if (const Node* const d = document_->find("/dimension"); d != nullptr && d->is_integer())
        around.dimension = static_cast<int>(d->integer());
    const Node* const bodies = document_->find("/bodies");
    for (std::size_t k = 0; bodies != nullptr && k < bodies->size(); ++k)
        around.bodies.push_back(object_name(*document_, fmt::format("/bodies/{}", k)));
    return around;
}

std::string FieldPlace::body() const {
    const std::string of = text_at(*document_, object() + "/of");
    return !of.empty() ? of : object_name(*document_, object());
}

std::filesystem::path FieldPlace::folder() const {
    const std::filesystem::path file = work_.scene.editor().place();
    return file.empty() ? std::filesystem::current_path() : file.parent_path();
}

std::vector<std::string> FieldPlace::names_for(const Form& form) const {
    std::vector<std::string> names;
    const auto add = [&](std::string name) {
        if (!name.empty() && names.size() < most_names &&
            std::ranges::find(names, name) == names.end())
            names.push_back(std::move(name));
    };
    if (form.means == "body") return surroundings().bodies;
    if (form.means == "object") {
        for (const model::Section section : model::all_sections) {
            const std::string list = std::string("/") + model::name_of(section);
            const Node* const objects = document_->find(list);
            for (std::size_t k = 0; objects != nullptr && k < objects->size(); ++k) {
                const std::string at = fmt::format("{}/{}", list, k);
                if (at != object() &&
                    (form.of.empty() || text_at(*document_, at + "/type") == form.of))
                    add(object_name(*document_, at));
            }
        }
    } else if (form.means == "path") {
        for (const session::QuantityInfo& q : work_.running.now().values.present_quantities())
            if (q.may_optimize) add(q.path);
    } else if (form.means == "color") {
        for (const session::ShownField& field : work_.running.now().view.colors) add(field.name);
    } else if (form.means == "arrows") {
        for (const session::ShownField& field : work_.running.now().view.arrows) add(field.name);
    } else if (form.means == "array") {
        add("position");
        add("velocity");
        for (const session::QuantityInfo& q : work_.running.now().values.present_quantities())
            for (const char* const state : {"qpos", "qvel", "act"})
                if (q.path.ends_with(std::string(".") + state)) add(q.path);
    } else if (form.means == "element") {
        const std::string path =
            form.of.empty() ? text_at(*document_, object() + "/array") : body() + "." + form.of;
        for (const session::QuantityInfo& q : work_.running.now().values.present_quantities())
            for (std::int64_t k = 0; q.path == path && q.names && k < q.names->count(); ++k)
                add(q.names->name(k));
    } else if (form.means == "column") {
        const std::string file = text_at(*document_, object() + "/file");
        if (!file.empty())
            for (std::string& name : columns_of(folder() / file)) add(std::move(name));
    }
    return names;
}

}  // namespace hindcast::gui
