// One model reading one page after the other: what `platen compare` does with each of its two
// sides. The main job reads many pages at once (pipeline/); the text is the same.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/engine/session.h"
#include "model/families/model.h"
#include "stages/assemble.h"

namespace platen {

struct PageReaderOptions {
  ReadOptions read;
  int64_t kv_cache_bytes = int64_t{1} << 30;
};

// What became of one crop.
struct CropOutcome {
  CropOrigin origin;
  std::unique_ptr<Sequence> sequence;  // finished, with its embeddings; null if there is an error
  std::string error;
};

struct PageReading {
  std::vector<CropOutcome> crops;  // in reading order
  std::string text;                // of the page, as `platen ocr` writes it
};

// One call at a time. `model` outlives it. Memory is that of one page.
class PageReader {
 public:
  PageReader(const Model& model, PageReaderOptions options);

  // `page` is upright, `layout` its layout as detected. A crop that cannot be read leaves an error
  // in its place. Throws Error(kEnvironment) (no memory, no disk): the page is not read then.
  PageReading Read(const Image& page, PageLayout layout);

 private:
  std::string TextOf(PageLayout layout, const std::vector<CropOutcome>& crops) const;

  const Model& model_;
  PageReaderOptions options_;
  const VisionModel& vision_;
  Session session_;
};

}  // namespace platen
