// Regions in PAGE.
#pragma once

#include <string>

#include "stages/formats/placed_page.h"
#include "stages/formats/xml_writer.h"

namespace platen {

// The element of a region with all that is in it. Text stands in TextRegions: in those of tables,
// pictures and formulas as regions within, of tables one for each cell. `id` begins the identifiers
// of what is within.
void AddPageXmlRegion(const PlacedRegion& region, const std::string& id, XmlWriter& xml);

}  // namespace platen
