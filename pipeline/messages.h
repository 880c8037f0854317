// What travels through the graph: handles to page slots and their crops, never pixels.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/page_file.h"
#include "pipeline/recognizer.h"
#include "stages/assemble.h"
#include "stages/inputs/discover.h"
#include "stages/readers/document_reader.h"

namespace platen {

// A document being read, shared by its pages in flight and closed with the last of them.
// Written by the source before its first page is admitted; later only `finished_pages` changes, in
// the write stage, which is serial.
struct OpenDocument {
  InputDocument input;
  std::string key;                         // of the ledger
  std::string error;                       // not empty: it could not be opened
  std::unique_ptr<DocumentReader> reader;  // null if it could not be opened
  int num_pages = 0;                       // of the document
  ReadOptions read;                        // how its pages are read
  // That will be in the outputs, ascending, 1-based: those chosen, and those an earlier run has
  // read.
  std::vector<int> pages;
  std::unique_ptr<PageFile> finished_pages;
};

// One page to read, or with page 0 no page: it only brings its document to the write stage.
struct PageJob {
  std::shared_ptr<OpenDocument> document;
  int page = 0;                   // 1-based
  bool last_of_document = false;  // no page of the document comes after it
  uint64_t sequence = 0;          // place in the run's order: 0, 1, 2, ... without gaps
};

struct PageSlot;

// One crop of a page. Lives in its slot and stays where it is until the page is written.
struct PageCrop {
  PageSlot* page = nullptr;
  CropOrigin origin;
  std::unique_ptr<CropSequence> sequence;  // null once handed over, failed or finished
  SequenceResult result;
  std::string error;  // not empty: it failed, later stages pass it on
};

// Everything one page needs from admission to writing, and the token that admits it: as many pages
// are in memory as there are slots. A slot belongs to one stage at a time; passing the handle on
// passes the slot.
struct PageSlot {
  int index = 0;  // which slot it is, for the trace
  PageJob job;
  std::string error;      // not empty: the page failed, later stages pass it on
  int64_t pixels = 0;     // what the image will take, from measure on; see pixel_gate.h
  Image image;            // from decode_image to preprocess
  PageGeometry geometry;  // from layout on
  std::vector<std::string> warnings;
  std::vector<PageCrop> crops;  // from preprocess on
  size_t open_crops = 0;        // crops the decode stage has not closed yet
  PageResult result;            // from assemble on

  // Ready for another page; keeps its index.
  void Clear() {
    const int kept = index;
    *this = PageSlot();
    index = kept;
  }
};

}  // namespace platen
