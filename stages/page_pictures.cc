#include "stages/page_pictures.h"

#include <algorithm>
#include <string_view>

#include "model/ops/resize_image.h"
#include "model/support/error.h"
#include "stages/encode_fax.h"
#include "stages/encode_image.h"
#include "stages/formats/pdf_image.h"
#include "stages/layout/layout.h"
#include "stages/layout/scale_image.h"
#include "stages/readers/exif.h"
#include "stages/readers/input_file.h"
#include "stages/text_over_pdf.h"

namespace platen {
namespace {

constexpr int kQuality = 75;
constexpr uint64_t kMostFileBytes = uint64_t{256} << 20;  // of a file that is taken as it is

// As the layout saw it.
Image UprightPage(const DocumentReader& reader, const PageResult& result) {
  PageImage read = reader.ReadPage(result.page - 1);
  MakePixelsSquare(read.image, read.dpi_x, read.dpi_y);
  return RotatePage(read.image, result.rotation);
}

Image Shown(Image page, int longest_side) {
  const int longest = std::max(page.width, page.height);
  if (longest <= longest_side) return page;
  const auto side = [&](int length) {
    const int64_t scaled = (int64_t{length} * longest_side + longest / 2) / longest;
    return static_cast<int>(std::max<int64_t>(scaled, 1));
  };
  return ResizeBicubic(page, side(page.width), side(page.height));
}

std::optional<Image> SamePage(const DocumentReader& reader, const PageResult& result) {
  Image page = UprightPage(reader, result);
  if (page.width != result.width || page.height != result.height) return std::nullopt;
  return page;
}

std::optional<EncodedImage> UprightPicture(const DocumentReader& reader, const PageResult& result,
                                           int longest_side) {
  std::optional<Image> page = SamePage(reader, result);
  if (!page) return std::nullopt;
  return EncodedImage{"image/jpeg", ToJpeg(Shown(std::move(*page), longest_side), kQuality)};
}

// Whether an EXIF block in the file says that the image must be turned. `mark` stands before it.
bool MustBeTurned(const std::string& file, std::string_view mark) {
  const size_t at = file.find(mark);
  if (at == std::string::npos) return false;
  const auto* block = reinterpret_cast<const uint8_t*>(file.data()) + at + mark.size();
  return ParseExif({block, file.size() - at - mark.size()}).orientation != 1;
}

// The document's own file, if it is one page that can be taken as it is. A page with warnings may
// be damaged in a way that readers of PDF do not bear.
std::optional<EncodedImage> FileItself(const DocumentReader& reader, const std::string& path,
                                       const PageResult& result) {
  const bool is_jpeg = reader.format() == DocumentFormat::kJpeg;
  const bool is_png = reader.format() == DocumentFormat::kPng;
  if (path.empty() || !(is_jpeg || is_png) || !result.warnings.empty()) return std::nullopt;
  const InputFile input(path);
  if (input.size() > kMostFileBytes) return std::nullopt;
  const std::vector<uint8_t> bytes = input.ReadFirst(kMostFileBytes);
  EncodedImage file = {is_jpeg ? "image/jpeg" : "image/png", {bytes.begin(), bytes.end()}};
  const std::string_view mark = is_jpeg ? std::string_view("Exif\0\0", 6) : "eXIf";
  if (MustBeTurned(file.bytes, mark)) return std::nullopt;
  return file;
}

struct Size {
  int width = 0;
  int height = 0;

  bool operator==(const Size&) const = default;
};

// Before the page was turned and stretched.
Size SizeInFile(const PageResult& result) {
  if (result.in_file.width > 0) return {result.in_file.width, result.in_file.height};
  const bool on_its_side = result.rotation % 180 != 0;
  return on_its_side ? Size{result.height, result.width} : Size{result.width, result.height};
}

std::optional<EncodedImage> PictureInFile(const DocumentReader& reader, const std::string& path,
                                          const PageResult& result) {
  const Size size = SizeInFile(result);
  if (auto file = FileItself(reader, path, result)) {
    const auto image = PdfImageOf(*file);
    if (image && Size{image->width, image->height} == size) return file;
  }
  const Image page = reader.ReadPage(result.page - 1).image;
  if (Size{page.width, page.height} != size) return std::nullopt;
  if (auto code = ToFaxCode(page)) {
    return EncodedImage{kFaxCode, std::move(*code), page.width, page.height};
  }
  return EncodedImage{"image/png", ToPng(page)};
}

// `get` where there is such a page; what the file is at fault for is no picture.
template <typename Get>
auto GetIfThere(const DocumentReader& reader, const PageResult& result, const Get& get)
    -> decltype(get(result)) {
  const bool is_there = result.page >= 1 && result.page <= reader.num_pages() && result.width > 0;
  if (!is_there) return std::nullopt;
  try {
    return get(result);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::kEnvironment) throw;
    return std::nullopt;
  }
}

template <typename Get>
PageImages::Get Guarded(const DocumentReader& reader, const Get& get) {
  return [&reader, get](const PageResult& result) { return GetIfThere(reader, result, get); };
}

}  // namespace

PageImages PicturesOf(const DocumentReader* reader, const std::string& path, int longest_side) {
  if (reader == nullptr) return {};
  const auto upright = [reader, longest_side](const PageResult& result) {
    return UprightPicture(*reader, result, longest_side);
  };
  const auto in_file = [reader, path](const PageResult& result) {
    return PictureInFile(*reader, path, result);
  };
  PageImages images = {Guarded(*reader, upright), Guarded(*reader, in_file)};
  const bool is_pdf = reader->format() == DocumentFormat::kPdf && !path.empty();
  if (is_pdf) images.over_file = TextOverPdf(*reader, path);
  return images;
}

std::optional<Image> UprightPageOf(const DocumentReader& reader, const PageResult& result) {
  return GetIfThere(reader, result, [&](const PageResult& page) { return SamePage(reader, page); });
}

}  // namespace platen
