// Runs the CUDA text of kernels on the host: the text of many kernels is compiled by the host's C++
// compiler behind a small shim, and every phase of a launch is a loop over its threads.
//
//     CudaHost host;
//     const int k = host.add(kernel);     // as many as wanted
//     host.build();                       // one compilation
//     host.executable(k).run(bindings, items, {});
//
// Works for arrays of any strides. Threads run one after the other, in an order that a seed
// shuffles: the result must not depend on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/cuda_emit.hpp"
#include "engine/backend/executable.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hindcast::test {

class CudaHost {
public:
    CudaHost();
    ~CudaHost();
    int add(const ir::Kernel& kernel);
    // Throws Error with the compiler's words.
    void build();
    backend::Executable& executable(int k);
    const std::string& text(int k) const;

private:
    struct Entry;
    std::string source_;
    std::vector<std::unique_ptr<Entry>> entries_;
    TemporaryFolder folder_;
    void* library_ = nullptr;
};

}  // namespace hindcast::test
