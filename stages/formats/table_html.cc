#include "stages/formats/table_html.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

namespace platen {
namespace {

constexpr int kMostSpan = 1000;  // as in HTML
constexpr size_t kMostColumns = 1000;

constexpr std::array<std::string_view, 20> kInCells = {
    "a", "b",     "br",   "code",   "del", "div", "em", "i", "li", "ol",
    "p", "small", "span", "strong", "sub", "sup", "s",  "u", "ul", "font"};
constexpr std::array<std::string_view, 10> kOfTables = {
    "table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th"};
constexpr std::array<std::string_view, 2> kVoid = {"br", "col"};

template <size_t kCount>
bool Has(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

struct Attribute {
  std::string name, value;
};

struct Tag {
  std::string name;  // small letters
  bool closes = false;
  std::vector<Attribute> attributes;
};

// Reads tags from the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // The next tag; nothing: the text has ended, or `cut` says that it ends within one.
  std::optional<Tag> Next() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] != '<') continue;
      if (text_.substr(at_).starts_with("<!--")) {
        const size_t end = text_.find("-->", at_ + 4);
        if (end == std::string_view::npos) return Cut();
        at_ = end + 2;
        continue;
      }
      const bool closes = Peek(1) == '/';
      if (!IsLetter(Peek(closes ? 2 : 1))) continue;  // a sign
      at_ += closes ? 2 : 1;
      return ReadTag(closes);
    }
    return std::nullopt;
  }

  bool cut() const { return cut_; }

 private:
  char Peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::optional<Tag> Cut() {
    at_ = text_.size();
    cut_ = true;
    return std::nullopt;
  }

  // From the tag's name on.
  std::optional<Tag> ReadTag(bool closes) {
    Tag tag;
    tag.closes = closes;
    tag.name = Lower(Word());
    while (true) {
      while (at_ < text_.size() && (IsSpace(text_[at_]) || text_[at_] == '/')) ++at_;
      if (at_ >= text_.size() || text_[at_] == '<') return Cut();
      if (text_[at_] == '>') break;
      Attribute attribute;
      attribute.name = Lower(Word());
      if (Peek(0) == '=') {
        ++at_;
        attribute.value = Value();
      }
      tag.attributes.push_back(std::move(attribute));
    }
    ++at_;
    return tag;
  }

  std::string_view Word() {
    const size_t begin = at_++;
    while (at_ < text_.size() && !IsSpace(text_[at_]) &&
           std::string_view("=/><").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  std::string Value() {
    const char quote = Peek(0);
    if (quote != '"' && quote != '\'') return quote == '>' ? "" : std::string(Word());
    const size_t begin = ++at_;
    const size_t end = text_.find(quote, begin);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    return std::string(text_.substr(begin, end == std::string_view::npos ? end : end - begin));
  }

  std::string_view text_;
  size_t at_ = 0;
  bool cut_ = false;
};

// The rows and columns that cells take. Members say what is wrong, or nothing.
class Grid {
 public:
  void BeginRow() {
    ++rows_;
    column_ = 0;
  }

  std::string AddCell(int row_span, int column_span) {
    while (column_ < free_from_.size() && free_from_[column_] >= rows_) ++column_;
    const size_t end = column_ + static_cast<size_t>(column_span);
    if (end > kMostColumns) return "has more than 1000 columns";
    if (free_from_.size() < end) free_from_.resize(end, 0);
    for (; column_ < end; ++column_) {
      if (free_from_[column_] >= rows_) return "has cells that lie on one another";
      free_from_[column_] = rows_ + row_span - 1;
    }
    return "";
  }

  std::string Finish() const {
    if (rows_ == 0) return "has no row";
    const bool beyond =
        std::any_of(free_from_.begin(), free_from_.end(), [&](int last) { return last > rows_; });
    return beyond ? "has a rowspan beyond its last row" : "";
  }

 private:
  int rows_ = 0;                // begun
  size_t column_ = 0;           // where the next cell may begin
  std::vector<int> free_from_;  // by column: the last row that is taken
};

// The number from 1 to kMostSpan; 0: it is none.
int SpanOf(const Tag& tag, std::string_view name) {
  for (const Attribute& attribute : tag.attributes) {
    if (attribute.name != name) continue;
    const std::string& value = attribute.value;
    const bool digits = !value.empty() && value.size() <= 4 &&
                        value.find_first_not_of("0123456789") == std::string::npos;
    const int span = digits ? std::stoi(value) : 0;
    return span <= kMostSpan ? span : 0;
  }
  return 1;
}

class Checker {
 public:
  std::string Check(std::string_view html) {
    Scanner scanner(html);
    bool has_table = false;
    while (const std::optional<Tag> tag = scanner.Next()) {
      has_table = has_table || tag->name == "table";
      if (const std::string fault = tag->closes ? Close(*tag) : Open(*tag); !fault.empty()) {
        return fault;
      }
    }
    if (scanner.cut()) return "ends within a tag";
    if (!open_.empty()) return "<" + open_.back() + "> is not closed";
    return has_table ? "" : "has no <table>";
  }

 private:
  bool Within(std::string_view name) const { return !open_.empty() && open_.back() == name; }

  // Whether the tag may stand where it does.
  bool HasPlace(const std::string& name) const {
    if (name == "table") return open_.empty() || !Has(kOfTables, open_.back());
    if (name == "td" || name == "th") return Within("tr");
    if (name == "tr") {
      return Within("table") || Within("thead") || Within("tbody") || Within("tfoot");
    }
    if (name == "col") return Within("colgroup") || Within("table");
    if (Has(kOfTables, name)) return Within("table");
    return open_.empty() || Within("td") || Within("th") || Within("caption") ||
           Has(kInCells, open_.back());
  }

  std::string Open(const Tag& tag) {
    const std::string& name = tag.name;
    if (!Has(kOfTables, name) && !Has(kInCells, name)) {
      return "<" + name.substr(0, 20) + "> is no part of a table";
    }
    if (name == "table" && in_table_) return "has a table within a table";
    if (!HasPlace(name)) {
      return "<" + name + "> stands " + (open_.empty() ? "alone" : "in <" + open_.back() + ">");
    }
    if (name == "table") {
      in_table_ = true;
      grid_ = Grid();
    }
    if (name == "tr") grid_.BeginRow();
    if (name == "td" || name == "th") {
      const int rows = SpanOf(tag, "rowspan"), columns = SpanOf(tag, "colspan");
      if (rows == 0 || columns == 0) return "has a span that is no number from 1 to 1000";
      if (std::string fault = grid_.AddCell(rows, columns); !fault.empty()) return fault;
    }
    if (!Has(kVoid, name)) open_.push_back(name);
    return "";
  }

  std::string Close(const Tag& tag) {
    if (Has(kVoid, tag.name)) return "";
    if (!Within(tag.name)) {
      if (open_.empty()) return "</" + tag.name.substr(0, 20) + "> closes nothing";
      return "<" + open_.back() + "> is not closed";
    }
    open_.pop_back();
    if (tag.name != "table") return "";
    in_table_ = false;
    return grid_.Finish();
  }

  std::vector<std::string> open_;
  bool in_table_ = false;
  Grid grid_;
};

}  // namespace

std::string FaultOfTableHtml(std::string_view html) { return Checker().Check(html); }

}  // namespace platen
