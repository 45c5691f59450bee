// NVRTC in software: CUDA C++ text in, a shared object of the host out, by the host's compiler.
//
// The architecture that was asked for is a symbol of the result, and the log says of every function
// what ptxas would say. Options that no bit of a result depends on are ignored; --fmad=false has to
// be there.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cuda_driver/shim.hpp"
#include "tests/support/temporary_folder.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

enum Result : int {
    success,
    out_of_memory,
    creation_failure,
    invalid_input,
    invalid_program,
    invalid_option,
    compilation
};

struct Program {
    std::string text, name, log, code;
};

// The names after `extern "C" __global__ void`.
std::vector<std::string> functions_of(const std::string& text) {
    constexpr std::string_view head = "__global__";
    std::vector<std::string> names;
    const auto is_name = [&](std::size_t k) {
        return std::isalnum(static_cast<unsigned char>(text[k])) != 0 || text[k] == '_';
    };
    for (std::size_t at = text.find(head); at != std::string::npos; at = text.find(head, at)) {
        at += head.size();
        // Up to the first '(' that does not belong to __launch_bounds__.
        std::size_t open = text.find('(', at);
        std::string name;
        while (open != std::string::npos) {
            std::size_t end = open;
            while (end > at && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) --end;
            std::size_t begin = end;
            while (begin > at && is_name(begin - 1)) --begin;
            name = text.substr(begin, end - begin);
            if (name != "__launch_bounds__") break;
            open = text.find('(', text.find(')', open));
        }
        if (open != std::string::npos && !name.empty()) names.push_back(name);
    }
    return names;
}

// "FILE:LINE:COLUMN: error: ..." becomes "FILE(LINE): error: ...", as NVRTC writes it.
std::string as_nvrtc(const std::string& words) {
    std::istringstream lines(words);
    std::string all;
    for (std::string line; std::getline(lines, line); all += line + "\n") {
        const std::size_t said = std::min(line.find(": error:"), line.find(": warning:"));
        if (said == std::string::npos) continue;
        const std::size_t column = line.rfind(':', said - 1);
        if (column == std::string::npos || column == 0) continue;
        const std::size_t number = line.rfind(':', column - 1);
        if (number == std::string::npos) continue;
        line = line.substr(0, number) + "(" + line.substr(number + 1, column - number - 1) + ")" +
               line.substr(said);
    }
    return all;
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

// Runs the host's compiler in a folder of its own; its exit status. Where there is ccache, the same
// text is compiled once: the name of the folder is not part of it.
int compile(const std::string& text, std::string& words, std::string& code) try {
    const hindcast::test::TemporaryFolder folder;
    std::ofstream(folder / "kernels.cpp", std::ios::binary) << text;
    const std::string command =
        "cd '" + folder.path().string() +
        "' && export LC_ALL=C CCACHE_NOHASHDIR=1 && $(command -v ccache) c++ -std=c++20 -O1 -fPIC "
        "-fvisibility=hidden -fno-exceptions -fno-rtti -fno-math-errno -ffp-contract=off -mfma -w "
        "-fdiagnostics-color=never -c kernels.cpp -o kernels.o 2> words.txt && "
        "c++ -shared -s kernels.o -o kernels.so 2>> words.txt";
    const int status = std::system(command.c_str());
    words = contents((folder / "words.txt").string());
    code = contents((folder / "kernels.so").string());
    return status;
} catch (const std::runtime_error&) {  // there is no place for such a folder
    return -1;
}

}  // namespace

EXPORT int nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 99;
    return success;
}

EXPORT const char* nvrtcGetErrorString(int result) {
    switch (result) {
        case success: return "NVRTC_SUCCESS";
        case out_of_memory: return "NVRTC_ERROR_OUT_OF_MEMORY";
        case creation_failure: return "NVRTC_ERROR_PROGRAM_CREATION_FAILURE";
        case invalid_input: return "NVRTC_ERROR_INVALID_INPUT";
        case invalid_program: return "NVRTC_ERROR_INVALID_PROGRAM";
        case invalid_option: return "NVRTC_ERROR_INVALID_OPTION";
        case compilation: return "NVRTC_ERROR_COMPILATION";
        default: return "NVRTC_ERROR unknown";
    }
}

EXPORT int nvrtcCreateProgram(Program** program, const char* text, const char* name, int headers,
                              const char* const* /*contents*/, const char* const* /*names*/) {
    if (program == nullptr || text == nullptr || headers != 0) return invalid_input;
    *program = new Program{text, name != nullptr ? name : "default_program", {}, {}};
    return success;
}

EXPORT int nvrtcDestroyProgram(Program** program) {
    if (program == nullptr || *program == nullptr) return invalid_program;
    delete *program;
    *program = nullptr;
    return success;
}

EXPORT int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
    if (program == nullptr) return invalid_program;
    bool exact = false, verbose = false;
    std::string architecture = "75";
    for (int k = 0; k < count; ++k) {
        const std::string option = options[k];
        exact = exact || option == "--fmad=false" || option == "-fmad=false";
        verbose = verbose || option == "--ptxas-options=-v";
        if (const std::size_t sm = option.find("-gpu-architecture=sm_"); sm != std::string::npos)
            architecture = option.substr(option.find("sm_") + 3);
    }
    program->code.clear();
    if (!exact) {
        program->log = "software NVRTC: --fmad=false is missing\n";
        return invalid_option;
    }
    const std::vector<std::string> functions = functions_of(program->text);
    std::string text = software_cuda::shim + std::string("#line 1 \"") + program->name + "\"\n" +
                       program->text + "\n#line 1 \"entries\"\n";
    text +=
        "extern \"C\" __attribute__((visibility(\"default\"))) const int "
        "hindcast_architecture = " +
        architecture + ";\n";
    for (const std::string& name : functions)
        for (const char* c = software_cuda::entry; *c != '\0'; ++c)
            *c == '@' ? text += name : text += *c;
    std::string words;
    const int status = compile(text, words, program->code);
    program->log = as_nvrtc(words);
    if (status != 0) {
        program->code.clear();
        if (program->log.empty()) program->log = "the host's compiler 'c++' could not be run\n";
        return compilation;
    }
    if (verbose)
        for (const std::string& name : functions)
            program->log += "ptxas info    : Function properties for " + name +
                            "\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                            "ptxas info    : Used 32 registers\n";
    return success;
}

EXPORT int nvrtcGetProgramLogSize(Program* program, std::size_t* size) {
    if (program == nullptr || size == nullptr) return invalid_program;
    *size = program->log.size() + 1;
    return success;
}

EXPORT int nvrtcGetProgramLog(Program* program, char* log) {
    if (program == nullptr || log == nullptr) return invalid_program;
    log[program->log.copy(log, program->log.size())] = '\0';
    return success;
}

EXPORT int nvrtcGetCUBINSize(Program* program, std::size_t* size) {
    if (program == nullptr || size == nullptr) return invalid_program;
    *size = program->code.size();
    return program->code.empty() ? invalid_program : success;
}

EXPORT int nvrtcGetCUBIN(Program* program, char* code) {
    if (program == nullptr || code == nullptr || program->code.empty()) return invalid_program;
    std::copy(program->code.begin(), program->code.end(), code);
    return success;
}
