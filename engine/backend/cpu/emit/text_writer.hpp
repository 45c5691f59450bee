// TextWriter: the text of one LLVM function, line by line. It knows nothing of kernels and lanes.
//
// Every pure line is shared by its text within the scopes that it dominates, and stands in front of
// the loop over items if nothing in it changes there. Names tell: %u... stands in front of that
// loop, %t... inside, %a... is a variable.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hindcast::backend::cpu {

using Names = std::vector<std::string>;

// A stack variable, which LLVM turns into registers.
struct Variable {
    std::string name, type;
};

class TextWriter {
protected:
    using Block = std::function<void()>;
    using Argument = std::pair<std::string, std::string>;  // type, value
    // Pure lines written in a scope are shared until its end.
    struct Scope {
        TextWriter& writer;
        explicit Scope(TextWriter& w) : writer(w) { w.scopes_.emplace_back(); }
        ~Scope() { writer.scopes_.pop_back(); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
    };

    template <class... A>
    void put(fmt::format_string<A...> format, A&&... arguments) {
        body_ += "  " + fmt::format(format, std::forward<A>(arguments)...) + "\n";
    }
    std::string let_line(const std::string& text);
    std::string pure_line(const std::string& text);
    // A line with a result. `pure`: may be shared, and moved to the front.
    template <class... A>
    std::string let(fmt::format_string<A...> format, A&&... arguments) {
        return let_line(fmt::format(format, std::forward<A>(arguments)...));
    }
    template <class... A>
    std::string pure(fmt::format_string<A...> format, A&&... arguments) {
        return pure_line(fmt::format(format, std::forward<A>(arguments)...));
    }
    // The text of a call of an intrinsic, which is declared. `name` without "llvm.".
    std::string call(const std::string& result, const std::string& name,
                     std::initializer_list<Argument> arguments);
    // A pure intrinsic of two values of one type: smin, umax, ...
    std::string combine(const std::string& name, const std::string& type, const std::string& a,
                        const std::string& b);
    std::string cast(const char* code, const std::string& from, const std::string& x,
                     const std::string& to);
    std::string pointer(const std::string& element, const std::string& base,
                        const std::string& index);
    std::string invariant_load(const std::string& type,
                               const std::string& at);  // load of what never changes
    std::string context_field(std::size_t offset);
    std::string label() { return "b" + std::to_string(next_++); }
    void start(const std::string& block) { body_ += (block_ = block) + ":\n"; }
    void jump(const std::string& block) { put("br label %{}", block); }
    void branch(const std::string& condition, const std::string& yes, const std::string& no);
    void when(const std::string& condition, const Block& then, bool unlikely = false);
    void loop(const std::function<std::string()>& condition, const Block& body);
    // body(k) for k = 0 ... limit - 1, unsigned, in 64 bits.
    void count_to(const std::string& limit, const std::function<void(const std::string&)>& body);
    Variable variable(std::string type, const std::string& first);
    // Gives a variable its first value in front of the loop over items: a name from there, or a
    // constant.
    void start_with(const Variable& v, const std::string& x);
    void store(const Variable& v, const std::string& x) {
        put("store {} {}, ptr {}", v.type, x, v.name);
    }
    std::string load(const Variable& v) { return let("load {}, ptr {}", v.type, v.name); }

    std::string preheader_, body_, variables_;
    std::string block_;  // that is being written
    std::set<std::string> declarations_;
    std::vector<std::unordered_map<std::string, std::string>> scopes_;  // text of a line -> name

private:
    int next_ = 0;
    std::unordered_map<std::string, std::string> front_shared_;
};

// The name of a type in intrinsics: "v16f32" for <16 x float>.
std::string suffix(const std::string& type);
// <i32 0, i32 2, ...>
std::string list_of(const char* type, const std::vector<int>& numbers);
std::vector<int> up_to(int n);
std::size_t align_of(const std::string& scalar_type);

}  // namespace hindcast::backend::cpu
