// Machine code in memory: loads a relocatable ELF object as the compiler makes it.
//
// Kernels call nothing outside themselves, so loading means: copy the sections into one mapping,
// apply the few kinds of relative relocation, make it executable. That takes microseconds and needs
// no LLVM. The object may come from a damaged file: every offset is checked, and anything
// unexpected is an Error.
#pragma once

#include <cstddef>
#include <string_view>

namespace hindcast::backend {

class ObjectCode {
public:
    // Loads the object and finds the function `name` in it. Throws Error when that cannot be done.
    ObjectCode(std::string_view object, std::string_view name);
    ~ObjectCode();
    ObjectCode(const ObjectCode&) = delete;
    ObjectCode& operator=(const ObjectCode&) = delete;

    void* entry() const { return entry_; }
    // Code and constants, in memory.
    std::string_view bytes() const { return {memory_, size_}; }

private:
    void load(std::string_view object, std::string_view name);

    char* memory_ = nullptr;
    std::size_t size_ = 0;
    void* entry_ = nullptr;
};

}  // namespace hindcast::backend
