// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/loaded_library.hpp"

#include <cstddef>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reader/link_names.hpp"
#include "reader/pcap_library.hpp"

namespace rpcrdma::reader {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LoadedLibrary, WhatIsThereIsFound) {
  LoadedLibrary library("libc.so.6");
  std::size_t (*length)(const char*) = nullptr;
  library.find(length, "strlen");
  EXPECT_THAT(library.missing(), IsEmpty());
  ASSERT_NE(length, nullptr);
  EXPECT_EQ(length("four"), 4U);
}

TEST(LoadedLibrary, ThatItIsMissingIsTold) {
  LoadedLibrary library("libnobody-has-this.so.1");
  EXPECT_THAT(library.missing(), HasSubstr("cannot be loaded: libnobody-has-this.so.1"));
  void (*function)() = nullptr;
  library.find(function, "strlen");
  EXPECT_EQ(function, nullptr);
}

TEST(LoadedLibrary, TheFirstFunctionThatIsMissingIsTold) {
  LoadedLibrary library("libc.so.6");
  std::size_t (*length)(const char*) = nullptr;
  void (*missing)() = nullptr;
  library.find(missing, "nobody_has_this");
  library.find(length, "strlen");
  EXPECT_THAT(library.missing(), HasSubstr("nobody_has_this"));
}

TEST(PcapLibrary, NamesLinkTypesAsTheyAreNamedWithoutIt) {
  const PcapLibrary& library = PcapLibrary::instance();
  ASSERT_THAT(library.missing, IsEmpty());
  int opened = 0;
  for (int dlt = 0; dlt < 512; ++dlt) {
    const char* name = library.datalink_val_to_name(dlt);
    if (can_be_opened(link_type_of_dlt(dlt)) && name != nullptr) {
      EXPECT_EQ(link_type_name(link_type_of_dlt(dlt)), name);
      ++opened;
    }
  }
  EXPECT_GE(opened, 14);
}

}  // namespace
}  // namespace rpcrdma::reader
