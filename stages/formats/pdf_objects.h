// The objects of a PDF file, written one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/hash.h"

namespace platen {

// Keeps where each object begins. What is written is handed out with Take, so that a file of any
// size needs the memory of one part.
class PdfObjects {
 public:
  PdfObjects();  // writes the head of the file

  int Reserve();  // a number for an object that is written later
  void Add(int number, std::string_view body);
  void AddStream(int number, std::string_view entries, std::string_view bytes);
  // The cross-reference table and the trailer. Its identifier is made of all that was written.
  void Finish(int catalog);

  // What was written since the last call.
  std::string Take();

 private:
  void Append(std::string_view bytes);

  std::string out_;
  uint64_t written_ = 0;           // bytes
  std::vector<uint64_t> offsets_;  // by number, from 1
  std::unique_ptr<Hasher> hasher_;
};

}  // namespace platen
