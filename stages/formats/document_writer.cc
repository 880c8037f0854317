#include "stages/formats/document_writer.h"

#include <algorithm>
#include <functional>

#include "model/support/error.h"
#include "stages/formats/alto_writer.h"
#include "stages/formats/hocr_writer.h"
#include "stages/formats/html_writer.h"
#include "stages/formats/json_writer.h"
#include "stages/formats/markdown_writer.h"
#include "stages/formats/page_xml_writer.h"
#include "stages/formats/pdf_writer.h"
#include "stages/formats/text_writer.h"
#include "stages/formats/tsv_writer.h"

namespace platen {
namespace {

struct Format {
  std::string name;
  OutputNaming naming;
  std::function<std::unique_ptr<DocumentWriter>(const RenderOptions&, const PageImages&)> make;
  PageView shows = PageView::kNone;
  bool goes_over_file = false;
};

template <typename Writer>
std::unique_ptr<DocumentWriter> Make(const RenderOptions&, const PageImages&) {
  return std::make_unique<Writer>();
}

template <typename Writer>
std::unique_ptr<DocumentWriter> MakeRendered(const RenderOptions& options, const PageImages&) {
  return std::make_unique<Writer>(options);
}

template <typename Writer>
std::unique_ptr<DocumentWriter> MakeWithImages(const RenderOptions&, const PageImages& images) {
  return std::make_unique<Writer>(images);
}

const std::vector<Format>& Formats() {
  static const auto& formats = *new std::vector<Format>{
      {"txt", {"txt"}, MakeRendered<TextWriter>},
      {"md", {"md"}, MakeRendered<MarkdownWriter>},
      {"json", {"json"}, Make<JsonWriter>},
      {"hocr", {"hocr"}, Make<HocrWriter>},
      {"tsv", {"tsv"}, Make<TsvWriter>},
      {"alto", {"alto.xml", /*per_page=*/true}, Make<AltoWriter>},
      {"page", {"page.xml", /*per_page=*/true}, Make<PageXmlWriter>},
      {"html", {"html"}, MakeWithImages<HtmlWriter>, PageView::kUpright},
      {"pdf", {"pdf"}, MakeWithImages<PdfWriter>, PageView::kInFile, true},
  };
  return formats;
}

const Format& FindFormat(const std::string& name) {
  std::string known;
  for (const Format& format : Formats()) {
    if (format.name == name) return format;
    known += (known.empty() ? "" : ", ") + format.name;
  }
  throw Error(ErrorKind::kUsage, {"", "format"},
              "unknown output format \"" + name + "\"; known: " + known);
}

// "p0007."
std::string PagePrefix(int page) {
  const std::string digits = std::to_string(page);
  return "p" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits + ".";
}

// Whether `text` is what PagePrefix gives for some page.
bool IsPagePrefix(std::string_view text) {
  constexpr size_t kMostDigits = 9;
  if (text.size() < 6 || text.size() > kMostDigits + 2) return false;
  const std::string digits(text.substr(1, text.size() - 2));
  return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         text == PagePrefix(std::stoi(digits));
}

}  // namespace

const std::vector<std::string>& KnownFormats() {
  static const auto& names = *new std::vector<std::string>([] {
    std::vector<std::string> all;
    for (const Format& format : Formats()) all.push_back(format.name);
    return all;
  }());
  return names;
}

bool ShowPages(const std::vector<std::string>& formats) {
  return Shows(formats, PageView::kUpright) || Shows(formats, PageView::kInFile);
}

bool Shows(const std::vector<std::string>& formats, PageView view) {
  return std::any_of(formats.begin(), formats.end(),
                     [&](const std::string& format) { return FindFormat(format).shows == view; });
}

bool GoesOverFile(const std::string& format) { return FindFormat(format).goes_over_file; }

OutputNaming NamingOf(const std::string& format) { return FindFormat(format).naming; }

std::string OutputSuffix(const std::string& format, int page, int of_pages) {
  const OutputNaming naming = NamingOf(format);
  return (naming.per_page && of_pages > 1 ? PagePrefix(page) : "") + naming.extension;
}

std::optional<PageFileName> ParsePageFileName(std::string_view name) {
  for (const Format& format : Formats()) {
    const std::string ending = "." + format.naming.extension;
    if (!format.naming.per_page || !name.ends_with(ending)) continue;
    const std::string_view rest = name.substr(0, name.size() - ending.size());
    const size_t dot = rest.rfind('.');
    if (dot == std::string_view::npos || dot == 0) continue;
    if (!IsPagePrefix(std::string(rest.substr(dot + 1)) + ".")) continue;
    return PageFileName{std::string(rest.substr(0, dot)), format.name};
  }
  return std::nullopt;
}

std::string FormatOfSuffix(std::string_view suffix) {
  for (const Format& format : Formats()) {
    const OutputNaming& naming = format.naming;
    if (suffix == naming.extension) return format.name;
    if (naming.per_page && suffix.ends_with(naming.extension) &&
        IsPagePrefix(suffix.substr(0, suffix.size() - naming.extension.size()))) {
      return format.name;
    }
  }
  return "";
}

std::unique_ptr<DocumentWriter> MakeDocumentWriter(const std::string& format,
                                                   const RenderOptions& options,
                                                   const PageImages& images) {
  return FindFormat(format).make(options, images);
}

}  // namespace platen
