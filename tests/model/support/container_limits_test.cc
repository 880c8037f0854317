// Limits of control groups, read from folders that look like the kernel's.
#include "model/support/container_limits.h"

#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::TempFolder;

ContainerLimits Read(const TempFolder& folder, const std::string& own_groups) {
  const std::string own = folder.Write("own", own_groups);
  return ReadContainerLimits(folder / "root", own);
}

TEST(ContainerLimitsTest, WithoutGroupsThereAreNone) {
  const TempFolder folder;
  const ContainerLimits limits = Read(folder, "0::/\n");
  EXPECT_FALSE(limits.cpus.has_value());
  EXPECT_FALSE(limits.memory_bytes.has_value());
  EXPECT_GE(UsableCpus(limits), 1);
}

TEST(ContainerLimitsTest, TheTightestGroupOnTheWayUpCounts) {
  const TempFolder folder;
  folder.Write("root/cpu.max", "max 100000\n");
  folder.Write("root/job/cpu.max", "150000 100000\n");
  folder.Write("root/job/step/cpu.max", "400000 100000\n");
  folder.Write("root/job/memory.max", "max\n");
  folder.Write("root/job/step/memory.max", "1073741824\n");
  const ContainerLimits limits = Read(folder, "0::/job/step\n");
  EXPECT_EQ(limits.cpus, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1073741824);
}

TEST(ContainerLimitsTest, InsideAContainerTheRootIsItsOwnGroup) {
  const TempFolder folder;
  folder.Write("root/cpu.max", "50000 100000\n");
  folder.Write("root/memory.max", "268435456\n");
  const ContainerLimits limits = Read(folder, "0::/../../kubepods/pod7\n");
  EXPECT_EQ(limits.cpus, 0.5);
  EXPECT_EQ(limits.memory_bytes, 268435456);
  EXPECT_EQ(UsableCpus(limits), 1);
}

TEST(ContainerLimitsTest, VersionOneIsRead) {
  const TempFolder folder;
  folder.Write("root/cpu/docker/x/cpu.cfs_quota_us", "300000\n");
  folder.Write("root/cpu/docker/x/cpu.cfs_period_us", "100000\n");
  folder.Write("root/memory/memory.limit_in_bytes", "9223372036854771712\n");
  folder.Write("root/memory/docker/x/memory.limit_in_bytes", "2147483648\n");
  const ContainerLimits limits =
      Read(folder, "12:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/docker/x\n");
  EXPECT_EQ(limits.cpus, 3.0);
  EXPECT_EQ(limits.memory_bytes, 2147483648);
}

TEST(ContainerLimitsTest, VersionTwoBesideVersionOneIsRead) {
  const TempFolder folder;
  folder.Write("root/unified/job/cpu.max", "200000 100000\n");
  EXPECT_EQ(Read(folder, "1:cpu:/\n0::/job\n").cpus, 2.0);
}

TEST(ContainerLimitsTest, NonsenseIsNoLimit) {
  for (const char* text : {"", "max", "-1 100000", "0 0", "x", "100000"}) {
    const TempFolder folder;
    folder.Write("root/cpu.max", text);
    folder.Write("root/memory.max", std::string(text) == "100000" ? "" : text);
    const ContainerLimits limits = Read(folder, "0::/\nnonsense\n::\n");
    EXPECT_FALSE(limits.cpus.has_value()) << text;
    EXPECT_FALSE(limits.memory_bytes.has_value()) << text;
  }
}

TEST(ContainerLimitsTest, AQuotaNeverAddsCpus) {
  ContainerLimits limits;
  const int all = UsableCpus(limits);
  limits.cpus = 1e6;
  EXPECT_EQ(UsableCpus(limits), all);
  limits.cpus = 0.01;
  EXPECT_EQ(UsableCpus(limits), 1);
}

}  // namespace
}  // namespace platen
