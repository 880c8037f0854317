// Plain text as Markdown.
#pragma once

#include <string>
#include <string_view>

namespace platen {

// Plain text of one line such that CommonMark and GitHub's Markdown show it unchanged, with
// backslashes only where they would not.
std::string EscapeMarkdownLine(std::string_view line);

// The same for the text of a heading: nothing is done to what matters at the start of a line only.
std::string EscapeMarkdownHeading(std::string_view text);

// The same for a cell of a pipe table.
std::string EscapeMarkdownCell(std::string_view text);

// `text` with runs of more than three points, middle dots or low lines cut to three: leaders of
// tables of contents, blanks of forms.
std::string ShortenRuns(std::string_view text);

// For the text of HTML elements.
std::string EscapeHtml(std::string_view text);

}  // namespace platen
