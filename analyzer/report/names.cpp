// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/names.hpp"

namespace rpcrdma::report {

std::string_view name(trace::Transport transport) noexcept {
  switch (transport) {
    case trace::Transport::rocev2:
      return "rocev2";
    case trace::Transport::rocev1:
      return "rocev1";
    case trace::Transport::infiniband:
      return "infiniband";
    case trace::Transport::iwarp:
      return "iwarp";
  }
  return "rocev2";
}

std::string_view name(referee::Party party) noexcept { return party == referee::Party::client ? "client" : "server"; }

std::string_view name(referee::Role role) noexcept {
  return role == referee::Role::requester ? "requester" : "responder";
}

std::string_view name(referee::Basis basis) noexcept {
  switch (basis) {
    case referee::Basis::negotiated:
      return "negotiated";
    case referee::Basis::default_:
      return "default";
    case referee::Basis::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view name(referee::Closed::How how) noexcept {
  using How = referee::Closed::How;
  switch (how) {
    case How::disconnect:
      return "disconnect";
    case How::reset:
      return "reset";
    case How::terminate:
      return "terminate";
    case How::nak:
      return "nak";
    case How::timeout:
      return "timeout";
    case How::superseded:
    case How::unseen:  // to programs the same: what follows stands in a connection of its own
      return "superseded";
    case How::refused:
      return "refused";
    case How::unanswered:
      return "unanswered";
  }
  return "disconnect";
}

std::string_view name(trace::RolesFrom from) noexcept {
  switch (from) {
    case trace::RolesFrom::handshake:
      return "handshake";
    case trace::RolesFrom::port:
      return "port";
    case trace::RolesFrom::traffic:
      return "traffic";
    case trace::RolesFrom::unknown:
      return {};
  }
  return {};
}

std::string_view name(referee::FindingKind kind) noexcept {
  switch (kind) {
    case referee::FindingKind::violation:
      return "violation";
    case referee::FindingKind::symptom:
      return "symptom";
    case referee::FindingKind::habit:
      return "habit";
    case referee::FindingKind::capture:
      return "capture";
  }
  return "violation";
}

std::string_view name(referee::Owes owes) noexcept {
  switch (owes) {
    case referee::Owes::nobody:
      return "nobody";
    case referee::Owes::server:
      return "server";
    case referee::Owes::client:
      return "client";
    case referee::Owes::server_unreachable:
      return "server-unreachable";
    case referee::Owes::client_unreachable:
      return "client-unreachable";
    case referee::Owes::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace rpcrdma::report
