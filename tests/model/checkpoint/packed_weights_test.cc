// Weights packed into a file: the same results as packed in memory, and no file is ever trusted.
#include "model/checkpoint/packed_weights.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "model/checkpoint/packed_file.h"
#include "model/checkpoint/packed_source.h"
#include "model/checkpoint/safetensors_writer.h"
#include "model/families/packing_plan.h"
#include "model/support/hash.h"
#include "model/support/large_memory.h"
#include "tests/support/golden.h"
#include "tests/support/random_snapshot.h"
#include "tests/support/snapshot_edits.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {
namespace {

namespace fs = std::filesystem;
using Kind = PackedState::Kind;
using Use = PackingOptions::Use;

// What a model computes: tokens, and every array an observer sees.
struct Outcome {
  std::vector<TokenId> tokens;
  std::map<std::string, std::vector<float>> arrays;

  bool operator==(const Outcome&) const = default;
};

Outcome Compute(const Model& model) {
  std::mt19937 rng(5);
  Image image(90, 60);
  for (uint8_t& v : image.rgb) v = static_cast<uint8_t>(rng());
  Request request;
  request.images = {model.vision()->Prepare(image)};
  request.task_text = "Text Recognition:";
  request.ignore_stop = true;
  request.max_new_tokens = 5;
  Recorder recorder;
  EngineOptions options;
  options.draft_length = 2;
  options.kv_block_tokens = 16;
  options.instruments.observer = recorder.observer();
  Engine engine(model, options);
  return {RunToEnd(engine, std::move(request))->tokens, recorder.arrays};
}

void WriteAll(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class PackedWeightsTest : public ::testing::Test {
 protected:
  PackedWeightsTest() { WriteSnapshot(1); }

  void WriteSnapshot(uint64_t seed, bool tied = false) {
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path() != packed_) fs::remove(entry.path());
    }
    std::mt19937_64 sizes_rng(7);
    RandomSizes sizes = DrawSizes(sizes_rng);
    sizes.tied = tied;
    sizes.mtp_layers = 1;
    std::mt19937_64 rng(seed);
    WriteRandomSnapshot(folder_.path(), sizes, rng);
  }
  std::unique_ptr<Snapshot> Load() const {
    auto snapshot = std::make_unique<Snapshot>(LoadSnapshot(folder_.path()));
    snapshot->quantization.set_group(group_);
    return snapshot;
  }
  PackingOptions Options(Use use) {
    PackingOptions options;
    options.use = use;
    options.paths = {packed_};
    options.inform = [this](const std::string& text) { informed_.push_back(text); };
    options.warn = [this](const std::string& text) { warned_.push_back(text); };
    return options;
  }
  std::unique_ptr<Model> MakeModel(Precision precision, Use use) {
    return std::make_unique<Model>(Load(), BestKernels(), precision, Options(use));
  }
  Kind State(Precision precision = Precision::kInt8) {
    const auto snapshot = Load();
    const ModuleTable modules = snapshot->Modules();
    return StateOfPacked(packed_, {modules, snapshot->checkpoint, precision}).kind;
  }
  void Pack(Precision precision = Precision::kInt8, bool replace = false) {
    const auto snapshot = Load();
    const ModuleTable modules = snapshot->Modules();
    WritePacked(packed_, {modules, snapshot->checkpoint, precision}, Options(Use::kAlways),
                replace);
  }
  uint64_t Inode() const { return StampOf(packed_)->inode; }
  // config.json's word on the head, whatever the checkpoint stores.
  void SetTied(bool tied) {
    const std::string path = folder_.path() + "/config.json";
    nlohmann::json config = nlohmann::json::parse(ReadFile(path));
    config["tie_word_embeddings"] = tied;
    config["text_config"]["tie_word_embeddings"] = tied;
    WriteAll(path, config.dump());
  }
  // Stores the embedding's values as the head's too.
  void MakeHeadEqual() {
    const std::string path = folder_.path() + "/model.safetensors";
    SafetensorsParts parts = SplitSafetensors(ReadFile(path));
    const auto place = [&](const char* name) {
      return parts.header.at(name)["data_offsets"][0].get<size_t>();
    };
    const size_t embedding = place("model.language_model.embed_tokens.weight");
    const size_t bytes = parts.header.at("lm_head.weight")["data_offsets"][1].get<size_t>() -
                         place("lm_head.weight");
    parts.data.replace(place("lm_head.weight"), bytes, parts.data.substr(embedding, bytes));
    WriteAll(path, JoinSafetensors(parts));
  }

  int group_ = WeightFormat::kDefaultGroup;
  const TemporaryFolder folder_;
  const std::string packed_ = folder_.path() + "/model.packed";
  std::vector<std::string> informed_;
  std::vector<std::string> warned_;
};

TEST_F(PackedWeightsTest, AMappedModelComputesTheSameBits) {
  for (const bool tied : {false, true}) {
    WriteSnapshot(2, tied);
    for (const Precision precision : {Precision::kF32, Precision::kInt8}) {
      fs::remove(packed_);
      const auto in_memory = MakeModel(precision, Use::kNever);
      EXPECT_EQ(in_memory->packed_path(), "");
      EXPECT_FALSE(fs::exists(packed_));
      const Outcome expected = Compute(*in_memory);
      for (int start = 0; start < 2; ++start) {  // written, then found
        const auto mapped = MakeModel(precision, Use::kAlways);
        EXPECT_EQ(mapped->packed_path(), packed_);
        EXPECT_EQ(mapped->ContentHash(), in_memory->ContentHash());
        EXPECT_TRUE(Compute(*mapped) == expected);
      }
    }
  }
  EXPECT_TRUE(warned_.empty());
}

// Copied into memory or left in the file: the same bytes, and only the one leaves the file.
TEST_F(PackedWeightsTest, MappedAndCopiedWeightsAreTheSame) {
  for (const Precision precision : {Precision::kF32, Precision::kInt8}) {
    WriteSnapshot(2);
    Pack(precision, /*replace=*/true);
    const auto snapshot = Load();
    const auto file = std::make_shared<const PackedFile>(packed_);
    const auto load = [&](PackedWeightsIn place) {
      ModelParts parts = snapshot->architecture->Build(BestKernels(), VisionAttention::kF32);
      parts.modules.SetGroupSizes(snapshot->quantization);
      PackedFileSource source(file, precision, place);
      LoadModules(parts.modules, snapshot->checkpoint, source);
      return parts;
    };
    const ModelParts mapped = load(PackedWeightsIn::kMapped);
    const ModelParts copied = load(PackedWeightsIn::kCopied);
    const auto bytes_of = [](auto values) {
      const auto bytes = std::as_bytes(values);
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    size_t linears = 0;
    for (size_t i = 0; i < mapped.modules.modules().size(); ++i) {
      const Linear* a = mapped.modules.modules()[i].linear();
      const Linear* b = copied.modules.modules()[i].linear();
      if (a == nullptr) continue;
      ++linears;
      EXPECT_EQ(a->shape().Text(), b->shape().Text());
      EXPECT_NE(a->arrays().panels.data(), b->arrays().panels.data());
      EXPECT_EQ(bytes_of(a->arrays().panels), bytes_of(b->arrays().panels));
      EXPECT_EQ(bytes_of(a->arrays().scales), bytes_of(b->arrays().scales));
      EXPECT_EQ(bytes_of(a->arrays().bias), bytes_of(b->arrays().bias));
    }
    EXPECT_GT(linears, 5U);
  }
}

TEST(PackedWeightsPlace, IsTheFileWhereMemoryIsScarce) {
  EXPECT_EQ(BestPlaceFor(uint64_t{1} << 50), PackedWeightsIn::kMapped);
  if (HasHugePages()) {
    EXPECT_EQ(BestPlaceFor(1 << 20), PackedWeightsIn::kCopied);
  }
}

TEST_F(PackedWeightsTest, AStoredHeadThatDiffersIsUsedWhateverTheConfigSays) {
  for (const Precision precision : {Precision::kF32, Precision::kInt8}) {
    fs::remove(packed_);
    SetTied(false);
    const Outcome expected = Compute(*MakeModel(precision, Use::kAlways));
    SetTied(true);
    EXPECT_TRUE(Compute(*MakeModel(precision, Use::kNever)) == expected);
    const uint64_t inode = Inode();
    EXPECT_TRUE(Compute(*MakeModel(precision, Use::kAlways)) == expected);
    EXPECT_EQ(Inode(), inode);  // the same weights: the file serves both
  }
}

// One file for the tied and one for the stored head would be mistaken for each other if only the
// flag told them apart.
TEST_F(PackedWeightsTest, AFileOfATiedHeadIsNotUsedForAStoredOneNorTheOtherWayRound) {
  const Outcome stored = Compute(*MakeModel(Precision::kInt8, Use::kAlways));
  MakeHeadEqual();
  SetTied(true);
  EXPECT_EQ(State(), Kind::kStale);
  const Outcome tied = Compute(*MakeModel(Precision::kInt8, Use::kNever));
  EXPECT_FALSE(tied == stored);
  EXPECT_TRUE(Compute(*MakeModel(Precision::kInt8, Use::kAlways)) == tied);
  EXPECT_EQ(State(), Kind::kCurrent);
  SetTied(false);  // the same numbers, but a head that is stored and packed by itself
  EXPECT_EQ(State(), Kind::kStale);
  EXPECT_TRUE(Compute(*MakeModel(Precision::kInt8, Use::kAlways)) == tied);
  WriteSnapshot(1);
  SetTied(true);
  EXPECT_EQ(State(), Kind::kStale);
  EXPECT_TRUE(Compute(*MakeModel(Precision::kInt8, Use::kAlways)) == stored);
}

TEST_F(PackedWeightsTest, ACurrentFileIsUsedAndLeftAlone) {
  Pack();
  const uint64_t inode = Inode();
  const std::string bytes = ReadFile(packed_);
  EXPECT_EQ(MakeModel(Precision::kInt8, Use::kAuto)->packed_path(), packed_);
  Pack();
  EXPECT_EQ(Inode(), inode);
  EXPECT_EQ(ReadFile(packed_), bytes);
  Pack(Precision::kInt8, /*replace=*/true);
  EXPECT_NE(Inode(), inode);
  EXPECT_EQ(ReadFile(packed_), bytes);
  EXPECT_FALSE(fs::exists(packed_ + ".tmp"));
}

TEST_F(PackedWeightsTest, NeverNeitherReadsNorWritesAndAutoWritesNothingForSmallModels) {
  EXPECT_EQ(MakeModel(Precision::kInt8, Use::kAuto)->packed_path(), "");
  EXPECT_FALSE(fs::exists(packed_));
  Pack();
  EXPECT_EQ(MakeModel(Precision::kInt8, Use::kNever)->packed_path(), "");
}

TEST_F(PackedWeightsTest, FilesThatWereOnlyTouchedAreComparedByContentOnce) {
  Pack();
  const std::string stamp = PackedFile(packed_).stamps().sources;
  fs::last_write_time(folder_.path() + "/model.safetensors", fs::file_time_type::clock::now());
  EXPECT_EQ(State(), Kind::kCurrent);
  EXPECT_NE(PackedFile(packed_).stamps().sources, stamp);
  EXPECT_NO_THROW(VerifyPacked(packed_));
}

TEST_F(PackedWeightsTest, OtherWeightsOfTheSameSizeAndTimeAreNoticed) {
  Pack();
  const std::string weights = folder_.path() + "/model.safetensors";
  const auto time = fs::last_write_time(weights);
  std::string bytes = ReadFile(weights);
  bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 0x10);
  WriteAll(weights, bytes);
  fs::last_write_time(weights, time);
  EXPECT_EQ(State(), Kind::kStale);
  const Outcome expected = Compute(*MakeModel(Precision::kInt8, Use::kNever));
  EXPECT_TRUE(Compute(*MakeModel(Precision::kInt8, Use::kAlways)) == expected);
  EXPECT_EQ(State(), Kind::kCurrent);
}

TEST_F(PackedWeightsTest, AnotherSnapshotPrecisionOrGroupMakesAFileStale) {
  Pack();
  EXPECT_EQ(State(Precision::kF32), Kind::kStale);
  group_ = 64;
  EXPECT_EQ(State(), Kind::kStale);
  Pack();
  EXPECT_EQ(State(), Kind::kCurrent);
  group_ = WeightFormat::kDefaultGroup;
  EXPECT_EQ(State(), Kind::kStale);
  Pack();
  WriteSnapshot(3);
  EXPECT_EQ(State(), Kind::kStale);
}

TEST_F(PackedWeightsTest, WeightsThatAreNotFiniteAreRefusedAndLeaveNoFile) {
  const std::string weights = folder_.path() + "/model.safetensors";
  std::string bytes = ReadFile(weights);
  const float nan = std::nanf("");
  std::memcpy(bytes.data() + bytes.size() - sizeof(nan), &nan, sizeof(nan));
  WriteAll(weights, bytes);
  EXPECT_THROW(MakeModel(Precision::kInt8, Use::kAlways), Error);
  EXPECT_FALSE(fs::exists(packed_));
  EXPECT_FALSE(fs::exists(packed_ + ".tmp"));
}

TEST_F(PackedWeightsTest, PlacesThatCannotBeWrittenToArePassedOver) {
  PackingOptions options = Options(Use::kAlways);
  const std::string blocked = folder_.path() + "/config.json/model.packed";
  options.paths = {blocked, packed_};
  EXPECT_EQ(Model(Load(), BestKernels(), Precision::kInt8, options).packed_path(), packed_);
  options.paths = {blocked};
  EXPECT_EQ(Model(Load(), BestKernels(), Precision::kInt8, options).packed_path(), "");
  EXPECT_FALSE(informed_.empty());
}

// --- damage ---

constexpr size_t kPreamble = 4096;
constexpr size_t kHashedPreamble = 96;  // up to its own checksum

struct PackedParts {
  explicit PackedParts(const std::string& path) : bytes(ReadFile(path)) {
    std::memcpy(&index_offset, bytes.data() + 16, 8);
  }
  std::string Index() const { return bytes.substr(index_offset); }
  // The file with another index and checksums that fit it.
  std::string With(const std::string& index) const {
    std::string out = bytes.substr(0, index_offset) + index;
    const uint64_t size = index.size();
    std::memcpy(out.data() + 24, &size, 8);
    out.replace(32, kHashHexLength, HashHex(index));
    out.replace(kHashedPreamble, kHashHexLength, HashHex(std::string_view(out).substr(0, 96)));
    return out;
  }

  std::string bytes;
  uint64_t index_offset = 0;
};

TEST_F(PackedWeightsTest, EveryFlippedByteOutsideTheArraysIsNoticedAtTheStart) {
  Pack();
  const PackedParts good(packed_);
  std::vector<size_t> places;
  for (size_t i = 0; i < kHashedPreamble + kHashHexLength; ++i) places.push_back(i);
  for (size_t i = good.index_offset; i < good.bytes.size(); i += 37) places.push_back(i);
  for (const size_t place : places) {
    std::string bad = good.bytes;
    bad[place] = static_cast<char>(bad[place] ^ 0x20);
    WriteAll(packed_, bad);
    EXPECT_EQ(State(), Kind::kDamaged) << "byte " << place;
  }
}

TEST_F(PackedWeightsTest, EveryFlippedByteOfTheArraysIsFoundByVerifying) {
  Pack();
  const PackedParts good(packed_);
  std::mt19937 rng(1);
  for (int i = 0; i < 20; ++i) {
    std::string bad = good.bytes;
    const size_t place = kPreamble + rng() % (good.index_offset - kPreamble);
    bad[place] = static_cast<char>(bad[place] ^ 0x01);
    WriteAll(packed_, bad);
    EXPECT_THROW(VerifyPacked(packed_), Error) << "byte " << place;
  }
}

TEST_F(PackedWeightsTest, CutOffOrLongerFilesAreNoticed) {
  Pack();
  const PackedParts good(packed_);
  for (size_t size = 0; size < good.bytes.size(); size += good.bytes.size() / 50 + 1) {
    WriteAll(packed_, good.bytes.substr(0, size));
    EXPECT_EQ(State(), Kind::kDamaged) << size;
  }
  WriteAll(packed_, good.bytes.substr(0, good.bytes.size() - 1));
  EXPECT_EQ(State(), Kind::kDamaged);
  WriteAll(packed_, good.bytes + "x");
  EXPECT_EQ(State(), Kind::kDamaged);
}

TEST_F(PackedWeightsTest, ADamagedFileIsReplacedWithAWarning) {
  Pack();
  const std::string good = ReadFile(packed_);
  WriteAll(packed_, good.substr(0, good.size() / 2));
  const Outcome expected = Compute(*MakeModel(Precision::kInt8, Use::kNever));
  EXPECT_TRUE(Compute(*MakeModel(Precision::kInt8, Use::kAlways)) == expected);
  EXPECT_EQ(warned_.size(), 1);
  EXPECT_EQ(ReadFile(packed_), good);
}

// Whole files with checksums that fit, but an index that lies.
TEST_F(PackedWeightsTest, AnIndexThatLiesIsRefused) {
  Pack();
  const PackedParts good(packed_);
  using Json = nlohmann::ordered_json;
  const Json index = Json::parse(good.Index());
  const auto expect = [&](const char* what, auto edit) {
    Json edited = index;
    edit(edited);
    WriteAll(packed_, good.With(edited.dump()));
    EXPECT_NE(State(), Kind::kCurrent) << what;
  };
  WriteAll(packed_, good.With(index.dump()));
  ASSERT_EQ(State(), Kind::kCurrent);
  const uint64_t end = good.index_offset;
  const auto place = [](Json& j, uint64_t offset, uint64_t bytes) {
    j["records"][0]["arrays"][0] = {offset, bytes};
  };
  const auto length = index["records"][0]["arrays"][0][1].get<uint64_t>();
  expect("in the preamble", [&](Json& j) { place(j, 64, length); });
  expect("unaligned", [&](Json& j) { place(j, 4097, length); });
  expect("beyond the end", [&](Json& j) { place(j, end / 64 * 64, length); });
  expect("overflow", [&](Json& j) { place(j, UINT64_MAX / 64 * 64, length); });
  expect("length overflow", [&](Json& j) { place(j, 4096, UINT64_MAX); });
  expect("too short", [&](Json& j) { place(j, 4096, length - 1); });
  expect("negative", [&](Json& j) { j["records"][0]["arrays"][0][0] = -64; });
  expect("no numbers", [&](Json& j) { j["records"][0]["arrays"][0] = {"a", "b"}; });
  expect("no places", [&](Json& j) { j["records"][0]["arrays"] = 3; });
  expect("missing record", [&](Json& j) { j["records"].erase(0); });
  expect("twice", [&](Json& j) { j["records"].push_back(j["records"][0]); });
  expect("another form", [&](Json& j) { j["records"][0]["form"] = "f32 [1, 1]"; });
  expect("no records", [&](Json& j) { j["records"] = Json::object(); });
  expect("unknown key", [&](Json& j) { j["more"] = 1; });
  expect("no object", [&](Json& j) { j = Json::array({1}); });
  expect("another precision", [&](Json& j) { j["precision"] = "f32"; });
  expect("another layout", [&](Json& j) { j["layout"] = std::string(32, '0'); });
  expect("other sources", [&](Json& j) { j["sources"][0]["bytes"] = 1; });
  WriteAll(packed_, good.With(std::string(100, '[')));
  EXPECT_EQ(State(), Kind::kDamaged);
}

// --- draft weights of a file ---

class PackedDraftHeadTest : public PackedWeightsTest {
 protected:
  // The snapshot's own draft layer, of which a matrix is written over with one value.
  std::string WriteHead(const std::string& name, uint8_t value, std::string base_model = "") const {
    const auto snapshot = Load();
    if (base_model.empty()) base_model = WeightsHash(snapshot->checkpoint);
    const std::vector<std::byte> other(1 << 20, std::byte{value});
    std::vector<StoredTensor> tensors;
    const ModuleTable modules = snapshot->Modules();
    for (const Module& module : modules.modules()) {
      if (module.rows_of != RowsOf::kDraft) continue;
      for (const TensorSpec& spec : module.weights) {
        tensors.push_back(*FindTensor(snapshot->checkpoint, spec));
        if (!spec.name.ends_with("eh_proj.weight")) continue;
        tensors.back().bytes = std::span(other).first(tensors.back().bytes.size());
      }
    }
    const Folder folder = Folder::Open(heads_.path(), Folder::Missing::kFail);
    WriteSafetensors(folder, name, tensors, {{DraftFileFacts::kBaseModel, base_model}});
    return heads_.path() + "/" + name;
  }
  std::unique_ptr<Model> WithHead(const DraftWeightsFile& head, Use use) {
    return std::make_unique<Model>(Load(), BestKernels(), Precision::kInt8, Options(use),
                                   std::nullopt, head);
  }
  PackedState StateWith(const std::string& head) {
    const auto snapshot = Load();
    const PackingPlan plan(*snapshot, Precision::kInt8, {head, true}, Options(Use::kAlways));
    return StateOfPacked(packed_, plan.subject());
  }

  const TemporaryFolder heads_;
};

TEST_F(PackedDraftHeadTest, APackedFileCarriesTheDraftWeightsAndSaysWhich) {
  const std::string head = WriteHead("mine.safetensors", 0);
  const Outcome own = Compute(*MakeModel(Precision::kInt8, Use::kNever));
  const Outcome expected = Compute(*WithHead({head, true}, Use::kNever));
  EXPECT_EQ(expected.tokens, own.tokens);
  EXPECT_FALSE(expected == own);
  for (int start = 0; start < 2; ++start) {  // written, then found
    const auto model = WithHead({head, true}, Use::kAlways);
    EXPECT_EQ(model->packed_path(), packed_);
    EXPECT_TRUE(model->draft_head()->packed);
    EXPECT_TRUE(Compute(*model) == expected);
  }
  const auto carried = PackedFile(packed_).key().draft_head;
  ASSERT_TRUE(carried);
  EXPECT_EQ(carried->name, "mine.safetensors");
  EXPECT_EQ(carried->base_model, PackedFile(packed_).key().weights_hash);
  EXPECT_EQ(StateWith(head).kind, Kind::kCurrent);
  EXPECT_EQ(StateWith(head).draft_head, "mine.safetensors");
  EXPECT_TRUE(warned_.empty());
}

// Only the time of a start depends on which draft weights a packed file carries.
TEST_F(PackedDraftHeadTest, AFileWithOtherDraftWeightsServesTheRestOfTheModel) {
  const std::string head = WriteHead("mine.safetensors", 0);
  const std::string other = WriteHead("other.safetensors", 1);
  const Outcome own = Compute(*MakeModel(Precision::kInt8, Use::kNever));
  WithHead({head, true}, Use::kAlways);
  const uint64_t inode = Inode();
  const auto without = MakeModel(Precision::kInt8, Use::kAlways);
  EXPECT_EQ(without->packed_path(), packed_);
  EXPECT_TRUE(Compute(*without) == own);
  const auto with_other = WithHead({other, false}, Use::kAlways);
  EXPECT_EQ(with_other->packed_path(), packed_);
  EXPECT_FALSE(with_other->draft_head()->packed);
  EXPECT_TRUE(Compute(*with_other) == Compute(*WithHead({other, false}, Use::kNever)));
  EXPECT_EQ(Inode(), inode);
  EXPECT_EQ(State(), Kind::kStale);
  EXPECT_EQ(StateWith(other).reason, "it carries the draft head mine.safetensors");
  Pack();
  EXPECT_NE(Inode(), inode);
  EXPECT_EQ(StateWith(head).reason, "it carries the model's own draft head");
  EXPECT_TRUE(Compute(*WithHead({head, true}, Use::kAlways)) ==
              Compute(*WithHead({head, true}, Use::kNever)));
}

TEST_F(PackedDraftHeadTest, DraftWeightsThatWereOnlyTouchedAreComparedByContentOnce) {
  const std::string head = WriteHead("mine.safetensors", 0);
  WithHead({head, true}, Use::kAlways);
  const PackedStamps stamps = PackedFile(packed_).stamps();
  fs::last_write_time(head, fs::file_time_type::clock::now());
  EXPECT_EQ(StateWith(head).kind, Kind::kCurrent);
  EXPECT_NE(PackedFile(packed_).stamps().draft_head, stamps.draft_head);
  EXPECT_EQ(PackedFile(packed_).stamps().sources, stamps.sources);
  EXPECT_NO_THROW(VerifyPacked(packed_));
  WriteHead("mine.safetensors", 2);
  EXPECT_EQ(StateWith(head).kind, Kind::kStale);
}

TEST_F(PackedDraftHeadTest, DraftWeightsOfAnotherModelAreRefusedByName) {
  const std::string head = WriteHead("mine.safetensors", 0);
  const Outcome own = Compute(*MakeModel(Precision::kInt8, Use::kNever));
  WithHead({head, true}, Use::kAlways);
  const PackedParts good(packed_);
  auto index = nlohmann::ordered_json::parse(good.Index());
  index["draft_head"]["base_model"] = std::string(32, '0');
  WriteAll(packed_, good.With(index.dump()));
  const PackedState state = StateWith(head);
  EXPECT_EQ(state.kind, Kind::kDamaged);
  EXPECT_NE(state.reason.find("mine.safetensors was trained for another model"), std::string::npos)
      << state.reason;
  for (const char* broken : {"name", "hash", "base_model"}) {
    auto bad = nlohmann::ordered_json::parse(good.Index());
    bad["draft_head"][broken] = 7;
    WriteAll(packed_, good.With(bad.dump()));
    EXPECT_EQ(StateWith(head).kind, Kind::kDamaged) << broken;
  }
  fs::remove(packed_);
  const std::string foreign = WriteHead("foreign.safetensors", 0, std::string(32, '1'));
  for (const bool installed : {true, false}) {
    warned_.clear();
    const auto model = WithHead({foreign, installed}, Use::kAlways);
    EXPECT_FALSE(model->draft_head());
    ASSERT_EQ(warned_.size(), 1U);
    EXPECT_NE(warned_[0].find(foreign + ": was trained for another model"), std::string::npos);
    EXPECT_TRUE(Compute(*model) == own);
    EXPECT_FALSE(PackedFile(packed_).key().draft_head);
  }
}

// What is installed never keeps anybody from reading; what is named must be usable.
TEST_F(PackedDraftHeadTest, InstalledDraftWeightsThatAreDamagedAreLeftOut) {
  const std::string head = WriteHead("mine.safetensors", 0);
  const Outcome own = Compute(*MakeModel(Precision::kInt8, Use::kNever));
  const std::string good = ReadFile(head);
  const std::string not_a_number = WriteHead("nan.safetensors", 0xff);  // NaN in every float type
  for (const size_t size : {size_t{0}, size_t{9}, good.size() / 2, good.size()}) {
    WriteAll(head, size == good.size() ? ReadFile(not_a_number) : good.substr(0, size));
    warned_.clear();
    EXPECT_TRUE(Compute(*WithHead({head, true}, Use::kNever)) == own) << size;
    ASSERT_EQ(warned_.size(), 1U) << size;
    EXPECT_NE(warned_[0].find("the model's own drafts are used"), std::string::npos);
    EXPECT_THROW(WithHead({head, false}, Use::kNever), Error) << size;
  }
}

TEST_F(PackedWeightsTest, ThingsThatAreNoFilesAreNoError) {
  fs::create_directory(packed_);
  EXPECT_EQ(State(), Kind::kDamaged);
  EXPECT_EQ(MakeModel(Precision::kInt8, Use::kAlways)->packed_path(), "");
  fs::remove(packed_);
  ASSERT_EQ(::mkfifo(packed_.c_str(), 0600), 0);
  EXPECT_EQ(State(), Kind::kDamaged);
}

}  // namespace
}  // namespace platen::testing
