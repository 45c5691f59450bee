// The driver and NVRTC in software as tests call them: the engine's table of functions, filled from
// the library, and what the library offers to tests.
//
//     test::SoftwareCuda cuda("seed=3,memory=1000000");
//     CHECK(cuda.driver.MemAllocAsync(&address, 100, stream) == 0);
//     CHECK(cuda.count("leaks") == 1);
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/backend/cuda/driver.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hindcast::test {

template <class F>
void find_symbol(void* library, F& function, const char* symbol) {
    if (library == nullptr) throw std::runtime_error(::dlerror());
    function = reinterpret_cast<F>(::dlsym(library, symbol));
    if (function == nullptr) throw std::runtime_error(std::string("no symbol ") + symbol);
}

// What a library that was opened offers to tests.
class SoftwareControl {
public:
    explicit SoftwareControl(void* library) {
        find_symbol(library, set_, "hindcast_software_cuda");
        find_symbol(library, count_, "hindcast_software_cuda_count");
        find_symbol(library, pass_time_, "hindcast_software_cuda_pass_time");
    }
    // Replaces the settings; counters and sticky errors begin anew.
    void set(const std::string& settings) const { set_(settings.c_str()); }
    long long count(const char* what) const { return count_(what); }
    void pass_time() const { pass_time_(); }  // the device does what it was given

private:
    void (*set_)(const char*) = nullptr;
    long long (*count_)(const char*) = nullptr;
    void (*pass_time_)() = nullptr;
};

class SoftwareCuda : public SoftwareControl {
public:
    backend::cuda::Driver driver;

    explicit SoftwareCuda(const std::string& settings = "") : SoftwareControl(open()) {
#define HINDCAST_CUDA_FIND(name, symbol, arguments) find(driver.name, symbol);
        HINDCAST_CUDA_FUNCTIONS(HINDCAST_CUDA_FIND)
#undef HINDCAST_CUDA_FIND
        find(create_, "nvrtcCreateProgram");
        find(destroy_, "nvrtcDestroyProgram");
        find(compile_, "nvrtcCompileProgram");
        find(log_size_, "nvrtcGetProgramLogSize");
        find(log_, "nvrtcGetProgramLog");
        find(code_size_, "nvrtcGetCUBINSize");
        find(code_, "nvrtcGetCUBIN");
        set(settings);
    }

    struct Compiled {
        int status = 0;
        std::string log, code;
    };
    Compiled compile(const std::string& text,
                     std::vector<const char*> options = {"--fmad=false", "--gpu-architecture=sm_90",
                                                         "--ptxas-options=-v"}) const {
        Compiled made;
        void* program = nullptr;
        create_(&program, text.c_str(), "test.cu", 0, nullptr, nullptr);
        made.status = compile_(program, static_cast<int>(options.size()), options.data());
        std::size_t size = 0;
        log_size_(program, &size);
        made.log.resize(size);
        log_(program, made.log.data());
        if (made.status == 0 && code_size_(program, &size) == 0) {
            made.code.resize(size);
            code_(program, made.code.data());
        }
        destroy_(&program);
        return made;
    }

private:
    // A copy of the library, so that it is not the one that the engine works with.
    static void* open() {
        static void* const library = [] {
            const TemporaryFolder folder;
            const auto copy = folder.path() / "driver.so";
            std::filesystem::copy_file(hindcast::test::software_cuda_driver, copy);
            return ::dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
        }();
        return library;
    }

    template <class F>
    static void find(F& function, const char* symbol) {
        find_symbol(open(), function, symbol);
    }

    int (*create_)(void**, const char*, const char*, int, const char* const*,
                   const char* const*) = nullptr;
    int (*destroy_)(void**) = nullptr;
    int (*compile_)(void*, int, const char* const*) = nullptr;
    int (*log_size_)(void*, std::size_t*) = nullptr;
    int (*log_)(void*, char*) = nullptr;
    int (*code_size_)(void*, std::size_t*) = nullptr;
    int (*code_)(void*, char*) = nullptr;
};

}  // namespace hindcast::test
