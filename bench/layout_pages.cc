// Finds the lines of pages and prints them as JSON, one page a line, for tools/eval/layout_eval.py
// and for looking at.
//
//   layout_pages [--rotate DEGREES] [--crops DIR] [--scale FACTOR] FILE...
//
// --rotate turns every page clockwise first (90, 180, 270). --crops writes each page's line crops
// as PPM files into DIR/NAME-PAGE, in the bundled model's geometry times FACTOR, in reading order.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/support/error.h"
#include "stages/layout/crops.h"
#include "stages/layout/scale_image.h"
#include "stages/readers/document_reader.h"

namespace platen {
namespace {

using nlohmann::json;

struct Options {
  int rotate = 0;
  std::string crops_dir;
  double scale = 1;
  std::vector<std::string> files;
};

double ThreadSeconds() {
  timespec t = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

json Describe(const LayoutLine& line, size_t region) {
  json quad = json::array();
  for (const PointF& p : line.quad) quad.push_back({p.x, p.y});
  return {{"quad", quad},
          {"box", {line.box.x0, line.box.y0, line.box.x1, line.box.y1}},
          {"block", region},
          {"baseline", line.baseline},
          {"letter_height", line.letter_height}};
}

// What platen-mini reads (assets/platen-mini/platen.json), enlarged.
ReadingConfig LineGeometry(double scale) {
  ReadingConfig reading;
  reading.granularity = Granularity::kLine;
  reading.line_height = static_cast<int>(28 * scale);
  reading.x_height = 11 * scale;
  reading.baseline = 20 * scale;
  reading.max_width = static_cast<int>(560 * scale);
  return reading;
}

void WriteCrops(const std::string& dir, const std::vector<Crop>& crops) {
  std::filesystem::create_directories(dir);
  for (size_t i = 0; i < crops.size(); ++i) {
    char name[32];
    std::snprintf(name, sizeof(name), "/%05zu.ppm", i);
    const Image& image = crops[i].image;
    std::ofstream file(dir + name, std::ios::binary);
    file << "P6\n" << image.width << " " << image.height << "\n255\n";
    file.write(reinterpret_cast<const char*>(image.rgb.data()),
               static_cast<std::streamsize>(image.rgb.size()));
  }
}

json MeasurePage(const LayoutDetector& detector, const std::string& file, int index,
                 const Image& scan, const Options& options) {
  const Image page = RotatePage(scan, options.rotate);
  const double before = ThreadSeconds();
  const PageLayout found = detector.Detect(page);
  const double detected = ThreadSeconds();
  json result = {{"file", file},
                 {"page", index},
                 {"width", page.width},
                 {"height", page.height},
                 {"rotation", found.rotation},
                 {"skew_degrees", found.skew_degrees},
                 {"letter_height", found.letter_height},
                 {"cpu_seconds", detected - before},
                 {"lines", json::array()}};
  for (size_t i = 0; i < found.regions.size(); ++i) {
    for (const LayoutLine& line : found.regions[i].lines) {
      result["lines"].push_back(Describe(line, i));
    }
  }
  const Image upright = RotatePage(page, found.rotation);
  const double turned = ThreadSeconds();
  const std::vector<Crop> crops = MakeCrops(upright, found, LineGeometry(options.scale), {});
  result["crops"] = crops.size();
  result["crop_cpu_seconds"] = ThreadSeconds() - turned;
  if (!options.crops_dir.empty()) {
    const std::string stem = std::filesystem::path(file).filename().string();
    WriteCrops(options.crops_dir + "/" + stem + "-" + std::to_string(index), crops);
  }
  return result;
}

Options ParseArguments(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--rotate" && has_value) {
      options.rotate = std::atoi(argv[++i]);
    } else if (word == "--crops" && has_value) {
      options.crops_dir = argv[++i];
    } else if (word == "--scale" && has_value) {
      options.scale = std::atof(argv[++i]);
    } else {
      options.files.push_back(word);
    }
  }
  return options;
}

int Run(const Options& options) {
  KeepOpenCvSingleThreaded();
  const auto detector = MakeClassicalDetector();
  for (const std::string& file : options.files) {
    const auto reader = DocumentReader::Open(file, {});
    for (int i = 0; i < reader->num_pages(); ++i) {
      PageImage page = reader->ReadPage(i);
      MakePixelsSquare(page.image, page.dpi_x, page.dpi_y);
      std::cout << MeasurePage(*detector, file, i, page.image, options).dump() << "\n";
    }
  }
  return 0;
}

}  // namespace
}  // namespace platen

int main(int argc, char** argv) {
  try {
    return platen::Run(platen::ParseArguments(argc, argv));
  } catch (const platen::Error& error) {
    std::cerr << "layout_pages: " << error.what() << "\n";
    return 1;
  }
}
