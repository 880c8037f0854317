#include "stages/readers/poppler.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "model/support/error.h"
#include "stages/readers/poppler_output.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

constexpr size_t kMaxInfoBytes = 1 << 20;

bool WantsPassword(const ChildResult& result) {
  return result.end == ChildResult::End::kExited && result.code != 0 &&
         result.errors.find("Incorrect password") != std::string::npos;
}

FailureCode CodeFor(const ChildResult& result) {
  switch (result.end) {
    case ChildResult::End::kTimedOut:
      return FailureCode::kTimeout;
    case ChildResult::End::kTooMuchOutput:
      return FailureCode::kTooLarge;
    case ChildResult::End::kSignalled:
    case ChildResult::End::kExited:
      break;
  }
  return WantsPassword(result) ? FailureCode::kEncrypted : FailureCode::kDecodeError;
}

std::string ReasonFor(const ChildResult& result, const std::string& program,
                      const std::string& what_failed, const ReadLimits& limits) {
  switch (result.end) {
    case ChildResult::End::kTimedOut:
      return program + " took longer than " +
             std::to_string(static_cast<int64_t>(std::ceil(limits.pdf_page_timeout_s))) + " s";
    case ChildResult::End::kTooMuchOutput:
      return program + " wrote more than expected";
    case ChildResult::End::kSignalled:
      return program + " died of signal " + std::to_string(result.code) + " (it may use " +
             std::to_string(limits.pdf_memory_bytes >> 20) + " MiB of memory)";
    case ChildResult::End::kExited:
      break;
  }
  if (WantsPassword(result)) {
    return limits.pdf_passwords.empty()
               ? "the file is encrypted and needs a password (--password-file)"
               : "the file is encrypted and opens with none of the passwords given";
  }
  const std::string line = PopplerComplaint(result.errors);
  return what_failed + (line.empty() ? " (" + program + " failed with exit code " +
                                           std::to_string(result.code) + ")"
                                     : " (poppler: " + line + ")");
}

}  // namespace

std::string SafeArgument(const std::string& path) {
  return path.starts_with('/') ? path : "./" + path;
}

ChildLimits LimitsOfChild(const ReadLimits& limits, size_t max_output_bytes) {
  return {.timeout_s = limits.pdf_page_timeout_s,
          .memory_bytes = limits.pdf_memory_bytes,
          .max_output_bytes = max_output_bytes};
}

std::string_view OutputText(const ChildResult& result) {
  return {reinterpret_cast<const char*>(result.output.data()), result.output.size()};
}

Poppler::Poppler(std::string path, const ReadLimits& limits)
    : path_(std::move(path)), limits_(limits) {
  ChildResult info = Start(Program("pdfinfo"), kMaxInfoBytes);
  for (size_t i = 0; i < limits_.pdf_passwords.size() && WantsPassword(info); ++i) {
    password_ = limits_.pdf_passwords[i];
    info = Start(Program("pdfinfo"), kMaxInfoBytes);
  }
  Check(info, "pdfinfo", kUnreadablePdf);
  info_ = OutputText(info);
}

std::vector<std::string> Poppler::Program(const std::string& name,
                                          const std::vector<std::string>& options) const {
  std::vector<std::string> program = {name};
  if (!password_.empty()) program.insert(program.end(), {"-upw", password_});
  program.insert(program.end(), options.begin(), options.end());
  return program;
}

ChildResult Poppler::Run(const std::vector<std::string>& program, const std::string& what_failed,
                         size_t max_output_bytes) const {
  ChildResult result = Start(program, max_output_bytes);
  Check(result, program[0], what_failed);
  return result;
}

ChildResult Poppler::Ask(const std::string& name, std::vector<std::string> options, int first_page,
                         int last_page, size_t max_output_bytes) const {
  options.insert(options.end(),
                 {"-f", std::to_string(first_page), "-l", std::to_string(last_page)});
  ChildResult result = Run(Program(name, options), kUnreadablePdf, max_output_bytes);
  if (first_page < last_page && !result.errors.empty()) {
    ThrowUnreadable(path_, PopplerComplaint(result.errors));
  }
  return result;
}

// Runs the program, whatever comes of it.
ChildResult Poppler::Start(const std::vector<std::string>& program, size_t max_output_bytes) const {
  std::vector<std::string> arguments = program;
  arguments.push_back(SafeArgument(path_));
  // Else it writes a file beside the PDF.
  if (program[0] == "pdftotext") arguments.emplace_back("-");
  try {
    return RunChild(arguments, LimitsOfChild(limits_, max_output_bytes));
  } catch (const Error& error) {
    throw Error(ErrorKind::kEnvironment, {.file = path_, .field = {}},
                "reading PDF needs the program " + program[0] + ", which " + error.reason() +
                    " (install poppler-utils)",
                FailureCode::kMissingProgram);
  }
}

void Poppler::Check(const ChildResult& result, const std::string& program,
                    const std::string& what_failed) const {
  if (result.end != ChildResult::End::kExited || result.code != 0) {
    ThrowUnreadable(path_, ReasonFor(result, program, what_failed, limits_), CodeFor(result));
  }
}

}  // namespace platen
