// States, scene, resume file and summary; history.csv is in history.cpp.
#include "engine/sim/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <system_error>

#include "engine/base/files.hpp"
#include "engine/base/log.hpp"
#include "engine/base/version.hpp"
#include "engine/document/layout.hpp"
#include "engine/document/read.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/gradient_files.hpp"

namespace hindcast {

using document::Node;
namespace fs = std::filesystem;

namespace {

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder))
        throw Error("the folder " + folder.string() + " cannot be made: " +
                    (error ? error.message() : "a file of that name is in the way"))
            .remedy("choose another folder with --output");
}

void remove_states(const fs::path& folder) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / "states", ignored))
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

const char* name_of(ir::Precision precision) {
    return precision == ir::Precision::f32 ? "f32" : "f64";
}

Node number_node(double value) {
    if (std::isfinite(value)) return Node(value);
    return Node(number_text(value));
}

std::string number_text(double value) {
    if (std::isfinite(value)) return document::shortest(value);
    if (std::isnan(value)) return "nan";
    return value > 0 ? "inf" : "-inf";
}

void prepare_results(const fs::path& folder, const fs::path& resume) {
    make_folder(folder);
    remove_states(folder);
    std::error_code error;
    if (resume.empty()) {
        for (const char* name :
             {"summary.json", "optimized_scene.json", "history.csv", "resume.json", "starts.csv"})
            fs::remove(folder / name, error);
        remove_gradients(folder);
    } else if (!fs::equivalent(folder, resume, error)) {
        fs::copy_file(resume / "history.csv", folder / "history.csv",
                      fs::copy_options::overwrite_existing, error);
        if (error)
            throw Error("the history in " + resume.string() +
                        " cannot be copied: " + error.message());
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

StateRecorder::StateRecorder(const fs::path& folder, Simulation& simulation)
    : simulation_(simulation), plan_(OutputPlan::read(simulation)) {
    const fs::path states = folder / "states";
    make_folder(states);
    remove_states(folder);
    for (const std::string& name : plan_.arrays) {
        const Array array = simulation.model().array(name);
        std::vector<std::int64_t> frame = {array.elements()};
        if (array.components() > 1) frame.push_back(array.components());
        writers_.push_back(document::NpyWriter::create(states / (name + ".npy"),
                                                       npy_type_of(array.type()), frame));
        arrays_.push_back(array);
    }
}

void StateRecorder::write() {
    for (std::size_t k = 0; k < arrays_.size(); ++k) writers_[k].write(packed(arrays_[k]));
    last_written_ = done_;
    ++frames_;
}

void StateRecorder::watch(std::int64_t substeps_done) {
    done_ = substeps_done;
    if (done_ % (plan_.every * simulation_.scene().substeps()) == 0) write();
}

void StateRecorder::finish() {
    if (last_written_ != done_) write();
}

Node StateRecorder::describe() const {
    Node arrays = Node::array();
    for (const std::string& name : plan_.arrays) arrays.push_back("states/" + name + ".npy");
    const double seconds = simulation_.scene().step() * static_cast<double>(plan_.every);
    return Node::object({{"every", plan_.every},
                         {"seconds_between_frames", number_node(seconds)},
                         {"frames", frames_},
                         {"files", std::move(arrays)}});
}

// ---------------------------------------------------------------- scene

namespace {

// Copies the files that strings in the scene name, so that the copy of the scene finds them.
void copy_files(const Node& node, const fs::path& from, const fs::path& to) {
    for (std::size_t k = 0; k < node.size(); ++k) {
        if (node.is_object() && node.key(k) == "$schema") continue;
        copy_files(node.item(k), from, to);
    }
    if (!node.is_string() || node.string().find('.') == std::string::npos) return;
    const fs::path name(node.string());
    std::error_code error;
    if (name.is_absolute() || !fs::is_regular_file(from / name, error)) return;
    const fs::path target = to / name;
    if (*name.lexically_normal().begin() == "..") return;  // allowed by --allow-path, found there
    fs::create_directories(target.parent_path(), error);
    if (fs::equivalent(from / name, target, error)) return;
    fs::copy_file(from / name, target, fs::copy_options::overwrite_existing, error);
    if (error) log_warning("{} could not be copied to {}", name.string(), to.string());
}

}  // namespace

void save_scene(const Simulation& simulation, const fs::path& folder, const std::string& name) {
    make_folder(folder);
    const Scene& scene = simulation.scene();
    if (!scene.file().empty())
        copy_files(scene.document().root(), scene.file().parent_path(), folder);
    document::save_like(simulation.scene_with_parameters(folder), folder / name, scene.file());
}

// ---------------------------------------------------------------- resume

namespace {
constexpr std::int64_t resume_format = 1;
}  // namespace

void save_resume(const fs::path& folder, const Simulation& simulation,
                 const Optimization& optimization) {
    const SimulationOptions& options = simulation.options();
    const Node file = Node::object({{"format", resume_format},
                                    {"program", std::string("hindcast ") + version()},
                                    {"scene", simulation.scene().name()},
                                    {"scene_hash", to_string(hash_of(simulation.scene()))},
                                    {"precision", name_of(options.precision)},
                                    {"seed", std::to_string(options.seed)},
                                    {"steps", whole_steps(simulation)},
                                    {"optimization", optimization.state()}});
    document::Document(file).save(folder / "resume.json");
}

void load_resume(const fs::path& folder, const Simulation& simulation, Optimization& optimization) {
    const document::Document file = document::Document::load(folder / "resume.json");
    document::Reader reader(file.root(), "a resume file");
    if (reader.integer("format", 1) > resume_format)
        throw document::fault(*file.root().find("format"), "this program cannot read the format")
            .remedy("resume with the program that wrote it");
    reader.allow({"program", "scene"});
    const SimulationOptions& options = simulation.options();
    const auto same = [&](const char* key, const std::string& found, const std::string& now) {
        if (found == now) return;
        throw document::fault(*file.root().find(key), fmt::format("the optimisation was made with "
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
    return summary;
}

void add_outcome(Node& summary, const Simulation& simulation, bool finished) {
    summary.set("finished", finished);
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

void save_summary(const fs::path& folder, const Node& summary) {
    make_folder(folder);
    document::Document(summary).save(folder / "summary.json");
}

}  // namespace hindcast
