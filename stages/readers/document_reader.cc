#include "stages/readers/document_reader.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "model/support/grouped.h"
#include "stages/readers/decoders.h"
#include "stages/readers/input_file.h"
#include "stages/readers/multi_page.h"
#include "stages/readers/pixels.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

[[noreturn]] void FailUnread(const InputFile& file, const FileKind& kind) {
  if (file.size() == 0) ThrowUnreadable(file.path(), "the file is empty");
  if (kind.cls != FileClass::kDocument) {
    ThrowUnreadable(file.path(), WhyNotRead(kind), FailureCode::kUnsupported);
  }
  ThrowUnreadable(file.path(), "named " + file.path().substr(file.path().rfind('.')) +
                                   ", but its content is no image that platen knows");
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
    case DocumentFormat::kJpeg2000:
      return DecodeJp2(file, limits);
    case DocumentFormat::kGif:
      return DecodeGif(file, limits);
    default:
      assert(format == DocumentFormat::kPnm);
      return DecodePnm(file, limits);
  }
}

ImageSize SizeFromHeader(DocumentFormat format, const InputFile& file) {
  switch (format) {
    case DocumentFormat::kPng:
      return PngSize(file);
    case DocumentFormat::kJpeg:
      return JpegSize(file);
    case DocumentFormat::kWebp:
      return WebpSize(file);
    case DocumentFormat::kBmp:
      return BmpSize(file);
    case DocumentFormat::kJpeg2000:
      return Jp2Size(file);
    case DocumentFormat::kGif:
      return GifSize(file);
    default:
      assert(format == DocumentFormat::kPnm);
      return PnmSize(file);
  }
}

// Throws Error(kInput) if reading the file would cost more than it can be worth.
void CheckFileSize(const InputFile& file, const ImageSize& size, const ReadLimits& limits) {
  if (file.size() > static_cast<uint64_t>(limits.max_file_bytes)) {
    ThrowUnreadable(file.path(),
                    "the file has " + Grouped(file.size()) + " bytes; at most " +
                        Grouped(limits.max_file_bytes) + " are read",
                    FailureCode::kTooLarge);
  }
  if (file.size() > static_cast<uint64_t>(MostBytesFor(size))) {
    ThrowUnreadable(file.path(),
                    "the file has " + Grouped(file.size()) + " bytes, far more than an image of " +
                        std::to_string(size.width) + " x " + std::to_string(size.height) +
                        " pixels needs",
                    FailureCode::kTooLarge);
  }
}

// A file that is one image. Read and decoded at once, when the page is asked for.
class SingleImageReader : public DocumentReader {
 public:
  SingleImageReader(DocumentFormat format, const std::string& path, const ReadLimits& limits)
      : format_(format), path_(path), limits_(limits) {}

  DocumentFormat format() const override { return format_; }
  int num_pages() const override { return 1; }

  ImageSize PageSize(int index) const override {
    assert(index == 0);
    return ReadNumberedPage(path_, index, 1,
                            [this] { return CheckedSize(InputFile(path_, limits_.patience_s)); });
  }

  PageImage ReadPage(int index) const override {
    assert(index == 0);
    return ReadNumberedPage(path_, index, 1, [this] {
      const InputFile file(path_, limits_.patience_s);
      CheckFileSize(file, CheckedSize(file), limits_);
      const std::vector<uint8_t> bytes = file.ReadFirst(file.size());
      const auto* head = reinterpret_cast<const char*>(bytes.data());
      CheckFormat(KindOf({head, std::min(bytes.size(), kFileHeadBytes)}, path_));
      return Decode(format_, {path_, bytes}, limits_);
    });
  }

 private:
  // The file may have changed since it was opened.
  void CheckFormat(const FileKind& kind) const {
    if (kind.format != format_) ThrowUnreadable(path_, "the file changed while it was read");
  }

  ImageSize CheckedSize(const InputFile& file) const {
    CheckFormat(LookAtFile(file));
    const ImageSize size = SizeFromHeader(format_, file);
    CheckPageSize(path_, size.width, size.height, limits_);
    return size;
  }

  DocumentFormat format_;
  std::string path_;
  ReadLimits limits_;
};

}  // namespace

std::unique_ptr<DocumentReader> DocumentReader::Open(const std::string& path,
                                                     const ReadLimits& limits) {
  const InputFile file(path, limits.patience_s);
  const FileKind kind = LookAtFile(file);
  switch (kind.format) {
    case DocumentFormat::kUnknown:
      FailUnread(file, kind);
    case DocumentFormat::kTiff:
      return OpenTiff(path, limits);
    case DocumentFormat::kPdf:
      return OpenPdf(path, limits);
    default:
      return std::make_unique<SingleImageReader>(kind.format, path, limits);
  }
}

}  // namespace platen
