#include "stages/readers/poppler_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "model/support/utf8.h"

namespace platen {
namespace {

constexpr size_t kMostWords = 200'000;  // of a page
constexpr double kFarthest = 1e6;       // points

// A tag and what stands behind it, up to the next one. Text has no '<' of its own.
struct Tag {
  std::string_view name;  // "word", "/word"
  std::string_view attributes;
  std::string_view text;
};

std::optional<Tag> TakeTag(std::string_view& rest) {
  const size_t begin = rest.find('<');
  if (begin == std::string_view::npos) return std::nullopt;
  const size_t end = rest.find('>', begin);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = rest.substr(begin + 1, end - begin - 1);
  rest.remove_prefix(end + 1);
  const size_t space = std::min(inside.find(' '), inside.size());
  return Tag{inside.substr(0, space), inside.substr(space), rest.substr(0, rest.find('<'))};
}

// Of ` name="12.5"`.
std::optional<double> NumberOf(std::string_view attributes, const std::string& name) {
  const std::string label = " " + name + "=\"";
  const size_t at = attributes.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view value = attributes.substr(at + label.size());
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = error == std::errc() && end < value.data() + value.size() && *end == '"';
  if (!whole || !std::isfinite(number) || std::abs(number) > kFarthest) return std::nullopt;
  return number;
}

std::string Decoded(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string out;
  while (!text.empty()) {
    size_t length = 1;
    char character = text.front();
    for (const auto& [entity, meaning] : kEntities) {
      if (!text.starts_with(entity)) continue;
      length = entity.size();
      character = meaning;
    }
    const bool is_text = static_cast<unsigned char>(character) > ' ' && character != 0x7F;
    if (is_text) {
      out += character;
    } else {
      out += kReplacementCharacter;
    }
    text.remove_prefix(length);
  }
  return ToValidUtf8(out);
}

std::optional<LayerWord> WordOf(const Tag& tag) {
  const auto x0 = NumberOf(tag.attributes, "xMin"), x1 = NumberOf(tag.attributes, "xMax");
  const auto y0 = NumberOf(tag.attributes, "yMin"), y1 = NumberOf(tag.attributes, "yMax");
  if (!x0 || !x1 || !y0 || !y1 || *x0 > *x1 || *y0 > *y1) return std::nullopt;
  return LayerWord{Decoded(tag.text), *x0, *y0, *x1, *y1, 0, 0};
}

}  // namespace

std::map<int, std::vector<LayerWord>> WordsFromPdfToText(std::string_view text, int first_page) {
  std::map<int, std::vector<LayerWord>> pages;
  int page = first_page - 1, line = 0, block = 0;
  bool sound = true;
  while (const auto tag = TakeTag(text)) {
    if (tag->name == "page") {
      pages[++page];
      line = block = 0;
      sound = true;
    }
    if (page < first_page) continue;  // the title
    if (tag->name == "block") ++block;
    if (tag->name == "line") ++line;
    if (tag->name != "word" || !sound) continue;
    std::optional<LayerWord> word = WordOf(*tag);
    sound = word && text.substr(tag->text.size()).starts_with("</word>") &&
            pages[page].size() < kMostWords;
    if (!sound) {
      pages[page].clear();
    } else if (!word->text.empty()) {
      word->line = line;
      word->block = block;
      pages[page].push_back(std::move(*word));
    }
  }
  return pages;
}

}  // namespace platen
