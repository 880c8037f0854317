// From what was recognised on each crop to the result of the page.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stages/formats/page_result.h"
#include "stages/layout/crops.h"

namespace platen {

// What became of one crop.
struct CropReading {
  CropOrigin origin;
  std::string text;                  // UTF-8, as the model wrote it
  std::vector<float> probabilities;  // of each generated token
  std::vector<int> token_ends;       // where the text of each token ends, in bytes; may be absent
  std::vector<std::string> warnings;
  std::vector<WordResult> words;  // of a line of the page's own text: where they stand
  std::string finish;             // why the text ends there: "stop", "length", "repetition"
  std::string error;              // empty: read
};

struct PageGeometry {
  int page = 0;   // 1-based
  int width = 0;  // of the upright page
  int height = 0;
  double dpi_x = 0;  // along the width of the upright page; 0: not known
  double dpi_y = 0;
  FilePage in_file;
  PageLayout layout;
  bool has_ink = false;               // text was found, or the page is not blank
  std::map<int, std::string> images;  // files of pictures, by the layout's regions
};

// Joins the pieces of cut lines by a space, lines of a region by line breaks, and regions to a
// page, in reading order. Regions of a kind that is not read stay, without text; so do others only
// if a crop was made of them. A crop that failed leaves an error at its line and region; the rest
// of the page is kept. `readings` are in the order of the crops; `reading` says what the text of a
// kind is. Pure.
PageResult AssemblePage(const PageGeometry& geometry, const std::vector<CropReading>& readings,
                        const ReadingConfig& reading);

}  // namespace platen
