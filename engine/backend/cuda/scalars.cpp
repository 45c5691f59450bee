#include "engine/backend/cuda/scalars.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "engine/ir/kernel.hpp"

namespace hindcast::backend::cuda {

using ir::Type;

const char* type_name(Type type) {
    switch (type) {
        case Type::boolean: return "bool";
        case Type::i32: return "int";
        case Type::u32: return "unsigned";
        case Type::i64: return "long long";
        case Type::u64: return "unsigned long long";
        case Type::f32: return "float";
        case Type::f64: return "double";
        default: return "void";
    }
}

std::string constant(Type type, std::uint64_t bits) {
    if (type == Type::boolean) return bits != 0 ? "true" : "false";
    if (type == Type::f32 || type == Type::f64) {
        const double x = ir::real_of(bits, type);
        const bool narrow = type == Type::f32;
        if (!std::isfinite(x))
            return narrow ? fmt::format("__int_as_float({})", static_cast<std::int32_t>(bits))
                          : fmt::format("__longlong_as_double({}LL{})",
                                        static_cast<std::int64_t>(bits) + 1, " - 1");
        const std::string text = fmt::format("{:a}{}", x, narrow ? "f" : "");
        return std::signbit(x) ? "(" + text + ")" : text;
    }
    const std::int64_t n = ir::integer_of(bits, type);
    switch (type) {
        case Type::i32:
            if (n == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
            return n < 0 ? fmt::format("({})", n) : std::to_string(n);
        case Type::i64:
            if (n == std::numeric_limits<std::int64_t>::min())
                return "(-9223372036854775807LL - 1)";
            return fmt::format("({}LL)", n);
        case Type::u32: return std::to_string(static_cast<std::uint32_t>(bits)) + "u";
        default: return std::to_string(bits) + "ull";
    }
}

}  // namespace hindcast::backend::cuda
