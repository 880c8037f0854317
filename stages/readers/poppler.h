// poppler's programs run on one file, each within limits. Private to this folder's sources.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stages/readers/child_process.h"
#include "stages/readers/document_reader.h"

namespace platen {

inline constexpr const char* kUnreadablePdf = "not a readable PDF";

// A path that no program takes for an option or for standard input.
std::string SafeArgument(const std::string& path);

ChildLimits LimitsOfChild(const ReadLimits& limits, size_t max_output_bytes);

// What the program has written.
std::string_view OutputText(const ChildResult& result);

// Thread-safe.
class Poppler {
 public:
  // Asks pdfinfo about the file, with the first of limits.pdf_passwords that opens it if it wants
  // one. Throws Error(kInput) if it cannot be opened, Error(kEnvironment) if pdfinfo is missing.
  Poppler(std::string path, const ReadLimits& limits);

  const std::string& path() const { return path_; }
  const ReadLimits& limits() const { return limits_; }
  const std::string& password() const { return password_; }  // empty: it opens without one
  const std::string& info() const { return info_; }          // what pdfinfo says of the document

  // One of the programs, with the password that the file wants and the options given.
  std::vector<std::string> Program(const std::string& name,
                                   const std::vector<std::string>& options = {}) const;

  // Runs `program` on the file. A failure is an Error with its reason, which is `what_failed` and
  // poppler's complaint where there is no better one.
  ChildResult Run(const std::vector<std::string>& program, const std::string& what_failed,
                  size_t max_output_bytes) const;

  // The same, asked about pages together. A complaint is a failure where there are several pages:
  // nobody can tell whose it is.
  ChildResult Ask(const std::string& name, std::vector<std::string> options, int first_page,
                  int last_page, size_t max_output_bytes) const;

 private:
  ChildResult Start(const std::vector<std::string>& program, size_t max_output_bytes) const;
  void Check(const ChildResult& result, const std::string& program,
             const std::string& what_failed) const;

  std::string path_;
  ReadLimits limits_;
  std::string password_;
  std::string info_;
};

}  // namespace platen
