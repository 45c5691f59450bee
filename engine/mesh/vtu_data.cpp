// The bytes of an array of a VTU file: base64 or raw, whole or compressed.
#include "engine/mesh/vtu_data.hpp"

#include <zlib.h>

#include <cstdint>
#include <vector>

#include "engine/mesh/source.hpp"

namespace hindcast::mesh {

namespace {

// So many bytes of what is encoded in base64 from there on.
std::string decode(std::string_view data, std::size_t from, std::size_t count, const Fault& fault) {
    std::string bytes;
    std::uint32_t bits = 0;
    int held = 0;
    for (std::size_t k = from; bytes.size() < count; ++k) {
        const char c = k < data.size() ? data[k] : '\0';
        const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                          : c >= 'a' && c <= 'z' ? c - 'a' + 26
                          : c >= '0' && c <= '9' ? c - '0' + 52
                          : c == '+'             ? 62
                          : c == '/'             ? 63
                                                 : -1;
        if (value < 0)
            throw fault(fmt::format("{} bytes in base64 are expected, and end after {}", count,
                                    bytes.size()));
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes.push_back(static_cast<char>(bits >> held & 0xff));
        }
    }
    return bytes;
}

}  // namespace

std::string array_bytes(std::string_view data, bool raw, const DataForm& form, const Fault& fault) {
    const std::size_t head = form.long_headers ? 8 : 4;
    const auto piece = [&](std::size_t encoded_from, std::size_t begin, std::size_t count) {
        if (raw) {
            if (begin > data.size() || count > data.size() - begin)
                throw fault(fmt::format("the data end after {} bytes", data.size()));
            return std::string(data.substr(begin, count));
        }
        return decode(data, encoded_from, count, fault);
    };
    const auto numbers = [&](const std::string& bytes) {
        std::vector<std::uint64_t> list;
        Source in(bytes);
        in.binary = true;
        in.swapped = form.swapped;
        while (in.left() > 0)
            list.push_back(form.long_headers ? in.next<std::uint64_t>("a length")
                                             : in.next<std::uint32_t>("a length"));
        return list;
    };
    const auto encoded = [](std::size_t bytes) { return (bytes + 2) / 3 * 4; };
    if (!form.compressed) {
        const std::uint64_t length = numbers(piece(0, 0, head))[0];
        if (length > data.size())
            throw fault(fmt::format("{} bytes are announced, and {} follow", length, data.size()));
        // Header and data are encoded in one, or each by itself: the header's padding tells.
        const std::size_t padding = encoded(head) - (form.long_headers ? 1 : 2);
        if (!raw && (padding >= data.size() || data[padding] != '='))
            return decode(data, 0, head + length, fault).substr(head);
        return piece(encoded(head), head, length);
    }
    const std::uint64_t blocks = numbers(piece(0, 0, head))[0];
    if (blocks == 0) return {};
    if (blocks > data.size() / head)
        throw fault(
            fmt::format("{} blocks are announced, and {} bytes follow", blocks, data.size()));
    const std::size_t header = (3 + blocks) * head;
    const std::vector<std::uint64_t> lengths = numbers(piece(0, 0, header));
    std::uint64_t total = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
        if (lengths[3 + b] > data.size())
            throw fault(fmt::format("block {} has {} bytes, and {} follow", b, lengths[3 + b],
                                    data.size()));
        total += lengths[3 + b];
    }
    const std::string packed = piece(encoded(header), header, total);
    std::string bytes;
    std::size_t at = 0;
    for (std::size_t b = 0; b < blocks; at += lengths[3 + b], ++b) {
        const std::uint64_t wanted = b + 1 == blocks && lengths[2] != 0 ? lengths[2] : lengths[1];
        // zlib compresses by 1032 at most.
        if (wanted / 1040 > lengths[3 + b])
            throw fault(fmt::format("block {} cannot have {} bytes", b, wanted));
        std::string block(wanted, '\0');
        uLongf size = wanted;
        if (uncompress(reinterpret_cast<Bytef*>(block.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data() + at),
                       lengths[3 + b]) != Z_OK ||
            size != wanted)
            throw fault(fmt::format("block {} of the compressed data is damaged", b));
        bytes += block;
    }
    return bytes;
}

}  // namespace hindcast::mesh
