// Pictures of a document's pages, from when the pages are in memory until its outputs are written.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/support/folder.h"
#include "stages/formats/document_writer.h"
#include "stages/formats/page_images.h"

namespace platen {

// In one file without a name below a folder, made with the first picture; its space is free again
// with the object. All members may be called by several threads at once and throw
// Error(kEnvironment).
class KeptPictures {
 public:
  // For these formats. `folder` outlives the object.
  KeptPictures(const std::vector<std::string>& formats, const Folder& folder);

  bool wants(PageView view) const;

  // `page`: counted from 1. Of two pictures the first counts.
  void Add(int page, PageView view, const EncodedImage& picture);
  // Nothing: there is none.
  std::optional<EncodedImage> Find(int page, PageView view) const;

 private:
  struct Kept {
    std::string media_type;
    int width = 0, height = 0;
    uint64_t offset = 0, size = 0;
  };

  const Folder& folder_;
  const bool upright_, in_file_;
  mutable std::mutex mutex_;
  UniqueFd file_;
  uint64_t end_ = 0;
  std::map<std::pair<int, PageView>, Kept> kept_;
};

}  // namespace platen
