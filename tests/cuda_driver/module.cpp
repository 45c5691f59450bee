#include "tests/cuda_driver/module.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/cuda_driver/results.hpp"

namespace software_cuda {

namespace {

// The bytes of a shared object of this machine; 0 if this is none.
std::size_t size_of_image(const unsigned char* image) {
    if (std::memcmp(image, ELFMAG, SELFMAG) != 0 || image[EI_CLASS] != ELFCLASS64) return 0;
    Elf64_Ehdr head;
    std::memcpy(&head, image, sizeof head);
    if (head.e_type != ET_DYN || head.e_machine != EM_X86_64 ||
        head.e_shentsize != sizeof(Elf64_Shdr))
        return 0;
    std::size_t size = head.e_shoff + std::size_t{head.e_shnum} * sizeof(Elf64_Shdr);
    for (unsigned k = 0; k < head.e_shnum; ++k) {
        Elf64_Shdr section;
        std::memcpy(&section, image + head.e_shoff + k * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS)
            size = std::max(size, static_cast<std::size_t>(section.sh_offset + section.sh_size));
    }
    return size;
}

// A path of the file descriptor that no other call gave: dlopen takes a path that it has seen for
// the library that it has opened. Each bit of a counter is "/." or "/"; and so is each of its
// address, which is another one in a copy of this library.
std::string unique_path(int file) {
    static std::uintptr_t counter = 0;
    std::string path = "/proc/self/fd";
    for (std::uintptr_t bits : {reinterpret_cast<std::uintptr_t>(&counter), ++counter})
        for (; bits != 0; bits /= 2) path += bits % 2 != 0 ? "/." : "/";
    return path + "/" + std::to_string(file);
}

void* open_image(const void* image, std::size_t size) {
    const int file = ::memfd_create("cubin", MFD_CLOEXEC);
    if (file < 0) return nullptr;
    void* handle = nullptr;
    if (::write(file, image, size) == static_cast<ssize_t>(size))
        handle = ::dlopen(unique_path(file).c_str(), RTLD_NOW | RTLD_LOCAL);
    ::close(file);
    return handle;
}

}  // namespace

std::unique_ptr<Module> Module::load(const void* image, int architecture, int& result) {
    result = invalid_image;
    const std::size_t size = size_of_image(static_cast<const unsigned char*>(image));
    if (size == 0) return nullptr;
    std::unique_ptr<Module> module(new Module(open_image(image, size)));
    if (module->handle_ == nullptr) return nullptr;
    const auto* const made_for =
        static_cast<const int*>(::dlsym(module->handle_, "hindcast_architecture"));
    if (made_for == nullptr) return nullptr;
    result = no_binary;
    if (*made_for / 10 != architecture / 10 || *made_for > architecture) return nullptr;
    result = success;
    return module;
}

Module::~Module() {
    for (const auto& [name, function] : functions_) function->run = nullptr;
    if (handle_ != nullptr) ::dlclose(handle_);
}

std::shared_ptr<Function> Module::find(const std::string& name) {
    std::shared_ptr<Function>& known = functions_[name];
    if (known != nullptr) return known;
    auto made = std::make_shared<Function>();
    made->run =
        reinterpret_cast<decltype(made->run)>(::dlsym(handle_, ("hindcast_run_" + name).c_str()));
    const auto sizes = reinterpret_cast<const unsigned* (*)()>(
        ::dlsym(handle_, ("hindcast_sizes_" + name).c_str()));
    if (made->run == nullptr || sizes == nullptr) {
        functions_.erase(name);
        return nullptr;
    }
    const unsigned* const numbers = sizes();
    for (unsigned k = 1; k <= numbers[0]; ++k) {
        constexpr unsigned pointer = 0x80000000u;
        const unsigned bytes = numbers[k] & ~pointer;
        if (numbers[k] != bytes) made->pointers.push_back(made->slots);
        made->sizes.push_back(bytes);
        made->slots += (bytes + 7) / 8;
    }
    return known = made;
}

}  // namespace software_cuda
