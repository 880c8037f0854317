// A file of packed weights, as anybody may put one into a cache folder. The first byte says what
// the rest is: a whole file, or an index, around which a file with right checksums is made.
#include <cstring>

#include "model/checkpoint/packed_file.h"
#include "model/support/hash.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

// The preamble (packed_file.cc) and 256 bytes of arrays.
std::string FileWithIndex(std::string_view index) {
  constexpr size_t kPreambleBytes = 4096, kArrayBytes = 256;
  std::string file(kPreambleBytes + kArrayBytes, '\0');
  const auto put = [&](size_t at, const void* bytes, size_t count) {
    std::memcpy(file.data() + at, bytes, count);
  };
  const auto put_hash = [&](size_t at, std::string_view of) {
    put(at, platen::HashHex(of).data(), platen::kHashHexLength);
  };
  const uint32_t format = 1;
  const uint64_t places[2] = {file.size(), index.size()};
  put(0, "PLTNPACK", 8);
  put(8, &format, sizeof(format));
  put(16, places, sizeof(places));
  put_hash(32, index);
  put_hash(32 + platen::kHashHexLength, std::string_view(file).substr(kPreambleBytes));
  put_hash(32 + 2 * platen::kHashHexLength,
           std::string_view(file).substr(0, 32 + 2 * platen::kHashHexLength));
  return file.append(index);
}

void Read(std::string_view bytes) {
  const platen::fuzz::MemoryFile memory(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  platen::fuzz::Run([&] {
    const platen::PackedFile file(memory.path());
    platen::fuzz::Run([&] { file.CheckArrays(); });
    for (const uint64_t length : {uint64_t{0}, uint64_t{64}}) {
      platen::fuzz::Run([&] {
        unsigned sum = 0;
        for (const auto& array : file.Find("a", "f", std::vector<uint64_t>{length})) {
          for (const std::byte byte : array) sum += std::to_integer<unsigned>(byte);
        }
        if (sum == 1) std::abort();  // all of them are zero
      });
    }
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest = platen::fuzz::Text({data + 1, size - 1});
  if (data[0] == 'i') {
    Read(FileWithIndex(rest));
  } else {
    Read(rest);
  }
  return 0;
}
