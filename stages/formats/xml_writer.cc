#include "stages/formats/xml_writer.h"

#include "model/support/utf8.h"

namespace platen {
namespace {

// Of one well-formed character.
bool IsXmlCharacter(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (first < 0x20) return first == '\t' || first == '\n' || first == '\r';
  return character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF";
}

// `replace`: what stands for an ASCII character; empty: the character itself.
template <typename Replace>
std::string Escape(std::string_view text, const Replace& replace) {
  std::string out;
  out.reserve(text.size());
  const std::string valid = ToValidUtf8(text);
  for (size_t at = 0; at < valid.size();) {
    const size_t length = WellFormedLength(std::string_view(valid).substr(at));
    const std::string_view character = std::string_view(valid).substr(at, length);
    const std::string_view escaped = replace(character[0]);
    if (!IsXmlCharacter(character)) {
      out += kReplacementCharacter;
    } else {
      out += escaped.empty() ? character : escaped;
    }
    at += length;
  }
  return out;
}

// A carriage return would be read as a line feed.
std::string_view InText(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\r':
      return "&#13;";
    default:
      return "";
  }
}

std::string_view InValue(char c) {
  switch (c) {
    case '"':
      return "&quot;";
    case '\t':
      return "&#9;";
    case '\n':
      return "&#10;";
    default:
      return InText(c);
  }
}

}  // namespace

std::string EscapeXmlText(std::string_view text) { return Escape(text, InText); }

std::string EscapeXmlValue(std::string_view value) { return Escape(value, InValue); }

void XmlWriter::Declare(std::string_view doctype) {
  out_ += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  if (!doctype.empty()) out_.append(doctype) += '\n';
}

void XmlWriter::Tag(std::string_view name, const Attributes& attributes) {
  out_.append(open_.size(), ' ');
  out_ += '<';
  out_ += name;
  for (const auto& [key, value] : attributes) {
    out_ += ' ';
    out_ += key;
    out_ += "=\"" + EscapeXmlValue(value) + "\"";
  }
}

void XmlWriter::Open(std::string_view name, const Attributes& attributes) {
  Tag(name, attributes);
  out_ += ">\n";
  open_.emplace_back(name);
}

void XmlWriter::Close() {
  const std::string name = std::move(open_.back());
  open_.pop_back();
  out_.append(open_.size(), ' ');
  out_ += "</" + name + ">\n";
}

void XmlWriter::CloseAll() {
  while (!open_.empty()) Close();
}

void XmlWriter::Leaf(std::string_view name, const Attributes& attributes, std::string_view text) {
  Tag(name, attributes);
  out_ += '>' + EscapeXmlText(text) + "</";
  out_ += name;
  out_ += ">\n";
}

void XmlWriter::Empty(std::string_view name, const Attributes& attributes) {
  Tag(name, attributes);
  out_ += "/>\n";
}

void XmlWriter::Comment(std::string_view text) {
  std::string safe;
  for (const char c : EscapeXmlText(text)) {
    if (c == '-' && safe.ends_with('-')) safe += ' ';
    safe += c;
  }
  out_.append(open_.size(), ' ');
  out_ += "<!-- " + safe + " -->\n";
}

}  // namespace platen
