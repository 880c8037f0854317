// Lines of text in ALTO.
#pragma once

#include <string>
#include <vector>

#include "stages/formats/placed_page.h"
#include "stages/formats/reflow.h"
#include "stages/formats/xml_writer.h"

namespace platen {

// HPOS, VPOS, WIDTH and HEIGHT of a box, behind `attributes`.
XmlWriter::Attributes WithBox(XmlWriter::Attributes attributes, const PixelBox& box);

// The TextLine elements of the lines of one block, with identifiers that begin with `id`. A word
// that is parted by a hyphen at the end of a line is marked in both lines; `words`, of the page,
// judge hyphens.
void AddAltoLines(const std::vector<PlacedLine>& lines, const std::string& id,
                  const PageWords& words, XmlWriter& xml);

}  // namespace platen
