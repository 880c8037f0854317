// Reads documents with one model: many pages at once, from any number of threads.
//
//   platen::Reader reader({.model = "GLM-OCR"});
//   std::cout << reader.Read(platen::Input::File("scan.pdf")).As(platen::Format::kText);
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "platen/document.h"
#include "platen/exception.h"
#include "platen/export.h"
#include "platen/options.h"

namespace platen {

// A document to read. A value; the bytes are shared by its copies.
class PLATEN_API Input {
 public:
  // A file of a format that is read (docs/FORMATS.md). Opened when its turn comes.
  static Input File(std::string path);
  // The content of such a file.
  static Input Bytes(std::vector<std::uint8_t> bytes);
  // One decoded page: rows of `width` pixels from the top, R G B each. `dpi` 0: not known.
  static Input Pixels(std::vector<std::uint8_t> rgb, int width, int height, double dpi = 0);

 private:
  friend class Reader;
  struct Data;
  std::shared_ptr<const Data> data_;
};

// What Submit hands out.
struct Ticket {
  std::uint64_t id = 0;  // for Cancel
  // The document when it is read. Throws an Exception if it cannot be opened or was cancelled; a
  // page that cannot be read is a page with an error, not an exception.
  std::future<Document> document;
};

// All members may be called by several threads at once.
//
// Threads: a reader owns one thread, which counts among its `threads`; the others are oneTBB's
// workers, which the process shares. Nothing of the process is changed: no signal handlers, locale,
// limits, log or environment. PDFs are rendered by poppler's programs in child processes.
class PLATEN_API Reader {
 public:
  // Loads the model. Throws an Exception (kModel, kUsage, kEnvironment).
  explicit Reader(const ReaderOptions& options = {});
  // Cancels what is not read yet and waits for what is being read.
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Reads a document and waits for it. Throws as Ticket::document does, and kEnvironment if the
  // machine failed (no memory): the reader is of no use then.
  Document Read(const Input& input, const DocumentOptions& options = {});

  // Hands a document in and returns at once. Documents take turns page by page, so that a long one
  // does not make others wait. `on_page`, if given, gets each page as soon as it and those before
  // it are read, from a thread of the reader, which does nothing else meanwhile: it must be short
  // and must not wait for the reader. What it throws comes out of the ticket.
  Ticket Submit(const Input& input, const DocumentOptions& options = {},
                std::function<void(const Page&)> on_page = nullptr);

  // The pages that are not yet read come to nothing. One that is done is left alone.
  void Cancel(std::uint64_t id);

  // The snapshot folder that is used.
  const std::string& model() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// OpenCV, which finds the lines of pages, has threads of its own. This tells it to use none, for
// the whole process, so that `threads` counts all. Results are the same. Optional.
PLATEN_API void UseNoOpenCvThreads();

}  // namespace platen
