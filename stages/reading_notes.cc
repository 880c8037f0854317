#include "stages/reading_notes.h"

#include <string>

#include "model/support/utf8.h"
#include "stages/formats/latex.h"
#include "stages/formats/table_html.h"
#include "stages/join_results.h"

namespace platen {
namespace {

std::string FaultOfMarkup(const RegionResult& region) {
  if (!region.lines.empty() || region.text.empty()) return "";
  std::string fault;
  if (region.syntax == TextSyntax::kHtml) {
    fault = FaultOfTableHtml(region.text);
    if (!fault.empty()) fault = "the HTML is no table in order: " + fault;
  } else if (region.syntax == TextSyntax::kLatex) {
    fault = FaultOfLatex(BareFormula(region.text));
    if (!fault.empty()) fault = "the LaTeX is not balanced: " + fault;
  }
  return fault;
}

size_t Undecoded(const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(kReplacementCharacter); at != std::string::npos;
       at = text.find(kReplacementCharacter, at + kReplacementCharacter.size())) {
    ++count;
  }
  return count;
}

}  // namespace

void AddReadingNotes(const ReadingConfig& reading, PageResult& page) {
  for (RegionResult& region : page.regions) {
    const auto note = [&](const std::string& text) { AddMissing(region.warnings, {text}); };
    const bool was_read = !region.text.empty() && !HasTextLayer(region);
    if (was_read && reading.Of(region.kind).read_as_text) {
      note("read as text: the model was not trained on a " +
           std::string(RegionKindName(region.kind)));
    }
    if (const std::string fault = FaultOfMarkup(region); !fault.empty()) note(fault);
    if (const size_t count = Undecoded(ToValidUtf8(region.text)); count > 0) {
      note(std::to_string(count) + (count == 1 ? " character" : " characters") +
           " could not be decoded (U+FFFD)");
    }
  }
}

}  // namespace platen
