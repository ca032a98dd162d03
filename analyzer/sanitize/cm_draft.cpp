// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize/cm_draft.hpp"

#include <algorithm>

#include "sanitize/private_data_draft.hpp"
#include "wire/cm.hpp"

namespace rpcrdma::sanitize {
namespace {

constexpr std::size_t body = wire::mad_header_octets;
constexpr std::size_t gid_octets = 16;
constexpr std::size_t guid_octets = 8;

void draft_gid(Draft& draft, std::size_t at, Pseudonyms& pseudonyms) {
  const auto gid = draft.whole(body + at, gid_octets);
  if (!gid.empty()) pseudonyms.ipv6(gid.data());
}

void draft_guid(Draft& draft, std::size_t at, Pseudonyms& pseudonyms) {
  const auto guid = draft.whole(body + at, guid_octets);
  if (!guid.empty()) pseudonyms.guid(guid.data());
}

/// An address of the RDMA IP CM header: of IPv4 in the last four octets.
void draft_ip(Draft& draft, std::size_t at, bool v4, Pseudonyms& pseudonyms) {
  const auto address = draft.whole(body + at, gid_octets);
  if (address.empty()) return;
  if (v4) {
    std::fill_n(address.begin(), 12, std::uint8_t{0});
    pseudonyms.ipv4(address.data() + 12);
  } else {
    pseudonyms.ipv6(address.data());
  }
}

/// Numbers of the body. Never what is to be given another name: of that the capture may have a part.
void keep_between(Draft& draft, std::size_t from, std::size_t to) {
  static_cast<void>(draft.keep(body + from, to - from));
}

/// REQ (InfiniBand Architecture volume 1, section 12.6.5): GUID of the adapter, GIDs of both paths.
void draft_request(Draft& draft, const wire::CmMessage& message, Pseudonyms& pseudonyms) {
  constexpr std::size_t private_data = 140;
  constexpr std::size_t guid = 16;
  keep_between(draft, 0, guid);
  draft_guid(draft, guid, pseudonyms);
  std::size_t behind = guid + guid_octets;
  for (const std::size_t gid : {56U, 72U, 100U, 116U}) {
    keep_between(draft, behind, gid);
    draft_gid(draft, gid, pseudonyms);
    behind = gid + gid_octets;
  }
  keep_between(draft, behind, private_data);
  if (!message.ip) return;
  static_cast<void>(draft.keep(body + private_data, 4));
  const bool v4 = message.ip->ip_version == 4;
  draft_ip(draft, private_data + 4, v4, pseudonyms);
  draft_ip(draft, private_data + 4 + gid_octets, v4, pseudonyms);
}

/// Octets that the body begins with of which all are understood, and are nobody's.
std::size_t understood(wire::CmKind kind) noexcept {
  switch (kind) {
    case wire::CmKind::rep:  // and behind it the GUID of the adapter
      return 28;
    case wire::CmKind::rej:  // what follows repeats a field of the refused message
      return 12;
    case wire::CmKind::mra:
      return 10;
    case wire::CmKind::dreq:
      return 12;
    case wire::CmKind::lap:
      return 16;
    default:
      return 8;
  }
}

}  // namespace

void draft_cm(Draft& draft, Pseudonyms& pseudonyms) {
  static_cast<void>(draft.keep(0, body));
  const auto message = wire::decode_cm(draft.original(), wire::mad_octets);
  if (!message) return;
  if (message->kind == wire::CmKind::req) {
    draft_request(draft, *message, pseudonyms);
  } else {
    keep_between(draft, 0, understood(message->kind));
    if (message->kind == wire::CmKind::rep) draft_guid(draft, understood(message->kind), pseudonyms);
  }
  if (message->consumer.empty()) return;
  const auto at = static_cast<std::size_t>(message->consumer.data() - draft.original().data());
  draft_private_data(draft, at, message->consumer_length);
}

}  // namespace rpcrdma::sanitize
