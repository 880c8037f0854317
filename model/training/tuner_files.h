// Tensors and facts in the files of a training: what a tuner writes and goes on from.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/checkpoint/safetensors_writer.h"
#include "model/support/error.h"
#include "model/support/folder.h"
#include "model/training/parameters.h"

namespace platen {

inline constexpr const char* kCheckpoint = "checkpoint.safetensors";

// A double as text that gives the same double again.
std::string Exactly(double value);

// Throws Error(kInput) that says how to begin anew.
[[noreturn]] void RefuseToGoOn(const ErrorLocation& location, const std::string& reason);
Checkpoint OpenToGoOn(const Folder& folder, const char* name);

// A number of steps that the training may have done, at most `most`.
int64_t StepsIn(const std::string& text, const ErrorLocation& location, int64_t most);

// Values of all tensors, one after another, as tensors of a checkpoint; views of them.
void AddTensors(const DraftShape& shape, const std::string& purpose, std::span<const float> all,
                std::vector<StoredTensor>& tensors);
// Appends them to `all`.
void ReadTensors(const Checkpoint& file, const DraftShape& shape, const std::string& purpose,
                 std::vector<float>& all);

std::vector<float> ValuesOf(const Parameters<float>& parameters);
void SetValues(std::span<const float> all, Parameters<float>& parameters);

}  // namespace platen
