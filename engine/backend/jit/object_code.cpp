#include "engine/backend/jit/object_code.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.hpp"

namespace hindcast::backend {

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw Error("compiled code cannot be loaded: " + why)
        .remedy("delete the kernel cache; if it happens again, report it");
}

// `count` values of T at `offset` of the object. LLVM aligns its tables; what is not aligned is not
// its work.
template <class T>
std::span<const T> table(std::string_view object, std::uint64_t offset, std::uint64_t count) {
    if (offset > object.size() || count > (object.size() - offset) / sizeof(T))
        refuse("a table lies outside the file");
    if ((reinterpret_cast<std::uintptr_t>(object.data()) + offset) % alignof(T) != 0)
        refuse("a table is not aligned");
    return {reinterpret_cast<const T*>(object.data() + offset), static_cast<std::size_t>(count)};
}

constexpr std::size_t limit = std::size_t{1} << 30;

}  // namespace

ObjectCode::ObjectCode(std::string_view object, std::string_view name) {
    try {
        load(object, name);
    } catch (...) {
        if (memory_ != nullptr) ::munmap(memory_, size_);
        throw;
    }
}

ObjectCode::~ObjectCode() { ::munmap(memory_, size_); }

void ObjectCode::load(std::string_view object, std::string_view name) {
    const Elf64_Ehdr& header = table<Elf64_Ehdr>(object, 0, 1)[0];
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_REL ||
        header.e_machine != EM_X86_64 || header.e_shentsize != sizeof(Elf64_Shdr))
        refuse("it is no x86-64 object");
    const auto sections = table<Elf64_Shdr>(object, header.e_shoff, header.e_shnum);

    // Offsets of the loaded sections in the mapping: code, then constants on other pages.
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> place(sections.size(), absent);
    std::size_t code_size = 0;
    for (const bool code : {true, false}) {
        for (std::size_t s = 0; s < sections.size(); ++s) {
            const Elf64_Shdr& section = sections[s];
            if ((section.sh_flags & SHF_ALLOC) == 0 ||
                ((section.sh_flags & SHF_EXECINSTR) != 0) != code)
                continue;
            if (section.sh_size == 0 || section.sh_type == SHT_X86_64_UNWIND) continue;
            if (section.sh_type != SHT_PROGBITS || (section.sh_flags & (SHF_WRITE | SHF_TLS)) != 0)
                refuse("it has data that can change");
            const std::size_t align = section.sh_addralign > 1 ? section.sh_addralign : 1;
            if (align > page || (align & (align - 1)) != 0 || section.sh_size > limit)
                refuse("a section is malformed");
            size_ = (size_ + align - 1) & ~(align - 1);
            place[s] = size_;
            size_ += section.sh_size;
            if (size_ > limit) refuse("it is too large");
        }
        if (code) code_size = size_ = (size_ + page - 1) & ~(page - 1);
    }
    if (size_ == 0) refuse("it is empty");
    void* mapping =
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) refuse("there is no memory");
    memory_ = static_cast<char*>(mapping);
    for (std::size_t s = 0; s < sections.size(); ++s) {
        if (place[s] == absent) continue;
        const auto bytes = table<char>(object, sections[s].sh_offset, sections[s].sh_size);
        std::memcpy(memory_ + place[s], bytes.data(), bytes.size());
    }

    std::span<const Elf64_Sym> symbols;
    std::span<const char> names;
    for (const Elf64_Shdr& section : sections) {
        if (section.sh_type != SHT_SYMTAB) continue;
        symbols = table<Elf64_Sym>(object, section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
        if (section.sh_link >= sections.size()) refuse("its symbols have no names");
        names = table<char>(object, sections[section.sh_link].sh_offset,
                            sections[section.sh_link].sh_size);
    }
    // Offset in the mapping of a symbol that is defined in a section that was loaded.
    const auto offset_of = [&](const Elf64_Sym& symbol) {
        const std::size_t s = symbol.st_shndx;
        if (s >= sections.size() || place[s] == absent || symbol.st_value > sections[s].sh_size)
            refuse("it refers to something outside itself");
        return place[s] + symbol.st_value;
    };
    for (const Elf64_Shdr& section : sections) {
        if (section.sh_type != SHT_RELA || section.sh_info >= sections.size() ||
            place[section.sh_info] == absent)
            continue;
        const std::size_t target_size = sections[section.sh_info].sh_size;
        for (const Elf64_Rela& r :
             table<Elf64_Rela>(object, section.sh_offset, section.sh_size / sizeof(Elf64_Rela))) {
            const auto type = ELF64_R_TYPE(r.r_info);
            if (type != R_X86_64_PC32 && type != R_X86_64_PLT32)
                refuse("it has a relocation of kind " + std::to_string(type));
            if (target_size < 4 || r.r_offset > target_size - 4 ||
                ELF64_R_SYM(r.r_info) >= symbols.size())
                refuse("a relocation is malformed");
            const std::size_t at = place[section.sh_info] + r.r_offset;
            const std::int64_t distance =
                static_cast<std::int64_t>(offset_of(symbols[ELF64_R_SYM(r.r_info)])) + r.r_addend -
                static_cast<std::int64_t>(at);
            const auto relative = static_cast<std::int32_t>(distance);
            if (relative != distance) refuse("a relocation is out of reach");
            std::memcpy(memory_ + at, &relative, sizeof relative);
        }
    }
    for (const Elf64_Sym& symbol : symbols) {
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= names.size() ||
            names.back() != 0)
            continue;
        if (name == &names[symbol.st_name] && offset_of(symbol) < code_size)
            entry_ = memory_ + offset_of(symbol);
    }
    if (entry_ == nullptr) refuse("it has no function '" + std::string(name) + "'");
    if (::mprotect(memory_, code_size, PROT_READ | PROT_EXEC) != 0 ||
        (size_ > code_size && ::mprotect(memory_ + code_size, size_ - code_size, PROT_READ) != 0))
        refuse("the system does not allow generated code to run");
}

}  // namespace hindcast::backend
