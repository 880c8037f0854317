// .md: one paragraph per region; tables and formulas as the model writes them.
#pragma once

#include <string_view>

#include "stages/formats/document_writer.h"

namespace platen {

// Each page starts with the comment "<!-- page N -->", or "<!-- page N: why it failed or is
// doubtful -->". Text that was read line by line is plain text and is escaped; a region read as a
// whole is the model's own Markdown and is left as it is.
class MarkdownWriter : public DocumentWriter {
 public:
  std::string Begin(const DocumentInfo& info) override;
  std::string Page(const PageResult& page) override;
  std::string End() override;
};

// Plain text of one line such that CommonMark shows it unchanged.
std::string EscapeMarkdownLine(std::string_view line);

}  // namespace platen
