#include "apps/platen/cli/metrics_file.h"

#include <fcntl.h>

namespace platen {

MetricsFile::MetricsFile(const std::string& path) : path_(path) {
  const auto [parent, name] = Folder::OpenParent(path, Folder::Missing::kCreate);
  fd_ = parent.OpenFile(name, O_WRONLY | O_CREAT | O_TRUNC);
}

void MetricsFile::Append(std::string_view json) {
  std::string line(json);
  line += '\n';
  WriteAll(fd_.get(), line, path_);
}

}  // namespace platen
