#include "stages/readers/memory_document.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "model/support/error.h"
#include "model/support/folder.h"
#include "stages/readers/pixels.h"

namespace platen {
namespace {

constexpr const char* kName = "document in memory";

// Bytes under a path that this process and its children can open.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const uint8_t> bytes) : fd_(::memfd_create("platen", MFD_CLOEXEC)) {
    if (fd_.get() < 0) ThrowFileError(kName, "be kept in memory", errno);
    WriteAll(fd_.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, kName);
  }

  std::string path() const {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_.get());
  }

 private:
  UniqueFd fd_;
};

// Errors that name the document, not the path behind it.
template <typename Work>
auto Renamed(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error& e) {
    throw Error(e.kind(), {kName, e.location().field, e.location().offset}, e.reason(), e.code());
  }
}

class BytesReader : public DocumentReader {
 public:
  BytesReader(std::span<const uint8_t> bytes, const ReadLimits& limits)
      : file_(bytes), reader_(Renamed([&] { return Open(file_.path(), limits); })) {}

  DocumentFormat format() const override { return reader_->format(); }
  int num_pages() const override { return reader_->num_pages(); }
  ImageSize PageSize(int index) const override {
    return Renamed([&] { return reader_->PageSize(index); });
  }
  PageImage ReadPage(int index) const override {
    return Renamed([&] { return reader_->ReadPage(index); });
  }
  std::optional<PageText> ReadTextLayer(int index) const override {
    return Renamed([&] { return reader_->ReadTextLayer(index); });
  }

 private:
  MemoryFile file_;  // outlives the reader
  std::unique_ptr<DocumentReader> reader_;
};

class ImageDocument : public DocumentReader {
 public:
  ImageDocument(Image image, double dpi) : image_(std::move(image)), dpi_(dpi) {}

  DocumentFormat format() const override { return DocumentFormat::kPnm; }
  int num_pages() const override { return 1; }
  ImageSize PageSize(int) const override { return {image_.width, image_.height}; }
  PageImage ReadPage(int) const override { return {image_, dpi_, dpi_, ""}; }

 private:
  Image image_;
  double dpi_;
};

}  // namespace

std::unique_ptr<DocumentReader> OpenBytes(std::span<const uint8_t> bytes,
                                          const ReadLimits& limits) {
  return std::make_unique<BytesReader>(bytes, limits);
}

std::unique_ptr<DocumentReader> OpenImage(Image image, double dpi, const ReadLimits& limits) {
  CheckPageSize(kName, image.width, image.height, limits);
  const auto bytes = int64_t{image.width} * image.height * Image::kChannels;
  if (static_cast<int64_t>(image.rgb.size()) != bytes) {
    throw Error(ErrorKind::kInput, {kName, ""},
                "has " + std::to_string(image.rgb.size()) + " bytes of pixels; " +
                    std::to_string(bytes) + " are needed");
  }
  return std::make_unique<ImageDocument>(std::move(image), dpi);
}

}  // namespace platen
