// The header is read by a small parser of Python dictionaries, which takes only what numpy writes
// there. Nothing in a header is believed: counts are multiplied with overflow checks and compared
// with the length of the file. Start with parse_npy().
#include "engine/document/npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "engine/base/files.hpp"
#include "engine/document/text.hpp"

namespace hindcast::document {

static_assert(std::endian::native == std::endian::little, ".npy is read and written as it lies");

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = 1 << 16;
constexpr std::size_t most_dimensions = 32;

struct TypeRow {
    std::string_view descriptor;
    std::size_t size;
};
constexpr TypeRow types[] = {{"<f4", 4}, {"<f8", 8}, {"<i4", 4}, {"<i8", 8},
                             {"<u4", 4}, {"<u8", 8}, {"|b1", 1}};

struct Header {
    NpyType type = NpyType::F8;
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
    std::size_t data_offset = 0;
};

// Elements of an array of this shape; empty if their bytes do not fit 63 bits.
std::optional<std::uint64_t> count_of(std::span<const std::int64_t> shape, std::size_t size) {
    if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; })) {
        return std::nullopt;
    }
    if (std::ranges::find(shape, 0) != shape.end()) return 0;
    std::uint64_t count = 1;
    for (const std::int64_t extent : shape) {
        if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count)) {
            return std::nullopt;
        }
    }
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return std::nullopt;
    }
    return count;
}

// The header is a Python dictionary with three keys, for example
//     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class HeaderReader {
public:
    HeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    Header read() {
        Header header;
        bool descr = false, order = false, shape = false;
        expect('{');
        while (!take('}')) {
            const std::string_view key = string();
            expect(':');
            if (key == "descr" && !descr) {
                descr = true;
                header.type = type();
            } else if (key == "fortran_order" && !order) {
                order = true;
                header.fortran_order = boolean();
            } else if (key == "shape" && !shape) {
                shape = true;
                header.shape = tuple();
            } else {
                refuse(fmt::format("its header has the unexpected key {}", shown(key)));
            }
            if (!take(',')) {
                expect('}');
                break;
            }
        }
        blank();
        if (at_ < text_.size()) refuse("its header has text after the dictionary");
        if (!descr || !order || !shape) refuse("its header lacks descr, fortran_order or shape");
        return header;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw Error(fmt::format("cannot read {}: {}", shown(name_, 200), why))
            .remedy("write it with numpy.save(path, array)");
    }

    [[noreturn]] void refuse_type(const std::string& why, std::string_view wanted) const {
        throw Error(fmt::format("cannot read {}: {}", shown(name_, 200), why))
            .remedy(fmt::format("write it with numpy.save(path, array.astype('{}'))", wanted));
    }

    void blank() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    }

    bool take(char c) {
        blank();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    void expect(char c) {
        if (!take(c)) refuse(fmt::format("its header is damaged ('{}' is missing)", c));
    }

    std::string_view string() {
        blank();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote != '\'' && quote != '"') refuse("its header is damaged (a string is missing)");
        const auto end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) refuse("its header is damaged (a string is not closed)");
        const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return value;
    }

    bool boolean() {
        blank();
        for (const std::string_view word : {"True", "False"}) {
            if (text_.substr(at_).starts_with(word)) {
                at_ += word.size();
                return word == "True";
            }
        }
        refuse("its header is damaged (fortran_order is neither True nor False)");
    }

    NpyType type() {
        blank();
        if (at_ < text_.size() && text_[at_] == '[') {
            refuse_type("it holds records with named fields, not numbers", "<f8");
        }
        const std::string_view descr = string();
        for (std::size_t i = 0; i < std::size(types); ++i) {
            if (descr == types[i].descriptor) return static_cast<NpyType>(i);
        }
        const char order = descr.empty() ? '\0' : descr.front();
        const std::string_view kind = descr.substr(descr.empty() ? 0 : 1);
        if (order == '>') {
            const std::string little = "<" + std::string(kind);
            const bool known = std::ranges::any_of(
                types, [&](const TypeRow& row) { return row.descriptor == little; });
            refuse_type("its numbers are big endian", known ? little : "<f8");
        }
        if (kind.starts_with('c')) refuse_type("it holds complex numbers", "<f8");
        if (kind.starts_with('O')) refuse_type("it holds Python objects", "<f8");
        if (kind.starts_with('S') || kind.starts_with('U')) refuse_type("it holds text", "<f8");
        refuse_type(fmt::format("its element type {} is not supported", shown(descr)), "<f8");
    }

    std::vector<std::int64_t> tuple() {
        std::vector<std::int64_t> shape;
        expect('(');
        while (!take(')')) {
            blank();
            std::int64_t extent = 0;
            const char* const end = text_.data() + text_.size();
            const auto result = std::from_chars(text_.data() + at_, end, extent);
            if (result.ec != std::errc() || extent < 0) {
                refuse("its header has a shape that is not made of counts");
            }
            at_ = static_cast<std::size_t>(result.ptr - text_.data());
            if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // long of Python 2
            shape.push_back(extent);
            if (shape.size() > most_dimensions) refuse("it has more than 32 dimensions");
            if (!take(',')) {
                expect(')');
                break;
            }
        }
        return shape;
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
};

// `content` is the file or its beginning.
Header read_header(std::string_view content, const std::string& name) {
    const auto refuse = [&](const std::string& why) {
        throw Error(fmt::format("cannot read {}: {}", shown(name, 200), why))
            .remedy("write it with numpy.save(path, array)");
    };
    if (!content.starts_with(magic)) refuse("it is no .npy file");
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(content[i]); };
    if (content.size() < 8) refuse("it ends within its header");
    const int version = byte(6);
    if (version < 1 || version > 3) {
        refuse(fmt::format("it has format version {}.{}, known are 1.0, 2.0 and 3.0", version,
                           byte(7)));
    }
    const std::size_t start = version == 1 ? 10 : 12;
    if (content.size() < start) refuse("it ends within its header");
    std::size_t length = 0;
    for (std::size_t i = start; i-- > 8;) length = length << 8 | byte(i);
    if (length > longest_header) refuse(fmt::format("its header claims {} bytes", length));
    if (content.size() - start < length) refuse("it ends within its header");
    Header header = HeaderReader(content.substr(start, length), name).read();
    header.data_offset = start + length;
    return header;
}

// The header with room for any frame count; data begins at a multiple of 64.
std::string make_header(NpyType type, std::span<const std::int64_t> shape) {
    const auto dictionary = [&](std::span<const std::int64_t> extents) {
        return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                           descriptor(type), shape_text(extents));
    };
    std::vector<std::int64_t> widest(shape.begin(), shape.end());
    if (!widest.empty()) widest.front() = std::numeric_limits<std::int64_t>::max();
    const std::size_t total = (10 + dictionary(widest).size() + 1 + 63) / 64 * 64;
    std::string header(magic);
    const std::size_t length = total - 10;
    header += {'\x01', '\x00', static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)};
    header += dictionary(shape);
    header.resize(total - 1, ' ');
    return header + '\n';
}

// Fortran order to C order.
std::vector<std::byte> to_c_order(std::string_view data, std::span<const std::int64_t> shape,
                                  std::size_t size) {
    std::vector<std::byte> result(data.size());
    const std::size_t dimensions = shape.size();
    std::vector<std::size_t> stride(dimensions), index(dimensions, 0);
    std::size_t step = size;
    for (std::size_t d = 0; d < dimensions; ++d) {
        stride[d] = step;
        step *= static_cast<std::size_t>(shape[d]);
    }
    std::size_t source = 0;
    for (std::size_t target = 0; target < result.size(); target += size) {
        std::memcpy(result.data() + target, data.data() + source, size);
        for (std::size_t d = dimensions; d-- > 0;) {
            source += stride[d];
            if (++index[d] < static_cast<std::size_t>(shape[d])) break;
            source -= stride[d] * index[d];
            index[d] = 0;
        }
    }
    return result;
}

Error system_failure(const char* action, const std::filesystem::path& path) {
    const int code = errno;
    Error error(fmt::format("cannot {} '{}': {}", action, path.string(),
                            std::generic_category().message(code)));
    if (code == ENOSPC || code == EDQUOT) error.remedy("free some space, or name another folder");
    if (code == EACCES || code == EROFS) error.remedy("check the permissions of file and folder");
    if (code == ENOENT) error.remedy("check the path");
    return error;
}

}  // namespace

std::size_t size_of(NpyType type) { return types[static_cast<std::size_t>(type)].size; }

std::string_view descriptor(NpyType type) {
    return types[static_cast<std::size_t>(type)].descriptor;
}

std::string shape_text(std::span<const std::int64_t> shape) {
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::int64_t NpyArray::count() const {
    return static_cast<std::int64_t>(bytes.size() / size_of(type));
}

void NpyArray::require(NpyType wanted) const {
    if (type != wanted) {
        throw Error(fmt::format("an array of '{}' was expected, found '{}'", descriptor(wanted),
                                descriptor(type)))
            .remedy(fmt::format("write it with array.astype('{}')", descriptor(wanted)));
    }
}

void NpyArray::copy_to(void* target) const {
    if (!bytes.empty()) std::memcpy(target, bytes.data(), bytes.size());
}

std::vector<double> NpyArray::to_f64() const {
    std::vector<double> result;
    result.reserve(static_cast<std::size_t>(count()));
    const auto convert = [&]<class T>(T) {
        for (const T value : values<T>()) {
            const auto converted = static_cast<double>(value);
            if constexpr (sizeof(T) == 8 && std::integral<T>) {
                // Beyond 2^53 not every integer is an f64; 2^63 and 2^64 do not convert back.
                const bool back = converted < (std::is_signed_v<T> ? 0x1p63 : 0x1p64);
                if (!back || static_cast<T>(converted) != value) {
                    throw Error(fmt::format("the integer {} of element {} is not exact in f64",
                                            value, result.size()))
                        .remedy("use integers within 2^53");
                }
            }
            result.push_back(converted);
        }
    };
    switch (type) {
        case NpyType::F4: convert(float{}); break;
        case NpyType::F8: convert(double{}); break;
        case NpyType::I4: convert(std::int32_t{}); break;
        case NpyType::I8: convert(std::int64_t{}); break;
        case NpyType::U4: convert(std::uint32_t{}); break;
        case NpyType::U8: convert(std::uint64_t{}); break;
        case NpyType::B1:
            for (const std::byte b : bytes) result.push_back(b == std::byte{0} ? 0.0 : 1.0);
    }
    return result;
}

NpyArray parse_npy(std::string_view content, const std::string& name) {
    const Header header = read_header(content, name);
    const std::size_t size = size_of(header.type);
    const auto count = count_of(header.shape, size);
    const std::string_view available = content.substr(header.data_offset);
    if (!count || *count * size > available.size()) {
        throw Error(fmt::format("cannot read {}: its shape {} needs {} bytes, {} follow the header",
                                shown(name, 200), shape_text(header.shape),
                                count ? std::to_string(*count * size) : "more than 2^63",
                                available.size()))
            .remedy("the file was cut off or damaged; write it again");
    }
    const std::string_view data = available.substr(0, *count * size);
    NpyArray array;
    array.type = header.type;
    array.shape = header.shape;
    if (header.fortran_order && header.shape.size() > 1) {
        array.bytes = to_c_order(data, header.shape, size);
    } else {
        array.bytes.resize(data.size());
        if (!data.empty()) std::memcpy(array.bytes.data(), data.data(), data.size());
    }
    if (header.type == NpyType::B1) {
        const bool clean =
            std::ranges::all_of(array.bytes, [](std::byte b) { return b <= std::byte{1}; });
        if (!clean) {
            throw Error(
                fmt::format("cannot read {}: a boolean is neither 0 nor 1", shown(name, 200)))
                .remedy("the file is damaged; write it again");
        }
    }
    return array;
}

NpyArray read_npy(const std::filesystem::path& path, std::uint64_t limit) {
    return parse_npy(read_file(path, limit), path.string());
}

void write_npy(const std::filesystem::path& path, NpyType type, std::span<const std::int64_t> shape,
               std::span<const std::byte> bytes) {
    const auto count = count_of(shape, size_of(type));
    if (!count || *count * size_of(type) != bytes.size()) {
        throw Error(fmt::format("an array of shape {} and type '{}' cannot have {} bytes",
                                shape_text(shape), descriptor(type), bytes.size()));
    }
    std::string content = make_header(type, shape);
    content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    write_file_atomically(path, content);
}

// ---- NpyWriter -------------------------------------------------------------------------------

NpyWriter::NpyWriter(std::filesystem::path path, NpyType type,
                     std::vector<std::int64_t> frame_shape)
    : path_(std::move(path)), type_(type), frame_shape_(std::move(frame_shape)) {
    const auto count = count_of(frame_shape_, size_of(type));
    if (!count || frame_shape_.size() >= most_dimensions) {
        throw Error(fmt::format("frames of shape {} cannot be written", shape_text(frame_shape_)));
    }
    frame_bytes_ = *count * size_of(type);
    data_offset_ = header().size();
}

std::string NpyWriter::header() const {
    std::vector<std::int64_t> shape{frames_};
    shape.insert(shape.end(), frame_shape_.begin(), frame_shape_.end());
    return make_header(type_, shape);
}

NpyWriter NpyWriter::create(const std::filesystem::path& path, NpyType type,
                            std::vector<std::int64_t> frame_shape) {
    NpyWriter writer(path, type, std::move(frame_shape));
    writer.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (writer.descriptor_ < 0) throw system_failure("write", path);
    struct stat status = {};
    if (::fstat(writer.descriptor_, &status) != 0) throw system_failure("write", path);
    if (!S_ISREG(status.st_mode)) {
        throw Error(fmt::format("cannot write '{}': it is not a regular file", path.string()))
            .remedy("name a file");
    }
    if (::ftruncate(writer.descriptor_, 0) != 0) throw system_failure("write", path);
    writer.patch_header();
    return writer;
}

NpyWriter NpyWriter::append(const std::filesystem::path& path, NpyType type,
                            std::vector<std::int64_t> frame_shape) {
    NpyWriter writer(path, type, std::move(frame_shape));
    writer.descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (writer.descriptor_ < 0) throw system_failure("continue", path);
    struct stat status = {};
    if (::fstat(writer.descriptor_, &status) != 0) throw system_failure("continue", path);
    const auto refuse = [&](const std::string& why, const char* remedy) {
        throw Error(fmt::format("cannot continue '{}': {}", path.string(), why)).remedy(remedy);
    };
    if (!S_ISREG(status.st_mode)) refuse("it is not a regular file", "name a file");

    std::string begin(
        std::min<std::size_t>(static_cast<std::size_t>(status.st_size), longest_header + 12), '\0');
    const ssize_t got = ::pread(writer.descriptor_, begin.data(), begin.size(), 0);
    if (got < 0) throw system_failure("continue", path);
    begin.resize(static_cast<std::size_t>(got));
    const Header found = read_header(begin, path.string());
    const char* other = "name another file, or remove this one";
    if (found.type != type) {
        refuse(fmt::format("it holds '{}', not '{}'", document::descriptor(found.type),
                           document::descriptor(type)),
               other);
    }
    const std::span<const std::int64_t> shape = found.shape;
    if (shape.empty() || !std::ranges::equal(shape.subspan(1), writer.frame_shape_)) {
        refuse(fmt::format("it holds an array of shape {}, not frames of shape {}",
                           shape_text(shape), shape_text(writer.frame_shape_)),
               other);
    }
    if (found.fortran_order || found.data_offset != writer.data_offset_) {
        refuse("its header leaves no room to count frames", other);
    }
    const auto count = count_of(shape, size_of(type));
    const auto length = static_cast<std::uint64_t>(status.st_size) - found.data_offset;
    if (!count || *count * size_of(type) > length) {
        refuse(fmt::format("it is shorter than its {} frames", shape.front()),
               "the file was cut off; resume from an older result");
    }
    writer.frames_ = shape.front();
    writer.set_length();
    return writer;
}

NpyWriter::NpyWriter(NpyWriter&& other) noexcept
    : path_(std::move(other.path_)),
      type_(other.type_),
      frame_shape_(std::move(other.frame_shape_)),
      frame_bytes_(other.frame_bytes_),
      data_offset_(other.data_offset_),
      frames_(other.frames_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

NpyWriter& NpyWriter::operator=(NpyWriter&& other) noexcept {
    if (this != &other) {
        close();
        path_ = std::move(other.path_);
        type_ = other.type_;
        frame_shape_ = std::move(other.frame_shape_);
        frame_bytes_ = other.frame_bytes_;
        data_offset_ = other.data_offset_;
        frames_ = other.frames_;
        descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
}

NpyWriter::~NpyWriter() { close(); }

void NpyWriter::close() noexcept {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void NpyWriter::require(NpyType type) const {
    if (type != type_) {
        throw Error(fmt::format("a frame of '{}' was given for '{}', which holds '{}'",
                                document::descriptor(type), path_.string(),
                                document::descriptor(type_)));
    }
}

void NpyWriter::put(std::string_view bytes, std::uint64_t offset) {
    while (!bytes.empty()) {
        const ssize_t written =
            ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) throw system_failure("write", path_);
        bytes.remove_prefix(static_cast<std::size_t>(written));
        offset += static_cast<std::uint64_t>(written);
    }
}

void NpyWriter::patch_header() { put(header(), 0); }

void NpyWriter::set_length() {
    const auto length = data_offset_ + static_cast<std::uint64_t>(frames_) * frame_bytes_;
    if (::ftruncate(descriptor_, static_cast<off_t>(length)) != 0) {
        throw system_failure("write", path_);
    }
}

void NpyWriter::write(std::span<const std::byte> frame) {
    if (frame.size() != frame_bytes_) {
        throw Error(fmt::format("a frame of {} bytes was given for '{}', which holds frames of {}",
                                frame.size(), path_.string(), frame_bytes_));
    }
    put({reinterpret_cast<const char*>(frame.data()), frame.size()},
        data_offset_ + static_cast<std::uint64_t>(frames_) * frame_bytes_);
    ++frames_;
    try {
        patch_header();
    } catch (...) {
        --frames_;
        throw;
    }
}

void NpyWriter::truncate(std::int64_t frames) {
    if (frames < 0 || frames > frames_) {
        throw Error(
            fmt::format("'{}' has {} frames, {} cannot be kept", path_.string(), frames_, frames));
    }
    frames_ = frames;
    patch_header();  // first, so that the header never counts frames that are gone
    set_length();
}

void NpyWriter::sync() {
    if (::fsync(descriptor_) != 0) throw system_failure("write", path_);
}

}  // namespace hindcast::document
