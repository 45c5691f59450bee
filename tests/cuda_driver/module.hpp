// Modules: what NVRTC in software made (nvrtc.cpp), opened as a shared object of the host.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/cuda_driver/shim.hpp"

namespace software_cuda {

struct Function {
    void (*run)(const unsigned char* arguments, const Grid* grid) = nullptr;  // null: unloaded
    std::vector<unsigned> sizes;  // of the arguments, which lie in slots of 8 bytes
    std::size_t slots = 0;
    std::vector<std::size_t> pointers = {};  // the slots that hold one
};

class Module {
public:
    // Null, and the driver's result, if this cannot be loaded.
    static std::unique_ptr<Module> load(const void* image, int architecture, int& result);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    // Null if there is none.
    std::shared_ptr<Function> find(const std::string& name);

private:
    explicit Module(void* handle) : handle_(handle) {}
    void* handle_;
    std::map<std::string, std::shared_ptr<Function>> functions_;
};

}  // namespace software_cuda
