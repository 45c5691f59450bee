// States, scene, resume file and summary; history.csv is in history.cpp.
#include "engine/sim/results/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <system_error>

#include "engine/base/files.hpp"
#include "engine/base/hash.hpp"
#include "engine/base/log.hpp"
#include "engine/base/version.hpp"
#include "engine/document/file_access.hpp"
#include "engine/document/layout.hpp"
#include "engine/document/read.hpp"
#include "engine/document/schema_link.hpp"
#include "engine/document/text.hpp"
#include "engine/robot/model_files.hpp"
#include "engine/runtime/minimization/minimization.hpp"
#include "engine/sim/gradients/gradient_files.hpp"

namespace hindcast {

using document::Node;
namespace fs = std::filesystem;

namespace {

void remove_states(const ResultsFolder& folder) {
    std::error_code ignored;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(folder.subfolder("states"), ignored))
        if (entry.path().extension() == ".npy") fs::remove(entry.path(), ignored);
}

document::NpyType npy_type_of(ir::Type type) {
    switch (type) {
        case ir::Type::f32: return document::NpyType::F4;
        case ir::Type::f64: return document::NpyType::F8;
        case ir::Type::i32: return document::NpyType::I4;
        case ir::Type::u32: return document::NpyType::U4;
        case ir::Type::i64: return document::NpyType::I8;
        default: return document::NpyType::U8;
    }
}

// The elements in logical C order, as they lie in an .npy file.
std::vector<std::byte> packed(const Array& array) {
    const std::size_t size = ir::size_of(array.type());
    std::vector<std::byte> bytes(static_cast<std::size_t>(array.size()) * size);
    const auto* data = static_cast<const std::byte*>(array.data());
    std::byte* out = bytes.data();
    const std::int64_t elements = array.elements(), stride = array.element_stride(),
                       plane = array.component_stride();
    const int components = array.components();
    if (plane == 1 && stride == components) {
        if (!bytes.empty()) std::memcpy(out, data, bytes.size());
        return bytes;
    }
    for (std::int64_t e = 0; e < elements; ++e)
        for (int c = 0; c < components; ++c, out += size)
            std::memcpy(out, data + static_cast<std::size_t>(e * stride + c * plane) * size, size);
    return bytes;
}

Hash128 hash_of(const Scene& scene) { return hash_text(scene.document().to_text()); }

std::int64_t whole_steps(const Simulation& simulation) {
    const std::int64_t wanted = simulation.options().steps;
    return wanted >= 0 ? wanted : simulation.scene().steps();
}

}  // namespace

std::vector<std::string> optimization_files(const Simulation& simulation) {
    std::vector<std::string> names = saved_scene_files(simulation, "optimized_scene.json");
    for (const char* name :
         {"states/*.npy", "history.csv", "resume.json", "starts.csv", "starts_history.csv",
          "starts_found.csv", "gradient.csv", "gradient/*.npy", "adjoint_norms.csv"})
        names.emplace_back(name);
    return names;
}

void prepare_results(const ResultsFolder& folder, const fs::path& resume) {
    remove_states(folder);
    // Checked now, so that the files written at the end of a run do not fail.
    for (const char* name : {"gradient", "files"}) refuse_linked_folder(folder.path() / name);
    std::error_code error;
    if (resume.empty()) {
        for (const char* name : {"optimized_scene.json", "history.csv", "resume.json", "starts.csv",
                                 "starts_history.csv", "starts_found.csv"})
            fs::remove(folder.path() / name, error);
        remove_gradients(folder.path());
    } else if (!fs::equivalent(folder.path(), resume, error)) {
        write_file_atomically(folder.file("history.csv"),
                              read_file(resume / "history.csv", longest_history));
    }
}

// ---------------------------------------------------------------- states

OutputPlan OutputPlan::read(Simulation& simulation) {
    OutputPlan plan;
    plan.every = std::max<std::int64_t>((whole_steps(simulation) + 99) / 100, 1);
    const auto& arrays = simulation.model().arrays();
    const Node* node = simulation.scene().document().root().find("outputs");
    if (node != nullptr) {
        document::Reader reader(*node, "the scene's outputs");
        plan.every = reader.integer_or("every", plan.every, 1);
        if (reader.has("arrays")) {
            std::vector<std::string_view> known;
            for (const auto& [name, published] : arrays) known.push_back(name);
            const Node& list = reader.array("arrays");
            for (std::size_t k = 0; k < list.size(); ++k) {
                const std::string_view name =
                    known[document::choice_of(list.item(k), known, "array")];
                if (std::ranges::find(plan.arrays, name) != plan.arrays.end())
                    throw document::fault(list.item(k), "this array is named twice")
                        .remedy("remove one");
                plan.arrays.emplace_back(name);
            }
            reader.finish();
            return plan;
        }
        reader.finish();
    }
    for (const auto& [name, published] : arrays)
        if (published.state) plan.arrays.push_back(name);
    return plan;
}

double OutputPlan::bytes(Simulation& simulation) const {
    const auto steps = static_cast<double>(whole_steps(simulation));
    double frame = 0;
    for (const std::string& name : arrays) {
        const Array array = simulation.model().array(name);
        frame += static_cast<double>(array.size()) * static_cast<double>(ir::size_of(array.type()));
    }
    return frame * (std::floor(steps / static_cast<double>(every)) + 1);
}

void OutputPlan::require_space(const fs::path& folder, Simulation& simulation) const {
    std::error_code error;
    const fs::space_info space = fs::space(folder, error);
    const double wanted = bytes(simulation);
    if (error || wanted <= static_cast<double>(space.available)) return;
    constexpr double gibibyte = 1 << 30;
    throw Error(fmt::format("the states of this run take {:.3g} GiB, and {:.3g} GiB are free in {}",
                            wanted / gibibyte, static_cast<double>(space.available) / gibibyte,
                            folder.string()))
        .remedy(
            "record less (\"outputs\": {\"every\": ..., \"arrays\": [...]}), or choose another "
            "folder with --output");
}

StateRecorder::StateRecorder(const ResultsFolder& folder, Simulation& simulation)
    : folder_(folder), simulation_(simulation), plan_(OutputPlan::read(simulation)) {
    remove_states(folder);
    plan_.require_space(folder.path(), simulation);
    for (const std::string& name : plan_.arrays) {
        const Array array = simulation.model().array(name);
        std::vector<std::int64_t> frame = {array.elements()};
        if (array.components() > 1) frame.push_back(array.components());
        writers_.push_back(document::NpyWriter::create(folder.file("states/" + name + ".npy"),
                                                       npy_type_of(array.type()), frame));
        arrays_.push_back(array);
    }
}

bool StateRecorder::write() {
    folder_.check();
    for (std::size_t k = 0; k < arrays_.size(); ++k) writers_[k].write(packed(arrays_[k]));
    last_written_ = done_;
    ++frames_;
    return !simulation_.rollout().look(done_);
}

bool StateRecorder::watch(std::int64_t substeps_done) {
    done_ = substeps_done;
    return done_ % (plan_.every * simulation_.scene().substeps()) != 0 || write();
}

void StateRecorder::finish() {
    if (last_written_ != done_) write();
}

Node StateRecorder::describe() const {
    Node files = Node::array(), arrays = Node::object({});
    for (const std::string& name : plan_.arrays) {
        files.push_back("states/" + name + ".npy");
        const model::Model::Published& published = simulation_.model().arrays().at(name);
        arrays.set(name, Node::object({{"unit", published.unit}, {"meaning", published.meaning}}));
    }
    const double seconds = simulation_.scene().step() * static_cast<double>(plan_.every);
    return Node::object({{"every", plan_.every},
                         {"seconds_between_frames", number_node(seconds)},
                         {"frames", frames_},
                         {"files", std::move(files)},
                         {"arrays", std::move(arrays)}});
}

// ---------------------------------------------------------------- scene

namespace {

// True if a file lies in the folder of the scene or below it.
bool is_beside(const fs::path& file, const fs::path& scene) {
    return *file.lexically_relative(scene).begin() != "..";
}

// Copies the model of a robot with all files that it is read from, which keep their places to each
// other. If one of them lies outside of the scene's folder, the model is named by its full path.
void copy_model(const Node& name, const document::FileAccess& files, const fs::path& folder,
                document::Document& written) {
    const fs::path scene = files.folder.empty() ? fs::current_path()
                                                : fs::absolute(files.folder).lexically_normal(),
                   model = fs::absolute(files.resolve(name)).lexically_normal();
    const std::vector<fs::path> all = robot::files_of_model(model);
    const bool beside =
        std::ranges::all_of(all, [&](const fs::path& file) { return is_beside(file, scene); });
    const auto copy = [&](const fs::path& file) {
        return (fs::path("files") / file.lexically_relative(scene)).generic_string();
    };
    for (const fs::path& file : all)
        if (beside)
            write_file_atomically(result_place(folder, copy(file)),
                                  read_file(file, UINT64_MAX - 1));
    written.set(name.pointer(), Node(beside ? copy(model) : model.string()));
}

// Copies the files that {"file": ...} values of the scene name, and models of robots, to
// folder/files, and sets those values in `written` to the copies. Files outside of the scene's
// folder are named by their full path instead. Nodes at the pointers `saved` were written anew and
// are left alone.
void copy_files(const Node& node, const document::FileAccess& files, const fs::path& folder,
                const std::set<std::string>& saved, document::Document& written) {
    if (saved.contains(node.pointer())) return;
    const Node* const name = node.is_object() ? node.find("file") : nullptr;
    if (name != nullptr && name->is_string()) {
        const fs::path found = files.resolve(*name);
        const fs::path relative = fs::path(name->string()).lexically_normal();
        std::string copy = found.string();
        if (relative.is_relative() && *relative.begin() != "..") {
            copy = (fs::path("files") / relative).generic_string();
            write_file_atomically(result_place(folder, copy), read_file(found, UINT64_MAX - 1));
        }
        written.set(name->pointer(), Node(copy));
    }
    // A robot's file; no other object has a "model".
    if (const Node* const model = node.find("model"); model != nullptr && model->is_string())
        copy_model(*model, files, folder, written);
    for (std::size_t k = 0; k < node.size(); ++k)
        copy_files(node.item(k), files, folder, saved, written);
}

// Nodes at the pointers `saved` were written anew.
void save_document(document::Document document, std::set<std::string> saved,
                   const Simulation& simulation, const fs::path& folder, const std::string& name) {
    const Scene& scene = simulation.scene();
    for (const Parameter& p : simulation.parameters().list())
        saved.insert(p.quantity->scene_pointer);
    const document::FileAccess files{scene.file().parent_path(),
                                     simulation.options().allowed_paths};
    if (!scene.file().empty()) {
        for (const model::Section section : model::all_sections)
            if (const Node* list = scene.document().root().find(model::name_of(section)))
                copy_files(*list, files, folder, saved, document);
        if (const Node* list = scene.document().root().find("checkpoints"))
            copy_files(*list, files, folder, saved, document);
        if (auto moved = document::with_schema_from(document, scene.file().parent_path(), folder))
            document = *std::move(moved);
    }
    document::save_like(document, result_place(folder, name), scene.file());
}

}  // namespace

std::vector<std::string> saved_scene_files(const Simulation& simulation, const std::string& name) {
    std::vector<std::string> names{name, "files/*"};
    for (const Parameter& p : simulation.parameters().list())
        if (p.quantity->values.size() > most_in_document)
            names.push_back(array_file(p.quantity->path));
    return names;
}

void save_scene(const Simulation& simulation, const fs::path& folder, const std::string& name) {
    save_document(simulation.scene_with_parameters(folder), {}, simulation, folder, name);
}

void save_scene(Simulation& simulation, const std::vector<std::string>& quantities,
                const fs::path& folder, const std::string& name) {
    document::Document document = simulation.scene_with_parameters(folder);
    std::set<std::string> saved;
    for (const std::string& path : quantities) {
        const model::Quantity& q = *simulation.model().find_quantity(path);
        const std::string file = array_file(path);
        if (q.values.size() > most_in_document) result_place(folder, file);
        document.set(q.scene_pointer,
                     document::saved_form(q.values, q.components, q.shared, folder, file));
        saved.insert(q.scene_pointer);
    }
    save_document(std::move(document), std::move(saved), simulation, folder, name);
}

// ---------------------------------------------------------------- resume

namespace {
constexpr std::int64_t resume_format = 2;

std::string checksum_of(const Node& file) { return to_string(hash_text(document::to_line(file))); }

// Rows of the history that an optimization in this state has reported.
std::int64_t rows_of(const Node& optimization) {
    document::Reader reader(optimization, "the state of an optimization");
    return reader.integer("iteration", 0) + (reader.boolean("reported") ? 1 : 0);
}

}  // namespace

void save_resume(const ResultsFolder& folder, const Simulation& simulation,
                 const Optimization& optimization) {
    const SimulationOptions& options = simulation.options();
    const Node state = optimization.state();
    Node file = Node::object({{"format", resume_format},
                              {"program", std::string("hindcast ") + version()},
                              {"scene", simulation.scene().name()},
                              {"scene_hash", to_string(hash_of(simulation.scene()))},
                              {"precision", name_of(options.precision)},
                              {"seed", std::to_string(options.seed)},
                              {"steps", whole_steps(simulation)},
                              {"history", history_hash(folder.file("history.csv"), rows_of(state))},
                              {"optimization", state}});
    file.set("checksum", checksum_of(file));
    document::Document(file).save(folder.file("resume.json"));
}

void load_resume(const fs::path& folder, const Simulation& simulation, Optimization& optimization) {
    const document::Document file = document::Document::load(folder / "resume.json");
    document::Reader reader(file.root(), "a resume file");
    if (reader.integer("format", 1) != resume_format)
        throw document::fault(*file.root().find("format"), "this program cannot read the format")
            .remedy("resume with the program that wrote it");
    const char* const damaged = "optimize from the start, or resume an undamaged copy";
    const std::string checksum = reader.string("checksum");
    document::Document rest = file;
    rest.erase("/checksum");
    if (checksum != checksum_of(rest.root()))
        throw document::fault(*file.root().find("checksum"),
                              "the file is damaged: its checksum does not fit")
            .remedy(damaged);
    reader.allow({"program", "scene"});
    const SimulationOptions& options = simulation.options();
    const auto same = [&](const char* key, const std::string& found, const std::string& now) {
        if (found == now) return;
        throw document::fault(*file.root().find(key), fmt::format("the optimization was made with "
                                                                  "{} {}, not {}",
                                                                  key, found, now))
            .remedy(fmt::format("add --{} {}", key, found));
    };
    same("precision", reader.string("precision"), name_of(options.precision));
    same("seed", reader.string("seed"), std::to_string(options.seed));
    same("steps", std::to_string(reader.integer("steps", 0)),
         std::to_string(whole_steps(simulation)));
    const std::string hash = reader.string("scene_hash");
    const Node& state = reader.require("optimization");
    const fs::path history = folder / "history.csv";
    if (reader.string("history") != history_hash(history, rows_of(state)))
        throw Error(history.string() + " is not what resume.json goes on from: it was changed")
            .remedy(damaged);
    reader.finish();
    if (hash != to_string(hash_of(simulation.scene())))
        log_warning("the scene is not the one that {} was made with; going on with the new one",
                    (folder / "resume.json").string());
    optimization.restore(state);
}

// ---------------------------------------------------------------- summary

Node summary_of(const std::string& command, Simulation& simulation) {
    const Scene& scene = simulation.scene();
    const SimulationOptions& options = simulation.options();
    Node summary = Node::object({
        {"program", std::string("hindcast ") + version()},
        {"build", std::string(build_type()) + ", " + compiler()},
        {"command", command},
        {"scene", scene.name()},
        {"file", scene.file().generic_string()},
        {"device", options.device->describe()},
        {"deterministic", options.device->is_deterministic()},
        {"precision", name_of(options.precision)},
        {"seed", std::to_string(options.seed)},
        {"steps", whole_steps(simulation)},
        {"substeps", scene.substeps()},
        {"step", number_node(scene.step())},
        {"parameters", simulation.parameters().size()},
    });
    Node warnings = Node::array();
    for (const Warning& warning : simulation.warnings()) warnings.push_back(warning.to_node());
    summary.set("warnings", std::move(warnings));
    summary.set("contact_pairs", simulation.model().contact_pairs().to_node());
    return summary;
}

void add_outcome(Node& summary, const Simulation& simulation, bool finished) {
    summary.set("finished", finished && std::isfinite(simulation.loss()));
    if (const auto& minimization = simulation.model().minimization()) {
        const MinimizationTotals& t = minimization->totals();
        summary.set("minimization",
                    Node::object({{"solves", t.solves},
                                  {"iterations", static_cast<std::int64_t>(t.all.iterations)},
                                  {"most_iterations", static_cast<std::int64_t>(t.most_iterations)},
                                  {"projected", static_cast<std::int64_t>(t.all.projected)},
                                  {"refused", static_cast<std::int64_t>(t.all.refused)},
                                  {"largest_gain", number_node(t.all.gain)},
                                  {"largest_residual", number_node(t.all.residual)},
                                  {"largest_last_step", number_node(t.all.step)},
                                  {"energy_scale", number_node(t.all.scale)}}));
    }
    summary.set("loss", finished ? number_node(simulation.loss()) : Node());
    Node terms = Node::object();
    for (const Simulation::TermValue& term : simulation.terms())
        terms.set(term.name,
                  Node::object({{"weight", number_node(term.weight)},
                                {"value", finished ? number_node(term.value) : Node()}}));
    summary.set("terms", std::move(terms));
    summary.set("state_hash", to_string(simulation.state_hash().digest()));
}

void add_row(Node& summary, const std::string& key, const Optimization::Row& row,
             Simulation& simulation) {
    Node node = Node::object({{"iteration", row.iteration},
                              {"loss", number_node(row.loss)},
                              {"gradient_norm", number_node(row.gradient_norm)}});
    if (row.parameters.size() <= HistoryWriter::most_entries) {
        Node parameters = Node::object();
        const auto& names = simulation.parameters().names();
        for (std::size_t k = 0; k < row.parameters.size(); ++k)
            parameters.set(names[k], number_node(row.parameters[k]));
        node.set("parameters", std::move(parameters));
    }
    summary.set(key, std::move(node));
}

void save_summary(const ResultsFolder& folder, Node summary) {
    Node files = Node::array();
    for (std::string& name : folder.files()) files.push_back(std::move(name));
    summary.set("files", std::move(files));
    document::Document(std::move(summary)).save(folder.file("summary.json"));
    folder.end_list();
}

}  // namespace hindcast
