#include "app/session/text/scene_faults.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "app/session/text/schema_guide.hpp"
#include "app/session/text/text_tree.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "engine/sim/scene/schema.hpp"

namespace hindcast::session {

using document::Document;
using document::Node;

namespace {

constexpr std::size_t most_faults = 30;
constexpr int most_builds = 80;
constexpr auto longest = std::chrono::seconds(10);

std::string parent_of(const std::string& pointer) {
    return pointer.substr(0, std::min(pointer.rfind('/'), pointer.size()));
}

bool is_within(const std::string& pointer, const std::string& outer) {
    return pointer == outer || pointer.starts_with(outer + "/");
}

// "/forces/0" of "/forces/0/connect/3"; "" for what is not in a list of the scene.
std::string object_of(const std::string& pointer) {
    const std::size_t second = pointer.find('/', 1);
    if (second == std::string::npos) return "";
    const std::size_t third = pointer.find('/', second + 1);
    const std::string token = pointer.substr(
        second + 1, third == std::string::npos ? std::string::npos : third - second - 1);
    return document::pointer_index(token) ? pointer.substr(0, third) : "";
}

class Finder {
public:
    Finder(const std::string& text, const std::filesystem::path& file, const Registry& registry,
           SimulationOptions options, const std::function<bool()>& go_on)
        : text_(text),
          file_(file),
          registry_(registry),
          options_(std::move(options)),
          go_on_(go_on),
          guide_(scene_schema(registry)) {
        if (!options_.device) {
            DeviceOptions device;
            device.kind = DeviceKind::interpreter;  // nothing runs
            device.threads = 1;
            options_.device = std::make_shared<Device>(device);
        }
    }

    std::vector<SceneFault> run() {
        try {
            document_ = Document::parse(text_, file_.string());
        } catch (const Error& error) {
            found_.push_back(fault_of(error, text_));
            return found_;
        }
        const auto begun = std::chrono::steady_clock::now();
        for (int builds = 0; builds < most_builds && found_.size() < most_faults; ++builds) {
            if (go_on_ && !go_on_()) break;
            if (builds > 0 && std::chrono::steady_clock::now() - begun > longest) break;
            try {
                load_scene(document_, file_, registry_, options_);
                break;
            } catch (const Error& error) {
                if (!take(error)) break;
            } catch (const std::exception& error) {
                found_.push_back({std::string("the scene cannot be built: ") + error.what()});
                break;
            }
        }
        std::ranges::stable_sort(found_, {}, &SceneFault::begin);
        return found_;
    }

private:
    // Records the fault and mends the document; false if it cannot go on.
    bool take(const Error& error) {
        const std::string& pointer = error.json_pointer();
        if (!follows_from_repair(error, pointer)) {
            const SceneFault fault = fault_of(placed(error, document_), text_);
            const bool known = std::ranges::any_of(found_, [&](const SceneFault& other) {
                return other.happened == fault.happened && other.begin == fault.begin;
            });
            if (!known) found_.push_back(fault);
        }
        return mend(error, pointer);
    }

    bool follows_from_repair(const Error& error, const std::string& pointer) const {
        if (pointer.empty() && !error.place().known() && !touched_.empty()) return true;
        for (const std::string& repaired : repaired_)
            if (is_within(pointer, repaired)) return true;
        // An error of the whole object follows from one of its values, replaced or left out.
        const std::string object = object_of(pointer);
        if (!object.empty() && pointer == object && touched_.contains(object) &&
            missing_key(error, pointer).empty())
            return true;
        return std::ranges::any_of(removed_, [&](const std::string& name) {
            return error.happened().find("'" + name + "'") != std::string::npos ||
                   error.happened().find("'" + name + ".") != std::string::npos;
        });
    }

    // The required key that the error says is missing.
    std::string missing_key(const Error& error, const std::string& pointer) const {
        const Node* const node = document_.find(pointer);
        if (node == nullptr || !node->is_object()) return "";
        const TextTree tree(document_.to_text());
        const int entry = tree.find(pointer);
        if (entry == TextTree::none) return "";
        for (const KeyHelp& key : guide_.keys(tree, entry))
            if (key.required && !key.written &&
                (error.happened().find("'" + key.key + "'") != std::string::npos ||
                 error.happened().find("\"" + key.key + "\"") != std::string::npos))
                return key.key;
        return "";
    }

    static std::string meant_by(const Error& error) {
        constexpr std::string_view begin = "did you mean '";
        const std::string& remedy = error.what_to_do();
        if (!remedy.starts_with(begin)) return "";
        return remedy.substr(begin.size(), remedy.find('\'', begin.size()) - begin.size());
    }

    bool is_required(const std::string& pointer) const {
        const TextTree tree(document_.to_text());
        const int entry = tree.find(pointer);
        if (entry == TextTree::none) return false;
        for (const KeyHelp& key : guide_.keys(tree, tree[entry].parent))
            if (key.key == tree[entry].key) return key.required;
        return false;
    }

    Node sample(const std::string& object, const std::string& key) const {
        const TextTree tree(document_.to_text());
        return Document::parse(guide_.sample_of_key(tree, tree.find(object), key)).root();
    }

    bool mend(const Error& error, std::string pointer) {
        try {
            if (const std::string key = missing_key(error, pointer); !key.empty()) {
                const std::string added = pointer + "/" + document::pointer_token(key);
                if (repaired_.insert(added).second) {
                    document_.set(added, sample(pointer, key));
                    touched_.insert(object_of(added));
                    return true;
                }
            }
            // Up to a member of an object: items of its list go with it.
            const std::string object = object_of(pointer);
            while (pointer != object && !pointer.empty()) {
                const Node* const parent = document_.find(parent_of(pointer));
                if (parent != nullptr && parent->is_object() && document_.find(pointer) != nullptr)
                    break;
                pointer = parent_of(pointer);
            }
            if (pointer.empty()) return false;
            if (pointer == object || std::ranges::any_of(repaired_, [&](const std::string& r) {
                    return is_within(pointer, r);
                }))
                return object.empty() ? false : remove(object);
            touched_.insert(object);
            // A misspelled key, or one of several words, is read as the one that was meant.
            if (const std::string meant = meant_by(error); !meant.empty()) {
                const std::string key = parent_of(pointer) + "/" + document::pointer_token(meant);
                if (!error.happened().starts_with("unknown key")) {
                    repaired_.insert(pointer);
                    document_.set(pointer, Node(meant));
                    return true;
                }
                if (document_.find(key) == nullptr) {
                    Node value = document_.at(pointer);
                    document_.erase(pointer);
                    document_.set(key, std::move(value));
                    return true;
                }
            }
            if (!is_required(pointer)) {
                document_.erase(pointer);
                return true;
            }
            const std::string key = document::split_pointer(pointer).back();
            Node value = sample(parent_of(pointer), key);
            // No type, name or path stands for another.
            if (value.is_string() && !object.empty()) return remove(object);
            repaired_.insert(pointer);
            document_.set(pointer, std::move(value));
            return true;
        } catch (const Error&) {  // the rest cannot be mended
            return false;
        }
    }

    // Takes an object out; what names it is not looked at any more.
    bool remove(const std::string& object) {
        const Node* const node = document_.find(object);
        const std::string list = parent_of(object);
        const auto place = document::pointer_index(object.substr(list.size() + 1));
        if (node == nullptr || !node->is_object() || !place) return false;
        const std::size_t gone = *place;
        const TextTree tree(document_.to_text());
        const int entry = tree.find(object);
        if (entry != TextTree::none && !object.starts_with("/parameters/"))
            removed_.insert(tree.object_name(entry));
        document_.erase(object);
        // Those behind it move up.
        const auto moved = [&](const std::set<std::string>& pointers) {
            std::set<std::string> next;
            for (const std::string& pointer : pointers) {
                const std::string of = object_of(pointer);
                if (of == object) continue;
                if (of.empty() || parent_of(of) != list) {
                    next.insert(pointer);
                    continue;
                }
                const std::size_t index = *document::pointer_index(of.substr(list.size() + 1));
                next.insert(index < gone ? pointer
                                         : list + "/" + std::to_string(index - 1) +
                                               pointer.substr(of.size()));
            }
            return next;
        };
        repaired_ = moved(repaired_);
        touched_ = moved(touched_);
        return true;
    }

    const std::string& text_;
    const std::filesystem::path& file_;
    const Registry& registry_;
    SimulationOptions options_;
    const std::function<bool()>& go_on_;
    const SchemaGuide guide_;
    Document document_;
    std::vector<SceneFault> found_;
    std::set<std::string> repaired_;  // pointers of values that are not the text's
    std::set<std::string> touched_;   // objects with such a value, or one left out
    std::set<std::string> removed_;   // names of objects that are not there any more
};

}  // namespace

std::unique_ptr<Simulation> load_scene(const Document& document, const std::filesystem::path& file,
                                       const Registry& registry, const SimulationOptions& options) {
    auto simulation = std::make_unique<Simulation>(Scene::of(document, file), registry, options);
    if (!simulation->model().terms().empty() && simulation->parameters().size() > 0)
        const Optimization settings_are_right(*simulation);
    return simulation;
}

Error placed(Error error, const Document& document) {
    if (error.place().line > 0 || error.json_pointer().empty()) return error;
    std::string pointer = error.json_pointer();
    for (;;) {
        const Node* const node = document.find(pointer);
        if (node != nullptr && node->place().line > 0) {
            error.at(node->place());
            return error;
        }
        if (pointer.empty()) return error;
        pointer.resize(pointer.find_last_of('/'));
    }
}

SceneFault fault_of(const Error& error, const std::string& text) {
    SceneFault fault;
    fault.happened = error.happened();
    fault.remedy = error.what_to_do();
    fault.pointer = error.json_pointer();
    const TextTree tree(text);
    if (error.place().line > 0) {
        const TextPosition place{static_cast<std::size_t>(error.place().line - 1),
                                 static_cast<std::size_t>(std::max(error.place().column - 1, 0))};
        fault.begin = tree.offset(place);
    } else if (const int entry = fault.pointer.empty() ? TextTree::none : tree.find(fault.pointer);
               entry != TextTree::none) {
        fault.begin = tree[entry].begin;
    } else {
        return fault;
    }
    // Something missing at the end of a line is reported at the last token before it.
    if (fault.begin == text.size() || text[fault.begin] == '\n')
        if (std::size_t last = 0; tree.before(fault.begin, &last) != 0) fault.begin = last;
    const TextPosition begin = tree.position(fault.begin);
    fault.line = begin.line;
    fault.column = begin.column;
    // To the end of the key or value that begins here; of an object its first line.
    fault.end = fault.begin;
    for (int k = 0; k < static_cast<int>(tree.entries().size()); ++k) {
        const TextTree::Entry& e = tree[k];
        if (e.has_key() && e.key_begin == fault.begin)
            fault.end = e.key_end;
        else if (e.begin == fault.begin && e.end > e.begin)
            fault.end = e.end;
        else
            continue;
        fault.pointer = tree.pointer(k);
        break;
    }
    const std::size_t line_end = std::min(text.find('\n', fault.begin), text.size());
    fault.end = std::min(std::max(fault.end, std::min(fault.begin + 1, text.size())), line_end);
    return fault;
}

std::vector<SceneFault> find_faults(const std::string& text, const std::filesystem::path& file,
                                    const Registry& registry, SimulationOptions options,
                                    const std::function<bool()>& go_on) {
    return Finder(text, file, registry, std::move(options), go_on).run();
}

}  // namespace hindcast::session
