// What can be asked of the reading of one document. Everything else follows from the model.
#pragma once

#include <optional>
#include <string>

#include "model/engine/sampling_options.h"
#include "model/families/reading_config.h"
#include "stages/layout/layout.h"

namespace platen {

// What is done with the text that a page has itself (PDF).
enum class TextLayerUse {
  kIgnore,  // the page is read
  kAuto,    // it is taken where it stands for what is on the page
  kUse,     // it is taken where there is any
};

struct ReadOptions {
  std::string task;  // "text", "table" or "formula" for all regions; empty: each by its kind
  std::optional<Granularity> granularity = {};  // of all regions; nothing: the model's
  double text_height = 0;  // > 0: block and page crops are scaled down (never up) so that
                           // small letters are this high, in pixels
  int max_new_tokens = 0;  // of one crop; 0: the kind's, else derived from the crop's size
  TextLayerUse text_layer = TextLayerUse::kIgnore;
  bool pictures = false;          // figures and charts are cut out of the page
  SamplingOptions sampling = {};  // its seed is that of the run, see RequestSeed
};

// At what granularity regions of the kind are read; kPage for none or all of a page.
Granularity GranularityOf(RegionKind kind, const ReadingConfig& reading,
                          const ReadOptions& options);

// Makes a detected layout one that can be read as asked: a task sets the kind of all regions, a
// page that is read at once becomes a single region, and kinds that are not text are marked.
// `width`, `height`: of the upright page. Throws Error(kUsage) for an unknown task.
void ApplyReadOptions(const ReadingConfig& reading, const ReadOptions& options, int width,
                      int height, PageLayout& layout);

}  // namespace platen
