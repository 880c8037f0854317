// A line of a requests file: what is asked of the model, as JSON.
//
//   {"id": "p1", "images": ["crops/a.png", {"path": "b.pdf", "page": 3}], "task": "table",
//    "max_new_tokens": 200, "temperature": 0.2, "seed": 7, "stop": ["\n\n"], "draft_length": 0}
//
// Every key may be left out; docs/REQUESTS.md lists them.
#pragma once

#include <map>
#include <string>

#include "model/engine/request.h"
#include "model/families/model.h"

namespace platen {

inline constexpr size_t kMostRequestLineBytes = 1 << 20;

// What lines leave out.
struct RequestDefaults {
  std::string folder;                          // relative image paths are below it
  std::map<std::string, std::string> prompts;  // by task
  SamplingOptions sampling;
  int max_new_tokens = 0;
  int64_t max_pixels = 0;  // of an image
};

struct RequestLine {
  std::string id;  // as the line says; empty: it says none
  Request request;
};

// The id alone, for messages about a line that is not read; empty if there is none.
std::string IdOfRequestLine(const std::string& text);

// Reads the line and its images. Throws Error(kInput, kModel or kUsage) that says what is wrong in
// words that do not depend on where the file lies, and Error(kEnvironment).
RequestLine ReadRequestLine(const std::string& text, const Model& model,
                            const RequestDefaults& defaults);

}  // namespace platen
