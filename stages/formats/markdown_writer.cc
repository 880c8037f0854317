#include "stages/formats/markdown_writer.h"

#include <utility>

#include "model/support/utf8.h"
#include "stages/formats/list_mark.h"
#include "stages/formats/markdown_blocks.h"
#include "stages/formats/reflow.h"

namespace platen {
namespace {

// ": reason", such that it cannot end the comment it stands in.
std::string CommentText(const std::string& reason) {
  if (reason.empty()) return "";
  std::string text = ": " + ToValidUtf8(reason);
  for (char& c : text) {
    if (c == '>' || c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

// Why the page is empty, or what speaks against its text.
std::string RemarkOn(const PageResult& page) {
  if (!page.error.empty()) return page.error;
  std::string remark;
  for (const Doubt& doubt : page.doubts) {
    remark += (remark.empty() ? "doubtful: " : "; ") + doubt.text;
  }
  return remark;
}

bool IsOf(RegionKind kind, const RegionResult* region) {
  return region != nullptr && region->kind == kind;
}

// Markdown takes the number of a list's first item and counts on from there.
bool WouldBeCountedOtherwise(const RegionResult* above, const RegionResult& item) {
  if (!IsOf(RegionKind::kListItem, above) || !IsOf(RegionKind::kListItem, &item)) return false;
  const ListMark a = FindListMark(above->text), b = FindListMark(item.text);
  if (a.kind != ListMark::Kind::kNumber || b.kind != ListMark::Kind::kNumber) return false;
  const bool same_sign = above->text[a.bytes - 2] == item.text[b.bytes - 2];
  return same_sign && std::stoi(above->text) + 1 != std::stoi(item.text);
}

}  // namespace

bool MarkdownWriter::IsKept(const RegionResult& region) const {
  switch (region.kind) {
    case RegionKind::kHeader:
      return options_.keep_headers;
    case RegionKind::kFooter:
      return options_.keep_footers;
    case RegionKind::kPageNumber:
      return options_.keep_page_numbers;
    case RegionKind::kFootnote:
      return options_.keep_footnotes;
    default:
      return true;
  }
}

std::vector<const RegionResult*> MarkdownWriter::KeptOf(const PageResult& page) const {
  std::vector<const RegionResult*> kept;
  for (const RegionResult& region : page.regions) {
    const bool shown = !region.text.empty() || !region.image.empty();
    if (shown && IsKept(region)) kept.push_back(&region);
  }
  return kept;
}

std::string MarkdownWriter::Begin(const DocumentInfo&) { return ""; }

std::string MarkdownWriter::Page(const PageResult& page) {
  std::string out =
      "<!-- page " + std::to_string(page.page) + CommentText(RemarkOn(page)) + " -->\n\n";
  const PageWords words(page);
  const std::vector<const RegionResult*> regions = KeptOf(page);
  const RegionResult* above = nullptr;
  std::string block;
  bool in_list = false;
  for (size_t i = 0; i < regions.size(); ++i) {
    const RegionResult& region = *regions[i];
    const RegionResult* next = i + 1 < regions.size() ? regions[i + 1] : nullptr;
    const bool numbered =
        IsOf(RegionKind::kFormula, &region) && IsOf(RegionKind::kFormulaNumber, next);
    BlockContext context;
    if (numbered) context.formula_number = next->text;
    context.number_is_text = WouldBeCountedOtherwise(above, region);
    const bool item = IsOf(RegionKind::kListItem, &region) && !context.number_is_text;
    std::string next_block = MarkdownBlock(page, region, words, context);
    if (above != nullptr && GoesOnIn(*above, region)) {
      out.resize(out.size() - block.size());
      next_block = JoinLines(block, next_block, words);
    } else if (i > 0) {
      out += in_list && item ? "\n" : "\n\n";
    }
    block = std::move(next_block);
    out += block;
    in_list = item;
    above = &region;
    if (numbered) ++i;
  }
  if (!regions.empty()) out += "\n\n";
  return out;
}

std::string MarkdownWriter::End() { return ""; }

}  // namespace platen
