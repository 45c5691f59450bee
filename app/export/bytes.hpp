// Numbers as they lie in memory, for binary files.
#pragma once

#include <array>
#include <bit>
#include <string>

namespace hindcast::exporting {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

template <class T>
void put(std::string& to, T value) {
    const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
    to.append(bytes.data(), bytes.size());
}

}  // namespace hindcast::exporting
