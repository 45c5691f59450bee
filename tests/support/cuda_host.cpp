#include "tests/support/cuda_host.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

#include "engine/backend/cpu_emit.hpp"
#include "engine/backend/cuda_phases.hpp"
#include "engine/backend/cuda_prelude.hpp"
#include "engine/backend/gather.hpp"
#include "engine/base/error.hpp"
#include "engine/base/files.hpp"

namespace hindcast::test {

using backend::Binding;
using backend::cpu::Gather;
using backend::cpu::Plan;
using backend::cuda::Argument;
using backend::cuda::KernelText;
using ir::Access;

namespace {

// What CUDA C++ has and C++ has not. Threads run one at a time, so atomics are plain.
const char* const shim = R"(#include <cmath>
#include <cstring>
using std::ceil; using std::fabs; using std::floor; using std::fma; using std::rint;
using std::sqrt; using std::trunc;
#define __device__
#define __global__
#define __restrict__ __restrict
struct Index { unsigned x; };
static thread_local Index blockIdx, blockDim, threadIdx;
template <class T, class U> static T atomicAdd(T* at, U x) { T old = *at; *at = (T)(old + (T)x); return old; }
template <class T, class U> static T atomicMin(T* at, U x) { T old = *at; if ((T)x < old) *at = (T)x; return old; }
template <class T, class U> static T atomicMax(T* at, U x) { T old = *at; if (old < (T)x) *at = (T)x; return old; }
template <class T, class U> static T atomicOr(T* at, U x) { T old = *at; *at = old | (T)x; return old; }
template <class T, class U> static T atomicExch(T* at, U x) { T old = *at; *at = (T)x; return old; }
template <class T> static T atomicCAS(T* at, T expected, T x) { T old = *at; if (old == expected) *at = x; return old; }
static inline void __threadfence() {}
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
template <class T, class F> static T same_bits(F x) { T y; std::memcpy(&y, &x, sizeof y); return y; }
static inline float __int_as_float(int x) { return same_bits<float>(x); }
static inline int __float_as_int(float x) { return same_bits<int>(x); }
static inline double __longlong_as_double(long long x) { return same_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }
)";

// void NAME_host(void** arguments, const int* order, int threads)
std::string entry_for(const std::string& name, const std::vector<std::string>& types) {
    std::string arguments;
    for (std::size_t k = 0; k < types.size(); ++k) {
        std::string type = types[k];
        // The argument is read through a pointer to it: const of the argument itself is no matter.
        if (type.back() != '*' && type.rfind("const ", 0) == 0) type = type.substr(6);
        arguments += fmt::format("{}*({}*)a[{}]", k > 0 ? ", " : "", type, k);
    }
    return fmt::format(
        "extern \"C\" void {0}_host(void** a, const int* order, int threads) {{\n"
        "    blockDim.x = 64;\n"
        "    for (int k = 0; k < threads; ++k) {{\n"
        "        blockIdx.x = (unsigned)order[k] / 64; threadIdx.x = (unsigned)order[k] % 64;\n"
        "        {0}({1});\n    }}\n}}\n",
        name, arguments);
}

using HostFunction = void (*)(void**, const int*, int);

constexpr const char* phase_names[] = {"gather_f32",    "gather_f64",   "reduce_lanes",
                                       "reduce_chunks", "reduce_total", "fixed_f32",
                                       "fixed_f64"};

backend::cpu::Form strided_form(const ir::Kernel& kernel) {
    backend::cpu::Form form(kernel.parameters.size());
    for (backend::cpu::ParameterForm& f : form) f.layout = backend::cpu::Layout::strided;
    return form;
}

// A parameter's sums in fixed point during one run.
struct FixedSum {
    backend::cuda::Fixed fixed;
    void* at = &fixed;
    long long count = 0;
    std::vector<std::uint64_t> integers;
    std::vector<std::uint32_t> kinds;
    backend::FixedScale scale;

    void prepare(const ir::Parameter& parameter, const Binding& target) {
        count = target.count;
        const auto size = static_cast<std::size_t>(count * parameter.components);
        integers.assign(parameter.type == ir::Type::f64 ? 2 * size : size, 0);
        kinds.assign(size, 0);
        fixed = {};
        fixed.sums = integers.data();
        fixed.kinds = kinds.data();
        at = &fixed;
    }
    void set_scale(const backend::FixedPoint& how, std::int64_t items) {
        const auto terms = how.counted ? static_cast<std::int64_t>(fixed.terms) : items * how.sites;
        scale = backend::fixed_scale(ir::real_of(fixed.largest, ir::Type::f64), terms);
        backend::cuda::set_scale(fixed, scale);
    }
};

}  // namespace

struct CudaHost::Entry final : backend::Executable {
    ir::Kernel source;
    Plan plan;
    KernelText text;
    Plan measuring;  // if there are sums in fixed point
    KernelText measuring_text;
    HostFunction function = nullptr, measure = nullptr, phase[std::size(phase_names)] = {};
    std::vector<std::unique_ptr<Gather>> gathers;

    const ir::Kernel& kernel() const override { return source; }

    // All threads of one phase, shuffled, with some that have no item.
    static void launch(HostFunction run, std::vector<void*> arguments, std::int64_t items) {
        std::vector<int> order(static_cast<std::size_t>((items + 63) / 64 * 64));
        std::iota(order.begin(), order.end(), 0);
        std::mt19937 random(static_cast<unsigned>(items));
        std::shuffle(order.begin(), order.end(), random);
        run(arguments.data(), order.data(), static_cast<int>(order.size()));
    }

    void run(const Binding* bindings, std::int64_t items, const backend::RunOptions&) override {
        clear_sums(bindings);
        backend::cuda::Fault fault;
        void* fault_at = &fault;
        std::vector<FixedSum> sums(plan.kernel.parameters.size());
        for (const int p : plan.fixed_symbols) {
            const auto symbol = static_cast<std::size_t>(p);
            sums[symbol].prepare(plan.kernel.parameters[symbol], bindings[symbol]);
        }
        int count = static_cast<int>(items);
        const auto length = static_cast<long long>(backend::cpu::scratch_items(items));
        const std::size_t real = ir::size_of(ir::real_type(plan.kernel.precision));
        std::vector<char> terms(static_cast<std::size_t>(text.term_rows) *
                                static_cast<std::size_t>(length) * real);
        std::vector<double> reduced(static_cast<std::size_t>(plan.total_count * items));
        void *terms_at = terms.data(), *reduced_at = reduced.data();
        std::vector<void*> data, arguments;
        std::vector<int> strides;
        data.reserve(64), strides.reserve(512);
        for (std::size_t p = 0; p < plan.kernel.parameters.size(); ++p)
            data.push_back(bindings[p].data);
        const auto gather_arguments = [&](const KernelText& of) {
            arguments.clear();
            for (const Argument& a : of.arguments) {
                const auto p = static_cast<std::size_t>(std::max(a.parameter, 0));
                switch (a.kind) {
                    case Argument::Kind::data: arguments.push_back(&data[p]); break;
                    case Argument::Kind::element_stride:
                        strides.push_back(static_cast<int>(bindings[p].element_stride));
                        arguments.push_back(&strides.back());
                        break;
                    case Argument::Kind::component_stride:
                        strides.push_back(static_cast<int>(bindings[p].component_stride));
                        arguments.push_back(&strides.back());
                        break;
                    case Argument::Kind::terms: arguments.push_back(&terms_at); break;
                    case Argument::Kind::reduced: arguments.push_back(&reduced_at); break;
                    case Argument::Kind::fixed: arguments.push_back(&sums[p].at); break;
                    case Argument::Kind::count: arguments.push_back(&sums[p].count); break;
                    case Argument::Kind::fault: arguments.push_back(&fault_at); break;
                    case Argument::Kind::items: arguments.push_back(&count); break;
                }
            }
        };
        if (!plan.fixed_symbols.empty() && items > 0) {
            gather_arguments(measuring_text);
            launch(measure, arguments, items);
            raise(measuring, fault, bindings);
            for (const int p : plan.fixed_symbols)
                sums[static_cast<std::size_t>(p)].set_scale(plan.fixed[static_cast<std::size_t>(p)],
                                                            items);
        }
        gather_arguments(text);
        if (items > 0) launch(function, arguments, items);
        raise(plan, fault, bindings);
        for (const int p : plan.fixed_symbols)
            add_fixed(sums[static_cast<std::size_t>(p)], static_cast<std::size_t>(p), bindings);
        for (const auto& g : gathers) gather(*g, bindings, items, terms.data(), length, real);
        if (plan.total_count > 0 && items > 0) reduce(bindings, count, reduced_at);
    }

    static void raise(const Plan& of, const backend::cuda::Fault& fault, const Binding* bindings) {
        if (fault.key == ~std::uint64_t{0}) return;
        backend::cpu::Context context;
        context.fault_item = static_cast<std::int64_t>(fault.key >> 32);
        context.fault_op = static_cast<std::int32_t>(fault.key & 0xffffffffu);
        context.fault_index = fault.index;
        backend::cpu::raise_fault(of, context, bindings);
    }

    void add_fixed(FixedSum& sum, std::size_t p, const Binding* bindings) {
        const Binding& target = bindings[p];
        const ir::Parameter& parameter = plan.kernel.parameters[p];
        const bool wide = parameter.type == ir::Type::f64;
        const int exponent = -sum.scale.high_bits - (wide ? sum.scale.low_bits : 0);
        const int first = std::clamp(exponent, -1000, 1000);
        double unit = std::ldexp(1.0, first), more = std::ldexp(1.0, exponent - first);
        void* to = target.data;
        long long stride = target.element_stride, plane = target.component_stride;
        int components = parameter.components, low_bits = sum.scale.low_bits,
            targets = static_cast<int>(target.count);
        int defines = parameter.access == Access::sum && !plan.shares_buffer(static_cast<int>(p));
        launch(phase[wide ? 6 : 5],
               {&to, &stride, &plane, &sum.at, &unit, &more, &low_bits, &components, &defines,
                &targets},
               targets);
        for (const std::uint64_t left : sum.integers)
            if (left != 0) throw Error("internal: a total was not cleared");
    }

    void clear_sums(const Binding* bindings) const {
        for (std::size_t p = 0; p < plan.kernel.parameters.size(); ++p) {
            const ir::Parameter& parameter = plan.kernel.parameters[p];
            if (parameter.access != Access::sum || bindings[p].data == nullptr) continue;
            const std::size_t size = ir::size_of(parameter.type);
            for (std::int64_t i = 0; i < bindings[p].count; ++i)
                for (int c = 0; c < parameter.components; ++c)
                    std::memset(static_cast<char*>(bindings[p].data) +
                                    static_cast<std::size_t>(i * bindings[p].element_stride +
                                                             c * bindings[p].component_stride) *
                                        size,
                                0, size);
        }
    }

    void gather(Gather& g, const Binding* bindings, std::int64_t items, char* terms,
                long long length, std::size_t real) {
        g.prepare(bindings, items);
        const auto p = static_cast<std::size_t>(g.symbol());
        const Binding& target = bindings[p];
        const ir::Parameter& parameter = plan.kernel.parameters[p];
        void* to = target.data;
        long long stride = target.element_stride, plane = target.component_stride;
        void* from = terms + static_cast<std::size_t>(text.first_term[p]) *
                                 static_cast<std::size_t>(length) * real;
        int rows = static_cast<int>(plan.rows[p].size()), components = parameter.components;
        int clears = parameter.access == Access::sum ? 1 : 0,
            targets = static_cast<int>(target.count);
        const void *first = g.first(), *entries = g.entries();
        launch(phase[real == 4 ? 0 : 1],
               {&to, &stride, &plane, &from, &rows, &length, &first, &entries, &components, &clears,
                &targets},
               targets);
    }

    void reduce(const Binding* bindings, int count, void* reduced) {
        int chunks = static_cast<int>((count + backend::reduce_chunk - 1) / backend::reduce_chunk);
        int threads = plan.total_count * chunks * backend::reduce_lanes;
        std::vector<double> lanes(static_cast<std::size_t>(threads));
        void* lanes_at = lanes.data();
        launch(phase[2], {&reduced, &count, &chunks, &lanes_at, &threads}, threads);
        int all = plan.total_count * chunks;
        std::vector<double> totals(static_cast<std::size_t>(all));
        void* totals_at = totals.data();
        launch(phase[3], {&lanes_at, &totals_at, &all}, all);
        for (std::size_t p = 0; p < plan.kernel.parameters.size(); ++p) {
            if (plan.totals[p] < 0 || bindings[p].data == nullptr) continue;
            void* from = totals.data() + static_cast<std::ptrdiff_t>(plan.totals[p]) * chunks;
            void* to = bindings[p].data;
            int components = plan.kernel.parameters[p].components;
            launch(phase[4], {&from, &chunks, &to, &components}, components);
        }
    }
};

CudaHost::CudaHost() : source_(std::string(shim) + backend::cuda::prelude + backend::cuda::phases) {
    for (const char* name : phase_names)
        source_ += entry_for(name, backend::cuda::phase_arguments(name));
}

CudaHost::~CudaHost() {
    entries_.clear();
    if (library_ != nullptr) ::dlclose(library_);
}

int CudaHost::add(const ir::Kernel& kernel) {
    auto entry = std::make_unique<Entry>();
    entry->source = kernel;
    entry->plan = backend::cuda::plan_for(kernel, strided_form(kernel));
    entry->text = backend::cuda::emit(entry->plan, fmt::format("kernel_{}", entries_.size()));
    const auto add_text = [&](const KernelText& text) {
        std::vector<std::string> types;
        for (const Argument& a : text.arguments) types.push_back(a.type);
        source_ += "// " + kernel.name + "\n" + text.text + entry_for(text.name, types);
    };
    if (!entry->plan.fixed_symbols.empty()) {
        entry->measuring = backend::cuda::plan_for(kernel, strided_form(kernel), true);
        entry->measuring_text =
            backend::cuda::emit(entry->measuring, fmt::format("measure_{}", entries_.size()));
        add_text(entry->measuring_text);
    }
    for (std::size_t p = 0; p < entry->plan.rows.size(); ++p)
        if (!entry->plan.rows[p].empty())
            entry->gathers.push_back(std::make_unique<Gather>(entry->plan, static_cast<int>(p)));
    add_text(entry->text);
    entries_.push_back(std::move(entry));
    return static_cast<int>(entries_.size()) - 1;
}

void CudaHost::build() {
    const std::string text = (folder_ / "kernels.cpp").string(),
                      code = (folder_ / "kernels.so").string(),
                      words = (folder_ / "errors.txt").string();
    write_file_atomically(text, source_);
    const std::string command = fmt::format(
        "c++ -std=c++20 -O1 -fPIC -shared -ffp-contract=off -mfma -w '{}' -o '{}' 2> '{}'", text,
        code, words);
    if (std::system(command.c_str()) != 0)
        throw Error("the host compiler refuses the CUDA text").note(read_file(words));
    library_ = ::dlopen(code.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr)
        throw Error(std::string("the compiled text cannot be opened: ") + ::dlerror());
    const auto find = [&](const std::string& name) {
        return reinterpret_cast<HostFunction>(::dlsym(library_, (name + "_host").c_str()));
    };
    for (const auto& entry : entries_) {
        entry->function = find(entry->text.name);
        if (!entry->plan.fixed_symbols.empty()) entry->measure = find(entry->measuring_text.name);
        int k = 0;
        for (const char* name : phase_names) entry->phase[k++] = find(name);
    }
}

backend::Executable& CudaHost::executable(int k) { return *entries_[static_cast<std::size_t>(k)]; }
const std::string& CudaHost::text(int k) const {
    return entries_[static_cast<std::size_t>(k)]->text.text;
}

}  // namespace hindcast::test
