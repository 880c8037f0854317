// Weights to and from a packed file: what a ProductSpec, a vector and a table look like in one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/checkpoint/packed_file.h"
#include "model/checkpoint/weight_source.h"

namespace platen {

// Hash of a fixed matrix packed in this format: another program version that packs or quantises in
// another way has another hash, whoever may have forgotten to say so.
std::string LayoutHash(Precision precision);

// Views of a packed file; its pages come into memory as they are used. A record that is missing or
// of another form than the checkpoint's tensors and the plan ask for is an Error(kModel).
class PackedFileSource final : public WeightSource {
 public:
  PackedFileSource(std::shared_ptr<const PackedFile> file, Precision precision)
      : file_(std::move(file)), precision_(precision) {}

  Linear GetProduct(const ProductSpec& spec) override;
  std::vector<float> GetVector(const StoredTensor& tensor) override;
  Table GetTable(const StoredTensor& tensor) override;

 private:
  std::shared_ptr<const PackedFile> file_;
  Precision precision_;
};

// Packs what it is asked for, writes it to a file and hands out nothing, so that the memory of one
// layer is enough. What GatherWeights makes of it cannot be computed with.
class PackingSource final : public WeightSource {
 public:
  PackingSource(PackedFileWriter& writer, Precision precision)
      : writer_(writer), checkpoint_(precision) {}

  // Besides Error(kModel) they throw Error(kEnvironment) if the file cannot be written.
  Linear GetProduct(const ProductSpec& spec) override;
  std::vector<float> GetVector(const StoredTensor& tensor) override;
  Table GetTable(const StoredTensor& tensor) override;

 private:
  PackedFileWriter& writer_;
  CheckpointSource checkpoint_;
};

}  // namespace platen
