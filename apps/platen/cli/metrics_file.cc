#include "apps/platen/cli/metrics_file.h"

#include <fcntl.h>

namespace platen {

MetricsFile::MetricsFile(const std::string& path) : path_(path) {
  const auto [folder, name] = SplitPath(path);
  const Folder parent = Folder::Open(folder.empty() ? "." : folder, Folder::Missing::kCreate);
  fd_ = parent.OpenFile(name, O_WRONLY | O_CREAT | O_TRUNC);
}

void MetricsFile::Append(std::string_view json) {
  std::string line(json);
  line += '\n';
  WriteAll(fd_.get(), line, path_);
}

}  // namespace platen
