#include "tests/support/random_snapshot.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "model/checkpoint/tensor_check.h"
#include "model/families/registry.h"
#include "tests/support/npy.h"

namespace platen::testing {
namespace {

int Between(std::mt19937_64& rng, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(rng);
}

void WriteJson(const std::string& path, const nlohmann::json& json) {
  std::ofstream out(path);
  out << json.dump(1);
  if (!out) throw std::runtime_error("cannot write " + path);
}

nlohmann::json ReadJsonFile(const std::string& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in);
}

void WriteConfig(const std::string& dir, const RandomSizes& s) {
  const std::string base = SourcePath("tests/golden/snapshots/tiny-a/");
  nlohmann::json config = ReadJsonFile(base + "config.json");
  auto& text = config["text_config"];
  text["hidden_size"] = s.hidden;
  text["num_attention_heads"] = s.heads;
  text["num_key_value_heads"] = s.kv_heads;
  text["head_dim"] = s.head_dim;
  text["intermediate_size"] = s.intermediate;
  text["num_hidden_layers"] = s.layers;
  text["num_nextn_predict_layers"] = s.mtp_layers;
  text["rope_parameters"]["mrope_section"] = {s.mrope[0], s.mrope[1], s.mrope[2]};
  text["rope_parameters"]["rope_theta"] = s.rope_theta;
  text["tie_word_embeddings"] = s.tied;
  config["tie_word_embeddings"] = s.tied;
  auto& vision = config["vision_config"];
  vision["hidden_size"] = s.vision_hidden;
  vision["num_heads"] = s.vision_heads;
  vision["intermediate_size"] = s.vision_intermediate;
  vision["depth"] = s.depth;
  vision["out_hidden_size"] = s.hidden;
  WriteJson(dir + "/config.json", config);
  for (const char* file :
       {"generation_config.json", "preprocessor_config.json", "tokenizer.json"}) {
    std::filesystem::copy_file(base + file, dir + "/" + file);
  }
}

// Norm weights near 1, biases and matrices of a size that keeps activations near 1.
std::vector<float> RandomWeights(const TensorSpec& spec, std::mt19937_64& rng) {
  int64_t count = 1;
  for (const int64_t n : spec.shape) count *= n;
  const bool vector = spec.shape.size() == 1;
  const bool bias = spec.name.ends_with(".bias");
  const double deviation =
      vector ? 0.2 : 1.0 / std::sqrt(static_cast<double>(count / spec.shape[0]));
  std::normal_distribution<double> normal(vector && !bias ? 1.0 : 0.0, deviation);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(normal(rng));
  return values;
}

}  // namespace

std::string RandomSizes::Text() const {
  return "hidden " + std::to_string(hidden) + " heads " + std::to_string(heads) + "/" +
         std::to_string(kv_heads) + " head_dim " + std::to_string(head_dim) + " mrope " +
         std::to_string(mrope[0]) + "," + std::to_string(mrope[1]) + "," +
         std::to_string(mrope[2]) + " intermediate " + std::to_string(intermediate) + " layers " +
         std::to_string(layers) + "+" + std::to_string(mtp_layers) + " vision " +
         std::to_string(vision_hidden) + "/" + std::to_string(vision_heads) + " depth " +
         std::to_string(depth) + " inner " + std::to_string(vision_intermediate) +
         (tied ? " tied" : "");
}

RandomSizes DrawSizes(std::mt19937_64& rng) {
  RandomSizes s;
  s.hidden = 4 * Between(rng, 5, 20);
  s.kv_heads = Between(rng, 1, 3);
  s.heads = s.kv_heads * Between(rng, 1, 3);
  s.head_dim = 2 * Between(rng, 3, 18);
  s.intermediate = Between(rng, 20, 90);
  s.layers = Between(rng, 1, 3);
  s.mtp_layers = Between(rng, 0, 3) == 0 ? 0 : 1;
  s.mrope[0] = Between(rng, 1, s.head_dim / 2 - 2);
  s.mrope[1] = Between(rng, 1, s.head_dim / 2 - s.mrope[0] - 1);
  s.mrope[2] = s.head_dim / 2 - s.mrope[0] - s.mrope[1];
  s.vision_heads = Between(rng, 1, 3);
  s.vision_hidden = s.vision_heads * 4 * Between(rng, 2, 9);
  s.vision_intermediate = Between(rng, 20, 90);
  s.depth = Between(rng, 1, 3);
  s.tied = Between(rng, 0, 2) == 0;
  s.rope_theta = Between(rng, 0, 1) == 0 ? 10000.0 : 500.0;
  return s;
}

void WriteRandomWeights(const std::string& dir, const ModuleTable& modules, std::mt19937_64& rng) {
  nlohmann::json header;
  std::vector<float> data;
  for (const auto& [spec, section] : RequiredTensors(modules)) {
    const std::vector<float> values = RandomWeights(spec, rng);
    const size_t begin = data.size() * sizeof(float);
    data.insert(data.end(), values.begin(), values.end());
    header[spec.name] = {{"dtype", "F32"},
                         {"shape", spec.shape},
                         {"data_offsets", {begin, data.size() * sizeof(float)}}};
  }
  std::string text = header.dump();
  while (text.size() % 8 != 0) text += ' ';
  std::ofstream out(dir + "/model.safetensors", std::ios::binary);
  const uint64_t length = text.size();
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out << text;
  out.write(reinterpret_cast<const char*>(data.data()),
            static_cast<std::streamsize>(data.size() * sizeof(float)));
  if (!out) throw std::runtime_error("cannot write weights in " + dir);
}

void WriteRandomSnapshot(const std::string& dir, const RandomSizes& sizes, std::mt19937_64& rng) {
  WriteConfig(dir, sizes);
  WriteRandomWeights(dir, FamilyRegistry::BuiltIn().Read(dir)->Modules(), rng);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "platen-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace platen::testing
