// What a path is, before anything in it is read as a model: the first line of `platen inspect`.
#pragma once

#include <string>

#include "model/families/registry.h"

namespace platen {

struct FolderKind {
  // What it is: "model snapshot, architecture GLM-OCR", or what it is instead and what to do.
  std::string what;
  bool is_snapshot = false;  // it is worth reading as one; it may still be unusable
};

// Does not throw Error. Reads names and the beginnings of files.
FolderKind KindOfFolder(const std::string& path, const FamilyRegistry& families);

}  // namespace platen
