// platen tune-mtp from pages to a file that platen ocr drafts with.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/apps/platen/ocr_fixture.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Outputs;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;

class TuneTest : public testing::OcrFixture {
 protected:
  void SetUp() override {
    CopySample("pages/phototest.tif", "in/1.tif");
    CopySample("synthetic/receipt-200.png", "in/2.png");
    CopySample("synthetic/form-200.jpg", "in/3.jpg");
    CopySample("synthetic/letter-200.jpg", "in/4.jpg");
  }

  ProgramResult Tune(std::vector<std::string> words) {
    words.insert(words.begin(), "tune-mtp");
    return RunProgram(ProgramRun{std::move(words), "", {}, folder_.path()});
  }
  ProgramResult Train(std::vector<std::string> more) {
    std::vector<std::string> words = {"train", "work", "--rows", "200", "--evaluate-every", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return Tune(words);
  }
  void Record() {
    const ProgramResult result = Tune({"record", "work", "in"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(fs::exists(folder_ / "work/records/000001.drafts"));
  }
  std::string Text(const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> words = {"in", "-o", out, "--force"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = Ocr(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    last_error_ = result.err;
    std::string all;
    for (const auto& [name, bytes] : Outputs(folder_ / out)) all += name + "\n" + bytes;
    return all;
  }

  std::string last_error_;
};

TEST_F(TuneTest, FromPagesToAFileThatIsDraftedWith) {
  Record();
  ProgramResult result = Train({"--steps", "4"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "best.safetensors"));
  result = Tune({"evaluate", "work"});
  EXPECT_EQ(result.exit_code, 1) << result.err;  // one document judges
  EXPECT_TRUE(Contains(result.out, "too few documents")) << result.out;
  result = Tune({"install", "work"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(Contains(result.err, "nothing is installed"));
  EXPECT_FALSE(Exists("work/draft-head.safetensors"));
  folder_.Write("work/train/seen.json", "{}");
  result = Tune({"evaluate", "work"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(Contains(result.err, "must be a list of names")) << result.err;
  const std::string plain = Text("plain", {"--draft-length", "0"});
  for (const char* drafts : {"1", "3", "8"}) {
    EXPECT_EQ(Text(std::string("tuned") + drafts,
                   {"--draft-head", "work/train/best.safetensors", "--draft-length", drafts}),
              plain);
    EXPECT_FALSE(Contains(last_error_, "another model")) << last_error_;
  }
}

// As if the evaluation had found the weights better: install believes it only for these very
// weights.
TEST_F(TuneTest, InstallsWhatWasEvaluatedAndForgetsThePages) {
  Record();
  ASSERT_EQ(Train({"--steps", "2"}).exit_code, 0);
  ASSERT_EQ(Tune({"evaluate", "work"}).exit_code, 1);
  nlohmann::json json = nlohmann::json::parse(ReadFile(folder_ / "work/evaluation.json"));
  json["verdict"] = "better";
  folder_.Write("work/evaluation.json", json.dump());
  ProgramResult result = Tune({"install", "work", "-o", "heads/mine.safetensors", "--forget"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ReadFile(folder_ / "heads/mine.safetensors"),
            ReadFile(folder_ / "work/train/best.safetensors"));
  EXPECT_FALSE(Exists("work/records"));
  EXPECT_FALSE(Exists("work/results"));
  json["head_hash"] = std::string(32, '0');
  folder_.Write("work/evaluation.json", json.dump());
  result = Tune({"install", "work"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_TRUE(Contains(result.err, "is not what was evaluated"));
  folder_.Write("work/evaluation.json", "{\"verdict\": [1, 2");
  EXPECT_EQ(Tune({"install", "work"}).exit_code, 2);
}

int64_t Count(const std::string& text, const std::string& part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A page of the model's own drafts alone, then of those before and after training.
TEST_F(TuneTest, InspectShowsDraftsBeforeAndAfterTraining) {
  Record();
  const auto records = Outputs(folder_ / "work");
  ProgramResult result = Tune({"inspect", "work", "--regions", "1000"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "page in work/inspect.html\n");
  std::string page = ReadFile(folder_ / "work/inspect.html");
  for (const char* part : {"There are no trained weights", "There is no log of a training."}) {
    EXPECT_TRUE(Contains(page, part)) << part;
  }
  const int64_t regions = Count(page, "<section");
  EXPECT_GT(regions, 20);
  EXPECT_EQ(Count(page, "src=\"data:image/jpeg;base64,"), regions) << "a picture of each";
  EXPECT_LT(Count(page, "The whole page:"), regions / 10);
  EXPECT_FALSE(Contains(page, "<script") || Contains(page, "http:") || Contains(page, "https:"));
  fs::remove(folder_ / "work/inspect.html");
  EXPECT_EQ(Outputs(folder_ / "work"), records) << "it changes nothing";

  ASSERT_EQ(Train({"--steps", "4", "--fresh"}).exit_code, 0);
  ASSERT_EQ(Tune({"inspect", "work", "--regions", "1000"}).exit_code, 0);
  page = ReadFile(folder_ / "work/inspect.html");
  for (const char* part : {"Only documents that training has not seen", "after training:",
                           "Loss of each draft", "Tokens a round", "best.safetensors"}) {
    EXPECT_TRUE(Contains(page, part)) << part;
  }
  EXPECT_LT(Count(page, "<section"), regions) << "one document judges";
  ASSERT_EQ(Tune({"inspect", "work", "--regions", "1000", "-j", "1", "-o", "b.html"}).exit_code, 0);
  EXPECT_EQ(ReadFile(folder_ / "b.html"), page);
}

TEST_F(TuneTest, InspectSaysWhatIsGone) {
  Record();
  fs::remove_all(folder_ / "in");
  ASSERT_EQ(Tune({"inspect", "work", "--regions", "3"}).exit_code, 0);
  std::string page = ReadFile(folder_ / "work/inspect.html");
  EXPECT_EQ(Count(page, "No picture: the scan is not where it was read."), 3);
  EXPECT_EQ(Count(page, "<section"), 3);
  fs::remove_all(folder_ / "work/results");
  ASSERT_EQ(Tune({"inspect", "work", "--regions", "3"}).exit_code, 0);
  page = ReadFile(folder_ / "work/inspect.html");
  EXPECT_EQ(Count(page, "No picture: the results that were recorded with it"), 3);
  folder_.Write("work/train/log.jsonl", "\x01\n{\"step\":1e99}\n[[[");
  EXPECT_EQ(Tune({"inspect", "work"}).exit_code, 0);
  EXPECT_EQ(Tune({"inspect", "work", "-o", "no/such/folder/x.html"}).exit_code, 3);
}

// Heads at random: they draft nonsense, and the text is the same.
TEST_F(TuneTest, RandomWeightsOfAnyKindChangeNoText) {
  Record();
  const std::string plain = Text("plain", {"--draft-length", "0"});
  ASSERT_EQ(Train({"--steps", "1", "--fresh"}).exit_code, 0);
  EXPECT_EQ(Text("layer", {"--draft-head", "work/train/best.safetensors"}), plain);
  fs::remove_all(folder_ / "work/train");
  ASSERT_EQ(Train({"--steps", "1", "--heads", "3", "--drafts", "3"}).exit_code, 0);
  EXPECT_EQ(Text("heads", {"--draft-head", "work/train/best.safetensors"}), plain);
  EXPECT_EQ(
      Text("heads-f32", {"--draft-head", "work/train/best.safetensors", "--precision", "f32"}),
      Text("plain-f32", {"--draft-length", "0", "--precision", "f32"}));
}

TEST_F(TuneTest, KilledItGoesOnToTheSameWeights) {
  Record();
  ASSERT_EQ(Train({"--steps", "12"}).exit_code, 0);
  const std::string whole = ReadFile(folder_ / "work/train/best.safetensors");
  const std::string checkpoint = ReadFile(folder_ / "work/train/checkpoint.safetensors");
  fs::remove_all(folder_ / "work/train");
  for (const char* steps : {"kill", "go on"}) {
    (void)steps;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      (void)!::freopen("/dev/null", "w", stderr);
      if (::chdir(folder_.path().c_str()) != 0) ::_exit(9);
      ::execl(PLATEN_PROGRAM, PLATEN_PROGRAM, "tune-mtp", "train", "work", "--rows", "200",
              "--evaluate-every", "2", "--steps", "12", nullptr);
      ::_exit(9);
    }
    for (int i = 0; i < 600 && !Exists("work/train/checkpoint.safetensors"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
  }
  ASSERT_EQ(Train({"--steps", "12"}).exit_code, 0);
  EXPECT_EQ(ReadFile(folder_ / "work/train/best.safetensors"), whole);
  EXPECT_EQ(ReadFile(folder_ / "work/train/checkpoint.safetensors"), checkpoint);
}

TEST_F(TuneTest, SaysWhatIsWrong) {
  EXPECT_TRUE(Contains(Tune({"trian", "work"}).err, "did you mean train?"));
  EXPECT_EQ(Tune({"train"}).exit_code, 2);
  EXPECT_EQ(Tune({"train", "nowhere"}).exit_code, 3);
  EXPECT_TRUE(Contains(Tune({"record", "work"}).err, "then what to read"));
  fs::create_directories(folder_ / "work/records");
  EXPECT_TRUE(Contains(Tune({"train", "work"}).err, "platen tune-mtp record makes them"));
  EXPECT_TRUE(Contains(Tune({"install", "work"}).err, "evaluate first"));
  const ProgramResult sampled =
      Ocr({"in", "-o", "out", "--record-drafts", "r", "--temperature", "1"});
  EXPECT_EQ(sampled.exit_code, 2);
  EXPECT_TRUE(Contains(sampled.err, "needs --temperature 0"));
}

// Weights for another model are not used; the run says so and goes on.
TEST_F(TuneTest, WeightsOfAnotherModelAreNotUsed) {
  Record();
  ASSERT_EQ(Train({"--steps", "1"}).exit_code, 0);
  std::string bytes = ReadFile(folder_ / "work/train/best.safetensors");
  const size_t at = bytes.find("platen.base_model\":\"") + 20;
  bytes[at] = bytes[at] == '0' ? '1' : '0';
  folder_.Write("other.safetensors", bytes);
  const std::string text = Text("a", {"--draft-head", "other.safetensors"});
  EXPECT_TRUE(Contains(last_error_, "was trained for another model")) << last_error_;
  EXPECT_EQ(text, Text("b", {}));
}

}  // namespace
}  // namespace platen
