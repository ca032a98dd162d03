// SPDX-License-Identifier: GPL-2.0-or-later
// Repair really repairs: recorded captures, on every link that can carry them, damaged in every length and checksum and
// in their payload, come out with all of these right, and with as many messages as before.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "file_repair.hpp"
#include "reader/capture.hpp"
#include "records.hpp"
#include "relink.hpp"
#include "renumber.hpp"
#include "repair.hpp"
#include "trace/link/open_frame.hpp"
#include "trace/trace.hpp"
#include "wire/mpa.hpp"

namespace rpcrdma::fuzz {
namespace {

/// What the trace says of a capture.
struct Told final : trace::EventSink {
  std::size_t sends = 0;
  std::size_t operations = 0;
  std::size_t bad_checksums = 0;
  std::size_t bad_streams = 0;
  std::size_t truncated = 0;

  void on(const trace::ConnectRequest&) override {}
  void on(const trace::ConnectReply&) override {}
  void on(const trace::ConnectReject&) override {}
  void on(const trace::RequestReceipt&) override {}
  void on(const trace::RequestUndelivered&) override {}
  void on(const trace::Sighted&) override {}
  void on(const trace::ConnectReady&) override {}
  void on(const trace::Adopted&) override {}
  void on(const trace::Disconnect&) override {}
  void on(const trace::SendPart&) override {}
  void on(const trace::Send&) override { ++sends; }
  void on(const trace::Write&) override { ++operations; }
  void on(const trace::ReadRequest&) override { ++operations; }
  void on(const trace::ReadResponse&) override { ++operations; }
  void on(const trace::Refusal&) override {}
  void on(const trace::Acknowledged&) override {}
  void on(const trace::Gap&) override {}
  void on(const trace::Repeated&) override {}
  void on(const trace::Liveness&) override {}
  void on(const trace::TcpAttempt&) override {}
  void on(const trace::NfsOverTcp&) override {}
  void on(const trace::Quality& e) override {
    switch (e.kind) {
      case trace::Quality::Kind::checksum_bad:
        ++bad_checksums;
        break;
      case trace::Quality::Kind::mpa_bad:
        ++bad_streams;
        break;
      case trace::Quality::Kind::frame_truncated:
        ++truncated;
        break;
      default:
        break;
    }
  }
  [[nodiscard]] bool right() const { return bad_checksums == 0 && bad_streams == 0 && truncated == 0; }
};

struct Frames {
  trace::LinkType link = trace::LinkType::ethernet;
  std::vector<Octets> octets;
  std::vector<trace::TimeNs> times;
};

Frames recorded(const std::string& name) {
  Frames out;
  auto capture = reader::Capture::open(std::string(RPCRDMA_SOURCE_DIR) + "/captures/kernel/" + name);
  if (!capture) return out;
  while (const trace::Frame* frame = (*capture)->next()) {
    out.link = frame->link;
    out.octets.emplace_back(frame->octets.begin(), frame->octets.end());
    out.times.push_back(frame->ref.time);
  }
  return out;
}

Frames on_link(const Frames& from, Carrier carrier) {
  Frames out{link_of(carrier), {}, {}};
  for (std::size_t i = 0; i < from.octets.size(); ++i) {
    trace::Frame frame;
    frame.link = from.link;
    frame.octets = from.octets[i];
    frame.wire_length = static_cast<std::uint32_t>(from.octets[i].size());
    if (auto octets = relinked(frame, carrier)) {
      out.octets.push_back(std::move(*octets));
      out.times.push_back(from.times[i]);
    }
  }
  return out;
}

Frames repaired(Frames frames) {
  std::vector<Captured> all;
  for (Octets& octets : frames.octets) all.push_back({octets, 0});
  repair_frames(frames.link, all);
  return frames;
}

Told traced(const Frames& frames) {
  Told told;
  trace::Options options;
  options.check_crc = true;
  trace::Trace trace(options, told);
  for (std::size_t i = 0; i < frames.octets.size(); ++i) {
    trace::Frame frame;
    frame.ref = {i + 1, frames.times[i]};
    frame.link = frames.link;
    frame.octets = frames.octets[i];
    frame.wire_length = static_cast<std::uint32_t>(frames.octets[i].size());
    trace.frame(frame);
  }
  trace.finish();
  return told;
}

trace::Opened opened(const Frames& frames, const Octets& octets) {
  trace::Frame frame;
  frame.ref.number = 1;
  frame.link = frames.link;
  frame.octets = octets;
  frame.wire_length = static_cast<std::uint32_t>(octets.size());
  trace::Opened out;
  trace::open_frame(frame, out);
  return out;
}

/// One octet of what the RDMA message carries, in every packet that carries some: only the checksum speaks against it.
Frames with_damaged_payload(Frames frames) {
  for (Octets& octets : frames.octets) {
    const trace::Opened open = opened(frames, octets);
    const bool ib = open.content == trace::Content::infiniband;
    const wire::Bytes packet = ib ? open.ib.octets : open.tcp.payload;
    if (packet.size() < 80 || (!ib && open.content != trace::Content::tcp)) continue;
    if (ib && (packet[0] & 0xE0U) != 0) continue;               // a message of the connection manager
    if (!ib && packet[0] == 'M' && packet[1] == 'P') continue;  // and its like of MPA
    octets[static_cast<std::size_t>(packet.data() - octets.data()) + packet.size() - 9] ^= 0x40U;
  }
  return frames;
}

/// Every length of link and network, of FPDUs and of ERF.
Frames with_damaged_lengths(Frames frames) {
  for (Octets& octets : frames.octets) {
    const trace::Opened open = opened(frames, octets);
    const auto spoil = [&](const std::uint8_t* p) { octets[static_cast<std::size_t>(p - octets.data())] ^= 0x05U; };
    if (open.content == trace::Content::infiniband) {
      const std::uint8_t* network = open.ib.network.data();
      switch (open.ib.transport) {
        case trace::Transport::rocev2:
          spoil(network + ((network[0] >> 4U) == 4 ? 2 : 4));
          spoil(open.ib.octets.data() - 4);  // UDP
          break;
        case trace::Transport::rocev1:
          spoil(network + 4);
          break;
        default:
          spoil(network + 4);
          if (open.ib.network.size() > 8) spoil(network + 8 + 4);
      }
    } else if (open.content == trace::Content::tcp && open.tcp.payload.size() > 20) {
      const std::uint8_t* payload = open.tcp.payload.data();
      // What is spread over several segments cannot be told from damage.
      const bool alone = wire::fpdu_size(wire::load_be16(payload)) == open.tcp.payload.size();
      if (payload[0] == 'M' && payload[1] == 'P') {
        spoil(payload + 18);
      } else if (alone) {
        spoil(payload);
      }
    }
    if (frames.link == trace::LinkType::erf) {
      octets[10] ^= 0x05U;
      octets[14] ^= 0x05U;
    }
  }
  return frames;
}

struct Case {
  std::string name;
  Carrier carrier;
  bool checksums = true;  ///< the two sides agreed on them
};

class Repair : public testing::TestWithParam<Case> {};

TEST_P(Repair, MakesDamageReachTheMessages) {
  const Frames original = recorded(GetParam().name);
  ASSERT_FALSE(original.octets.empty());
  const Told before = traced(original);
  ASSERT_GT(before.sends, 10U);
  const Frames carried = repaired(on_link(original, GetParam().carrier));
  const Told sound = traced(carried);
  EXPECT_TRUE(sound.right()) << sound.bad_checksums << ' ' << sound.bad_streams << ' ' << sound.truncated;
  EXPECT_EQ(sound.sends, before.sends);
  EXPECT_EQ(sound.operations, before.operations);
  EXPECT_EQ(repaired(carried).octets, carried.octets) << "nothing is wrong any more";

  for (const auto& [damage, frames] : {std::pair<std::string, Frames>{"payload", with_damaged_payload(carried)},
                                       {"lengths", with_damaged_lengths(carried)}}) {
    const Told bad = traced(frames);
    if (GetParam().checksums || damage != "payload") {
      EXPECT_TRUE(!bad.right() || bad.sends < before.sends) << damage << " is not damaged";
    }
    const Told good = traced(repaired(frames));
    EXPECT_TRUE(good.right()) << damage << ": " << good.bad_checksums << ' ' << good.bad_streams << ' '
                              << good.truncated;
    EXPECT_EQ(good.sends, before.sends) << damage;
    EXPECT_EQ(good.operations, before.operations) << damage;
  }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const char* name : {"rxe-nfs3-two-mounts.pcap", "rxe-nfs41-ipv6.pcap"}) {
    for (const Carrier carrier : carriers) out.push_back({name, carrier, true});
  }
  for (const char* name : {"siw-nfs41-mpa-crc.pcap", "siw-nfs3-ipv6.pcap", "siw-nfs41-reseg-both-crc.pcap"}) {
    for (const Carrier carrier : carriers) {
      if (!without_ip(carrier)) out.push_back({name, carrier, std::string_view(name).find("crc") != std::string::npos});
    }
  }
  return out;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name =
      info.param.name.substr(0, info.param.name.find('.')) + "_" + std::to_string(static_cast<int>(info.param.carrier));
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Captures, Repair, testing::ValuesIn(cases()), case_name);

/// A segment that was recorded as it is, with an IPv4 header checksum of the sender's own.
TEST(RepairOfWhatIsRight, ChangesNothing) {
  for (const char* name : {"siw-nfs41-mpa-crc.pcap", "siw-nfs41-reseg-both-crc.pcap", "rxe-nfs41-cooked.pcap"}) {
    const Frames original = recorded(name);
    ASSERT_FALSE(original.octets.empty());
    const Frames after = repaired(original);
    for (std::size_t i = 0; i < original.octets.size(); ++i) {
      ASSERT_EQ(after.octets[i], original.octets[i]) << name << ", frame " << i + 1;
    }
  }
}

/// Where a packet with a message stands, late enough for its connection to be open.
std::size_t with_message(const Frames& frames) {
  for (std::size_t i = frames.octets.size() / 2; i < frames.octets.size(); ++i) {
    const trace::Opened open = opened(frames, frames.octets[i]);
    if (open.content == trace::Content::tcp && open.tcp.payload.size() > 60 && open.tcp.payload[3] == 0x43) return i;
    constexpr std::uint8_t send_only = 4;
    if (open.content == trace::Content::infiniband && open.ib.octets[0] == send_only) return i;
  }
  return frames.octets.size();
}

/// One packet more, or four octets more in one packet: neither is a repetition nor hides another.
TEST(Renumber, MakesRoomForMore) {
  for (const char* name : {"rxe-nfs3-two-mounts.pcap", "siw-nfs41-mpa-crc.pcap"}) {
    const Frames original = recorded(name);
    const std::size_t at = with_message(original);
    ASSERT_LT(at, original.octets.size()) << name;
    const trace::Opened open = opened(original, original.octets[at]);
    const auto carried = static_cast<std::int32_t>(open.tcp.wire_length);
    const auto changed = [&](bool longer) {
      std::vector<Record> records;
      for (const Octets& octets : original.octets) records.push_back({{}, octets, 0});
      Frames out = original;
      if (longer) {
        records[at].octets.insert(records[at].octets.end() - 4, 4, 0);
        renumber(original.link, records[at], std::span(records).subspan(at + 1), {.octets = 4});
      } else {
        const Record like = records[at];
        records.insert(records.begin() + static_cast<std::ptrdiff_t>(at), like);
        renumber(original.link, like, std::span(records).subspan(at + 1),
                 {.octets = carried, .packets = 1, .also_equal = true});
        out.times.insert(out.times.begin() + static_cast<std::ptrdiff_t>(at), original.times[at]);
      }
      out.octets.clear();
      for (const Record& record : records) out.octets.push_back(record.octets);
      return traced(repaired(out));
    };
    const Told before = traced(original);
    EXPECT_EQ(changed(true).sends, before.sends) << name;
    EXPECT_TRUE(changed(true).right()) << name;
    EXPECT_EQ(changed(false).sends, before.sends + 1) << name;
    EXPECT_TRUE(changed(false).right()) << name;
  }
}

/// Whatever it is given: sanitizers watch.
TEST(RepairOfAnything, StaysInTheFrame) {
  const Frames original = recorded("siw-nfs41-mpa-crc.pcap");
  for (const trace::LinkType link : {trace::LinkType::ethernet, trace::LinkType::infiniband, trace::LinkType::erf,
                                     trace::LinkType::linux_sll, trace::LinkType::raw_ip, trace::LinkType::loop}) {
    for (std::size_t length = 0; length < 120; ++length) {
      for (const unsigned filling : {0x00U, 0x45U, 0x60U, 0x80U, 0xFFU}) {
        Octets cut(original.octets[10].begin(), original.octets[10].begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                                  length, original.octets[10].size())));
        Octets filled(length, static_cast<std::uint8_t>(filling));
        const std::vector<Captured> frames{{cut, length}, {filled, 0}, {filled, 0xFFFF}};
        repair_frames(link, frames);
        repair_fpdus(frames);
      }
    }
  }
}

TEST(CaptureFiles, BlocksGetTheLengthsThatTheyHave) {
  Octets file{0x0A, 0x0D, 0x0D, 0x0A, 28,   0,    0,    0,    0x4D, 0x3C, 0x2B, 0x1A, 1, 0,
              0,    0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 28,   0,    0, 0};
  CaptureFile parts = read_file(file);
  ASSERT_EQ(parts.kind, CaptureFile::Kind::pcapng);
  ASSERT_EQ(parts.parts.size(), 1U);
  EXPECT_EQ(write_file(parts), file);
  parts.parts[0].octets.push_back(7);  // padded to a word
  const Octets longer = write_file(parts);
  ASSERT_EQ(longer.size(), 32U);
  EXPECT_EQ(longer[4], 32);
  EXPECT_EQ(longer[24], 7);
  EXPECT_EQ(longer[28], 32);
}

}  // namespace
}  // namespace rpcrdma::fuzz
