#include "engine/backend/cpu/emit/text_writer.hpp"

namespace hindcast::backend::cpu {

std::string suffix(const std::string& type) {
    if (type[0] == '<') {
        const std::size_t x = type.find(" x ");
        return "v" + type.substr(1, x - 1) + suffix(type.substr(x + 3, type.size() - x - 4));
    }
    return type == "float" ? "f32" : type == "double" ? "f64" : type == "ptr" ? "p0" : type;
}

std::string list_of(const char* type, const std::vector<int>& numbers) {
    std::string text;
    for (const int n : numbers) text += fmt::format("{}{} {}", text.empty() ? "<" : ", ", type, n);
    return text + ">";
}

std::vector<int> up_to(int n) {
    std::vector<int> numbers;
    for (int k = 0; k < n; ++k) numbers.push_back(k);
    return numbers;
}

std::size_t align_of(const std::string& t) {
    return t == "i8" ? 1 : t == "i32" || t == "float" ? 4 : 8;
}

std::string TextWriter::let_line(const std::string& text) {
    std::string name = "%t" + std::to_string(next_++);
    put("{} = {}", name, text);
    return name;
}

std::string TextWriter::pure_line(const std::string& text) {
    if (text.find("%t") == std::string::npos) {
        std::string& name = front_shared_[text];
        if (name.empty()) {
            name = "%u" + std::to_string(next_++);
            preheader_ += "  " + name + " = " + text + "\n";
        }
        return name;
    }
    for (std::size_t s = scopes_.size(); s-- > 0;)
        if (const auto found = scopes_[s].find(text); found != scopes_[s].end())
            return found->second;
    return scopes_.back()[text] = let_line(text);
}

std::string TextWriter::call(const std::string& result, const std::string& name,
                             std::initializer_list<Argument> arguments) {
    std::string types, values;
    for (const auto& [type, value] : arguments) {
        types += (types.empty() ? "" : ", ") + type;
        values += fmt::format("{}{} {}", values.empty() ? "" : ", ", type, value);
    }
    declarations_.insert(fmt::format("declare {} @llvm.{}({})", result, name, types));
    return fmt::format("call {} @llvm.{}({})", result, name, values);
}

std::string TextWriter::combine(const std::string& name, const std::string& type,
                                const std::string& a, const std::string& b) {
    return pure("{}", call(type, name + "." + suffix(type), {{type, a}, {type, b}}));
}

std::string TextWriter::cast(const char* code, const std::string& from, const std::string& x,
                             const std::string& to) {
    return from == to ? x : pure("{} {} {} to {}", code, from, x, to);
}

std::string TextWriter::pointer(const std::string& element, const std::string& base,
                                const std::string& index) {
    return pure("getelementptr {}, ptr {}, i64 {}", element, base, index);
}

std::string TextWriter::invariant_load(const std::string& type, const std::string& at) {
    return pure("load {}, ptr {}, !invariant.load !0", type, at);
}

std::string TextWriter::context_field(std::size_t offset) {
    return invariant_load("ptr", pointer("i8", "%context", std::to_string(offset)));
}

void TextWriter::branch(const std::string& condition, const std::string& yes,
                        const std::string& no) {
    put("br i1 {}, label %{}, label %{}", condition, yes, no);
}

void TextWriter::when(const std::string& condition, const Block& then, bool unlikely) {
    const std::string yes = label(), after = label();
    put("br i1 {}, label %{}, label %{}{}", condition, yes, after, unlikely ? ", !prof !1" : "");
    start(yes);
    {
        const Scope scope(*this);
        then();
    }
    jump(after);
    start(after);
}

void TextWriter::loop(const std::function<std::string()>& condition, const Block& body) {
    const std::string head = label(), inside = label(), after = label();
    jump(head);
    start(head);
    {
        const Scope scope(*this);
        branch(condition(), inside, after);
        start(inside);
        body();
        jump(head);
    }
    start(after);
}

void TextWriter::count_to(const std::string& limit,
                          const std::function<void(const std::string&)>& body) {
    const Variable next = variable("i64", "0");
    std::string now;
    loop([&] { return let("icmp ult i64 {}, {}", now = load(next), limit); },
         [&] {
             body(now);
             store(next, let("add i64 {}, 1", now));
         });
}

Variable TextWriter::variable(std::string type, const std::string& first) {
    const Variable v{"%a" + std::to_string(next_++), std::move(type)};
    variables_ += "  " + v.name + " = alloca " + v.type + "\n";
    if (!first.empty()) store(v, first);
    return v;
}

void TextWriter::start_with(const Variable& v, const std::string& x) {
    const bool known = x[0] != '%';  // a constant needs no line in front of it
    (known ? variables_ : preheader_) += fmt::format("  store {} {}, ptr {}\n", v.type, x, v.name);
}

}  // namespace hindcast::backend::cpu
