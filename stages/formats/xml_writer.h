// XML that is well formed whatever text is put into it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace platen {

// For the text of elements and for values in double quotes: markup is escaped, bytes that are not
// UTF-8 and characters that XML 1.0 does not know (controls, U+FFFE, U+FFFF) become U+FFFD. Tabs
// and line breaks are kept; in values as character references, which survive normalisation.
std::string EscapeXmlText(std::string_view text);
std::string EscapeXmlValue(std::string_view value);

// Elements, indented by a space for each level. What is open stays open over Take, so that a
// document can be handed out in parts. Names of elements and attributes are the caller's own and
// are not checked. Not thread-safe.
class XmlWriter {
 public:
  using Attribute = std::pair<std::string_view, std::string>;
  using Attributes = std::vector<Attribute>;

  // The XML declaration, and `doctype` on a line of its own if it is not empty.
  void Declare(std::string_view doctype = {});
  void Open(std::string_view name, const Attributes& attributes = {});
  void Close();  // the innermost open element
  void CloseAll();
  // <name …>text</name> on one line, also without text.
  void Leaf(std::string_view name, const Attributes& attributes, std::string_view text);
  // <name …/>
  void Empty(std::string_view name, const Attributes& attributes);
  // "--" within becomes "- -".
  void Comment(std::string_view text);

  // What was written since the last call.
  std::string Take() { return std::exchange(out_, std::string()); }

 private:
  void Tag(std::string_view name, const Attributes& attributes);

  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace platen
