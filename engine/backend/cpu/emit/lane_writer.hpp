// LaneWriter: values in W lanes, one behind the other or each by itself: masks, shuffles, vectors
// in memory. One lane: everything is scalar. It knows nothing of kernels.
#pragma once

#include <string>
#include <vector>

#include "engine/backend/cpu/emit/text_writer.hpp"
#include "engine/ir/kernel.hpp"

namespace hindcast::backend::cpu {

class LaneWriter : protected TextWriter {
protected:
    explicit LaneWriter(int width) : width_(width) {}

    static std::string scalar_type(ir::Type type);
    static std::string constant(ir::Type type, std::uint64_t bits);
    std::string lanes_of(const std::string& scalar) const;
    std::string zero(const std::string& scalar_type) const;
    std::string splat(const std::string& scalar_type, const std::string& scalar);

    std::string mask_type() const { return lanes_of("i1"); }
    std::string flags_type() const { return fmt::format("i{}", width_); }
    std::string all() { return splat("i1", "true"); }
    std::string none_of(const std::string& mask);
    // A mask as an integer of W bits.
    std::string flags(const std::string& mask) {
        return cast("bitcast", mask_type(), mask, flags_type());
    }
    std::string any(const std::string& mask);
    std::string both(const std::string& mask, const std::string& condition);
    std::string choose(const std::string& mask, const std::string& value_type,
                       const std::string& yes, const std::string& no);

    // The text of a load of a whole vector of type `v`; where the mask is false nothing is read.
    std::string vector_load(const std::string& v, const std::string& scalar_type,
                            const std::string& at, const Argument& mask,
                            const std::string& otherwise);
    std::string masked_load(const std::string& t, const std::string& at, const std::string& mask);
    void masked_store(const std::string& t, const std::string& x, const std::string& at,
                      const std::string& mask);
    std::string gather(const std::string& t, const std::string& pointers, const std::string& mask);
    void scatter(const std::string& t, const std::string& x, const std::string& pointers,
                 const std::string& mask);

    std::string shuffle(const std::string& element, std::size_t size, const std::string& a,
                        const std::string& b, const std::vector<int>& from);
    Names interleave(const std::string& element, const Names& lanes);
    std::string deinterleave(const std::string& element, const Names& parts, int component);
    Names transpose(const std::string& element, const Names& lanes, int n);
    Names transpose_blocks(const std::string& element, const Names& parts);
    Names transpose_rows(const std::string& element, const Names& lanes, int n);

    const int width_;
};

}  // namespace hindcast::backend::cpu
