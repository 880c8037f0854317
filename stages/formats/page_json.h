// A page result as JSON and back: the pages of a document's .json, and the form in which finished
// pages of an unfinished document wait on disk.
//
// Coordinates are rounded to 0.1 pixel and probabilities to 0.0001 when written, so a page that
// went through a file and one that did not give the same outputs only if both go through it: they
// do.
#pragma once

#include <string>
#include <string_view>

#include "stages/formats/page_result.h"

namespace platen {

// Everything a page result holds, on one line, no line break inside or at the end. Keys in a fixed
// order.
std::string PageToJson(const PageResult& page);

// What a document's .json says of a page, indented for people, every line preceded by `indent`
// spaces. Without the tokens' probabilities and baselines. docs/schema/page-result.schema.json says
// what is in it.
std::string PageToPrettyJson(const PageResult& page, int indent);

// Inverse of PageToJson. Throws Error(kEnvironment) if the text is not such an object.
PageResult PageFromJson(std::string_view json);

}  // namespace platen
