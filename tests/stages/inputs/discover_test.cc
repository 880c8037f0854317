// Which documents are read, in which order, and where their outputs go.
#include "stages/inputs/discover.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <filesystem>

#include "model/support/error.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

std::vector<std::string> Outputs(const Discovery& discovery) {
  std::vector<std::string> outputs;
  for (const InputDocument& d : discovery.documents) outputs.push_back(d.output);
  return outputs;
}

// Tests run in a folder of their own, so relative names mean what they say.
class DiscoverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    fs::current_path(folder_.path());
  }
  void TearDown() override { fs::current_path(before_); }

  Discovery Discover(std::vector<std::string> arguments, const std::string& output = "out",
                     const std::string& root = "") {
    return DiscoverDocuments({std::move(arguments), {}, "", output, root, {"txt", "json"}});
  }
  Discovery DiscoverListed(std::vector<std::string> names) {
    std::vector<ListedInput> listed;
    for (std::string& name : names) listed.push_back({std::move(name)});
    return DiscoverDocuments({{}, std::move(listed), "", "out", "", {"txt"}});
  }
  // The message of the Error(kUsage) that it must be.
  std::string Refusal(std::vector<std::string> arguments, const std::string& output = "out",
                      const std::string& root = "") {
    try {
      Discover(std::move(arguments), output, root);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kUsage) << e.what();
      return e.what();
    }
    return "not refused";
  }

  TempFolder folder_;
  fs::path before_;
};

constexpr char kPng[] = "\x89PNG\r\n\x1A\n";

TEST_F(DiscoverTest, FoldersAreWalkedInNaturalOrderAndMirrored) {
  for (const char* name : {"scans/page10.tif", "scans/page2.TIF", "scans/a/1.png", "scans/b.jpg"}) {
    folder_.Write(name, "x");
  }
  const std::vector<std::string> expected = {"scans/a/1.png", "scans/b.jpg", "scans/page2.TIF",
                                             "scans/page10.tif"};
  EXPECT_EQ(Outputs(Discover({"scans"})), expected);
  EXPECT_EQ(Discover({"./scans/"}).documents[1].path, "./scans/b.jpg");
}

TEST_F(DiscoverTest, OutputNamesDoNotDependOnHowTheInputWasTyped) {
  folder_.Write("x/scans/a/1.png", "x");
  folder_.Write("x/scans/b.png", "x");
  const std::vector<std::string> whole = {"scans/a/1.png", "scans/b.png"};
  for (const std::string& typed : {std::string("x/scans"), std::string("./x//scans/"),
                                   folder_ / "x/scans", std::string("x/scans/a/../../scans")}) {
    EXPECT_EQ(Outputs(Discover({typed})), whole) << typed;
  }
  const std::vector<std::string> one = {"b.png"};
  for (const std::string& typed : {std::string("x/scans/b.png"), folder_ / "x/scans/b.png"}) {
    EXPECT_EQ(Outputs(Discover({typed})), one) << typed;
  }
  const std::vector<std::string> matched = {"scans/b.png"};
  for (const std::string& typed : {std::string("x/scans/*.png"), folder_ / "x/scans/*.png"}) {
    EXPECT_EQ(Outputs(Discover({typed})), matched) << typed;
  }
  EXPECT_EQ(Outputs(Discover({"x/*/b.png"})), std::vector<std::string>{"x/scans/b.png"});
  fs::current_path(folder_ / "x/scans");
  EXPECT_EQ(Outputs(Discover({"."})), whole);
  EXPECT_EQ(Outputs(Discover({"../scans"})), whole);
  EXPECT_EQ(Outputs(Discover({"b.png"})), one);
  EXPECT_EQ(Outputs(Discover({"../scans/b.png"})), one);
  EXPECT_EQ(Outputs(Discover({"*.png"})), matched);
  EXPECT_EQ(Outputs(DiscoverListed({"b.png", "a/1.png"})),
            (std::vector<std::string>{"b.png", "1.png"}));
}

TEST_F(DiscoverTest, ContentDecidesWhatAFileIs) {
  folder_.Write("s/noext", kPng);
  folder_.Write("s/wrong.txt", kPng);
  folder_.Write("s/notes.txt", "some words");
  folder_.Write("s/x.db", std::string(100, '\1'));
  folder_.Write("s/damaged.png",
                std::string(100, '\1'));  // by its name more likely a page than not
  folder_.Write("s/empty.tif", "");
  folder_.Write("s/empty", "");
  const Discovery found = Discover({"s"});
  EXPECT_EQ(Outputs(found),
            (std::vector<std::string>{"s/damaged.png", "s/empty.tif", "s/noext", "s/wrong.txt"}));
  EXPECT_EQ(found.other_files, (std::vector<std::string>{"s/empty", "s/notes.txt", "s/x.db"}));
  for (const InputDocument& document : found.documents) EXPECT_EQ(document.error.text, "");
  EXPECT_EQ(Discover({"s/notes.txt"}).other_files, std::vector<std::string>{"s/notes.txt"});
}

TEST_F(DiscoverTest, FormatsThatAreKnownButNotReadAreFailures) {
  folder_.Write("s/a.gif", "AT&TFORM and so on");
  folder_.Write("s/b.txt", std::string("\0\0\0\fftypheic", 12));
  const Discovery found = Discover({"s"});
  ASSERT_EQ(found.documents.size(), 2U);
  EXPECT_EQ(found.documents[0].error.text.find("DjVu files are not read"), 0U);
  EXPECT_EQ(found.documents[1].error.text.find("HEIF files are not read"), 0U);
  EXPECT_TRUE(found.other_files.empty());
}

TEST_F(DiscoverTest, HiddenFilesAndWhatIsNoFileAreListed) {
  for (const char* name : {"s/.hidden.png", "s/.git/x.png", "s/a.png"}) folder_.Write(name, "x");
  ASSERT_EQ(::mkfifo((folder_ / "s/pipe.png").c_str(), 0600), 0);
  const Discovery found = Discover({"s"});
  EXPECT_EQ(Outputs(found), std::vector<std::string>{"s/a.png"});
  EXPECT_EQ(found.hidden, (std::vector<std::string>{"s/.git", "s/.hidden.png"}));
  EXPECT_EQ(found.other_files, std::vector<std::string>{"s/pipe.png"});
}

TEST_F(DiscoverTest, TheOutputFolderIsNeverRead) {
  folder_.Write("s/a.png", "x");
  folder_.Write("s/out/b.png", "x");
  EXPECT_EQ(Outputs(Discover({"s"}, "s/out")), std::vector<std::string>{"s/a.png"});
  EXPECT_EQ(Outputs(Discover({"s"}, "s/../s/out")), std::vector<std::string>{"s/a.png"});
  EXPECT_NE(Refusal({"s/out"}, "s/out").find("input and output are the same folder"),
            std::string::npos);
}

TEST_F(DiscoverTest, ResultsOfAnotherRunAreReadOnlyIfTheyAreNamed) {
  using Names = std::vector<std::string>;
  folder_.Write("s/a.png", "x");
  folder_.Write("s/old/s/a.png.pdf", "%PDF-1.4");
  folder_.Write("s/old/.platen/ledger.jsonl", "");
  folder_.Write("s/scans/.platen", "a file of that name says nothing");
  folder_.Write("s/scans/b.png", "x");
  for (const char* input : {"s", "s/**", "s/**/*", "s/*"}) {
    const Discovery found = Discover({input});
    EXPECT_EQ(Outputs(found), (Names{"s/a.png", "s/scans/b.png"})) << input;
    EXPECT_EQ(found.results, Names{"s/old"}) << input;
  }
  for (const char* input : {"s/old", "s/old/**", "s/old/s/*.pdf", "s/old/s"}) {
    const Discovery found = Discover({input});
    EXPECT_EQ(found.documents.size(), 1U) << input;
    EXPECT_EQ(found.results, Names{}) << input;
  }
  EXPECT_EQ(DiscoverListed({"s/old"}).documents.size(), 1U);
  EXPECT_EQ(Outputs(Discover({"s"}, "s/old")), (Names{"s/a.png", "s/scans/b.png"}));
  EXPECT_EQ(Discover({"s"}, "s/old").results, Names{});
}

TEST_F(DiscoverTest, AnOutputNeverReplacesAnInput) {
  folder_.Write("s/a.png", "x");
  folder_.Write("s/a.png.txt", kPng);  // a scan, whatever it is called
  EXPECT_EQ(Discover({"s/a.png", "s/a.png.txt"}).documents.size(), 2U);
  const std::string refusal = Refusal({"s/a.png", "s/a.png.txt"}, "s");
  EXPECT_NE(refusal.find("s/a.png.txt: would be replaced by the output of s/a.png"),
            std::string::npos)
      << refusal;
}

TEST_F(DiscoverTest, LinksThatLoopAreFollowedOnceAndSaid) {
  folder_.Write("s/a/1.png", "x");
  fs::create_directory_symlink("..", folder_ / "s/a/up");
  fs::create_directory_symlink("a", folder_ / "s/b");
  fs::create_symlink("1.png", folder_ / "s/a/2.png");
  const Discovery found = Discover({"s"});
  EXPECT_EQ(Outputs(found), (std::vector<std::string>{"s/a/1.png", "s/a/2.png"}));
  EXPECT_EQ(found.repeated, (std::vector<std::string>{"s/a/up: the same folder as s",
                                                      "s/b: the same folder as s/a"}));
}

TEST_F(DiscoverTest, TwoStarsStandForAnyNumberOfFolders) {
  for (const char* name : {"s/1.png", "s/a/2.png", "s/a/b/3.png", "s/a/b/4.tif", "s/.git/5.png",
                           "s/a/.6.png", "s/out/7.png", "t/a/8.png", "s/a[1]/9.png"}) {
    folder_.Write(name, "x");
  }
  fs::create_directory_symlink("../t", folder_ / "s/link");
  using Names = std::vector<std::string>;
  const Names pngs = {"s/1.png", "s/a/2.png", "s/a/b/3.png", "s/a[1]/9.png"};
  EXPECT_EQ(Outputs(Discover({"s/**/*.png"}, "s/out")), pngs);
  EXPECT_EQ(Outputs(Discover({folder_ / "s/**/*.png"}, "s/out")), pngs);
  EXPECT_EQ(Outputs(Discover({"s/**"}, "s/out")),
            (Names{"s/1.png", "s/a/2.png", "s/a/b/3.png", "s/a/b/4.tif", "s/a[1]/9.png"}));
  EXPECT_EQ(Outputs(Discover({"s/**/*"}, "s/out")), Outputs(Discover({"s/**"}, "s/out")));
  EXPECT_EQ(Outputs(Discover({"s/**/b/**/*.png"})), Names{"s/a/b/3.png"});
  EXPECT_EQ(Outputs(Discover({"?/**/8.png"})).size(), 1U);
  EXPECT_EQ(Outputs(Discover({"**/8.png"})).size(), 1U);
  // Not a whole part of the path: as one star.
  EXPECT_EQ(Outputs(Discover({"s/**.png"})), Names{"s/1.png"});
  EXPECT_EQ(Refusal({"s/**/*.gif"}), "s/**/*.gif: no file matches this pattern");
  EXPECT_EQ(Refusal({"no/**/*.png"}), "no/**/*.png: no file matches this pattern");
}

TEST_F(DiscoverTest, NamedInputsThatCannotBeAreRefusedBeforeAnythingIsRead) {
  folder_.Write("a.png", "x");
  EXPECT_EQ(Refusal({"missing.png", "a.png"}), "missing.png: no such file or folder");
  EXPECT_EQ(Refusal({"*.gif"}), "*.gif: no file matches this pattern");
  EXPECT_EQ(Refusal({"/dev/null"}), "/dev/null: neither a file nor a folder");
  EXPECT_EQ(Refusal({"a.png", ""}), "the name of an input is empty");
  EXPECT_EQ(Refusal({"x", "y"}), "x: no such file or folder; y: no such file or folder");
  EXPECT_NE(Refusal({"1", "2", "3", "4", "5", "6", "7"}).find("and 2 more"), std::string::npos);
}

TEST_F(DiscoverTest, AnAddressIsNoFile) {
  EXPECT_EQ(Refusal({"https://example.org/a.pdf"}),
            "https://example.org/a.pdf: an address; platen reads files: download it");
}

TEST_F(DiscoverTest, LinesOfAListThatAreNotThereFailByThemselves) {
  folder_.Write("a.png", "x");
  const Discovery found = DiscoverListed({"*.png", "a.png"});
  ASSERT_EQ(found.documents.size(), 2U);
  EXPECT_EQ(found.documents[0].error.text, "no such file");  // and never a pattern
  EXPECT_EQ(found.missing, 1);
}

TEST_F(DiscoverTest, DeadLinksFailIfTheirNameClaimsADocument) {
  fs::create_symlink("nowhere", folder_ / "broken.png");
  fs::create_symlink("nowhere", folder_ / "broken.txt");
  const Discovery found = Discover({folder_.path()});
  ASSERT_EQ(found.documents.size(), 1U);
  EXPECT_EQ(found.documents[0].error.text, "broken symbolic link");
  EXPECT_EQ(found.other_files, std::vector<std::string>{folder_ / "broken.txt"});
}

TEST_F(DiscoverTest, PatternsAreExpandedInNaturalOrderUnlessAFileHasThatName) {
  for (const char* name : {"p/10.png", "p/9.png", "p/x/1.png", "[1].png"}) folder_.Write(name, "x");
  EXPECT_EQ(Outputs(Discover({"p/*.png"})), (std::vector<std::string>{"p/9.png", "p/10.png"}));
  EXPECT_EQ(Outputs(Discover({"[1].png"})), std::vector<std::string>{"[1].png"});
  EXPECT_EQ(Outputs(Discover({folder_ / "p/*/*.png"})), std::vector<std::string>{"p/x/1.png"});
}

TEST_F(DiscoverTest, TwoInputsWithOneOutputAreRefusedWithTheRootThatKeepsThemApart) {
  folder_.Write("x/a.png", "1");
  folder_.Write("y/z/a.png", "2");
  const std::string refusal = Refusal({folder_ / "x/a.png", "y/z/a.png"});
  for (const std::string& part : {folder_ / "x/a.png", std::string("y/z/a.png"),
                                  std::string("out/a.png"), "--input-root " + folder_.path()}) {
    EXPECT_NE(refusal.find(part), std::string::npos) << part << " in " << refusal;
  }
  EXPECT_EQ(Outputs(Discover({folder_ / "x/a.png", "y/z/a.png"}, "out", folder_.path())),
            (std::vector<std::string>{"x/a.png", "y/z/a.png"}));
  EXPECT_NE(Refusal({"/etc"}, "out", folder_.path()).find("not below"), std::string::npos);
}

TEST_F(DiscoverTest, FilesAreToldApartByWhatTheyAreNotByTheirNames) {
  folder_.Write("x.tif", "1");
  folder_.Write("far/x.tif", "2");
  fs::create_directory(folder_ / "far/sub");
  fs::create_directory_symlink("far/sub", folder_ / "link");
  // As text both are x.tif; the system looks into far.
  EXPECT_NE(Refusal({"x.tif", "link/../x.tif"}).find("would both write"), std::string::npos);
  EXPECT_EQ(Outputs(Discover({"x.tif", "link/../x.tif"}, "out", ".")),
            (std::vector<std::string>{"x.tif", "far/x.tif"}));
}

TEST_F(DiscoverTest, ARootThatIsALinkHoldsWhatItLeadsTo) {
  folder_.Write("real/a/1.png", "x");
  fs::create_directory_symlink("real", folder_ / "link");
  for (const char* input : {"link/a", "real/a"}) {
    for (const char* root : {"link", "real"}) {
      EXPECT_EQ(Outputs(Discover({input}, "out", root)), std::vector<std::string>{"a/1.png"})
          << input << " " << root;
    }
  }
}

TEST_F(DiscoverTest, TheSameFileNamedTwiceIsReadOnce) {
  folder_.Write("s/a.png", "1");
  const Discovery found = Discover({"s", "s/a.png", "./s//a.png"});
  EXPECT_EQ(Outputs(found), std::vector<std::string>{"s/a.png"});
  EXPECT_EQ(found.repeated.size(), 2U);
}

TEST_F(DiscoverTest, NamesThatWouldReplaceTheProgramsOwnFilesAreRefused) {
  folder_.Write("run", kPng);
  folder_.Write(".platen/a.png", "1");
  EXPECT_NE(Refusal({"run"}).find("would overwrite run.json"), std::string::npos);
  EXPECT_NE(Refusal({".platen"}).find("platen's own files"), std::string::npos);
}

TEST_F(DiscoverTest, StandardInputIsADocumentByThatName) {
  const std::string path = folder_.Write("spooled", kPng);
  folder_.Write("a.png", "x");
  const Discovery found = DiscoverDocuments({{"a.png"}, {}, path, "out", "", {"txt"}});
  ASSERT_EQ(found.documents.size(), 2U);
  EXPECT_EQ(found.documents[0].output, "stdin");
  EXPECT_EQ(found.documents[0].shown_name(), "standard input");
  EXPECT_EQ(found.documents[1].shown_name(), "a.png");
}

TEST_F(DiscoverTest, NamesAreBytes) {
  folder_.Write("s/caf\xE9.png", "x");
  folder_.Write("s/new\nline.png", "x");
  EXPECT_EQ(Outputs(Discover({"s"})),
            (std::vector<std::string>{"s/caf\xE9.png", "s/new\nline.png"}));
}

TEST(ParseNameListTest, LineBreaksOrNulSeparateNames) {
  using Names = std::vector<ListedInput>;
  EXPECT_EQ(ParseNameList("a\nb c\r\n\n d"), (Names{{"a"}, {"b c"}, {" d"}}));
  EXPECT_EQ(ParseNameList(std::string("a\nb\0c\0", 6)), (Names{{"a\nb"}, {"c"}}));
  EXPECT_EQ(ParseNameList(""), Names{});
  EXPECT_EQ(ParseNameList("# a list\r\n#\na#b\n./#c\n # d"), (Names{{"a#b"}, {"./#c"}, {" # d"}}));
  EXPECT_EQ(ParseNameList(std::string("#a\0b", 4)), (Names{{"#a"}, {"b"}}));
}

TEST_F(DiscoverTest, ARecordGoesWhereItsRunPutItIfThatIsBelowTheOutputFolder) {
  folder_.Write("s/a.png", kPng);
  const auto output_of = [&](const std::string& output) {
    InputSpec spec;
    spec.listed = {{folder_ / "s/a.png", output}};
    spec.output_dir = folder_ / "out";
    return DiscoverDocuments(spec).documents.front().output;
  };
  EXPECT_EQ(output_of("x/y/a.png"), "x/y/a.png");
  for (const std::string hostile :
       {"", ".", "..", "../a", "/a", "x/../../a", "x//a", "x/./a", "x/"}) {
    EXPECT_EQ(output_of(hostile), "a.png") << hostile;
  }
  EXPECT_THROW(output_of(".platen/a"), Error);
}

// Each shard of a job looks at its own documents alone: the others are neither opened nor listed.
TEST_F(DiscoverTest, WhatIsNotWantedIsCountedAndNotOpened) {
  for (const char* name : {"s/a.png", "s/b.png", "s/c.txt", "s/d.djvu"}) folder_.Write(name, kPng);
  ASSERT_EQ(::mkfifo((folder_ / "s/pipe").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("nowhere.png", (folder_ / "s/dead.png").c_str()), 0);
  InputSpec spec;
  spec.arguments = {"s"};
  spec.listed = {{"s/gone.png"}, {"s/b.png"}};
  spec.output_dir = "out";
  spec.wanted = [](const std::string& output) { return output == "s/b.png"; };
  const Discovery found = DiscoverDocuments(spec);
  EXPECT_EQ(Outputs(found), std::vector<std::string>{"s/b.png"});
  EXPECT_EQ(found.unwanted, 6) << "a, c, d, dead; the list's gone, and its b, which goes elsewhere";
  EXPECT_EQ(found.missing, 0);
  EXPECT_EQ(found.other_files, std::vector<std::string>{"s/pipe"});
}

TEST_F(DiscoverTest, AnInputThatIsNotWantedIsNotReplacedEither) {
  folder_.Write("a.png", kPng);
  folder_.Write("a.png.txt", kPng);
  InputSpec spec;
  spec.arguments = {"a.png", "a.png.txt"};
  spec.output_dir = ".";
  spec.formats = {"txt"};
  spec.wanted = [](const std::string& output) { return output == "a.png"; };
  EXPECT_THROW(DiscoverDocuments(spec), Error);
}

TEST(ParseNameListTest, RecordsOfFailuresAreNamesToo) {
  using Names = std::vector<ListedInput>;
  EXPECT_EQ(ParseNameList("{\"path\":\"/a b\",\"output\":\"x/a b\",\"page\":3}\n"
                          "{\"path\":\"/a b\",\"output\":\"y\",\"page\":4}\n"
                          "{\"path_hex\":\"2fff\"}\nplain\n"),
            (Names{{"/a b", "x/a b"}, {"/\xFF", ""}, {"plain"}}));
  for (const std::string name :
       {"{", "{}", "{\"path\":\"\"}", "{\"path\":3}", "{\"path_hex\":\"2\"}",
        "{\"path_hex\":\"00\"}", "{\"path\":\"a\\u0000b\"}"}) {
    EXPECT_EQ(ParseNameList(name), Names{{name}}) << "a file may have that name";
  }
}

TEST(NaturalLessTest, IsATotalOrder) {
  const std::vector<std::string> sorted = {
      "",  "1",    "01",    "2",  "10", "99999999999999999998", "99999999999999999999",
      "a", "a1b2", "a1b10", "a2", "b"};
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (size_t j = 0; j < sorted.size(); ++j) {
      const bool equal_number =
          (sorted[i] == "1" && sorted[j] == "01") || (sorted[i] == "01" && sorted[j] == "1");
      if (equal_number) {
        EXPECT_NE(NaturalLess(sorted[i], sorted[j]), NaturalLess(sorted[j], sorted[i]));
      } else {
        EXPECT_EQ(NaturalLess(sorted[i], sorted[j]), i < j) << sorted[i] << " " << sorted[j];
      }
    }
  }
}

TEST(PageRangesTest, AreInclusiveAndMayOverlapOrStayOpen) {
  EXPECT_EQ(SelectPages(ParsePageRanges("1-3,2,9,6-"), 7), (std::vector<int>{1, 2, 3, 6, 7}));
  EXPECT_EQ(SelectPages({}, 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(SelectPages(ParsePageRanges("8"), 7), std::vector<int>{});
}

TEST(PageRangesTest, AnythingElseIsAnError) {
  for (const char* text : {"", "0", "-3", "a", "1,", "5-1", "1-2-3", "1 ", "99999999999", "+1"}) {
    EXPECT_THROW(ParsePageRanges(text), Error) << text;
  }
}

}  // namespace
}  // namespace platen
