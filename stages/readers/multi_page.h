// Readers of documents with several pages, and what all readers share.
#pragma once

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "model/support/error.h"
#include "stages/readers/document_reader.h"

namespace platen {

// Both throw as DocumentReader::Open does.
std::unique_ptr<DocumentReader> OpenTiff(const std::string& path, const ReadLimits& limits);
std::unique_ptr<DocumentReader> OpenPdf(const std::string& path, const ReadLimits& limits);

// Runs `read`, whose result concerns one page. Any Error that leaves it gets the page's number, if
// there are several; running out of memory becomes an Error, since it is the file that asked for
// it.
template <class Read>
auto ReadNumberedPage(const std::string& path, int index, int num_pages, Read read) {
  const auto read_within_memory = [&]() -> decltype(read()) {
    try {
      return read();
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {  // more than a vector can hold
    }
    throw Error(ErrorKind::kInput, {.file = path, .field = {}},
                "there is not enough memory to read the image", FailureCode::kOutOfMemory);
  };
  try {
    return read_within_memory();
  } catch (const Error& error) {
    if (num_pages == 1) throw;
    throw Error(error.kind(), {.file = path, .field = "page " + std::to_string(index + 1)},
                error.reason(), error.code());
  }
}

}  // namespace platen
