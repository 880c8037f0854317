// The words that `platen doctor` ends with.
#include "apps/platen/commands/doctor/outlook.h"

#include <gtest/gtest.h>

#include <sstream>

namespace platen {
namespace {

OutlookFacts Complete() {
  OutlookFacts facts;
  facts.pages_per_hour = {127.3, 262.9};
  facts.threads = 2;
  facts.memory_bytes = 25'300'000'000;
  facts.has_glm_ocr = true;
  facts.model_folder = "/home/me/.cache/huggingface/hub";
  facts.free_disk_bytes = 64'000'000'000;
  return facts;
}

bool Says(const OutlookFacts& facts, const std::string& words) {
  return Outlook(facts).find(words) != std::string::npos;
}

TEST(OutlookTest, SaysPagesMemoryAndDisk) {
  const OutlookFacts facts = Complete();
  EXPECT_TRUE(Says(facts, "about 130 to 260 A4 pages an hour at 150 dpi with its 2 CPUs"));
  EXPECT_TRUE(Says(facts, "2.3 GB of memory (25.3 GB are there)"));
  EXPECT_TRUE(Says(facts, "4.0 GB of disk (64 GB are free)"));
  EXPECT_TRUE(Says(facts, "Nothing is missing.\n"));
  std::istringstream lines(Outlook(facts));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(OutlookTest, SaysWhatIsMissingAndWhatToDo) {
  OutlookFacts facts = Complete();
  facts.has_glm_ocr = false;
  EXPECT_TRUE(Says(facts, "- GLM-OCR itself: `platen fetch zai-org/GLM-OCR`"));
  facts = Complete();
  facts.memory_bytes = 2'000'000'000;
  EXPECT_TRUE(Says(facts, "- Memory for GLM-OCR"));
  facts = Complete();
  facts.missing = {"poppler-utils, for PDF files: `apt install poppler-utils`."};
  EXPECT_TRUE(Says(facts, "Missing:\n- poppler-utils, for PDF files"));
  EXPECT_FALSE(Says(facts, "Nothing is missing"));
}

TEST(OutlookTest, DiskIsMissingForWhatIsNotThereYet) {
  OutlookFacts facts = Complete();
  facts.free_disk_bytes = 2'000'000'000;  // enough for the packed file, not for the model
  EXPECT_TRUE(Says(facts, "Nothing is missing"));
  facts.has_glm_ocr = false;
  EXPECT_TRUE(Says(facts, "- Disk for GLM-OCR in /home/me/.cache/huggingface/hub"));
  facts.free_disk_bytes = -1;  // not known
  EXPECT_FALSE(Says(facts, "- Disk"));
  EXPECT_FALSE(Says(facts, "are free"));
}

TEST(OutlookTest, SlowMachinesAreToldSo) {
  OutlookFacts facts = Complete();
  facts.pages_per_hour = {};
  EXPECT_TRUE(Says(facts, "its CPU has no AVX2"));
  facts = Complete();
  facts.pages_per_hour = {4.23, 9.97};
  facts.threads = 1;
  EXPECT_TRUE(Says(facts, "about 4.2 to 10.0 A4 pages an hour at 150 dpi with its one CPU"));
}

}  // namespace
}  // namespace platen
