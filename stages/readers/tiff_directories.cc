#include "stages/readers/tiff_directories.h"

#include <array>
#include <set>

#include "stages/readers/byte_view.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr uint16_t kTagNewSubfileType = 254;
constexpr uint32_t kReducedImage = 1;  // bits of that tag's value
constexpr uint32_t kMask = 4;
constexpr uint16_t kTypeShort = 3;
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
    if (view.U16(entry) != kTagNewSubfileType) continue;
    const uint64_t value = entry + layout.entry_bytes - layout.offset_bytes;
    directory.subfile_type = view.U16(entry + 2) == kTypeShort ? view.U16(value) : view.U32(value);
  }
  directory.next_offset = ReadNumber(view, count * layout.entry_bytes, layout.offset_bytes);
  return directory;
}

}  // namespace

TiffDirectories ListTiffDirectories(const InputFile& file, int max_pages) {
  const Layout layout = ReadLayout(file);
  TiffDirectories pages;
  std::vector<uint64_t> others;
  std::set<uint64_t> seen;
  for (uint64_t offset = layout.first_offset; offset != 0;) {
    if (!seen.insert(offset).second) {
      pages.damage = "TIFF: the chain of pages runs in a circle";
      break;
    }
    if (seen.size() > static_cast<size_t>(max_pages)) {
      ThrowUnreadable(file.path(), "has more than " + std::to_string(max_pages) + " pages");
    }
    const Directory directory = ReadDirectory(file, layout, offset);
    if (!directory.damage.empty()) {
      pages.damage = directory.damage;
      break;
    }
    const bool is_page = (directory.subfile_type & (kReducedImage | kMask)) == 0;
    (is_page ? pages.offsets : others).push_back(offset);
    offset = directory.next_offset;
  }
  // A file of reduced images alone shows them; behind a broken chain the real page may be missing,
  // and its thumbnail must not take its place.
  if (pages.offsets.empty() && pages.damage.empty()) pages.offsets = others;
  return pages;
}

}  // namespace platen
