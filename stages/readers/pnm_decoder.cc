// PBM, PGM and PPM (P1 to P6). Format: https://netpbm.sourceforge.net/doc/pnm.html.
#include <algorithm>
#include <cctype>
#include <cstring>

#include "stages/readers/decoders.h"
#include "stages/readers/pixels.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr int kMaxLevels = 65535;

struct Header {
  int kind = 0;  // 1 to 6
  int64_t width = 0;
  int64_t height = 0;
  int max_level = 1;

  bool is_text() const { return kind <= 3; }
  bool is_bitmap() const { return kind == 1 || kind == 4; }
  size_t channels() const { return kind == 3 || kind == 6 ? 3 : 1; }
};

class Parser {
 public:
  // `file_bytes`: of the file, of which `start` may be a part.
  Parser(const EncodedImage& start, uint64_t file_bytes)
      : path_(start.path), bytes_(start.bytes), file_bytes_(file_bytes) {}

  Header ReadHeader() {
    Header header;
    if (bytes_.size() < 2) FailCutOff();
    header.kind = bytes_[1] - '0';
    if (bytes_[0] != 'P' || header.kind < 1 || header.kind > 6) Fail("no P1 to P6 at the start");
    at_ = 2;
    header.width = ReadNumber("width");
    header.height = ReadNumber("height");
    if (!header.is_bitmap()) {
      header.max_level = static_cast<int>(std::min<int64_t>(ReadNumber("levels"), kMaxLevels + 1));
      if (header.max_level < 1 || header.max_level > kMaxLevels) {
        Fail("the number of levels is not between 1 and 65535");
      }
    }
    if (!header.is_text()) {
      if (at_ >= bytes_.size()) FailCutOff();
      if (std::isspace(bytes_[at_++]) == 0) Fail("no white space after the header");
    }
    return header;
  }

  // A decimal number after white space and comments.
  int64_t ReadNumber(const char* what) {
    SkipSpace();
    if (at_ >= bytes_.size()) FailCutOff();
    if (std::isdigit(bytes_[at_]) == 0) {
      Fail(std::string("no number where the ") + what + " belongs");
    }
    int64_t value = 0;
    while (at_ < bytes_.size() && std::isdigit(bytes_[at_]) != 0) {
      value = std::min<int64_t>(value * 10 + (bytes_[at_++] - '0'), INT32_MAX);
    }
    return value;
  }

  // A pixel of a text bitmap: one digit, white space not needed.
  bool ReadBit() {
    SkipSpace();
    if (at_ >= bytes_.size()) FailCutOff();
    const uint8_t digit = bytes_[at_++];
    if (digit != '0' && digit != '1') Fail("a pixel is neither 0 nor 1");
    return digit == '1';
  }

  std::span<const uint8_t> ReadBytes(size_t length) {
    if (at_ > bytes_.size() || length > bytes_.size() - at_) FailCutOff();
    at_ += length;
    return bytes_.subspan(at_ - length, length);
  }

  [[noreturn]] void Fail(const std::string& reason) const {
    ThrowDamaged(path_, std::min(at_, bytes_.size()), "PNM", reason);
  }
  [[noreturn]] void FailCutOff() const {
    if (bytes_.size() < file_bytes_) Fail("the header is too long");
    ThrowCutOff(path_, file_bytes_, "PNM");
  }

 private:
  void SkipSpace() {
    while (at_ < bytes_.size()) {
      if (bytes_[at_] == '#') {
        while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
      } else if (std::isspace(bytes_[at_]) != 0) {
        ++at_;
      } else {
        return;
      }
    }
  }

  const std::string& path_;
  std::span<const uint8_t> bytes_;
  uint64_t file_bytes_;
  size_t at_ = 0;
};

// A level of a header with `max_level` levels as one of 255. The high byte for full 16 bit.
uint8_t ToByte(int64_t level, int max_level) {
  if (max_level == 255) return static_cast<uint8_t>(level);
  if (max_level == kMaxLevels) return static_cast<uint8_t>(level >> 8);
  return static_cast<uint8_t>((level * 255 + max_level / 2) / max_level);
}

// One row of `count` samples as bytes.
void ReadRow(Parser& parser, const Header& header, size_t count, uint8_t* out) {
  if (header.kind == 1) {
    for (size_t i = 0; i < count; ++i) out[i] = parser.ReadBit() ? 0 : 255;
  } else if (header.kind == 4) {
    const auto packed = parser.ReadBytes((count + 7) / 8);
    for (size_t i = 0; i < count; ++i) out[i] = (packed[i / 8] >> (7 - i % 8) & 1) != 0 ? 0 : 255;
  } else if (!header.is_text() && header.max_level == 255) {
    std::memcpy(out, parser.ReadBytes(count).data(), count);
  } else {
    const size_t sample_bytes = header.max_level < 256 ? 1 : 2;
    const auto row =
        header.is_text() ? std::span<const uint8_t>{} : parser.ReadBytes(count * sample_bytes);
    for (size_t i = 0; i < count; ++i) {
      const int64_t level = header.is_text()    ? parser.ReadNumber("next sample")
                            : sample_bytes == 1 ? row[i]
                                                : row[2 * i] << 8 | row[2 * i + 1];
      if (level > header.max_level) parser.Fail("a sample is above the highest level");
      out[i] = ToByte(level, header.max_level);
    }
  }
}

}  // namespace

ImageSize PnmSize(const InputFile& file) {
  constexpr size_t kMostBytes = 64 << 10;  // of comments, mostly
  const std::vector<uint8_t> start = file.ReadFirst(kMostBytes);
  const Header header = Parser({file.path(), start}, file.size()).ReadHeader();
  return {header.width, header.height};
}

PageImage DecodePnm(const EncodedImage& file, const ReadLimits& limits) {
  Parser parser(file, file.bytes.size());
  const Header header = parser.ReadHeader();
  CheckPageSize(file.path, header.width, header.height, limits);
  // A sample takes at least a bit (binary bitmaps) or a byte, so short files need no memory.
  const size_t num_samples = static_cast<size_t>(header.width * header.height) * header.channels();
  if (file.bytes.size() < (header.kind == 4 ? num_samples / 8 : num_samples)) {
    ThrowCutOff(file.path, file.bytes.size(), "PNM");
  }
  PageImage page;
  page.image = Image(static_cast<int>(header.width), static_cast<int>(header.height));
  const size_t width = static_cast<size_t>(header.width);
  std::vector<uint8_t> gray(header.channels() == 1 ? width : 0);
  for (int y = 0; y < page.image.height; ++y) {
    if (header.channels() == 3) {
      ReadRow(parser, header, 3 * width, page.image.Row(y));
    } else {
      ReadRow(parser, header, width, gray.data());
      GrayToRgb(gray.data(), width, page.image.Row(y));
    }
  }
  return page;
}

}  // namespace platen
