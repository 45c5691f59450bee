#include "app/export/usd_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <system_error>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"

namespace hindcast::exporting {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_waiting = 1 << 16;  // bytes of one property

std::string identifier(const std::string& name) {
    std::string made;
    for (const char c : name) made += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    if (made.empty() || std::isdigit(static_cast<unsigned char>(made.front())) != 0)
        made.insert(0, "_");
    return made;
}

std::string reason() { return std::generic_category().message(errno != 0 ? errno : EIO); }

std::shared_ptr<std::FILE> unnamed_file(const fs::path& folder) {
    const int descriptor = open_unnamed_file(folder);
    if (descriptor < 0)
        throw Error("cannot make a file in " + folder.string() + ": " + reason())
            .remedy("choose another folder with --output");
    return {fdopen(descriptor, "w+b"), std::fclose};
}

}  // namespace

std::string usd_vector(const double* values) {
    return fmt::format("({}, {}, {})", static_cast<float>(values[0]), static_cast<float>(values[1]),
                       static_cast<float>(values[2]));
}

std::string usd_vectors(const std::vector<double>& values) {
    fmt::memory_buffer text;
    for (std::size_t k = 0; k + 3 <= values.size(); k += 3)
        fmt::format_to(std::back_inserter(text), "{}({}, {}, {})", k > 0 ? ", " : "[",
                       static_cast<float>(values[k]), static_cast<float>(values[k + 1]),
                       static_cast<float>(values[k + 2]));
    return text.size() == 0 ? "[]" : fmt::to_string(text) + "]";
}

std::string usd_numbers(const std::vector<double>& values) {
    fmt::memory_buffer text;
    for (const double value : values)
        fmt::format_to(std::back_inserter(text), "{}{}", text.size() > 0 ? ", " : "[",
                       static_cast<float>(value));
    return text.size() == 0 ? "[]" : fmt::to_string(text) + "]";
}

std::string usd_text(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (static_cast<unsigned char>(c) >= ' ') quoted += c;
        if (c == '\n') quoted += "\\n";
    }
    return quoted + "\"";
}

UsdFile::UsdFile(fs::path folder) : folder_(std::move(folder)), spool_(unnamed_file(folder_)) {}

void UsdFile::fail() const {
    throw Error("cannot write into " + folder_.string() + ": " + reason())
        .remedy("make room, or choose another folder with --output");
}

std::size_t UsdFile::add(const std::string& type, const std::string& name) {
    const std::string wanted = identifier(name);
    std::string own = wanted;
    for (int k = 2; std::ranges::find(objects_, own, &Object::name) != objects_.end(); ++k)
        own = fmt::format("{}_{}", wanted, k);
    objects_.push_back({type, own, name, {}, {}});
    return objects_.size() - 1;
}

void UsdFile::set(std::size_t object, const std::string& property) {
    objects_[object].fixed.push_back(property);
}

std::size_t UsdFile::add_sampled(std::size_t object, const std::string& property,
                                 const std::string& metadata) {
    properties_.push_back({property, metadata, {}, {}});
    objects_[object].sampled.push_back(properties_.size() - 1);
    return properties_.size() - 1;
}

void UsdFile::put_away(Property& property) {
    errno = 0;
    if (std::fseek(spool_.get(), 0, SEEK_END) != 0 ||
        std::fwrite(property.waiting.data(), 1, property.waiting.size(), spool_.get()) !=
            property.waiting.size() ||
        std::fflush(spool_.get()) != 0)
        fail();
    property.parts.emplace_back(spooled_, property.waiting.size());
    spooled_ += static_cast<std::int64_t>(property.waiting.size());
    property.waiting.clear();
}

void UsdFile::sample(std::size_t property, double frame, std::string_view value) {
    Property& p = properties_[property];
    p.waiting += fmt::format("            {}: {},\n", frame, value);
    if (p.waiting.size() > most_waiting) put_away(p);
}

void UsdFile::write(const fs::path& file, const Head& head) const {
    errno = 0;
    const std::shared_ptr<std::FILE> out(std::fopen(file.c_str(), "wb"), [](std::FILE* f) {
        if (f != nullptr) std::fclose(f);
    });
    const auto put = [&](std::string_view text) {
        if (!out || std::fwrite(text.data(), 1, text.size(), out.get()) != text.size()) fail();
    };
    put(fmt::format(
        "#usda 1.0\n(\n    defaultPrim = \"scene\"\n    doc = {}\n"
        "    metersPerUnit = 1\n    upAxis = \"{}\"\n    timeCodesPerSecond = {}\n"
        "    framesPerSecond = {}\n    startTimeCode = 0\n    endTimeCode = {}\n)\n\n"
        "def Xform \"scene\"\n{{\n",
        usd_text(head.title), head.up, head.frames_per_second, head.frames_per_second, head.last));
    std::string part;
    for (const Object& object : objects_) {
        put(fmt::format("    def {} \"{}\"{}\n    {{\n", object.type, object.name,
                        object.shown == object.name
                            ? ""
                            : " (\n        displayName = " + usd_text(object.shown) + "\n    )"));
        for (const std::string& property : object.fixed) put("        " + property + "\n");
        for (const std::size_t k : object.sampled) {
            const Property& property = properties_[k];
            // The metadata of a property stands at its declaration without samples.
            if (!property.metadata.empty())
                put("        " + property.declaration + " (" + property.metadata + ")\n");
            put("        " + property.declaration + ".timeSamples = {\n");
            for (const auto& [place, bytes] : property.parts) {
                part.resize(bytes);
                if (std::fseek(spool_.get(), place, SEEK_SET) != 0 ||
                    std::fread(part.data(), 1, bytes, spool_.get()) != bytes)
                    fail();
                put(part);
            }
            put(property.waiting);
            put("        }\n");
        }
        put("    }\n\n");
    }
    put("}\n");
    if (std::fflush(out.get()) != 0) fail();
}

}  // namespace hindcast::exporting
