// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize/rpc_draft.hpp"

#include <algorithm>

#include "wire/nfs4_attributes.hpp"
#include "wire/nfs_walk.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::sanitize {
namespace {

using wire::Bytes;
using wire::load_be32;
using wire::PassedItem;

constexpr std::size_t word = 4;
/// Upper half of a number of 64 bits that counts no octets: client identifiers, verifiers, changes by time.
constexpr std::uint32_t beyond_any_file = std::uint32_t{1} << 20U;

constexpr std::size_t padded(std::size_t length) noexcept { return (length + 3U) & ~std::size_t{3}; }

/// A walk through words of the original, each of which is kept, or not.
class Words {
 public:
  Words(Draft& draft, std::size_t at) : draft_(draft), at_(at) {}

  /// Nothing where the capture ends; from then on nothing is kept.
  std::optional<std::uint32_t> keep() {
    if (at_ > draft_.original().size() || draft_.original().size() - at_ < word) {
      static_cast<void>(draft_.keep(at_, word));
      at_ = draft_.original().size() + 1;
      return std::nullopt;
    }
    const std::uint32_t value = load_be32(draft_.original().data() + at_);
    static_cast<void>(draft_.keep(at_, word));
    at_ += word;
    return value;
  }
  std::span<std::uint8_t> octets(std::size_t length) {
    const auto out = draft_.keep(at_, length);
    at_ += padded(length);
    return out;
  }
  /// A word that is given another in its place.
  std::span<std::uint8_t> number() {
    const auto out = draft_.whole(at_, word);
    at_ += word;
    return out;
  }
  void pass(std::size_t length) noexcept { at_ += length; }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

 private:
  Draft& draft_;
  std::size_t at_;
};

void replace_number(std::span<std::uint8_t> octets, Pseudonyms& pseudonyms) {
  if (!octets.empty()) wire::store_be32(octets.data(), pseudonyms.number(load_be32(octets.data())));
}

/// authsys_parms: stamp, machine, user, groups (RFC 5531 appendix A).
void draft_sys(Draft& draft, std::size_t at, std::size_t length, Pseudonyms& pseudonyms) {
  const std::size_t end = at + length;
  Words words(draft, at);
  replace_number(words.number(), pseudonyms);
  const auto name = words.keep();
  if (!name || *name > length) return;
  pseudonyms.text(words.octets(*name));
  for (int who = 0; who < 2; ++who) replace_number(words.number(), pseudonyms);
  const auto groups = words.keep();
  for (std::uint32_t i = 0; groups && i < *groups && words.at() + word <= end; ++i) {
    replace_number(words.number(), pseudonyms);
  }
}

/// rpc_gss_cred_t: version, procedure, sequence number, service, handle (RFC 2203 section 5).
void draft_gss(Draft& draft, std::size_t at, std::size_t length, Pseudonyms& pseudonyms) {
  Words words(draft, at);
  for (int i = 0; i < 4; ++i) static_cast<void>(words.keep());
  const auto handle = words.keep();
  if (handle && *handle <= length) pseudonyms.octets(words.octets(*handle));
}

/// rpc_gss_init_res without its token: handle, gss_major, gss_minor, window (RFC 2203 section 5.2.3.1). NULL has no
/// other results.
void draft_context(Draft& draft, std::size_t at, Pseudonyms& pseudonyms) {
  Words words(draft, at);
  const auto handle = words.keep();
  if (!handle || *handle > wire::most_auth_octets) return;
  pseudonyms.octets(words.octets(*handle));
  for (int i = 0; i < 3; ++i) static_cast<void>(words.keep());
}

/// A token of Kerberos (RFC 4121 section 4.2.6) says in its first octets what it is; the rest is a checksum or sealed.
void draft_token(std::span<std::uint8_t> token, Pseudonyms& pseudonyms) {
  constexpr std::size_t head = 8;
  const bool kerberos = token.size() > head && (token[0] == 4 || token[0] == 5) && token[1] == 4;
  pseudonyms.octets(kerberos ? token.subspan(head) : token);
}

/// Flavor, length and body. False: what follows is not to be found.
bool draft_auth(Draft& draft, Words& words, Pseudonyms& pseudonyms, bool verifier) {
  const auto flavor = words.keep();
  const auto length = words.keep();
  if (!flavor || !length || *length > wire::most_auth_octets) return false;
  const std::size_t body = words.at();
  words.pass(padded(*length));
  if (verifier) {
    draft_token(draft.keep(body, *length), pseudonyms);
  } else if (*flavor == wire::flavor_sys) {
    draft_sys(draft, body, *length, pseudonyms);
  } else if (*flavor == wire::flavor_gss) {
    draft_gss(draft, body, *length, pseudonyms);
  }
  return true;
}

/// stateid4: a version, and what names the state. Special ones are everybody's.
void draft_stateid(std::span<std::uint8_t> octets, Pseudonyms& pseudonyms) {
  constexpr std::size_t version = 4;
  if (octets.size() > version) pseudonyms.octets(octets.subspan(version));
}

/// What a walk over NFS passes.
class NfsDraft final : public wire::ItemWatch {
 public:
  NfsDraft(Draft& draft, std::size_t at, std::size_t body, Pseudonyms& pseudonyms)
      : draft_(draft), at_(at), body_(at + body), pseudonyms_(pseudonyms) {}

  void restart() override { draft_.forget(body_); }
  void passed(const PassedItem& item) override {
    constexpr std::size_t identifier = 16;
    const std::size_t at = at_ + item.at;
    switch (item.form) {
      case PassedItem::Form::words: {
        const auto kept = draft_.whole(at, item.length);
        if (kept.size() == 2 * word && load_be32(kept.data()) >= beyond_any_file) pseudonyms_.octets(kept);
        break;
      }
      case PassedItem::Form::bitmap:
        keep_length(at);
        static_cast<void>(draft_.keep(at, item.length));
        bitmap_ = {item.at, item.length};
        break;
      case PassedItem::Form::person:
        replace_number(draft_.whole(at, word), pseudonyms_);
        break;
      case PassedItem::Form::time:
        break;  // whose files they are, they may tell
      case PassedItem::Form::stateids:
        keep_length(at);
        [[fallthrough]];
      case PassedItem::Form::stateid:
        for (std::size_t i = 0; i + identifier <= item.length; i += identifier) {
          draft_stateid(draft_.whole(at + i, identifier), pseudonyms_);
        }
        break;
      case PassedItem::Form::names:
        keep_length(at);
        [[fallthrough]];
      case PassedItem::Form::name:
        for (std::size_t i = 0; i + identifier <= item.length; i += identifier) {
          pseudonyms_.octets(draft_.whole(at + i, identifier));
        }
        break;
      case PassedItem::Form::opaque:
        keep_length(at);
        pseudonyms_.counted(draft_.keep(at, item.length));
        break;
      case PassedItem::Form::attributes: {
        keep_length(at);
        const Bytes message = draft_.original().subspan(at_);
        const std::size_t end = std::min(bitmap_.at + bitmap_.length, message.size());
        const Bytes bitmap = message.subspan(std::min(bitmap_.at, end), end - std::min(bitmap_.at, end));
        const std::size_t captured = message.size() - std::min(item.at, message.size());
        wire::walk_attributes(message, item.at, std::min(item.length, captured), bitmap, *this);
        break;
      }
      case PassedItem::Form::data:
        keep_length(at);
        break;
    }
  }

 private:
  void keep_length(std::size_t at) {
    if (at >= word) static_cast<void>(draft_.keep(at - word, word));
  }

  Draft& draft_;
  std::size_t at_;
  std::size_t body_;
  Pseudonyms& pseudonyms_;
  Draft::Range bitmap_;  ///< the newest: in front of attributes, it names them
};

/// What RPCSEC_GSS puts around arguments and results (RFC 2203 section 5.3.2): with integrity their length, the
/// sequence number and behind them a checksum; with privacy one token that holds them.
void draft_wrapping(Draft& draft, std::size_t body, wire::Protection protection, Pseudonyms& pseudonyms) {
  Words words(draft, body);
  const auto length = words.keep();
  if (!length) return;
  if (protection == wire::Protection::privacy) {
    constexpr std::size_t head = 8;
    draft_token(words.octets(std::min<std::size_t>(*length, 2 * head)), pseudonyms);
    return;
  }
  static_cast<void>(words.keep());
  words.pass(padded(*length) - std::min<std::size_t>(padded(*length), word));
  const auto checksum = words.keep();
  if (checksum && *checksum <= wire::most_auth_octets) draft_token(words.octets(*checksum), pseudonyms);
}

}  // namespace

std::optional<wire::Asked> draft_call(Draft& draft, std::size_t at, std::size_t wire_length,
                                      std::span<const wire::ReadChunk> chunks, Pseudonyms& pseudonyms) {
  if (at >= draft.original().size()) return std::nullopt;
  const Bytes message = draft.original().subspan(at);
  Words words(draft, at);
  for (int i = 0; i < 6; ++i) static_cast<void>(words.keep());
  wire::CallSteps steps;
  wire::read_call_steps(message, wire_length, {}, steps);
  if (!draft_auth(draft, words, pseudonyms, false) || !draft_auth(draft, words, pseudonyms, true)) return steps.asked;
  const auto call = wire::decode_rpc_call(message, wire_length);
  if (!call) return steps.asked;
  const bool wrapped = wire::protection_of(*call) != wire::Protection::none;
  wire::NfsItems items;
  if (!wrapped) wire::list_call_items(message, wire_length, chunks, items);
  NfsDraft nfs(draft, at, call->body, pseudonyms);
  const bool listed = !wrapped && (items.end == wire::WalkEnd::whole || items.end == wire::WalkEnd::truncated);
  wire::walk_call(message, wire_length, listed ? wire::DataPlaces(&items) : wire::DataPlaces(), nfs);
  if (wrapped && steps.asked && steps.asked->protection) {
    draft_wrapping(draft, at + call->body, *steps.asked->protection, pseudonyms);
  }
  return steps.asked;
}

void draft_reply(Draft& draft, std::size_t at, std::size_t wire_length, const std::optional<wire::Asked>& asked,
                 std::span<const std::uint64_t> returned, Pseudonyms& pseudonyms) {
  if (at >= draft.original().size()) return;
  const Bytes message = draft.original().subspan(at);
  Words words(draft, at);
  for (int i = 0; i < 2; ++i) static_cast<void>(words.keep());
  const auto state = words.keep();
  if (!state) return;
  if (*state != wire::reply_stat::accepted) {  // why, and for both reasons what would have done
    for (int i = 0; i < 3; ++i) static_cast<void>(words.keep());
    return;
  }
  if (!draft_auth(draft, words, pseudonyms, true)) return;
  const auto status = words.keep();
  if (!status) return;
  if (*status == wire::accept_stat::prog_mismatch) {
    for (int i = 0; i < 2; ++i) static_cast<void>(words.keep());
    return;
  }
  const auto reply = wire::decode_rpc_reply(message, wire_length);
  if (!reply || *status != wire::accept_stat::success || !asked) return;
  if (asked->procedure == 0) return draft_context(draft, at + reply->body, pseudonyms);
  const bool wrapped = reply->flavor == wire::flavor_gss && asked->protection != wire::Protection::none;
  wire::NfsItems items;
  if (!wrapped) {
    wire::list_reply_items(message, wire_length, asked->program, asked->version, asked->procedure, returned, items);
  }
  NfsDraft nfs(draft, at, reply->body, pseudonyms);
  const bool listed = !wrapped && (items.end == wire::WalkEnd::whole || items.end == wire::WalkEnd::truncated);
  wire::walk_reply(message, wire_length, *asked, listed ? wire::DataPlaces(&items) : wire::DataPlaces(), nfs);
  if (wrapped && asked->protection) draft_wrapping(draft, at + reply->body, *asked->protection, pseudonyms);
}

}  // namespace rpcrdma::sanitize
