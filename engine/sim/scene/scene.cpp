#include "engine/sim/scene/scene.hpp"

#include <map>

#include "engine/document/read.hpp"
#include "engine/model/warnings/warning.hpp"
#include "engine/sim/scene/checkpoint_list.hpp"
#include "engine/sim/scene/path.hpp"
#include "engine/sim/scene/scene_check.hpp"

namespace hindcast {

using document::Node;
using document::Reader;

namespace {
constexpr std::int64_t newest_format = 1;
}

Scene Scene::load(const std::filesystem::path& path) {
    Scene scene(document::Document::load(path));
    scene.file_ = path;
    return scene;
}

Scene Scene::parse(std::string_view text, std::string file) {
    return Scene(document::Document::parse(text, std::move(file)));
}

Scene Scene::of(document::Document document, std::filesystem::path file) {
    Scene scene(std::move(document));
    scene.file_ = std::move(file);
    return scene;
}

void Scene::read() {
    Reader reader(document_.root(), "a scene");
    const std::int64_t format = reader.integer("format", 1);
    if (format > newest_format)
        throw document::fault(
            *document_.root().find("format"),
            "this scene has format " + std::to_string(format) + ", newer than this program knows")
            .remedy("update the program; it reads formats up to " + std::to_string(newest_format));
    reader.allow({"$schema", "gravity", "bodies", "forces", "colliders", "controllers", "objective",
                  "parameters", "optimizer", "gradients", "checkpoints", "outputs", "contact",
                  "accepted_warnings", "view"});
    name_ = reader.string_or("name", "scene");
    description_ = reader.string_or("description", "");
    dimension_ = static_cast<int>(reader.integer_or("dimension", 3, 2, 3));
    reader.choice_or("up", {"z", "y"}, 0);
    Reader time = reader.object("time", "the scene's time");
    step_ = time.number("step", document::Range::positive("s"));
    steps_ = time.integer("steps", 0, 100'000'000);
    substeps_ = time.integer_or("substeps", 1, 1, 100'000);
    std::vector<std::string_view> integrators;
    for (const model::Integrator i : model::all_integrators)
        integrators.emplace_back(model::name_of(i));
    integrator_ = model::all_integrators[time.choice_or("integrator", integrators, 0)];
    if (const Node* node = time.find("minimization")) read_minimization(*node);
    time.finish();
    reader.finish();
    gradients_ = GradientSettings::read(document_.root().find("gradients"));
    if (const Node* view = document_.root().find("view")) check_view(*view);
    if (const Node* list = document_.root().find("checkpoints")) check_checkpoints(*list);
    Warnings::read_accepted(document_.root().find("accepted_warnings"));
    for (const model::Section section : model::all_sections)
        if (const Node* list = document_.root().find(model::name_of(section)))
            document::array_of(*list);
    objects();
}

void Scene::read_minimization(const Node& node) {
    if (integrator_ == model::Integrator::semi_implicit_euler)
        throw document::fault(node, "nothing is minimized by the integrator semi_implicit_euler")
            .remedy("choose an integrator that does, such as implicit_euler, or leave this out");
    Reader reader(node, "a minimization");
    MinimizationOptions& m = minimization_;
    m.tolerance = reader.number_or("tolerance", m.tolerance, document::Range::positive());
    m.most_iterations =
        static_cast<int>(reader.integer_or("iterations", m.most_iterations, 1, 1'000'000));
    m.solver = static_cast<LinearSolverKind>(
        reader.choice_or("solver", {"automatic", "direct", "conjugate_gradients", "dense"}, 0));
    reader.finish();
}

std::vector<Scene::Object> Scene::objects() const {
    std::vector<Object> all;
    std::map<std::string, const Node*> names;
    std::map<std::string, int> counts;
    for (const model::Section section : model::all_sections) {
        const Node* list = document_.root().find(model::name_of(section));
        if (list == nullptr) continue;
        for (std::size_t k = 0; k < list->size(); ++k) {
            const Node& node = document::object_of(list->item(k));
            const Node* type = node.find("type");
            if (type == nullptr)
                throw document::fault(node, "this object has no \"type\"")
                    .remedy("say what it is, such as \"type\": \"particles\"");
            Object object{section, document::string_of(*type), "", &node};
            const Node* name = node.find("name");
            object.name = name != nullptr
                              ? document::string_of(*name)
                              : object.type + "_" + std::to_string(++counts[object.type]);
            const Node& at = name != nullptr ? *name : node;
            if (object.name.empty() || object.name.find_first_of(".[]\"") != std::string::npos)
                throw document::fault(at, "'" + object.name + "' cannot be a name")
                    .remedy("names are not empty and hold none of . [ ] \"");
            if (object.name == "gravity" || object.name == "time" || object.name == "gradients")
                throw document::fault(
                    at, "the name '" + object.name + "' is taken by the scene itself");
            const auto [entry, fresh] = names.try_emplace(object.name, &at);
            if (!fresh)
                throw document::fault(at, "two objects are called '" + object.name + "'")
                    .note("the other stands at " + to_string(entry->second->place()))
                    .remedy("names are unique in a scene");
            all.push_back(std::move(object));
        }
    }
    return all;
}

const Node* Scene::find(const std::string& path) const {
    const Path p = Path::parse(path);
    const Node* node = nullptr;
    if (p.keys.front() == "gravity" || p.keys.front() == "time" || p.keys.front() == "optimizer" ||
        p.keys.front() == "gradients")
        node = document_.root().find(p.keys.front());
    else
        for (const Object& object : objects())
            if (object.name == p.keys.front()) node = object.node;
    for (std::size_t k = 1; node != nullptr && k < p.keys.size(); ++k) node = node->find(p.keys[k]);
    if (node != nullptr && p.name) node = node->find(*p.name);
    if (node != nullptr && p.element) {
        if (!node->is_array() || *p.element >= static_cast<std::int64_t>(node->size()))
            return nullptr;
        node = &node->item(static_cast<std::size_t>(*p.element));
    }
    if (node != nullptr && !p.component.empty()) {
        const auto component = p.component_of(static_cast<int>(node->size()));
        if (!node->is_array() || !component) return nullptr;
        node = &node->item(static_cast<std::size_t>(*component));
    }
    return node;
}

void Scene::set(const std::string& path, std::string_view json) {
    const Node value = document::Document::parse(json, "--set " + path).root();
    document::Document changed = document_;
    const Path p = Path::parse(path);
    if (const Node* node = find(path)) {
        changed.set(node->pointer(), value);
    } else {
        // A key that the scene does not write, of an object that it has: the default is replaced.
        const Node* owner = p.keys.size() < 2
                                ? (p.keys.front() == "gravity" ? &document_.root() : nullptr)
                                : find(p.owner());
        if (owner == nullptr || p.has_element() || !p.component.empty())
            throw Error("the scene has nothing at the path '" + path + "'")
                .remedy(
                    "paths look like cage.stiffness, ball.velocity[0].z, gravity or time.steps");
        changed.set(owner->pointer() + "/" + p.keys.back(), value);
    }
    Scene next(std::move(changed));
    next.file_ = file_;
    next.loaded_ = loaded_ != nullptr ? loaded_ : std::make_shared<const Scene>(*this);
    *this = std::move(next);
}

}  // namespace hindcast
