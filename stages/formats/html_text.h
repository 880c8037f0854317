// The text of HTML that a model wrote.
#pragma once

#include <string>
#include <string_view>

namespace platen {

// `html` without its tags: rows and breaks end a line, cells are parted by tabs, the entities of
// markup and numbers of characters are resolved. Anything may be given: what is no tag or entity
// stays as it is; time and memory grow with its length.
std::string TextOfHtml(std::string_view html);

}  // namespace platen
