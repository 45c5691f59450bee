#include "engine/backend/cuda/cuda.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/backend/cuda/emit.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/backend/launch_error.hpp"
#include "engine/backend/plan/fault.hpp"
#include "engine/backend/plan/index_check.hpp"
#include "engine/backend/plan/inverse_index.hpp"
#include "engine/backend/plan/last_bindings.hpp"
#include "engine/base/error.hpp"
#include "engine/base/hash.hpp"
#include "engine/ir/memory_type.hpp"
#include "engine/lang/lowering.hpp"

namespace hindcast::backend {

namespace {

using namespace cuda;

using SharedBlock = std::shared_ptr<const Block>;
using Words = std::shared_ptr<const LaunchWords>;

// Scratch memory that grows. Graphs hold what they were captured with.
class Scratch {
public:
    // At least so many bytes; true if they are new.
    bool grow(const std::shared_ptr<cuda::Context>& context, std::size_t bytes) {
        const bool fresh = !block_ || block_->size() < bytes;
        if (fresh) block_ = std::make_shared<Block>(context, bytes);
        address_ = block_->data();
        context->keep(block_);
        return fresh;
    }
    void* const* argument() const { return &address_; }
    Address address() const { return block_->address(); }

private:
    SharedBlock block_;
    void* address_ = nullptr;
};

// One function of a kernel: that which computes, or that which measures.
class Part {
public:
    Part(const ir::Kernel& kernel, const Form& form, Sums sums, bool checked, Words launch,
         cuda::Context& context)
        : context_(context), words_(std::move(launch)) {
        const CodeTimer timer;
        plan = plan_for(kernel, form, sums, checked);
        // The name says the text, so that the same kernels of other launches are the same function.
        constexpr const char* head = "kernel";
        text = emit(plan, head, sums == Sums::any_order);
        Hasher hash;
        hash.text(text.text);
        text.name = fmt::format("{}_{}", identifier(kernel.name), to_string(hash.digest()));
        text.text.replace(text.text.find(head, text.text.find("__global__")), 6, text.name);
        faults_ = text.text.find("report(") != std::string::npos;
        function_ = &context.code().declare(text.name, text.text);
        bindings_.resize(plan.kernel.parameters.size());
        watch_ = context.faults().add([this](const Fault& fault) { raise(fault); });
        fault_ = context.faults().address(watch_);
    }
    ~Part() { context_.faults().forget(watch_); }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    void launch(const Binding* bindings, std::int64_t items, void** arguments,
                StreamHandle stream) {
        if (faults_) {
            bindings_.assign(bindings, bindings + bindings_.size());
            context_.faults().may_come(watch_);
        }
        context_.launch(*function_, items, arguments, stream, words_);
    }
    const Address& fault() const { return fault_; }
    const Words& words() const { return words_; }

    Plan plan;
    KernelText text;

private:
    void raise(const Fault& fault) const {
        const KernelFault found{.item = static_cast<std::int64_t>(fault.key >> 32),
                                .index = fault.index,
                                .op = static_cast<std::int32_t>(fault.key & 0xffffffffu)};
        try {
            raise_fault(plan.kernel, found, bindings_.data());
        } catch (const Error& e) {
            throw LaunchError(e, words_->note(plan.kernel.name));
        }
    }

    cuda::Context& context_;
    Words words_;
    const Function* function_ = nullptr;
    bool faults_ = false;
    int watch_ = -1;
    Address fault_ = 0;
    std::vector<Binding> bindings_;  // of the last launch
};

// The gather pass of one parameter, with its inverses on the device.
class GatherPass {
public:
    GatherPass(const Plan& plan, int symbol) : gather_(plan, symbol) {}

    void prepare(const Binding* host, std::int64_t items,
                 const std::shared_ptr<cuda::Context>& context) {
        gather_.prepare(host, items);
        std::shared_ptr<const void>& copy = gather_.attachment();
        if (!copy) {
            const auto targets = static_cast<std::size_t>(host[gather_.symbol()].count);
            auto tables = std::make_shared<Tables>();
            tables->first = upload(gather_.first(), targets + 1, context);
            tables->entries = upload(gather_.entries(), gather_.first()[targets], context);
            copy = std::move(tables);
        }
        const auto* const tables = static_cast<const Tables*>(copy.get());
        first_ = tables->first.address();
        entries_ = tables->entries.address();
        context->keep(copy);
    }

    int symbol() const { return gather_.symbol(); }
    bool depends_on(int parameter) const { return gather_.depends_on(parameter); }
    const Address& first() const { return first_; }
    const Address& entries() const { return entries_; }

private:
    struct Tables {
        Block first, entries;
    };
    static Block upload(const std::uint32_t* values, std::size_t count,
                        const std::shared_ptr<cuda::Context>& context) {
        Block block(context, std::max<std::size_t>(count, 1) * sizeof(std::uint32_t));
        context->upload(block.address(), values, count * sizeof(std::uint32_t));
        return block;
    }

    InverseIndex gather_;
    Address first_ = 0, entries_ = 0;
};

// The sums in fixed point of one parameter.
class FixedPass {
public:
    FixedPass(const Plan& plan, int symbol, FixedPoint how)
        : symbol_(symbol), how_(how), parameter_(plan.kernel.parameter(symbol)) {
        defines_ = parameter_.access == ir::Access::sum && !plan.shares_buffer(symbol);
    }

    void prepare(const Binding& target, const std::shared_ptr<cuda::Context>& context) {
        const auto cells = static_cast<std::size_t>(target.count * parameter_.components);
        const std::size_t limbs = wide() ? 2 * cells : cells;
        const bool fresh = header_.grow(context, sizeof(Fixed));
        const bool more = sums_.grow(context, std::max<std::size_t>(limbs, 1) * 8) |
                          kinds_.grow(context, std::max<std::size_t>(cells, 1) * 4);
        if (!fresh && !more) return;
        context->clear(sums_.address(), limbs * 8);
        context->clear(kinds_.address(), cells * 4);
        Fixed fixed;
        fixed.sums = std::bit_cast<std::uint64_t*>(sums_.address());
        fixed.kinds = std::bit_cast<std::uint32_t*>(kinds_.address());
        context->upload(header_.address(), &fixed, sizeof fixed);
    }

    void* const* header() const { return header_.argument(); }
    int symbol() const { return symbol_; }

    void set_scale(std::int64_t items, cuda::Context& context, StreamHandle stream,
                   const Words& words) const {
        const long long terms = how_.counted ? -1 : static_cast<long long>(items * how_.sites);
        const int two_limbs = wide(), one = 1;
        Arguments arguments(*header_.argument(), terms, two_limbs, one);
        context.launch(context.code().phase("fixed_scale"), 1, arguments.list(), stream, words);
    }

    void take(const Binding& target, cuda::Context& context, StreamHandle stream,
              const Words& words) const {
        if (target.count == 0) return;
        const long long stride = target.element_stride, plane = target.component_stride;
        const int components = parameter_.components, defines = defines_,
                  targets = static_cast<int>(target.count);
        Arguments arguments(target.data, stride, plane, *header_.argument(), components, defines,
                            targets);
        context.launch(context.code().phase(wide() ? "fixed_f64" : "fixed_f32"), targets,
                       arguments.list(), stream, words);
    }

private:
    bool wide() const { return parameter_.type == ir::Type::f64; }

    int symbol_;
    FixedPoint how_;
    const ir::Parameter& parameter_;
    bool defines_ = false;
    Scratch header_, sums_, kinds_;
};

// The kernel for one form of its parameters.
class Variant {
public:
    Variant(const ir::Kernel& kernel, const Form& form, const Words& launch,
            const std::shared_ptr<cuda::Context>& context, bool any_order, bool checked)
        : form_(form),
          context_(context),
          main_(kernel, form, any_order ? Sums::any_order : Sums::fixed, checked, launch,
                *context) {
        const Plan& plan = main_.plan;
        const std::size_t n = plan.kernel.parameters.size();
        data_.resize(n);
        strides_.resize(n);
        planes_.resize(n);
        counts_.resize(n);
        for (std::size_t p = 0; p < n; ++p)
            if (!plan.rows[p].empty())
                gathers_.push_back(std::make_unique<GatherPass>(plan, static_cast<int>(p)));
        for (const int p : any_order ? std::vector<int>() : plan.fixed_symbols)
            fixed_.push_back(
                std::make_unique<FixedPass>(plan, p, plan.fixed[static_cast<std::size_t>(p)]));
        if (!fixed_.empty())
            measuring_ =
                std::make_unique<Part>(kernel, form, Sums::measured, checked, launch, *context);
        list_arguments(main_, main_arguments_);
        if (measuring_) list_arguments(*measuring_, measuring_arguments_);
    }

    const Form& form() const { return form_; }
    bool reads_on_host(int parameter) const {
        return std::any_of(gathers_.begin(), gathers_.end(),
                           [&](const auto& g) { return g->depends_on(parameter); });
    }

    void run(const Binding* bindings, std::int64_t items, const RunOptions& options) {
        stream_ = options.stream != nullptr ? static_cast<StreamHandle>(options.stream)
                                            : context_->launch_stream();
        for (std::size_t p = 0; p < data_.size(); ++p) {
            item_count(bindings[p].count);
            data_[p] = bindings[p].data;
            strides_[p] = bindings[p].element_stride;
            planes_[p] = bindings[p].component_stride;
            counts_[p] = bindings[p].count;
        }
        clear_sums(bindings, items);
        if (items <= 0) return;
        const Plan& plan = main_.plan;
        items_ = static_cast<int>(items);
        row_length_ = scratch_items(items);
        const std::size_t real = ir::size_of(ir::real_type(plan.kernel.precision));
        for (const auto& g : gathers_) g->prepare(options.host, items, context_);
        if (main_.text.term_rows > 0)
            terms_.grow(context_, static_cast<std::size_t>(main_.text.term_rows) *
                                      static_cast<std::size_t>(row_length_) * real);
        if (plan.total_count > 0)
            reduced_.grow(context_, static_cast<std::size_t>(plan.total_count * items) * 8);
        for (const auto& f : fixed_)
            f->prepare(bindings[static_cast<std::size_t>(f->symbol())], context_);
        if (measuring_) {
            measuring_->launch(bindings, items, measuring_arguments_.data(), stream_);
            for (const auto& f : fixed_) f->set_scale(items, *context_, stream_, main_.words());
        }
        main_.launch(bindings, items, main_arguments_.data(), stream_);
        for (const auto& g : gathers_) gather(*g, bindings, real);
        for (const auto& f : fixed_)
            f->take(bindings[static_cast<std::size_t>(f->symbol())], *context_, stream_,
                    main_.words());
        if (plan.total_count > 0) reduce(bindings);
    }

private:
    void list_arguments(const Part& part, std::vector<void*>& list) {
        const auto address = [](const auto& of) {
            return const_cast<void*>(static_cast<const void*>(&of));
        };
        for (const Argument& a : part.text.arguments) {
            const auto p = static_cast<std::size_t>(std::max(a.parameter, 0));
            switch (a.kind) {
                case Argument::Kind::data: list.push_back(address(data_[p])); break;
                // An int is the first half of a long long.
                case Argument::Kind::element_stride: list.push_back(address(strides_[p])); break;
                case Argument::Kind::component_stride: list.push_back(address(planes_[p])); break;
                case Argument::Kind::terms: list.push_back(address(*terms_.argument())); break;
                case Argument::Kind::reduced: list.push_back(address(*reduced_.argument())); break;
                case Argument::Kind::fixed:
                    for (const auto& f : fixed_)
                        if (f->symbol() == a.parameter) list.push_back(address(*f->header()));
                    break;
                case Argument::Kind::count: list.push_back(address(counts_[p])); break;
                case Argument::Kind::fault: list.push_back(address(part.fault())); break;
                case Argument::Kind::items: list.push_back(address(items_)); break;
            }
        }
    }

    void clear_sums(const Binding* bindings, std::int64_t items) {
        const Plan& plan = main_.plan;
        for (std::size_t p = 0; p < form_.size(); ++p) {
            const ir::Parameter& parameter = plan.kernel.parameters[p];
            const Binding& b = bindings[p];
            if (parameter.access != ir::Access::sum || form_[p].same_as >= 0 || b.data == nullptr)
                continue;
            const bool adds = plan.summation[p] == Summation::fixed && fixed_.empty();
            const std::int64_t from =
                adds ? 0 : plan.first_to_clear(static_cast<int>(p), items, b.count);
            const std::size_t size = ir::size_of(parameter.type);
            Binding rest = b;
            rest.data = static_cast<char*>(b.data) +
                        static_cast<std::size_t>(from * b.element_stride) * size;
            rest.count -= from;
            context_->put_fill(rest, parameter.components, size, 0, stream_, main_.words());
        }
    }

    void gather(const GatherPass& g, const Binding* bindings, std::size_t real) {
        const auto p = static_cast<std::size_t>(g.symbol());
        const Binding& target = bindings[p];
        if (target.count == 0) return;
        const ir::Parameter& parameter = main_.plan.kernel.parameters[p];
        const long long stride = target.element_stride, plane = target.component_stride;
        const Address terms =
            terms_.address() + static_cast<std::size_t>(main_.text.first_term[p]) *
                                   static_cast<std::size_t>(row_length_) * real;
        const int rows = static_cast<int>(main_.plan.rows[p].size()),
                  components = parameter.components,
                  clears = parameter.access == ir::Access::sum ? 1 : 0,
                  targets = static_cast<int>(target.count);
        Arguments arguments(target.data, stride, plane, terms, rows, row_length_, g.first(),
                            g.entries(), components, clears, targets);
        context_->launch(context_->code().phase(real == 4 ? "gather_f32" : "gather_f64"), targets,
                         arguments.list(), stream_, main_.words());
    }

    void reduce(const Binding* bindings) {
        const Plan& plan = main_.plan;
        const int chunks = static_cast<int>((items_ + reduce_chunk - 1) / reduce_chunk),
                  all = plan.total_count * chunks, threads = all * reduce_lanes;
        lanes_.grow(context_, static_cast<std::size_t>(threads) * 8);
        totals_.grow(context_, static_cast<std::size_t>(all) * 8);
        Arguments lanes(*reduced_.argument(), items_, chunks, *lanes_.argument(), threads);
        context_->launch(context_->code().phase("reduce_lanes"), threads, lanes.list(), stream_,
                         main_.words());
        Arguments of_chunks(*lanes_.argument(), *totals_.argument(), all);
        context_->launch(context_->code().phase("reduce_chunks"), all, of_chunks.list(), stream_,
                         main_.words());
        for (std::size_t p = 0; p < plan.kernel.parameters.size(); ++p) {
            if (plan.totals[p] < 0 || bindings[p].data == nullptr) continue;
            const Address from = totals_.address() + static_cast<std::size_t>(plan.totals[p]) *
                                                         static_cast<std::size_t>(chunks) * 8;
            const int components = plan.kernel.parameters[p].components;
            Arguments total(from, chunks, bindings[p].data, components);
            context_->launch(context_->code().phase("reduce_total"), components, total.list(),
                             stream_, main_.words());
        }
    }

    Form form_;
    std::shared_ptr<cuda::Context> context_;
    Part main_;
    std::unique_ptr<Part> measuring_;  // if there are sums in fixed point
    std::vector<std::unique_ptr<GatherPass>> gathers_;
    std::vector<std::unique_ptr<FixedPass>> fixed_;
    std::vector<void*> main_arguments_, measuring_arguments_;
    // The arguments of the run that is being put on a stream; the lists above point to them.
    std::vector<void*> data_;
    std::vector<long long> strides_, planes_, counts_;
    int items_ = 0;
    long long row_length_ = 0;
    StreamHandle stream_ = nullptr;
    Scratch terms_, reduced_, lanes_, totals_;
};

class CudaExecutable final : public Executable {
public:
    CudaExecutable(const ir::Kernel& kernel, const LaunchWords& launch,
                   std::shared_ptr<cuda::Context> context, bool any_order, bool checked)
        : kernel_(kernel),
          lowered_(lang::lower(kernel, lang::Lowering::all)),
          launch_(std::make_shared<LaunchWords>(launch)),
          context_(std::move(context)),
          any_order_(any_order),
          checked_(checked) {}

    const ir::Kernel& kernel() const override { return kernel_; }
    void prepare(const Binding* bindings, std::int64_t) override { variant(bindings); }
    bool reads_on_host(const Binding* bindings, int parameter) override {
        return variant(bindings).reads_on_host(parameter);
    }
    void run(const Binding* bindings, std::int64_t items, const RunOptions& options) override {
        Variant& v = variant(bindings);
        context_->code().make();
        v.run(bindings, items, options);
    }

private:
    Variant& variant(const Binding* bindings) {
        if (!last_.change(bindings) && current_ != nullptr) return *current_;
        current_ = nullptr;
        const Form form = form_of(lowered_, bindings);
        for (const auto& v : variants_)
            if (v->form() == form) return *(current_ = v.get());
        variants_.push_back(
            std::make_unique<Variant>(kernel_, form, launch_, context_, any_order_, checked_));
        return *(current_ = variants_.back().get());
    }

    ir::Kernel kernel_, lowered_;
    Words launch_;
    std::shared_ptr<cuda::Context> context_;
    bool any_order_, checked_;
    std::vector<std::unique_ptr<Variant>> variants_;
    LastBindings last_{lowered_};
    Variant* current_ = nullptr;  // of the last bindings
};

}  // namespace

std::shared_ptr<Executable> compile_cuda(const ir::Kernel& kernel, const LaunchWords& launch,
                                         std::shared_ptr<cuda::Context> context, bool any_order,
                                         bool indices) {
    // Arrays of a device are not looked at before a launch.
    const bool checked = indices && !IndexCheck(kernel).is_needless();
    return std::make_shared<CudaExecutable>(kernel, launch, std::move(context), any_order, checked);
}

}  // namespace hindcast::backend
