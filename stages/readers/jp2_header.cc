#include "stages/readers/jp2_header.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "stages/readers/byte_view.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr const char* kFormat = "JPEG 2000";
constexpr double kMetresPerInch = 0.0254;
constexpr int kMaxBoxes = 4096;
constexpr int kMaxComponents = 5;  // four colours and alpha
constexpr int kMaxBits = 16;
constexpr size_t kMaxPaletteEntries = 1024;
constexpr size_t kMaxBoxBytes = 16 << 10;  // of those that are looked into; a palette takes 9 KiB

struct Box {
  std::string type;
  uint64_t begin = 0;  // of the content
  uint64_t end = 0;
};

ByteView BigEndian(const std::string& bytes) {
  return {{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, ByteOrder::kBig};
}

uint8_t To8Bits(uint32_t value, int bits) {
  const uint32_t most = (1U << bits) - 1;
  value = std::min(value, most);
  return static_cast<uint8_t>(bits > 8 ? value >> (bits - 8) : (value * 255 + most / 2) / most);
}

// What the boxes of a JP2 header say, before it is put together.
struct Boxes {
  std::optional<Jp2Colour> colour;
  std::string unknown_colour;                 // of a kind that is not read
  std::vector<std::vector<uint8_t>> palette;  // by column
  struct Mapping {
    int component;
    int column;  // -1: no palette
  };
  std::vector<Mapping> mappings;
  std::map<int, int> colour_channels;  // channel by number of the colour, from 1
  int alpha_channel = -1;
  bool has_definitions = false;
  double dpi_x = 0, dpi_y = 0;
};

class HeaderReader {
 public:
  HeaderReader(const std::string& path, const ReadBytes& read, uint64_t file_bytes)
      : path_(path), read_(read), file_bytes_(file_bytes) {}

  Jp2Header Read() {
    const bool is_bare = BigEndian(read_(0, 4)).U32(0) == kCodestreamMark;
    if (is_bare) {
      header_.codestream_end = file_bytes_;
    } else {
      const std::vector<Box> boxes = BoxesIn(0, file_bytes_);
      const bool is_cut_off = is_cut_off_;
      for (const Box& box : boxes) {
        if (box.type == "jp2h") ReadImageHeader(box);
        if (box.type != "jp2c") continue;
        header_.codestream_begin = box.begin;
        header_.codestream_end = box.end;
        break;
      }
      if (header_.codestream_end == 0 && is_cut_off) ThrowCutOff(path_, file_bytes_, kFormat);
      if (header_.codestream_end == 0) Refuse("no image of its own in the file");
    }
    ReadSize();
    SetChannels();
    return header_;
  }

 private:
  static constexpr uint32_t kCodestreamMark = 0xFF4FFF51;

  [[noreturn]] void Refuse(const std::string& what) const {
    ThrowUnreadable(path_, std::string(kFormat) + ": " + what);
  }

  std::string Content(const Box& box) const {
    return read_(box.begin, std::min<uint64_t>(box.end - box.begin, kMaxBoxBytes));
  }

  // In a file, those up to the codestream.
  std::vector<Box> BoxesIn(uint64_t at, uint64_t end) {
    std::vector<Box> boxes;
    while (end - at >= 8) {
      const std::string bytes = read_(at, 16);
      const ByteView view = BigEndian(bytes);
      uint64_t length = view.U32(0);
      const uint64_t head_bytes = length == 1 ? 16 : 8;
      if (length == 1) length = view.U64(8);
      if (length == 0) length = end - at;
      if (bytes.size() < head_bytes || length < head_bytes) {
        ThrowDamaged(path_, at, kFormat, "a box without a legal length");
      }
      is_cut_off_ = length > end - at;
      const uint64_t box_end = is_cut_off_ ? end : at + length;
      boxes.push_back({bytes.substr(4, 4), std::min(at + head_bytes, box_end), box_end});
      if (boxes.back().type == "jp2c") break;
      if (boxes.size() == kMaxBoxes) Refuse("more than 4096 boxes before the image");
      at = box_end;
    }
    is_cut_off_ = is_cut_off_ || at < end;
    return boxes;
  }

  void ReadImageHeader(const Box& header) {
    for (const Box& box : BoxesIn(header.begin, header.end)) {
      if (box.type == "colr") ReadColour(BigEndian(Content(box)));
      if (box.type == "pclr") ReadPalette(box);
      if (box.type == "cmap") ReadMappings(Content(box));
      if (box.type == "cdef") ReadDefinitions(BigEndian(Content(box)));
      if (box.type == "res ") ReadResolution(box);
    }
  }

  // Profiles are not applied; they say what the channels are. The first box counts.
  void ReadColour(const ByteView& box) {
    if (boxes_.colour || !boxes_.unknown_colour.empty()) return;
    const bool has_profile = box.U8(0) != 1;
    const uint32_t kind = box.U32(has_profile ? 3 + 16 : 3);
    if (kind == (has_profile ? 0x47524159U : 17U)) {  // "GRAY"
      boxes_.colour = Jp2Colour::kGray;
    } else if (kind == (has_profile ? 0x52474220U : 16U)) {  // "RGB "
      boxes_.colour = Jp2Colour::kRgb;
    } else if (kind == (has_profile ? 0x434D594BU : 12U)) {  // "CMYK"
      boxes_.colour = Jp2Colour::kCmyk;
    } else if (!has_profile && kind == 18) {
      boxes_.colour = Jp2Colour::kYcc;
    } else {
      boxes_.unknown_colour = has_profile ? "a colour profile that is not for gray, RGB or CMYK"
                                          : "colour space " + std::to_string(kind) +
                                                " (gray, sRGB, sYCC "
                                                "and CMYK are)";
    }
  }

  void ReadPalette(const Box& box) {
    const std::string content = Content(box);
    const ByteView view = BigEndian(content);
    const size_t num_entries = view.U16(0);
    const size_t num_columns = view.U8(2);
    if (num_entries < 1 || num_entries > kMaxPaletteEntries || num_columns < 1 || num_columns > 4) {
      ThrowDamaged(path_, box.begin, kFormat, "not a palette of 1 to 1024 colours");
    }
    boxes_.palette.assign(num_columns, {});
    uint64_t at = 3 + num_columns;
    for (size_t entry = 0; entry < num_entries; ++entry) {
      for (size_t column = 0; column < num_columns; ++column) {
        const int bits = (view.U8(3 + column) & 0x7F) + 1;
        const bool is_signed = (view.U8(3 + column) & 0x80) != 0;
        if (bits > kMaxBits || is_signed) Refuse("a palette of signed or of more than 16 bits");
        boxes_.palette[column].push_back(To8Bits(bits > 8 ? view.U16(at) : view.U8(at), bits));
        at += bits > 8 ? 2 : 1;
      }
    }
    if (at > content.size()) ThrowDamaged(path_, box.begin, kFormat, "the palette is cut off");
  }

  void ReadMappings(const std::string& content) {
    const ByteView view = BigEndian(content);
    boxes_.mappings.clear();
    for (uint64_t at = 0; at + 4 <= content.size() && boxes_.mappings.size() < 16; at += 4) {
      boxes_.mappings.push_back({view.U16(at), view.U8(at + 2) == 1 ? view.U8(at + 3) : -1});
    }
  }

  void ReadDefinitions(const ByteView& box) {
    boxes_.has_definitions = true;
    const int num_channels = std::min<int>(box.U16(0), 16);
    for (int i = 0; i < num_channels; ++i) {
      const uint64_t at = 2 + 6 * static_cast<uint64_t>(i);
      const int channel = box.U16(at);
      const int type = box.U16(at + 2);
      const int colour = box.U16(at + 4);
      if (type == 0) boxes_.colour_channels[colour] = channel;
      if (type == 1 && colour == 0) boxes_.alpha_channel = channel;
      if (type == 2) Refuse("premultiplied alpha is not read");
    }
  }

  // What the page was captured with, else what it is to be shown with; in pixels per metre.
  void ReadResolution(const Box& resolution) {
    for (const Box& box : BoxesIn(resolution.begin, resolution.end)) {
      const bool is_capture = box.type == "resc";
      if (!is_capture && (box.type != "resd" || boxes_.dpi_x > 0)) continue;
      const std::string content = Content(box);
      const ByteView view = BigEndian(content);
      const auto dpi = [&view](uint64_t ratio, uint64_t exponent) {
        const double value = view.U16(ratio) / std::max<double>(view.U16(ratio + 2), 1) *
                             std::pow(10.0, static_cast<int8_t>(view.U8(exponent)));
        return value * kMetresPerInch;
      };
      const double y = dpi(0, 8);
      const double x = dpi(4, 9);
      if (!(x > 0 && y > 0 && x < 1e6 && y < 1e6)) continue;
      boxes_.dpi_x = x;
      boxes_.dpi_y = y;
    }
  }

  // The marker that begins every codestream.
  void ReadSize() {
    const uint64_t begin = header_.codestream_begin;
    const std::string bytes = read_(begin, 42 + 3 * kMaxComponents);
    const ByteView view = BigEndian(bytes);
    if (bytes.size() < 42) ThrowCutOff(path_, file_bytes_, kFormat);
    if (view.U32(0) != kCodestreamMark) ThrowDamaged(path_, begin, kFormat, "no codestream");
    header_.x1 = view.U32(8);
    header_.y1 = view.U32(12);
    header_.x0 = view.U32(16);
    header_.y0 = view.U32(20);
    const int64_t tile_width = view.U32(24), tile_height = view.U32(28);
    const int64_t tile_x0 = view.U32(32), tile_y0 = view.U32(36);
    const int num_components = view.U16(40);
    if (header_.x0 >= header_.x1 || header_.y0 >= header_.y1 || tile_width == 0 ||
        tile_height == 0 || tile_x0 > header_.x0 || tile_y0 > header_.y0 || num_components == 0) {
      ThrowDamaged(path_, begin, kFormat, "impossible sizes");
    }
    if (num_components > kMaxComponents) {
      Refuse(std::to_string(num_components) + " components; at most 5 are read");
    }
    if (bytes.size() < 42 + 3 * static_cast<size_t>(num_components)) {
      ThrowCutOff(path_, file_bytes_, kFormat);
    }
    header_.num_tiles = ((header_.x1 - tile_x0 + tile_width - 1) / tile_width) *
                        ((header_.y1 - tile_y0 + tile_height - 1) / tile_height);
    for (int i = 0; i < num_components; ++i) ReadComponent(view, 42 + 3 * static_cast<uint64_t>(i));
    const auto finer = [](auto step) {
      return [step](const Jp2Component& a, const Jp2Component& b) { return a.*step < b.*step; };
    };
    header_.step_x =
        std::ranges::min_element(header_.components, finer(&Jp2Component::step_x))->step_x;
    header_.step_y =
        std::ranges::min_element(header_.components, finer(&Jp2Component::step_y))->step_y;
    if (header_.Width() <= 0 || header_.Height() <= 0) {
      ThrowDamaged(path_, begin, kFormat, "impossible sizes");
    }
  }

  void ReadComponent(const ByteView& view, uint64_t at) {
    Jp2Component component;
    component.bits = (view.U8(at) & 0x7F) + 1;
    component.is_signed = (view.U8(at) & 0x80) != 0;
    component.step_x = view.U8(at + 1);
    component.step_y = view.U8(at + 2);
    if (component.step_x == 0 || component.step_y == 0) {
      ThrowDamaged(path_, header_.codestream_begin + at, kFormat, "a component without samples");
    }
    if (component.bits > kMaxBits) {
      Refuse(std::to_string(component.bits) + " bits a sample; at most 16 are read");
    }
    header_.components.push_back(component);
  }

  // All channels there are, in their order.
  std::vector<Jp2Channel> AllChannels() const {
    std::vector<Jp2Channel> channels;
    if (boxes_.palette.empty() || boxes_.mappings.empty()) {
      for (size_t i = 0; i < header_.components.size(); ++i) {
        channels.push_back({static_cast<int>(i), {}});
      }
      return channels;
    }
    for (const Boxes::Mapping& mapping : boxes_.mappings) {
      const bool is_legal = mapping.component < static_cast<int>(header_.components.size()) &&
                            mapping.column < static_cast<int>(boxes_.palette.size());
      if (!is_legal) Refuse("the palette is for components that are not there");
      channels.push_back({mapping.component, {}});
      if (mapping.column >= 0) {
        channels.back().palette = boxes_.palette[static_cast<size_t>(mapping.column)];
      }
    }
    return channels;
  }

  void SetChannels() {
    if (!boxes_.colour && !boxes_.unknown_colour.empty()) {
      Refuse(boxes_.unknown_colour + " is not read");
    }
    const std::vector<Jp2Channel> all = AllChannels();
    // Without boxes the number of components says what they are, as for PNG.
    header_.colour = boxes_.colour.value_or(all.size() < 3 ? Jp2Colour::kGray : Jp2Colour::kRgb);
    const size_t num_colours = header_.colour == Jp2Colour::kGray   ? 1
                               : header_.colour == Jp2Colour::kCmyk ? 4
                                                                    : 3;
    const auto channel = [&](int number) -> const Jp2Channel& {
      if (number < 0 || number >= static_cast<int>(all.size())) {
        Refuse(std::to_string(all.size()) + " channels where there should be " +
               std::to_string(num_colours));
      }
      return all[static_cast<size_t>(number)];
    };
    for (int i = 0; i < static_cast<int>(num_colours); ++i) {
      const auto defined = boxes_.colour_channels.find(i + 1);
      header_.channels.push_back(
          channel(defined == boxes_.colour_channels.end() ? i : defined->second));
    }
    int alpha = boxes_.alpha_channel;
    if (!boxes_.has_definitions && all.size() == num_colours + 1)
      alpha = static_cast<int>(num_colours);
    if (alpha >= 0) header_.alpha.push_back(channel(alpha));
    header_.dpi_x = boxes_.dpi_x;
    header_.dpi_y = boxes_.dpi_y;
  }

  const std::string& path_;
  const ReadBytes& read_;
  const uint64_t file_bytes_;
  bool is_cut_off_ = false;  // the last of the boxes listed last
  Boxes boxes_;
  Jp2Header header_;
};

}  // namespace

Jp2Header ReadJp2Header(const std::string& path, const ReadBytes& read, uint64_t file_bytes) {
  return HeaderReader(path, read, file_bytes).Read();
}

}  // namespace platen
