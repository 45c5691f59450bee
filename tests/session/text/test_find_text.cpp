// Finding and replacing words in a text.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "app/session/text/find_text.hpp"

using hindcast::session::occurrences;
using hindcast::session::replaced;

TEST_CASE("find text: where a word is, with and without case") {
    const std::string text = "Ball ball aaaa \xC3\x89 \xC3\xA9";
    using Places = std::vector<std::size_t>;
    CHECK(occurrences(text, "ball", true) == Places{5});
    CHECK(occurrences(text, "bALL", false) == Places{0, 5});
    CHECK(occurrences(text, "aa", true) == Places{10, 12});  // none overlap
    CHECK(occurrences(text, "", false).empty());
    CHECK(occurrences("", "a", false).empty());
    CHECK(occurrences(text, "\xC3\xA9", false) == Places{18});  // letters beyond ASCII as they are
}

TEST_CASE("find text: all are replaced, what is put there is not looked at again") {
    CHECK(replaced("a b a", "a", "aa", true) == "aa b aa");
    CHECK(replaced("A b a", "a", "", false) == " b ");
    CHECK(replaced("abc", "x", "y", false) == "abc");
    CHECK(replaced("abc", "", "y", false) == "abc");
}
