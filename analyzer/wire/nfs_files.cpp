// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs_files.hpp"

#include <algorithm>
#include <array>

#include "wire/nfs4_compound.hpp"
#include "wire/nfs4_places.hpp"
#include "wire/nfs4_walker.hpp"
#include "wire/rpc.hpp"
#include "wire/rpc_body.hpp"

namespace rpcrdma::wire {

namespace {

using nfs4::AllAlike;
using nfs4::Walker;
using nfs4::Whereabouts;
using Kind = FileStep::Kind;

constexpr std::uint32_t op_lookupp = 16;
constexpr std::uint32_t op_open = 18;
constexpr std::uint32_t op_openattr = 19;
constexpr std::uint32_t op_read = 25;
constexpr std::uint32_t op_read_plus = 68;

constexpr std::uint32_t proc3_lookup = 3;
constexpr std::uint32_t proc3_read = 6;
constexpr std::uint32_t proc3_write = 7;
constexpr std::uint32_t proc3_create = 8;

/// What was passed over in one operation.
class Passed final : public ItemWatch {
 public:
  struct Data {
    std::optional<std::uint64_t> offset;  // the number of 64 bits that stands nearest in front of it
    Bytes octets;
  };

  explicit Passed(Bytes message) noexcept : message_(message) {}
  void restart() override {
    opaques_ = datas_ = words_ = 0;
    hyper_.reset();
  }
  void passed(const PassedItem& item) override {
    if (item.at > message_.size() || item.length > message_.size() - item.at) return;
    const Bytes octets = message_.subspan(item.at, item.length);
    switch (item.form) {
      case PassedItem::Form::words:
        if (item.length == 8) hyper_ = load_be64(octets.data());
        if (item.length == 4 && words_ < word_.size()) word_[words_++] = load_be32(octets.data());
        break;
      case PassedItem::Form::opaque:
        if (opaques_ < opaque_.size()) opaque_[opaques_++] = octets;
        break;
      case PassedItem::Form::data:
        if (datas_ < data_.size()) data_[datas_++] = {hyper_, octets};
        break;
      default:
        break;
    }
  }

  [[nodiscard]] Bytes opaque(std::size_t which) const noexcept { return which < opaques_ ? opaque_[which] : Bytes{}; }
  [[nodiscard]] std::span<const Data> data() const noexcept { return std::span(data_).first(datas_); }
  [[nodiscard]] std::uint32_t word(std::size_t which) const noexcept { return which < words_ ? word_[which] : 0; }
  [[nodiscard]] std::uint64_t hyper() const noexcept { return hyper_.value_or(0); }

 private:
  Bytes message_;
  std::array<Bytes, 2> opaque_{};
  std::array<Data, steps_limit> data_{};
  std::array<std::uint32_t, 2> word_{};
  std::size_t opaques_ = 0;
  std::size_t datas_ = 0;
  std::size_t words_ = 0;
  std::optional<std::uint64_t> hyper_;
};

/// A walk over a message in which everything is in its place.
struct Walk {
  Walk(Bytes message, const Cursor& cursor) : passed(message), walker(cursor, places) { places.watch = &passed; }
  AllAlike places{Whereabouts::in_place};
  Passed passed;
  Walker walker;
};

void add(StepList<FileStep>& out, const FileStep& step) {
  if (out.size() < steps_limit) out.add(step);
}
void add(FileAnswers& out, const FileAnswer& answer) {
  if (out.size() < steps_limit) out.add(answer);
}

FileStep step_of(std::uint32_t operation, const Passed& passed) {
  FileStep step;
  switch (operation) {
    case operation::putrootfh:
    case operation::putpubfh:
      step.kind = Kind::root;
      break;
    case operation::putfh:
      step.kind = Kind::handle;
      step.text = passed.opaque(0);
      break;
    case operation::lookup:
    case operation::create:
      step.kind = Kind::name;
      step.text = passed.opaque(0);
      break;
    case op_open:  // behind the owner the name, where there is one
      step.kind = Kind::open;
      step.text = passed.opaque(1);
      break;
    case operation::getfh:
      step.kind = Kind::get_handle;
      break;
    case op_lookupp:
    case op_openattr:
      step.kind = Kind::elsewhere;
      break;
    case operation::savefh:
      step.kind = Kind::save;
      break;
    case operation::restorefh:
      step.kind = Kind::restore;
      break;
    case op_read:
    case op_read_plus:
      step.kind = Kind::read;
      step.offset = passed.hyper();
      break;
    case operation::write:
      step.kind = Kind::write;
      step.offset = passed.hyper();
      if (!passed.data().empty()) step.data = passed.data().front().octets;
      break;
    default:
      break;
  }
  return step;
}

void read_compound(Bytes message, Cursor cursor, StepList<FileStep>& out) {
  const auto head = nfs4::decode_compound_head(cursor, false);
  if (!head) return;
  Walk walk(message, cursor);
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(head->count, steps_limit); ++i) {
    std::uint32_t operation = 0;
    if (!walk.walker.word(operation)) return;
    walk.passed.restart();
    if (!nfs4::step_over_arguments(walk.walker, operation)) return;
    add(out, step_of(operation, walk.passed));
  }
}

/// NFSv3: the procedures that name a file or move its octets.
void read_version3(Bytes message, const Cursor& cursor, std::uint32_t procedure, StepList<FileStep>& out) {
  Walk walk(message, cursor);
  FileStep what;
  switch (procedure) {
    case proc3_lookup:
    case proc3_create:
      if (!walk.walker.shape("oo")) return;
      what.kind = Kind::name;
      what.text = walk.passed.opaque(1);
      break;
    case proc3_read:
      if (!walk.walker.shape("odw")) return;
      what.kind = Kind::read;
      what.offset = walk.passed.hyper();
      break;
    case proc3_write:
      if (!walk.walker.shape("odwwD") || walk.passed.data().empty()) return;
      what.kind = Kind::write;
      what.offset = walk.passed.hyper();
      what.data = walk.passed.data().front().octets;
      break;
    default:
      return;
  }
  add(out, {Kind::handle, walk.passed.opaque(0), 0, {}});
  add(out, what);
  if (what.kind == Kind::name) add(out, {Kind::get_handle, {}, 0, {}});
}

void answer_of(std::uint32_t operation, std::size_t step, const Passed& passed, FileAnswers& out) {
  switch (operation) {
    case operation::getfh:
      add(out, {step, passed.opaque(0), {}, std::nullopt, 0});
      break;
    case operation::write:  // behind the status
      add(out, {step, {}, {}, std::nullopt, passed.word(1)});
      break;
    case op_read:
    case op_read_plus:
      for (const Passed::Data& data : passed.data()) {
        add(out, {step, {}, data.octets, operation == op_read_plus ? data.offset : std::nullopt, 0});
      }
      break;
    default:
      break;
  }
}

void read_compound_results(Bytes message, Cursor cursor, FileAnswers& out) {
  const auto status = cursor.be32("status");
  const auto tag_length = status ? cursor.be32("tag") : status;
  if (!tag_length || *tag_length > cursor.captured_left()) return;
  if (!cursor.take((*tag_length + std::size_t{3}) & ~std::size_t{3}, "tag")) return;
  const auto count = cursor.be32("count");
  if (!count) return;
  Walk walk(message, cursor);
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(*count, steps_limit); ++i) {
    std::uint32_t operation = 0;
    bool ok = false;
    if (!walk.walker.word(operation)) return;
    walk.passed.restart();
    if (!nfs4::step_over_results(walk.walker, operation, ok) || !ok) return;
    answer_of(operation, i, walk.passed, out);
  }
}

/// The steps are those of read_version3().
void read_version3_results(Bytes message, const Cursor& cursor, std::uint32_t procedure, FileAnswers& out) {
  constexpr std::string_view attributes = "wwwppddwwddttt";
  Walk walk(message, cursor);
  Walker& w = walk.walker;
  std::uint32_t status = 0;
  if (!w.word(status) || status != 0) return;
  bool present = false;
  switch (procedure) {
    case proc3_lookup:
      if (w.shape("o")) add(out, {2, walk.passed.opaque(0), {}, std::nullopt, 0});
      break;
    case proc3_create:
      if (w.boolean(present) && present && w.shape("o")) add(out, {2, walk.passed.opaque(0), {}, std::nullopt, 0});
      break;
    case proc3_read:
      if (!w.boolean(present) || (present && !w.shape(attributes)) || !w.shape("wwD")) return;
      if (!walk.passed.data().empty()) add(out, {1, {}, walk.passed.data().front().octets, std::nullopt, 0});
      break;
    case proc3_write: {  // wcc_data: size and times before, attributes behind
      std::uint32_t count = 0;
      if (!w.boolean(present) || (present && !w.shape("dtt"))) return;
      if (!w.boolean(present) || (present && !w.shape(attributes)) || !w.word(count)) return;
      add(out, {1, {}, {}, std::nullopt, count});
      break;
    }
    default:
      break;
  }
}

}  // namespace

void read_file_steps(Bytes message, FileCall& out) {
  out.asked = {};
  out.steps.clear();
  const auto call = decode_rpc_call(message, message.size());
  if (!call || call->program != nfs_program) return;
  out.asked = {call->program, call->version, call->procedure, protection_of(*call)};
  const auto body = open_body(message, message.size(), call->body, out.asked.protection);
  if (!body) return;
  if (call->version == 4 && call->procedure == 1) read_compound(message, *body, out.steps);
  if (call->version == 3) read_version3(message, *body, call->procedure, out.steps);
}

void read_file_answers(Bytes message, const Asked& asked, FileAnswers& out) {
  out.clear();
  const auto reply = decode_rpc_reply(message, message.size());
  if (!reply || !reply->succeeded()) return;
  // Without a verifier of RPCSEC_GSS nothing is protected (RFC 2203 section 5.3.3.2).
  const auto protection = reply->flavor == flavor_gss ? asked.protection : Protection::none;
  const auto body = open_body(message, message.size(), reply->body, protection);
  if (!body) return;
  if (asked.version == 4 && asked.procedure == 1) read_compound_results(message, *body, out);
  if (asked.version == 3) read_version3_results(message, *body, asked.procedure, out);
}

std::optional<Bytes> leading_handle3(Bytes arguments) noexcept {
  constexpr std::size_t most = 64;  // NFS3_FHSIZE
  const auto length = first_word(arguments);
  if (!length || *length > most || arguments.size() - 4 < *length) return std::nullopt;
  return arguments.subspan(4, *length);
}

}  // namespace rpcrdma::wire
