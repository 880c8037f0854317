#include "stages/text_over_pdf.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/support/error.h"
#include "model/support/nameless_file.h"
#include "stages/formats/pdf_update.h"
#include "stages/readers/child_process.h"
#include "stages/readers/input_file.h"

namespace platen {
namespace {

// Of what qpdf says of a file, without its streams: some 200 bytes an object.
constexpr size_t kMostDescription = size_t{64} << 20;
constexpr double kMostSeconds = 3600;

// A file that this process and its children can open, and nobody else can name.
class SharedFile {
 public:
  SharedFile() : fd_(OpenNamelessFile()) {}
  explicit SharedFile(std::string_view bytes) : SharedFile() {
    WriteAll(fd_.get(), bytes, "temporary file");
  }
  std::string path() const {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_.get());
  }

 private:
  UniqueFd fd_;
};

// Runs qpdf on the file. `arguments` go through a file, which takes any number of them, and a
// password that nobody sees. Nothing: it failed; a file that it had to repair has a code of its
// own.
std::optional<ChildResult> RunQpdf(const DocumentReader& reader, const std::string& path,
                                   std::string arguments) {
  constexpr int kRepaired = 3;
  if (!reader.password().empty()) arguments += "--password=" + reader.password() + "\n";
  const SharedFile file(arguments);
  const ReadLimits usual;
  const ChildLimits limits = {
      .timeout_s = std::min(usual.pdf_page_timeout_s * reader.num_pages(), kMostSeconds),
      .memory_bytes = usual.pdf_memory_bytes,
      .max_output_bytes = kMostDescription};
  try {
    const std::string input = path.starts_with('/') ? path : "./" + path;
    ChildResult result = RunChild({"qpdf", input, "@" + file.path()}, limits);
    const bool done =
        result.end == ChildResult::End::kExited && (result.code == 0 || result.code == kRepaired);
    return done ? std::optional(std::move(result)) : std::nullopt;
  } catch (const Error& e) {
    throw Error(ErrorKind::kInput, {path, ""},
                "the pdf of a PDF needs the program qpdf, which " + e.reason() + " (install qpdf)");
  }
}

// Of some objects, with the data of streams; see OldPdfText.
DescribeStreams StreamsOf(const DocumentReader& reader, const std::string& path) {
  return [&reader, path](const std::vector<std::string>& objects) -> std::optional<std::string> {
    std::string arguments =
        "--json=2\n--json-key=qpdf\n--json-stream-data=inline\n--decode-level=generalized\n";
    for (const std::string& object : objects) arguments += "--json-object=" + object + "\n";
    const auto described = RunQpdf(reader, path, std::move(arguments));
    if (!described) return std::nullopt;
    return std::string(described->output.begin(), described->output.end());
  };
}

// Of a file some of whose pages go on showing text; see PdfUpdate::keep_text.
std::string NoteOf(const std::vector<int>& pages) {
  if (pages.empty()) return "";
  const bool one = pages.size() == 1;
  return "has text twice on " + (one ? "page " : std::to_string(pages.size()) + " pages, page ") +
         std::to_string(pages.front()) + (one ? "" : " first") +
         ": as the page shows it itself, and as it was read (--text-layer auto takes a page's own "
         "text where it is sound)";
}

// The file's bytes, piece by piece.
void Copy(const InputFile& file, const PageImages::Append& append) {
  std::vector<uint8_t> piece(1 << 20);
  for (uint64_t at = 0; at < file.size();) {
    const size_t length = file.ReadAt(at, piece);
    if (length == 0) break;
    append({reinterpret_cast<const char*>(piece.data()), length});
    at += length;
  }
}

// See PageImages::over_file.
std::optional<std::string> WriteOver(const DocumentReader& reader, const std::string& path,
                                     const PageImages::Pages& pages,
                                     const PageImages::Append& append) {
  const auto described = RunQpdf(
      reader, path, "--json=2\n--json-key=pages\n--json-key=qpdf\n--json-stream-data=none\n");
  if (!described) return std::nullopt;
  std::string update, note;
  try {
    const auto* text = reinterpret_cast<const char*>(described->output.data());
    PdfUpdate changes({text, described->output.size()}, StreamsOf(reader, path));
    if (changes.num_pages() != reader.num_pages()) return std::nullopt;
    pages([&](const PageResult& page) { changes.Add(page); });
    if (changes.empty()) {
      Copy(InputFile(path), append);
      return "";
    }
    note = NoteOf(changes.keep_text());
    update = changes.Take();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    return std::nullopt;
  }
  const SharedFile json(update), output;
  const std::string arguments = "--update-from-json=" + json.path() +
                                "\n--decrypt\n--deterministic-id\n--decode-level=none\n" +
                                "--compress-streams=y\n" + output.path() + "\n";
  if (!RunQpdf(reader, path, arguments)) return std::nullopt;
  Copy(InputFile(output.path()), append);
  return note;
}

}  // namespace

bool HasQpdf() {
  try {
    RunChild({"qpdf", "--version"}, {.memory_bytes = int64_t{1} << 30, .max_output_bytes = 4096});
    return true;
  } catch (const Error&) {
    return false;
  }
}

PageImages::OverFile TextOverPdf(const DocumentReader& reader, const std::string& path) {
  return [&reader, path](const PageImages::Pages& pages, const PageImages::Append& append) {
    return WriteOver(reader, path, pages, append);
  };
}

}  // namespace platen
