#include "stages/formats/pdf_content.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace platen {
namespace {

constexpr std::string_view kSpaces = std::string_view("\0\t\n\f\r ", 6);
constexpr std::string_view kDelimiters = "()<>[]{}/%";

bool IsSpace(char c) { return kSpaces.find(c) != std::string_view::npos; }
bool IsRegular(char c) { return !IsSpace(c) && kDelimiters.find(c) == std::string_view::npos; }

// A token with its place. Strings, names and brackets are operands, as numbers are.
struct Token {
  enum class Kind { kOperand, kOperator, kBroken, kEnd };
  Kind kind = Kind::kEnd;
  size_t begin = 0;
  std::string_view text = {};
};

// Operands that are no numbers and look like operators.
bool IsKeyword(std::string_view text) {
  return text == "true" || text == "false" || text == "null";
}

class Lexer {
 public:
  explicit Lexer(std::string_view content) : content_(content) {}

  Token Next() {
    SkipSpaces();
    const size_t begin = at_;
    if (begin == content_.size()) return {Token::Kind::kEnd, begin};
    const char c = content_[at_];
    bool whole = true;
    if (c == '(') {
      whole = SkipString();
    } else if (c == '<' && Peek(1) != '<') {
      const size_t end = content_.find('>', at_);
      whole = end != std::string_view::npos;
      at_ = whole ? end + 1 : content_.size();
    } else if (c == '/') {
      ++at_;
      SkipRegular();
    } else if (c == '<' || (c == '>' && Peek(1) == '>')) {
      at_ += 2;
    } else if (c == '[' || c == ']') {
      ++at_;
    } else if (IsRegular(c)) {
      SkipRegular();
      return Word(begin);
    } else {
      whole = false;
    }
    return Made(whole ? Token::Kind::kOperand : Token::Kind::kBroken, begin);
  }

  // After the operator ID: over the data of an inline image and the operator EI.
  bool SkipInlineImage() {
    for (size_t found = at_; (found = content_.find("EI", found)) != std::string_view::npos;
         ++found) {
      const size_t end = found + 2;
      const bool parted =
          IsSpace(content_[found - 1]) && (end == content_.size() || IsSpace(content_[end]));
      if (!parted || !LooksLikeContent(content_.substr(end, 24))) continue;
      at_ = end;
      return true;
    }
    return false;
  }

 private:
  Token Made(Token::Kind kind, size_t begin) const {
    return {kind, begin, content_.substr(begin, at_ - begin)};
  }

  Token Word(size_t begin) const {
    const std::string_view text = content_.substr(begin, at_ - begin);
    const bool is_number =
        std::string_view("+-.0123456789").find(text[0]) != std::string_view::npos;
    return Made(is_number || IsKeyword(text) ? Token::Kind::kOperand : Token::Kind::kOperator,
                begin);
  }

  char Peek(size_t ahead) const {
    return at_ + ahead < content_.size() ? content_[at_ + ahead] : '\0';
  }

  void SkipSpaces() {
    while (at_ < content_.size()) {
      if (IsSpace(content_[at_])) {
        ++at_;
      } else if (content_[at_] == '%') {
        at_ = std::min(content_.find_first_of("\r\n", at_), content_.size());
      } else {
        return;
      }
    }
  }

  void SkipRegular() {
    while (at_ < content_.size() && IsRegular(content_[at_])) ++at_;
  }

  bool SkipString() {
    int64_t depth = 0;
    for (; at_ < content_.size(); ++at_) {
      const char c = content_[at_];
      if (c == '\\') {
        ++at_;
      } else if (c == '(') {
        ++depth;
      } else if (c == ')' && --depth == 0) {
        ++at_;
        return true;
      }
    }
    at_ = content_.size();
    return false;
  }

  static bool LooksLikeContent(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return (c > ' ' && c <= '~') || (c != '\0' && IsSpace(c)); });
  }

  std::string_view content_;
  size_t at_ = 0;
};

class Removal {
 public:
  Removal(std::string_view content, int mode) : content_(content), lexer_(content), mode_(mode) {}

  std::optional<ContentWithoutText> Run() {
    std::vector<Token> operands;
    for (;;) {
      const Token token = lexer_.Next();
      if (token.kind == Token::Kind::kBroken) return std::nullopt;
      if (token.kind == Token::Kind::kOperand) {
        operands.push_back(token);
        continue;
      }
      if (token.kind == Token::Kind::kEnd) break;
      if (!Apply(token, operands)) return std::nullopt;
      operands.clear();
    }
    Keep(content_.size());
    return std::move(result_);
  }

 private:
  // False: give up.
  bool Apply(const Token& op, const std::vector<Token>& operands) {
    const std::string_view name = op.text;
    if (name == "q") return Save();
    if (name == "Q") return Restore();
    if (name == "Tr") return SetMode(operands);
    if (name == "Do") return Draw(operands);
    if (name == "ID") return lexer_.SkipInlineImage();
    if (name == "Tj" || name == "TJ" || name == "'" || name == "\"") return Show(op, operands);
    if (name == "BT" || name == "Td" || name == "TD" || name == "Tm" || name == "T*") {
      displaced_ = false;
    }
    return true;
  }

  bool Save() {
    constexpr size_t kMostSaved = 10'000;
    saved_.push_back(mode_);
    return saved_.size() < kMostSaved;
  }

  // More often than saved: programs go on without.
  bool Restore() {
    if (saved_.empty()) return true;
    mode_ = saved_.back();
    saved_.pop_back();
    return true;
  }

  bool SetMode(const std::vector<Token>& operands) {
    if (operands.empty()) return false;
    const std::string_view text = operands.back().text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode_);
    return error == std::errc() && end == text.data() + text.size() && mode_ >= 0 && mode_ <= 7;
  }

  bool Draw(const std::vector<Token>& operands) {
    if (operands.empty()) return false;
    const auto [known, is_new] = result_.drawn.emplace(std::string(operands.back().text), mode_);
    return is_new || known->second == mode_;
  }

  // Text moves what follows it, unless that begins by saying where it stands.
  bool Show(const Token& op, const std::vector<Token>& operands) {
    const bool next_line = op.text == "'" || op.text == "\"";
    if (next_line) displaced_ = false;
    if (mode_ != kInvisibleText) {
      result_.other_text = true;
      return !displaced_;
    }
    const size_t count = op.text == "\"" ? 3 : 1;
    if (operands.size() < count) return false;
    result_.removed = true;
    displaced_ = true;
    Keep(operands.front().begin);
    if (count == 3) {
      const size_t first = operands.size() - 3;
      result_.content += " " + std::string(operands[first].text) + " Tw " +
                         std::string(operands[first + 1].text) + " Tc";
    }
    if (next_line) result_.content += " T*";
    kept_ = op.begin + op.text.size();
    return true;
  }

  void Keep(size_t end) {
    result_.content += content_.substr(kept_, end - kept_);
    kept_ = end;
  }

  std::string_view content_;
  Lexer lexer_;
  int mode_;
  std::vector<int> saved_;
  bool displaced_ = false;  // by text that was removed
  size_t kept_ = 0;         // what stands before is in the result or removed
  ContentWithoutText result_;
};

}  // namespace

std::optional<ContentWithoutText> WithoutInvisibleText(std::string_view content, int mode) {
  return Removal(content, mode).Run();
}

}  // namespace platen
