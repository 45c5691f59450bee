#include "engine/backend/cuda/code.hpp"

#include "engine/backend/cuda/context.hpp"
#include "engine/backend/cuda/emit.hpp"
#include "engine/backend/cuda/nvrtc.hpp"
#include "engine/backend/cuda/phases.hpp"
#include "engine/backend/cuda/prelude.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/base/error.hpp"

namespace hindcast::backend::cuda {

namespace {
constexpr std::string_view items_per_thread =
    "    const unsigned threads = gridDim.x * blockDim.x;\n"
    "#pragma unroll 1\n"
    "    for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < (unsigned)items; "
    "at += threads) {\n"
    "        const int item = at;\n";
}  // namespace

std::string with_stride(const std::string& name, const std::string& text) {
    const std::size_t head = text.find(name, text.find("__global__")),
                      begin = text.find(item_per_thread);
    if (head == std::string::npos || begin == std::string::npos)
        throw Error("internal: " + name + " has no item per thread");
    std::string out = text.substr(0, head + name.size()) + stride_suffix +
                      text.substr(head + name.size(), begin - head - name.size());
    out += items_per_thread;
    // By one level, but for what the preprocessor reads.
    for (std::size_t at = begin + item_per_thread.size(); at < text.size();) {
        const std::size_t end = text.find('\n', at) + 1;
        if (text[at] != '#') out += "    ";
        out.append(text, at, end - at);
        at = end;
    }
    return out + "}\n";
}

void Code::unload() {
    for (const ModuleHandle module : modules_) context_.here().ModuleUnload(module);
}

const Function& Code::declare(const std::string& name, const std::string& text) {
    const Context::Lock held = context_.lock();
    std::unique_ptr<Function>& known = functions_[name];
    if (!known) {
        known = std::make_unique<Function>(Function{name});
        declared_[name] = text;
    }
    return *known;
}

ModuleHandle Code::load(const std::string& text) {
    context_.refuse_while_captured();
    const CodeTimer timer;
    const Cubin cubin = nvrtc().compile(text, context_.info().architecture);
    ModuleHandle module = nullptr;
    context_.check(context_.here().ModuleLoadData(&module, cubin.code.data()), "loading code");
    modules_.push_back(module);
    return module;
}

void Code::find(Function& function, ModuleHandle module) const {
    const Driver& d = context_.here();
    context_.check(d.ModuleGetFunction(&function.handle, module, function.name.c_str()),
                   "the function " + function.name);
    context_.check(d.OccupancyMaxPotentialBlockSize(&function.blocks, &function.threads,
                                                    function.handle, nullptr, 0, 0),
                   "the occupancy of " + function.name);
}

void Code::make() {
    const Context::Lock held = context_.lock();
    if (declared_.empty()) return;
    if (look_) look_(declared_);
    std::string text = prelude;
    for (const auto& [name, own] : declared_) text += own;
    const ModuleHandle module = load(text);
    for (const auto& [name, own] : declared_) {
        Function& function = *functions_[name];
        find(function, module);
        function.tuner = std::make_unique<Tuner>(
            name, context_.info().name + " sm_" + std::to_string(context_.info().architecture),
            function.threads);
        function.text = own;
        if (function.tuner->shape().strides) strided(function);
    }
    declared_.clear();
}

const Function& Code::strided(const Function& function) {
    std::unique_ptr<Function>& known = functions_.at(function.name)->strided;
    if (!known) {
        auto fresh = std::make_unique<Function>(Function{function.name + stride_suffix});
        find(*fresh, load(prelude + with_stride(function.name, function.text)));
        known = std::move(fresh);
    }
    return *known;
}

const Function& Code::phase(const std::string& name) {
    const Context::Lock held = context_.lock();
    std::unique_ptr<Function>& known = functions_[name];
    if (!known) {
        if (phases_ == nullptr) phases_ = load(prelude + phases());
        auto fresh = std::make_unique<Function>(Function{name});
        find(*fresh, phases_);
        known = std::move(fresh);
    }
    return *known;
}

}  // namespace hindcast::backend::cuda
