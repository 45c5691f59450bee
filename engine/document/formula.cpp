// A formula is checked by our own grammar first (Checker), then compiled and run by muParser with
// the operators and functions of State. muParser's optimizer stays off, since it changes rounding.
#include "engine/document/formula.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "engine/document/read.hpp"
#include "engine/document/text.hpp"

namespace hindcast::document {

namespace {

constexpr std::size_t longest_formula = 4096;
constexpr std::size_t deepest_formula = 64;
constexpr std::string_view operators[] = {"<=", ">=", "==", "!=", "&&", "||", "+",
                                          "-",  "*",  "/",  "^",  "<",  ">"};

struct Row {
    const char* name;
    ElementaryTable::Unary ElementaryTable::*function;
};
constexpr Row elementary[] = {
    {"sin", &ElementaryTable::sin},     {"cos", &ElementaryTable::cos},
    {"tan", &ElementaryTable::tan},     {"asin", &ElementaryTable::asin},
    {"acos", &ElementaryTable::acos},   {"atan", &ElementaryTable::atan},
    {"sinh", &ElementaryTable::sinh},   {"cosh", &ElementaryTable::cosh},
    {"tanh", &ElementaryTable::tanh},   {"exp", &ElementaryTable::exp},
    {"expm1", &ElementaryTable::expm1}, {"log", &ElementaryTable::log},
    {"log1p", &ElementaryTable::log1p}, {"cbrt", &ElementaryTable::cbrt},
};

// Half to even, whatever the rounding mode of the thread.
double round_even(double x) {
    const double below = std::floor(x), rest = x - below;
    if (rest < 0.5) return below;
    if (rest > 0.5) return below + 1.0;
    return std::fmod(below, 2.0) == 0.0 ? below : below + 1.0;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// The number at the front of the text as muParser asks for it.
int read_number(const char* text, int* position, double* value) {
    if (!is_digit(*text) && *text != '.') return 0;
    const char* const end = text + std::char_traits<char>::length(text);
    const auto result = std::from_chars(text, end, *value);
    if (result.ec != std::errc()) return 0;
    *position += static_cast<int>(result.ptr - text);
    return 1;
}

// A fault in the formula, `offset` characters from its beginning, shown below the formula.
Error at_column(const Node& node, std::size_t offset, const std::string& happened) {
    const std::string& text = node.string();
    offset = std::min(offset, text.size());
    Error error = fault(node, fmt::format("{} at column {} of the formula", happened, offset + 1));
    // Long formulas are shown around the fault.
    const std::size_t begin = offset > 60 ? offset - 60 : 0;
    std::string window = text.substr(begin, 80);
    std::ranges::replace_if(
        window, [](char c) { return c < ' ' || c > '~'; }, '?');
    error.note(window).note(std::string(offset - begin, ' ') + "^");
    return error;
}

// The grammar of formulas. muParser is lenient in places and unsafe in others, so it only ever gets
// to see what passed here:
//
//     value := number | name | name '(' ternary (',' ternary)* ')' | '(' ternary ')'
//     term := ('+' | '-' | '!')? value;  sum := term (operator term)*;  ternary := sum ('?' ternary
//     ':' ternary)?
class Checker {
public:
    // Arity of each function, -1 for variables and constants.
    using Names = std::vector<std::pair<std::string, int>>;

    Checker(const Node& node, Names names, bool has_power)
        : node_(node), text_(node.string()), names_(std::move(names)), has_power_(has_power) {}

    void check() {
        if (text_.size() > longest_formula) {
            throw fault(node_, fmt::format("a formula of {} characters, more than {}", text_.size(),
                                           longest_formula))
                .remedy("compute the values outside and store them as {\"file\": \"x.npy\"}");
        }
        if (std::ranges::all_of(text_, is_blank)) {
            throw fault(node_, "an empty formula").remedy("write for instance \"0.1*i\"");
        }
        open_.push_back({0, 0, {}});
        while (skip_blank()) {
            if (operand_next_) {
                operand();
            } else {
                operation();
            }
        }
        if (operand_next_) fail(text_.size(), "a value is missing", "end with a number or a name");
        if (open_.size() > 1) fail(open_.back().offset, "'(' is not closed", "add ')'");
        close_questions();
    }

private:
    struct Bracket {
        std::size_t offset;
        int arity;  // of the function whose arguments these are, 0 for plain brackets
        std::string_view function;
        int arguments = 1, questions = 0;
    };

    [[noreturn]] void fail(std::size_t offset, const std::string& happened,
                           const std::string& remedy) const {
        throw at_column(node_, offset, happened).remedy(remedy);
    }

    bool skip_blank() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
        return at_ < text_.size();
    }

    // A number, a name, an opening bracket or a sign.
    void operand() {
        const char c = text_[at_];
        if (is_digit(c) || c == '.') {
            double value = 0;
            const char* const end = text_.data() + text_.size();
            const auto result = std::from_chars(text_.data() + at_, end, value);
            if (result.ec == std::errc::result_out_of_range) {
                fail(at_, "a number beyond f64", "f64 reaches from 4.9e-324 to 1.8e308");
            }
            if (result.ec != std::errc()) fail(at_, "'.' is no number", "write for instance 0.5");
            at_ = static_cast<std::size_t>(result.ptr - text_.data());
            operand_next_ = sign_ = false;
        } else if (is_letter(c)) {
            name();
        } else if (c == '(') {
            push({at_++, 0, {}});
        } else if ((c == '+' || c == '-' || c == '!') && !sign_) {
            ++at_;
            sign_ = true;
        } else if (c == ')' && open_.back().arity > 0 && text_[at_ - 1] == '(') {
            fail(at_, fmt::format("too few arguments for '{}'", open_.back().function),
                 fmt::format("it takes {}", open_.back().arity));
        } else {
            unexpected("a value is missing before it");
        }
    }

    void name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
        const std::string_view word = text_.substr(begin, at_ - begin);
        const auto known = std::ranges::find(
            names_, word, [](const auto& entry) -> std::string_view { return entry.first; });
        if (known == names_.end()) {
            std::vector<std::string_view> candidates;
            for (const auto& entry : names_) candidates.push_back(entry.first);
            fail(begin, "unknown name " + shown(word),
                 suggestion(word, candidates, "known names are"));
        }
        const bool called = at_ < text_.size() && text_[at_] == '(';
        if (known->second > 0) {
            if (!called) {
                fail(begin, "no '(' directly after " + shown(word),
                     fmt::format("write {}(...)", word));
            }
            push({at_++, known->second, word});
        } else {
            if (called)
                fail(begin, shown(word) + " is no function", "write '*' before the bracket");
            operand_next_ = sign_ = false;
        }
    }

    void push(const Bracket& bracket) {
        if (open_.size() > deepest_formula) {
            fail(bracket.offset,
                 fmt::format("more than {} brackets in each other", deepest_formula),
                 "write the formula flatter");
        }
        open_.push_back(bracket);
        sign_ = false;
    }

    // Reads the token after a value: an operator or a closing bracket.
    void operation() {
        Bracket& inner = open_.back();
        const char c = text_[at_];
        if (c == ')') {
            if (open_.size() == 1) fail(at_, "')' closes nothing", "remove it, or add '('");
            close_questions();
            if (inner.arity > 0 && inner.arguments < inner.arity) {
                fail(at_, fmt::format("too few arguments for '{}'", inner.function),
                     fmt::format("it takes {}", inner.arity));
            }
            open_.pop_back();
            ++at_;
            return;
        }
        if (c == ',') {
            if (inner.arity == 0) {
                fail(at_, "',' outside the arguments of a function",
                     "write decimals with a point: 0.5");
            }
            close_questions();
            if (++inner.arguments > inner.arity) {
                fail(at_, fmt::format("too many arguments for '{}'", inner.function),
                     fmt::format("it takes {}", inner.arity));
            }
        } else if (c == '?') {
            ++inner.questions;
        } else if (c == ':') {
            if (--inner.questions < 0)
                fail(at_, "':' without '?'", "write condition ? value : other");
        } else {
            for (const std::string_view word : operators) {
                if (text_.substr(at_).starts_with(word) && (has_power_ || word != "^")) {
                    at_ += word.size();
                    operand_next_ = true;
                    return;
                }
            }
            unexpected("an operator is missing before it");
        }
        ++at_;
        operand_next_ = true;
    }

    void close_questions() const {
        if (open_.back().questions > 0) {
            fail(at_, "':' is missing after '?'", "write condition ? value : other");
        }
    }

    [[noreturn]] void unexpected(const std::string& otherwise) const {
        const char c = text_[at_];
        if (!is_digit(c) && !is_letter(c) &&
            std::string_view("+-*/^(),.<>=!&|?:").find(c) == std::string_view::npos) {
            fail(at_, "a character that no formula has",
                 "use letters, digits and + - * / ^ ( ) , . < > = ! & | ? :");
        }
        fail(at_, fmt::format("unexpected '{}'", c), otherwise);
    }

    const Node& node_;
    const std::string_view text_;
    const Names names_;
    const bool has_power_;
    std::size_t at_ = 0;
    bool operand_next_ = true;
    bool sign_ = false;  // the character before is the sign of the value to come
    std::vector<Bracket> open_;
};

}  // namespace

struct Formula::State {
    mu::Parser parser;
    std::vector<std::string> names;
    std::vector<double> values;  // the parser holds pointers into it
    std::vector<bool> used;

    State(const ElementaryTable& table, std::span<const std::string_view> variables)
        : names(variables.begin(), variables.end()), values(names.size()), used(names.size()) {
        parser.ClearFun();
        parser.ClearConst();
        parser.ClearInfixOprt();
        parser.ClearPostfixOprt();
        parser.EnableOptimizer(false);  // it rearranges sums and products
        parser.EnableBuiltInOprt(false);
        parser.AddValIdent(read_number);

        const auto binary = [&](const char* name, mu::fun_type2 function, unsigned priority,
                                mu::EOprtAssociativity side = mu::oaLEFT) {
            parser.DefineOprt(name, function, priority, side);
        };
        binary(
            "+", [](double a, double b) { return a + b; }, mu::prADD_SUB);
        binary(
            "-", [](double a, double b) { return a - b; }, mu::prADD_SUB);
        binary(
            "*", [](double a, double b) { return a * b; }, mu::prMUL_DIV);
        binary(
            "/", [](double a, double b) { return a / b; }, mu::prMUL_DIV);
        binary(
            "<", [](double a, double b) { return a < b ? 1.0 : 0.0; }, mu::prCMP);
        binary(
            "<=", [](double a, double b) { return a <= b ? 1.0 : 0.0; }, mu::prCMP);
        binary(
            ">", [](double a, double b) { return a > b ? 1.0 : 0.0; }, mu::prCMP);
        binary(
            ">=", [](double a, double b) { return a >= b ? 1.0 : 0.0; }, mu::prCMP);
        binary(
            "==", [](double a, double b) { return a == b ? 1.0 : 0.0; }, mu::prCMP);
        binary(
            "!=", [](double a, double b) { return a != b ? 1.0 : 0.0; }, mu::prCMP);
        binary(
            "&&", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }, mu::prLAND);
        binary(
            "||", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }, mu::prLOR);
        if (table.pow) binary("^", table.pow, mu::prPOW, mu::oaRIGHT);
        parser.DefineInfixOprt("-", [](double a) { return -a; });
        parser.DefineInfixOprt("+", [](double a) { return a; });
        parser.DefineInfixOprt("!", [](double a) { return a == 0 ? 1.0 : 0.0; });

        for (const Row& row : elementary) {
            if (table.*row.function) unary(row.name, table.*row.function);
        }
        if (table.pow) parser.DefineFun("pow", table.pow);
        if (table.atan2) parser.DefineFun("atan2", table.atan2);
        unary("sqrt", [](double a) { return std::sqrt(a); });
        unary("abs", [](double a) { return std::fabs(a); });
        unary("floor", [](double a) { return std::floor(a); });
        unary("ceil", [](double a) { return std::ceil(a); });
        unary("trunc", [](double a) { return std::trunc(a); });
        unary("round", round_even);
        unary("sign", [](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0; });
        parser.DefineFun("min", mu::fun_type2([](double a, double b) { return b < a ? b : a; }));
        parser.DefineFun("max", mu::fun_type2([](double a, double b) { return b > a ? b : a; }));
        parser.DefineConst("pi", 3.141592653589793);
        parser.DefineConst("e", 2.718281828459045);
        for (std::size_t k = 0; k < names.size(); ++k) parser.DefineVar(names[k], &values[k]);
    }

    void unary(const char* name, mu::fun_type1 function) { parser.DefineFun(name, function); }

    Checker::Names known_names() const {
        Checker::Names known;
        for (const std::string& name : names) known.emplace_back(name, -1);
        for (const auto& entry : parser.GetConst()) known.emplace_back(entry.first, -1);
        for (const auto& entry : parser.GetFunDef()) {
            known.emplace_back(entry.first, entry.second.GetArgc());
        }
        return known;
    }
};

Formula::Formula(const Node& node, const ElementaryTable& functions,
                 std::span<const std::string_view> variables) {
    string_of(node);
    state_ = std::make_unique<State>(functions, variables);
    Checker(node, state_->known_names(), functions.pow != nullptr).check();
    try {
        state_->parser.SetExpr(node.string());
        const auto& used = state_->parser.GetUsedVar();
        for (std::size_t k = 0; k < variables.size(); ++k) {
            state_->used[k] = used.count(state_->names[k]) > 0;
        }
        state_->parser.Eval();
    } catch (const mu::ParserError& error) {
        throw fault(node, fmt::format("the formula cannot be read: {}", error.GetMsg()));
    }
}

Formula::~Formula() = default;
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;

bool Formula::uses(std::size_t variable) const { return state_->used[variable]; }

bool Formula::is_constant() const {
    return std::ranges::none_of(state_->used, [](bool used) { return used; });
}

double Formula::operator()(std::span<const double> values) {
    std::ranges::copy(values.first(state_->values.size()), state_->values.begin());
    try {
        return state_->parser.Eval();
    } catch (const mu::ParserError& error) {
        throw Error(fmt::format("the formula {} cannot be evaluated: {}",
                                shown(state_->parser.GetExpr()), error.GetMsg()));
    }
}

}  // namespace hindcast::document
