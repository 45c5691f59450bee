// LLVM, opened at run time: text of LLVM IR in, machine code for this processor out.
//
// Nothing of LLVM is linked. The library is searched and opened when the first kernel is compiled
// that the cache does not hold; a machine without it runs cached kernels and gets a clear Error for
// others. HINDCAST_LLVM names a library to take instead. No option that could change a bit of a
// floating-point result is ever set: no fast-math flags, no contraction, no re-association.
#pragma once

#include <string>

#include "engine/base/hash.hpp"

namespace hindcast::backend {

// The machine's LLVM; opens it.
struct LlvmInfo {
    bool available = false;
    std::string version, path;  // "19.1.7", "/usr/lib/..."
    std::string cpu, features;  // as LLVM names this processor
    std::string problem;        // why it is not available
};
const LlvmInfo& llvm_info();

enum class CodeKind { object, quick_object, assembly };

// Machine code (quick or not, a relocatable ELF object without external symbols) or assembly text. Throws Error
// if LLVM is not there or refuses the text. Any number of threads may compile at once.
std::string compile_llvm(const std::string& text, CodeKind kind);

// Identifies this processor and the LLVM release that compile_llvm needs, without opening LLVM:
// part of cache keys.
Hash128 code_target();

}  // namespace hindcast::backend
