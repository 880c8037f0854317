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

// How the linears of a packed file are held. kMapped: as views of the file, whose pages come into
// memory as they are used and are shared with other processes. kCopied: in memory of their own, in
// huge pages. Few file systems have huge pages for files, and with small ones a step of decoding,
// which reads all weights once, takes up to a third longer (docs/notes/2026-11-23-huge-pages.md).
enum class PackedWeightsIn { kMapped, kCopied };

// kCopied where memory is plentiful for weights of so many bytes and the kernel has huge pages.
PackedWeightsIn BestPlaceFor(uint64_t bytes);

// A record that is missing or of another form than the checkpoint's tensors and the plan ask for is
// an Error(kModel). Tables and vectors are small or read row by row: those stay mapped, these are
// copied always.
class PackedFileSource final : public WeightSource {
 public:
  PackedFileSource(std::shared_ptr<const PackedFile> file, Precision precision,
                   PackedWeightsIn place)
      : file_(std::move(file)), precision_(precision), place_(place) {}

  Linear GetLinear(const LinearSpec& spec) override;
  std::vector<float> GetVector(const std::string& name, const StoredTensor& tensor) override;
  Table GetTable(const std::string& name, const StoredTensor& tensor) override;

 private:
  std::shared_ptr<const PackedFile> file_;
  Precision precision_;
  PackedWeightsIn place_;
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
