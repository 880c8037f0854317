// PP-DocLayoutV3 against the reference implementation: every array of every golden case.
#include "tests/support/layout_golden.h"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include "model/checkpoint/weight_source.h"
#include "model/families/pp_doclayout/config.h"
#include "model/families/pp_doclayout/detections.h"
#include "model/families/pp_doclayout/network.h"

namespace platen {
namespace {

using nlohmann::json;
using testing::AllClose;
using testing::GoldenCase;
using testing::GoldenLayoutModel;
using testing::LayoutPage;
using testing::LayoutPages;
using testing::LayoutRecorder;
using testing::Npy;
using testing::SourcePath;

GoldenCase Case(const std::string& snapshot, const std::string& page) {
  return GoldenCase(testing::kLayoutGoldens + "cases/" + snapshot + "/" + page);
}

// In the order of the computation: the first that misses names the faulty part.
std::vector<std::string> NamesInOrder(const GoldenCase& golden) {
  std::vector<std::string> first = {
      "resized",      "stem",        "stage1",     "stage2",        "stage3",    "stage4",
      "proj0",        "proj1",       "proj2",      "aifi2",         "fpn2",      "fpn1",
      "fpn0",         "pan0",        "pan1",       "pan2",          "mask_head", "mask_features",
      "memory",       "valid",       "enc_output", "enc_logits",    "enc_best",  "topk",
      "mask_queries", "query_masks", "mask_boxes", "init_reference"};
  for (int layer = 0; layer < 6; ++layer) {
    const std::string n = std::to_string(layer);
    for (const std::string& name : {"query_pos" + n, "decoder" + n + "_self",
                                    "decoder" + n + "_cross", "decoder" + n, "reference" + n}) {
      first.push_back(name);
    }
  }
  for (const char* name : {"logits", "boxes", "order_logits", "order_votes", "order_rank"}) {
    first.push_back(name);
  }
  std::vector<std::string> names;
  for (const std::string& name : first) {
    if (golden.json["arrays"].contains(name)) names.push_back(name);
  }
  return names;
}

// Every stride-th value where the golden keeps no more.
std::vector<float> Sampled(const std::vector<float>& values, const json& array) {
  const size_t stride = array.value("sample_stride", size_t{1});
  std::vector<float> out;
  for (size_t i = 0; i < values.size(); i += stride) out.push_back(values[i]);
  return out;
}

void ExpectArray(const GoldenCase& golden, const std::string& name, const Npy& actual) {
  const json& array = golden.json["arrays"][name];
  const Npy expected = golden.Array(name);
  const char* full = array.contains("full_shape") ? "full_shape" : "shape";
  EXPECT_EQ(actual.shape, array[full].get<std::vector<int64_t>>()) << name;
  EXPECT_EQ(actual.i64, expected.i64) << name;
  EXPECT_EQ(actual.u8, expected.u8) << name;
  if (expected.f32.empty()) return;
  EXPECT_TRUE(AllClose(Sampled(actual.f32, array), expected.f32, golden.Atol(name))) << name;
}

void ExpectDetections(const json& expected, const std::vector<Detection>& found) {
  ASSERT_EQ(found.size(), expected["list"].size());
  const double atol_box = expected["atol_box"], atol_score = expected["atol_score"];
  for (size_t i = 0; i < found.size(); ++i) {
    const json& one = expected["list"][i];
    EXPECT_EQ(found[i].order, one["order"]) << i;
    EXPECT_EQ(found[i].query, one["query"]) << i;
    EXPECT_EQ(found[i].label, one["label"]) << i;
    EXPECT_NEAR(found[i].score, one["score"].get<double>(), atol_score) << i;
    const double box[] = {found[i].x0, found[i].y0, found[i].x1, found[i].y1};
    for (size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(box[k], one["box"][k].get<double>(), atol_box) << i << "," << k;
    }
  }
}

void ExpectRegions(const json& expected, double atol_score, const std::vector<Detection>& kept) {
  ASSERT_EQ(kept.size(), expected.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    const json box = {static_cast<int>(kept[i].x0), static_cast<int>(kept[i].y0),
                      static_cast<int>(kept[i].x1), static_cast<int>(kept[i].y1)};
    EXPECT_EQ(box, expected[i]["box"]) << i;
    EXPECT_EQ(kept[i].label, expected[i]["label"]) << i;
    EXPECT_NEAR(kept[i].score, expected[i]["score"].get<double>(), atol_score) << i;
  }
}

class PpDocLayout : public ::testing::TestWithParam<std::string> {};

TEST_P(PpDocLayout, GivesEveryArrayDetectionAndRegionOfTheReference) {
  const std::string snapshot = GetParam();
  const auto model = GoldenLayoutModel(snapshot);
  for (const std::string& name : LayoutPages().at(snapshot)) {
    SCOPED_TRACE(name);
    const GoldenCase golden = Case(snapshot, name);
    const Image page = LayoutPage(snapshot, name);
    LayoutRecorder recorder;
    const std::vector<Detection> found = model->Detect(page, recorder.observer());
    const std::vector<std::string> arrays = NamesInOrder(golden);
    // aifi2_alone has a test of its own.
    const size_t alone = golden.json["arrays"].contains("aifi2_alone") ? 1 : 0;
    EXPECT_EQ(arrays.size() + alone, golden.json["arrays"].size());
    for (const std::string& array : arrays) {
      ASSERT_TRUE(recorder.arrays.contains(array)) << array;
      ExpectArray(golden, array, recorder.arrays[array]);
    }
    ExpectDetections(golden.json["detections"], found);
    ExpectRegions(golden.json["regions"], golden.json["detections"]["atol_score"],
                  model->Apply(BoxRules::kSdk, found, page.width, page.height));
  }
}

// [C, h, w] of a golden as a map.
MapView ToMap(const Npy& npy, FeatureMap& map) {
  const MapView out =
      map.Shaped(static_cast<int>(npy.shape[1]), static_cast<int>(npy.shape[2]), npy.shape[0]);
  for (int64_t c = 0; c < out.channels(); ++c) {
    for (int64_t p = 0; p < out.pixels.rows; ++p) {
      out.pixels.Row(p)[c] = npy.f32[static_cast<size_t>(c * out.pixels.rows + p)];
    }
  }
  return out;
}

// From the stored map: a hundred times narrower, so that an approximate GELU would show.
TEST_P(PpDocLayout, TransformsTheStoredMapAsTheReference) {
  const std::string dir = SourcePath(testing::kLayoutGoldens + "snapshots/" + GetParam());
  const pp_doclayout::Config config = pp_doclayout::ReadConfig(dir);
  pp_doclayout::BoundModules bound = pp_doclayout::DescribeModules(config);
  const Checkpoint checkpoint = Checkpoint::Open(dir);
  CheckpointSource source(Precision::kF32);
  LoadModules(bound.table, checkpoint, source);
  pp_doclayout::FoldConvolutions(*bound.weights);
  const pp_doclayout::Network network(BestKernels(), config, bound.weights);
  const GoldenCase golden = Case(GetParam(), "lucasta");
  pp_doclayout::NetworkMemory memory;
  FeatureMap map;
  ToMap(golden.Array("proj2"), map);
  network.encoder().Aifi(map.View(), memory.linear, memory.encoder);
  LayoutRecorder recorder;
  pp_doclayout::ReportMap(recorder.observer(), "aifi2_alone", map.View());
  ExpectArray(golden, "aifi2_alone", recorder.arrays["aifi2_alone"]);
}

std::map<std::string, Npy> ArraysOf(const std::string& snapshot, const KernelTable& kernels,
                                    int threads) {
  LayoutRecorder recorder;
  tbb::task_arena arena(threads);
  arena.execute([&] {
    GoldenLayoutModel(snapshot, kernels)
        ->Detect(LayoutPage(snapshot, "lucasta"), recorder.observer());
  });
  return recorder.arrays;
}

TEST_P(PpDocLayout, GivesTheSameBitsWithEveryKernelTableAndNumberOfThreads) {
  const auto expected = ArraysOf(GetParam(), *FindKernels("scalar"), 1);
  const auto expect_same = [&](const std::map<std::string, Npy>& actual) {
    for (const auto& [name, array] : expected) {
      EXPECT_EQ(array.f32, actual.at(name).f32) << name;
      EXPECT_EQ(array.i64, actual.at(name).i64) << name;
    }
  };
  for (const char* name : kKernelNames) {
    const KernelTable* table = FindKernels(name);
    if (table == nullptr) continue;
    SCOPED_TRACE(name);
    expect_same(ArraysOf(GetParam(), *table, 1));
  }
  expect_same(ArraysOf(GetParam(), BestKernels(), 4));
}

TEST_P(PpDocLayout, APageDoesNotDependOnTheOneBefore) {
  const auto model = GoldenLayoutModel(GetParam());
  LayoutRecorder first, again;
  model->Detect(LayoutPage(GetParam(), "lucasta"), first.observer());
  model->Detect(LayoutPage(GetParam(), "colour"), {});
  model->Detect(LayoutPage(GetParam(), "lucasta"), again.observer());
  for (const auto& [name, array] : first.arrays) {
    EXPECT_EQ(array.f32, again.arrays.at(name).f32) << name;
  }
}

TEST_P(PpDocLayout, WithoutAnObserverTheDetectionsAreTheSame) {
  const auto model = GoldenLayoutModel(GetParam());
  LayoutRecorder recorder;
  const Image page = LayoutPage(GetParam(), "lucasta");
  const auto watched = model->Detect(page, recorder.observer());
  const auto alone = model->Detect(page, {});
  ASSERT_EQ(watched.size(), alone.size());
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(watched[i].score, alone[i].score);
    EXPECT_EQ(watched[i].x0, alone[i].x0);
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, PpDocLayout, ::testing::Values("tiny-a", "tiny-b", "tiny-c"),
                         [](const auto& one) { return "tiny_" + one.param.substr(5); });

}  // namespace
}  // namespace platen
