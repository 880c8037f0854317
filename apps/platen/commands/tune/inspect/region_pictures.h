// Pictures of the regions that were recorded, cut out of the pages they stand on.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "model/training/training_page.h"
#include "pipeline/page_gallery.h"

namespace platen {

// What TrainingPage::place says: "3/17".
struct RegionPlace {
  int page = 0;      // from 1
  int64_t crop = 0;  // from 0
};
std::optional<RegionPlace> ParsePlace(const std::string& text);

struct RegionPicture {
  std::optional<EncodedImage> image;  // width and height are set
  bool whole_page = false;            // where the region stands is not known
  std::string missing;                // why there is no picture; empty: there is one
};

// Of a folder of results. A record says which crop of its page it is, not where that stood: the
// line or region of the result whose text it is, if that can be told, is where. Nothing is changed.
class RegionPictures {
 public:
  explicit RegionPictures(const std::string& results_folder);
  ~RegionPictures();

  // `text` is what was read in the region. Quick where regions of one page follow each other.
  // Throws Error(kEnvironment).
  RegionPicture Of(const TrainingPage& region, const std::string& text);

 private:
  struct Results;
  const std::optional<UprightPage>& PageOf(const std::string& output, int page);

  std::unique_ptr<Results> results_;            // null: there are none
  std::map<std::string, std::string> outputs_;  // by name of the document; empty: several have it
  std::pair<std::string, int> opened_;
  std::optional<UprightPage> page_;
};

// The box of the region of this crop and text in the page; nothing: it cannot be told. Pure.
std::optional<ResultBox> BoxOf(const PageResult& page, int64_t crop, const std::string& text);

}  // namespace platen
