#include "stages/readers/poppler_output.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace platen {
namespace {

constexpr size_t kMaxReasonBytes = 200;

// What follows `label` on the last line that starts with it; pdfinfo prints titles and the like,
// which are the author's, before the facts.
std::optional<std::string_view> FindValue(std::string_view text, std::string_view label) {
  std::optional<std::string_view> found;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(label)) found = line.substr(label.size());
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return found;
}

// The finite number at the start of `text`, after spaces, which is shortened by it; 0 if there is
// none.
double TakeNumber(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return 0;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

}  // namespace

std::string FirstLine(std::string_view text) {
  text = text.substr(0, std::min(text.find('\n'), kMaxReasonBytes));
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; }, '?');
  return line;
}

std::string PopplerComplaint(std::string_view errors) {
  constexpr std::string_view kLabel = " Error";
  const size_t label = errors.find(kLabel);
  if (label == std::string_view::npos) return FirstLine(errors);
  const size_t line = errors.rfind('\n', label) + 1;  // npos + 1 is 0
  const size_t colon = errors.find(": ", label);
  const bool is_label = colon < errors.find('\n', label);
  return FirstLine(errors.substr(is_label ? colon + 2 : line));
}

double PagesFromPdfInfo(std::string_view info) {
  std::string_view value = FindValue(info, "Pages:").value_or("");
  return TakeNumber(value);
}

std::map<int, PagePoints> PageSizesFromPdfInfo(std::string_view info, int first_page,
                                               int last_page) {
  std::map<int, PagePoints> sizes;
  for (int page = first_page; page <= last_page; ++page) {
    // "Page    7 size:  595.28 x 841.89 pts (A4)"
    const std::string number = std::to_string(page);
    const std::string padding(4 - std::min<size_t>(4, number.size()), ' ');
    auto size = FindValue(info, "Page " + padding + number + " size:");
    if (!size) continue;
    const double width = TakeNumber(*size);
    if (size->starts_with(" x")) size->remove_prefix(2);
    const double height = TakeNumber(*size);
    sizes[page] = {std::max(width, 0.0), std::max(height, 0.0)};
  }
  return sizes;
}

ImageSize PixelsOf(const PagePoints& size, double dpi) {
  const double scale = dpi / kPointsPerInch;
  const auto pixels = [scale](double points) {
    return static_cast<int64_t>(std::clamp(std::ceil(points * scale), 0.0, double{INT32_MAX}));
  };
  return {pixels(size.width), pixels(size.height)};
}

size_t PpmBytes(std::string_view head) {
  constexpr std::string_view kMagic = "P6\n";
  constexpr std::string_view kLevels = "255\n";
  const size_t whole = head.size();
  if (!head.starts_with(kMagic)) return 0;
  head.remove_prefix(kMagic.size());
  int64_t pixels = 1;
  for (const char end : {' ', '\n'}) {
    int64_t side = 0;
    const auto [at, error] = std::from_chars(head.data(), head.data() + head.size(), side);
    head.remove_prefix(static_cast<size_t>(at - head.data()));
    if (error != std::errc() || side < 1 || side > INT32_MAX) return 0;
    if (pixels > INT64_MAX / 4 / side || !head.starts_with(end)) return 0;
    pixels *= side;
    head.remove_prefix(1);
  }
  if (!head.starts_with(kLevels)) return 0;
  return whole - head.size() + kLevels.size() + static_cast<size_t>(pixels) * 3;
}

RenderProgress ProgressOf(std::string_view errors, int first_page) {
  RenderProgress progress;
  for (size_t end; (end = errors.find('\n')) != std::string_view::npos;) {
    // "3 16 ": the page, the last page, no file's name.
    const std::string start = std::to_string(first_page + progress.num_done) + " ";
    const std::string_view line = errors.substr(0, end);
    progress.is_silent = line.starts_with(start) && line.ends_with(' ') &&
                         line.find_first_not_of("0123456789 ") == std::string_view::npos;
    if (!progress.is_silent) break;
    ++progress.num_done;
    errors.remove_prefix(end + 1);
  }
  return progress;
}

}  // namespace platen
