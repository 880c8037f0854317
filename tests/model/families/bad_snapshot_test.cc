// Damaged snapshots: each is refused with an error that says where the damage is.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <optional>
#include <random>

#include "model/checkpoint/tensor_check.h"
#include "model/families/inspect.h"
#include "model/families/snapshot.h"
#include "model/support/error.h"
#include "tests/support/npy.h"
#include "tests/support/snapshot_edits.h"

namespace platen {
namespace {

using nlohmann::json;
using testing::ApplyEdit;
using testing::CopySnapshot;
using testing::ReadFile;
using testing::SourcePath;
using testing::TempFolder;

std::string TinyA() { return SourcePath("tests/golden/snapshots/tiny-a"); }

// Everything the engine reads before it runs, its weights included. Nothing if all is well.
std::optional<Error> LoadingError(const std::string& dir) {
  try {
    const Snapshot snapshot = LoadSnapshot(dir);
    for (const auto& [spec, section] : RequiredTensors(snapshot.Modules())) {
      const StoredTensor& tensor = *snapshot.checkpoint.Find(spec.name);
      std::vector<float> values(static_cast<size_t>(tensor.num_elements()));
      WidenToF32(tensor, values);
    }
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

// Where the error of a mutation must point.
struct Expected {
  std::string file;
  std::string field;        // contained in the error's field
  bool has_offset = false;  // binary damage
};

const std::map<std::string, Expected>& ExpectedErrors() {
  static const std::string q0 = "model.language_model.layers.0.self_attn.q_proj.weight";
  static const std::string norm = "model.language_model.norm.weight";
  static const std::string st = "model.safetensors";
  static const auto& expected = *new std::map<std::string, Expected>{
      {"header_length_beyond_file", {st, "", true}},
      {"header_length_negative", {st, "", true}},
      {"file_of_7_bytes", {st, "", true}},
      {"empty_file", {st, "", true}},
      {"header_not_json", {st, "", true}},
      {"overlapping_offsets", {st, "layers.0.self_attn.", true}},
      {"offset_beyond_data", {st, q0, true}},
      {"reversed_offsets", {st, q0, true}},
      {"wrong_dtype_size", {st, q0, true}},
      {"unknown_dtype", {st, q0}},
      {"integer_dtype", {st, q0}},
      {"shape_transposed", {st, q0, true}},
      {"shape_overflow", {st, q0, true}},
      {"shape_negative", {st, q0}},
      {"hole_in_data", {st, "model.visual.blocks.0.attn.k_norm.weight", true}},
      {"missing_tensor", {"", norm}},
      {"missing_mtp_tensor", {"", "model.language_model.layers.3.eh_proj.weight"}},
      {"truncated_data", {st, "", true}},
      {"trailing_garbage", {st, "", true}},
      {"nan_weight", {st, norm, true}},
      {"inf_weight", {st, norm, true}},
      {"config_invalid_json", {"config.json", "", true}},
      {"config_missing_hidden_size", {"config.json", "text_config.hidden_size"}},
      {"config_missing_text_config", {"config.json", "text_config"}},
      {"config_wrong_type", {"config.json", "text_config.num_hidden_layers"}},
      {"config_vocab_mismatch", {st, "embed_tokens.weight", true}},
      {"config_heads_mismatch", {"config.json", "text_config.num_key_value_heads"}},
      {"config_mrope_sum", {"config.json", "text_config.rope_parameters.mrope_section"}},
      {"config_zero_heads", {"config.json", "text_config.num_attention_heads"}},
      {"config_huge_layers", {"config.json", "text_config.num_hidden_layers"}},
      {"config_wrong_model_type", {"config.json", "model_type"}},
      {"config_image_token_outside", {"config.json", "image_token_id"}},
      {"tokenizer_duplicate_ids", {"tokenizer.json", "model.vocab."}},
      {"tokenizer_merge_unknown", {"tokenizer.json", "model.merges[634]"}},
      {"tokenizer_bad_regex", {"tokenizer.json", "pre_tokenizer.pretokenizers[0].pattern.Regex"}},
      {"tokenizer_missing", {"tokenizer.json", ""}},
      {"preprocessor_zero_patch", {"preprocessor_config.json", "patch_size"}},
      {"preprocessor_zero_std", {"preprocessor_config.json", "image_std"}},
  };
  return expected;
}

TEST(BadSnapshot, EveryListedMutationIsRefusedWhereItIsDamaged) {
  const json list = json::parse(ReadFile(SourcePath("tests/golden/bad/mutations.json")));
  ASSERT_EQ(list["mutations"].size(), 39U);
  size_t refused = 0;
  for (const json& mutation : list["mutations"]) {
    const std::string name = mutation["name"];
    SCOPED_TRACE(name);
    const TempFolder folder;
    CopySnapshot(TinyA(), folder);
    for (const json& edit : mutation["edits"]) ApplyEdit(edit, folder);

    const std::optional<Error> error = LoadingError(folder.path());
    EXPECT_EQ(InspectSnapshot(folder.path()).usable(), !error.has_value());
    const auto expected = ExpectedErrors().find(name);
    if (expected == ExpectedErrors().end()) {
      EXPECT_EQ(name, "extra_tensor") << "no expectation";
      continue;
    }
    ASSERT_TRUE(error) << "accepted";
    ++refused;
    EXPECT_EQ(error->kind(), ErrorKind::kModel);
    const std::string prefix = folder.path() + (expected->second.file.empty() ? "" : "/");
    EXPECT_EQ(error->location().file, prefix + expected->second.file) << error->what();
    EXPECT_NE(error->location().field.find(expected->second.field), std::string::npos)
        << error->what();
    EXPECT_EQ(error->location().offset.has_value(), expected->second.has_offset) << error->what();
    EXPECT_FALSE(error->reason().empty());
  }
  EXPECT_EQ(refused, 38U);
}

TEST(BadSnapshot, AnUnknownTensorIsAcceptedWithAWarning) {
  const TempFolder folder;
  CopySnapshot(TinyA(), folder);
  ApplyEdit({{"op", "header_rename"},
             {"tensor", "model.language_model.layers.3.embed_tokens.weight"},
             {"to", "model.surprise.weight"}},
            folder);
  const Snapshot snapshot = LoadSnapshot(folder.path());
  ASSERT_EQ(snapshot.warnings.size(), 1U);
  EXPECT_NE(snapshot.warnings[0].find("model.surprise.weight"), std::string::npos);
}

TEST(BadSnapshot, EveryPrefixOfTheCheckpointIsAnError) {
  const std::string whole = ReadFile(TinyA() + "/model.safetensors");
  const TempFolder folder;
  CopySnapshot(TinyA(), folder);
  uint64_t header_length = 0;
  std::memcpy(&header_length, whole.data(), sizeof header_length);
  // Every length around the header's ends, then in steps that are no multiple of anything.
  std::vector<size_t> lengths;
  for (size_t n = 0; n < 40; ++n) lengths.push_back(n);
  for (size_t n = 0; n < 40; ++n) lengths.push_back(header_length - 12 + n);
  for (size_t n = 40; n < header_length; n += 331) lengths.push_back(n);
  for (size_t n = header_length; n < whole.size(); n += 40'009) lengths.push_back(n);
  lengths.push_back(whole.size() - 1);
  for (const size_t length : lengths) {
    folder.Write("model.safetensors", whole.substr(0, length));
    try {
      Checkpoint::Open(folder.path());
      FAIL() << "accepted " << length << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.location().file, folder / "model.safetensors");
      EXPECT_TRUE(error.location().offset.has_value()) << error.what();
    }
  }
}

TEST(BadSnapshot, EveryPrefixOfAJsonFileIsAnError) {
  for (const std::string name :
       {"config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json"}) {
    const std::string whole = ReadFile(TinyA() + "/" + name);
    const TempFolder folder;
    CopySnapshot(TinyA(), folder);
    const size_t end = whole.find_last_of('}');
    for (size_t length = 0; length <= end; length += 1 + end / 97) {
      folder.Write(name, whole.substr(0, length));
      const std::optional<Error> error = LoadingError(folder.path());
      ASSERT_TRUE(error) << name << ": accepted " << length << " bytes";
      EXPECT_EQ(error->location().file, folder / name);
      EXPECT_TRUE(error->location().offset.has_value()) << error->what();
    }
  }
}

// Replaces, inserts and removes bytes; mostly inside `[begin, end)` of `bytes`.
void Damage(std::mt19937_64& random, size_t begin, size_t end, std::string& bytes) {
  constexpr std::string_view kLikely = "{}[]\",:0123456789-eE.tfn\\ux \xFF";
  const size_t edits = 1 + random() % 4;
  for (size_t i = 0; i < edits; ++i) {
    const size_t at = begin + random() % std::min(end - begin, bytes.size() - begin);
    const char byte =
        random() % 2 == 0 ? kLikely[random() % kLikely.size()] : static_cast<char>(random() % 256);
    switch (random() % 4) {
      case 0:
        bytes.erase(at, 1 + random() % 8);
        break;
      case 1:
        bytes.insert(at, 1, byte);
        break;
      default:
        bytes[at] = byte;
    }
  }
}

TEST(BadSnapshot, RandomDamageIsAnErrorOrHarmless) {
  constexpr uint64_t kSeed = 20260101;
  constexpr int kRounds = 150;
  std::mt19937_64 random(kSeed);
  int refused = 0;
  for (const std::string name :
       {"config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json",
        "model.safetensors"}) {
    const std::string whole = ReadFile(TinyA() + "/" + name);
    const bool binary = name == "model.safetensors";
    const size_t end = binary ? 8 + 11'000 : whole.size();  // the header only
    const TempFolder folder;
    CopySnapshot(TinyA(), folder);
    for (int round = 0; round < kRounds; ++round) {
      SCOPED_TRACE(name + ", seed " + std::to_string(kSeed) + ", round " + std::to_string(round));
      std::string bytes = whole;
      Damage(random, 0, end, bytes);
      folder.Write(name, bytes);
      const std::optional<Error> error = LoadingError(folder.path());
      if (error) {
        ++refused;
        EXPECT_EQ(error->kind(), ErrorKind::kModel);
        EXPECT_FALSE(error->location().file.empty()) << error->what();
      }
    }
  }
  EXPECT_GT(refused, kRounds) << "the damage is too mild to test anything";
}

TEST(BadSnapshot, AGitLfsPointerIsNamedAsSuch) {
  const TempFolder folder;
  CopySnapshot(TinyA(), folder);
  folder.Write("model.safetensors",
               "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 2650579464\n");
  const std::optional<Error> error = LoadingError(folder.path());
  ASSERT_TRUE(error);
  EXPECT_NE(error->reason().find("git lfs pull"), std::string::npos);
}

TEST(BadSnapshot, APipeOrFolderInPlaceOfAFileIsRefusedAtOnce) {
  for (const std::string name : {"config.json", "tokenizer.json", "model.safetensors"}) {
    for (const bool pipe : {true, false}) {
      const TempFolder folder;
      CopySnapshot(TinyA(), folder);
      std::filesystem::remove(folder / name);
      if (pipe) {
        ASSERT_EQ(mkfifo((folder / name).c_str(), 0600), 0);
      } else {
        std::filesystem::create_directory(folder / name);
      }
      const std::optional<Error> error = LoadingError(folder.path());
      ASSERT_TRUE(error) << name;
      EXPECT_EQ(error->location().file, folder / name);
    }
  }
}

TEST(BadSnapshot, ShardsMustAgreeWithTheirIndex) {
  const std::string tiny_b = SourcePath("tests/golden/snapshots/tiny-b");
  const std::string index = "model.safetensors.index.json";
  const std::string tensor = "model.language_model.norm.weight";
  const auto refusal = [&](const json& edit) {
    const TempFolder folder;
    CopySnapshot(tiny_b, folder);
    ApplyEdit(edit, folder);
    const std::optional<Error> error = LoadingError(folder.path());
    return error ? error->what() : std::string("accepted");
  };
  const json path = {"weight_map", tensor};
  const auto set = [&](const json& value) {
    return json{{"op", "json_set"}, {"file", index}, {"path", path}, {"value", value}};
  };
  EXPECT_NE(refusal(set("../model.safetensors")).find("same folder"), std::string::npos);
  EXPECT_NE(refusal(set("model-00000.safetensors")).find("cannot open"), std::string::npos);
  EXPECT_NE(refusal(set("model-00002-of-00002.safetensors")).find("which holds this tensor"),
            std::string::npos);
  EXPECT_NE(refusal(set(7)).find("must be a file name"), std::string::npos);
  EXPECT_NE(refusal({{"op", "json_delete"}, {"file", index}, {"path", path}})
                .find("which holds this tensor"),
            std::string::npos);
  EXPECT_NE(refusal({{"op", "json_set"},
                     {"file", index},
                     {"path", {"weight_map", "model.ghost.weight"}},
                     {"value", "model-00002-of-00002.safetensors"}})
                .find("model.ghost.weight"),
            std::string::npos);
  EXPECT_NE(
      refusal({{"op", "delete"}, {"file", "model-00002-of-00002.safetensors"}}).find("cannot open"),
      std::string::npos);
}

}  // namespace
}  // namespace platen
