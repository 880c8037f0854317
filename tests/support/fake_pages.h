// Documents without pixels for tests of the pipeline. The content of a file says what it is:
//
//   "ppfb"   one letter per page: p = a page with regions, b = a blank page, f = cannot be decoded,
//            l = layout fails, P/E/R = one region fails in prepare/encode/prefill, Q = all
//            fail in prepare, S = Step throws, O/L = a region repeats itself once/twice,
//            H/h = a region/its second try never ends, if the recogniser hangs
//   "!"      a document that cannot be opened
#pragma once

#include <tbb/global_control.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/run.h"
#include "tests/support/fake_recognizer.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {

class FakeReader : public DocumentReader {
 public:
  FakeReader(std::string pages, std::function<void()> on_read)
      : pages_(std::move(pages)), on_read_(std::move(on_read)) {}
  DocumentFormat format() const override { return DocumentFormat::kTiff; }
  int num_pages() const override { return static_cast<int>(pages_.size()); }
  ImageSize PageSize(int) const override { return {2, 1}; }
  PageImage ReadPage(int index) const override {
    on_read_();
    const char kind = pages_.at(static_cast<size_t>(index));
    if (kind == 'f') throw Error(ErrorKind::kInput, {"", ""}, "cannot be decoded");
    PageImage page;
    page.image = Image(2, 1);
    page.image.rgb[0] = static_cast<uint8_t>(kind);
    page.image.rgb[1] = static_cast<uint8_t>(index);
    return page;
  }

 private:
  std::string pages_;
  std::function<void()> on_read_;
};

inline BatchSource::OpenReader FakeOpen(std::function<void()> on_read = [] {}) {
  return [on_read](const std::string& path) -> std::unique_ptr<DocumentReader> {
    const std::string content = ReadFile(path);
    if (content == "!") throw Error(ErrorKind::kInput, {path, ""}, "not a document");
    return std::make_unique<FakeReader>(content, on_read);
  };
}

inline PageLayout FakeSegment(Image& page) {
  const char kind = static_cast<char>(page.rgb[0]);
  if (kind == 'l') throw std::runtime_error("layout fault");
  PageLayout layout;
  const int lines = kind == 'b' ? 0 : 2 + page.rgb[1] % 3;
  for (int i = 0; i < lines; ++i) {
    if (i % 2 == 0) layout.regions.emplace_back();
    layout.regions.back().lines.emplace_back();
  }
  return layout;
}

// Two lines make a region.
inline std::vector<Crop> FakeCrops(const Image& page, const PageLayout& layout) {
  const char kind = static_cast<char>(page.rgb[0]);
  std::vector<Crop> crops;
  for (size_t region = 0; region < layout.regions.size(); ++region) {
    for (size_t line = 0; line < layout.regions[region].lines.size(); ++line) {
      crops.emplace_back();
      crops.back().origin.region = static_cast<int>(region);
      crops.back().origin.line = static_cast<int>(line);
    }
  }
  for (size_t i = 0; i < crops.size(); ++i) {
    crops[i].image = Image(1, 1);
    crops[i].image.rgb[0] = static_cast<uint8_t>(page.rgb[1] * 10 + static_cast<int>(i));
    crops[i].image.rgb[1] =
        static_cast<uint8_t>(1 + (page.rgb[1] * 7 + static_cast<int>(i) * 3) % 9);
    FakeFault fault = FakeFault::kNone;
    if (kind == 'Q') fault = FakeFault::kPrepare;
    if (i == 1) {
      fault = kind == 'P'   ? FakeFault::kPrepare
              : kind == 'E' ? FakeFault::kEncode
              : kind == 'R' ? FakeFault::kPrefill
              : kind == 'S' ? FakeFault::kStep
              : kind == 'O' ? FakeFault::kLoopOnce
              : kind == 'L' ? FakeFault::kLoop
              : kind == 'H' ? FakeFault::kHang
              : kind == 'h' ? FakeFault::kHangSecondTry
                            : fault;
    }
    crops[i].image.rgb[2] = static_cast<uint8_t>(fault);
  }
  return crops;
}

// A run over the documents below FOLDER/in, to FOLDER/out.
struct FakeRun {
  explicit FakeRun(const TempFolder& folder) : folder_(folder) {
    output_dir = folder / "out";
    options.pipeline.threads = 2;
    options.pipeline.reading.granularity = Granularity::kLine;
    options.pipeline.slots = 3;
    options.pipeline.patch_budget = 300;
    options.pipeline.row_budget = 90;
  }

  RunReport Go() {
    FakeRecognizer recognizer(fake);
    return Go(recognizer);
  }

  RunReport Go(FakeRecognizer& recognizer) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(options.pipeline.threads));
    InputSpec spec;
    spec.arguments = {folder_ / "in"};
    spec.output_dir = output_dir;
    spec.wanted = [this](const std::string& output) { return shard.Holds(output); };
    const auto crop = [this](const Image& page, const PageLayout& layout, const ReadingConfig&,
                             const ReadOptions&) {
      on_crop();
      return FakeCrops(page, layout);
    };
    const auto segment = [this](Image& page) {
      on_segment();
      return FakeSegment(page);
    };
    RunTools tools{FakeOpen(on_read), {segment, crop, layouts_in_turn},
                   recognizer,        interrupted,
                   observer,          sink_observers};
    Ledger ledger(output_dir, identity, shard);
    return Run(options, tools, ledger, DiscoverDocuments(spec).documents);
  }

  std::string output_dir;
  ResultIdentity identity = {{"fingerprint"}, {"fingerprint"}, {"txt", "json"}};
  RunOptions options;
  Shard shard;
  SinkObservers sink_observers;
  FakeRecognizer::Options fake;
  std::function<void()> on_read = [] {};
  std::function<void()> on_crop = [] {};
  std::function<void()> on_segment = [] {};
  bool layouts_in_turn = false;
  std::function<bool()> interrupted = [] { return false; };
  ProgressCounters::Observer observer;

 private:
  const TempFolder& folder_;
};

// Every file below a folder with its bytes, except the run's own files.
inline std::map<std::string, std::string> Outputs(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = std::filesystem::relative(entry.path(), folder).string();
    if (!entry.is_regular_file() || name.starts_with(".platen/") || name == "failures.jsonl")
      continue;
    files[name] = ReadFile(entry.path().string());
  }
  return files;
}

}  // namespace platen::testing
