#include "apps/platen/commands/help/roff.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "apps/platen/cli/help.h"
#include "apps/platen/cli/text_blocks.h"

namespace platen {
namespace {

constexpr size_t kWidth = 79;

// Characters that roff or a terminal's font would take for others.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Lines of escaped text of which none is a request, whatever it begins with.
std::string Lines(const std::string& escaped) {
  std::string out;
  std::istringstream lines(escaped);
  for (std::string line; std::getline(lines, line);) {
    out += (line.starts_with('.') ? "\\&" : "") + line + "\n";
  }
  return out;
}

std::string Prose(const std::string& text) { return Lines(Wrapped(Escaped(text), 0, kWidth)); }

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

Roff::Roff(const std::string& name, const std::string& footer, const std::string& one_line) {
  out_ = ".TH \"" + Escaped(Upper(name)) + "\" 1 \"\" \"" + Escaped(footer) + "\" \"platen\"\n" +
         ".SH NAME\n" + Escaped(name) + " \\- " + Escaped(one_line) + "\n";
}

void Roff::StartParagraph() {
  // Headings start one themselves.
  const size_t line = out_.rfind('\n', out_.size() - 2) + 1;
  if (out_.compare(line, 3, ".SH") != 0 && out_.compare(line, 3, ".SS") != 0) out_ += ".PP\n";
}

void Roff::Section(const std::string& heading) { out_ += ".SH \"" + Escaped(heading) + "\"\n"; }

void Roff::Subsection(const std::string& heading) { out_ += ".SS \"" + Escaped(heading) + "\"\n"; }

void Roff::Paragraph(const std::string& text) {
  StartParagraph();
  out_ += Prose(text);
}

void Roff::Bold(const std::string& line) {
  StartParagraph();
  out_ += "\\fB" + Escaped(line) + "\\fR\n";
}

void Roff::AsItIs(const std::string& lines) {
  StartParagraph();
  out_ += ".nf\n" + Lines(Escaped(lines)) + ".fi\n";
}

void Roff::Item(const std::string& term, const std::string& value, const std::string& text) {
  out_ += ".TP\n\\fB" + Escaped(term) + "\\fR";
  if (!value.empty()) out_ += " \\fI" + Escaped(value) + "\\fR";
  out_ += "\n" + Prose(text);
}

void Roff::Blocks(const std::string& text) {
  for (const TextBlock& block : TextBlocks(text)) {
    if (block.as_it_is) {
      AsItIs(block.text);
    } else {
      Paragraph(block.text);
    }
  }
}

}  // namespace platen
