// hindcast info: what this build is, what it found, what scenes may say, and what kernels become.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "app/cli/command.hpp"
#include "app/cli/info/info_robot.hpp"
#include "app/cli/info/info_vulkan.hpp"
#include "engine/backend/cpu/cpu.hpp"
#include "engine/backend/cuda/driver.hpp"
#include "engine/backend/cuda/nvrtc.hpp"
#include "engine/backend/jit/llvm.hpp"
#include "engine/backend/text/kernel_text.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/base/version.hpp"
#include "engine/document/text.hpp"
#include "engine/model/shown.hpp"
#include "engine/robot/mujoco_library.hpp"
#include "engine/robot/robot_scene.hpp"
#include "engine/sim/scene/scene_check.hpp"
#include "engine/sim/scene/schema.hpp"

namespace hindcast::cli {

namespace {

struct Options {
    bool schema = false, kernels = false, stages = false, timeline = false;
    std::string module, kernel, scene, robot, precision = "f32";
    bool json = false, arrays = false, pairs = false;
    std::string without;
    std::vector<std::string> show, allow_path;
    int width = 0;
};

const std::vector<std::string> printable_parts = {"ir",   "adjoint",  "tangent", "counts",
                                                  "llvm", "assembly", "cuda"};

// ---- the build and the machine ----

// The features that matter to kernels, among the hundred or so that LLVM names.
std::string notable_features(const std::string& all) {
    std::string text;
    for (const char* name :
         {"avx2", "fma", "bmi2", "avx512f", "avx512vl", "avx512dq", "avx512bw"}) {
        const std::string entry = std::string("+") + name;
        if (("," + all + ",").find("," + entry + ",") == std::string::npos) continue;
        text += (text.empty() ? "" : " ") + std::string(name);
    }
    return text;
}

void print_cuda() {
    const backend::cuda::CudaInfo& driver = backend::cuda::cuda_info();
    const backend::NvrtcInfo& nvrtc = backend::nvrtc().info();
    fmt::print("CUDA (--device cuda, cuda:1 for the second one)\n");
    fmt::print("  driver       {}\n",
               driver.available ? fmt::format("{}.{} ({})", driver.major, driver.minor, driver.path)
                                : driver.problem);
    for (const backend::cuda::DeviceInfo& d : driver.devices)
        fmt::print("               {}: sm_{}, {} multiprocessors, {:.1f} GiB\n", d.name,
                   d.architecture, d.multiprocessors, static_cast<double>(d.memory) * 0x1p-30);
    fmt::print("  NVRTC        {}\n\n",
               nvrtc.available ? fmt::format("{}.{} ({})", nvrtc.major, nvrtc.minor, nvrtc.path)
                               : nvrtc.problem);
}

void print_build() {
    const backend::LlvmInfo& llvm = backend::llvm_info();
    fmt::print("hindcast     {}\n", version());
    fmt::print("build        {}, {}\n\n", build_type(), compiler());
    fmt::print("devices\n");
    if (llvm.available) {
        fmt::print("  cpu          {} threads; lanes: {} in f32, {} in f64\n", hardware_threads(),
                   backend::cpu_width(ir::Precision::f32), backend::cpu_width(ir::Precision::f64));
        fmt::print("               {}: {}\n", llvm.cpu, notable_features(llvm.features));
        fmt::print("               LLVM {} ({})\n", llvm.version, llvm.path);
    } else {
        fmt::print("  cpu          cannot compile: {}\n", llvm.problem);
    }
    fmt::print("  interpreter  slow, for comparison\n\n");
    print_cuda();
    const robot::MujocoInfo& mujoco = robot::mujoco_library().info();
    fmt::print(
        "robots\n  MuJoCo       {}\n\n",
        mujoco.available ? fmt::format("{} ({})", mujoco.version, mujoco.path) : mujoco.problem);
#ifdef HINDCAST_VIEW
    print_vulkan();
#else
    fmt::print("Vulkan         not in this build (HINDCAST_VIEW=OFF): no window, no pictures\n\n");
#endif
    fmt::print("what scenes may say (info --module NAME says more)\n\n{}", module_list(registry()));
}

int print_module(const std::string& name) {
    std::vector<std::string_view> names;
    bool found = false;
    for (const model::ModuleType& type : registry().all()) {
        names.push_back(type.type);
        if (type.type != name) continue;
        fmt::print("{}{}", found ? "\n" : "", reference(type));
        found = true;
    }
    if (!found)
        throw Error("there is no module '" + name + "'").remedy(document::suggestion(name, names));
    return 0;
}

// ---- kernels of a scene ----

struct SceneLaunches {
    std::string when;
    std::vector<Launch> launches;
};

std::vector<SceneLaunches> launches_of(Simulation& simulation) {
    model::Model& model = simulation.model();
    std::vector<SceneLaunches> all = {{"before the first step", model.prologue().launches()},
                                      {"every step", model.step_program().launches()}};
    std::map<std::string, std::vector<Launch>> seen;  // a term runs the same launches at each time
    SceneLaunches objective{"objective", {}};
    std::set<std::string> names;
    for (const auto& [time, program] : model.events())
        for (const Launch& launch : program.launches())
            if (names.insert(launch.description()).second) objective.launches.push_back(launch);
    all.push_back(std::move(objective));
    return all;
}

void print_launches(const std::vector<SceneLaunches>& all) {
    std::size_t width = 6, kernel_width = 6;
    for (const SceneLaunches& group : all)
        for (const Launch& launch : group.launches) {
            width = std::max(width, launch.description().size());
            kernel_width = std::max(kernel_width, launch.kernel().name.size());
        }
    fmt::print("{:<{}}  {:<{}}  {:>9}  {:>5}  {}\n", "launch", width, "kernel", kernel_width,
               "items", "ops", "differentiated");
    for (const SceneLaunches& group : all) {
        if (!group.launches.empty()) fmt::print("{}\n", group.when);
        for (const Launch& launch : group.launches)
            fmt::print("{:<{}}  {:<{}}  {:>9}  {:>5}  {}\n", launch.description(), width,
                       launch.kernel().name, kernel_width, launch.items(),
                       ir::count_ops(launch.kernel()), launch.has_derivative() ? "yes" : "no");
    }
    fmt::print("\ninfo --scene SCENE --kernel NAME prints one of them\n");
}

void print_arrays(const model::Model& model) {
    std::size_t width = 6, unit_width = 4;
    for (const auto& [name, published] : model.arrays()) {
        width = std::max(width, name.size());
        unit_width = std::max(unit_width, published.unit.size());
    }
    fmt::print("\n{:<{}}  {:>14}  {:<{}}  {}\n", "array", width, "elements", "unit", unit_width,
               "meaning");
    for (const auto& [name, published] : model.arrays()) {
        const Array& array = published.array;
        fmt::print("{:<{}}  {:>14}  {:<{}}  {}{}\n", name, width,
                   array.components() == 1
                       ? fmt::format("{}", array.elements())
                       : fmt::format("{} x {}", array.elements(), array.components()),
                   published.unit, unit_width, published.meaning, published.state ? "; state" : "");
    }
}

// Prints the quantities that are computed only when they are shown.
void print_shown(model::Model& model) {
    const std::vector<model::ShownQuantity>& list = model::shown_quantities(model);
    if (list.empty()) return;
    std::size_t width = 5, owner_width = 2, unit_width = 4;
    for (const model::ShownQuantity& q : list) {
        width = std::max(width, q.name.size());
        owner_width = std::max(owner_width, q.owner.size());
        unit_width = std::max(unit_width, q.unit.size());
    }
    fmt::print("\n{:<{}}  {:<{}}  {:<{}}  {}\n", "shown", width, "of", owner_width, "unit",
               unit_width, "meaning");
    for (const model::ShownQuantity& q : list)
        fmt::print("{:<{}}  {:<{}}  {:<{}}  {}\n", q.name, width, q.owner, owner_width, q.unit,
                   unit_width, q.meaning);
}

// Prints the pairs of objects that can touch, and the law that keeps them apart.
void print_pairs(const model::ContactPairs& contact) {
    const std::vector<model::ContactPairs::Pair> list = contact.list();
    if (list.empty()) {
        fmt::print("nothing in this scene can touch anything\n");
        return;
    }
    std::size_t width = 6, second = 4;
    for (const auto& pair : list) {
        width = std::max(width, pair.a->name.size());
        second = std::max(second, pair.a == pair.b ? 6 : pair.b->name.size());
    }
    fmt::print("{:<{}}  {:<{}}  law\n", "object", width, "and", second);
    for (const auto& pair : list)
        fmt::print("{:<{}}  {:<{}}  {}{}\n", pair.a->name, width,
                   pair.a == pair.b ? "itself" : pair.b->name, second,
                   pair.law.empty() ? "none" : pair.law,
                   pair.is_exception ? " (the scene says that they may pass)" : "");
}

constexpr const char* op_names[] = {
#define HINDCAST_OP(name, ...) #name,
    HINDCAST_OPS(HINDCAST_OP)
#undef HINDCAST_OP
};

void print_counts(const ir::Kernel& kernel) {
    std::vector<std::pair<int, const char*>> counts;
    for (std::size_t code = 0; code < std::size(op_names); ++code)
        if (const int n = ir::count_ops(kernel, static_cast<ir::OpCode>(code)); n > 0)
            counts.emplace_back(n, op_names[code]);
    std::ranges::stable_sort(counts, std::greater<>(), &std::pair<int, const char*>::first);
    fmt::print("{} ops:", ir::count_ops(kernel));
    for (const auto& [n, name] : counts) fmt::print(" {} {}", n, name);
    fmt::print("\n");
}

void print_kernel(const Launch& launch, const Options& options) {
    const auto asked = [&](const char* part) {
        return std::ranges::find(options.show, part) != options.show.end();
    };
    const auto wanted = [&](const char* part) { return options.show.empty() || asked(part); };
    const auto title = [](const std::string& text) {
        fmt::print("\n; ---- {} {}\n", text,
                   std::string(text.size() < 80 ? 80 - text.size() : 0, '-'));
    };
    const backend::CompileOptions compile{options.width, false, PassSet::without(options.without)};
    const auto print_all = [&](const ir::Kernel& kernel, const char* part) {
        if (options.stages) {
            for (const backend::KernelStage& stage : backend::kernel_stages(kernel, compile)) {
                title(kernel.name + ": " + stage.name);
                fmt::print("{}", stage.text);
            }
            return;
        }
        if (wanted(part)) {
            title(kernel.name);
            fmt::print("{}", ir::print(kernel));
        }
        if (wanted("counts")) {
            title(kernel.name + ": counts");
            print_counts(kernel);
        }
        const auto print_text = [&](const char* name, backend::KernelText text) {
            title(kernel.name + ": " + name);
            fmt::print("{}\n", backend::kernel_text(kernel, text, compile));
        };
        if (wanted("llvm")) print_text("LLVM", backend::KernelText::llvm);
        if (wanted("assembly")) print_text("assembly", backend::KernelText::assembly);
        if (asked("cuda")) print_text("CUDA", backend::KernelText::cuda);
    };
    print_all(launch.kernel(), "ir");
    if (!launch.has_derivative()) {
        fmt::print("\n; nothing that this launch computes depends on a parameter: no adjoint\n");
        return;
    }
    print_all(launch.replay(Direction::adjoint).kernel(), "adjoint");
    if (asked("tangent")) {
        const Launch::Replay replay = launch.replay(Direction::tangent);
        const ir::Kernel& tangent = replay.kernel();
        title(tangent.name);
        fmt::print("{}", ir::print(tangent));
    }
}

int print_scene(const Options& options) {
    const Scene scene = Scene::load(options.scene);
    check_optimizer(scene.document().root());
    SimulationOptions simulation_options;
    // Nothing runs here: the interpreter spares the compilation. But it rewrites no roll-out.
    DeviceOptions device;
    device.kind = options.timeline ? DeviceKind::cpu : DeviceKind::interpreter;
    device.passes = PassSet::without(options.without);
    simulation_options.device = std::make_shared<Device>(device);
    simulation_options.precision =
        options.precision == "f64" ? ir::Precision::f64 : ir::Precision::f32;
    simulation_options.allowed_paths.assign(options.allow_path.begin(), options.allow_path.end());
    simulation_options.on_warning = warning_printer();
    Simulation simulation(scene, registry(), simulation_options);
    if (options.pairs) {
        print_pairs(simulation.model().contact_pairs());
        return 0;
    }
    if (options.timeline) {
        fmt::print("{}", simulation.rollout().timeline());
        return 0;
    }
    const std::vector<SceneLaunches> all = launches_of(simulation);
    if (options.kernel.empty()) {
        print_launches(all);
        print_arrays(simulation.model());
        print_shown(simulation.model());
        return 0;
    }
    std::vector<std::string> names;
    for (const SceneLaunches& group : all)
        for (const Launch& launch : group.launches) {
            if (launch.kernel().name == options.kernel || launch.description() == options.kernel) {
                print_kernel(launch, options);
                return 0;
            }
            names.push_back(launch.kernel().name);
        }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const std::vector<std::string_view> views(names.begin(), names.end());
    throw Error("the scene has no kernel '" + options.kernel + "'")
        .remedy(document::suggestion(options.kernel, views, "its kernels are"));
}

int info(const Options& options) {
    if (options.schema) {
        fmt::print("{}\n", scene_schema(registry()).to_text());
        return 0;
    }
    if (!options.robot.empty()) {
        if (!robot::is_robot_file(options.robot))
            throw Error("'" + options.robot + "' is no model of a robot")
                .remedy("name a file .xml (MJCF) or .urdf; for a scene write --scene");
        return print_robot(options.robot, options.json, options.arrays);
    }
    if (!options.module.empty()) return print_module(options.module);
    if (options.kernels) {
        fmt::print(
            "kernels that stand alone: hc.built_in(\"NAME\") in Python\n\n{}\n"
            "info --kernel NAME prints the options and parameters of one of them\n",
            kernel_list(registry()));
        return 0;
    }
    if (options.scene.empty() && !options.kernel.empty()) {
        fmt::print("{}", reference(registry().kernel(options.kernel)));
        return 0;
    }
    if (!options.scene.empty()) return print_scene(options);
    print_build();
    return 0;
}

}  // namespace

Command add_info(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "info", "Say what this build is, what it found, what scenes may say, what kernels become");
    auto options = std::make_shared<Options>();
    command->add_option("--module", options->module, "Print the reference of one module")
        ->type_name("NAME");
    command->add_flag("--schema", options->schema, "Print the JSON schema of scenes");
    CLI::Option* robot =
        command
            ->add_option("robot", options->robot,
                         "A robot's model, MJCF or URDF: print its bodies, joints, actuators, what "
                         "collides, and what is not supported")
            ->type_name("ROBOT");
    CLI::Option* json =
        command->add_flag("--json", options->json, "The robot's model as JSON")->needs(robot);
    command
        ->add_flag("--arrays", options->arrays,
                   "With every array of the compiled model, by MuJoCo's names")
        ->needs(json);
    const char* group = "Kernels";
    CLI::Option* scene = command
                             ->add_option("--scene", options->scene,
                                          "List the launches, kernels and arrays of a scene")
                             ->type_name("SCENE")
                             ->group(group);
    command
        ->add_option("--kernel", options->kernel,
                     "Print a kernel of the scene and its adjoint; without a scene, the reference "
                     "of a kernel that stands alone")
        ->type_name("NAME")
        ->group(group);
    command->add_flag("--kernels", options->kernels, "List the kernels that stand alone")
        ->group(group);
    command
        ->add_option("--show", options->show,
                     "What to print of the kernel: ir, adjoint, tangent, counts, llvm, assembly, "
                     "cuda (default: all but tangent and cuda); repeatable")
        ->check(CLI::IsMember(printable_parts))
        ->type_name("PART")
        ->allow_extra_args(false)
        ->needs(scene)
        ->group(group);
    command
        ->add_flag("--stages", options->stages,
                   "What the CPU back end makes of the kernel and of its adjoint, step by step, "
                   "over C-contiguous arrays")
        ->needs(scene)
        ->group(group);
    command
        ->add_flag("--timeline", options->timeline,
                   "What a run of the scene with gradients does on the CPU, launch by launch and "
                   "copy by copy, before and after each pass that changes it")
        ->needs(scene)
        ->group(group);
    add_without(*command, options->without, group);
    command
        ->add_flag("--pairs", options->pairs,
                   "Which objects of the scene can touch, and the law that keeps each pair apart")
        ->needs(scene)
        ->group(group);
    command->add_option("--precision", options->precision, "The kernel in f32 or f64")
        ->check(CLI::IsMember({"f32", "f64"}))
        ->capture_default_str()
        ->group(group);
    command->add_option("--width", options->width, "SIMD lanes of the code: 1, 4, 8 or 16")
        ->check(CLI::IsMember({1, 4, 8, 16}))
        ->group(group);
    add_allow_path(*command, options->allow_path);
    command->footer("Example: hindcast info --scene scenes/spring_cage.json --kernel spring_force");
    return {command, about_scene(options->scene, [options] { return info(*options); })};
}

}  // namespace hindcast::cli
