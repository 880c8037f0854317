#include "stages/readers/tiff_directories.h"

#include <algorithm>
#include <array>
#include <set>

#include "stages/readers/byte_view.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr uint16_t kTagNewSubfileType = 254;
constexpr uint32_t kReducedImage = 1;  // bits of that tag's value
constexpr uint32_t kMask = 4;
constexpr uint16_t kTagWidth = 256;
constexpr uint16_t kTagHeight = 257;
constexpr uint64_t kMaxEntries = 4096;  // of one directory; real ones have below 100

// Sizes in bytes of the parts of a directory: [count][entry]...[next offset].
struct Layout {
  ByteOrder order = ByteOrder::kLittle;
  uint64_t first_offset = 0;
  uint64_t count_bytes = 2;
  uint64_t entry_bytes = 12;
  uint64_t offset_bytes = 4;
};

struct Directory {
  std::string damage;  // why it cannot be read; empty if it can
  uint32_t subfile_type = 0;
  ImageSize size;
  uint64_t next_offset = 0;
};

Layout ReadLayout(const InputFile& file) {
  std::array<uint8_t, 16> head = {};
  const size_t head_bytes = file.ReadAt(0, head);
  if (head_bytes < 8) ThrowCutOff(file.path(), file.size(), "TIFF");
  Layout layout;
  layout.order = head[0] == 'M' ? ByteOrder::kBig : ByteOrder::kLittle;
  const ByteView view(head, layout.order);
  if (view.U16(2) == 43) {
    if (view.U16(4) != 8) ThrowUnreadable(file.path(), "TIFF: unknown offset size");
    if (head_bytes < head.size()) ThrowCutOff(file.path(), file.size(), "TIFF");
    return {layout.order, view.U64(8), 8, 20, 8};
  }
  layout.first_offset = view.U32(4);
  return layout;
}

uint64_t ReadNumber(const ByteView& view, uint64_t at, uint64_t num_bytes) {
  return num_bytes == 2 ? view.U16(at) : num_bytes == 4 ? view.U32(at) : view.U64(at);
}

// The one number of an entry, whose value is at `value_at`; 0 if it is of no type for sizes.
uint64_t ReadValue(const ByteView& view, uint64_t entry, uint64_t value_at) {
  enum Type : uint16_t {
    kByte = 1,
    kShort = 3,
    kLong = 4,
    kSByte = 6,
    kSShort = 8,
    kSLong = 9,
    kLong8 = 16,
  };
  switch (view.U16(entry + 2)) {
    case kByte:
    case kSByte:
      return view.U8(value_at);
    case kShort:
    case kSShort:
      return view.U16(value_at);
    case kLong:
    case kSLong:
      return view.U32(value_at);
    case kLong8:
      return view.U64(value_at);
    default:
      return 0;
  }
}

// Of a tag that is there twice, libtiff takes the first.
void SetOnce(int64_t& side, uint64_t value) {
  if (side == 0) side = static_cast<int64_t>(std::min<uint64_t>(value, UINT32_MAX));
}

Directory ReadDirectory(const InputFile& file, const Layout& layout, uint64_t offset) {
  Directory directory;
  directory.damage = CutOffReason(file.size(), "TIFF");
  std::array<uint8_t, 8> count_bytes = {};
  if (offset >= file.size() ||
      file.ReadAt(offset, std::span(count_bytes).first(layout.count_bytes)) < layout.count_bytes) {
    return directory;
  }
  const uint64_t count = ReadNumber(ByteView(count_bytes, layout.order), 0, layout.count_bytes);
  if (count == 0 || count > kMaxEntries) {
    directory.damage = "TIFF: a page's directory is damaged";
    return directory;
  }
  std::vector<uint8_t> body(count * layout.entry_bytes + layout.offset_bytes);
  if (file.ReadAt(offset + layout.count_bytes, body) < body.size()) return directory;
  directory.damage.clear();
  const ByteView view(body, layout.order);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t entry = i * layout.entry_bytes;
    const uint64_t value = ReadValue(view, entry, entry + layout.entry_bytes - layout.offset_bytes);
    switch (view.U16(entry)) {
      case kTagNewSubfileType:
        directory.subfile_type = static_cast<uint32_t>(value);
        break;
      case kTagWidth:
        SetOnce(directory.size.width, value);
        break;
      case kTagHeight:
        SetOnce(directory.size.height, value);
        break;
      default:
        break;
    }
  }
  directory.next_offset = ReadNumber(view, count * layout.entry_bytes, layout.offset_bytes);
  return directory;
}

}  // namespace

TiffDirectories ListTiffDirectories(const InputFile& file, int max_pages) {
  const Layout layout = ReadLayout(file);
  TiffDirectories found;
  std::vector<TiffDirectory> others;
  std::set<uint64_t> seen;
  for (uint64_t offset = layout.first_offset; offset != 0;) {
    if (!seen.insert(offset).second) {
      found.damage = "TIFF: the chain of pages runs in a circle";
      break;
    }
    if (seen.size() > static_cast<size_t>(max_pages)) {
      ThrowUnreadable(file.path(), "has more than " + std::to_string(max_pages) + " pages",
                      FailureCode::kTooLarge);
    }
    const Directory directory = ReadDirectory(file, layout, offset);
    if (!directory.damage.empty()) {
      found.damage = directory.damage;
      break;
    }
    const bool is_page = (directory.subfile_type & (kReducedImage | kMask)) == 0;
    (is_page ? found.pages : others).push_back({offset, directory.size});
    offset = directory.next_offset;
  }
  // A file of reduced images alone shows them; behind a broken chain the real page may be missing,
  // and its thumbnail must not take its place.
  if (found.pages.empty() && found.damage.empty()) found.pages = others;
  return found;
}

}  // namespace platen
