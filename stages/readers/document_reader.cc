#include "stages/readers/document_reader.h"

#include <array>
#include <cassert>
#include <cctype>
#include <string_view>
#include <vector>

#include "stages/readers/byte_view.h"
#include "stages/readers/decoders.h"
#include "stages/readers/input_file.h"
#include "stages/readers/multi_page.h"

namespace platen {
namespace {

// A PDF header may follow other bytes, within this many.
constexpr size_t kHeadBytes = 1024;

using std::literals::operator""sv;

bool LooksLikeBmp(std::string_view head) {
  if (!head.starts_with("BM") || head.size() < 18) return false;
  const auto* bytes = reinterpret_cast<const uint8_t*>(head.data());
  const uint32_t header_bytes = ByteView({bytes, head.size()}, ByteOrder::kLittle).U32(14);
  return header_bytes >= 12 && header_bytes <= 124;
}

// "P1" to "P6", white space, then a number or a comment.
bool LooksLikePnm(std::string_view head) {
  if (head.size() < 4 || head[0] != 'P' || head[1] < '1' || head[1] > '6') return false;
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  if (!is_space(head[2])) return false;
  size_t at = 3;
  while (at < head.size() && is_space(head[at])) ++at;
  return at < head.size() &&
         (head[at] == '#' || std::isdigit(static_cast<unsigned char>(head[at])) != 0);
}

DocumentFormat FormatOf(std::string_view head) {
  if (head.starts_with("\x89PNG\r\n\x1A\n"sv)) return DocumentFormat::kPng;
  if (head.starts_with("\xFF\xD8\xFF"sv)) return DocumentFormat::kJpeg;
  for (const std::string_view magic : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (head.starts_with(magic)) return DocumentFormat::kTiff;
  }
  if (head.starts_with("RIFF"sv) && head.substr(0, 12).ends_with("WEBP"sv)) {
    return DocumentFormat::kWebp;
  }
  if (LooksLikeBmp(head)) return DocumentFormat::kBmp;
  if (LooksLikePnm(head)) return DocumentFormat::kPnm;
  if (head.find("%PDF-") != std::string_view::npos) return DocumentFormat::kPdf;
  return DocumentFormat::kUnknown;
}

// Names of formats that are known but not read.
const char* ForeignName(std::string_view head) {
  const std::string_view brand = head.size() >= 12 ? head.substr(4, 8) : std::string_view();
  if (head.starts_with("GIF8")) return "GIF";
  if (brand == "jP  \r\n\x87\n"sv || head.starts_with("\xFF\x4F\xFF\x51"sv)) return "JPEG 2000";
  if (brand == "ftypheic" || brand == "ftypmif1" || brand == "ftypheix") return "HEIF";
  if (brand == "ftypavif") return "AVIF";
  if (brand == "JXL \r\n\x87\n"sv || head.starts_with("\xFF\x0A"sv)) return "JPEG XL";
  if (head.starts_with("AT&TFORM")) return "DjVu";
  return nullptr;
}

std::string ReadHead(const InputFile& file) {
  std::array<uint8_t, kHeadBytes> head;
  const size_t size = file.ReadAt(0, head);
  return {head.begin(), head.begin() + size};
}

PageImage Decode(DocumentFormat format, const EncodedImage& file, const ReadLimits& limits) {
  switch (format) {
    case DocumentFormat::kPng:
      return DecodePng(file, limits);
    case DocumentFormat::kJpeg:
      return DecodeJpeg(file, limits);
    case DocumentFormat::kWebp:
      return DecodeWebp(file, limits);
    case DocumentFormat::kBmp:
      return DecodeBmp(file, limits);
    default:
      assert(format == DocumentFormat::kPnm);
      return DecodePnm(file, limits);
  }
}

// A file that is one image. Read and decoded at once, when the page is asked for.
class SingleImageReader : public DocumentReader {
 public:
  SingleImageReader(DocumentFormat format, const std::string& path, const ReadLimits& limits)
      : format_(format), path_(path), limits_(limits) {}

  DocumentFormat format() const override { return format_; }
  int num_pages() const override { return 1; }

  PageImage ReadPage(int index) const override {
    assert(index == 0);
    return ReadNumberedPage(path_, index, 1, [this] {
      const std::vector<uint8_t> bytes = ReadInputFile(path_, limits_.max_file_bytes);
      // The file may have changed since it was opened.
      const auto* head = reinterpret_cast<const char*>(bytes.data());
      if (FormatOf({head, std::min(bytes.size(), kHeadBytes)}) != format_) {
        ThrowUnreadable(path_, "the file changed while it was read");
      }
      return Decode(format_, {path_, bytes}, limits_);
    });
  }

 private:
  DocumentFormat format_;
  std::string path_;
  ReadLimits limits_;
};

}  // namespace

const char* FormatName(DocumentFormat format) {
  switch (format) {
    case DocumentFormat::kPng:
      return "PNG";
    case DocumentFormat::kJpeg:
      return "JPEG";
    case DocumentFormat::kTiff:
      return "TIFF";
    case DocumentFormat::kWebp:
      return "WebP";
    case DocumentFormat::kBmp:
      return "BMP";
    case DocumentFormat::kPnm:
      return "PNM";
    case DocumentFormat::kPdf:
      return "PDF";
    case DocumentFormat::kUnknown:
      break;
  }
  return "unknown";
}

DocumentFormat DetectFormat(const std::string& path) { return FormatOf(ReadHead(InputFile(path))); }

std::unique_ptr<DocumentReader> DocumentReader::Open(const std::string& path,
                                                     const ReadLimits& limits) {
  const InputFile file(path);
  if (file.size() == 0) ThrowUnreadable(path, "the file is empty");
  const std::string head = ReadHead(file);
  const DocumentFormat format = FormatOf(head);
  switch (format) {
    case DocumentFormat::kTiff:
      return OpenTiff(path, limits);
    case DocumentFormat::kPdf:
      return OpenPdf(path, limits);
    case DocumentFormat::kUnknown:
      break;
    default:
      return std::make_unique<SingleImageReader>(format, path, limits);
  }
  const char* foreign = ForeignName(head);
  const std::string what =
      foreign == nullptr ? "unknown file format" : std::string(foreign) + " files are not read";
  ThrowUnreadable(path, what + " (PNG, JPEG, TIFF, WebP, BMP, PNM and PDF are)");
}

}  // namespace platen
