#include "model/support/npy_writer.h"

#include <cassert>
#include <fstream>
#include <stdexcept>

#include "model/support/error.h"

namespace platen {
namespace {

// "\x93NUMPY", version 1.0, header length, header padded so that the data starts at a multiple
// of 64.
std::string Header(const char* dtype, const std::vector<int64_t>& shape) {
  std::string dict = std::string("{'descr': '") + dtype + "', 'fortran_order': False, 'shape': (";
  for (const int64_t n : shape) dict += std::to_string(n) + ", ";
  if (shape.size() > 1) dict.resize(dict.size() - 2);
  dict += "), }";
  constexpr size_t kPrefix = 10;
  while ((kPrefix + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xFF);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

template <class T>
void Write(const std::string& path, const char* dtype, std::span<const T> values,
           const std::vector<int64_t>& shape) {
  std::ofstream out(path, std::ios::binary);
  const std::string header = Header(dtype, shape);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size_bytes()));
  out.close();
  if (!out) throw Error(ErrorKind::kEnvironment, {.file = path, .field = {}}, "cannot write");
}

}  // namespace

void WriteNpy(const std::string& path, std::span<const float> values,
              const std::vector<int64_t>& shape) {
  Write(path, "<f4", values, shape);
}

void WriteNpy(const std::string& path, std::span<const int64_t> values,
              const std::vector<int64_t>& shape) {
  Write(path, "<i8", values, shape);
}

void WriteNpy(const std::string& path, std::span<const uint8_t> values,
              const std::vector<int64_t>& shape) {
  Write(path, "|u1", values, shape);
}

NpyStream::NpyStream(const std::string& path, const std::vector<int64_t>& shape)
    : path_(path), out_(path, std::ios::binary), missing_(1) {
  for (const int64_t n : shape) missing_ *= n;
  const std::string header = Header("<f4", shape);
  out_.write(header.data(), static_cast<std::streamsize>(header.size()));
  if (!out_) throw Error(ErrorKind::kEnvironment, {.file = path_, .field = {}}, "cannot write");
}

void NpyStream::Append(std::span<const float> values) {
  missing_ -= static_cast<int64_t>(values.size());
  out_.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size_bytes()));
}

void NpyStream::Close() {
  if (missing_ != 0) throw std::logic_error(path_ + ": the pieces do not fill the shape");
  out_.close();
  if (!out_) throw Error(ErrorKind::kEnvironment, {.file = path_, .field = {}}, "cannot write");
}

}  // namespace platen
