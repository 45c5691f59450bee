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

// What muParser reads loosely is checked first: characters, brackets, where commas, '?' and ':' may
// stand, numbers in the range of f64.
void check_structure(const Node& node) {
    const std::string& text = node.string();
    if (text.size() > longest_formula) {
        throw fault(node, fmt::format("a formula of {} characters, more than {}", text.size(),
                                      longest_formula))
            .remedy("compute the values outside and store them as {\"file\": \"x.npy\"}");
    }
    struct Bracket {
        std::size_t offset;
        bool arguments;  // of a function
        int questions = 0;
    };
    std::vector<Bracket> open{{0, false}};
    bool operand_before = false;  // whether an operand ended before this character
    const auto close_questions = [&](std::size_t offset) {
        if (open.back().questions > 0) {
            throw at_column(node, offset, "':' is missing after '?'")
                .remedy("write condition ? value : other");
        }
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (is_blank(c)) continue;
        if (is_digit(c) || c == '.') {
            double value = 0;
            const auto result = std::from_chars(text.data() + i, text.data() + text.size(), value);
            if (result.ec == std::errc::result_out_of_range) {
                throw at_column(node, i, "a number beyond f64")
                    .remedy("f64 reaches from 4.9e-324 to 1.8e308");
            }
            if (result.ec != std::errc()) throw at_column(node, i, "no number");
            i = static_cast<std::size_t>(result.ptr - text.data()) - 1;
            operand_before = true;
        } else if (is_letter(c)) {
            while (i + 1 < text.size() && (is_letter(text[i + 1]) || is_digit(text[i + 1]))) ++i;
            operand_before = true;
        } else if (c == '(') {
            if (open.size() > deepest_formula) {
                throw at_column(
                    node, i, fmt::format("more than {} brackets in each other", deepest_formula));
            }
            const char before = i > 0 ? text[i - 1] : '\0';
            open.push_back({i, is_letter(before) || is_digit(before)});
            operand_before = false;
        } else if (c == ')') {
            if (open.size() == 1) {
                throw at_column(node, i, "')' closes nothing").remedy("remove it, or add '('");
            }
            close_questions(i);
            open.pop_back();
            operand_before = true;
        } else if (c == ',') {
            if (!open.back().arguments) {
                throw at_column(node, i, "',' outside the arguments of a function")
                    .remedy("write decimals with a point: 0.5");
            }
            close_questions(i);
            operand_before = false;
        } else if (c == '?' || c == ':') {
            if (!operand_before)
                throw at_column(node, i, fmt::format("a value is missing before '{}'", c));
            open.back().questions += c == '?' ? 1 : -1;
            if (open.back().questions < 0) {
                throw at_column(node, i, "':' without '?'")
                    .remedy("write condition ? value : other");
            }
            operand_before = false;
        } else if (std::string_view("+-*/^<>=!&|").find(c) != std::string_view::npos) {
            operand_before = false;
        } else {
            throw at_column(node, i, "a character that no formula has")
                .remedy("use letters, digits and + - * / ^ ( ) , . < > = ! & | ? :");
        }
    }
    if (open.size() > 1) {
        throw at_column(node, open.back().offset, "'(' is not closed").remedy("add ')'");
    }
    close_questions(text.size());
    if (std::ranges::all_of(text, is_blank)) {
        throw fault(node, "an empty formula").remedy("write for instance \"0.1*i\"");
    }
}

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

    std::vector<std::string_view> known_names() const {
        std::vector<std::string_view> known(names.begin(), names.end());
        for (const auto& entry : parser.GetConst()) known.push_back(entry.first);
        for (const auto& entry : parser.GetFunDef()) known.push_back(entry.first);
        return known;
    }

    [[noreturn]] void explain(const Node& node, const mu::ParserError& error) const {
        const std::string& text = node.string();
        const std::string& token = error.GetToken();
        std::size_t offset =
            error.GetPos() < 0 ? text.size() : static_cast<std::size_t>(error.GetPos());
        // Some positions of muParser lie behind the token.
        if (!token.empty() && offset >= token.size() &&
            text.compare(offset, token.size(), token) != 0 &&
            text.compare(offset - token.size(), token.size(), token) == 0) {
            offset -= token.size();
        }
        switch (error.GetCode()) {
            case mu::ecUNASSIGNABLE_TOKEN: {
                if (token.empty() || !is_letter(token.front())) {
                    const std::string_view rest =
                        std::string_view(text).substr(std::min(offset, text.size()));
                    throw at_column(node, offset,
                                    fmt::format("unexpected {}", shown(rest.substr(0, 1))))
                        .remedy("check operators and brackets");
                }
                const bool function = parser.GetFunDef().count(token) > 0;
                throw at_column(
                    node, offset,
                    fmt::format("{} {}", function ? "no '(' directly after" : "unknown name",
                                shown(token)))
                    .remedy(function ? fmt::format("write {}(...)", token)
                                     : suggestion(token, known_names(), "known names are"));
            }
            case mu::ecTOO_FEW_PARAMS:
                throw at_column(node, offset,
                                fmt::format("too few arguments for {}", shown(token)));
            case mu::ecTOO_MANY_PARAMS:
                throw at_column(node, offset,
                                fmt::format("too many arguments for {}", shown(token)));
            case mu::ecUNEXPECTED_EOF: throw at_column(node, text.size(), "a value is missing");
            default:
                if (token.empty()) throw at_column(node, offset, "a fault");
                throw at_column(node, offset, fmt::format("unexpected {}", shown(token, 20)))
                    .remedy("check operators and brackets");
        }
    }
};

Formula::Formula(const Node& node, const ElementaryTable& functions,
                 std::span<const std::string_view> variables) {
    string_of(node);
    check_structure(node);
    state_ = std::make_unique<State>(functions, variables);
    try {
        state_->parser.SetExpr(node.string());
        state_->parser.Eval();
        const auto& used = state_->parser.GetUsedVar();
        for (std::size_t k = 0; k < variables.size(); ++k) {
            state_->used[k] = used.count(state_->names[k]) > 0;
        }
        state_->parser.Eval();  // compiles again, GetUsedVar forgets the code
    } catch (const mu::ParserError& error) {
        state_->explain(node, error);
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
