#include "apps/platen/commands/ocr/ocr_target.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/folder.h"
#include "pipeline/failure_log.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

std::string MakeTemporaryFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "platen-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) ThrowFileError(name, "create the folder", errno);
  return name;
}

bool NamesStandardOutput(const std::string& output) {
  return output == "-" || output == "/dev/stdout";
}

// A slip of the command line, found before anything else is looked at.
void RefuseFile(const std::string& output) {
  std::error_code ignored;
  const fs::file_status status = fs::status(output, ignored);
  if (!fs::exists(status) || fs::is_directory(status)) return;
  throw Error(ErrorKind::kUsage, {DisplayName(output), "--output"},
              "is no folder; name one, which is made if it is not there (for one format of one "
              "document: -o - > FILE)");
}

// A folder of its own below the output folder, so that outputs can name what is in it.
void CheckImages(const std::string& images, bool is_stdout) {
  if (images.empty()) return;
  const auto refuse = [](const std::string& reason) {
    throw Error(ErrorKind::kUsage, {"", "--images"}, reason);
  };
  if (is_stdout) refuse("needs an output folder: -o DIR");
  for (const fs::path& part : fs::path(images)) {
    if (part.is_absolute() || part == ".." || part == "." || part.empty()) {
      refuse("is the name of a folder below the output folder, such as \"images\"");
    }
  }
  if (*fs::path(images).begin() == ".platen") refuse("is the run's own folder; choose another");
}

}  // namespace

OcrTarget::OcrTarget(const Settings& settings)
    : is_stdout_(settings.Text("output").empty() || NamesStandardOutput(settings.Text("output"))),
      was_named_(!settings.Text("output").empty()),
      formats_(settings.List("format")) {
  CheckImages(settings.Text("images"), is_stdout_);
  if (!is_stdout_) {
    dir_ = settings.Text("output");
    RefuseFile(dir_);
  } else if (settings.IsDefault("format")) {
    formats_ = {"txt"};
  } else if (formats_.size() != 1) {
    throw Error(ErrorKind::kUsage, {"", "--format"},
                "one format can be printed; choose one, or say where to write: -o DIR");
  }
}

OcrTarget::~OcrTarget() {
  if (!is_stdout_ || dir_.empty()) return;
  std::error_code ignored;
  fs::remove_all(dir_, ignored);
}

void OcrTarget::Prepare() {
  WithErrorKind(ErrorKind::kEnvironment, [&] {
    if (is_stdout_) {
      dir_ = MakeTemporaryFolder();
      ::signal(SIGPIPE, SIG_IGN);  // the folder must be removed first
    }
    const Folder folder = Folder::Open(dir_, Folder::Missing::kCreate);
    if (::access(dir_.c_str(), W_OK | X_OK) != 0) {
      throw Error(ErrorKind::kEnvironment, {DisplayName(dir_), ""},
                  "the folder cannot be written to");
    }
    for (const char* name : {"run.json", FailureLog::kFileName}) {
      const auto info = folder.Look(name);
      if (!info || !S_ISDIR(info->st_mode)) continue;
      throw Error(ErrorKind::kEnvironment, {DisplayName(folder.PathOf(name)), ""},
                  "a folder stands where the report will be written; move it away");
    }
  });
}

void OcrTarget::Print(const FinishedDocument& document) {
  // Of formats that are a file for each page: one after the other they are none.
  if (document.outputs.size() > 1) {
    throw Error(ErrorKind::kUsage, {DisplayName(document.input.shown_name()), ""},
                "has " + std::to_string(document.outputs.size()) + " pages, and " +
                    formats_.front() +
                    " is a file for each of them; say where to write (-o DIR), or choose one "
                    "(--pages)");
  }
  for (const WrittenFile& output : document.outputs) {
    if (printed_ && formats_.front() == "txt") std::fputc('\f', stdout);
    std::FILE* file = std::fopen(output.path.c_str(), "rb");
    if (file == nullptr) ThrowFileError(output.path, "open", errno);
    char chunk[1 << 16];
    while (const size_t n = std::fread(chunk, 1, sizeof(chunk), file)) {
      std::fwrite(chunk, 1, n, stdout);
    }
    std::fclose(file);
    printed_ = true;
    if (std::fflush(stdout) != 0) {
      if (errno == EPIPE) throw ReaderGone();
      WithErrorKind(ErrorKind::kEnvironment,
                    [] { ThrowFileError("standard output", "write", errno); });
    }
  }
}

}  // namespace platen
