#include "engine/backend/jit/llvm.hpp"

#include <cpuid.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <cstdlib>
#include <mutex>
#include <vector>

#include "engine/backend/jit/llvm_folders.hpp"
#include "engine/base/error.hpp"

namespace hindcast::backend {

namespace {

constexpr unsigned wanted_major = 19;
constexpr const char* triple = "x86_64-unknown-linux-gnu";
// The emitter already shares and hoists; LLVM turns variables into values, simplifies, and moves
// invariant code out of inner loops. Its O2 takes three times as long, for a spring net as fast.
constexpr const char* passes =
    "always-inline,"
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm))";

// Moving ops into the branch that needs them cuts a loop with a rare branch in two and keeps values
// loaded at its start in memory until then. Selects that become branches cost a walk over the whole
// function each: two thirds of the time of a long kernel, for code that is not faster.
constexpr const char* options[] = {"hindcast", "-disable-machine-sink",
                                   "-disable-cgp-select2branch"};

// clang-format off
#define HINDCAST_LLVM_FUNCTIONS(F) \
    F(GetVersion) F(ContextCreate) F(ContextDispose) F(ContextSetDiagnosticHandler) \
    F(CreateMemoryBufferWithMemoryRangeCopy) F(ParseIRInContext) F(VerifyModule) F(DisposeModule) \
    F(SetTarget) F(DisposeMessage) F(CreatePassBuilderOptions) F(DisposePassBuilderOptions) \
    F(RunPasses) F(GetErrorMessage) F(DisposeErrorMessage) F(InitializeX86TargetInfo) \
    F(InitializeX86Target) F(InitializeX86TargetMC) F(InitializeX86AsmPrinter) \
    F(GetTargetFromTriple) F(CreateTargetMachine) F(DisposeTargetMachine) \
    F(CreateTargetDataLayout) F(SetModuleDataLayout) F(DisposeTargetData) \
    F(TargetMachineEmitToMemoryBuffer) F(GetBufferStart) F(GetBufferSize) F(DisposeMemoryBuffer) \
    F(GetHostCPUName) F(GetHostCPUFeatures) F(GetDiagInfoDescription) F(GetDiagInfoSeverity) \
    F(ParseCommandLineOptions)
// clang-format on

struct Folders {
    std::mutex mutex;
    std::vector<std::string> list;
};
Folders& folders() {
    static Folders all;
    return all;
}

// The functions of the library that was opened, and the processor it sees.
struct Library {
#define HINDCAST_LLVM_MEMBER(name) decltype(&::LLVM##name) name = nullptr;  // NOLINT
    HINDCAST_LLVM_FUNCTIONS(HINDCAST_LLVM_MEMBER)
#undef HINDCAST_LLVM_MEMBER
    LLVMTargetRef target = nullptr;
    LlvmInfo info;

    Library() {
        void* handle = nullptr;
        if (const char* own = std::getenv("HINDCAST_LLVM")) {
            handle = ::dlopen(own, RTLD_LAZY | RTLD_LOCAL);
            if (handle == nullptr)
                info.problem = fmt::format("'{}' cannot be opened: {}", own, ::dlerror());
        } else {
            std::vector<std::string> names = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so",
                                              "/usr/lib/llvm-19/lib/libLLVM.so.19.1",
                                              "/usr/lib/llvm-19/lib/libLLVM-19.so"};
            {
                const std::lock_guard lock(folders().mutex);
                for (const std::string& folder : folders().list)
                    names.push_back(folder + "/libLLVM.so.19.1");
            }
            // Too little memory or too many open files do not call for an installation.
            std::string why;
            for (const std::string& name : names) {
                handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
                if (handle != nullptr) break;
                const std::string reason = ::dlerror();
                if (reason.find("No such file") == std::string::npos) why = reason;
            }
            if (handle == nullptr)
                info.problem = why.empty() ? "libLLVM 19 was not found"
                                           : "libLLVM 19 cannot be opened: " + why;
        }
        if (handle == nullptr) return;
        const auto find = [&](auto& function, const char* symbol) {
            function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(handle, symbol));
            if (function == nullptr && info.problem.empty())
                info.problem = std::string("libLLVM has no function ") + symbol;
        };
#define HINDCAST_LLVM_LOAD(name) find(name, "LLVM" #name);
        HINDCAST_LLVM_FUNCTIONS(HINDCAST_LLVM_LOAD)
#undef HINDCAST_LLVM_LOAD
        if (!info.problem.empty()) return;
        Dl_info where{};
        if (::dladdr(reinterpret_cast<void*>(GetVersion), &where) != 0 &&
            where.dli_fname != nullptr)
            info.path = where.dli_fname;
        unsigned version[3];
        GetVersion(&version[0], &version[1], &version[2]);
        info.version = fmt::format("{}.{}.{}", version[0], version[1], version[2]);
        if (version[0] != wanted_major) {
            info.problem = "LLVM " + info.version + " was found where 19 is needed";
            return;
        }
        InitializeX86TargetInfo();
        InitializeX86Target();
        InitializeX86TargetMC();
        InitializeX86AsmPrinter();
        char* message = nullptr;
        if (GetTargetFromTriple(triple, &target, &message) != 0) {
            info.problem = "LLVM cannot make x86-64 code: " + take(message);
            return;
        }
        ParseCommandLineOptions(std::size(options), options, nullptr);
        info.cpu = take(GetHostCPUName());
        info.features = take(GetHostCPUFeatures());
        info.available = true;
    }

    std::string take(char* message) const {
        std::string text = message != nullptr ? message : "";
        if (message != nullptr) DisposeMessage(message);
        return text;
    }
};

const Library& library() {
    static const Library instance;  // LLVM registers itself once per process, too
    return instance;
}

// One compilation: owns what LLVM hands out, whatever way it ends.
class Compilation {
public:
    explicit Compilation(const Library& llvm) : llvm_(llvm), context_(llvm.ContextCreate()) {
        // Without a handler, LLVM prints the first error and ends the program.
        llvm_.ContextSetDiagnosticHandler(
            context_,
            [](LLVMDiagnosticInfoRef info, void* self) {
                auto& c = *static_cast<Compilation*>(self);
                if (c.llvm_.GetDiagInfoSeverity(info) == LLVMDSError && c.diagnostic_.empty())
                    c.diagnostic_ = c.llvm_.take(c.llvm_.GetDiagInfoDescription(info));
            },
            this);
    }
    ~Compilation() {
        if (code_ != nullptr) llvm_.DisposeMemoryBuffer(code_);
        if (options_ != nullptr) llvm_.DisposePassBuilderOptions(options_);
        if (module_ != nullptr) llvm_.DisposeModule(module_);
        if (machine_ != nullptr) llvm_.DisposeTargetMachine(machine_);
        llvm_.ContextDispose(context_);
    }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    std::string run(const std::string& text, CodeKind kind) {
        char* message = nullptr;
        LLVMMemoryBufferRef source =
            llvm_.CreateMemoryBufferWithMemoryRangeCopy(text.data(), text.size(), "kernel");
        if (llvm_.ParseIRInContext(context_, source, &module_, &message) != 0)  // takes the buffer
            fail("does not parse", llvm_.take(message), text);
        if (llvm_.VerifyModule(module_, LLVMReturnStatusAction, &message) != 0)
            fail("is not valid", llvm_.take(message), text);
        llvm_.take(message);  // empty
        machine_ = llvm_.CreateTargetMachine(
            llvm_.target, triple, llvm_.info.cpu.c_str(), llvm_.info.features.c_str(),
            kind == CodeKind::quick_object ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault,
            LLVMRelocPIC, LLVMCodeModelSmall);
        if (machine_ == nullptr) fail("has no target", llvm_.info.cpu, text);
        llvm_.SetTarget(module_, triple);
        const LLVMTargetDataRef layout = llvm_.CreateTargetDataLayout(machine_);
        llvm_.SetModuleDataLayout(module_, layout);
        llvm_.DisposeTargetData(layout);
        options_ = llvm_.CreatePassBuilderOptions();
        if (const LLVMErrorRef error = llvm_.RunPasses(module_, passes, machine_, options_);
            error != nullptr) {
            char* why = llvm_.GetErrorMessage(error);
            const std::string reason = why;
            llvm_.DisposeErrorMessage(why);
            fail("cannot be optimized", reason, text);
        }
        const auto file = kind == CodeKind::assembly ? LLVMAssemblyFile : LLVMObjectFile;
        if (llvm_.TargetMachineEmitToMemoryBuffer(machine_, module_, file, &message, &code_) != 0)
            fail("gives no code", llvm_.take(message), text);
        if (!diagnostic_.empty()) fail("gives no code", diagnostic_, text);
        return {llvm_.GetBufferStart(code_), llvm_.GetBufferSize(code_)};
    }

private:
    [[noreturn]] static void fail(const char* what, const std::string& why,
                                  const std::string& text) {
        throw Error(fmt::format("internal: the LLVM text of a kernel {}: {}", what, why))
            .remedy("this is a defect: please report it with this message")
            .note(text);
    }

    const Library& llvm_;
    LLVMContextRef context_;
    LLVMModuleRef module_ = nullptr;
    LLVMTargetMachineRef machine_ = nullptr;
    LLVMPassBuilderOptionsRef options_ = nullptr;
    LLVMMemoryBufferRef code_ = nullptr;
    std::string diagnostic_;
};

}  // namespace

void add_llvm_folder(std::string folder) {
    const std::lock_guard lock(folders().mutex);
    folders().list.push_back(std::move(folder));
}

const LlvmInfo& llvm_info() { return library().info; }

std::string compile_llvm(const std::string& text, CodeKind kind) {
    const Library& llvm = library();
    if (!llvm.info.available)
        throw Error("kernels cannot be compiled for the CPU: " + llvm.info.problem)
            .remedy(
                "install LLVM 19 (Debian: apt-get install libllvm19; for Python: pip install "
                "karellen-llvm-core==19.1.7), or use the device 'interpreter'");
    return Compilation(llvm).run(text, kind);
}

Hash128 code_target() {
    Hasher hash;
    hash.text(passes).integer(wanted_major);
    for (const char* option : options) hash.text(option);
    // Family, model and feature flags; the flags of leaf 1 without the number of the processor it
    // runs on.
    constexpr unsigned leaves[][2] = {{1, 0}, {7, 0}, {7, 1}, {0x80000001u, 0}};
    for (const auto& leaf : leaves) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        __get_cpuid_count(leaf[0], leaf[1], &a, &b, &c, &d);
        hash.integer(a).integer(leaf[0] == 1 ? 0 : b).integer(c).integer(d);
    }
    return hash.digest();
}

}  // namespace hindcast::backend
