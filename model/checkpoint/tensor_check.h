// A checkpoint compared with the module table of its family.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/module_table.h"
#include "model/support/error.h"

namespace platen {

// What is wrong with the tensors of a checkpoint. All lists are in the order of the table; a tensor
// that several modules share is named once.
struct TensorCheck {
  std::vector<Error> missing;           // required tensors that are not there
  std::vector<Error> mismatched;        // required tensors or copies of another shape
  std::vector<std::string> unexpected;  // names outside the table, ascending; harmless
};

// `dir` is the snapshot's folder, for messages.
TensorCheck CheckTensors(const ModuleTable& table, const Checkpoint& checkpoint,
                         const std::string& dir);

// Throws the first of them, if there is one; it says how many more there are.
void ThrowFirst(const std::vector<Error>& problems);

// That the checkpoint in `dir` has tensors of no use, for the log.
std::string UnexpectedTensors(const std::string& dir, const TensorCheck& check);

// Every tensor the table requires, once, with the section it belongs to, in the order of the table.
struct RequiredTensor {
  TensorSpec spec;
  std::string section;
};
std::vector<RequiredTensor> RequiredTensors(const ModuleTable& table);

}  // namespace platen
