// Weights to and from a packed file: what a LinearSpec, a vector and a table look like in one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/checkpoint/packed_file.h"
#include "model/checkpoint/weight_source.h"

namespace platen {

// Hash of a fixed matrix packed in this format: another program version that packs or quantises in
// another way has another hash, so a file it did not write is never taken for its own.
std::string LayoutHash(Precision precision);

// Views of a packed file; its pages come into memory as they are used. A record that is missing or
// of another form than the checkpoint's tensors and the plan ask for is an Error(kModel).
class PackedFileSource final : public WeightSource {
 public:
  PackedFileSource(std::shared_ptr<const PackedFile> file, Precision precision)
      : file_(std::move(file)), precision_(precision) {}

  Linear GetLinear(const LinearSpec& spec) override;
  std::vector<float> GetVector(const std::string& name, const StoredTensor& tensor) override;
  Table GetTable(const std::string& name, const StoredTensor& tensor) override;

 private:
  std::shared_ptr<const PackedFile> file_;
  Precision precision_;
};

// Packs what it is asked for, writes it to a file and hands out nothing, so that the memory of one
// layer is enough. What LoadModules makes of it cannot be computed with.
class PackingSource final : public WeightSource {
 public:
  PackingSource(PackedFileWriter& writer, Precision precision)
      : writer_(writer), checkpoint_(precision) {}

  // Besides Error(kModel) they throw Error(kEnvironment) if the file cannot be written.
  Linear GetLinear(const LinearSpec& spec) override;
  std::vector<float> GetVector(const std::string& name, const StoredTensor& tensor) override;
  Table GetTable(const std::string& name, const StoredTensor& tensor) override;

 private:
  PackedFileWriter& writer_;
  CheckpointSource checkpoint_;
};

}  // namespace platen
