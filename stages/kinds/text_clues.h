// What the text of a region says about its kind.
#pragma once

#include <string>
#include <string_view>

namespace platen {

// Small letters where the text has ASCII letters.
std::string LowerAscii(std::string_view text);

// "12", "- 12 -", "xiv", "Page 3 of 10", "3/10".
bool IsPageNumber(std::string_view text);

// "Fig. 3", "Table 12".
bool BeginsCaption(std::string_view text);

// What parts of a document are called, or their number: "Introduction", "2.3 Method", "Chapter 4".
bool BeginsSection(std::string_view text);

// A number, in brackets perhaps, a star or a dagger.
bool BeginsNote(std::string_view text);

// Four capitals and more, hardly anything else among them.
bool IsCapitals(std::string_view text);

// With a point, comma, semicolon, or a sign of exclamation or question.
bool EndsSentence(std::string_view text);

}  // namespace platen
