// Readers of documents with several pages, and what they share.
#pragma once

#include <memory>
#include <string>

#include "model/support/error.h"
#include "stages/readers/document_reader.h"

namespace platen {

// Both throw as DocumentReader::Open does.
std::unique_ptr<DocumentReader> OpenTiff(const std::string& path, const ReadLimits& limits);
std::unique_ptr<DocumentReader> OpenPdf(const std::string& path, const ReadLimits& limits);

// Runs `read` and adds the page's number to any Error that leaves it.
template <class Read>
PageImage ReadNumberedPage(const std::string& path, int index, int num_pages, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    if (num_pages == 1) throw;
    throw Error(error.kind(),
                {.file = path,
                 .field = "page " + std::to_string(index + 1),
                 .offset = error.location().offset},
                error.reason());
  }
}

}  // namespace platen
