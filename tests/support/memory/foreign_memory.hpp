// Another library on the same CUDA device: a context of its own with a stream, and memory there that
// the engine is shown.
#pragma once

#include <vector>

#include "engine/backend/cuda/context.hpp"
#include "tests/support/software_cuda.hpp"

namespace hindcast::test {

class Library {
public:
    explicit Library(int ordinal = 0) : context(backend::cuda::Context::open(ordinal)) {}

    template <class T>
    std::shared_ptr<backend::cuda::Block> put(const std::vector<T>& values) const {
        auto block = std::make_shared<backend::cuda::Block>(context, values.size() * sizeof(T));
        context->upload(block->address(), values.data(), block->size());
        context->synchronize();
        return block;
    }
    template <class T>
    std::vector<T> get(const backend::cuda::Block& block) const {
        std::vector<T> values(block.size() / sizeof(T));
        context->download(values.data(), block.address(), block.size());
        return values;
    }
    std::uintptr_t stream() const { return reinterpret_cast<std::uintptr_t>(context->stream()); }

    std::shared_ptr<backend::cuda::Context> context;
};

}  // namespace hindcast::test
