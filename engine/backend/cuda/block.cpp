#include "engine/backend/cuda/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/backend/binding.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/backend/cuda/phases.hpp"
#include "engine/backend/jit/code_cache.hpp"
#include "engine/base/error.hpp"

namespace hindcast::backend::cuda {

namespace {

// Limits of work that is worth compiling: with more, one of many multiprocessors is not faster.
constexpr int most_items = 4096;                            // of a piece
constexpr std::size_t fewest_pieces = 8;                    // of a graph
constexpr std::size_t most_text = std::size_t{256} * 1024;  // of all functions
constexpr int trials = 3;                                   // timed, of either
// Seconds that runs of the graph take before a program is tried: about as long as compiling.
constexpr double patience = 0.1;

// A record: function | items << 32, length | waits << 32, arguments; length slots in all.
constexpr const char* machinery = R"(
#ifndef HINDCAST_ALL_THREADS  // tests/cuda_driver/shim.cpp has others
#define HINDCAST_WHOLE_BLOCK
#define HINDCAST_ALL_THREADS
#define HINDCAST_WAIT __syncthreads();
#endif
template <int... K> struct Slots {};
template <int N, int... K> struct SlotsUpTo : SlotsUpTo<N - 1, N - 1, K...> {};
template <int... K> struct SlotsUpTo<0, K...> { using type = Slots<K...>; };
template <auto function> struct Piece;
template <class... A, void (*function)(int, A...)> struct Piece<function> {
    static __device__ inline void loop(int items, A... arguments) {
        for (int item = threadIdx.x; item < items; item += blockDim.x) function(item, arguments...);
    }
    template <int... K> static __device__ inline void run(const long long* slots, int items, Slots<K...>) {
        loop(items, *(const A*)(slots + K)...);
    }
    static __device__ inline void run(const long long* slots, int items) {
        run(slots, items, typename SlotsUpTo<sizeof...(A)>::type());
    }
};
)";

constexpr const char* kernel = R"(
extern "C" __global__ void __launch_bounds__({threads}) {name}(const long long* __restrict__ records, int pieces) {{
    HINDCAST_WHOLE_BLOCK
    while (pieces > 0) {{
        const long long* next = records;
        int left = pieces;
        HINDCAST_ALL_THREADS {{
            next = records;
            left = pieces;
            bool waits = false;
            while (left > 0 && !waits) {{
                const long long head = next[0], tail = next[1];
                const long long* const slots = next + 2;
                const int items = (int)(head >> 32);
                switch ((int)head) {{
{cases}                }}
                waits = tail >> 32 != 0;
                next += (int)tail;
                --left;
            }}
        }}
        HINDCAST_WAIT
        records = next;
        pieces = left;
    }}
}}
)";

bool overlap(const Use& a, const Use& b) {
    return (a.writes || b.writes) && a.begin < b.end && b.begin < a.end;
}

// Each once, in order of name: the same work has the same text.
std::vector<const Function*> functions_of(const Pieces& pieces) {
    std::map<std::string, const Function*> all;
    for (std::size_t k = 0; k < pieces.size(); ++k)
        all.emplace(pieces[k].function->name, pieces[k].function);
    std::vector<const Function*> list;
    for (const auto& [name, function] : all) list.push_back(function);
    return list;
}

}  // namespace

// ---------------------------------------------------------------- pieces

Use use_of(const Binding& array, int components, std::size_t scalar_bytes, bool writes) {
    if (array.element_stride < 0 || array.component_stride < 0) return {0, ~Address{0}, writes};
    const std::int64_t last =
        (array.count - 1) * array.element_stride + (components - 1) * array.component_stride;
    const Address begin = address_of(array.data);
    return {begin, array.count > 0 ? begin + static_cast<Address>(last + 1) * scalar_bytes : begin,
            writes};
}

void Pieces::add(const Function& function, std::int64_t items, const ArgumentView& arguments,
                 std::span<const Use> uses) {
    if (function.item_name.empty()) refusal_ = "'" + function.name + "' can only be launched";
    for (std::size_t k = 0; k < arguments.count; ++k) {
        std::uint64_t slot = 0;
        std::memcpy(&slot, arguments.values[k], arguments.bytes[k]);
        slots_.push_back(slot);
    }
    if (uses.empty())
        uses_.push_back({0, ~Address{0}, true});
    else
        uses_.insert(uses_.end(), uses.begin(), uses.end());
    pieces_.push_back({&function, static_cast<int>(items), slots_.size(), uses_.size()});
}

void Pieces::add_copy(Address to, Address from, std::size_t bytes) {
    static const Function copy{"copy_4", "copy_word"};
    if (bytes % 4 != 0 || to % 4 != 0 || from % 4 != 0) refusal_ = "a copy is not of whole words";
    const int items = item_count(static_cast<std::int64_t>(bytes / 4));
    const Use uses[] = {{to, to + bytes, true}, {from, from + bytes, false}};
    Arguments arguments(to, from, items);
    add(copy, items, arguments.view(), uses);
}

void Pieces::add_fill(Address to, std::uint32_t value, std::size_t bytes) {
    static const Function fill{"fill_4", phase_function("fill_4")};
    if (bytes % 4 != 0 || to % 4 != 0) refusal_ = "what is filled is not whole words";
    const int items = item_count(static_cast<std::int64_t>(bytes / 4)), components = 1;
    const long long stride = 1, plane = 0;
    const Use use{to, to + bytes, true};
    Arguments arguments(to, stride, plane, components, value, items);
    add(fill, items, arguments.view(), {&use, 1});
}

std::span<const std::uint64_t> Pieces::slots(std::size_t k) const {
    const std::size_t first = k > 0 ? pieces_[k - 1].slots : 0;
    return {slots_.data() + first, pieces_[k].slots - first};
}

std::span<const Use> Pieces::uses(std::size_t k) const {
    const std::size_t first = k > 0 ? pieces_[k - 1].uses : 0;
    return {uses_.data() + first, pieces_[k].uses - first};
}

std::vector<char> barriers(const Pieces& pieces) {
    std::vector<char> waits(pieces.size(), 0);
    std::vector<Use> since;  // the last barrier
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        const auto uses = pieces.uses(k);
        const bool depends = std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
            return std::any_of(since.begin(), since.end(),
                               [&](const Use& before) { return overlap(use, before); });
        });
        if (depends) {
            waits[k - 1] = 1;
            since.clear();
        }
        since.insert(since.end(), uses.begin(), uses.end());
    }
    return waits;
}

// ---------------------------------------------------------------- the program

std::string BlockProgram::text(const std::string& name,
                               const std::vector<const Function*>& functions) {
    std::string text = phase_functions, cases;
    for (std::size_t k = 0; k < functions.size(); ++k) {
        text += functions[k]->item_text;
        cases += fmt::format("                    case {}: Piece<{}>::run(slots, items); break;\n",
                             k, functions[k]->item_name);
    }
    return text + machinery +
           fmt::format(fmt::runtime(kernel), fmt::arg("threads", most_threads),
                       fmt::arg("name", name), fmt::arg("cases", cases));
}

BlockProgram::BlockProgram(Context& context, const Pieces& pieces, const std::vector<char>& waits)
    : count_(static_cast<int>(pieces.size())) {
    const std::vector<const Function*> functions = functions_of(pieces);
    Hasher hash;
    for (const Function* f : functions) hash.text(f->name);
    const std::string name = "block_" + to_string(hash.digest());
    function_ = &context.program(name, text(name, functions));
    int most = 1;
    std::vector<std::uint64_t> records;
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        const auto found = std::lower_bound(
            functions.begin(), functions.end(), pieces[k].function->name,
            [](const Function* f, const std::string& wanted) { return f->name < wanted; });
        const auto slots = pieces.slots(k);
        records.push_back(static_cast<std::uint64_t>(found - functions.begin()) |
                          static_cast<std::uint64_t>(pieces[k].items) << 32);
        records.push_back((slots.size() + 2) | static_cast<std::uint64_t>(waits[k]) << 32);
        records.insert(records.end(), slots.begin(), slots.end());
        most = std::max(most, pieces[k].items);
    }
    constexpr int warp = 32;
    threads_ = std::min({(most + warp - 1) / warp * warp, function_->threads, most_threads});
    records_ = std::make_unique<Block>(context.shared_from_this(), records.size() * 8);
    context.upload(records_->address(), records.data(), records.size() * 8);
}

BlockProgram::~BlockProgram() = default;

void BlockProgram::put(Context& context, StreamHandle stream) const {
    const Address records = records_->address();
    Arguments arguments(records, count_);
    context.check(
        context.here().LaunchKernel(function_->handle, 1, 1, 1, static_cast<unsigned>(threads_), 1,
                                    1, 0, stream, arguments.view().values, nullptr),
        "a launch of " + function_->name);
}

// ---------------------------------------------------------------- the choice

SingleBlock::SingleBlock(Pieces pieces, const std::string& device) : pieces_(std::move(pieces)) {
    refusal_ = too_large();
    if (!refusal_.empty()) return;
    Hasher hash;
    hash.text("single block 1").text(device);
    for (std::size_t k = 0; k < pieces_.size(); ++k)
        hash.text(pieces_[k].function->name).integer(static_cast<std::uint64_t>(pieces_[k].items));
    key_ = hash.digest();
    recall();
}

SingleBlock::~SingleBlock() = default;

std::string SingleBlock::too_large() const {
    if (!pieces_.refusal().empty()) return pieces_.refusal();
    if (pieces_.size() < fewest_pieces) return "it is short";
    std::size_t text = 0;
    for (const Function* f : functions_of(pieces_)) text += f->item_text.size();
    if (text > most_text) return fmt::format("its text would have {} bytes", text);
    for (std::size_t k = 0; k < pieces_.size(); ++k)
        if (pieces_[k].items > most_items)
            return fmt::format("'{}' has {} items, the limit is {}", pieces_[k].function->name,
                               pieces_[k].items, most_items);
    return "";
}

void SingleBlock::recall() {
    if (const auto known = read_cached(key_))
        choice_ = *known == "graph"     ? Choice::graph
                  : *known == "program" ? Choice::program
                                        : Choice::open;
}

void SingleBlock::make(Context& context) {
    if (program_ || pieces_.size() == 0) return;
    program_ = std::make_unique<BlockProgram>(context, pieces_, barriers(pieces_));
    pieces_ = {};
}

bool SingleBlock::is_next(Context& context, SingleBlockUse use) {
    as_program_ = false;
    if (use == SingleBlockUse::always) {
        if (!pieces_.refusal().empty())
            throw Error("this work cannot be a program of one block: " + pieces_.refusal())
                .remedy("let the program choose (--single-block auto)");
        make(context);
        return as_program_ = program_ != nullptr;
    }
    if (use == SingleBlockUse::never || !refusal_.empty() || choice_ == Choice::graph) {
        pieces_ = {};
        return false;
    }
    if (choice_ == Choice::open) {
        if (graph_.runs < trials || ++replays_ * graph_.least < patience) return false;
        if (!program_) recall();  // the same work of another graph may have been measured
        if (choice_ == Choice::graph) return false;
    }
    try {
        make(context);
    } catch (const Error& e) {  // the report has the reason
        refusal_ = e.happened();
        return false;
    }
    return as_program_ = program_ != nullptr;
}

bool SingleBlock::wants_time() const {
    return choice_ == Choice::open && refusal_.empty() &&
           (as_program_ ? own_ : graph_).runs < trials;
}

void SingleBlock::note(bool as_program, double seconds) {
    if (choice_ != Choice::open) return;
    if (as_program && !warm_) {  // the first run also loads its code
        warm_ = true;
        return;
    }
    Times& times = as_program ? own_ : graph_;
    times.least = std::min(times.least, seconds);
    if (++times.runs < trials || !as_program) return;
    choice_ = own_.least < graph_.least ? Choice::program : Choice::graph;
    write_cached(key_, choice_ == Choice::graph ? "graph" : "program");
    if (choice_ == Choice::graph) program_.reset();
}

std::string SingleBlock::report() const {
    const auto times = [&](const Times& a, const Times& b, const char* other) {
        if (a.runs == 0 || b.runs == 0) return std::string();
        return fmt::format(" ({:.3g} us against {:.3g} us as {})", a.least * 1e6, b.least * 1e6,
                           other);
    };
    if (as_program_)
        return fmt::format("one block of {} threads, {} pieces{}", program_->threads(),
                           program_->pieces(), times(own_, graph_, "a graph"));
    if (!refusal_.empty()) return ", not one block: " + refusal_;
    return times(graph_, own_, "one block");
}

}  // namespace hindcast::backend::cuda
