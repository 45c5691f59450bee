// Damaged input: mutated documents, formulas, values and .npy files either work or throw
// hindcast::Error; what is read can be written and read again. HINDCAST_FULL=1 makes the runs
// longer.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/base/random.hpp"
#include "engine/document/document.hpp"
#include "engine/document/npy.hpp"
#include "engine/document/values.hpp"
#include "tests/support/elementary.hpp"

using namespace hindcast;
using namespace hindcast::document;

namespace {

int rounds(int ordinary) {
    const char* const full = std::getenv("HINDCAST_FULL");
    return full && std::strcmp(full, "1") == 0 ? 200 * ordinary : ordinary;
}

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::size_t below(std::size_t n) {
        return static_cast<std::size_t>(random_.uniform(next_++) * static_cast<double>(n));
    }

private:
    Random random_;
    std::uint64_t next_ = 0;
};

// A few changes: a byte, a piece taken out, doubled or moved, a fragment put in.
std::string mutated(std::string text, const std::vector<std::string>& fragments, Dice& dice) {
    for (std::size_t changes = 1 + dice.below(4); changes > 0; --changes) {
        const std::size_t at = dice.below(text.size() + 1);
        const std::size_t length = std::min(dice.below(12), text.size() - at);
        switch (dice.below(6)) {
            case 0:
                if (at < text.size()) text[at] = static_cast<char>(dice.below(256));
                break;
            case 1: text.erase(at, length); break;
            case 2: text.insert(dice.below(text.size() + 1), text.substr(at, length)); break;
            case 3:
                if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << dice.below(8)));
                break;
            default: text.insert(at, fragments[dice.below(fragments.size())]); break;
        }
    }
    return text;
}

}  // namespace

TEST_CASE("fuzz: documents parse and round trip, or throw Error") {
    const std::vector<std::string> documents = {
        R"({"format": 1, "time": {"step": "1/30", "steps": 30}, "gravity": [0, 0, -9.81],
            "bodies": [{"type": "particles", "positions": {"grid": {"counts": [2, 2, 1],
            "spacing": 0.5}}, "mass": {"formula": "1+0.1*i"}}], "view": null, "ok": true})",
        R"([1, -2.5e-3, "a\u00e9\n", [[], {}], {"a": {"b": {"c": [false, 0.1]}}}] // end)",
        "{\"a\": /* c */ 1, \"caf\xC3\xA9\": \"\xF0\x9F\x8C\x8D\"}",
    };
    const std::vector<std::string> fragments = {
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "//",
        "/*",
        "*/",
        "1e",
        "1e999",
        "-",
        "0x",
        "NaN",
        "\xFF",
        "\xC3",
        "\"a\":",
        "\\u",
        "\\ud83d",
        "null",
        "true",
        "9999999999999999999",
        "\n",
        std::string(1, '\0'),
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "1e-400",
        "-0",
        "\xEF\xBB\xBF",
        "\"1/0\"",
    };
    Dice dice(1);
    int accepted = 0;
    for (int round = 0; round < rounds(4000); ++round) {
        const std::string text = mutated(documents[dice.below(documents.size())], fragments, dice);
        try {
            const Document document = Document::parse(text, "f");
            ++accepted;
            const std::string written = document.to_text();
            const Document again = Document::parse(written, "g");
            CHECK(again == document);
            CHECK(again.to_text() == written);
        } catch (const Error& error) {
            CHECK(error.place().line > 0);
            CHECK_FALSE(error.what_to_do().empty());
        } catch (const std::exception& other) {
            FAIL_CHECK("not an Error: " << std::string(other.what()) << " for " << text);
        }
    }
    CHECK(accepted > 100);
}

TEST_CASE("fuzz: formulas evaluate or throw Error") {
    const std::vector<std::string> formulas = {
        "sin(3*x)+0.1*i",
        "x > 0 ? max(x, 1) : -(y^2)",
        "atan2(y, x) / (1 + abs(i - n/2))",
        "!(x < y) && i != 3 || 0",
        "1e-3*exp(-x^2)*pow(2, min(i, 3))",
    };
    const std::vector<std::string> fragments = {
        "(", ")",  ",",  "?",  ":",    "+",    "-",    "*", "/",  "^",    "<",
        "=", "==", "!",  "&&", "||",   "sin(", "min(", "0", "1",  "x",    "1e5",
        ".", "e",  "pi", " ",  "0x1f", "\"",   "'",    "a", "1e", "rnd(", "_",
    };
    ValueRequest request;
    request.count = 3;
    request.functions = test::elementary_of_the_c_library();
    const std::vector<double> positions = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    request.positions = positions;
    Dice dice(2);
    int accepted = 0;
    for (int round = 0; round < rounds(3000); ++round) {
        const std::string text = mutated(formulas[dice.below(formulas.size())], fragments, dice);
        if (!text.empty() && text.find_first_of("\"\\") == std::string::npos) {
            try {
                const Values values = evaluate(Node::object({{"formula", text}}), request);
                CHECK(values.data.size() == (values.shared ? 1 : 3));
                ++accepted;
            } catch (const Error&) {
            } catch (const std::exception& other) {
                FAIL_CHECK("not an Error: " << std::string(other.what()) << " for " << text);
            }
        }
    }
    CHECK(accepted > 100);
}

TEST_CASE("fuzz: values of any document evaluate or throw Error") {
    const std::vector<std::string> documents = {
        R"({"random": {"seed": 7, "normal": [0, 0.1]}})",
        R"({"grid": {"counts": [2, 2, 1], "spacing": [1, 2, 3], "center": [0, 0, 0]}})",
        R"({"box": {"min": [0, 0, 0], "max": [1, 1, 1], "counts": [1, 2, 2]}})",
        R"({"formula": ["i", "n", 0.5]})",
        R"([[1, 2, 3], [4, "5/6", 7e1], [0, 0, 0], [1, 1, 1]])",
        R"({"file": "a.npy"})",
    };
    const std::vector<std::string> fragments = {
        "[",
        "]",
        "{",
        "}",
        ",",
        "1",
        "-1",
        "1e18",
        "\"x\"",
        "null",
        "\"1/3\"",
        "\"counts\":",
        "\"seed\":",
        "9223372036854775807",
        "0",
        ".5",
        "\"uniform\":",
        "true",
    };
    ValueRequest request;
    request.functions = test::elementary_of_the_c_library();
    request.most_numbers = 10'000;
    Dice dice(3);
    int accepted = 0;
    for (int round = 0; round < rounds(4000); ++round) {
        const std::string text = mutated(documents[dice.below(documents.size())], fragments, dice);
        request.components = dice.below(2) == 0 ? 3 : 1;
        request.count = dice.below(2) == 0 ? std::optional<std::int64_t>() : 4;
        try {
            const Document document = Document::parse(text, "f");
            const Values values = evaluate(document.root(), request);
            CHECK(values.rows().size() == static_cast<std::size_t>(values.count) *
                                              static_cast<std::size_t>(values.components));
            ++accepted;
        } catch (const Error&) {
        } catch (const std::exception& other) {
            FAIL_CHECK("not an Error: " << std::string(other.what()) << " for " << text);
        }
    }
    CHECK(accepted > 30);
}

TEST_CASE("fuzz: .npy files read or throw Error") {
    std::string good = "\x93NUMPY\x01";
    const std::string dictionary = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n";
    good += '\0';
    good += static_cast<char>(dictionary.size());
    good += '\0';
    good += dictionary + std::string(24, '\x01');
    const std::vector<std::string> fragments = {"9",        "(",  ")", ",",   "'",
                                                "{",        "}",  "L", "<i8", "False",
                                                "99999999", "-1", " ", "0",   "'shape': (1,),"};
    Dice dice(4);
    int accepted = 0;
    for (int round = 0; round < rounds(4000); ++round) {
        const std::string content = mutated(good, fragments, dice);
        try {
            const NpyArray array = parse_npy(content, "f.npy");
            CHECK(array.bytes.size() <= content.size());
            array.to_f64();
            ++accepted;
        } catch (const Error&) {
        } catch (const std::exception& other) {
            FAIL_CHECK("not an Error: " << std::string(other.what()));
        }
    }
    CHECK(accepted > 100);
}
