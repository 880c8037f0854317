#include "apps/platen/commands/ocr/reading_settings.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "apps/platen/cli/option_values.h"
#include "model/support/error.h"
#include "model/support/mapped_file.h"

namespace platen {

namespace {

constexpr size_t kMaxPasswordBytes = 1 << 20;

}  // namespace

// A line each, as it is but for a carriage return at its end.
std::vector<std::string> PasswordsFrom(const std::string& path) {
  if (path.empty()) return {};
  std::istringstream lines(
      WithErrorKind(ErrorKind::kUsage, [&] { return ReadSmallFile(path, kMaxPasswordBytes); }));
  std::vector<std::string> passwords;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) passwords.push_back(line);
  }
  if (passwords.empty()) throw Error(ErrorKind::kUsage, {path, ""}, "has no password in it");
  return passwords;
}

int PdfDpiFrom(const std::string& value) {
  constexpr double kLeast = 1, kMost = 2400;
  if (value == "auto") return kScanDpi;
  return static_cast<int>(std::clamp(NumberOf(value), kLeast, kMost));
}

ReadLimits ReadLimitsFrom(const Settings& settings) {
  ReadLimits limits;
  limits.max_pixels = settings.Integer("max-pixels");
  limits.composite_alpha_on_white = settings.Flag("composite-alpha");
  limits.pdf_dpi = PdfDpiFrom(settings.Text("dpi"));
  limits.pdf_passwords = PasswordsFrom(settings.Text("password-file"));
  return limits;
}

std::unique_ptr<DocumentReader> OpenAsRead(const std::string& path,
                                           const std::vector<DocumentSetting>& settings,
                                           const std::vector<std::string>& passwords) {
  ReadLimits limits;
  limits.pdf_passwords = passwords;
  for (const DocumentSetting& setting : settings) {
    if (setting.name == "dpi") limits.pdf_dpi = PdfDpiFrom(setting.value);
    if (setting.name == "max_pixels") {
      limits.max_pixels = std::max<int64_t>(1, std::atoll(setting.value.c_str()));
    }
    if (setting.name == "composite_alpha")
      limits.composite_alpha_on_white = setting.value == "true";
  }
  return DocumentReader::Open(path, limits);
}

std::vector<PageRange> PagesFrom(const Settings& settings) {
  const std::string& pages = settings.Text("pages");
  return pages.empty() ? std::vector<PageRange>() : ParsePageRanges(pages);
}

TextLayerUse TextLayerFrom(const std::string& value, const std::string& task) {
  if (value == "use") return TextLayerUse::kUse;
  const bool is_text = task.empty() || task == "text";
  return value == "auto" && is_text ? TextLayerUse::kAuto : TextLayerUse::kIgnore;
}

Granularity GranularityFrom(const Settings& settings, const ReadingConfig& reading) {
  const std::string& name = settings.Text("granularity");
  Granularity chosen = reading.granularity;
  for (const auto granularity : {Granularity::kLine, Granularity::kBlock, Granularity::kPage}) {
    if (name == GranularityName(granularity)) chosen = granularity;
  }
  const bool untrained = reading.states_granularity && chosen != reading.granularity;
  if (untrained && !settings.Flag("allow-untrained")) {
    throw Error(ErrorKind::kUsage, {"", "--granularity"},
                "this model was trained to read by " +
                    std::string(GranularityName(reading.granularity)) + ", not by " + name +
                    ": the text would be nonsense (--allow-untrained reads it all the same)");
  }
  return chosen;
}

ReadOptions ReadOptionsFrom(const Settings& settings, const ReadingConfig& reading) {
  ReadOptions options;
  if (!settings.IsDefault("task")) options.task = settings.Text("task");
  const Granularity granularity = GranularityFrom(settings, reading);
  if (settings.Text("granularity") != "auto") options.granularity = granularity;
  options.text_height = settings.Number("text-height");
  options.max_new_tokens = static_cast<int>(settings.Integer("max-new-tokens"));
  return options;
}

RenderOptions RenderOptionsFrom(const Settings& settings) {
  const std::vector<std::string> kept = settings.List("keep");
  const auto has = [&](const char* what) {
    return std::find(kept.begin(), kept.end(), what) != kept.end();
  };
  if (has("none") && kept.size() > 1) {
    throw Error(ErrorKind::kUsage, {"", "--keep"}, "says none and something; leave one out");
  }
  RenderOptions options;
  options.keep_headers = has("headers");
  options.keep_footers = has("footers");
  options.keep_page_numbers = has("page-numbers");
  options.keep_footnotes = has("footnotes");
  options.reflow = settings.Flag("reflow");
  return options;
}

}  // namespace platen
