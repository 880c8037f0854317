// The report of a folder of results as one HTML page: no scripts, nothing from elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/platen/commands/report/run_view.h"
#include "pipeline/page_gallery.h"
#include "pipeline/status.h"

namespace platen {

struct FailureView {
  std::string name;
  int64_t page = 0;  // 0: the document
  std::string code;
  std::string error;
};

struct DoubtfulCard {
  DoubtView doubt;
  std::optional<GalleryPage> page;  // none: there is no result of it any more
};

struct ReportFacts {
  std::string folder;  // for people
  FolderStatus status;
  std::vector<RunView> job;   // the latest run of each part of the latest job that came to its end
  std::vector<RunView> read;  // the same of the latest job that read pages: its figures are shown
  std::vector<RunView> runs;  // all that are compared, the latest first
  std::vector<FailureView> failures;
  std::vector<DoubtfulCard> doubtful;
  int64_t doubtful_pages = 0;
  double price = 0;  // of a core-hour; 0: costs are given in core-hours alone
  std::string currency;
};

// The same bytes for the same facts.
std::string ReportPage(const ReportFacts& facts);

}  // namespace platen
