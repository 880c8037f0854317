// platen tune-mtp from pages to a file that platen ocr drafts with.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
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

int64_t Count(const std::string& text, const std::string& part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

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

  // evaluation.json with some fields changed.
  nlohmann::json Evaluation(const nlohmann::json& changes) {
    nlohmann::json json = nlohmann::json::parse(ReadFile(folder_ / "work/evaluation.json"));
    json.update(changes);
    folder_.Write("work/evaluation.json", json.dump());
    return json;
  }
  nlohmann::json RunFactsOf(const std::string& out) {
    return nlohmann::json::parse(ReadFile(folder_ / (out + "/run.json")));
  }
  // The tensors of a safetensors file, by name.
  std::map<std::string, std::string> ValuesOf(const std::string& name) {
    const std::string bytes = ReadFile(folder_ / name);
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof(length));
    const nlohmann::json header = nlohmann::json::parse(bytes.substr(sizeof(length), length));
    std::map<std::string, std::string> values;
    for (const auto& [tensor, facts] : header.items()) {
      if (tensor == "__metadata__") continue;
      const auto begin = facts["data_offsets"][0].get<size_t>();
      const auto end = facts["data_offsets"][1].get<size_t>();
      values[tensor] = bytes.substr(sizeof(length) + length + begin, end - begin);
    }
    return values;
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
  EXPECT_TRUE(Contains(result.out, "no general set: platen tune-mtp record work/general"));
  ASSERT_EQ(Tune({"record", "work/general", "in/1.tif"}).exit_code, 0);
  result = Tune({"evaluate", "work", "--json", "--drafts", "2"});
  const nlohmann::json judged = nlohmann::json::parse(result.out);
  EXPECT_EQ(judged["general"]["documents"], 1);
  EXPECT_GT(judged["general"]["before"], 1.0);
  EXPECT_EQ(judged["classes"].size(), 1U);
  EXPECT_EQ(judged["acceptance"]["own"].size(), 8U);
  EXPECT_EQ(judged["against"], "");
  result = Tune({"install", "work"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(Contains(result.err, "nothing is installed"));
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
TEST_F(TuneTest, WritesWhatWasEvaluatedAndForgetsThePages) {
  Record();
  ASSERT_EQ(Train({"--steps", "2"}).exit_code, 0);
  ASSERT_EQ(Tune({"evaluate", "work"}).exit_code, 1);
  const nlohmann::json json = Evaluation({{"verdict", "better"}});
  const auto refusal = [&](const nlohmann::json& changes) {
    Evaluation(changes);
    const ProgramResult result = Tune({"install", "work", "-o", "mine.safetensors"});
    EXPECT_EQ(result.exit_code, 2) << changes;
    EXPECT_FALSE(Exists("mine.safetensors"));
    folder_.Write("work/evaluation.json", json.dump());
    return result.err;
  };
  EXPECT_TRUE(
      Contains(refusal({{"head_hash", std::string(32, '0')}}), "is not what was evaluated"));
  EXPECT_TRUE(Contains(refusal({{"part", "all"}}), "that it was trained on"));
  EXPECT_TRUE(Contains(refusal({{"against", "a.safetensors"}}), "not with the model's own"));
  EXPECT_TRUE(Contains(refusal({{"acceptance", {{"own", {0.9, "x"}}, {"these", {}}}}}), "own"));
  EXPECT_TRUE(Contains(refusal({{"acceptance", 3}}), "acceptance"));
  ASSERT_EQ(Tune({"record", "work/general", "in/1.tif"}).exit_code, 0);
  ASSERT_EQ(Tune({"inspect", "work"}).exit_code, 0);
  ProgramResult result = Tune({"install", "work", "-o", "heads/mine.safetensors", "--forget"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(ValuesOf("heads/mine.safetensors") == ValuesOf("work/train/best.safetensors"));
  EXPECT_GE(ValuesOf("heads/mine.safetensors").size(), 14U);
  for (const char* name : {"records", "results", "inspect.html"}) {
    EXPECT_FALSE(Exists(std::string("work/") + name)) << name;
    EXPECT_FALSE(Exists(std::string("work/general/") + name)) << name;
  }
  EXPECT_TRUE(Exists("work/general/work.json"));
  folder_.Write("elsewhere/1.drafts", "not ours");
  fs::create_symlink("../elsewhere", folder_ / "work/records");
  result = Tune({"install", "work", "-o", "heads/mine.safetensors", "--forget"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(Contains(result.err, "work/records: is a symbolic link; what it leads to stays"));
  EXPECT_TRUE(Exists("elsewhere/1.drafts"));
  folder_.Write("work/evaluation.json", "{\"verdict\": [1, 2");
  EXPECT_EQ(Tune({"install", "work"}).exit_code, 2);
}

// Installed, the next run drafts with it and needs no option; the results do not know.
TEST_F(TuneTest, InstalledWeightsAreUsedByTheNextRun) {
  Record();
  ASSERT_EQ(Train({"--steps", "1", "--heads", "2", "--drafts", "2"}).exit_code, 0);
  Tune({"evaluate", "work"});
  Evaluation({{"verdict", "better"}, {"acceptance", {{"own", {0.001}}, {"these", {0.5}}}}});
  const std::vector<std::string> kept = {"--packed-dir", "kept", "--packed", "always"};
  const std::string before = Text("a", kept);
  EXPECT_TRUE(RunFactsOf("a")["model"]["draft_head"].is_null());
  const ProgramResult result = Tune({"install", "work", "--packed-dir", "kept"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "undo      rm kept/")) << result.out;

  std::vector<std::string> again = {"in", "-o", "a"};
  again.insert(again.end(), kept.begin(), kept.end());
  ASSERT_EQ(Ocr(again).exit_code, 0);
  EXPECT_EQ(RunFactsOf("a")["totals"]["pages_read"], 0) << "nothing is read again for it";
  EXPECT_EQ(Text("b", kept), before);
  const nlohmann::json head = RunFactsOf("b")["model"]["draft_head"];
  EXPECT_EQ(head["installed"], true);
  EXPECT_EQ(head["packed"], true) << "install packed it with the model";
  EXPECT_TRUE(head["given_up"].is_null()) << head;
  const ProgramResult inspected =
      RunProgram(ProgramRun{{"inspect", "--json", "--packed-dir", "kept"}, "", {}, folder_.path()});
  const nlohmann::json seen = nlohmann::json::parse(inspected.out)["draft_head"];
  EXPECT_EQ(seen["installed"], head["file"]);
  EXPECT_EQ(seen["acceptance"], nlohmann::json::parse("[0.5]"));
  ASSERT_EQ(seen["packed"].size(), 1U);
  EXPECT_EQ(seen["packed"][0]["carries"],
            fs::path(head["file"].get<std::string>()).filename().string());
  std::vector<std::string> own = kept;
  own.insert(own.end(), {"--draft-head", "own"});
  EXPECT_EQ(Text("c", own), before);
  EXPECT_TRUE(RunFactsOf("c")["model"]["draft_head"].is_null());

  folder_.Write(head["file"].get<std::string>(), "no weights");
  EXPECT_EQ(Text("d", kept), before);
  EXPECT_TRUE(Contains(last_error_, "the model's own drafts are used")) << last_error_;
}

// Weights at random whose file says that the model's own are good: noticed, told, given up.
TEST_F(TuneTest, WeightsThatHaveBecomeWorseAreGivenUp) {
  Record();
  const std::string plain = Text("plain", {"--draft-length", "0"});
  ASSERT_EQ(Train({"--steps", "1", "--fresh"}).exit_code, 0);
  Tune({"evaluate", "work"});
  Evaluation({{"verdict", "better"}});
  ASSERT_EQ(Tune({"install", "work", "-o", "bad.safetensors"}).exit_code, 0);
  // One page after the other: how many rounds pass before they are given up does not depend on
  // load.
  EXPECT_EQ(Text("a", {"--draft-head", "bad.safetensors", "--draft-policy", "fixed", "-j", "1",
                       "--slots", "1"}),
            plain);
  EXPECT_EQ(Count(last_error_, "given up for the model's own drafts"), 1) << last_error_;
  const nlohmann::json facts = RunFactsOf("a");
  EXPECT_TRUE(facts["model"]["draft_head"]["given_up"].is_string());
  EXPECT_GT(facts["decoding"]["mean_accepted_length"], 2.0) << "the model's own took over";
  // As many as pay: how many depends on the clock, the text does not.
  EXPECT_EQ(Text("b", {"--draft-head", "bad.safetensors"}), plain);
  EXPECT_EQ(Text("c", {"--draft-head", "bad.safetensors", "-j", "1", "--slots", "1"}), plain);
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
  EXPECT_FALSE(Contains(page, "The curves are those of"));
  fs::copy(folder_ / "work/train/best.safetensors", folder_ / "copy.safetensors");
  ASSERT_EQ(Tune({"inspect", "work", "--head", "copy.safetensors", "-o", "c.html"}).exit_code, 0);
  EXPECT_TRUE(Contains(ReadFile(folder_ / "c.html"), "The curves are those of the training in"));
}

// Trained and judged for drafts of some tokens alone, which a run may have too.
TEST_F(TuneTest, AReducedVocabularyIsTrainedFor) {
  Record();
  nlohmann::json vocabulary = {{"format", "platen-draft-vocabulary-1"}, {"ids", {}}};
  const nlohmann::json model =
      nlohmann::json::parse(RunProgram({"inspect", "--json"}).out)["config"]["text"];
  vocabulary["vocab_size"] = model["vocab_size"];
  for (int id = 0; id < model["vocab_size"].get<int>(); id += 2) vocabulary["ids"].push_back(id);
  folder_.Write("half.json", vocabulary.dump());
  const std::vector<std::string> half = {"--draft-vocabulary", "half.json"};
  ASSERT_EQ(Train({"--steps", "2", half[0], half[1]}).exit_code, 0);
  const auto accepted = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"evaluate", "work", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return nlohmann::json::parse(Tune(words).out)["acceptance"]["own"][0].get<double>();
  };
  EXPECT_LT(accepted(half), accepted({}) - 0.1) << "half of the tokens cannot be drafted";
  EXPECT_EQ(Train({"--steps", "2", half[0], half[1], "--labels", "soft"}).exit_code, 2);
  // Heads are smaller than the layer; of a draft that reads less of the head that is more.
  fs::remove_all(folder_ / "work/train");
  ASSERT_EQ(Train({"--steps", "1", "--heads", "2", "--drafts", "2"}).exit_code, 0);
  const auto cheaper = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"evaluate", "work", "--json", "--drafts", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const nlohmann::json json = nlohmann::json::parse(Tune(words).out);
    const auto tokens = [&](const char* side) {
      return json[side]["rounds"][1]["tokens_per_round"].get<double>();
    };
    return json["speed"].get<double>() * tokens("before") / tokens("after");
  };
  EXPECT_GT(cheaper({}), 1.01);
  EXPECT_GT(cheaper(half), cheaper({}) + 0.005);
  folder_.Write("half.json", "{}");
  EXPECT_EQ(Train({"--steps", "2", half[0], half[1]}).exit_code, 2);
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

// A training of so many steps, and others that are ended and go on.
class EndedTuneTest : public TuneTest {
 protected:
  void TrainWhole(const char* steps) {
    steps_ = steps;
    Record();
    ASSERT_EQ(Train({"--steps", steps}).exit_code, 0);
    best_ = ReadFile(folder_ / "work/train/best.safetensors");
    checkpoint_ = ReadFile(folder_ / "work/train/checkpoint.safetensors");
    fs::remove_all(folder_ / "work/train");
  }
  void ExpectTheSameAtTheEnd(const std::string& where) {
    const ProgramResult result = Train({"--steps", steps_});
    ASSERT_EQ(result.exit_code, 0) << where << ": " << result.err;
    EXPECT_EQ(ReadFile(folder_ / "work/train/best.safetensors"), best_) << where;
    EXPECT_EQ(ReadFile(folder_ / "work/train/checkpoint.safetensors"), checkpoint_) << where;
  }
  uintmax_t LogSize() const {
    std::error_code none;
    const uintmax_t size = fs::file_size(folder_ / "work/train/log.jsonl", none);
    return none ? 0 : size;
  }
  // The wait status of a training that gets the signal behind the first step it makes.
  int TrainUntil(int signal) {
    const uintmax_t size = LogSize();
    const pid_t child = ::fork();
    if (child == 0) {
      (void)!::freopen("/dev/null", "w", stderr);
      (void)!::freopen("/dev/null", "w", stdout);
      if (::chdir(folder_.path().c_str()) != 0) ::_exit(9);
      ::execl(PLATEN_PROGRAM, PLATEN_PROGRAM, "tune-mtp", "train", "work", "--rows", "200",
              "--evaluate-every", "2", "--steps", steps_, nullptr);
      ::_exit(9);
    }
    for (int i = 0; i < 6000 && LogSize() <= size; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (signal == SIGKILL) std::this_thread::sleep_for(std::chrono::milliseconds(150));
    ::kill(child, signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  const char* steps_ = "";
  std::string best_, checkpoint_;
};

TEST_F(EndedTuneTest, KilledItGoesOnToTheSameWeights) {
  TrainWhole("12");
  TrainUntil(SIGKILL);
  TrainUntil(SIGKILL);
  ExpectTheSameAtTheEnd("killed");
}

// Ctrl-C, SIGTERM: the step is finished and kept.
TEST_F(EndedTuneTest, InterruptedItKeepsWhatItHasAndGoesOn) {
  TrainWhole("60");
  for (const int signal : {SIGINT, SIGTERM}) {
    const int status = TrainUntil(signal);
    ASSERT_TRUE(WIFEXITED(status)) << signal;
    EXPECT_EQ(WEXITSTATUS(status), 130) << signal;
    EXPECT_TRUE(Exists("work/train/checkpoint.safetensors"));
  }
  ExpectTheSameAtTheEnd("interrupted");
}

TEST_F(EndedTuneTest, AFullDiskIsSaidAndTheTrainingGoesOn) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "cannot be preloaded beside a sanitizer";
#endif
  TrainWhole("6");
  const auto train_full_from = [&](long at) {
    return RunProgram(ProgramRun{
        {"tune-mtp", "train", "work", "--rows", "200", "--evaluate-every", "2", "--steps", "6"},
        "",
        {"LD_PRELOAD=" PLATEN_FULL_DISK, "FULL_DISK_BELOW=" + folder_ / "work",
         "FULL_DISK_AT=" + std::to_string(at), "FULL_DISK_COUNT=" + folder_ / "count"},
        folder_.path()});
  };
  ASSERT_EQ(train_full_from(0).exit_code, 0);
  const long calls = std::atol(ReadFile(folder_ / "count").c_str());
  ASSERT_GT(calls, 10);
  for (long at = 1; at <= calls; at += std::max(1L, calls / 8)) {
    fs::remove_all(folder_ / "work/train");
    const ProgramResult result = train_full_from(at);
    const std::string where = "call " + std::to_string(at) + " of " + std::to_string(calls);
    EXPECT_EQ(result.exit_code, 3) << where << ": " << result.err;
    EXPECT_TRUE(Contains(result.err, "No space left on device")) << where << ": " << result.err;
    EXPECT_EQ(Contains(result.err, "; the same command goes on from the last checkpoint"),
              Contains(result.err, "step 1 of 6"))
        << where << ": " << result.err;
    ExpectTheSameAtTheEnd(where);
  }
}

TEST_F(TuneTest, SaysWhatIsWrong) {
  EXPECT_TRUE(Contains(Tune({"trian", "work"}).err, "did you mean train?"));
  EXPECT_EQ(Tune({"train"}).exit_code, 2);
  for (const char* command : {"train", "evaluate", "inspect", "install"}) {
    const ProgramResult nowhere = Tune({command, "nowhere"});
    EXPECT_EQ(nowhere.exit_code, 3);
    EXPECT_TRUE(Contains(nowhere.err, "no such folder; platen tune-mtp record makes it"))
        << nowhere.err;
  }
  EXPECT_TRUE(Contains(Tune({"record", "work"}).err, "then what to read"));
  fs::create_directories(folder_ / "work/records");
  EXPECT_TRUE(Contains(Tune({"train", "work"}).err, "platen tune-mtp record makes them"));
  EXPECT_TRUE(Contains(Tune({"install", "work"}).err, "evaluate first"));
  const ProgramResult sampled =
      Ocr({"in", "-o", "out", "--record-drafts", "r", "--temperature", "1"});
  EXPECT_EQ(sampled.exit_code, 2);
  EXPECT_TRUE(Contains(sampled.err, "needs --temperature 0"));
}

// What lies in a work folder may have been put there by somebody else.
TEST_F(TuneTest, NothingIsWrittenThroughALink) {
  fs::create_directory(folder_ / "elsewhere");
  for (const char* name : {"records", "results"}) {
    fs::remove_all(folder_ / "work");
    fs::create_directory(folder_ / "work");
    fs::create_directory_symlink("../elsewhere", folder_ / (std::string("work/") + name));
    const ProgramResult result = Tune({"record", "work", "in"});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_TRUE(Contains(result.err, "is a symbolic link; nothing is read or written through"));
    EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere")) << name;
  }
  fs::remove_all(folder_ / "work");
  Record();
  fs::create_directory_symlink("work", folder_ / "linked");  // named by the user: followed
  ASSERT_EQ(Tune({"train", "linked", "--rows", "200", "--steps", "1"}).exit_code, 0);
  folder_.Write("mine", "mine");
  for (const char* name : {"lock", "log.jsonl", "checkpoint.safetensors", "best.safetensors",
                           "seen.json", ".seen.json.tmp"}) {
    fs::remove_all(folder_ / "work/train");
    fs::create_directory(folder_ / "work/train");
    fs::create_symlink("../../mine", folder_ / (std::string("work/train/") + name));
    Train({"--steps", "1"});
    EXPECT_EQ(ReadFile(folder_ / "mine"), "mine") << name;
  }
  fs::remove_all(folder_ / "work/train");
  fs::create_directory(folder_ / "work/train");
  fs::create_hard_link(folder_ / "mine", folder_ / "work/train/log.jsonl");
  EXPECT_EQ(Train({"--steps", "1"}).exit_code, 0);
  EXPECT_EQ(ReadFile(folder_ / "mine"), "mine");
  for (const char* name : {"evaluation.json", "inspect.html"}) {
    fs::remove(folder_ / (std::string("work/") + name));
    fs::create_symlink("../mine", folder_ / (std::string("work/") + name));
    EXPECT_EQ(Tune({"evaluate", "work"}).exit_code, 1) << name;
    EXPECT_EQ(Tune({"inspect", "work"}).exit_code, 0) << name;
    EXPECT_EQ(ReadFile(folder_ / "mine"), "mine") << name;
  }
}

// Records that are lost or damaged are made again, from pages that were read before.
TEST_F(TuneTest, RecordsAreMadeAgainWithForce) {
  Record();
  const std::string records = ReadFile(folder_ / "work/records/000001.drafts");
  folder_.Write("work/records/000001.drafts", "no records");
  ProgramResult result = Train({"--steps", "1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(Contains(result.err, "files are damaged; remove the folder")) << result.err;
  fs::remove_all(folder_ / "work/records");
  ASSERT_EQ(Tune({"record", "work", "in"}).exit_code, 0);
  result = Train({"--steps", "1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(Contains(result.err, "read already with --force")) << result.err;
  ASSERT_EQ(Tune({"record", "work", "in", "--force"}).exit_code, 0);
  EXPECT_EQ(ReadFile(folder_ / "work/records/000001.drafts").size(), records.size());
  EXPECT_EQ(Train({"--steps", "1"}).exit_code, 0);
  folder_.Write("work/work.json", "{");
  EXPECT_EQ(Tune({"record", "work", "in"}).exit_code, 2);
}

// Each would write the other's weights over.
TEST_F(TuneTest, TwoTrainingsDoNotShareAFolder) {
  Record();
  const ProgramResult untrained = Tune({"evaluate", "work"});
  EXPECT_EQ(untrained.exit_code, 3);
  EXPECT_TRUE(Contains(untrained.err, "nothing has been trained here; platen tune-mtp train"))
      << untrained.err;
  fs::create_directories(folder_ / "work/train");
  const int lock = ::open((folder_ / "work/train/lock").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);  // as a training that runs
  const ProgramResult result = Train({"--steps", "1"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(Contains(result.err, "another platen run is writing to this folder")) << result.err;
  EXPECT_FALSE(Exists("work/train/checkpoint.safetensors"));
  ::close(lock);
  EXPECT_EQ(Train({"--steps", "1"}).exit_code, 0);
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
