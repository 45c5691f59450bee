#include "app/session/text/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <system_error>

#include "engine/document/text.hpp"

namespace hindcast::session {

using document::json_quoted;
using model::Field;
using model::FieldKind;
using Kind = TextTree::Kind;

namespace {

namespace fs = std::filesystem;
using In = TextTree::In;

constexpr std::size_t most_files = 300, deepest_folder = 3;

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// The part of a value to be typed over: a string's content, else all of it.
void select_value(Suggestion& s, std::size_t from) {
    s.select_begin = from;
    s.select_end = s.json.size();
    if (s.json[from] == '"' && s.json.size() > from + 1) {
        ++s.select_begin;
        --s.select_end;
    } else if (s.json.substr(from) == "[]" || s.json.substr(from) == "{}") {
        s.select_begin = s.select_end = from + 1;
    }
}

class Completer {
public:
    Completer(const TextTree& tree, std::size_t cursor, const CompletionSource& source)
        : tree_(tree), cursor_(cursor), source_(source), spot_(tree.spot(cursor)) {}

    std::vector<Suggestion> run() {
        if (spot_.in == In::key) keys();
        if (spot_.in == In::value) values();
        return matching();
    }

private:
    // ---- keys ----

    void keys() {
        const bool renames = spot_.entry != TextTree::none && tree_[spot_.entry].has_colon;
        const std::string current =
            spot_.entry != TextTree::none ? tree_[spot_.entry].key : std::string();
        for (const KeyHelp& help : source_.guide.keys(tree_, spot_.container)) {
            if (help.written && !(help.key == current)) continue;
            if (help.written && !is_this_only(help.key)) continue;
            add_key(help, renames);
        }
        for (const std::string& key : group_names())
            if (tree_.member(spot_.container, key) == TextTree::none)
                add_key({key, "number", "a factor on the optimizer's rate", false, false}, renames);
    }

    // Not written by another member too.
    bool is_this_only(const std::string& key) const {
        return tree_.member(spot_.container, key) == spot_.entry;
    }

    void add_key(const KeyHelp& help, bool renames) {
        Suggestion s;
        s.label = help.key;
        s.facts = help.facts;
        s.documentation = help.documentation;
        s.required = help.required;
        s.begin = spot_.begin;
        s.end = spot_.end;
        s.json = json_quoted(help.key);
        if (renames) {  // the value is there
            s.select_begin = s.select_end = s.json.size();
        } else {
            s.json += ": ";
            const std::size_t from = s.json.size();
            s.json += value_of_key(help.key);
            select_value(s, from);
            s.is_member = true;
        }
        list_.push_back(std::move(s));
    }

    std::string value_of_key(const std::string& key) const {
        return key_value(tree_, spot_.container, key, source_);
    }

public:
    static std::string key_value(const TextTree& tree, int object, const std::string& key,
                                 const CompletionSource& source) {
        if (const Field* field = field_of(tree, object, key, source.registry);
            field != nullptr && field->kind == FieldKind::body) {
            const std::vector<std::string> bodies = names_of(tree, "bodies");
            return json_quoted(bodies.empty() ? "" : bodies.front());
        }
        if (key == "$schema" && object == TextTree::root) return "\"scene.schema.json\"";
        return source.guide.sample_of_key(tree, object, key);
    }

    static std::vector<std::string> names_of(const TextTree& tree, const std::string& section) {
        std::vector<std::string> names;
        for (const auto& [of, object] : tree.objects())
            if (section.empty() || of == section)
                if (std::string name = tree.object_name(object); !name.empty())
                    names.push_back(std::move(name));
        return names;
    }

    // The row of the key of an object of a section.
    static const Field* field_of(const TextTree& tree, int object, const std::string& key,
                                 const Registry& registry) {
        for (const model::Section section : model::all_sections) {
            if (object == TextTree::none || tree[object].parent == TextTree::none) return nullptr;
            const TextTree::Entry& list = tree[tree[object].parent];
            if (list.parent != TextTree::root || list.key != model::name_of(section)) continue;
            const model::ModuleType* const type =
                registry.find(section, tree.string_at(object, "type"));
            for (std::size_t k = 0; type != nullptr && k < type->fields.size(); ++k)
                if (type->fields[k].key == key) return &type->fields[k];
        }
        return nullptr;
    }

private:
    // The groups of parameters, where the optimizer's factors stand.
    std::vector<std::string> group_names() const {
        std::vector<std::string> names;
        if (tree_.pointer(spot_.container) != "/optimizer/groups") return names;
        const int parameters = tree_.member(TextTree::root, "parameters");
        if (parameters == TextTree::none) return names;
        for (const int k : tree_[parameters].parts) {
            std::string name = tree_.string_at(k, "group");
            if (name.empty()) name = tree_.string_at(k, "path");
            if (!name.empty() && std::ranges::find(names, name) == names.end())
                names.push_back(std::move(name));
        }
        return names;
    }

    // ---- values ----

    void add_value(const std::string& json, const std::string& facts,
                   const std::string& documentation = {}) {
        Suggestion s;
        s.label = json;
        if (json.size() > 1 && json.front() == '"') s.label = json.substr(1, json.size() - 2);
        s.facts = facts;
        s.documentation = documentation;
        s.json = json;
        s.begin = spot_.begin;
        s.end = spot_.end;
        s.select_begin = s.select_end = json.size();
        if (json == "[]" || json == "{}" || json == "\"\"") s.select_begin = s.select_end = 1;
        for (const Suggestion& other : list_)
            if (other.json == s.json) return;
        // A new item of an array stands between commas.
        s.is_member = spot_.entry == TextTree::none;
        list_.push_back(std::move(s));
    }

    void add_names(const std::vector<std::string>& names, const std::string& facts) {
        for (const std::string& name : names) add_value(json_quoted(name), facts);
    }

    void values() {
        const int container = spot_.container;
        if (spot_.entry == TextTree::root) {
            add_value(R"({ "format": 1, "time": { "step": "1/60", "steps": 60 } })", "object",
                      "a scene with what every scene has");
            return;
        }
        if (container == TextTree::none) return;
        const std::string key = spot_.entry != TextTree::none ? tree_[spot_.entry].key : "";
        const SchemaGuide::Schemas schemas = spot_.entry != TextTree::none
                                                 ? source_.guide.at(tree_, spot_.entry)
                                                 : source_.guide.at_new(tree_, container);
        // Only text between quotes is replaced, not a number or a list.
        if (spot_.entry != TextTree::none && tree_[spot_.entry].kind == Kind::word &&
            !std::isalpha(static_cast<unsigned char>(tree_.text()[spot_.begin])))
            return;
        if (types(key)) return;
        if (section_objects()) return;
        const KeyHelp help =
            spot_.entry != TextTree::none ? source_.guide.help(tree_, spot_.entry) : KeyHelp{};
        for (const std::string& json : SchemaGuide::values(schemas))
            add_value(json, "", help.documentation);
        references(key);
        if (spot_.entry != TextTree::none && tree_[spot_.entry].kind == Kind::string) return;
        if (const std::string json = spot_.entry != TextTree::none && tree_[spot_.entry].has_key()
                                         ? key_value(tree_, container, key, source_)
                                         : SchemaGuide::sample(schemas, tree_);
            !schemas.empty() && json != "\"\"")
            add_value(json, help.facts, help.documentation);
        templates(schemas);
    }

    // The names of module types, with what they are.
    bool types(const std::string& key) {
        if (key != "type" || spot_.container == TextTree::none) return false;
        const int list = tree_[spot_.container].parent;
        if (list == TextTree::none || tree_[list].parent != TextTree::root) return false;
        bool any = false;
        for (const model::ModuleType& type : source_.registry.all())
            if (tree_[list].key == model::name_of(type.section)) {
                add_value(json_quoted(type.type), "", type.documentation);
                any = true;
            }
        return any;
    }

    // In a section: whole objects, with their required keys.
    bool section_objects() {
        if (spot_.entry != TextTree::none || tree_[spot_.container].parent != TextTree::root)
            return false;
        const std::string& section = tree_[spot_.container].key;
        const std::vector<std::string> taken = names_of(tree_, "");
        const auto unused = [&taken](const std::string& wanted) {
            std::string name = wanted;
            for (int k = 2; std::ranges::find(taken, name) != taken.end(); ++k)
                name = wanted + "_" + std::to_string(k);
            return name;
        };
        bool any = false;
        for (const model::ModuleType& type : source_.registry.all()) {
            if (section != model::name_of(type.section)) continue;
            any = true;
            // The values are those of an object that says its type.
            const std::string head = "{ \"type\": " + json_quoted(type.type) +
                                     ", \"name\": " + json_quoted(unused(type.type));
            const TextTree alone(
                fmt::format(R"({{{} "{}": [{} }}]}})", dimension_of_scene(), section, head));
            const int object = alone.find("/" + section + "/0");
            std::string json = head;
            for (const KeyHelp& help : source_.guide.keys(alone, object))
                if (help.required && !help.written)
                    json += ", " + json_quoted(help.key) + ": " +
                            required_value(alone, object, help.key);
            json += " }";
            Suggestion s;
            s.label = type.type;
            s.facts = "object";
            s.documentation = type.documentation;
            s.begin = spot_.begin;
            s.end = spot_.end;
            const std::size_t name = json.find("\"name\": \"") + 9;
            s.json = std::move(json);
            s.select_begin = name;
            s.select_end = s.json.find('"', name);
            s.is_member = true;
            list_.push_back(std::move(s));
        }
        if (section == "parameters") {
            any = true;
            for (const std::string& path : paths()) {
                Suggestion s;
                s.label = path;
                s.facts = "parameter";
                s.documentation = "lets the optimization change " + path;
                s.begin = spot_.begin;
                s.end = spot_.end;
                s.json = "{ \"path\": " + json_quoted(path) + " }";
                s.select_begin = s.select_end = s.json.size();
                s.is_member = true;
                list_.push_back(std::move(s));
            }
        }
        return any;
    }

    std::string dimension_of_scene() const {
        const int dimension = tree_.member(TextTree::root, "dimension");
        return dimension != TextTree::none && tree_[dimension].text == "2" ? "\"dimension\": 2,"
                                                                           : "";
    }

    // The value for an object that is not in the text yet; names are those of the scene.
    std::string required_value(const TextTree& alone, int object, const std::string& key) const {
        if (const Field* field = field_of(alone, object, key, source_.registry);
            field != nullptr && field->kind == FieldKind::body) {
            const std::vector<std::string> bodies = names_of(tree_, "bodies");
            return json_quoted(bodies.empty() ? "" : bodies.front());
        }
        return source_.guide.sample_of_key(alone, object, key);
    }

    // Names, paths and files, where the field means one.
    void references(const std::string& key) {
        const int entry = spot_.entry;
        const bool string = entry == TextTree::none || tree_[entry].kind != Kind::word;
        if (!string) return;
        if (key == "name" || key == "description") return;
        const std::string about =
            entry != TextTree::none ? source_.guide.description(tree_, entry)
                                    : source_.guide.description_of_new(tree_, spot_.container, key);
        if (entry != TextTree::none && source_.guide.refers_to(tree_, entry, "path")) {
            add_names(paths(), "path");
            return;
        }
        const std::string pointer =
            entry != TextTree::none ? tree_.pointer(entry) : tree_.pointer(spot_.container);
        if (pointer == "/view/color_by") add_names(source_.colors, "color");
        if (pointer == "/view/arrows") add_names(source_.arrows, "arrows");
        // The field of the module in whose value this stands, however deep.
        int object = entry != TextTree::none ? entry : spot_.container;
        while (object > TextTree::root && field_of(tree_, tree_[object].parent, tree_[object].key,
                                                   source_.registry) == nullptr)
            object = tree_[object].parent;
        const Field* const field =
            object > TextTree::root
                ? field_of(tree_, tree_[object].parent, tree_[object].key, source_.registry)
                : nullptr;
        if (contains(about, "file") && (field == nullptr || field->kind != FieldKind::body)) {
            add_files(about);
            if (key == "file" || (field != nullptr && field->kind == FieldKind::text)) return;
        }
        if (field == nullptr) return;
        if (field->kind == FieldKind::body) {
            add_names(names_of(tree_, "bodies"), "body");
        } else if (contains(field->documentation, "path of")) {
            add_names(paths(), "path");
        } else if (field->kind == FieldKind::text && contains(field->documentation, "name of")) {
            add_names(names_of(tree_, ""), "name");
        } else if ((field->kind == FieldKind::any || field->kind == FieldKind::list) &&
                   contains(field->documentation, "body")) {
            if (entry == TextTree::none || tree_[entry].kind == Kind::string ||
                tree_[entry].kind == Kind::missing)
                add_names(names_of(tree_, "bodies"), "body");
        }
    }

    // Paths of values in the text that have a gradient, and those that only the built scene knows.
    std::vector<std::string> paths() const {
        std::vector<std::string> list{"gravity"};
        for (const auto& [section, object] : tree_.objects()) {
            const std::string name = tree_.object_name(object);
            for (const model::ModuleType& type : source_.registry.all()) {
                if (section != model::name_of(type.section) ||
                    tree_.string_at(object, "type") != type.type)
                    continue;
                for (const Field& f : type.fields)
                    if (f.may_optimize && tree_.member(object, f.key) != TextTree::none)
                        list.push_back(name + "." + f.key);
            }
        }
        for (const std::string& path : source_.paths)
            if (std::ranges::find(list, path) == list.end()) list.push_back(path);
        return list;
    }

    // Below the scene's folder, those of the kind that the text names first.
    void add_files(const std::string& about) {
        if (source_.folder.empty()) return;
        std::vector<std::pair<bool, std::string>> found;
        std::error_code error;
        fs::recursive_directory_iterator at(source_.folder,
                                            fs::directory_options::skip_permission_denied, error),
            end;
        for (; !error && at != end && found.size() < most_files; at.increment(error)) {
            if (at.depth() >= static_cast<int>(deepest_folder)) at.disable_recursion_pending();
            if (at->path().filename().string().starts_with('.')) {
                if (at->is_directory(error)) at.disable_recursion_pending();
                continue;
            }
            if (!at->is_regular_file(error)) continue;
            const std::string extension = at->path().extension().string();
            static const std::set<std::string> known = {".npy",  ".csv",  ".obj", ".msh", ".xml",
                                                        ".urdf", ".mjcf", ".png", ".vtu", ".ply",
                                                        ".stl",  ".node", ".ele", ".pgm"};
            if (!known.contains(lower(extension))) continue;
            std::string word = lower(extension.substr(1));
            const bool meant =
                contains(lower(about), word) || (word == "xml" && contains(about, "MJCF"));
            found.emplace_back(!meant, fs::relative(at->path(), source_.folder, error).string());
        }
        std::ranges::sort(found);
        const bool any_meant = !found.empty() && !found.front().first;
        for (const auto& [other, file] : found)
            if (!any_meant || !other) add_value(json_quoted(file), "file");
    }

    // Objects that the schema describes, such as generators.
    void templates(const SchemaGuide::Schemas& schemas) {
        for (const SchemaView& schema : schemas) {
            if (schema.number("maxProperties") != 1) continue;
            for (const std::string& key : schema.names("properties")) {
                const SchemaView value = *schema.member(key);
                add_value(
                    "{ " + json_quoted(key) + ": " + SchemaGuide::sample({value}, tree_) + " }",
                    "generator", value.text("description"));
                list_.back().label = key;
            }
        }
    }

    // ---- what is typed ----

    std::vector<Suggestion> matching() {
        std::string typed;
        if (spot_.begin < cursor_) typed = tree_.text().substr(spot_.begin, cursor_ - spot_.begin);
        if (typed.starts_with('"')) typed.erase(0, 1);
        typed = lower(typed);
        std::vector<Suggestion> first, then;
        for (Suggestion& s : list_) {
            const std::string label = lower(s.label);
            if (label.starts_with(typed))
                first.push_back(std::move(s));
            else if (contains(label, typed))
                then.push_back(std::move(s));
        }
        for (Suggestion& s : then) first.push_back(std::move(s));
        return first;
    }

    const TextTree& tree_;
    const std::size_t cursor_;
    const CompletionSource& source_;
    const TextTree::Spot spot_;
    std::vector<Suggestion> list_;
};

}  // namespace

std::vector<Suggestion> complete(const TextTree& tree, std::size_t cursor,
                                 const CompletionSource& source) {
    return Completer(tree, cursor, source).run();
}

TextChange accepted(const TextTree& tree, const Suggestion& s) {
    TextChange change{s.begin, s.end, s.json, 0, 0};
    std::size_t added = 0;
    if (s.is_member) {
        std::size_t at = 0;
        const char before = tree.before(s.begin, &at);
        if (before != 0 && before != ',' && before != '{' && before != '[' && before != ':') {
            change.begin = at + 1;
            const std::string between = tree.text().substr(at + 1, s.begin - at - 1);
            change.text = "," + (between.empty() ? " " : between) + s.json;
            added = change.text.size() - s.json.size();
        }
        const char behind = tree.behind(s.end);
        if (behind != 0 && behind != ',' && behind != '}' && behind != ']') change.text += ",";
    }
    change.select_begin = change.begin + added + s.select_begin;
    change.select_end = change.begin + added + s.select_end;
    return change;
}

TextChange with_key(const TextTree& tree, int object, const std::string& key,
                    const CompletionSource& source) {
    const TextTree::Entry& e = tree[object];
    Suggestion s;
    s.json = json_quoted(key) + ": ";
    const std::size_t value = s.json.size();
    s.json += Completer::key_value(tree, object, key, source);
    select_value(s, value);
    TextChange change;
    const std::size_t inside = e.closed ? e.end - 1 : e.end;
    std::size_t last = 0;
    const char before = tree.before(inside, &last);
    change.begin = change.end = last + 1;
    if (before != '{' && before != ',') change.text = ",";
    // On a line of its own where the other members have theirs, behind what the last one's line says.
    const TextPosition place =
        e.parts.empty() ? TextPosition{} : tree.position(tree[e.parts.back()].from());
    if (!e.parts.empty() && place.line != tree.position(e.begin).line) {
        const std::string rest = tree.text().substr(last + 1, inside - last - 1);
        const std::string same_line = rest.substr(0, rest.find('\n'));
        const std::size_t end = same_line.find_last_not_of(" \t\r") + 1;
        change.end = last + 1 + end;
        change.text += same_line.substr(0, end) + "\n" + std::string(place.column, ' ');
    } else {
        change.text += " ";
    }
    const std::size_t from = change.begin + change.text.size();
    change.text += s.json;
    if (e.parts.empty() && inside == change.end && e.closed) change.text += " ";
    change.select_begin = from + s.select_begin;
    change.select_end = from + s.select_end;
    return change;
}

}  // namespace hindcast::session
