// Messages of a length that can be read, whatever names and values they quote.
#pragma once

#include <string>
#include <string_view>

namespace hindcast {

// The text, with a word of more than 240 bytes or a line of more than 2000 cut in its middle, where
// the number of bytes is stated: "aaaa [... 102400 bytes in all ...] aaaa". No UTF-8 character is
// cut.
std::string shortened(std::string_view text);

}  // namespace hindcast
