// The start of a web page that runs nothing and loads nothing.
#pragma once

#include <string>

#include "stages/formats/xml_writer.h"

namespace platen {

// Up to the start of the body, which stays open in `xml`. The page's policy allows its pictures and
// this style, by its hash, and nothing else.
std::string BeginHtmlPage(const std::string& title, const std::string& style, XmlWriter& xml);

}  // namespace platen
