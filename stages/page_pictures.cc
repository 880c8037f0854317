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

EncodedImage AsJpeg(const Image& page, int longest_side) {
  const int longest = std::max(page.width, page.height);
  if (longest <= longest_side) return {"image/jpeg", ToJpeg(page, kQuality)};
  const auto side = [&](int length) {
    const int64_t scaled = (int64_t{length} * longest_side + longest / 2) / longest;
    return static_cast<int>(std::max<int64_t>(scaled, 1));
  };
  const Image small = ResizeBicubic(page, side(page.width), side(page.height));
  return {"image/jpeg", ToJpeg(small, kQuality)};
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
  return AsJpeg(*page, longest_side);
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

// The document's file, if it is the page as PDF takes it.
std::optional<EncodedImage> FileAsPicture(const DocumentReader& reader, const std::string& path,
                                          const PageResult& result) {
  auto file = FileItself(reader, path, result);
  if (!file) return std::nullopt;
  const auto image = PdfImageOf(*file);
  if (!image || Size{image->width, image->height} != SizeInFile(result)) return std::nullopt;
  return file;
}

EncodedImage WithoutLoss(const Image& page) {
  if (auto code = ToFaxCode(page)) return {kFaxCode, std::move(*code), page.width, page.height};
  return {"image/png", ToPng(page)};
}

std::optional<EncodedImage> DecodedInFile(const DocumentReader& reader, const PageResult& result) {
  const Image page = reader.ReadPage(result.page - 1).image;
  if (Size{page.width, page.height} != SizeInFile(result)) return std::nullopt;
  return WithoutLoss(page);
}

std::optional<EncodedImage> PictureInFile(const DocumentReader& reader, const std::string& path,
                                          const PageResult& result) {
  if (auto file = FileAsPicture(reader, path, result)) return file;
  return DecodedInFile(reader, result);
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

// What is kept of the page, else what `get` gives of it.
template <typename Get>
PageImages::Get KeptOr(const DocumentReader& reader, const KeptPictures* kept, PageView view,
                       const Get& get) {
  return [&reader, kept, view, get](const PageResult& result) -> std::optional<EncodedImage> {
    if (kept != nullptr && result.width > 0) {
      if (auto found = kept->Find(result.page, view)) return found;
    }
    return GetIfThere(reader, result, get);
  };
}

}  // namespace

PageImages PicturesOf(const DocumentReader* reader, const std::string& path, int longest_side,
                      const KeptPictures* kept) {
  if (reader == nullptr) return {};
  const auto upright = [reader, longest_side](const PageResult& result) {
    return UprightPicture(*reader, result, longest_side);
  };
  const auto in_file = [reader, path](const PageResult& result) {
    return PictureInFile(*reader, path, result);
  };
  PageImages images = {KeptOr(*reader, kept, PageView::kUpright, upright),
                       KeptOr(*reader, kept, PageView::kInFile, in_file)};
  const bool is_pdf = reader->format() == DocumentFormat::kPdf && !path.empty();
  if (is_pdf) images.over_file = TextOverPdf(*reader, path);
  return images;
}

void KeepPictures(const DocumentReader& reader, const std::string& path, const PageResult& result,
                  const Image* upright, KeptPictures& kept) {
  const auto keep = [&](PageView view, const auto& get) {
    if (!kept.wants(view)) return;
    if (const auto picture = GetIfThere(reader, result, get)) {
      kept.Add(result.page, view, *picture);
    }
  };
  using Picture = std::optional<EncodedImage>;
  keep(PageView::kUpright, [&](const PageResult&) -> Picture {
    if (upright == nullptr) return UprightPicture(reader, result, kLongestSide);
    return AsJpeg(*upright, kLongestSide);
  });
  if (reader.format() == DocumentFormat::kPdf) return;  // takes the text itself
  keep(PageView::kInFile, [&](const PageResult&) -> Picture {
    if (FileAsPicture(reader, path, result)) return std::nullopt;
    const bool is_upright = upright != nullptr && result.rotation == 0 && result.in_file.width == 0;
    return is_upright ? WithoutLoss(*upright) : DecodedInFile(reader, result);
  });
}

std::optional<Image> UprightPageOf(const DocumentReader& reader, const PageResult& result) {
  return GetIfThere(reader, result, [&](const PageResult& page) { return SamePage(reader, page); });
}

}  // namespace platen
