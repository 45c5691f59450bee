// Accumulation by gathering: the inverse of a static index.
//
// A kernel that adds to force[a[i]] and force[b[i]] writes its contributions to scratch memory in
// order of item. The inverse index lists for every target which contributions are its own, in order
// of item and, within an item, in the order executed. A second pass lets each target add them up:
// no atomics, and the same bits for any number of threads. Inverting costs about as much as ten
// launches; it is done once per version of the index buffers. An inverse of an older version, or of
// values from a history, is not needed again: the next one takes its memory.
//
// Four neighboring targets add up together: one sum after the other would wait for its additions,
// and a loop that ends at every target is mispredicted there. Lists are padded to the longest of
// the four with a term of -0, which changes no sum.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/backend/plan/plan.hpp"
#include "engine/backend/plan/static_values.hpp"
#include "engine/base/aligned.hpp"

namespace hindcast::backend {

// Items rounded up to whole vectors: the length of one row of scratch memory.
inline std::int64_t scratch_items(std::int64_t items) { return (items + 63) & ~std::int64_t{63}; }

// The gather pass of one parameter of a plan.
class InverseIndex {
public:
    InverseIndex(const Plan& plan, int symbol);

    // Finds or makes the inverse for a launch; allocates nothing when it is known.
    void prepare(const Binding* bindings, std::int64_t items);
    // Adds up for targets begin .. end-1, begin a multiple of 4; `scratch` as the plan lays it out,
    // with a term of -0 behind each group if pads().
    void run(const Binding& target, char* const* scratch, std::int64_t begin,
             std::int64_t end) const;

    int symbol() const { return symbol_; }
    bool pads() const { return known_.front()->padded; }  // for the launch last prepared
    // True if the indices depend on the parameter.
    bool depends_on(int parameter) const { return indices_.depends_on(parameter); }
    // The values that a launch's inverse depends on; known after read_key().
    void read_key(const Binding* bindings, std::int64_t items);
    const std::vector<std::uint64_t>& key() const { return key_; }
    std::size_t bytes() const;  // of the inverses that are known
    // Data that the caller keeps with the inverse of the launch last prepared.
    std::shared_ptr<const void>& attachment() { return known_.front()->attachment; }
    const std::uint32_t* first() const { return known_.front()->first.data(); }
    const std::uint32_t* entries() const { return known_.front()->entries.data(); }

private:
    // The contributions to each target, as elements of scratch memory: row * scratch_items + item.
    // (Letting force[b] -= f share the memory of force[a] += f, with a sign per entry, took
    // longer.)
    struct Inverse {
        std::vector<std::uint64_t> key;      // versions and sizes that it was made from
        AlignedBuffer<std::uint32_t> first;  // per target, and one more: its first entry
        AlignedBuffer<std::uint32_t> entries;
        std::shared_ptr<const void> attachment;
        // The same entries [block of 4 targets][slot][target], padded; per block, and one more, its
        // first slot. Not where targets differ too much.
        bool padded = false;
        AlignedBuffer<std::uint32_t> slots, padded_entries;
    };
    static constexpr int together = 4;  // targets
    bool outdates(const std::vector<std::uint64_t>& key) const;
    void invert(const Binding* bindings, std::int64_t items, Inverse& inverse) const;
    void pad(std::int64_t targets, std::int64_t no_term, Inverse& inverse) const;
    template <class T>
    void run_type(const Binding& target, char* const* scratch, std::int64_t begin,
                  std::int64_t end) const;
    template <class T, int N>
    void run_group(const Binding& target, const char* scratch, int component, std::int64_t begin,
                   std::int64_t end) const;
    template <class T, int N, int targets>
    void add_up(T* const* to, std::int64_t plane, const T* terms, const std::uint32_t* entry,
                const std::uint32_t* stop) const;

    const Plan& plan_;
    int symbol_;
    bool clear_;
    StaticValues indices_;
    std::vector<std::uint64_t> key_;
    std::vector<std::size_t> passing_;  // parts of the key that later launches do not have again
    std::vector<std::unique_ptr<Inverse>> known_;  // the last one used first
};

// Scratch memory for the terms of a launch (Plan::scratch): a row for each, and a term of -0 behind
// the rows of a group of components where its inverse is padded.
class TermMemory {
public:
    // Once the inverses are prepared; allocates nothing for a launch like the one before.
    void lay_out(const Plan& plan, std::span<const InverseIndex> inverses, std::int64_t items);
    char* const* rows() const { return rows_.data(); }
    std::size_t bytes() const { return memory_.size(); }

private:
    std::vector<char*> rows_;
    AlignedBuffer<char> memory_;
    std::int64_t items_ = -1;   // laid out for so many
    std::vector<char> padded_;  // per inverse
};

}  // namespace hindcast::backend
