// What is inside files that can hold anything: ZIP archives and the compound files of old Office
// programs. Pure functions of what they are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace platen {

// Bytes of a file from an offset on; fewer than asked for at its end.
using ReadBytes = std::function<std::string(uint64_t offset, size_t size)>;

// Of a ZIP file by its first bytes: "Word document", "EPUB book", ...; "ZIP archive" if its first
// members are nothing of the kind; "" if it is no ZIP file.
std::string ZipKind(std::string_view head);

struct CompoundFileKind {
  bool is_compound_file = false;
  bool is_listed = false;  // its directory could be read, wholly or in part
  std::string name;        // "Word document", ...; "" if there is no document of Office in it
};

// `read` is asked only if `head`, the first bytes, are those of a compound file.
CompoundFileKind KindOfCompoundFile(std::string_view head, const ReadBytes& read);

}  // namespace platen
