// Invisible text that pages of a PDF have from an earlier recognition, and their contents without
// it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stages/formats/qpdf_objects.h"

namespace platen {

// What `qpdf --json=2 --json-key=qpdf --json-stream-data=inline --decode-level=generalized` says of
// these objects ("12,0"). Nothing: it says none, or too much.
using DescribeStreams =
    std::function<std::optional<std::string>(const std::vector<std::string>& objects)>;

// Makes an object of the file; returns a reference to it.
using MakeObject = std::function<std::string(QpdfObjects::Json value)>;

struct PageWithoutText {
  // In place of the page's contents; nothing: they stay.
  std::optional<std::string> content;
  // Entries of /XObject of its resources, in place of those of these names.
  QpdfObjects::Json forms = QpdfObjects::Json::object();
  // The page goes on showing text: it is visible, or it cannot be said what can be left out.
  bool keeps_text = false;
};

// Streams are fetched for some pages at a time. Not thread-safe.
class OldPdfText {
 public:
  // `objects`: of the whole file, without data; outlives it.
  OldPdfText(const QpdfObjects& objects, DescribeStreams describe)
      : objects_(objects), describe_(std::move(describe)) {}

  // Of pages()[index], whose resources these are.
  PageWithoutText Without(size_t index, const QpdfObjects::Json& resources, const MakeObject& make);

 private:
  using Json = QpdfObjects::Json;

  // A form that text was looked for in. Nothing: it cannot be said.
  struct Form {
    std::optional<std::string> instead;  // a reference, if it had invisible text
    bool other_text = false;
  };
  using Forms = std::map<std::pair<std::string, int>, std::optional<Form>>;

  const QpdfObjects* StreamsOf(size_t index);
  bool Fetch(size_t first, size_t count);
  void AddStreams(const Json& reference, int depth, std::vector<std::string>& objects) const;
  void AddForms(const Json& resources, int depth, std::vector<std::string>& objects) const;
  std::optional<std::string> DataOf(const Json& reference) const;
  std::optional<Form> FormWithout(const Json& reference, int mode, int depth,
                                  const MakeObject& make);
  bool FormsWithout(const std::map<std::string, int>& drawn, const Json& resources, int depth,
                    const MakeObject& make, Json& instead, bool& other_text);

  const QpdfObjects& objects_;
  DescribeStreams describe_;
  QpdfObjects streams_;  // of the pages [first_, end_)
  size_t first_ = 0, end_ = 0;
  Forms known_;  // by reference and the mode they begin with
};

}  // namespace platen
