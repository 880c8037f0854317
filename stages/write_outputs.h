// The output files of documents and runs. All are AtomicFiles: absent, complete, or what they were
// before, and never written through a symbolic link below the output folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/file_batch.h"
#include "model/support/folder.h"
#include "stages/formats/page_images.h"
#include "stages/formats/page_result.h"
#include "stages/formats/render_options.h"

namespace platen {

struct WrittenFile {
  std::string path;
  int64_t bytes = 0;
  std::string suffix;  // of its name: see OutputSuffix
  std::string note;    // what its reader should know of it; empty: nothing
};

// Pages of one document in order; called once per index, and once by each format, so it should be
// cheap.
struct DocumentPages {
  int count = 0;
  std::function<PageResult(int index)> page;
  int of_pages = 0;        // in the document; fewer than `count`: `count`
  PageImages images = {};  // of results that `page` has given
};

// URLs of pictures in the pages are from `root`, in the files from their own folder.
// Writes the files of every format, `stem`.SUFFIX (OutputSuffix), below `root`, creating folders as
// needed; the memory of one page is enough for any document. Throws as AtomicFile does; files
// committed before the error stay and are replaced on a re-run.
std::vector<WrittenFile> WriteDocument(const Folder& root, const std::string& stem,
                                       const std::vector<std::string>& formats,
                                       const DocumentInfo& info, const DocumentPages& pages,
                                       const Folder& temporary, const RenderOptions& render = {});

// The same, but the files are added to a group of `batch` and appear when it is committed.
std::vector<WrittenFile> WriteDocument(const Folder& root, const std::string& stem,
                                       const std::vector<std::string>& formats,
                                       const DocumentInfo& info, const DocumentPages& pages,
                                       const Folder& temporary, const RenderOptions& render,
                                       FileBatch& batch);

// Writes a small file in one go, atomically.
void WriteFileAtomically(const Folder& folder, const std::string& name, std::string_view bytes,
                         const Folder& temporary);

}  // namespace platen
