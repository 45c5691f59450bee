#include "engine/backend/cuda/nvrtc_required.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "engine/backend/jit/code_cache.hpp"
#include "engine/base/environment.hpp"
#include "engine/base/error.hpp"
#include "engine/base/hash.hpp"

namespace hindcast::backend {

namespace {

namespace fs = std::filesystem;

constexpr int wanted_major = 13;

using Program = struct OpaqueProgram*;

void* open_library(const std::string& path) {
    return ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
}

// As pip puts nvidia-cuda-nvrtc.
void* open_package() {
    for (const fs::path& packages : python_packages())
        if (void* const handle = open_library(packages / "nvidia/cu13/lib/libnvrtc.so.13"))
            return handle;
    return nullptr;
}

// Searches the system's places, then the toolkit's, then the packages.
void* find_library() {
    for (const char* place :
         {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13",
          "/usr/local/cuda/lib/libnvrtc.so.13", "/opt/cuda/lib64/libnvrtc.so.13"})
        if (void* const handle = open_library(place)) return handle;
    return open_package();
}

}  // namespace

// 0 is success.
struct Nvrtc::Functions {
    int (*Version)(int*, int*) = nullptr;
    const char* (*GetErrorString)(int) = nullptr;
    int (*CreateProgram)(Program*, const char* text, const char* name, int headers,
                         const char* const* contents, const char* const* names) = nullptr;
    int (*DestroyProgram)(Program*) = nullptr;
    int (*CompileProgram)(Program, int options, const char* const*) = nullptr;
    int (*GetProgramLogSize)(Program, std::size_t*) = nullptr;
    int (*GetProgramLog)(Program, char*) = nullptr;
    int (*GetCUBINSize)(Program, std::size_t*) = nullptr;
    int (*GetCUBIN)(Program, char*) = nullptr;
};

Nvrtc::Nvrtc(const std::string& path) {
    void* const handle = path.empty() ? find_library() : open_library(path);
    if (handle == nullptr) {
        info_.problem = path.empty() ? "NVRTC 13 (libnvrtc.so.13) was not found"
                                     : fmt::format("'{}' cannot be opened", path);
        return;
    }
    Functions f;
    const auto find = [&](auto& function, const char* name) {
        const std::string symbol = std::string("nvrtc") + name;
        function =
            reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(handle, symbol.c_str()));
        if (function == nullptr && info_.problem.empty())
            info_.problem = "NVRTC has no function " + symbol;
    };
    find(f.Version, "Version");
    find(f.GetErrorString, "GetErrorString");
    find(f.CreateProgram, "CreateProgram");
    find(f.DestroyProgram, "DestroyProgram");
    find(f.CompileProgram, "CompileProgram");
    find(f.GetProgramLogSize, "GetProgramLogSize");
    find(f.GetProgramLog, "GetProgramLog");
    find(f.GetCUBINSize, "GetCUBINSize");
    find(f.GetCUBIN, "GetCUBIN");
    if (!info_.problem.empty()) return;
    Dl_info where{};
    if (::dladdr(reinterpret_cast<void*>(f.Version), &where) != 0 && where.dli_fname != nullptr)
        info_.path = where.dli_fname;
    if (f.Version(&info_.major, &info_.minor) != 0 || info_.major != wanted_major) {
        info_.problem =
            fmt::format("NVRTC {}.{} was found where 13 is needed", info_.major, info_.minor);
        return;
    }
    functions_ = std::make_shared<const Functions>(f);
    info_.available = true;
}

namespace {

// The report of ptxas on each function.
std::map<std::string, CubinFunction> functions_of(const std::string& log) {
    std::map<std::string, CubinFunction> functions;
    std::istringstream lines(log);
    std::string current;
    for (std::string line; std::getline(lines, line);) {
        // "Function properties for NAME", "40 bytes stack frame, 0 bytes spill stores, 0 bytes
        // spill loads", "Used 34 registers, ..."
        constexpr std::string_view head = "Function properties for ";
        int frame = 0, stores = 0, loads = 0, registers = 0;
        const std::size_t used = line.find("Used ");
        if (const std::size_t at = line.find(head); at != std::string::npos)
            current = line.substr(at + head.size());
        else if (std::sscanf(line.c_str(),
                             " %d bytes stack frame, %d bytes spill stores, %d bytes spill loads",
                             &frame, &stores, &loads) == 3)
            functions[current].local_bytes = frame,
            functions[current].spilled_bytes = stores + loads;
        else if (used != std::string::npos &&
                 std::sscanf(line.c_str() + used, "Used %d registers", &registers) == 1)
            functions[current].registers = registers;
    }
    return functions;
}

constexpr const char* options[] = {"--fmad=false",       "--ftz=false", "--prec-div=true",
                                   "--prec-sqrt=true",   "--std=c++20", "--ptxas-options=-v",
                                   "--diag-suppress=177"};

// An entry of the cache: the log's size, a line break, the log, the code.
std::string entry_of(const std::string& log, std::string_view code) {
    return fmt::format("{}\n", log.size()).append(log).append(code);
}
std::optional<Cubin> cubin_of(const std::string& entry) {
    std::size_t size = 0;
    const char* const end = entry.data() + entry.size();
    const auto [at, error] = std::from_chars(entry.data(), end, size);
    if (error != std::errc() || at == end || *at != '\n' ||
        size > static_cast<std::size_t>(end - at - 1))
        return {};
    const char* const log = at + 1;
    const std::string_view code(log + size, static_cast<std::size_t>(end - log) - size);
    if (code.substr(0, 4) !=
        "\x7f"
        "ELF")
        return {};
    return Cubin{{code.begin(), code.end()}, functions_of({log, size})};
}

}  // namespace

void require(const NvrtcInfo& nvrtc) {
    if (!nvrtc.available)
        throw Error("CUDA code cannot be compiled: " + nvrtc.problem)
            .remedy(
                "install the CUDA 13 toolkit or PyPI's nvidia-cuda-nvrtc, or set HINDCAST_NVRTC "
                "to the library");
}

// An entry of the cache.
std::string Nvrtc::make(const std::string& text, int architecture) const {
    require(info_);
    const Functions& nvrtc = *functions_;
    const auto check = [&](int status, const char* what) {
        if (status != 0)
            throw Error(fmt::format("NVRTC: {}: {}", what, nvrtc.GetErrorString(status)));
    };
    struct Owner {
        const Functions& nvrtc;
        Program program = nullptr;
        ~Owner() {
            if (program != nullptr) nvrtc.DestroyProgram(&program);
        }
    } owner{nvrtc};
    check(nvrtc.CreateProgram(&owner.program, text.c_str(), "kernels.cu", 0, nullptr, nullptr),
          "making a program");
    const std::string target = fmt::format("--gpu-architecture=sm_{}", architecture);
    std::vector<const char*> all(std::begin(options), std::end(options));
    all.push_back(target.c_str());
    const int status =
        nvrtc.CompileProgram(owner.program, static_cast<int>(all.size()), all.data());
    std::size_t size = 0;
    check(nvrtc.GetProgramLogSize(owner.program, &size), "reading the log");
    std::string log(size, '\0');
    if (size > 0) check(nvrtc.GetProgramLog(owner.program, log.data()), "reading the log");
    if (status != 0)
        throw Error("NVRTC refuses the text of a kernel for sm_" + std::to_string(architecture))
            .note(log.c_str());
    log = log.c_str();  // without what ends it
    check(nvrtc.GetCUBINSize(owner.program, &size), "reading the code");
    std::string code(size, '\0');
    check(nvrtc.GetCUBIN(owner.program, code.data()), "reading the code");
    return entry_of(log, code);
}

Cubin Nvrtc::compile(const std::string& text, int architecture) const {
    Hasher hash;
    hash.text("cubin").integer(wanted_major).integer(info_.minor).integer(architecture).text(text);
    for (const char* option : options) hash.text(option);
    const Hash128 key = hash.digest();
    if (const auto cached = read_cached(key))
        if (auto cubin = cubin_of(*cached)) return std::move(*cubin);
    const std::string entry = make(text, architecture);
    auto cubin = cubin_of(entry);
    if (!cubin) throw Error("NVRTC made something that is no code");
    write_cached(key, entry);
    return std::move(*cubin);
}

const Nvrtc& nvrtc() {
    static const Nvrtc instance(environment("HINDCAST_NVRTC"));
    return instance;
}

}  // namespace hindcast::backend
