// SPDX-License-Identifier: GPL-2.0-or-later
// Without a library an ordinary file gives what the libraries give, and what is not ordinary is left to them.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "read_all.hpp"
#include "reader/content.hpp"
#include "reader/direct_backend.hpp"
#include "reader/source.hpp"

namespace rpcrdma::reader::test {
namespace {

constexpr std::uint32_t kStart = 1'700'000'000;
constexpr std::uint32_t kNames = 4;
constexpr std::uint32_t kStatistics = 5;
constexpr std::uint32_t kSecrets = 10;

struct Named {
  std::string name;
  Octets octets;
};

/// An option of a pcapng block, padded.
void option(Writer& to, std::uint16_t code, const Octets& value) {
  to.u16(code).u16(value.size()).octets(value);
  to.out.resize((to.out.size() + 3) / 4 * 4);
}

Octets interface_with(Order order, std::uint16_t code, const Octets& value) {
  Writer w(order);
  w.u16(1).u16(0).u32(65535);
  option(w, code, value);
  return w.u32(0).out;
}

Octets packet_body(Order order, const Octets& octets, const Octets& options) {
  Writer w(order);
  w.u32(0).u32(0).u32(kStart).u32(octets.size()).u32(octets.size()).octets(octets);
  w.out.resize((w.out.size() + 3) / 4 * 4);
  return w.octets(options).out;
}

/// The blocks of a section that begins with `interface`, between which `between` stands.
Octets pcapng(Order order, const Octets& interface, const std::vector<std::pair<std::uint32_t, Octets>>& between) {
  Pcapng w(order);
  w.section().block(1, interface).packet(0, std::uint64_t{kStart} * 1'000'000 + 17, payload(60, 1));
  for (const auto& [type, body] : between) {
    w.block(type, body);
  }
  return w.packet(0, std::uint64_t{kStart} * 1'000'000 + 99, payload(71, 2), 1500).file.octets;
}

/// Statistics of an interface that had no room for so many packets.
Octets dropped_in_statistics(Order order, std::uint64_t count) {
  constexpr std::uint64_t received = 4;
  constexpr std::uint64_t by_interface = 5;
  Writer w(order);
  w.u32(0).u64(7).u16(received).u16(8).u64(100'000).u16(by_interface).u16(8).u64(count);
  return w.u16(7).u16(8).u64(3).u32(0).out;
}

/// A packet's option that says how many were dropped in front of it.
Octets dropped_before(Order order, std::uint64_t count) { return Writer(order).u16(4).u16(8).u64(count).u32(0).out; }

std::vector<Named> ordinary() {
  std::vector<Named> out;
  const std::vector<Packet> packets = {{kStart, 1, payload(60, 1), 60},
                                       {kStart, 999'999, payload(73, 2), 1500},
                                       {kStart + 1, 0, payload(0, 0), 42},
                                       {0, 0, payload(9, 0), 9}};
  for (const Order order : {Order::little, Order::big}) {
    const std::string suffix = order == Order::big ? ", big-endian" : "";
    out.push_back({"pcap" + suffix, pcap({.order = order}, packets).octets});
    out.push_back({"pcap (ns)" + suffix, pcap({.magic = kNanoMagic, .order = order}, packets).octets});
    out.push_back({"pcap of IP" + suffix, pcap({.order = order, .link_type = 101, .snap_length = 96}, packets).octets});
    const Octets plain = Writer(order).u16(1).u16(0).u32(65535).out;
    out.push_back({"pcapng" + suffix, pcapng(order, plain, {})});
    out.push_back({"pcapng (ns)" + suffix, pcapng(order, interface_with(order, 9, {9}), {})});
    out.push_back(
        {"a named interface" + suffix, pcapng(order, interface_with(order, 2, {'e', 't', 'h', '0', '1'}), {})});
    Writer names(order);
    names.u16(1).u16(6).octets(Octets{10, 0, 0, 1, 'a', 0, 0, 0}).u32(0);
    out.push_back({"names" + suffix, pcapng(order, plain, {{kNames, names.out}})});
    out.push_back({"statistics" + suffix, pcapng(order, plain, {{kStatistics, Writer(order).u32(0).u64(7).out}})});
    out.push_back({"dropped" + suffix, pcapng(order, plain, {{kStatistics, dropped_in_statistics(order, 512)}})});
    out.push_back(
        {"secrets" + suffix,
         pcapng(order, plain, {{kSecrets, Writer(order).u32(0x544c534b).u32(4).octets(Octets(4, 'x')).out}})});
    out.push_back({"a second interface" + suffix, pcapng(order, plain, {{1, plain}})});
    Writer options(order);
    option(options, 1, {'w', 'h', 'y'});
    option(options, 2, {0, 0, 0, 0});
    out.push_back(
        {"options" + suffix, pcapng(order, plain, {{6, packet_body(order, payload(61, 3), options.u32(0).out)}})});
    out.push_back(
        {"options without an end" + suffix,
         pcapng(order, plain, {{6, packet_body(order, payload(61, 3), Writer(order).u16(1).u16(4).u32(1).out)}})});
  }
  return out;
}

std::vector<Named> unusual() {
  std::vector<Named> out;
  const std::vector<Packet> packets = {{kStart, 1, payload(60, 1), 60}, {kStart, 2'000'000, payload(73, 2), 1500}};
  out.push_back({"a fraction of two seconds", pcap({}, packets).octets});
  out.push_back({"modified pcap", pcap({.magic = 0xa1b2cd34}, packets).octets});
  out.push_back(
      {"more captured than snap length", pcap({.snap_length = 64}, {{kStart, 0, payload(80, 0), 80}}).octets});
  out.push_back({"frame check sequence", pcap({.link_type = 0x24000001}, packets).octets});
  out.push_back({"unknown link", pcap({.link_type = 147}, packets).octets});
  Octets zeros = pcap({}, {packets[0]}).octets;
  zeros.resize(zeros.size() + 64);
  out.push_back({"zeros behind the end", zeros});
  for (const Order order : {Order::little, Order::big}) {
    const std::string suffix = order == Order::big ? ", big-endian" : "";
    const Octets plain = Writer(order).u16(1).u16(0).u32(65535).out;
    out.push_back({"milliseconds" + suffix, pcapng(order, interface_with(order, 9, {3}), {})});
    out.push_back({"powers of two" + suffix, pcapng(order, interface_with(order, 9, {0x8a}), {})});
    out.push_back({"a resolution of two octets" + suffix, pcapng(order, interface_with(order, 9, {9, 9}), {})});
    out.push_back(
        {"an offset of time" + suffix, pcapng(order, interface_with(order, 14, Writer(order).u64(3600).out), {})});
    out.push_back({"frame check sequences" + suffix, pcapng(order, interface_with(order, 13, {4}), {})});
    out.push_back({"another link" + suffix, pcapng(order, plain, {{1, Writer(order).u16(101).u16(0).u32(65535).out}})});
    out.push_back(
        {"another snap length" + suffix, pcapng(order, plain, {{1, Writer(order).u16(1).u16(0).u32(96).out}})});
    out.push_back({"a short snap length" + suffix, pcapng(order, Writer(order).u16(1).u16(0).u32(64).out, {})});
    out.push_back(
        {"a simple packet" + suffix, pcapng(order, plain, {{3, Writer(order).u32(20).octets(payload(20, 5)).out}})});
    out.push_back(
        {"an old packet" + suffix,
         pcapng(order, plain, {{2, Writer(order).u16(0).u16(0).u64(5).u32(8).u32(8).octets(payload(8, 5)).out}})});
    out.push_back({"dropped in front of a packet" + suffix,
                   pcapng(order, plain, {{6, packet_body(order, payload(61, 3), dropped_before(order, 512))}})});
    out.push_back(
        {"an old packet and what was dropped" + suffix,
         pcapng(order, plain, {{2, Writer(order).u16(0).u16(512).u64(5).u32(8).u32(8).octets(payload(8, 5)).out}})});
    out.push_back({"an unknown block" + suffix, pcapng(order, plain, {{0x80000001, payload(24, 1)}})});
    out.push_back({"a packet of an unknown interface" + suffix,
                   pcapng(order, plain, {{6, Writer(order).u32(3).u64(5).u32(8).u32(8).octets(payload(8, 5)).out}})});
    out.push_back(
        {"options beyond their block" + suffix,
         pcapng(order, plain, {{6, packet_body(order, payload(60, 3), Writer(order).u16(1).u16(40).u32(1).out)}})});
    out.push_back({"a time of 1970" + suffix,
                   pcapng(order, plain, {{6, Writer(order).u32(0).u64(0).u32(8).u32(8).octets(payload(8, 5)).out}})});
    out.push_back({"a time beyond times" + suffix,
                   pcapng(order, plain,
                          {{6, Writer(order).u32(0).u64(UINT64_MAX - 5).u32(8).u32(8).octets(payload(8, 5)).out}})});
    Octets twice = pcapng(order, plain, {});
    const Octets once = twice;
    twice.insert(twice.end(), once.begin(), once.end());
    out.push_back({"a second section" + suffix, twice});
    out.push_back({"no interface" + suffix, Pcapng(order).section().file.octets});
    out.push_back(
        {"names that are cut" + suffix, pcapng(order, plain, {{kNames, Writer(order).u16(1).u16(60).u32(0).out}})});
  }
  return out;
}

void expect_both_ways_the_same(const std::string& path, const std::string& what) {
  const Reading direct = read_all(path);
  const Reading with = read_all(path, Ways::libraries_only);
  EXPECT_EQ(direct.error, with.error) << what;
  ASSERT_EQ(direct.frames.size(), with.frames.size()) << what;
  for (std::size_t i = 0; i < with.frames.size(); ++i) {
    ASSERT_EQ(direct.frames[i].time, with.frames[i].time) << what << ": frame " << i + 1;
    ASSERT_TRUE(direct.frames[i] == with.frames[i]) << what << ": frame " << i + 1;
  }
  const auto damage = [](const Reading& reading) {
    const auto& damaged = reading.facts.damaged;
    return damaged ? damaged->reason + " at " + std::to_string(damaged->offset) : std::string("none");
  };
  EXPECT_EQ(damage(direct), damage(with)) << what;
  EXPECT_EQ(direct.facts.format, with.facts.format) << what;
  EXPECT_EQ(direct.facts.link_types, with.facts.link_types) << what;
  EXPECT_EQ(direct.facts.first_time, with.facts.first_time) << what;
  EXPECT_EQ(direct.facts.last_time, with.facts.last_time) << what;
  EXPECT_TRUE(direct.facts == with.facts) << what;
}

/// The file is read to its end without a library.
bool is_read_directly(const std::string& path) {
  const auto source = Source::open(path);
  const auto backend = source ? open_directly(**source, content_of((*source)->head())) : nullptr;
  Record record;
  Step step = backend ? Step::record : Step::refused;
  while (step == Step::record) {
    step = backend->next(record);
  }
  return step == Step::end;
}

std::vector<Named> every_kind() {
  std::vector<Named> all = ordinary();
  for (Named& one : unusual()) {
    all.push_back(std::move(one));
  }
  return all;
}

std::uint64_t says_dropped(const Named& file) { return file.name.find("dropped") == std::string::npos ? 0 : 512; }

TEST(Ways, OrdinaryFilesNeedNoLibrary) {
  const Folder folder;
  for (const Named& file : ordinary()) {
    const std::string path = folder.write("a", file.octets);
    EXPECT_TRUE(is_read_directly(path)) << file.name;
    expect_both_ways_the_same(path, file.name);
    EXPECT_EQ(read_all(path).facts.dropped, says_dropped(file)) << file.name;
    const std::string packed = folder.write("a.gz", gzip(file.octets));
    EXPECT_TRUE(is_read_directly(packed)) << file.name;
    expect_both_ways_the_same(packed, file.name + ", gzip");
  }
}

TEST(Ways, UnusualFilesAreLeftToTheLibraries) {
  const Folder folder;
  for (const Named& file : unusual()) {
    const std::string path = folder.write("a", file.octets);
    expect_both_ways_the_same(path, file.name);
    EXPECT_EQ(read_all(path).facts.dropped, says_dropped(file)) << file.name;
  }
}

TEST(Ways, CutAnywhere) {
  const Folder folder;
  for (const Named& file : every_kind()) {
    for (std::size_t length = 0; length < file.octets.size(); length += length < 48 ? 3 : 5) {
      expect_both_ways_the_same(folder.write("a", std::span(file.octets).first(length)),
                                file.name + ", " + std::to_string(length) + " octets");
    }
    const Octets packed = gzip(file.octets);
    for (std::size_t length = 0; length < packed.size(); length += length < 48 ? 5 : 23) {
      expect_both_ways_the_same(folder.write("a", std::span(packed).first(length)),
                                file.name + ", gzip, " + std::to_string(length) + " octets");
    }
  }
}

TEST(Ways, FlippedOctets) {
  const Folder folder;
  std::mt19937 random(20261124);
  for (const Named& file : every_kind()) {
    for (int round = 0; round < 40; ++round) {
      Octets octets = file.octets;
      std::string what = file.name;
      const std::size_t flips = 1 + random() % 3;
      for (std::size_t flip = 0; flip < flips; ++flip) {
        const std::size_t at = random() % octets.size();
        // Small values make lengths and types that are nearly right.
        octets[at] = static_cast<std::uint8_t>(random() % 2 == 0 ? random() % 16 : random());
        what += ", octet " + std::to_string(at) + " is " + std::to_string(octets[at]);
      }
      expect_both_ways_the_same(folder.write("a", octets), what);
      if (round % 4 == 0) expect_both_ways_the_same(folder.write("a", gzip(octets)), what + ", gzip");
    }
  }
}

TEST(Ways, BundledCaptures) {
  unsigned direct = 0;
  unsigned all = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(RPCRDMA_SOURCE_DIR) / "captures")) {
    const std::string path = entry.path().string();
    if (path.ends_with(".pcap") || path.ends_with(".pcapng")) {
      expect_both_ways_the_same(path, path);
      direct += is_read_directly(path) ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GT(all, 100U);
  EXPECT_GT(direct, all / 2);
}

}  // namespace
}  // namespace rpcrdma::reader::test
