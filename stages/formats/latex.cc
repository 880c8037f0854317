#include "stages/formats/latex.h"

#include <cctype>
#include <vector>

namespace platen {
namespace {

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  std::string Check() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      std::string fault;
      if (c == '\\') {
        fault = Command();
      } else if (c == '{') {
        open_.emplace_back("{");
      } else if (c == '}') {
        fault = Close("{", "}");
      } else if (c == '$') {
        fault = "has a $ within";
      }
      if (!fault.empty()) return fault;
    }
    return open_.empty() ? "" : open_.back() + " is not closed";
  }

 private:
  // What follows a backslash: letters, or one sign.
  std::string_view Name() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsLetter(text_[at_])) ++at_;
    if (at_ == begin && at_ < text_.size()) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string Command() {
    const std::string_view name = Name();
    if (name.empty()) return "ends with a backslash";
    if (name == "left") {
      open_.emplace_back("\\left");
      return Delimiter();
    }
    if (name == "right") {
      const std::string fault = Close("\\left", "\\right");
      return fault.empty() ? Delimiter() : fault;
    }
    if (name != "begin" && name != "end") return "";
    const std::string environment = Environment();
    if (environment.empty()) return "has a \\" + std::string(name) + " without a name";
    const std::string begin = "\\begin{" + environment + "}";
    if (name == "end") return Close(begin, "\\end{" + environment + "}");
    open_.push_back(begin);
    return "";
  }

  // The bracket after \left or \right: a sign or a command.
  std::string Delimiter() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    if (at_ == text_.size()) return "ends before a bracket";
    const char c = text_[at_];
    if (c == '{' || c == '}' || c == '$') return "has no bracket after \\left or \\right";
    ++at_;
    if (c == '\\' && Name().empty()) return "ends with a backslash";
    return "";
  }

  // "{name}"; empty: it is none.
  std::string Environment() {
    constexpr size_t kLongest = 40;
    if (at_ >= text_.size() || text_[at_] != '{') return "";
    const size_t end = text_.find('}', at_);
    if (end == std::string_view::npos || end - at_ - 1 > kLongest) return "";
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    for (const char c : name) {
      if (!IsLetter(c) && c != '*') return "";
    }
    at_ = end + 1;
    return std::string(name);
  }

  std::string Close(const std::string& begin, const std::string& end) {
    if (open_.empty()) return end + " closes nothing";
    if (open_.back() != begin) return open_.back() + " is not closed";
    open_.pop_back();
    return "";
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<std::string> open_;
};

}  // namespace

std::string_view BareFormula(std::string_view latex) {
  std::string_view text = Trimmed(latex);
  const auto strip = [&](std::string_view begin, std::string_view end) {
    if (text.size() < begin.size() + end.size()) return false;
    if (!text.starts_with(begin) || !text.ends_with(end)) return false;
    text = Trimmed(text.substr(begin.size(), text.size() - begin.size() - end.size()));
    return true;
  };
  static_cast<void>(strip("$$", "$$") || strip("\\[", "\\]") || strip("\\(", "\\)") ||
                    strip("$", "$"));
  return text;
}

std::string FaultOfLatex(std::string_view bare) { return Checker(bare).Check(); }

}  // namespace platen
