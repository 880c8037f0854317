#include "apps/platen/commands/run/requests_file.h"

#include <cerrno>
#include <cstring>
#include <iostream>

#include "apps/platen/commands/run/request_line.h"
#include "model/support/error.h"
#include "model/support/folder.h"

namespace platen {

RequestsFile::RequestsFile(const std::string& path) : name_(path), in_(&std::cin) {
  if (path == "-") {
    name_ = "standard input";
    return;
  }
  folder_ = SplitPath(path).first;
  file_.open(path, std::ios::binary);
  if (!file_) {
    throw Error(ErrorKind::kUsage, {path, ""},
                std::string("cannot be opened: ") + std::strerror(errno));
  }
  in_ = &file_;
}

bool RequestsFile::Next(Line& line) {
  for (;;) {
    line.text.clear();
    line.too_long = false;
    int c = in_->get();
    for (; c != std::istream::traits_type::eof() && c != '\n'; c = in_->get()) {
      if (line.text.size() < kMostRequestLineBytes) {
        line.text.push_back(static_cast<char>(c));
      } else {
        line.too_long = true;
      }
    }
    if (in_->bad()) throw Error(ErrorKind::kEnvironment, {name_, ""}, "cannot be read");
    const bool ended = c == std::istream::traits_type::eof();
    if (ended && line.text.empty()) return false;
    line.number = ++number_;
    if (line.text.find_first_not_of(" \t\r") != std::string::npos) return true;
    if (ended) return false;
  }
}

std::string RequestsFile::Where(int64_t number) const {
  return name_ + ":" + std::to_string(number);
}

}  // namespace platen
