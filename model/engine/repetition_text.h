// What a repeated piece of text is made of.
#pragma once

#include <string_view>

namespace platen {

// Leaders (dots, rules, spaces) and the markup of an empty table repeat in good text, too.
enum class UnitKind {
  kText,
  kLeader,  // leader characters and spaces
  kCells,   // markup of table cells and white space
  kRows,    // the same with an end of a row
};

// `unit` is one period of a text, in UTF-8: it may begin and end anywhere, within a tag or a
// character, and is of the same kind wherever it begins. Any bytes are allowed.
UnitKind ClassifyUnit(std::string_view unit);

}  // namespace platen
