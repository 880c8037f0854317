#include "tests/support/npy.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace platen::testing {
namespace {

constexpr size_t kMagicSize = 6;

// The value of a key of the header's Python dict: text from after "'key':" on.
std::string HeaderValue(const std::string& header, const std::string& key,
                        const std::string& path) {
  const size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) throw std::runtime_error(path + ": no " + key + " in npy header");
  return header.substr(at + key.size() + 3);
}

std::vector<int64_t> ParseShape(const std::string& text) {
  std::vector<int64_t> shape;
  const size_t open = text.find('(');
  const size_t close = text.find(')');
  for (size_t i = open + 1; i < close;) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
      ++i;
      continue;
    }
    size_t used = 0;
    shape.push_back(std::stoll(text.substr(i, close - i), &used));
    i += used;
  }
  return shape;
}

template <class Stored, class Out>
void CopyValues(const std::string& bytes, size_t offset, size_t count, std::vector<Out>& out,
                const std::string& path) {
  if (bytes.size() - offset != count * sizeof(Stored)) {
    throw std::runtime_error(path + ": npy data size does not match its shape");
  }
  out.resize(count);
  for (size_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + offset + i * sizeof(Stored), sizeof(Stored));
    out[i] = static_cast<Out>(value);
  }
}

}  // namespace

Npy ReadNpy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot open");
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (bytes.size() < 10 || bytes.compare(0, kMagicSize, "\x93NUMPY") != 0 || bytes[6] != 1) {
    throw std::runtime_error(path + ": not a version 1 npy file");
  }
  uint16_t header_size = 0;
  std::memcpy(&header_size, bytes.data() + 8, 2);
  const std::string header = bytes.substr(10, header_size);
  const size_t offset = 10U + header_size;
  Npy npy;
  npy.shape = ParseShape(HeaderValue(header, "shape", path));
  size_t count = 1;
  for (const int64_t n : npy.shape) count *= static_cast<size_t>(n);
  const std::string descr = HeaderValue(header, "descr", path);
  if (descr.find("f4") < 6) {
    CopyValues<float>(bytes, offset, count, npy.f32, path);
  } else if (descr.find("f8") < 6) {
    CopyValues<double>(bytes, offset, count, npy.f64, path);
  } else if (descr.find("i8") < 6) {
    CopyValues<int64_t>(bytes, offset, count, npy.i64, path);
  } else if (descr.find("i4") < 6) {
    CopyValues<int32_t>(bytes, offset, count, npy.i64, path);
  } else if (descr.find("u1") < 6) {
    CopyValues<uint8_t>(bytes, offset, count, npy.u8, path);
  } else {
    throw std::runtime_error(path + ": unknown npy dtype " + descr.substr(0, 8));
  }
  return npy;
}

::testing::AssertionResult AllClose(std::span<const float> actual, std::span<const float> expected,
                                    double atol) {
  if (actual.size() != expected.size()) {
    return ::testing::AssertionFailure()
           << "sizes differ: " << actual.size() << " against " << expected.size();
  }
  double worst = -1.0;
  size_t worst_at = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
    // A NaN difference is worse than any number.
    if (std::isnan(difference)) {
      return ::testing::AssertionFailure()
             << "NaN at " << i << ": actual " << actual[i] << ", expected " << expected[i];
    }
    if (difference > worst) {
      worst = difference;
      worst_at = i;
    }
  }
  if (worst <= atol) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "worst element " << worst_at << " of " << actual.size() << ": actual "
         << actual[worst_at] << ", expected " << expected[worst_at] << ", difference " << worst
         << " > " << atol << " (" << worst / atol << " x)";
}

std::string SourcePath(const std::string& relative) {
  return std::string(PLATEN_SOURCE_DIR) + "/" + relative;
}

}  // namespace platen::testing
