// The scalar types of the kernel IR. Vectors and matrices are C++ templates of scalars; the IR
// never sees them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hindcast::ir {

enum class Type : std::uint8_t { none, boolean, i32, u32, i64, u64, f32, f64 };

constexpr bool is_real(Type type) { return type == Type::f32 || type == Type::f64; }
constexpr bool is_signed(Type type) { return type == Type::i32 || type == Type::i64; }
constexpr bool is_integer(Type type) { return type >= Type::i32 && type <= Type::u64; }

// Bytes of one value in memory. Booleans never stand in buffers.
constexpr std::size_t size_of(Type type) {
    switch (type) {
        case Type::none: return 0;
        case Type::boolean: return 1;
        case Type::i32:
        case Type::u32:
        case Type::f32: return 4;
        case Type::i64:
        case Type::u64:
        case Type::f64: return 8;
    }
    return 0;
}

constexpr const char* name_of(Type type) {
    switch (type) {
        case Type::none: return "none";
        case Type::boolean: return "bool";
        case Type::i32: return "i32";
        case Type::u32: return "u32";
        case Type::i64: return "i64";
        case Type::u64: return "u64";
        case Type::f32: return "f32";
        case Type::f64: return "f64";
    }
    return "?";
}

// The type that `Float` stands for when a kernel is traced.
enum class Precision : std::uint8_t { f32, f64 };
constexpr Type real_type(Precision precision) {
    return precision == Precision::f32 ? Type::f32 : Type::f64;
}

}  // namespace hindcast::ir
