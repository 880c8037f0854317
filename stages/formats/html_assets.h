// The style and the script of the check page, and what its policy allows: these two texts alone, by
// their hashes.
#pragma once

namespace platen {

extern const char kCheckPageStyle[];
extern const char kCheckPageScript[];
extern const char kCheckPagePolicy[];  // Content-Security-Policy

}  // namespace platen
