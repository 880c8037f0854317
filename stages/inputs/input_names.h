// Names of inputs: what they stand for on disk, and what outputs are called after them.
#pragma once

#include <string>

namespace platen {

// "./a//b/" -> "a/b"; bytes otherwise unchanged, ".." resolved as text.
std::string Normalised(const std::string& path);

// The path from the root of the file system. A part ".." is resolved as the system does it, by way
// of what stands before it: behind a link to a folder it does not lead back to where the link
// stands.
std::string AbsolutePath(const std::string& path);

// The last part of what `path` leads to: "a/b/" -> "b", "." -> the current folder's name. "" for
// "/".
std::string LastName(const std::string& path);

// The path of `absolute` below the folder `root` (both from AbsolutePath), by name or, where links
// lead there, by what they lead to; "" for the folder itself. False if it is not below it.
bool PathBelow(const std::string& root, const std::string& absolute, std::string& below);

// The deepest folder that holds both (paths from AbsolutePath).
std::string CommonFolder(const std::string& a, const std::string& b);

// folder + "/" + name; "" and "." stand for nothing.
std::string JoinNames(const std::string& folder, const std::string& name);

}  // namespace platen
