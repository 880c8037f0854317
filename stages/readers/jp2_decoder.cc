// JPEG 2000 through OpenJPEG, which is given the codestream alone: boxes, palettes and colours are
// read here (jp2_header.h).
#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "stages/readers/decoders.h"
#include "stages/readers/jp2_header.h"
#include "stages/readers/jp2_precincts.h"
#include "stages/readers/pixels.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr const char* kFormat = "JPEG 2000";

// What OpenJPEG reads from.
struct MemoryStream {
  std::span<const uint8_t> bytes;
  size_t at = 0;
};

extern "C" {

OPJ_SIZE_T Jp2OnRead(void* out, OPJ_SIZE_T length, void* user) {
  auto* stream = static_cast<MemoryStream*>(user);
  const size_t n = std::min<size_t>(length, stream->bytes.size() - stream->at);
  if (n == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(out, stream->bytes.data() + stream->at, n);
  stream->at += n;
  return n;
}

OPJ_OFF_T Jp2OnSkip(OPJ_OFF_T length, void* user) {
  auto* stream = static_cast<MemoryStream*>(user);
  if (length < 0) return -1;
  const size_t left = stream->bytes.size() - stream->at;
  stream->at += std::min(static_cast<size_t>(length), left);
  return length;
}

OPJ_BOOL Jp2OnSeek(OPJ_OFF_T offset, void* user) {
  auto* stream = static_cast<MemoryStream*>(user);
  if (offset < 0 || static_cast<size_t>(offset) > stream->bytes.size()) return OPJ_FALSE;
  stream->at = static_cast<size_t>(offset);
  return OPJ_TRUE;
}

void Jp2OnMessage(const char* message, void* first) {
  auto* kept = static_cast<std::string*>(first);
  if (kept->empty()) *kept = std::string(message).substr(0, 160);
}

}  // extern "C"

// One decoding.
class Jp2Reader {
 public:
  Jp2Reader(const EncodedImage& file, const Jp2Header& header)
      : file_(file),
        header_(header),
        stream_{file.bytes.subspan(header.codestream_begin,
                                   header.codestream_end - header.codestream_begin)} {}

  const opj_image_t& Decode() {
    constexpr size_t kBufferBytes = 1 << 16;
    opj_.reset(opj_stream_create(kBufferBytes, OPJ_TRUE));
    codec_.reset(opj_create_decompress(OPJ_CODEC_J2K));
    if (!opj_ || !codec_)
      ThrowUnreadable(file_.path, "JPEG 2000: out of memory", FailureCode::kOutOfMemory);
    opj_stream_set_user_data(opj_.get(), &stream_, nullptr);
    opj_stream_set_user_data_length(opj_.get(), stream_.bytes.size());
    opj_stream_set_read_function(opj_.get(), Jp2OnRead);
    opj_stream_set_skip_function(opj_.get(), Jp2OnSkip);
    opj_stream_set_seek_function(opj_.get(), Jp2OnSeek);
    opj_set_error_handler(codec_.get(), Jp2OnMessage, &error_);
    opj_set_warning_handler(codec_.get(), Jp2OnMessage, &warning_);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    opj_image_t* image = nullptr;
    // No threads, whatever OPJ_NUM_THREADS says; and no part of the pixels that would be made up.
    bool ok = opj_setup_decoder(codec_.get(), &parameters) != OPJ_FALSE &&
              opj_codec_set_threads(codec_.get(), 0) != OPJ_FALSE &&
              opj_decoder_set_strict_mode(codec_.get(), OPJ_TRUE) != OPJ_FALSE &&
              opj_read_header(opj_.get(), codec_.get(), &image) != OPJ_FALSE;
    image_.reset(image);
    ok = ok && opj_decode(codec_.get(), opj_.get(), image) != OPJ_FALSE;
    if (!ok) Fail();
    CheckImage();
    return *image_;
  }

  std::string warning() const { return OneLine(warning_); }

 private:
  // OpenJPEG's handles are pointers to nothing in particular.
  struct DestroyStream {
    void operator()(opj_stream_t* stream) const { opj_stream_destroy(stream); }
  };
  struct DestroyCodec {
    void operator()(opj_codec_t* codec) const { opj_destroy_codec(codec); }
  };
  struct DestroyImage {
    void operator()(opj_image_t* image) const { opj_image_destroy(image); }
  };

  static std::string OneLine(const std::string& message) {
    return message.substr(0, message.find('\n'));
  }

  [[noreturn]] void Fail() const {
    // The mark of a codestream's end is the last thing in it.
    const std::span<const uint8_t> all = stream_.bytes;
    const bool is_whole = all.size() >= 2 && all[all.size() - 2] == 0xFF && all.back() == 0xD9;
    if (!is_whole && header_.codestream_end == file_.bytes.size()) {
      ThrowCutOff(file_.path, file_.bytes.size(), kFormat);
    }
    ThrowUnreadable(file_.path, "JPEG 2000: " + (error_.empty() ? "damaged" : OneLine(error_)));
  }

  // The pixels are looked up by what the header said.
  void CheckImage() const {
    bool fits = image_->numcomps == header_.components.size();
    for (size_t i = 0; fits && i < header_.components.size(); ++i) {
      const opj_image_comp_t& component = image_->comps[i];
      const Jp2Component& expected = header_.components[i];
      fits = component.data != nullptr && static_cast<int>(component.prec) == expected.bits &&
             component.w == Jp2Header::Samples(header_.x0, header_.x1, expected.step_x) &&
             component.h == Jp2Header::Samples(header_.y0, header_.y1, expected.step_y) &&
             component.w > 0 && component.h > 0;
    }
    if (!fits) ThrowUnreadable(file_.path, "JPEG 2000: the pixels do not fit the header");
  }

  const EncodedImage& file_;
  const Jp2Header& header_;
  MemoryStream stream_;
  std::string error_;
  std::string warning_;
  std::unique_ptr<opj_stream_t, DestroyStream> opj_;
  std::unique_ptr<opj_codec_t, DestroyCodec> codec_;
  std::unique_ptr<opj_image_t, DestroyImage> image_;
};

// 8-bit values of one channel, row by row.
class ChannelRows {
 public:
  ChannelRows(const opj_image_t& image, const Jp2Header& header, const Jp2Channel& channel)
      : samples_(image.comps[channel.component]),
        component_(header.components[static_cast<size_t>(channel.component)]),
        header_(header),
        offset_(component_.is_signed ? 1 << (component_.bits - 1) : 0),
        values_(size_t{1} << component_.bits) {
    const int most = static_cast<int>(values_.size()) - 1;
    for (int v = 0; v <= most; ++v) {
      const auto i = static_cast<size_t>(v);
      const std::vector<uint8_t>& palette = channel.palette;
      values_[i] = !palette.empty()      ? palette[std::min(i, palette.size() - 1)]
                   : component_.bits > 8 ? static_cast<uint8_t>(v >> (component_.bits - 8))
                                         : static_cast<uint8_t>((v * 255 + most / 2) / most);
    }
  }

  // Row `y` of the page into every `stride`-th byte of `out`. Components with fewer samples than
  // the page has pixels repeat them.
  void CopyRow(int64_t y, int stride, uint8_t* out) const {
    const int64_t row = IndexOf(y, header_.y0, header_.step_y, component_.step_y, samples_.h);
    const OPJ_INT32* from = samples_.data + row * samples_.w;
    const int64_t width = header_.Width();
    for (int64_t x = 0; x < width; ++x, out += stride) {
      const int64_t column = IndexOf(x, header_.x0, header_.step_x, component_.step_x, samples_.w);
      const int64_t value = int64_t{from[column]} + offset_;
      *out = values_[static_cast<size_t>(
          std::clamp<int64_t>(value, 0, static_cast<int64_t>(values_.size()) - 1))];
    }
  }

 private:
  // The sample at a pixel: that at its place on the reference grid or the next before it.
  static int64_t IndexOf(int64_t pixel, int64_t begin, int64_t pixel_step, int64_t step,
                         int64_t num_samples) {
    if (step == pixel_step) return pixel;
    const int64_t grid = ((begin + pixel_step - 1) / pixel_step + pixel) * pixel_step;
    return std::clamp<int64_t>(grid / step - (begin + step - 1) / step, 0, num_samples - 1);
  }

  const opj_image_comp_t& samples_;
  const Jp2Component& component_;
  const Jp2Header& header_;
  const int64_t offset_;
  std::vector<uint8_t> values_;  // by the sample's
};

// BT.601 with full range, in place; rounded to nearest.
void YccToRgb(uint8_t* rgb, size_t num_pixels) {
  const auto clamp = [](int v) {
    return static_cast<uint8_t>(std::clamp((v + 32768) >> 16, 0, 255));
  };
  for (size_t i = 0; i < num_pixels; ++i, rgb += 3) {
    const int y = rgb[0] << 16;
    const int cb = rgb[1] - 128;
    const int cr = rgb[2] - 128;
    rgb[0] = clamp(y + 91881 * cr);
    rgb[1] = clamp(y - 22554 * cb - 46802 * cr);
    rgb[2] = clamp(y + 116130 * cb);
  }
}

// One row in the colour's own channels (`raw`: four bytes a pixel) and in RGB.
void ToRgb(Jp2Colour colour, const std::vector<uint8_t>& raw, size_t width, uint8_t* rgb) {
  switch (colour) {
    case Jp2Colour::kGray:
      return GrayToRgb(raw.data(), width, rgb);
    case Jp2Colour::kCmyk:
      return CmykToRgb(raw.data(), width, rgb);
    case Jp2Colour::kRgb:
    case Jp2Colour::kYcc:
      std::copy_n(raw.data(), width * Image::kChannels, rgb);
      if (colour == Jp2Colour::kYcc) YccToRgb(rgb, width);
  }
}

Image ToImage(const opj_image_t& decoded, const Jp2Header& header, bool on_white) {
  Image image(static_cast<int>(header.Width()), static_cast<int>(header.Height()));
  std::vector<ChannelRows> channels;
  for (const Jp2Channel& channel : header.channels) {
    channels.emplace_back(decoded, header, channel);
  }
  if (on_white) channels.emplace_back(decoded, header, header.alpha.at(0));
  const auto width = static_cast<size_t>(image.width);
  const size_t num_colours = header.channels.size();
  std::vector<uint8_t> raw(width * num_colours);
  std::vector<uint8_t> rgba(on_white ? width * 4 : 0);
  for (int y = 0; y < image.height; ++y) {
    for (size_t c = 0; c < num_colours; ++c) {
      channels[c].CopyRow(y, static_cast<int>(num_colours), raw.data() + c);
    }
    ToRgb(header.colour, raw, width, image.Row(y));
    if (!on_white) continue;
    channels.back().CopyRow(y, 4, rgba.data() + 3);
    for (size_t x = 0; x < width; ++x) std::copy_n(image.Row(y) + 3 * x, 3, rgba.data() + 4 * x);
    RgbaOnWhite(rgba.data(), width, image.Row(y));
  }
  return image;
}

// Throws if what OpenJPEG keeps for each tile, before it decodes any, is out of proportion.
void CheckTiles(const std::string& path, const Jp2Header& header) {
  constexpr int64_t kBytesPerTile = 6 << 10;
  constexpr int64_t kBytesPerComponent = 2 << 10;
  constexpr int64_t kMaxTiles = 65535;
  const auto num_components = static_cast<int64_t>(header.components.size());
  const int64_t bytes_per_tile = kBytesPerTile + num_components * kBytesPerComponent;
  if (header.num_tiles > kMaxTiles ||
      header.num_tiles * bytes_per_tile > MostBytesFor({header.Width(), header.Height()})) {
    ThrowUnreadable(path, "JPEG 2000: " + std::to_string(header.num_tiles) +
                              " tiles, far more than an image of this size needs");
  }
}

// The same of precincts.
void CheckPrecincts(const EncodedImage& file, const Jp2Header& header) {
  constexpr int64_t kBytesPerPrecinct = 1 << 10;
  const std::span<const uint8_t> codestream =
      file.bytes.subspan(header.codestream_begin, header.codestream_end - header.codestream_begin);
  const int64_t most = MostBytesFor({header.Width(), header.Height()}) / kBytesPerPrecinct;
  if (MostPrecincts(file.path, codestream, header) > most) {
    ThrowUnreadable(file.path, "JPEG 2000: far more precincts than an image of this size needs");
  }
}

}  // namespace

ImageSize Jp2Size(const InputFile& file) {
  const ReadBytes read = [&file](uint64_t offset, size_t size) {
    std::string bytes(size, '\0');
    bytes.resize(file.ReadAt(offset, {reinterpret_cast<uint8_t*>(bytes.data()), size}));
    return bytes;
  };
  const Jp2Header header = ReadJp2Header(file.path(), read, file.size());
  return {header.Width(), header.Height()};
}

PageImage DecodeJp2(const EncodedImage& file, const ReadLimits& limits) {
  const std::string_view all(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  const ReadBytes read = [all](uint64_t offset, size_t size) {
    return std::string(all.substr(std::min<uint64_t>(offset, all.size()), size));
  };
  const Jp2Header header = ReadJp2Header(file.path, read, all.size());
  CheckPageSize(file.path, header.Width(), header.Height(), limits);
  CheckTiles(file.path, header);
  CheckPrecincts(file, header);
  Jp2Reader reader(file, header);
  const opj_image_t& decoded = reader.Decode();
  PageImage page;
  page.image = ToImage(decoded, header, limits.composite_alpha_on_white && !header.alpha.empty());
  page.dpi_x = header.dpi_x;
  page.dpi_y = header.dpi_y;
  page.warning = reader.warning();
  return page;
}

}  // namespace platen
