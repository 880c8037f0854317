// GIF through giflib: the first image. Those that follow change it, as films do; they are no pages.
#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "model/support/error.h"
#include "stages/readers/decoders.h"
#include "stages/readers/pixels.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr const char* kFormat = "GIF";
constexpr size_t kHeadBytes = 64 << 10;  // colours and comments stand before the image

struct GifBytes {
  std::span<const uint8_t> bytes;
  size_t at = 0;
  bool ended_early = false;
};

extern "C" int GifOnRead(GifFileType* gif, GifByteType* out, int length) {
  auto* from = static_cast<GifBytes*>(gif->UserData);
  const size_t n = std::min(static_cast<size_t>(length), from->bytes.size() - from->at);
  from->ended_early = from->ended_early || n < static_cast<size_t>(length);
  if (n > 0) std::memcpy(out, from->bytes.data() + from->at, n);
  from->at += n;
  return static_cast<int>(n);
}

class GifReader {
 public:
  GifReader(const std::string& path, std::span<const uint8_t> bytes) : path_(path), from_{bytes} {
    int error = 0;
    gif_ = DGifOpen(&from_, GifOnRead, &error);
    if (gif_ == nullptr) Fail(error);
  }
  GifReader(const GifReader&) = delete;
  GifReader& operator=(const GifReader&) = delete;
  ~GifReader() {
    if (gif_ != nullptr) DGifCloseFile(gif_, nullptr);
  }

  // Goes on to the next image; false at the end of the file.
  bool FindImage() {
    while (true) {
      GifRecordType record = UNDEFINED_RECORD_TYPE;
      Check(DGifGetRecordType(gif_, &record));
      if (record == TERMINATE_RECORD_TYPE) return false;
      if (record == EXTENSION_RECORD_TYPE) ReadExtension();
      if (record != IMAGE_DESC_RECORD_TYPE) continue;
      Check(DGifGetImageDesc(gif_));
      return true;
    }
  }

  ImageSize Size() const { return {gif_->Image.Width, gif_->Image.Height}; }

  // Colours of the image found, by index; those that the file does not define are black.
  std::array<GifColorType, 256> Colours() const {
    std::array<GifColorType, 256> colours = {};
    const ColorMapObject* map =
        gif_->Image.ColorMap != nullptr ? gif_->Image.ColorMap : gif_->SColorMap;
    if (map == nullptr) ThrowUnreadable(path_, "GIF: there are no colours in the file");
    std::copy_n(map->Colors, std::min<size_t>(static_cast<size_t>(map->ColorCount), 256),
                colours.begin());
    return colours;
  }

  // Index of the colour that is transparent; -1: none.
  int Transparent() const { return transparent_; }

  void ReadRow(std::vector<GifByteType>& row) {
    Check(DGifGetLine(gif_, row.data(), static_cast<int>(row.size())));
  }

  bool IsInterlaced() const { return gif_->Image.Interlace; }

  // True if an image follows; damage behind the first is no matter.
  bool HasMore() {
    try {
      return FindImage();
    } catch (const Error&) {
      return false;
    }
  }

 private:
  void ReadExtension() {
    int code = 0;
    GifByteType* block = nullptr;  // its length comes first
    Check(DGifGetExtension(gif_, &code, &block));
    while (block != nullptr) {
      if (code == GRAPHICS_EXT_FUNC_CODE && block[0] >= 4) {
        transparent_ = (block[1] & 1) != 0 ? block[4] : -1;
      }
      Check(DGifGetExtensionNext(gif_, &block));
    }
  }

  void Check(int status) const {
    if (status != GIF_OK) Fail(gif_->Error);
  }

  [[noreturn]] void Fail(int error) const {
    if (from_.ended_early) ThrowCutOff(path_, from_.bytes.size(), kFormat);
    const char* text = GifErrorString(error);
    ThrowDamaged(path_, from_.at, kFormat, text == nullptr ? "damaged" : text);
  }

  const std::string& path_;
  GifBytes from_;
  GifFileType* gif_ = nullptr;
  int transparent_ = -1;
};

void FindFirst(GifReader& reader, const std::string& path) {
  if (!reader.FindImage()) ThrowUnreadable(path, "GIF: there is no image in the file");
}

// The rows in the order in which the file has them.
std::vector<int> RowOrder(int height, bool interlaced) {
  std::vector<int> rows;
  constexpr std::pair<int, int> kPasses[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  for (const auto& [first, step] : kPasses) {
    for (int y = interlaced ? first : 0; y < height; y += interlaced ? step : 1) rows.push_back(y);
    if (!interlaced) break;
  }
  return rows;
}

}  // namespace

ImageSize GifSize(const InputFile& file) {
  const std::vector<uint8_t> head = file.ReadFirst(kHeadBytes);
  GifReader reader(file.path(), head);
  FindFirst(reader, file.path());
  return reader.Size();
}

PageImage DecodeGif(const EncodedImage& file, const ReadLimits& limits) {
  GifReader reader(file.path, file.bytes);
  FindFirst(reader, file.path);
  const ImageSize size = reader.Size();
  CheckPageSize(file.path, size.width, size.height, limits);
  PageImage page;
  page.image = Image(static_cast<int>(size.width), static_cast<int>(size.height));
  std::array<GifColorType, 256> colours = reader.Colours();
  if (limits.composite_alpha_on_white && reader.Transparent() >= 0) {
    colours[static_cast<size_t>(reader.Transparent())] = {255, 255, 255};
  }
  std::vector<GifByteType> row(static_cast<size_t>(size.width));
  for (const int y : RowOrder(page.image.height, reader.IsInterlaced())) {
    reader.ReadRow(row);
    uint8_t* rgb = page.image.Row(y);
    for (const GifByteType index : row) {
      const GifColorType& colour = colours[index];
      *rgb++ = colour.Red;
      *rgb++ = colour.Green;
      *rgb++ = colour.Blue;
    }
  }
  if (reader.HasMore()) page.warning = "only the first image of the GIF is read";
  return page;
}

}  // namespace platen
