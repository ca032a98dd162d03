// SPDX-License-Identifier: GPL-2.0-or-later
// Terminate: what was refused.
#include "trace/iwarp/messages.hpp"

namespace rpcrdma::trace::iwarp {

void Messages::on_terminate(Side side, const Fpdu& fpdu) {
  Refusal refusal;
  refusal.connection = connection_;
  refusal.side = side;
  refusal.frame = fpdu.first;
  refusal.kind = Refusal::Kind::terminate;
  const Bytes payload = fpdu.ulpdu.subspan(std::min(fpdu.ulpdu.size(), wire::ddp_untagged_length));
  const auto terminate = wire::decode_terminate(
      payload, fpdu.ulpdu_length - std::min<std::size_t>(fpdu.ulpdu_length, wire::ddp_untagged_length));
  if (terminate) {
    refusal.layer = terminate->layer;
    refusal.etype = terminate->etype;
    refusal.ecode = terminate->ecode;
    name_refused(refusal, *terminate);
  } else {
    refusal.truncated = true;
  }
  sink_.on(refusal);
}

/// The copied header says it; without one, the error's kind does.
void Messages::name_refused(Refusal& refusal, const wire::Terminate& terminate) const {
  if (!terminate.refused) {
    guess_refused(refusal);
    return;
  }
  const wire::DdpHeader& header = *terminate.refused;
  if (header.control.send() && !header.control.tagged) {
    refusal.refused = Refusal::Refused::send;
    (void)name_send(refusal, header.msn);
  } else if (header.control.rdmap() == wire::RdmapOpcode::write) {
    refusal.refused = Refusal::Refused::write;
    (void)name_write(refusal, &header);
  } else if (header.control.rdmap() == wire::RdmapOpcode::read_request) {
    refusal.refused = Refusal::Refused::read;
    (void)name_read(refusal, &terminate);
  }
  // A refused Read Response or Terminate stays "unknown": no event of the other side stands for it.
}

/// Nothing was copied. The most plausible: for errors of untagged buffers the latest Send, of tagged ones the latest
/// Write, of RDMAP protection the oldest Read Request without an answer, else the latest Write. Layer and type are
/// taken both ways round (siw), which never makes two of these collide.
void Messages::guess_refused(Refusal& refusal) const {
  const unsigned word = (static_cast<unsigned>(refusal.layer) << 4U) | refusal.etype;
  switch (word) {
    case 0x12:
    case 0x21:
      // 0x21 by the book is the lower layer, type 1, which no RFC defines.
      if (name_send(refusal, std::nullopt)) refusal.refused = Refusal::Refused::send;
      break;
    case 0x11:
      if (name_write(refusal, nullptr)) refusal.refused = Refusal::Refused::write;
      break;
    case 0x01:
    case 0x10:
      if (name_read(refusal, nullptr)) {
        refusal.refused = Refusal::Refused::read;
      } else if (name_write(refusal, nullptr)) {
        refusal.refused = Refusal::Refused::write;
      }
      break;
    default:
      break;
  }
}

bool Messages::name_send(Refusal& refusal, std::optional<std::uint32_t> msn) const {
  const Half& sender = of(other(refusal.side));
  for (std::size_t i = 0; i < sender.sent.size(); ++i) {
    const SentSend& sent = sender.sent[i];
    if (msn && sent.msn != *msn) continue;
    refusal.refused_frame = sent.frame;
    refusal.refused_op = sent.ordinal;
    refusal.refused_length = sent.length;
    return true;
  }
  return false;
}

bool Messages::name_write(Refusal& refusal, const wire::DdpHeader* header) const {
  const Half& sender = of(other(refusal.side));
  for (std::size_t i = 0; i < sender.writes.size(); ++i) {
    const SentWrite& write = sender.writes[i];
    if (header != nullptr && (write.handle != header->stag || write.offset != header->offset)) continue;
    refusal.refused_frame = write.frame;
    refusal.refused_op = write.op;
    return true;
  }
  return false;
}

bool Messages::name_read(Refusal& refusal, const wire::Terminate* terminate) const {
  const Half& sender = of(other(refusal.side));
  // siw puts something else than the MSN into the header it copies, so the request itself comes first.
  auto fits = [&](const SentRead& read) {
    if (terminate == nullptr) return true;
    if (!terminate->refused_read) return read.msn == terminate->refused->msn;
    const wire::ReadRequestHeader& request = *terminate->refused_read;
    return request.source_stag == read.request.source_stag && request.source_offset == read.request.source_offset &&
           request.size == read.request.size && request.sink_stag == read.request.sink_stag;
  };
  auto name = [&](const SentRead& read) {
    refusal.refused_frame = read.frame;
    refusal.refused_op = read.op;
  };
  for (const SentRead& read : sender.reads) {
    if (!fits(read)) continue;
    name(read);
    return true;
  }
  for (std::size_t i = 0; terminate != nullptr && i < sender.answered_reads.size(); ++i) {
    if (!fits(sender.answered_reads[i])) continue;
    name(sender.answered_reads[i]);
    return true;
  }
  return false;
}

}  // namespace rpcrdma::trace::iwarp
