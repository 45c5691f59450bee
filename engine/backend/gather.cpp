#include "engine/backend/gather.hpp"

#include <algorithm>
#include <cstring>

#include "engine/backend/cpu_plan.hpp"
#include "engine/ir/evaluate.hpp"

namespace hindcast::backend::cpu {

using ir::Bits;
using ir::Kernel;
using ir::Op;
using ir::OpCode;
using ir::Value;

namespace {

// Visits the ops that an index depends on, each once, operands first.
template <class F>
void each_dependency(const Kernel& kernel, Value v, std::vector<char>& seen, const F& visit) {
    if (v < 0 || seen[static_cast<std::size_t>(v)]) return;
    seen[static_cast<std::size_t>(v)] = 1;
    for (const Value operand : kernel.op(v).operand) each_dependency(kernel, operand, seen, visit);
    visit(v);
}

// Evaluates indices for blocks of items. A load out of range gives 0: then the item does not execute the site.
class IndexEvaluator {
public:
    static constexpr std::int64_t block = 1024;

    IndexEvaluator(const Kernel& kernel, const std::vector<Row>& rows, const Binding* bindings)
        : kernel_(kernel), bindings_(bindings), values_(kernel.ops.size()) {
        std::vector<char> seen(kernel.ops.size(), 0);
        for (const Row& row : rows)
            each_dependency(kernel, row.index, seen, [&](Value v) {
                order_.push_back(v);
                values_[static_cast<std::size_t>(v)].resize(block);
            });
    }

    void run(std::int64_t begin, std::int64_t count) {
        for (const Value v : order_) {
            const Op& op = kernel_.op(v);
            Bits* out = values_[static_cast<std::size_t>(v)].data();
            const auto in = [&](int k) { return op.operand[k] < 0 ? out : values_[static_cast<std::size_t>(op.operand[k])].data(); };
            const ir::Type in_type = op.operand[0] < 0 ? ir::Type::none : kernel_.op(op.operand[0]).type;
            if (op.code == OpCode::constant) {
                std::fill_n(out, count, op.bits);
            } else if (op.code == OpCode::item) {
                for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<std::uint32_t>(begin + i);
            } else if (op.code == OpCode::parameter) {
                Bits bits = 0;
                const std::size_t size = ir::size_of(op.type);
                std::memcpy(&bits, static_cast<const char*>(bindings_[op.symbol].data) + static_cast<std::size_t>(op.component) * size, size);
                std::fill_n(out, count, bits);
            } else if (op.code == OpCode::load) {
                load(op, in_type, in(0), out, count);
            } else {
                const Bits *a = in(0), *b = in(1), *c = in(2);
                for (std::int64_t i = 0; i < count; ++i) out[i] = ir::evaluate_op(op.code, op.type, in_type, a[i], b[i], c[i]);
            }
        }
    }

    std::int64_t index(Value v, std::int64_t i) const {
        return ir::integer_of(values_[static_cast<std::size_t>(v)][static_cast<std::size_t>(i)], kernel_.op(v).type);
    }

private:
    void load(const Op& op, ir::Type index_type, const Bits* index, Bits* out, std::int64_t count) const {
        const Binding& b = bindings_[op.symbol];
        const auto size = static_cast<std::int64_t>(ir::size_of(op.type));
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t k = ir::integer_of(index[i], index_type);
            out[i] = 0;
            if (k < 0 || k >= b.count) continue;
            const std::int64_t offset = k * b.element_stride + op.component * b.component_stride;
            std::memcpy(&out[i], static_cast<const char*>(b.data) + offset * size, static_cast<std::size_t>(size));
        }
    }

    const Kernel& kernel_;
    const Binding* bindings_;
    std::vector<Value> order_;
    std::vector<std::vector<Bits>> values_;
};

// N components of T, added lane by lane; in scratch memory they are padded.
template <class T, int N>
void gather_lanes(const GatherPass& pass, std::int64_t begin, std::int64_t end) {
    constexpr int lanes = N == 1 ? 2 : padded(N);  // GCC has no vectors of one
    typedef T V __attribute__((vector_size(sizeof(T) * lanes)));
    const std::uint32_t* first = pass.inverse->first.data();
    const std::uint32_t* entries = pass.inverse->entries.data();
    const auto* scratch = static_cast<const T*>(pass.scratch);
    for (std::int64_t t = begin; t < end; ++t) {
        const std::uint32_t stop = first[t + 1];
        std::uint32_t e = first[t];
        if (e == stop && !pass.clear) continue;
        T* const target = static_cast<T*>(pass.target) + t * pass.element_stride;
        V sum{};
        // Unrolled, or components would take the way through memory.
        if (!pass.clear) {
#pragma GCC unroll 4
            for (int c = 0; c < N; ++c) sum[c] = target[c * pass.component_stride];
        }
        for (; e != stop; ++e) {
            const T* from = scratch + static_cast<std::size_t>(entries[e]) * padded(N);
            V term{};
            if constexpr (N == 1) term[0] = *from;
            else std::memcpy(&term, from, sizeof term);
            sum += term;
        }
#pragma GCC unroll 4
        for (int c = 0; c < N; ++c) target[c * pass.component_stride] = sum[c];
    }
}

template <class T>
void gather_type(const GatherPass& pass, std::int64_t begin, std::int64_t end) {
    switch (pass.components) {
        case 1: gather_lanes<T, 1>(pass, begin, end); break;
        case 2: gather_lanes<T, 2>(pass, begin, end); break;
        case 3: gather_lanes<T, 3>(pass, begin, end); break;
        default: gather_lanes<T, 4>(pass, begin, end);
    }
}

}  // namespace

bool is_static_index(const Kernel& kernel, Value index) {
    bool ok = true;
    std::vector<char> seen(kernel.ops.size(), 0);
    each_dependency(kernel, index, seen, [&](Value v) {
        const Op& op = kernel.op(v);
        const bool known = op.code == OpCode::constant || op.code == OpCode::item || op.code == OpCode::parameter || op.code == OpCode::load;
        ok &= !ir::is_real(op.type) && (known || ir::can_evaluate(op.code));
    });
    return ok;
}

IndexKey::IndexKey(const Kernel& kernel, const std::vector<Row>& rows) {
    std::vector<char> seen(kernel.ops.size(), 0);
    for (const Row& row : rows)
        each_dependency(kernel, row.index, seen, [&](Value v) {
            const Op& op = kernel.op(v);
            if (op.code == OpCode::load && std::find(buffers_.begin(), buffers_.end(), op.symbol) == buffers_.end()) buffers_.push_back(op.symbol);
            if (op.code != OpCode::parameter) return;
            values_.emplace_back(op.symbol, op.component);
            types_.push_back(op.type);
        });
}

void IndexKey::read(const Binding* bindings, std::int64_t items, std::int64_t targets, std::vector<std::uint64_t>& key) const {
    key.clear();
    key.push_back(static_cast<std::uint64_t>(items));
    key.push_back(static_cast<std::uint64_t>(targets));
    for (const int p : buffers_) {
        const Binding& b = bindings[p];
        for (const auto part : {reinterpret_cast<std::uint64_t>(b.data), static_cast<std::uint64_t>(b.count), static_cast<std::uint64_t>(b.element_stride),
                                static_cast<std::uint64_t>(b.component_stride), b.version})
            key.push_back(part);
    }
    for (std::size_t k = 0; k < values_.size(); ++k) {
        std::uint64_t bits = 0;
        const std::size_t size = ir::size_of(types_[k]);
        std::memcpy(&bits, static_cast<const char*>(bindings[values_[k].first].data) + static_cast<std::size_t>(values_[k].second) * size, size);
        key.push_back(bits);
    }
}

Inverse invert(const Kernel& kernel, const std::vector<Row>& rows, const Binding* bindings, std::int64_t items, std::int64_t targets) {
    const std::int64_t stride = scratch_items(items);
    const auto row_count = static_cast<std::int64_t>(rows.size());
    if (stride * row_count >= std::int64_t{1} << 32)
        throw Error("a launch of " + std::to_string(items) + " items accumulates too many terms")
            .in_kernel(kernel.name)
            .remedy("split the launch");
    // Two passes over all terms: count per target, then place. The indices are kept in between.
    std::vector<std::int32_t> index(static_cast<std::size_t>(items * row_count));
    Inverse inverse;
    inverse.first = AlignedBuffer<std::uint32_t>(static_cast<std::size_t>(targets) + 2);
    std::uint32_t* count = inverse.first.data() + 2;
    IndexEvaluator evaluator(kernel, rows, bindings);
    std::size_t terms = 0, k = 0;
    for (std::int64_t begin = 0; begin < items; begin += IndexEvaluator::block) {
        const std::int64_t n = std::min(items - begin, IndexEvaluator::block);
        evaluator.run(begin, n);
        for (std::int64_t i = 0; i < n; ++i)
            for (const Row& row : rows) {
                const std::int64_t t = evaluator.index(row.index, i);
                const bool valid = t >= 0 && t < targets;
                index[k++] = valid ? static_cast<std::int32_t>(t) : -1;
                if (valid) ++count[t];
                terms += valid;
            }
    }
    // first[t + 1] becomes the place of the next entry of target t, and in the end the first of target t + 1
    std::uint32_t* next = inverse.first.data() + 1;
    for (std::int64_t t = 1; t < targets; ++t) next[t] += next[t - 1];
    inverse.entries = AlignedBuffer<std::uint32_t>(terms);
    k = 0;
    for (std::int64_t i = 0; i < items; ++i)
        for (std::int64_t r = 0; r < row_count; ++r) {
            const std::int32_t t = index[k++];
            if (t >= 0) inverse.entries[next[t]++] = static_cast<std::uint32_t>(r * stride + i);
        }
    return inverse;
}

void gather(const GatherPass& pass, std::int64_t begin, std::int64_t end) {
    if (pass.wide) gather_type<double>(pass, begin, end);
    else gather_type<float>(pass, begin, end);
}

}  // namespace hindcast::backend::cpu
