// What travels through the graph: handles to page slots and their crops, never pixels.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/support/failure_code.h"
#include "pipeline/page_limits.h"
#include "pipeline/recognizer.h"
#include "stages/assemble.h"
#include "stages/cut_pictures.h"
#include "stages/kept_pictures.h"
#include "stages/page_words.h"
#include "stages/readers/document_reader.h"

namespace platen {

// A document being read, shared by its pages in flight and closed with the last of them. Sources
// and sinks add what they need. Written by the source before its first page is admitted.
struct OpenDocument {
  virtual ~OpenDocument() = default;

  std::string name;                        // for messages and traces
  std::string identity;                    // what random numbers are drawn for; empty: the name
  Fault error;                             // not empty: it could not be opened
  std::unique_ptr<DocumentReader> reader;  // null if it could not be opened
  std::unique_ptr<KeptPictures> shown;     // null: no output shows its pages
  std::string path;                        // of the file, if an output may hold it
  int num_pages = 0;                       // of the document
  ReadOptions read;                        // how its pages are read
  TimeLimits limits;                       // of its pages and of itself
  int64_t began_ns = 0;                    // when it was opened, as MonotonicNs
  std::atomic<bool> cancelled = false;     // nobody wants its results any more; set by any thread
};

// Where a page stands among those that must be written in order.
struct PagePlace {
  uint64_t stream = 0;  // pages of different streams overtake each other
  uint64_t index = 0;   // in the stream: 0, 1, 2, ... without gaps, admitted in this order
  bool last = false;    // nothing follows in the stream
};

// One page to read, or with page 0 no page: it only brings its document to the sink.
struct PageJob {
  std::shared_ptr<OpenDocument> document;
  int page = 0;                   // 1-based
  bool last_of_document = false;  // no page of the document comes after it
  PagePlace place;
};

struct PageSlot;

// One crop of a page. Lives in its slot and stays where it is until the page is written.
struct PageCrop {
  PageSlot* page = nullptr;
  CropOrigin origin;
  std::unique_ptr<CropSequence> sequence;  // null once handed over, failed or finished
  SequenceResult result;
  // Of the first of two tries: its text repeated itself without end.
  std::optional<SequenceResult> first_try;
  Fault error;  // not empty: it failed, later stages pass it on
};

// What decoding did for a page, all its crops and tries together. It depends on time, so it is no
// part of the page's result.
struct PageDecoding {
  int crops = 0;
  int64_t prompt_tokens = 0;
  int64_t tokens = 0;  // decided, of kept and of first tries
  RequestStats stats;

  void Add(const SequenceResult& result) {
    prompt_tokens += result.prompt_tokens;
    tokens += std::ssize(result.tokens);
    stats.rounds += result.stats.rounds;
    stats.drafted += result.stats.drafted;
    stats.accepted += result.stats.accepted;
    stats.preemptions += result.stats.preemptions;
  }
};

// Everything one page needs from admission to writing, and the token that admits it: as many pages
// are in memory as there are slots. A slot belongs to one stage at a time; passing the handle on
// passes the slot.
struct PageSlot {
  int index = 0;  // which slot it is, for the trace
  PageJob job;
  Fault error;                     // not empty: the page failed, later stages pass it on
  int64_t began_ns = 0;            // when it was admitted, as MonotonicNs
  int64_t pixels = 0;              // what the image will take, from measure on; see pixel_gate.h
  Image image;                     // from decode_image to preprocess
  std::optional<PageText> layer;   // from decode_image to layout, if it may be taken
  PageGeometry geometry;           // from layout on
  std::optional<PlacedText> text;  // of the page's own text, from layout on, if it is taken
  std::vector<Picture> pictures;   // from preprocess on, if the document asks for them
  std::vector<std::string> warnings;
  std::vector<PageCrop> crops;  // from preprocess on
  size_t open_crops = 0;        // crops the decode stage has not closed yet
  PageResult result;            // from assemble on
  PageDecoding decoding;        // likewise
  // Why it, or a part of it, failed; from assemble on.
  FailureCode failure_code = FailureCode::kInternal;

  // Ready for another page; keeps its index.
  void Clear() {
    const int kept = index;
    *this = PageSlot();
    index = kept;
  }
};

}  // namespace platen
