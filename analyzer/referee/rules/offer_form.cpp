// SPDX-License-Identifier: GPL-2.0-or-later
// Groups E and H: whether a Reply may offer something to be read, in which form, and whether it had to.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/offer_form.hpp"
#include "referee/rules/rows.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

const Row rows::read_list_in_reply{
    .group = 'E',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "RFC 8166 section 4.3.1",
    .who = "responder",
    .title = "A reply carries a Read list",
    .explanation =
        "Only requesters expose memory in version 1, so the Read list of a reply has to be empty. A requester that "
        "does not know responder-provided Read chunks fails the RPC; a Linux client gives the application an I/O "
        "error.",
    .evidence =
        "A Read list in a message known to be a Reply. A reverse call too large for inline looks alike: not decided "
        "when neither the pulled data nor an outstanding Call tells which it is. Under the reliable-reply profile the "
        "one legal form, a Position-Zero Read chunk in RDMA_NOMSG, is judged by the rules on pull completion instead.",
    .next =
        "Linux client: rpcrdma:xprtrdma_reply_hdr_err or a failed RPC after xprtrdma_reply. If both peers are meant to "
        "use this, run with --profile reliable-reply."};

const Row rows::pull_offer_form{
    .group = 'H',
    .severity = Severity::error,
    .versions = Versions::v1,
    .source = "reliable-reply draft, Responder-Provided Read Chunks",
    .who = "responder",
    .title = "A reply offers memory to read in a form that is not allowed",
    .explanation =
        "A responder that lets the requester pull a reply does so in an RDMA_NOMSG with one Read chunk, all segments "
        "at Position 0. A requester will not recognise any other form and fails the RPC.",
    .evidence =
        "A Read list in a Reply that is RDMA_MSG, has other positions, or offers less than the shortest RPC reply, 20 "
        "octets. Not decided when a reverse call cannot be told from a reply.",
    .next = "Look at the responder's encoder; the requester's log tells whether it dropped the reply."};

const Row rows::pull_offer_unneeded{
    .group = 'H',
    .severity = Severity::warning,
    .versions = Versions::v1,
    .source = "reliable-reply draft, Responder-Provided Read Chunks; RFC 8166 section 3.5.3",
    .who = "responder",
    .title = "A reply is offered for pulling although it would have fitted elsewhere",
    .explanation =
        "Pulling is for replies that fit neither inline nor into the Reply chunk. For a reply that fits inline it is "
        "only slow; where an adequate Reply chunk was offered, that one has to be used.",
    .evidence =
        "Length of the offer against the threshold (note) and the Call's Reply chunk (warning). Not decided without "
        "the handshake.",
    .next =
        "Compare the offer's length with the Reply chunk in the Call. The responder's choice of reply form is the "
        "place to look."};

namespace {

void accuse_offer(const Witness& witness, const Offer& offer, RuleId rule, std::string message) {
  witness.say(rule, {.frames = {offer.frame, offer.call},
                     .by = other(offer.requester),
                     .as = Role::responder,
                     .xid = offer.xid,
                     .what = std::move(message)});
}

/// Would the Call's Reply chunk have held it?
[[nodiscard]] bool reply_chunk_had_room(const Witness& witness, const Offer& offer) {
  // An XID comes again, and the Call that this answers may be among what is missing.
  if (!witness.connection.trusted()) {
    witness.unchecked(RuleId::pull_offer_unneeded, witness.connection.why_not_whole());
    return false;
  }
  if (offer.reply_chunk == Offer::Room::unknown) {
    witness.unchecked(RuleId::pull_offer_unneeded, "the chunk lists of the Call are not known");
  }
  return offer.reply_chunk == Offer::Room::enough;
}

}  // namespace

void judge_offer_form(const Witness& witness, const Offer& offer) {
  const Connection& connection = witness.connection;
  const Profile profile = witness.context.options.profile;
  const Side responder = other(offer.requester);
  if (profile == Profile::rfc8166) {
    accuse_offer(witness, offer, RuleId::read_list_in_reply,
                 fmt::format("The {}'s Reply carries a Read list; in a Reply it has to be empty.", name(responder)));
    return;
  }
  if (offer.form != Offer::Form::proper) {
    if (!connection.reliable_reply && profile == Profile::automatic && !connection.whole()) {
      witness.unchecked(RuleId::read_list_in_reply,
                        "whether these peers agreed on responder-provided Read chunks before is not in the capture");
      return;
    }
    accuse_offer(witness, offer, connection.reliable_reply ? RuleId::pull_offer_form : RuleId::read_list_in_reply,
                 fmt::format("The {}'s Reply carries a Read list in a form that nothing allows: a responder-provided "
                             "Read chunk belongs into an RDMA_NOMSG, all of it at Position 0.",
                             name(responder)));
    return;
  }
  constexpr std::uint64_t least_denied = 20;  // octets of an RPC Reply that reports AUTH_ERROR: none is shorter
  if (connection.reliable_reply && offer.length < least_denied && offer.length >= wire::rpc_start_octets) {
    accuse_offer(witness, offer, RuleId::pull_offer_form,
                 fmt::format("The {}'s Reply offers {} octets to be read; no RPC Reply is shorter than {}.",
                             name(responder), offer.length, least_denied));
  }
}

void judge_offer_needed(const Witness& witness, const Offer& offer) {
  const Connection& connection = witness.connection;
  if (offer.form != Offer::Form::proper || !connection.reliable_reply) return;
  const Side responder = other(offer.requester);
  const std::string octets = counted(offer.length, "octet");
  if (reply_chunk_had_room(witness, offer)) {
    accuse_offer(witness, offer, RuleId::pull_offer_unneeded,
                 fmt::format("The {} offered {} to be read although the Call's Reply chunk had room for them.",
                             name(responder), octets));
    return;
  }
  const std::optional<std::uint32_t> limit = connection.threshold(responder);
  if (!limit || offer.inline_length > *limit) return;
  witness.say(RuleId::pull_offer_unneeded,
              {.frames = {offer.frame, offer.call},
               .as = Role::responder,
               .xid = offer.xid,
               .at_most = Severity::note,
               .what = fmt::format("The {} offered {} to be read although they fit inline (threshold {}).",
                                   name(responder), octets, grouped(*limit))});
}

}  // namespace rpcrdma::referee
