// What a reader is made with, and what can be asked of each document.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace platen {

enum class Arithmetic {
  kAuto,  // int8 where the CPU has AVX2
  kF32,   // the reference
  kInt8,  // several times faster, a quarter of the memory
};

struct ReaderOptions {
  // Snapshot folder in Hugging Face layout, or "owner/name[@revision]" of a model in the Hugging
  // Face cache (nothing is downloaded); empty: the bundled platen-mini.
  std::string model = {};
  Arithmetic arithmetic = Arithmetic::kAuto;
  int threads = 0;                // that read; 0: one for each CPU this process may use
  std::int64_t memory_bytes = 0;  // to plan for, without the weights; 0: what this process may use
  int draft_length = 3;           // tokens drafted ahead, 0..8: the speed, never the text
  // Packed weights of large models are kept in a file beside the snapshot, or in the user's cache
  // folder, so that the next start is quick. False: neither read nor written.
  bool keep_packed_weights = true;
  // What the user may want to know: a slow start, oddities of the model. Called while the reader is
  // made.
  std::function<void(const std::string& message)> inform = {};
  // The same of a model that finds the regions of a page (PP-DocLayoutV3); empty: a folder
  // PP-DocLayoutV3_safetensors beside the model's, if there is one, else the built-in rules;
  // "classical": always those.
  std::string layout_model = {};
};

// What is done with the text that PDF pages have themselves.
enum class TextLayer {
  kAuto,    // taken where it is sound, for all that is on the page, and not put over a scan; such
            // pages are not read. Not with a task other than "text".
  kUse,     // taken wherever there is any
  kIgnore,  // pages are read
};

struct DocumentOptions {
  std::string name = {};        // for messages, and at the head of JSON; empty: the file's name
  std::vector<int> pages = {};  // 1-based; empty: all
  std::string task = {};   // "text", "table", "formula" for all regions; empty: each by its kind
  int max_new_tokens = 0;  // of one crop; 0: derived from its size
  double text_height = 0;  // > 0: large regions are scaled down so that small letters are this
                           // high, in pixels
  int pdf_dpi = 200;       // PDF pages are rendered at; 0: pages that are scans at the scan's own
                           // resolution, from 150 to 400, others at 200
  TextLayer text_layer = TextLayer::kAuto;
  std::int64_t max_pixels = 200'000'000;  // of one page
};

}  // namespace platen
