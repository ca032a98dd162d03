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

/// The copied header says it. Without one nothing does: what comes into question is for who judges to say.
void Messages::name_refused(Refusal& refusal, const wire::Terminate& terminate) const {
  if (!terminate.refused) return;
  const wire::DdpHeader& header = *terminate.refused;
  if (header.control.send() && !header.control.tagged) {
    refusal.refused = Refusal::Refused::send;
    name_send(refusal, header.msn);
  } else if (header.control.rdmap() == wire::RdmapOpcode::write) {
    refusal.refused = Refusal::Refused::write;
    name_write(refusal, header);
  } else if (header.control.rdmap() == wire::RdmapOpcode::read_request) {
    refusal.refused = Refusal::Refused::read;
    name_read(refusal, terminate);
  }
  // A refused Read Response or Terminate stays "unknown": no event of the other side stands for it.
}

void Messages::name_send(Refusal& refusal, std::uint32_t msn) const {
  const Half& sender = of(other(refusal.side));
  for (std::size_t i = 0; i < sender.sent.size(); ++i) {
    const SentSend& sent = sender.sent[i];
    if (sent.msn != msn) continue;
    refusal.refused_frame = sent.frame;
    refusal.refused_op = sent.ordinal;
    refusal.refused_length = sent.length;
    return;
  }
}

void Messages::name_write(Refusal& refusal, const wire::DdpHeader& header) const {
  const Half& sender = of(other(refusal.side));
  for (std::size_t i = 0; i < sender.writes.size(); ++i) {
    const SentWrite& write = sender.writes[i];
    if (write.handle != header.stag || write.offset != header.offset) continue;
    refusal.refused_frame = write.frame;
    refusal.refused_op = write.op;
    return;
  }
  for (std::size_t i = 0; i < sender.whole_writes.size(); ++i) {
    const WholeWrite& write = sender.whole_writes[i];
    if (write.handle != header.stag || header.offset < write.from || header.offset >= write.to) continue;
    refusal.refused_frame = write.frame;
    refusal.refused_op = write.op;
    return;
  }
}

void Messages::name_read(Refusal& refusal, const wire::Terminate& terminate) const {
  const Half& sender = of(other(refusal.side));
  // siw puts something else than the MSN into the header it copies, so the request itself comes first.
  auto fits = [&](const SentRead& read) {
    if (!terminate.refused_read) return read.msn == terminate.refused->msn;
    const wire::ReadRequestHeader& request = *terminate.refused_read;
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
    return;
  }
  for (std::size_t i = 0; i < sender.answered_reads.size(); ++i) {
    if (!fits(sender.answered_reads[i])) continue;
    name(sender.answered_reads[i]);
    return;
  }
}

}  // namespace rpcrdma::trace::iwarp
