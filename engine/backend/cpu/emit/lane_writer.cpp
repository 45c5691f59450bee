#include "engine/backend/cpu/emit/lane_writer.hpp"

#include "engine/ir/evaluate.hpp"

namespace hindcast::backend::cpu {

using ir::Type;

std::string LaneWriter::scalar_type(Type type) {
    switch (type) {
        case Type::boolean: return "i1";
        case Type::f32: return "float";
        case Type::f64: return "double";
        default: return ir::size_of(type) == 4 ? "i32" : "i64";
    }
}

std::string LaneWriter::lanes_of(const std::string& scalar) const {
    return width_ == 1 ? scalar : fmt::format("<{} x {}>", width_, scalar);
}

std::string LaneWriter::zero(const std::string& t) const {
    return width_ > 1 ? "zeroinitializer" : t == "float" || t == "double" ? "0.0" : "0";
}

std::string LaneWriter::constant(Type type, ir::Bits bits) {
    if (type == Type::boolean) return bits != 0 ? "true" : "false";
    if (!ir::is_real(type)) return std::to_string(ir::integer_of(bits, type));
    return fmt::format("0x{:016X}", ir::bits_of(ir::real_of(bits, type), Type::f64));
}

std::string LaneWriter::splat(const std::string& element, const std::string& s) {
    if (width_ == 1) return s;
    if (s[0] != '%') return fmt::format("splat ({} {})", element, s);
    const std::string v = lanes_of(element);
    const std::string first = pure("insertelement {} poison, {} {}, i64 0", v, element, s);
    return pure("shufflevector {} {}, {} poison, {} zeroinitializer", v, first, v, lanes_of("i32"));
}

// ---------------------------------------------------------------- masks

std::string LaneWriter::none_of(const std::string& mask) {
    return pure("xor {} {}, {}", mask_type(), mask, all());
}

std::string LaneWriter::any(const std::string& mask) {
    if (width_ == 1) return mask;
    return pure("icmp ne {} {}, 0", flags_type(), flags(mask));
}

std::string LaneWriter::both(const std::string& mask, const std::string& condition) {
    return mask == "true" ? condition : pure("and {} {}, {}", mask_type(), mask, condition);
}

std::string LaneWriter::choose(const std::string& mask, const std::string& t,
                               const std::string& yes, const std::string& no) {
    if (mask == "true") return yes;
    return pure("select {} {}, {} {}, {} {}", mask_type(), mask, t, yes, t, no);
}

// ---------------------------------------------------------------- vectors in memory

std::string LaneWriter::vector_load(const std::string& v, const std::string& scalar_type,
                                    const std::string& at, const Argument& mask,
                                    const std::string& otherwise) {
    return call(
        v, "masked.load." + suffix(v) + ".p0",
        {{"ptr", at}, {"i32", std::to_string(align_of(scalar_type))}, mask, {v, otherwise}});
}

std::string LaneWriter::masked_load(const std::string& t, const std::string& at,
                                    const std::string& mask) {
    return let("{}", vector_load(lanes_of(t), t, at, {mask_type(), mask}, "zeroinitializer"));
}

void LaneWriter::masked_store(const std::string& t, const std::string& x, const std::string& at,
                              const std::string& mask) {
    const std::string v = lanes_of(t);
    put("{}",
        call("void", "masked.store." + suffix(v) + ".p0",
             {{v, x}, {"ptr", at}, {"i32", std::to_string(align_of(t))}, {mask_type(), mask}}));
}

std::string LaneWriter::gather(const std::string& t, const std::string& pointers,
                               const std::string& mask) {
    const std::string v = lanes_of(t), p = lanes_of("ptr");
    return let("{}", call(v, "masked.gather." + suffix(v) + "." + suffix(p),
                          {{p, pointers},
                           {"i32", std::to_string(align_of(t))},
                           {mask_type(), mask},
                           {v, "zeroinitializer"}}));
}

void LaneWriter::scatter(const std::string& t, const std::string& x, const std::string& pointers,
                         const std::string& mask) {
    const std::string v = lanes_of(t), p = lanes_of("ptr");
    put("{}",
        call("void", "masked.scatter." + suffix(v) + "." + suffix(p),
             {{v, x}, {p, pointers}, {"i32", std::to_string(align_of(t))}, {mask_type(), mask}}));
}

// ---------------------------------------------------------------- shuffles

std::string LaneWriter::shuffle(const std::string& element, std::size_t size, const std::string& a,
                                const std::string& b, const std::vector<int>& from) {
    const std::string v = fmt::format("<{} x {}>", size, element);
    return pure("shufflevector {} {}, {} {}, <{} x i32> {}", v, a, v, b, from.size(),
                list_of("i32", from));
}

// lanes[c] holds component c of W elements (poison: padding, last); the result holds the elements
// one after the other.
Names LaneWriter::interleave(const std::string& element, const Names& lanes) {
    const int n = static_cast<int>(lanes.size());
    if (n == 1 || width_ == 1) return lanes;
    Names parts;
    for (int part = 0; part < n; ++part) {
        std::string so_far = lanes[0];
        for (int c = 1; c < n && lanes[c] != "poison"; ++c) {
            std::vector<int> from;
            for (int l = 0; l < width_; ++l) {
                const int component = (part * width_ + l) % n, lane = (part * width_ + l) / n;
                from.push_back(component == c  ? width_ + lane
                               : component > c ? 0
                               : c == 1        ? lane
                                               : l);
            }
            so_far = shuffle(element, width_, so_far, lanes[c], from);
        }
        parts.push_back(so_far);
    }
    return parts;
}

// One component of elements that lie one after the other in `parts`.
std::string LaneWriter::deinterleave(const std::string& element, const Names& parts,
                                     int component) {
    const int n = static_cast<int>(parts.size());
    std::string so_far = parts[0];
    for (int part = 1; part < n; ++part) {
        std::vector<int> from;
        for (int l = 0; l < width_; ++l) {
            const int where = (l * n + component) / width_, lane = (l * n + component) % width_;
            from.push_back(where == part ? width_ + lane : where > part ? 0 : part == 1 ? lane : l);
        }
        so_far = shuffle(element, width_, so_far, parts[part], from);
    }
    return so_far;
}

// From one vector of n components per lane (n = 1, 2, 4) to one vector of lanes per component.
Names LaneWriter::transpose(const std::string& element, const Names& lanes, int n) {
    if (n == 1) {
        std::string v = "poison";
        for (int l = 0; l < width_; ++l)
            v = pure("insertelement {} {}, {} {}, i64 {}", lanes_of(element), v, element, lanes[l],
                     l);
        return {v};
    }
    // Part k holds lanes k, k+n, ... one after the other.
    Names parts;
    for (int k = 0; k < n; ++k) {
        Names joined;
        for (int l = k; l < width_; l += n) joined.push_back(lanes[l]);
        for (int size = n; joined.size() > 1; size *= 2) {
            Names pairs;
            for (std::size_t j = 0; j < joined.size(); j += 2)
                pairs.push_back(shuffle(element, size, joined[j], joined[j + 1], up_to(2 * size)));
            joined = pairs;
        }
        parts.push_back(joined[0]);
    }
    return transpose_blocks(element, parts);
}

// n vectors of blocks of n (2, 4): every block of n by n is transposed.
Names LaneWriter::transpose_blocks(const std::string& element, const Names& parts) {
    const int n = static_cast<int>(parts.size());
    const auto blocks = [&](const std::string& a, const std::string& b,
                            const std::vector<int>& from) {
        std::vector<int> all;  // within a block: 0 .. n-1 of a, n .. 2n-1 of b
        for (int block = 0; block < width_; block += n)
            for (const int f : from) all.push_back(f < n ? block + f : width_ + block + f - n);
        return shuffle(element, width_, a, b, all);
    };
    if (n == 2) return {blocks(parts[0], parts[1], {0, 2}), blocks(parts[0], parts[1], {1, 3})};
    const std::string low01 = blocks(parts[0], parts[1], {0, 4, 1, 5});
    const std::string low23 = blocks(parts[2], parts[3], {0, 4, 1, 5});
    const std::string high01 = blocks(parts[0], parts[1], {2, 6, 3, 7});
    const std::string high23 = blocks(parts[2], parts[3], {2, 6, 3, 7});
    return {blocks(low01, low23, {0, 1, 4, 5}), blocks(low01, low23, {2, 3, 6, 7}),
            blocks(high01, high23, {0, 1, 4, 5}), blocks(high01, high23, {2, 3, 6, 7})};
}

// From 16 lanes of 8 scalars each to the first n scalars in 16 lanes each.
Names LaneWriter::transpose_rows(const std::string& element, const Names& lanes, int n) {
    // halves[h][c], blocks of four: scalar c of lanes 8h .. 8h+3, scalar c+4 of these, both of the
    // next four lanes.
    Names halves[2];
    for (int h = 0; h < 2; ++h) {
        Names parts;
        for (int k = 0; k < 4; ++k)
            parts.push_back(shuffle(element, 8, lanes[8 * h + k], lanes[8 * h + k + 4], up_to(16)));
        halves[h] = transpose_blocks(element, parts);
    }
    Names values;
    for (int c = 0; c < n; ++c) {
        std::vector<int> from;
        for (int block = c / 4; block < 8; block += 2)
            for (int k = 0; k < 4; ++k) from.push_back(4 * block + k);
        values.push_back(shuffle(element, 16, halves[0][c % 4], halves[1][c % 4], from));
    }
    return values;
}

}  // namespace hindcast::backend::cpu
