#include "engine/robot/mujoco_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "engine/backend/jit/code_cache.hpp"
#include "engine/base/environment.hpp"
#include "engine/base/error.hpp"
#include "engine/robot/layout/model_layout.hpp"

namespace hindcast::robot {

namespace fs = std::filesystem;

namespace {

// MuJoCo's types: opaque, except for the beginning of a message of its log.
using Spec = struct OpaqueSpec;
using SpecElement = struct OpaqueElement;
using Model = struct OpaqueModel;
using AssetCache = struct OpaqueCache;
struct FileSystem {  // mjVFS
    void* content = nullptr;
};
struct LogMessage {  // mjLogMessage
    int level, topic;
    char subject[1024];
};
using LogHandler = void (*)(const LogMessage*);

constexpr int log_warning_level = 2, log_error_level = 3;

std::string version_text(int version) {
    return fmt::format("{}.{}.{}", version / 1000000, version / 1000 % 1000, version % 1000);
}

std::string library_name() { return "libmujoco.so." + version_text(layout_version()); }

void* open_library(const fs::path& path) { return ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL); }

// As pip puts mujoco-core.
void* open_package(const std::string& name) {
    for (const fs::path& packages : python_packages())
        if (void* const handle = open_library(packages / "mujoco" / name)) return handle;
    return nullptr;
}

void* find_library() {
    const std::string name = library_name();
    if (const fs::path folder = backend::code_folder(); !folder.empty())
        if (void* const handle = open_library(folder / name)) return handle;
    if (void* const handle = open_library(name)) return handle;
    return open_package(name);
}

// ---- what MuJoCo says while it compiles ----

// One model is compiled at a time: MuJoCo's log handler is one per process.
std::mutex compiling;
// MuJoCo compiles meshes on threads of its own.
std::mutex logging;
std::vector<std::string> logged;

// MuJoCo serves a file of its own file system for every path that ends in the same name, in whatever
// folder. The model's file begins with a sign that no XML may hold, so that no model can name it.
constexpr char own_name_mark = '\x01';

// As MuJoCo says it, in one line and without that sign.
std::string one_line(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view part = text.substr(0, end);
        while (!part.empty() && std::isspace(static_cast<unsigned char>(part.front())) != 0)
            part.remove_prefix(1);
        if (!part.empty()) line.append(line.empty() ? "" : "; ").append(part);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    std::erase(line, own_name_mark);
    return line;
}

void keep_message(const LogMessage* message) {
    if (message->level == log_warning_level) {
        const std::lock_guard lock(logging);
        logged.push_back(one_line(message->subject));
    }
    // MuJoCo ends the process where this returns.
    if (message->level == log_error_level)
        throw Error("MuJoCo cannot go on: " + one_line(message->subject))
            .remedy("correct the model, or give the program more memory");
}

// The number after the last `word` of the text, or 0.
int number_after(std::string_view text, std::string_view word) {
    const std::size_t at = text.rfind(word);
    if (at == std::string_view::npos) return 0;
    int number = 0;
    std::from_chars(text.data() + at + word.size(), text.data() + text.size(), number);
    return number;
}

Error refused(std::string_view why, const std::string& text, const fs::path& file) {
    SourcePlace place{file.string(), 0, 0};
    // MuJoCo counts the lines of an included file from its own beginning, and does not name it.
    if (text.find("<include") == std::string::npos)
        place.line = std::max(number_after(why, ", line "), number_after(why, "Line number="));
    Error error("MuJoCo refuses the model: " + one_line(why));
    error.at(std::move(place));
    if (why.find("'package:/") != std::string_view::npos)
        error.remedy("put the package's folder above the model's file, or beside a folder there");
    else if (why.find("no decoder found for mesh file") != std::string_view::npos)
        error.remedy("convert the mesh to .obj or .stl");
    return error;
}

}  // namespace

struct MujocoLibrary::Functions {
    int (*version)() = nullptr;
    void (*default_files)(FileSystem*) = nullptr;
    int (*add_file)(FileSystem*, const char* name, const void* content, int size) = nullptr;
    void (*delete_files)(FileSystem*) = nullptr;
    Spec* (*parse)(const char* file, const FileSystem*, char* error, int error_size) = nullptr;
    Model* (*compile)(Spec*, const FileSystem*) = nullptr;
    const char* (*error_of)(Spec*) = nullptr;
    int (*count_warnings)(const Spec*) = nullptr;
    const char* (*warning_of)(const Spec*, int) = nullptr;
    void (*delete_spec)(Spec*) = nullptr;
    SpecElement* (*first_element)(const Spec*, int type) = nullptr;
    SpecElement* (*next_element)(const Spec*, const SpecElement*) = nullptr;
    int (*number_of)(const SpecElement*) = nullptr;
    void* (*as_body)(SpecElement*) = nullptr, *(*as_geom)(SpecElement*) = nullptr,
          *(*as_mesh)(SpecElement*) = nullptr;
    void (*delete_model)(Model*) = nullptr;
    LogHandler (*set_log_handler)(LogHandler) = nullptr;
    AssetCache* (*cache)() = nullptr;
    std::size_t (*cache_capacity)(const AssetCache*) = nullptr;
    std::size_t (*set_cache_capacity)(AssetCache*, std::size_t) = nullptr;
};

MujocoLibrary::MujocoLibrary(const std::string& path) {
    const std::string wanted = version_text(layout_version());
    void* const handle = path.empty() ? find_library() : open_library(path);
    if (handle == nullptr) {
        const char* const why = ::dlerror();
        info_.problem =
            path.empty()
                ? fmt::format("MuJoCo {} ({}) was not found", wanted, library_name())
                : fmt::format("'{}' cannot be opened: {}", path, why != nullptr ? why : "");
        return;
    }
    Functions f;
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(handle, name));
        if (function == nullptr && info_.problem.empty())
            info_.problem = fmt::format("the library of MuJoCo has no function {}", name);
    };
    find(f.version, "mj_version");
    if (f.version == nullptr) return;
    Dl_info where{};
    if (::dladdr(reinterpret_cast<void*>(f.version), &where) != 0 && where.dli_fname != nullptr)
        info_.path = where.dli_fname;
    info_.version = version_text(f.version());
    if (f.version() != layout_version()) {
        info_.problem = fmt::format("MuJoCo {} was found ('{}') where {} is needed", info_.version,
                                    info_.path, wanted);
        return;
    }
    find(f.default_files, "mj_defaultVFS");
    find(f.add_file, "mj_addBufferVFS");
    find(f.delete_files, "mj_deleteVFS");
    find(f.parse, "mj_parseXML");
    find(f.compile, "mj_compile");
    find(f.error_of, "mjs_getError");
    find(f.count_warnings, "mjs_numWarnings");
    find(f.warning_of, "mjs_getWarning");
    find(f.delete_spec, "mj_deleteSpec");
    find(f.first_element, "mjs_firstElement");
    find(f.next_element, "mjs_nextElement");
    find(f.number_of, "mjs_getId");
    find(f.as_body, "mjs_asBody");
    find(f.as_geom, "mjs_asGeom");
    find(f.as_mesh, "mjs_asMesh");
    find(f.delete_model, "mj_deleteModel");
    find(f.set_log_handler, "mju_setLogHandler");
    find(f.cache, "mj_getCache");
    find(f.cache_capacity, "mj_getCacheCapacity");
    find(f.set_cache_capacity, "mj_setCacheCapacity");
    if (!info_.problem.empty()) return;
    handle_ = handle;
    functions_ = std::make_shared<const Functions>(f);
    info_.available = true;
}

void MujocoLibrary::require() const {
    if (!info_.available)
        throw Error("models of robots cannot be read: " + info_.problem)
            .remedy(fmt::format(
                "app/run fetches MuJoCo's library; or pip install mujoco-core=={}, or set "
                "HINDCAST_MUJOCO to its {}",
                version_text(layout_version()), library_name()));
}

void* MujocoLibrary::function(const char* name) const {
    require();
    void* const found = ::dlsym(handle_, name);
    if (found == nullptr)
        throw Error(fmt::format("MuJoCo {} has no function '{}'", info_.version, name))
            .remedy("see mujoco.h for what it has");
    return found;
}

CompiledModel MujocoLibrary::compile(const std::string& text, const fs::path& file) const {
    require();
    const Functions& mujoco = *functions_;
    const std::lock_guard lock(compiling);
    logged.clear();

    // Whatever way it ends, MuJoCo has back what it gave, and its log is whose it was. Its cache of
    // files holds nothing meanwhile: it would take a mesh that was written twice within a second
    // for the first one.
    struct Owner {
        const Functions& mujoco;
        LogHandler handler;
        AssetCache* cache;
        std::size_t capacity;
        FileSystem files;
        Spec* spec = nullptr;
        explicit Owner(const Functions& functions)
            : mujoco(functions),
              handler(functions.set_log_handler(keep_message)),
              cache(functions.cache()),
              capacity(functions.cache_capacity(cache)) {
            mujoco.set_cache_capacity(cache, 0);
            mujoco.default_files(&files);
        }
        ~Owner() {
            if (spec != nullptr) mujoco.delete_spec(spec);
            mujoco.delete_files(&files);
            mujoco.set_cache_capacity(cache, capacity);
            mujoco.set_log_handler(handler);
        }
    } owner(mujoco);

    // The text stands in its folder in a file system of MuJoCo's that goes before the disk's.
    const fs::path place = fs::absolute(file).lexically_normal();
    const std::string name =
        (place.parent_path() / (own_name_mark + place.filename().string())).string();
    if (mujoco.add_file(&owner.files, name.c_str(), text.data(), static_cast<int>(text.size())) !=
        0)
        throw Error("MuJoCo does not take the model's text").at({file.string(), 0, 0});
    std::string why(4096, '\0');
    owner.spec = mujoco.parse(name.c_str(), &owner.files, why.data(), static_cast<int>(why.size()));
    why.resize(why.find('\0'));
    if (owner.spec == nullptr) throw refused(why, text, file);

    CompiledModel result;
    Model* const model = mujoco.compile(owner.spec, &owner.files);
    if (model == nullptr) throw refused(mujoco.error_of(owner.spec), text, file);
    result.memory = {
        reinterpret_cast<const std::byte*>(model),
        [&mujoco, model, keep = functions_](const std::byte*) { mujoco.delete_model(model); }};
    const auto as = [](auto call) {
        return [call](void* element) -> void* { return call(static_cast<SpecElement*>(element)); };
    };
    result.masses = mass_sources_of(
        {owner.spec, [&](int type) -> void* { return mujoco.first_element(owner.spec, type); },
         [&](void* element) -> void* {
             return mujoco.next_element(owner.spec, static_cast<SpecElement*>(element));
         },
         [&](void* element) { return mujoco.number_of(static_cast<SpecElement*>(element)); },
         as(mujoco.as_body), as(mujoco.as_geom), as(mujoco.as_mesh)});
    const auto add = [&](std::string warning) {
        if (!warning.empty() &&
            std::ranges::find(result.warnings, warning) == result.warnings.end())
            result.warnings.push_back(std::move(warning));
    };
    add(one_line(why));
    const std::lock_guard log_lock(logging);
    for (std::string& warning : logged) add(std::move(warning));
    for (int i = 0; i < mujoco.count_warnings(owner.spec); ++i)
        add(one_line(mujoco.warning_of(owner.spec, i)));
    logged.clear();
    return result;
}

const MujocoLibrary& mujoco_library() {
    static const MujocoLibrary instance(environment("HINDCAST_MUJOCO"));
    return instance;
}

}  // namespace hindcast::robot
