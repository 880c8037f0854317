// GLM-OCR in the suite that every family passes.
#include "tests/support/family_properties.h"

namespace platen::testing {
namespace {

std::vector<Request> GoldenRequests(const Model& model, const std::string& snapshot) {
  std::vector<Request> requests;
  for (const char* name : {"tiny20", "tall30x400", "exif6", "two_images", "text_only", "gray"}) {
    requests.push_back(
        GoldenRequest(model, GoldenCase("tests/golden/cases/" + snapshot + "/" + name)));
  }
  return requests;
}

std::vector<FamilyCase> Cases() {
  std::vector<FamilyCase> cases;
  for (const std::string snapshot : {"tiny-a", "tiny-b", "tiny-c"}) {
    for (const Precision precision : {Precision::kF32, Precision::kInt8}) {
      cases.push_back({snapshot, precision,
                       [=] {
                         return std::make_unique<Snapshot>(
                             LoadSnapshot(SourcePath("tests/golden/snapshots/" + snapshot)));
                       },
                       [=](const Model& model) { return GoldenRequests(model, snapshot); }});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(GlmOcr, FamilyProperties, ::testing::ValuesIn(Cases()), FamilyCaseName);

}  // namespace
}  // namespace platen::testing
