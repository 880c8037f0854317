// Which documents to read, and where their outputs go.
//
// Inputs are files, folders, glob patterns and lists of names. Names are bytes, never assumed to be
// UTF-8. The result is in a fixed order: arguments as given, folders in natural order (page2 before
// page10), whatever order the file system lists them in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stages/inputs/document_list.h"
#include "stages/readers/left_behind.h"

namespace platen {

// A name of a list, and where its outputs go; empty: where its name says.
struct ListedInput {
  std::string name;
  std::string output = {};

  bool operator==(const ListedInput&) const = default;
};

struct InputSpec {
  std::vector<std::string> arguments;  // files, folders, patterns with * ? [ ] **
  std::vector<ListedInput> listed;     // from lists (ParseNameList): never patterns
  std::string standard_input;          // path of a file with a document that came in there
  std::string output_dir;              // never read; need not exist yet
  std::string input_root;              // if not empty: outputs mirror paths relative to it
  std::vector<std::string> formats;    // of the outputs, which must not replace an input
  // By the path of its outputs: whether a document is wanted. Of those that are not, nothing is
  // read but their names and numbers. Empty: all are.
  std::function<bool(const std::string& output)> wanted = {};
  double patience_s = kUsualPatienceS;  // with a look at a file (InputFile)
};

// Name of the document that came on standard input, and the path of its outputs.
inline constexpr char kStandardInput[] = "standard input";
inline constexpr char kStandardInputOutput[] = "stdin";

struct Discovery {
  DocumentList documents;
  // Files that are no documents: text, programs, ...; links that lead nowhere; what is no file.
  std::vector<std::string> other_files;
  std::vector<std::string> hidden;    // names beginning with a dot, met while walking folders
  std::vector<std::string> repeated;  // "b: the same folder as a": read once, under its first name
  std::vector<std::string> results;   // folders of results, met in others or by a pattern: not read
  int64_t missing = 0;                // documents that a list names and that are not there
  int64_t unwanted = 0;               // files, whatever they are, that were not looked at
};

// Finds the documents. What a file is, is told by its content: everything of a format that is read,
// or that is known but not read, or that a name claims to be an image, is a document; the rest is
// listed as other files. A folder that a run has written to (it has a folder .platen) is read only
// if it is named itself: its pictures and PDF files are results. A name of a list that does not
// exist becomes a document with an error.
//
// Outputs keep the input's full name, a.tif -> a.tif (+ ".txt"), and do not depend on how the input
// was typed: what is found in a folder goes below the folder's own name, what a pattern finds below
// the name of its last folder without a wildcard, a named file to its name. With `input_root`,
// paths are relative to that folder instead.
//
// Throws Error(kUsage) if a named input does not exist or is neither file nor folder, if two inputs
// would write the same output (naming both, and the root that keeps them apart), if an output would
// replace an input or stand in another's way (RefuseClashes), if an input is not below
// `input_root`, or if it is the output folder itself.
Discovery DiscoverDocuments(const InputSpec& spec);

// Names of a list: separated by NUL if it contains one, else by line breaks (a carriage return
// before the break is dropped). Empty names are ignored; so are lines that begin with "#",
// comments: a file of such a name is written "./#name". Lists with NUL have no comments.
//
// The failures.jsonl of a run is a list too: what begins with "{" and is a JSON object with a
// "path" is that file, whose outputs go where that run's did ("output", below the output folder);
// of the lines of one file the first counts.
std::vector<ListedInput> ParseNameList(const std::string& bytes);

// "page2" < "page10": runs of digits compare as numbers, everything else as bytes.
bool NaturalLess(const std::string& a, const std::string& b);

// Page numbers such as "1-5,9": first and last page of each range, 1-based and inclusive; an open
// end ("7-") is INT_MAX. Throws Error(kUsage) for anything else, also for 0 and for 5-1.
struct PageRange {
  int first = 1;
  int last = 1;
};
std::vector<PageRange> ParsePageRanges(const std::string& text);

// The chosen pages of a document of `num_pages`, ascending, each once; all if `ranges` is empty.
std::vector<int> SelectPages(const std::vector<PageRange>& ranges, int num_pages);

}  // namespace platen
