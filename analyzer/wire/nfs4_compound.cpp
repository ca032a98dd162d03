// SPDX-License-Identifier: GPL-2.0-or-later
// The operations of an NFSv4 COMPOUND, found by stepping over their arguments.
#include "wire/nfs4_compound.hpp"

#include <algorithm>

#include "wire/nfs4_places.hpp"
#include "wire/nfs4_walker.hpp"
#include "wire/rpc.hpp"
#include "wire/rpc_body.hpp"

namespace rpcrdma::wire {

namespace nfs4 {

namespace {

constexpr std::uint32_t tag_limit = 1024;

/// An operation that the minor version does not have has no known arguments either.
bool in_minor_version(std::uint32_t operation, const CompoundHead& head) noexcept {
  const std::uint32_t minor = head.minor_version;
  if (operation == 10044) return true;
  if (head.callback) return operation >= 3 && operation <= (minor == 0 ? 4U : minor == 1 ? 14U : 15U);
  return operation >= 3 && operation <= (minor == 0 ? 39U : minor == 1 ? 58U : 75U);
}

/// Does it say whether the client agrees to be called?
bool of_channel(std::uint32_t operation) noexcept {
  return operation == operation::bind_conn_to_session || operation == operation::create_session;
}

/// Of the arguments: all that a CallStep may hold, or only what says whether the client agrees to be called.
enum class Wanted : std::uint8_t { all, back_channel };

/// What the field that `in_front` leads to says, as one of the things that a step may hold.
template <class Found, class Read>
bool find(Walker& w, std::string_view in_front, CallStep& step, Read&& read) {
  Found found;
  if (!w.shape(in_front) || !read(found)) return false;
  step.arguments = found;
  return true;
}

bool find_state(Walker& w, CallStep& step) {
  return find<StateId>(w, "", step, [&w](StateId& state) { return read_state(w, state); });
}

bool find_session(Walker& w, CallStep& step) {
  return find<SessionId>(w, "", step, [&w](SessionId& session) { return w.identifier(session.octets); });
}

/// layoutreturn4 and layoutrecall4 differ in what stands between the type and the stateid.
bool find_layouts(Walker& w, std::string_view of_file, CallStep& step) {
  return find<Layouts>(w, "www", step, [&](Layouts& layouts) {
    std::uint32_t type = 0;
    if (!w.word(type) || type < 1 || type > 3) return false;
    layouts.of = static_cast<Layouts::Of>(type);
    return layouts.of != Layouts::Of::file || (w.shape(of_file) && read_state(w, layouts.state));
  });
}

bool find_callback_arguments(Walker& w, CallStep& step) {
  switch (step.operation) {
    case operation::cb_recall:
      return find_state(w, step);
    case operation::cb_layoutrecall:
      return find_layouts(w, "odd", step);
    case operation::cb_sequence:
      return find_session(w, step);
    case operation::cb_offload:
      return find<OffloadDone>(w, "o", step,
                               [&w](OffloadDone& done) { return read_state(w, done.state) && w.word(done.status); });
    default:
      return true;
  }
}

/// Reads ahead what matters here of the arguments that come next; false where octets lack or say what cannot be.
bool find_arguments(const Walker& walker, CallStep& step, bool callback) {
  Walker w = walker;
  if (callback) return find_callback_arguments(w, step);
  switch (step.operation) {
    case operation::delegreturn:
    case operation::free_stateid:
    case operation::offload_cancel:
    case operation::offload_status:
      return find_state(w, step);
    case operation::putfh:
      return find<FileNamed>(w, "", step, [&w](FileNamed& named) { return w.name(named.file); });
    case operation::sequence:
    case operation::destroy_session:
      return find_session(w, step);
    case operation::layoutreturn:
      return find_layouts(w, "dd", step);
    case operation::bind_conn_to_session:
      return find<BoundConnection>(w, "", step, [&w](BoundConnection& bound) {
        return w.identifier(bound.session.octets) && w.word(bound.direction);
      });
    case operation::exchange_id:
    case operation::setclientid:
      return find<ClientBegun>(w, "", step,
                               [&w](ClientBegun& client) { return w.hyper(client.verifier) && w.name(client.owner); });
    case operation::destroy_clientid:
      return find<ClientGone>(w, "", step, [&w](ClientGone& gone) { return w.hyper(gone.client); });
    case operation::create_session:
      return find<SessionWanted>(w, "", step, [&w](SessionWanted& wanted) {
        return w.hyper(wanted.client) && w.shape("w") && w.word(wanted.flags);
      });
    default:
      return true;
  }
}

/// The operations from that one on, which nobody keeps.
bool pass_operations(Walker& walker, const CompoundHead& head, std::uint32_t from) {
  for (std::uint32_t i = from; i < head.count; ++i) {
    std::uint32_t number = 0;
    if (!walker.word(number) || !in_minor_version(number, head)) return false;
    if (!(head.callback ? step_over_callback_arguments(walker, number) : step_over_arguments(walker, number))) {
      return false;
    }
  }
  return walker.at_end();
}

/// Says whether the operations end where the message ends.
template <class Steps>
bool walk(const Cursor& cursor, const CompoundHead& head, Places& places, Wanted wanted, Steps& steps,
          std::optional<DecodeError>& stopped) {
  Walker walker(cursor, places);
  steps.clear();
  stopped.reset();
  const bool cut = cursor.captured_left() != cursor.wire_left();
  for (std::uint32_t i = 0; i < head.count; ++i) {
    if (steps.size() == steps_limit) {
      stopped = DecodeError{Fault::unsupported, "operation count", walker.offset()};
      // Who watches the walk wants to know of the others as well.
      return places.watch != nullptr && pass_operations(walker, head, i);
    }
    std::uint32_t number = 0;
    if (!walker.word(number)) {
      stopped = why_ended(walker, places, cut);
      return false;
    }
    CallStep& step = steps.add(number);
    // Where the arguments cannot be read, they cannot be stepped over either.
    if (wanted == Wanted::all || of_channel(number)) static_cast<void>(find_arguments(walker, step, head.callback));
    if (!in_minor_version(number, head)) {
      stopped = DecodeError{Fault::unsupported, "operation", walker.offset() - 4};
      return false;
    }
    if (!(head.callback ? step_over_callback_arguments(walker, number) : step_over_arguments(walker, number))) {
      stopped = why_ended(walker, places, cut);
      return false;
    }
  }
  return walker.at_end();
}

}  // namespace

bool read_state(Walker& w, StateId& state) {
  std::array<std::uint8_t, id_octets> octets{};
  if (!w.identifier(octets, PassedItem::Form::stateid)) return false;
  state.sequence = load_be32(octets.data());
  std::copy(octets.begin() + 4, octets.end(), state.other.begin());
  return true;
}

Decoded<CompoundHead> decode_compound_head(Cursor& cursor, bool callback) {
  CompoundHead head;
  head.callback = callback;
  const std::size_t tag_at = cursor.offset();
  const auto tag_length = cursor.be32("tag");
  if (!tag_length) return tl::make_unexpected(tag_length.error());
  const std::size_t padded = (std::size_t{*tag_length} + 3U) & ~std::size_t{3};
  if (padded > cursor.wire_left()) return tl::make_unexpected(DecodeError{Fault::invalid, "tag", tag_at});
  if (*tag_length > tag_limit) return tl::make_unexpected(DecodeError{Fault::unsupported, "tag", tag_at});
  const auto tag = cursor.take(padded, "tag");
  if (!tag) return tl::make_unexpected(tag.error());
  head.tag = tag->first(*tag_length);

  const auto minor = cursor.be32("minor version");
  if (!minor) return tl::make_unexpected(minor.error());
  head.minor_version = *minor;
  if (callback) {
    const auto identifier = cursor.be32("callback identifier");
    if (!identifier) return tl::make_unexpected(identifier.error());
  }
  const std::size_t count_at = cursor.offset();
  const auto count = cursor.be32("operation count");
  if (!count) return tl::make_unexpected(count.error());
  head.count = *count;
  if (head.count > cursor.wire_left() / 4) {
    return tl::make_unexpected(DecodeError{Fault::invalid, "operation count", count_at});
  }
  return head;
}

template <class Steps>
void read_steps(const Cursor& cursor, const CompoundHead& head, const DataPlaces& known, ItemWatch* watch,
                Wanted wanted, Steps& steps, std::optional<DecodeError>& stopped) {
  if (head.minor_version > 2) {
    steps.clear();
    stopped = DecodeError{Fault::unsupported, "minor version", cursor.offset()};
    return;
  }
  read_with_places(known, cursor.captured_left() != cursor.wire_left(), watch,
                   [&](Places& places) { return walk(cursor, head, places, wanted, steps, stopped); });
}

void read_operations(const Cursor& cursor, const CompoundHead& head, const DataPlaces& places, ItemWatch* watch,
                     CallSteps& out) {
  read_steps(cursor, head, places, watch, Wanted::all, out.steps, out.stopped);
}

}  // namespace nfs4

namespace {

/// What an operation says of a back channel.
std::optional<bool> agrees_to_be_called(const CallStep& step) {
  // CREATE_SESSION4_FLAG_CONN_BACK_CHAN, and the bit that CDFC4_BACK has in common with both "or both".
  constexpr std::uint32_t back = 2;
  if (const auto* bound = std::get_if<BoundConnection>(&step.arguments)) return (bound->direction & back) != 0;
  if (const auto* wanted = std::get_if<SessionWanted>(&step.arguments)) return (wanted->flags & back) != 0;
  return std::nullopt;
}

/// Takes the operations' numbers and what they say of a back channel; keeps no arguments.
class Numbers {
 public:
  Numbers(Compound& compound, bool callback) : compound_(compound), callback_(callback) {
    constexpr std::size_t usual = 8;
    compound_.operations.reserve(usual);
  }
  [[nodiscard]] std::size_t size() const noexcept { return compound_.operations.size(); }
  void clear() {
    compound_.operations.clear();
    compound_.back_channel = false;
    last_ = {};
  }
  CallStep& add(std::uint32_t operation) {
    settle();
    compound_.operations.push_back(operation);
    last_.operation = operation;
    return last_;
  }
  /// The arguments of the last one are known.
  void settle() {
    if (callback_ || compound_.back_channel != false || !nfs4::of_channel(last_.operation)) return;
    compound_.back_channel = agrees_to_be_called(last_);
    last_.arguments = {};
  }

 private:
  Compound& compound_;
  bool callback_;
  CallStep last_;
};

/// The SEQUENCE or CB_SEQUENCE with which the operations begin.
void read_leading_sequence(Cursor operations, const nfs4::CompoundHead& head, Compound& out) {
  out.session.reset();
  out.slot.reset();
  const auto first = operations.be32("operation");
  const std::uint32_t sequence = head.callback ? operation::cb_sequence : operation::sequence;
  if (head.count == 0 || !first || *first != sequence) return;
  SessionId session;
  const auto octets = operations.take(session.octets.size(), "session");
  if (!octets) return;
  std::copy(octets->begin(), octets->end(), session.octets.begin());
  out.session = session;
  const auto number = operations.be32("sequence id");
  const auto slot = operations.be32("slot");
  if (number && slot) out.slot = SlotUse{*number, *slot};
}

tl::expected<void, DecodeError> decode_here(Cursor cursor, bool callback, const DataPlaces& places, Compound& out) {
  const auto head = nfs4::decode_compound_head(cursor, callback);
  if (!head) return tl::make_unexpected(head.error());
  out.tag.assign(head->tag.begin(), head->tag.end());
  out.minor_version = head->minor_version;
  out.count = head->count;
  read_leading_sequence(cursor, *head, out);
  Numbers numbers(out, callback);
  numbers.clear();
  std::optional<DecodeError> stopped;
  nfs4::read_steps(cursor, *head, places, nullptr, nfs4::Wanted::back_channel, numbers, stopped);
  numbers.settle();
  return {};
}

}  // namespace

tl::expected<void, DecodeError> decode_compound(Bytes arguments, std::size_t wire_length, bool callback,
                                                Compound& out) {
  return decode_here(Cursor(arguments, wire_length), callback, {}, out);
}

Decoded<Compound> decode_compound(Bytes arguments, std::size_t wire_length, bool callback) {
  Compound compound;
  const auto decoded = decode_compound(arguments, wire_length, callback, compound);
  if (!decoded) return tl::make_unexpected(decoded.error());
  return compound;
}

tl::expected<void, DecodeError> decode_compound_of(const RpcCall& call, Bytes message, std::size_t wire_length,
                                                   const DataPlaces& places, Compound& out) {
  const auto protection = protection_of(call);
  const auto cursor = open_body(message, wire_length, call.body, protection);
  if (!cursor) return tl::make_unexpected(cursor.error());
  return decode_here(*cursor, callback_program(call.program), places_under(protection, places), out);
}

Decoded<Compound> decode_compound_of(const RpcCall& call, Bytes message, std::size_t wire_length) {
  Compound compound;
  const auto decoded = decode_compound_of(call, message, wire_length, {}, compound);
  if (!decoded) return tl::make_unexpected(decoded.error());
  return compound;
}

}  // namespace rpcrdma::wire
