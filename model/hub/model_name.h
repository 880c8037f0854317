// Names of models on a Hugging Face hub: "owner/name", "owner/name@revision".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace platen {

struct ModelName {
  std::string owner;
  std::string name;
  std::string revision = "main";  // branch, tag, or a commit (also its first 7 or more digits)

  std::string Repository() const { return owner + "/" + name; }
  // As the user would write it: without the revision if that is main.
  std::string Text() const;
};

// Nothing for what is no such name. Neither part can leave a folder it is used in: letters, digits,
// '.', '_' and '-', no "..", no "--", neither '.' nor '-' at the ends, at most 96 bytes together.
std::optional<ModelName> ParseModelName(std::string_view text);

// A branch, tag or commit: letters, digits and "._-/", relative, no "." or ".." between slashes.
bool IsRevision(std::string_view text);

// 40 lower-case hexadecimal digits.
bool IsCommit(std::string_view text);

}  // namespace platen
