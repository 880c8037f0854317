// Where something stands in a text, as editors count.
#pragma once

#include <cstddef>
#include <string_view>

namespace platen {

// Both count from 1; columns count characters of UTF-8, not bytes.
struct TextPlace {
  int line = 1;
  int column = 1;
};

// The place of the byte at `offset`; of the end if the text is shorter.
TextPlace PlaceOf(std::string_view text, size_t offset);

}  // namespace platen
