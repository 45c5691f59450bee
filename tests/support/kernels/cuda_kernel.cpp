#include "tests/support/kernels/cuda_kernel.hpp"

#include <map>

#include "engine/backend/cuda/cuda.hpp"
#include "engine/ir/memory_type.hpp"
#include "tests/support/devices.hpp"

namespace hindcast::test {

namespace {

using backend::Binding;

std::size_t bytes_of(const ir::Parameter& parameter, const Binding& b) {
    const std::size_t size = ir::size_of(ir::memory_type(parameter));
    if (ir::is_single(parameter)) return static_cast<std::size_t>(parameter.components) * size;
    if (b.count == 0) return 0;
    return static_cast<std::size_t>((b.count - 1) * b.element_stride +
                                    (parameter.components - 1) * b.component_stride + 1) *
           size;
}

class CudaKernel final : public backend::Executable {
public:
    explicit CudaKernel(const ir::Kernel& kernel)
        : executable_(backend::compile_cuda(kernel, {kernel.name}, cuda_context())) {}

    const ir::Kernel& kernel() const override { return executable_->kernel(); }
    void prepare(const Binding* bindings, std::int64_t items) override {
        executable_->prepare(bindings, items);
    }
    void run(const Binding* bindings, std::int64_t items, const backend::RunOptions&) override {
        const std::vector<ir::Parameter>& parameters = kernel().parameters;
        std::vector<Binding> there(bindings, bindings + parameters.size());
        std::map<void*, std::pair<backend::cuda::Block, std::size_t>> blocks;
        for (std::size_t p = 0; p < there.size(); ++p) {
            void* const data = bindings[p].data;
            const std::size_t bytes = bytes_of(parameters[p], bindings[p]);
            if (data == nullptr || bytes == 0) continue;
            auto& [block, size] = blocks[data];
            if (size < bytes) {
                block = backend::cuda::Block(cuda_context(), bytes);
                size = bytes;
                cuda_context()->upload(block.address(), data, bytes);
            }
        }
        for (Binding& b : there)
            if (const auto found = blocks.find(b.data); found != blocks.end())
                b.data = found->second.first.data();
        executable_->run(there.data(), items, {nullptr, nullptr, bindings});
        for (const auto& [data, block] : blocks)
            cuda_context()->download(data, block.first.address(), block.second);
    }

private:
    std::shared_ptr<backend::Executable> executable_;
};

}  // namespace

const std::shared_ptr<backend::cuda::Context>& cuda_context() { return cuda_device()->cuda(); }

std::shared_ptr<backend::Executable> cuda_kernel(const ir::Kernel& kernel) {
    return std::make_shared<CudaKernel>(kernel);
}

}  // namespace hindcast::test
