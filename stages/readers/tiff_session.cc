#include "stages/readers/tiff_session.h"

#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "model/support/error.h"
#include "stages/readers/unreadable.h"

namespace platen {
namespace {

using State = TiffSession::State;

// Warnings after which pixels, or tags that decide about them, are missing.
bool MeansLostPixels(std::string_view message) {
  return message.find("IO error") != std::string_view::npos ||      // a tag
         message.find("remature EOF") != std::string_view::npos ||  // fax
         message.find("remature end") != std::string_view::npos ||  // JPEG
         (message.find("Corrupt JPEG data") != std::string_view::npos &&
          message.find("extraneous") == std::string_view::npos);
}

std::string FormatMessage(const char* format, va_list args) {
  char text[240];
  std::vsnprintf(text, sizeof(text), format, args);
  return text;
}

extern "C" {

int TiffOnError(TIFF*, void* user, const char*, const char* format, va_list args) {
  auto* state = static_cast<State*>(user);
  if (state->error.empty()) state->error = FormatMessage(format, args);
  return 1;  // nothing is printed
}

int TiffOnWarning(TIFF*, void* user, const char*, const char* format, va_list args) {
  auto* state = static_cast<State*>(user);
  const std::string message = FormatMessage(format, args);
  // Private tags are common and harmless.
  if (message.starts_with("Unknown field")) return 1;
  if (state->error.empty() && MeansLostPixels(message)) state->error = message;
  if (state->warning.empty()) state->warning = message;
  return 1;
}

tmsize_t TiffRead(thandle_t handle, void* buffer, tmsize_t length) {
  auto* state = static_cast<State*>(handle);
  try {
    const size_t n = state->file->ReadAt(
        state->position, {static_cast<uint8_t*>(buffer), static_cast<size_t>(length)});
    state->position += n;
    if (n < static_cast<size_t>(length)) state->ended_early = true;
    return static_cast<tmsize_t>(n);
  } catch (const Error& error) {  // must not pass through libtiff
    state->error = error.reason();
    return -1;
  }
}

tmsize_t TiffWrite(thandle_t, void*, tmsize_t) { return -1; }

toff_t TiffSeek(thandle_t handle, toff_t offset, int whence) {
  auto* state = static_cast<State*>(handle);
  if (whence == SEEK_CUR) offset += state->position;
  if (whence == SEEK_END) offset += state->file->size();
  state->position = offset;
  return offset;
}

int TiffClose(thandle_t) { return 0; }

toff_t TiffSize(thandle_t handle) { return static_cast<State*>(handle)->file->size(); }

}  // extern "C"

// Messages of files outside any session; sessions have handlers of their own.
void SilenceLibtiff() {
  [[maybe_unused]] static const bool done = [] {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
    return true;
  }();
}

TIFF* OpenTiffHandle(State& state, int64_t max_block_bytes) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (options == nullptr) return nullptr;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, max_block_bytes);
  TIFFOpenOptionsSetErrorHandlerExtR(options, TiffOnError, &state);
  TIFFOpenOptionsSetWarningHandlerExtR(options, TiffOnWarning, &state);
  // "h": no directory is read yet. "m": no memory mapping.
  TIFF* tiff = TIFFClientOpenExt(state.file->path().c_str(), "rhm", &state, TiffRead, TiffWrite,
                                 TiffSeek, TiffClose, TiffSize, nullptr, nullptr, options);
  TIFFOpenOptionsFree(options);
  return tiff;
}

}  // namespace

TiffSession::TiffSession(const InputFile& file, uint64_t directory_offset,
                         int64_t max_block_bytes) {
  SilenceLibtiff();
  state_.file = &file;
  tiff_ = OpenTiffHandle(state_, max_block_bytes);
  if (tiff_ == nullptr) FailDamaged("cannot be opened");
  if (TIFFSetSubDirectory(tiff_, directory_offset) == 0) {
    TIFFClose(tiff_);
    FailDamaged("the page's directory is damaged");
  }
}

TiffSession::~TiffSession() { TIFFClose(tiff_); }

void TiffSession::Fail(const std::string& reason) const {
  ThrowUnreadable(path(), "TIFF: " + reason);
}

void TiffSession::FailDamaged(const std::string& reason) const {
  if (state_.ended_early) ThrowCutOff(path(), state_.file->size(), "TIFF");
  Fail(state_.error.empty() ? reason : state_.error);
}

}  // namespace platen
