// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs_steps.hpp"

#include <algorithm>

#include "wire/nfs4_compound.hpp"
#include "wire/nfs4_places.hpp"
#include "wire/nfs4_sequence.hpp"
#include "wire/nfs4_walker.hpp"
#include "wire/nfs_status.hpp"
#include "wire/rpc_body.hpp"

namespace rpcrdma::wire {

namespace {

using nfs4::Places;
using nfs4::read_state;
using nfs4::Walker;

constexpr std::size_t result_octets_least = 8;  // operation and status

/// What the results of a procedure look like, and its arguments.
enum class Form : std::uint8_t { nothing, nfs3, compound, callback_compound, unknown };

Form form_of(const Asked& asked) noexcept {
  if (callback_program(asked.program)) {
    return asked.procedure == 0 ? Form::nothing : asked.procedure == 1 ? Form::callback_compound : Form::unknown;
  }
  if (asked.program != nfs_program || asked.version < 3 || asked.version > 4) return Form::unknown;
  if (asked.procedure == 0) return Form::nothing;
  if (asked.version == 3) return Form::nfs3;
  return asked.procedure == 1 ? Form::compound : Form::unknown;
}

/// The first words of an RPC Call say what it is, whether or not its credential was captured.
std::optional<Asked> asked_by(Bytes message) noexcept {
  constexpr std::size_t words = 24;
  if (message.size() < words) return std::nullopt;
  const std::uint8_t* const p = message.data();
  if (load_be32(p + 4) != static_cast<std::uint32_t>(MessageType::call) || load_be32(p + 8) != 2) return std::nullopt;
  return Asked{load_be32(p + 12), load_be32(p + 16), load_be32(p + 20), std::nullopt};
}

DecodeError not_read(std::string_view field, std::size_t offset) noexcept {
  return {Fault::unsupported, field, offset};
}

bool read_copied(Walker& w, Copied& copied) {
  std::uint32_t callbacks = 0;
  if (!w.word(callbacks) || callbacks > 1) return false;
  if (callbacks == 1 && !read_state(w, copied.callback.emplace())) return false;
  bool consecutive = false;  // behind the count: how committed, verifier
  return w.hyper(copied.count) && w.shape("wd") && w.boolean(consecutive) && w.boolean(copied.synchronous);
}

bool read_progress(Walker& w, OffloadProgress& progress) {
  std::uint32_t ended = 0;
  if (!w.hyper(progress.count) || !w.word(ended) || ended > 1) return false;
  return ended == 0 || w.word(progress.complete.emplace());
}

/// Reads ahead what matters here of the results that come next; false where octets lack or say what cannot be.
template <class Result, class Read>
bool find_result(ReplyStep& step, Read&& read) {
  Result result;
  if (!read(result)) return false;
  step.result = result;
  return true;
}

bool find_result_of(Walker& w, ReplyStep& step) {
  switch (step.operation) {
    case operation::sequence:
      return find_result<Sequenced>(step, [&w](Sequenced& r) { return nfs4::read_sequenced(w, r); });
    case operation::copy:
      return find_result<Copied>(step, [&w](Copied& r) { return read_copied(w, r); });
    case operation::offload_status:
      return find_result<OffloadProgress>(step, [&w](OffloadProgress& r) { return read_progress(w, r); });
    case operation::create_session:
      return find_result<CreatedSession>(
          step, [&w](CreatedSession& r) { return w.identifier(r.session.octets) && w.shape("w") && w.word(r.flags); });
    case operation::exchange_id:
      return find_result<ClientNamed>(
          step, [&w](ClientNamed& r) { return w.hyper(r.client) && w.shape("w") && w.word(r.flags); });
    case operation::bind_conn_to_session:
      return find_result<BoundConnection>(
          step, [&w](BoundConnection& r) { return w.identifier(r.session.octets) && w.word(r.direction); });
    case operation::write:
      return find_result<Written>(step, [&w](Written& r) { return w.word(r.count); });
    default:
      return true;
  }
}

class ResultWalk {
 public:
  ResultWalk(const Cursor& cursor, bool callback, Places& places, ReplySteps& out) noexcept
      : walker_(cursor, places),
        places_(&places),
        out_(&out),
        cut_(cursor.captured_left() != cursor.wire_left()),
        callback_(callback) {}

  /// Says whether the results end where the message ends.
  bool run() {
    out_->status.reset();
    out_->announced = 0;
    out_->steps.clear();
    out_->stopped.reset();
    std::uint32_t status = 0;
    if (!walker_.word(status)) return ended();
    out_->status = status;
    if (!walker_.shape("o")) return ended();  // the tag
    const std::size_t count_at = walker_.offset();
    if (!walker_.word(out_->announced)) return ended();
    if (out_->announced > walker_.wire_left() / result_octets_least) {
      return ended({Fault::invalid, "result count", count_at});
    }
    for (std::uint32_t i = 0; i < out_->announced; ++i) {
      if (!result()) return false;
    }
    return walker_.at_end();
  }

 private:
  bool ended(const DecodeError& error) {
    out_->stopped = error;
    return false;
  }
  bool ended() { return ended(nfs4::why_ended(walker_, *places_, cut_)); }

  /// A result that nobody keeps.
  bool pass_result() {
    std::uint32_t number = 0;
    if (!ok_ || walker_.at_end() || !walker_.word(number)) return false;
    return callback_ ? nfs4::step_over_callback_results(walker_, number, ok_)
                     : nfs4::step_over_results(walker_, number, ok_);
  }

  bool result() {
    // A compound ends with the first operation that failed.
    if (!ok_) return ended({Fault::invalid, "result behind a failure", walker_.offset()});
    if (out_->steps.size() == steps_limit) {
      // Who watches the walk wants to know of the others as well.
      while (places_->watch != nullptr && pass_result()) {
      }
      return ended(not_read("result count", walker_.offset()));
    }
    const std::size_t at = walker_.offset();
    std::uint32_t number = 0;
    std::uint32_t status = 0;
    if (!walker_.word(number)) return ended();
    Walker ahead = walker_;
    if (!ahead.word(status)) return ended(nfs4::why_ended(ahead, *places_, cut_));
    ReplyStep& step = out_->steps.add({number, status, {}});
    if (!callback_ && !nfs4::known_operation(number)) return ended(not_read("operation", at));
    if (!callback_ && status == nfs4_ok && !find_result_of(ahead, step)) {
      return ended(ahead.error() ? *ahead.error() : DecodeError{Fault::invalid, "result", at});
    }
    const bool stepped = callback_ ? nfs4::step_over_callback_results(walker_, number, ok_)
                                   : nfs4::step_over_results(walker_, number, ok_);
    return stepped || ended();
  }

  Walker walker_;
  Places* places_;
  ReplySteps* out_;
  bool cut_;
  bool callback_;
  bool ok_ = true;
};

void read_status(const Cursor& cursor, ReplySteps& out) {
  Cursor status_cursor = cursor;
  const auto status = status_cursor.be32("status");
  if (status) {
    out.status = *status;
  } else {
    out.stopped = status.error();
  }
}

/// Operations that only lead to the one that a compound is about.
bool leads_on(std::uint32_t number) noexcept {
  switch (number) {
    case operation::getfh:
    case operation::putfh:
    case operation::putpubfh:
    case operation::putrootfh:
    case operation::restorefh:
    case operation::savefh:
    case operation::sequence:
      return true;
    default:
      return false;
  }
}

bool walks_a_path(std::uint32_t number) noexcept {
  return number == operation::getattr || number == operation::access || number == operation::lookup;
}

}  // namespace

void CallSteps::clear() noexcept {
  asked.reset();
  minor_version.reset();
  announced = 0;
  steps.clear();
  stopped.reset();
}

void ReplySteps::clear() noexcept {
  rpc.reset();
  status.reset();
  announced = 0;
  steps.clear();
  stopped.reset();
}

void read_call_steps(Bytes message, std::size_t wire_length, const DataPlaces& places, CallSteps& out,
                     ItemWatch* watch) {
  out.clear();
  wire_length = std::max(wire_length, message.size());
  out.asked = asked_by(message);
  const auto rpc = decode_rpc_call(message, wire_length);
  if (!rpc) {
    out.stopped = rpc.error();
    return;
  }
  out.asked->protection = protection_of(*rpc);
  const Form form = form_of(*out.asked);
  if (form == Form::nothing || form == Form::nfs3) return;
  if (form == Form::unknown) {
    out.stopped = not_read("procedure", rpc->body);
    return;
  }
  auto cursor = open_body(message, wire_length, rpc->body, out.asked->protection);
  if (!cursor) {
    out.stopped = cursor.error();
    return;
  }
  const auto head = nfs4::decode_compound_head(*cursor, form == Form::callback_compound);
  if (!head) {
    out.stopped = head.error();
    return;
  }
  out.minor_version = head->minor_version;
  out.announced = head->count;
  nfs4::read_operations(*cursor, *head, places_under(out.asked->protection, places), watch, out);
  if (watch == nullptr) return;
  // Tag, minor version, a callback's identifier, how many operations
  const std::size_t tag_at = static_cast<std::size_t>(head->tag.data() - message.data());
  const std::size_t padded = (head->tag.size() + 3U) & ~std::size_t{3};
  watch->passed({PassedItem::Form::opaque, tag_at, head->tag.size()});
  watch->passed({PassedItem::Form::bitmap, tag_at + padded, cursor->offset() - tag_at - padded});
}

void read_reply_steps(Bytes message, std::size_t wire_length, const Asked& asked, const DataPlaces& places,
                      ReplySteps& out, ItemWatch* watch) {
  out.clear();
  wire_length = std::max(wire_length, message.size());
  const auto rpc = decode_rpc_reply(message, wire_length);
  if (!rpc) {
    out.stopped = rpc.error();
    return;
  }
  out.rpc = *rpc;
  const Form form = form_of(asked);
  if (!rpc->accepted || rpc->status != 0 || form == Form::nothing) return;
  if (form == Form::unknown) {
    out.stopped = not_read("procedure", rpc->body);
    return;
  }
  // Without a verifier of RPCSEC_GSS nothing is protected; with one only the Call says how (RFC 2203 section 5.3.3.2).
  const auto protection = rpc->flavor == flavor_gss ? asked.protection : Protection::none;
  const auto cursor = open_body(message, wire_length, rpc->body, protection);
  if (!cursor) {
    out.stopped = cursor.error();
    return;
  }
  if (form == Form::nfs3) {
    read_status(*cursor, out);
    return;
  }
  const bool callback = form == Form::callback_compound;
  nfs4::read_with_places(places_under(protection, places), cursor->captured_left() != cursor->wire_left(), watch,
                         [&](Places& at) { return ResultWalk(*cursor, callback, at, out).run(); });
}

std::optional<std::uint32_t> leading_operation(std::span<const std::uint32_t> operations, std::uint32_t announced,
                                               bool callback) noexcept {
  if (operations.empty()) return std::nullopt;
  std::optional<std::uint32_t> path;
  for (const std::uint32_t number : operations) {
    if (callback ? number == operation::cb_sequence : leads_on(number)) continue;
    if (callback || !walks_a_path(number)) return number;
    if (!path) path = number;
  }
  // Another may follow that was not read.
  if (operations.size() < announced) return std::nullopt;
  return path ? *path : operations.back();
}

std::optional<std::uint32_t> leading_operation(const CallSteps& call) noexcept {
  if (!call.asked) return std::nullopt;
  std::array<std::uint32_t, steps_limit> numbers{};
  std::size_t size = 0;
  for (const CallStep& step : call.steps) numbers[size++] = step.operation;
  return leading_operation({numbers.data(), size}, call.announced, callback_program(call.asked->program));
}

std::string leading_name(const CallSteps& call) {
  if (!call.asked) return {};
  const auto [program, version, procedure, protection] = *call.asked;
  const bool callback = callback_program(program);
  if (const auto leading = leading_operation(call)) {
    const std::string_view name = nfs4_operation_name(*leading, callback);
    if (!name.empty()) return std::string(name);
  }
  const std::string_view bare = bare_procedure_name(program, version, procedure);
  if (!bare.empty() && (program == nfs_program || callback)) return std::string(bare);
  return procedure_name(program, version, procedure);
}

}  // namespace rpcrdma::wire
