// Plain text as Markdown.
#pragma once

#include <string>
#include <string_view>

namespace platen {

// Plain text of one line such that CommonMark and GitHub's Markdown show it unchanged, with
// backslashes only where they would not.
std::string EscapeMarkdownLine(std::string_view line);

// The same within a line: nothing is done to what matters at its start only.
std::string EscapeMarkdownSpan(std::string_view text);

// For the text of HTML elements.
std::string EscapeHtml(std::string_view text);

}  // namespace platen
