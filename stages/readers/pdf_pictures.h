// Which pages of a PDF are scans: pictures, or strips of one, that cover the page. Pure functions,
// private to this folder's sources.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "stages/readers/poppler_output.h"

namespace platen {

// A picture on a page, as it is shown there. What hides or colours others (masks) is one too: the
// print of a scan that was taken apart into layers is in its mask.
struct ShownPicture {
  double width = 0;  // points, along the picture's own sides
  double height = 0;
  double ppi_x = 0;  // pixels of the picture per inch
  double ppi_y = 0;
};

// By page number, from what `pdfimages -list` prints. A line that is no picture counts for nothing.
std::map<int, std::vector<ShownPicture>> PicturesFromPdfImages(std::string_view list);

// Pixels per inch of the pictures that cover the page; 0: it is no scan. Pictures of one resolution
// count together, as strips or tiles do; of several such sets the finest counts. They cover the
// page if their area is kCovers of the page's.
inline constexpr double kCovers = 0.85;
double ScanResolution(const std::vector<ShownPicture>& pictures, const PagePoints& page);

}  // namespace platen
