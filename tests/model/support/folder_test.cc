// Files below a folder that somebody else may have prepared.
#include "model/support/folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "model/support/error.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using testing::ReadFile;
using testing::TempFolder;
using Missing = Folder::Missing;

Folder Open(const TempFolder& folder) { return Folder::Open(folder.path(), Missing::kFail); }

template <typename Work>
std::string Reason(Work&& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(FolderTest, MakesFoldersAndFilesBelow) {
  const TempFolder folder;
  const Folder deep = Open(folder).Below("a//b/c/", Missing::kCreate);
  EXPECT_EQ(deep.path(), folder / "a/b/c");
  const UniqueFd file = deep.OpenFile("x", O_WRONLY | O_CREAT);
  WriteAll(file.get(), "text", deep.PathOf("x"));
  EXPECT_EQ(ReadFile(folder / "a/b/c/x"), "text");
  EXPECT_EQ(deep.Names(), std::vector<std::string>{"x"});
  deep.Rename("x", Open(folder), "y");
  EXPECT_EQ(ReadFile(folder / "y"), "text");
  Open(folder).Remove("y");
  Open(folder).Remove("y");  // not there any more: fine
  EXPECT_FALSE(fs::exists(folder / "y"));
  EXPECT_EQ(Open(folder).Below("", Missing::kFail).path(), folder.path());
}

TEST(FolderTest, ALinkTakesThePlaceOfWhatHasItsName) {
  const TempFolder folder;
  folder.Write("file", "mine");
  folder.Write("name", "before");
  Open(folder).Link("name", "file");
  EXPECT_EQ(fs::read_symlink(folder / "name"), "file");
  Open(folder).Link("name", "../elsewhere");
  EXPECT_EQ(fs::read_symlink(folder / "name"), "../elsewhere");
  EXPECT_EQ(ReadFile(folder / "file"), "mine");
  EXPECT_EQ(Open(folder).Names().size(), 2U);
  fs::create_directory(folder / "sub");
  EXPECT_TRUE(Contains(Reason([&] { Open(folder).Link("sub", "file"); }), "sub"));
  EXPECT_EQ(Open(folder).Names().size(), 3U);
}

TEST(FolderTest, TheFolderTheUserNamesMayBeALink) {
  const TempFolder folder;
  fs::create_directory(folder / "real");
  fs::create_directory_symlink("real", folder / "link");
  Folder::Open(folder / "link", Missing::kCreate).Below("sub", Missing::kCreate);
  EXPECT_TRUE(fs::is_directory(folder / "real/sub"));
}

TEST(FolderTest, NoLinkBelowItIsFollowed) {
  const TempFolder folder, victim;
  victim.Write("file", "precious");
  fs::create_directory(victim / "sub");
  fs::create_directory_symlink(victim.path(), folder / "folder");
  fs::create_symlink(victim / "file", folder / "file");
  fs::create_symlink(victim / "new", folder / "new");
  const Folder open = Open(folder);
  for (const Missing missing : {Missing::kFail, Missing::kCreate}) {
    EXPECT_TRUE(Contains(Reason([&] { open.Below("folder", missing); }), "symbolic link"));
    EXPECT_TRUE(Contains(Reason([&] { open.Below("folder/sub", missing); }), "symbolic link"));
  }
  for (const int flags : {O_RDONLY, O_RDWR | O_APPEND, O_WRONLY | O_CREAT, O_WRONLY | O_TRUNC}) {
    EXPECT_TRUE(Contains(Reason([&] { open.OpenFile("file", flags); }), "symbolic link"));
  }
  EXPECT_TRUE(Contains(Reason([&] { open.OpenFile("new", O_WRONLY | O_CREAT); }), "symbolic link"));
  EXPECT_FALSE(fs::exists(victim / "new"));
  EXPECT_TRUE(S_ISLNK(open.Look("file")->st_mode));
  open.Remove("file");  // the links themselves
  open.Remove("folder");
  EXPECT_EQ(ReadFile(victim / "file"), "precious");
  EXPECT_TRUE(fs::exists(victim / "sub"));
}

TEST(FolderTest, OnlyRegularFilesAreOpened) {
  const TempFolder folder;
  fs::create_directory(folder / "sub");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  folder.Write("file", "x");
  const Folder open = Open(folder);
  EXPECT_TRUE(Contains(Reason([&] { open.OpenFile("pipe", O_RDWR); }), "not a regular file"));
  EXPECT_TRUE(Contains(Reason([&] { open.OpenFile("pipe", O_RDONLY); }), "not a regular file"));
  EXPECT_TRUE(Contains(Reason([&] { open.OpenFile("sub", O_RDONLY); }), "a folder of that name"));
  EXPECT_TRUE(
      Contains(Reason([&] { open.OpenFile("sub", O_RDWR | O_CREAT); }), "a folder of that name"));
  EXPECT_TRUE(
      Contains(Reason([&] { open.Below("file", Missing::kCreate); }), "a file of that name"));
  EXPECT_TRUE(
      Contains(Reason([&] { open.Below("file/x", Missing::kCreate); }), "a file of that name"));
}

TEST(FolderTest, WhatIsNotThereIsNoErrorToLookFor) {
  const TempFolder folder;
  const Folder open = Open(folder);
  EXPECT_FALSE(open.OpenFile("x", O_RDONLY));
  EXPECT_FALSE(open.Look("x").has_value());
  EXPECT_THROW(open.Below("x", Missing::kFail), Error);
  EXPECT_THROW(Folder::Open(folder / "x", Missing::kFail), Error);
}

TEST(FolderTest, ErrorsOfANameAreToldFromThoseOfTheDisk) {
  const TempFolder folder;
  const Folder open = Open(folder);
  try {
    open.OpenFile(std::string(300, 'n'), O_WRONLY | O_CREAT);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInput);
  }
  try {
    WriteAll(-1, "x", "path");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kEnvironment);
  }
}

TEST(SplitPathTest, ParentAndName) {
  using Parts = std::pair<std::string, std::string>;
  EXPECT_EQ(SplitPath("a/b/c"), (Parts{"a/b", "c"}));
  EXPECT_EQ(SplitPath("c"), (Parts{"", "c"}));
}

TEST(FolderTest, TheParentOfAFileIsItsFolderWhereverItStands) {
  const auto parent = [](const std::string& path) {
    auto [folder, name] = Folder::OpenParent(path, Folder::Missing::kFail);
    return std::pair(folder.path(), name);
  };
  EXPECT_EQ(parent("/x.json"), (std::pair<std::string, std::string>("/", "x.json")));
  EXPECT_EQ(parent("x.json"), (std::pair<std::string, std::string>(".", "x.json")));
  EXPECT_THROW(parent("/no such folder/x.json"), Error);
}

}  // namespace
}  // namespace platen
