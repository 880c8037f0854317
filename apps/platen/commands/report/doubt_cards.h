// The doubtful pages in a report: each a card with its picture and the places of its lines.
#pragma once

#include <cstdint>
#include <string>

#include "apps/platen/commands/report/report_page.h"
#include "stages/formats/xml_writer.h"

namespace platen {

// "a.tif, page 3"; page 0 is the document.
std::string PageName(const std::string& document, int64_t page);

// Nothing if there are none.
void WriteDoubts(const ReportFacts& facts, XmlWriter& xml);

}  // namespace platen
