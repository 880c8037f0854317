#include "stages/inputs/document_list.h"

namespace platen {

DocumentList::DocumentList(std::initializer_list<InputDocument> documents) {
  for (const InputDocument& document : documents) Add(document);
}

void DocumentList::Add(const InputDocument& document) {
  if (!document.error.empty()) errors_.emplace(size(), document.error);
  for (const std::string* name : {&document.path, &document.output, &document.name}) {
    names_ += *name;
    ends_.push_back(names_.size());
  }
}

InputDocument DocumentList::operator[](size_t index) const {
  const auto error = errors_.find(index);
  const size_t first = index * kNames;
  return {Name(first), Name(first + 1), error == errors_.end() ? Fault() : error->second,
          Name(first + 2)};
}

std::string DocumentList::Name(size_t index) const {
  const size_t begin = index == 0 ? 0 : ends_[index - 1];
  return names_.substr(begin, ends_[index] - begin);
}

}  // namespace platen
