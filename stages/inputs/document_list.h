// The documents of a run, in their order.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "model/support/failure_code.h"

namespace platen {

struct InputDocument {
  std::string path;    // as the user named it, or below the folder the user named
  std::string output;  // path below the output folder, without the format's extension
  Fault error;         // not empty: it will not be opened, and why
  std::string name;    // for messages, if `path` says nothing to the user

  const std::string& shown_name() const { return name.empty() ? path : name; }
};

// There may be millions, and all are there as long as the run: one takes the bytes of its names and
// 24 more. Each is made when it is asked for.
class DocumentList {
 public:
  DocumentList() = default;
  DocumentList(std::initializer_list<InputDocument> documents);

  void Add(const InputDocument& document);

  size_t size() const { return ends_.size() / kNames; }
  bool empty() const { return ends_.empty(); }
  InputDocument operator[](size_t index) const;
  InputDocument front() const { return (*this)[0]; }

  class Iterator {
   public:
    Iterator(const DocumentList& list, size_t index) : list_(&list), index_(index) {}
    InputDocument operator*() const { return (*list_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const DocumentList* list_;
    size_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  static constexpr size_t kNames = 3;  // path, output, name

  std::string Name(size_t index) const;

  std::string names_;               // of all documents, one behind the other
  std::vector<size_t> ends_;        // of the names in `names_`
  std::map<size_t, Fault> errors_;  // by document; few have one
};

}  // namespace platen
