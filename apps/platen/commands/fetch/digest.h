// Checksums a hub gives for files, of a file that is open.
#pragma once

#include <cstdint>
#include <string>

#include "model/hub/repository_files.h"

namespace platen {

// In the form of `file.digest`: SHA-256 of the content of a large file, SHA-1 of any other as git
// counts it ("blob SIZE\0" before the content). Reads all of `fd`, whose place does not matter;
// `path` is for messages. Throws Error(kEnvironment) and FetchInterrupted.
std::string DigestOf(const HubFile& file, int fd, const std::string& path);

// "sha256" or "git sha1".
const char* DigestName(const HubFile& file);

}  // namespace platen
