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
  ReadingConfig reading;      // granularity and geometry of the crops
  std::string task = "text";  // key of ReadingConfig::prompts
  double text_height = 0;     // see MakeCrops
  int max_new_tokens = 0;     // 0: derived from the size of the crop
  int64_t kv_cache_bytes = int64_t{1} << 30;
};

// What became of one crop.
struct RegionReading {
  CropOrigin origin;
  std::unique_ptr<Sequence> sequence;  // finished, with its embeddings; null if there is an error
  std::string error;
};

struct PageReading {
  std::vector<RegionReading> regions;  // in reading order
  std::string text;                    // of the page, as `platen ocr` writes it
};

// One call at a time. `model` outlives it. Memory is that of one page.
class PageReader {
 public:
  PageReader(const Model& model, PageReaderOptions options);

  // `page` is upright, `layout` its layout. A crop that cannot be read leaves an error at its
  // region. Throws Error(kEnvironment) (no memory, no disk): the page is not read then.
  PageReading Read(const Image& page, const PageLayout& layout);

 private:
  std::string TextOf(const PageLayout& layout, const std::vector<RegionReading>& regions) const;

  const Model& model_;
  PageReaderOptions options_;
  const VisionModel& vision_;
  Session session_;
};

}  // namespace platen
