#include "stages/formats/text_writer.h"

#include <algorithm>
#include <utility>

#include "model/support/utf8.h"
#include "stages/formats/reflow.h"

namespace platen {
namespace {

// The region's text with each paragraph on one line. Rows and code keep their lines, and so does
// what was read as a whole: the model has set them.
std::string Reflowed(const PageResult& page, const RegionResult& region, const PageWords& words) {
  if (region.lines.empty() || region.table || region.kind == RegionKind::kCode) return region.text;
  std::vector<std::string> lines = Reflow(region, RightEdge(page, region), words);
  const bool one_line = region.kind == RegionKind::kTitle || region.kind == RegionKind::kHeading ||
                        region.kind == RegionKind::kListItem;
  if (one_line) lines = {OnOneLine(lines)};
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace

std::string TextWriter::Begin(const DocumentInfo&) {
  first_page_ = true;
  return "";
}

std::string TextWriter::Page(const PageResult& page) {
  std::string out = first_page_ ? "" : "\f";
  first_page_ = false;
  const PageWords words(page);
  const RegionResult* above = nullptr;
  std::string text;  // of the region above
  for (const RegionResult& region : page.regions) {
    if (region.text.empty()) continue;
    std::string next = ToValidUtf8(options_.reflow ? Reflowed(page, region, words) : region.text);
    std::replace(next.begin(), next.end(), '\f', ' ');
    if (options_.reflow && above != nullptr && GoesOnIn(*above, region)) {
      out.resize(out.size() - text.size() - 1);
      next = JoinLines(text, next, words);
    } else if (above != nullptr) {
      out += '\n';
    }
    above = &region;
    text = std::move(next);
    out += text + '\n';
  }
  return out;
}

std::string TextWriter::End() { return ""; }

}  // namespace platen
