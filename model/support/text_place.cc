#include "model/support/text_place.h"

namespace platen {

TextPlace PlaceOf(std::string_view text, size_t offset) {
  TextPlace place;
  for (const char c : text.substr(0, offset)) {
    const bool continues_character = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (c == '\n') {
      ++place.line;
      place.column = 1;
    } else if (!continues_character) {
      ++place.column;
    }
  }
  return place;
}

}  // namespace platen
