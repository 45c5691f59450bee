// Tables of numbers: what a file says, and the place of what is wrong in it.
#include <doctest/doctest.h>

#include <string>

#include "engine/base/error.hpp"
#include "engine/document/csv.hpp"

using namespace hindcast;
using namespace hindcast::document;

namespace {

std::string refused(const std::string& content, const std::string& column = "a") {
    try {
        CsvTable(content, "x.csv").numbers(column);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("csv: numbers by column") {
    const CsvTable table("time,a\n0,1.5\n1e-3,-2.25E1\n", "x.csv");
    CHECK(table.rows() == 2);
    CHECK(table.columns() == std::vector<std::string>{"time", "a"});
    CHECK(table.numbers("time") == Numbers{0, 0.001});
    CHECK(table.numbers("a") == Numbers{1.5, -22.5});
    CHECK(table.has_column("a"));
    CHECK_FALSE(table.has_column("b"));
    CHECK_FALSE(table.has_column(""));
    CHECK(to_string(table.place(1, 1)) == "x.csv:3:6");
}

TEST_CASE("csv: comments, blank lines, blanks, quotes, separators, ends of lines") {
    const Numbers expected = {1, -2};
    for (const char* content : {
             "a,b\n1,2\n-2,3",
             "# measured\n\n  \na,b\n1,2\n# a break\n-2,3\n\n",
             "a;b\r\n1;2\r\n-2;3\r\n",
             "a\tb\n1\t2\n-2\t3\n",
             " a , b \n +1 ,  2\n -2.0 , 3 \n",
             "\"a\",\"b, \"\"or\"\" c\"\n\"1\",2\n-2e0,\"3\"\n",
             "\xEF\xBB\xBF"
             "a,b\n1,2\n-2,3\n",
             "a\n1\n-2\n",
             "word,a\nleft,1\n\"up, right\",-2\n",
         }) {
        INFO(content);
        CHECK(CsvTable(content, "x.csv").numbers("a") == expected);
    }
    CHECK(CsvTable("\"b, \"\"or\"\" c\",a\n", "x.csv").columns()[0] == "b, \"or\" c");
    CHECK(CsvTable("a,b\n", "x.csv").rows() == 0);
    // The index that pandas writes has no name.
    const CsvTable index(",a\n0,5\n", "x.csv");
    CHECK(index.numbers("a") == Numbers{5});
    // A line of separators is a row of empty cells.
    const CsvTable gaps("a,b\n,\n1,\n", "x.csv");
    CHECK(gaps.rows() == 2);
    CHECK(gaps.is_empty(0, 0));
    CHECK_FALSE(gaps.is_empty(1, 0));
}

TEST_CASE("csv: what is wrong is said with its place") {
    CHECK(contains(refused(""), "x.csv"));
    CHECK(contains(refused("# nothing\n"), "no line of column names"));
    CHECK(contains(refused("a,b\n1,2\n1,x\n", "b"), "x.csv:3:3"));
    CHECK(contains(refused("a,b\n1,2\n1,x\n", "b"), "'x' is no number (column 'b')"));
    CHECK(contains(refused("a,b\n1,2\n1,\n", "b"), "x.csv:3:3"));
    CHECK(contains(refused("a,b\n1,2\n1,\n", "b"), "empty"));
    CHECK(contains(refused("a;b\n1;2,5\n", "b"), "x.csv:2:3"));
    CHECK(contains(refused("a,b\n1,2,5\n"), "x.csv:2:1"));
    CHECK(contains(refused("a,b\n1,2,5\n"), "3 cells"));
    CHECK(contains(refused("a,b\n1\n"), "1 cell,"));
    CHECK(contains(refused("a, a\n1,2\n"), "x.csv:1:4"));
    CHECK(contains(refused("positon,time\n1,2\n", "position"), "positon"));
    CHECK(contains(refused("a,b\n\"1,2\n"), "x.csv:2:1"));
    CHECK(contains(refused("a,b\n\"1,2\n"), "not closed"));
    CHECK(contains(refused("a,b\n\"1\"2,2\n"), "x.csv:2:4"));
    for (const char* cell :
         {"nan", "inf", "-inf", "1e999", "1,", "0x10", "1 2", "--1", "+-1", "1e", "."})
        CHECK_MESSAGE(refused(std::string("a\n") + cell + "\n") != "accepted", cell);
    CHECK(contains(refused("a\n1e999\n"), "too large"));
    CHECK(contains(refused(std::string("a\n1\0\n", 5)), "UTF-8"));
    CHECK(contains(refused("a\n\xFF\n"), "UTF-8"));
    CHECK(contains(refused(std::string(20'000, ',') + "\n"), "cells"));
}

TEST_CASE("csv: changed files are read or refused, never more") {
    const std::string good = "# t\n\"time\";a;b\n0;1.5;\"x;\"\"y\"\n1e-3;-2;z\n";
    const char bytes[] = "\",;\n\r\t#0e.-+a \xC3\xFF";
    std::uint64_t counter = 0;
    std::size_t accepted = 0, trials = 20'000;
    for (std::size_t trial = 0; trial < trials; ++trial) {
        std::string content = good;
        const auto draw = [&](std::size_t below) {
            // A fixed sequence: SplitMix64 (Steele, Lea and Flood 2014).
            std::uint64_t z = (counter += 0x9E3779B97F4A7C15ull);
            z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
            z = (z ^ z >> 27) * 0x94D049BB133111EBull;
            return static_cast<std::size_t>((z ^ z >> 31) % below);
        };
        for (std::size_t change = 0, changes = 1 + draw(4); change < changes; ++change) {
            const std::size_t at = draw(content.size());
            const char byte = bytes[draw(sizeof bytes - 1)];
            if (const std::size_t how = draw(3); how == 0)
                content[at] = byte;
            else if (how == 1)
                content.insert(at, 1, byte);
            else
                content.erase(at, 1 + draw(3));
            if (content.empty()) content = ";";
        }
        try {
            const CsvTable table(content, "x.csv");
            CHECK(table.columns().size() >= 1);
            ++accepted;
            for (const std::string& name : table.columns())
                if (!name.empty()) table.numbers(name);
        } catch (const Error& error) {
            CHECK(contains(error.what(), "x.csv"));
        }
    }
    CHECK(accepted > trials / 20);
    CHECK(accepted < trials);
}
