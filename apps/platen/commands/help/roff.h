// A man page in the language of roff, in the part of it that man(7) describes.
#pragma once

#include <string>

namespace platen {

class Roff {
 public:
  // `name`: "platen"; `footer`: what stands at the end of the page; `one_line`: what it is for.
  Roff(const std::string& name, const std::string& footer, const std::string& one_line);

  void Section(const std::string& heading);
  void Subsection(const std::string& heading);
  void Paragraph(const std::string& text);  // wrapped
  void Bold(const std::string& line);       // a line of its own
  void AsItIs(const std::string& lines);
  // An entry of a list: `term` in bold, `value` after it in italics, and what they mean.
  void Item(const std::string& term, const std::string& value, const std::string& text);
  // A text of CommandSpec.
  void Blocks(const std::string& text);

  const std::string& text() const { return out_; }

 private:
  void StartParagraph();

  std::string out_;
};

}  // namespace platen
