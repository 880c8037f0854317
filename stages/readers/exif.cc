#include "stages/readers/exif.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "stages/readers/byte_view.h"

namespace platen {
namespace {

constexpr uint16_t kTagOrientation = 0x0112;
constexpr uint16_t kTagXResolution = 0x011A;
constexpr uint16_t kTagYResolution = 0x011B;
constexpr uint16_t kTagResolutionUnit = 0x0128;
constexpr double kCentimetresPerInch = 2.54;

double Rational(const ByteView& view, uint64_t at) {
  const uint32_t divisor = view.U32(at + 4);
  return divisor == 0 ? 0.0 : static_cast<double>(view.U32(at)) / divisor;
}

}  // namespace

ExifFacts ParseExif(std::span<const uint8_t> block) {
  constexpr std::array<uint8_t, 6> kPrefix = {'E', 'x', 'i', 'f', 0, 0};
  if (block.size() >= kPrefix.size() && std::equal(kPrefix.begin(), kPrefix.end(), block.begin())) {
    block = block.subspan(kPrefix.size());
  }
  ExifFacts facts;
  if (block.size() < 8 || block[0] != block[1] || (block[0] != 'I' && block[0] != 'M')) {
    return facts;
  }
  const ByteView numbers(block, block[0] == 'M' ? ByteOrder::kBig : ByteOrder::kLittle);
  const uint64_t directory = numbers.U32(4);
  const uint32_t num_entries = numbers.U16(directory);
  double per_inch = 1;
  for (uint32_t i = 0; i < num_entries; ++i) {
    const uint64_t entry = directory + 2 + uint64_t{12} * i;
    const uint64_t value = entry + 8;
    switch (numbers.U16(entry)) {
      case kTagOrientation:
        facts.orientation = numbers.U16(value);
        break;
      case kTagXResolution:
        facts.dpi_x = Rational(numbers, numbers.U32(value));
        break;
      case kTagYResolution:
        facts.dpi_y = Rational(numbers, numbers.U32(value));
        break;
      case kTagResolutionUnit:
        per_inch = numbers.U16(value) == 3 ? kCentimetresPerInch : 1;
        break;
      default:
        break;
    }
  }
  if (facts.orientation < 1 || facts.orientation > 8) facts.orientation = 1;
  facts.dpi_x *= per_inch;
  facts.dpi_y *= per_inch;
  return facts;
}

}  // namespace platen
