// Bytes from outside (names of files, messages, model text) as they can be shown to people.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace platen {

// File names are bytes. For JSON and messages: valid UTF-8 stays, a backslash is doubled, control
// characters and bytes that are not UTF-8 become \xNN. Distinct names stay distinct.
std::string DisplayName(std::string_view bytes);

// Inverse of DisplayName; nothing for what it does not write.
std::optional<std::string> NameFromDisplay(std::string_view display);

// A message as it can be shown on a terminal: control characters (line breaks remain), also those
// that UTF-8 has beyond ASCII, and bytes that are not UTF-8 become \xNN.
std::string Printable(std::string_view message);

// UTF-8 in double quotes for one line of output: quotes and backslashes are escaped, a line break
// becomes \n, other control characters of ASCII become \xNN.
std::string QuotedText(std::string_view text);

// "a, b, c".
std::string Joined(const std::vector<std::string>& names);

}  // namespace platen
