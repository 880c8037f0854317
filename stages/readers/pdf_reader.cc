// PDF through poppler's pdfinfo and pdftoppm in child processes: a crash, a hang or a leak in a
// renderer of untrusted files stays there. What pdftoppm says of one page alone is that page; pages
// that follow each other are rendered together as long as nothing is said (pdf_ranges.h).
#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "stages/readers/child_process.h"
#include "stages/readers/decoders.h"
#include "stages/readers/multi_page.h"
#include "stages/readers/pdf_ranges.h"
#include "stages/readers/pixels.h"
#include "stages/readers/poppler_output.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr size_t kMaxInfoBytes = 1 << 20;
constexpr const char* kUnreadable = "not a readable PDF";
constexpr const char* kNotRendered = "cannot be rendered";

// A path that no program takes for an option or for standard input.
std::string SafeArgument(const std::string& path) {
  return path.starts_with('/') ? path : "./" + path;
}

ChildLimits LimitsOfChild(const ReadLimits& limits, size_t max_output_bytes) {
  return {.timeout_s = limits.pdf_page_timeout_s,
          .memory_bytes = limits.pdf_memory_bytes,
          .max_output_bytes = max_output_bytes};
}

bool WantsPassword(const ChildResult& result) {
  return result.end == ChildResult::End::kExited && result.code != 0 &&
         result.errors.find("Incorrect password") != std::string::npos;
}

std::string ReasonFor(const ChildResult& result, const std::string& program,
                      const std::string& what_failed, const ReadLimits& limits) {
  switch (result.end) {
    case ChildResult::End::kTimedOut:
      return program + " took longer than " +
             std::to_string(static_cast<int64_t>(std::ceil(limits.pdf_page_timeout_s))) + " s";
    case ChildResult::End::kTooMuchOutput:
      return program + " wrote more than expected";
    case ChildResult::End::kSignalled:
      return program + " died of signal " + std::to_string(result.code) + " (it may use " +
             std::to_string(limits.pdf_memory_bytes >> 20) + " MiB of memory)";
    case ChildResult::End::kExited:
      break;
  }
  if (WantsPassword(result)) {
    return limits.pdf_passwords.empty()
               ? "the file is encrypted and needs a password (--password-file)"
               : "the file is encrypted and opens with none of the passwords given";
  }
  const std::string line = PopplerComplaint(result.errors);
  return what_failed + (line.empty() ? " (" + program + " failed with exit code " +
                                           std::to_string(result.code) + ")"
                                     : " (poppler: " + line + ")");
}

// Runs one of poppler's programs, whatever comes of it.
ChildResult StartPoppler(std::vector<std::string> arguments, const std::string& path,
                         size_t max_output_bytes, const ReadLimits& limits) {
  const std::string program = arguments[0];
  arguments.push_back(SafeArgument(path));
  try {
    return RunChild(arguments, LimitsOfChild(limits, max_output_bytes));
  } catch (const Error& error) {
    throw Error(ErrorKind::kEnvironment, {.file = path, .field = {}},
                "reading PDF needs the program " + program + ", which " + error.reason() +
                    " (install poppler-utils)");
  }
}

// A failure is an Error with its reason, which is `what_failed` and poppler's complaint where there
// is no better one.
void CheckPoppler(const ChildResult& result, const std::string& program, const std::string& path,
                  const std::string& what_failed, const ReadLimits& limits) {
  if (result.end != ChildResult::End::kExited || result.code != 0) {
    ThrowUnreadable(path, ReasonFor(result, program, what_failed, limits));
  }
}

ChildResult RunPoppler(const std::vector<std::string>& arguments, const std::string& path,
                       const std::string& what_failed, size_t max_output_bytes,
                       const ReadLimits& limits) {
  ChildResult result = StartPoppler(arguments, path, max_output_bytes, limits);
  CheckPoppler(result, arguments[0], path, what_failed, limits);
  return result;
}

std::string_view Text(const ChildResult& result) {
  return {reinterpret_cast<const char*>(result.output.data()), result.output.size()};
}

class PdfReader : public DocumentReader {
 public:
  PdfReader(const std::string& path, const ReadLimits& limits) : path_(path), limits_(limits) {
    const ChildResult info = InfoWithPassword();
    const double num_pages = PagesFromPdfInfo(Text(info));
    if (!(num_pages >= 1)) ThrowUnreadable(path, "there are no pages in the PDF");
    if (num_pages > limits.max_pages) {
      ThrowUnreadable(path, "has more than " + std::to_string(limits.max_pages) + " pages");
    }
    num_pages_ = static_cast<int>(num_pages);
    ranges_.emplace(Renderer(), SafeArgument(path_), num_pages_, LimitsOfChild(limits, 0),
                    [this](int page_number) { return MostBytesOrNone(page_number); });
  }

  DocumentFormat format() const override { return DocumentFormat::kPdf; }
  int num_pages() const override { return num_pages_; }

  ImageSize PageSize(int index) const override {
    return ReadNumberedPage(path_, index, num_pages_, [this, index] { return SizeOf(index + 1); });
  }

  PageImage ReadPage(int index) const override {
    return ReadNumberedPage(path_, index, num_pages_, [this, index] { return Render(index + 1); });
  }

 private:
  ChildResult InfoWithPassword();
  std::vector<std::string> Program(const std::string& name) const;
  PageImage Render(int page_number) const;
  PageImage RenderAlone(int page_number) const;
  PageImage DecodeRendered(const std::vector<uint8_t>& ppm) const;
  std::vector<std::string> Renderer() const;
  size_t MostBytes(int page_number) const;
  size_t MostBytesOrNone(int page_number) const;
  ImageSize SizeOf(int page_number) const;
  void AskForSizes(int first_page, int last_page) const;

  std::string path_;
  ReadLimits limits_;
  std::string password_;  // that opens it; empty: it opens without one
  int num_pages_ = 0;

  mutable std::mutex sizes_mutex_;
  mutable std::map<int, ImageSize> sizes_;  // by page number, as far as they were asked for
  mutable bool ask_singly_ = false;         // a page did harm to those asked for with it

  mutable std::optional<PdfRanges> ranges_;  // last: it goes first, and uses the others
};

// What pdfinfo says of the document, with the first password that opens it, if it asks for one.
ChildResult PdfReader::InfoWithPassword() {
  const auto ask = [this] {
    return StartPoppler(Program("pdfinfo"), path_, kMaxInfoBytes, limits_);
  };
  ChildResult info = ask();
  for (size_t i = 0; i < limits_.pdf_passwords.size() && WantsPassword(info); ++i) {
    password_ = limits_.pdf_passwords[i];
    info = ask();
  }
  CheckPoppler(info, "pdfinfo", path_, kUnreadable, limits_);
  return info;
}

// One of poppler's programs, with the password that the file wants.
std::vector<std::string> PdfReader::Program(const std::string& name) const {
  if (password_.empty()) return {name};
  return {name, "-upw", password_};
}

// Size of the page's crop box as pdftoppm will render it, rounded up, before any rotation. pdfinfo
// reads the file anew each time, so it is asked for many pages at once.
ImageSize PdfReader::SizeOf(int page_number) const {
  const std::lock_guard lock(sizes_mutex_);
  if (!sizes_.contains(page_number) && !ask_singly_) {
    constexpr int kPagesAtOnce = 64;
    const int first = (page_number - 1) / kPagesAtOnce * kPagesAtOnce + 1;
    try {
      AskForSizes(first, std::min(first + kPagesAtOnce - 1, num_pages_));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInput) throw;
      ask_singly_ = true;
    }
  }
  if (!sizes_.contains(page_number)) AskForSizes(page_number, page_number);
  const auto found = sizes_.find(page_number);
  if (found == sizes_.end()) ThrowUnreadable(path_, "the PDF does not say its size");
  CheckPageSize(path_, found->second.width, found->second.height, limits_);
  return found->second;
}

void PdfReader::AskForSizes(int first_page, int last_page) const {
  std::vector<std::string> arguments = Program("pdfinfo");
  arguments.insert(arguments.end(),
                   {"-f", std::to_string(first_page), "-l", std::to_string(last_page)});
  const ChildResult info = RunPoppler(arguments, path_, kUnreadable, kMaxInfoBytes, limits_);
  sizes_.merge(PageSizesFromPdfInfo(Text(info), first_page, last_page, limits_.pdf_dpi));
}

std::vector<std::string> PdfReader::Renderer() const {
  std::vector<std::string> arguments = Program("pdftoppm");
  arguments.insert(arguments.end(), {"-r", std::to_string(limits_.pdf_dpi), "-cropbox"});
  return arguments;
}

// Of a PPM stream: a short header and three bytes per pixel. A row and a column of slack for
// rounding that differs from ours.
size_t PdfReader::MostBytes(int page_number) const {
  const ImageSize size = SizeOf(page_number);
  return static_cast<size_t>((size.width + 1) * (size.height + 1)) * 3 + 64;
}

size_t PdfReader::MostBytesOrNone(int page_number) const {
  try {
    return MostBytes(page_number);
  } catch (const Error&) {
    return 0;
  }
}

PageImage PdfReader::Render(int page_number) const {
  SizeOf(page_number);  // one that is fit to be rendered
  if (const auto ppm = ranges_->Take(page_number)) return DecodeRendered(*ppm);
  PageImage page = RenderAlone(page_number);
  if (!page.warning.empty()) ranges_->ExpectComplaints();
  return page;
}

PageImage PdfReader::RenderAlone(int page_number) const {
  const std::string number = std::to_string(page_number);
  std::vector<std::string> arguments = Renderer();
  arguments.insert(arguments.end(), {"-f", number, "-l", number, "-singlefile"});
  const ChildResult result =
      RunPoppler(arguments, path_, kNotRendered, MostBytes(page_number), limits_);
  if (!Text(result).starts_with("P6")) {
    const std::string line = PopplerComplaint(result.errors);
    ThrowUnreadable(path_,
                    std::string(kNotRendered) + (line.empty() ? "" : " (poppler: " + line + ")"));
  }
  PageImage page = DecodeRendered(result.output);
  page.warning = FirstLine(result.errors);
  return page;
}

// What is wrong with the image is not the file's fault.
PageImage PdfReader::DecodeRendered(const std::vector<uint8_t>& ppm) const {
  try {
    PageImage page = DecodePnm({path_, ppm}, limits_);
    page.dpi_x = page.dpi_y = limits_.pdf_dpi;
    return page;
  } catch (const Error& error) {
    ThrowUnreadable(path_,
                    std::string(kNotRendered) + " (pdftoppm's image: " + error.reason() + ")");
  }
}

}  // namespace

std::unique_ptr<DocumentReader> OpenPdf(const std::string& path, const ReadLimits& limits) {
  return std::make_unique<PdfReader>(path, limits);
}

}  // namespace platen
