// SPDX-License-Identifier: GPL-2.0-or-later
#include "story.hpp"

#include <algorithm>

namespace forge {
namespace {

struct PeerSettings {
  Octets data;
  Depths depths;
  MpaSettings mpa;
  std::uint32_t credits = 32;
};

/// `base` are the scenario's words about a peer, `changes` those of one connect step.
PeerSettings peer_settings(const YAML::Node& base, const YAML::Node& changes, const std::string& where,
                           const MpaSettings& mpa) {
  YAML::Node merged(YAML::NodeType::Map);
  for (const YAML::Node& source : {base, changes}) {
    if (!source.IsDefined() || !source.IsMap()) continue;
    for (const auto& pair : source) merged[pair.first.as<std::string>()] = pair.second;
  }
  Words words(merged, where);
  PeerSettings s;
  PrivateData d;
  d.send = words.get<std::uint32_t>("send", 4096);
  d.receive = words.get<std::uint32_t>("receive", 4096);
  d.invalidate = words.get<bool>("invalidate", true);
  d.version = words.get<std::uint8_t>("version", 1);
  d.reserved = words.get<std::uint8_t>("reserved", 0);
  const auto offset = words.get<std::size_t>("offset", 0);
  const auto raw = words.maybe<std::string>("private_data");
  if (!raw) {
    s.data = Pen().zeros(offset).add(encode(d)).take();
  } else if (*raw != "none") {
    s.data = Pen().zeros(offset).add(from_hex(*raw)).take();
  }
  s.depths.responder_resources = words.get<std::uint32_t>("responder_resources", s.depths.responder_resources);
  s.depths.initiator_depth = words.get<std::uint32_t>("initiator_depth", s.depths.initiator_depth);
  s.depths.rnr_retry = words.get<std::uint32_t>("rnr_retry", s.depths.rnr_retry);
  s.mpa = mpa;
  s.mpa.revision = words.get<std::uint8_t>("mpa_revision", mpa.revision);
  s.mpa.crc = words.get<bool>("mpa_crc", mpa.crc);
  s.mpa.markers = words.get<bool>("mpa_markers", mpa.markers);
  s.credits = words.get<std::uint32_t>("credits", s.credits);
  words.done();
  return s;
}

Beginnings beginnings(bool wrap) {
  if (!wrap) return {};
  return {0xFFFFFD, 0xFFFFFE, 0xFFFFFF00, 0xFFFFFF80};
}

Handshake handshake_of(const PeerSettings& client, const PeerSettings& server, std::uint16_t port) {
  Handshake h;
  h.port = port;
  h.client_data = client.data;
  h.server_data = server.data;
  h.client_depths = client.depths;
  h.server_depths = server.depths;
  return h;
}

}  // namespace

Story::Story(const Scenario& scenario, const Fabric& fabric, Film& film, unsigned number)
    : scenario_(scenario),
      fabric_(fabric),
      film_(film),
      network_(fabric.link),
      number_(number),
      next_xid_{0x20000001 + 0x1000 * number, 0x70000001 + 0x1000 * number} {}

void Story::play() {
  for (const Step& step : scenario_.steps) {
    try {
      play(step);
    } catch (const YAML::Exception& e) {
      throw Mistake(step.where + ": " + e.what());
    } catch (const Mistake& e) {
      const std::string text = e.what();
      throw Mistake(text.rfind(step.where, 0) == 0 ? text : step.where + ": " + text);
    }
  }
  for (Shot& shot : film_.shots) {
    shot.snap = scenario_.settings.snap;
    if (shot.part == noise_part) continue;
    if (scenario_.settings.only) shot.captured = shot.captured && shot.from == *scenario_.settings.only;
  }
  if (scenario_.settings.sample != 0) sample();
}

void Story::play(const Step& step) {
  using Verb = void (Story::*)(const Step&, Words&);
  struct Entry {
    Verb play;
    const char* main;
  };
  static const std::map<std::string, Entry> verbs{
      {"connect", {&Story::connect, ""}},
      {"attempt", {&Story::attempt, "answer"}},
      {"exchange", {&Story::exchange, "times"}},
      {"call", {&Story::call, ""}},
      {"reply", {&Story::reply, ""}},
      {"read", {&Story::read, "by"}},
      {"respond", {&Story::respond, "step"}},
      {"write", {&Story::write, "by"}},
      {"atomic", {&Story::atomic, "by"}},
      {"done", {&Story::done, "by"}},
      {"error", {&Story::error, "by"}},
      {"send", {&Story::send_raw, "by"}},
      {"v2-call", {&Story::call, ""}},
      {"v2-reply", {&Story::reply, ""}},
      {"v2-rest", {&Story::rest, "count"}},
      {"v2-grant", {&Story::grant, "by"}},
      {"v2-properties", {&Story::properties, "by"}},
      {"v2-error", {&Story::refusal, "by"}},
      {"v2-message", {&Story::message, "by"}},
      {"refuse", {&Story::refuse, "step"}},
      {"retransmit", {&Story::retransmit, "step"}},
      {"disconnect", {&Story::disconnect, "by"}},
      {"keep-alive", {&Story::keep_alive, "by"}},
      {"window", {&Story::window, "octets"}},
      {"noise", {&Story::noise, "frames"}},
      {"ping", {&Story::ping, "times"}},
      {"nfs-over-tcp", {&Story::nfs_over_tcp, "frames"}},
  };
  film_.step = step.label;
  current_ = step.connection ? *step.connection - 1 : lines_.size() - (lines_.empty() ? 0 : 1);
  const std::size_t first = film_.shots.size();
  if (!lines_.empty()) line().wire->spoil = step.spoiled;

  if (step.verb == "swap") {
    const auto names = step.arguments.as<std::vector<std::string>>();
    if (names.size() != 2) throw Mistake("swap names two steps");
    film_.swap(names[0], names[1]);
    return;
  }
  const auto entry = verbs.find(step.verb);
  const std::string main = entry != verbs.end()                          ? entry->second.main
                           : step.verb == "wait" || step.verb == "clock" ? "seconds"
                                                                         : "by";
  Words words(step.arguments, step.where, main);
  if (entry != verbs.end()) {
    (this->*entry->second.play)(step, words);
  } else if (step.verb == "wait" || step.verb == "clock") {
    film_.wait(nanoseconds(words.need<double>("seconds")));
  } else if (step.verb == "acknowledge") {
    const Side by = words.side("by").value_or(Side::client);
    const auto before = words.get<std::string>("before", "");
    if (before.empty()) {
      line().wire->acknowledge(by);
    } else {
      line().wire->acknowledge_before(by, operation(before).op);
    }
  } else if (step.verb == "reset") {
    line().wire->reset(words.side("by").value_or(Side::client));
  } else if (step.verb == "ready") {
    line().wire->ready();
  } else if (step.verb == "reject") {
    line().wire->reject(words.side("by").value_or(Side::server), words.need<std::uint32_t>("reason"));
  } else if (step.verb == "terminate") {
    const Side by = words.side("by").value_or(Side::server);
    const auto layer = words.get<std::uint8_t>("layer", 0);
    const auto type = words.get<std::uint8_t>("type", 0);
    line().wire->terminate(by, layer, type, words.get<std::uint8_t>("code", 0));
  } else {
    throw Mistake("nobody knows how to '" + step.verb + "'");
  }
  words.done();
  lose_frames(step, first);
  if (step.mirrored) mirror_frames(first);
}

void Story::lose_frames(const Step& step, std::size_t first) {
  const auto at = [&](std::size_t i) -> Shot& { return film_.shots.at(first + i); };
  const std::size_t count = film_.shots.size() - first;
  for (std::size_t i = 0; i < count; ++i) {
    const bool part = std::find(step.lost_parts.begin(), step.lost_parts.end(), at(i).part) != step.lost_parts.end();
    if (step.all_lost || part) at(i).captured = false;
  }
  for (const std::size_t number : step.lost) {
    if (number == 0 || number > count) throw Mistake("the step has " + std::to_string(count) + " frames");
    at(number - 1).captured = false;
  }
}

/// A mirror that cannot keep up: every so many-th frame of either side is missing, but for handshakes.
void Story::sample() {
  std::array<unsigned, 2> count{};
  for (Shot& shot : film_.shots) {
    if (shot.part == "handshake" || shot.part == noise_part) continue;
    if (++count.at(shot.from == Side::client ? 0 : 1) % scenario_.settings.sample == 0) shot.captured = false;
  }
}

/// A mirror port that sees each frame twice, a microsecond apart.
void Story::mirror_frames(std::size_t first) {
  std::vector<Shot> doubled;
  for (std::size_t i = first; i < film_.shots.size(); ++i) {
    doubled.push_back(film_.shots[i]);
    doubled.push_back(film_.shots[i]);
    doubled.back().time += 1000;
  }
  film_.shots.resize(first);
  film_.shots.insert(film_.shots.end(), doubled.begin(), doubled.end());
}

Story::Line& Story::line() {
  if (current_ >= lines_.size()) throw Mistake("there is no such connection yet");
  return lines_[current_];
}

const Story::Done& Story::operation(const std::string& name) {
  for (const Done& d : line().done) {
    if (d.label == name || d.label + "/" + d.part == name) return d;
  }
  throw Mistake("no operation belongs to '" + name + "'");
}

Stage Story::stage(unsigned number, std::uint8_t server) {
  return {film_,
          network_,
          Host::number(client_host, number_),
          Host::number(server, number_),
          number,
          number_,
          life_,
          scenario_.settings.mtu,
          beginnings(scenario_.settings.wrap),
          fabric_.odd_segments};
}

void Story::connect(const Step& step, Words& words) {
  const PeerSettings client =
      peer_settings(scenario_.client, words.node("client"), step.where + " client", fabric_.mpa);
  const PeerSettings server =
      peer_settings(scenario_.server, words.node("server"), step.where + " server", fabric_.mpa);
  Handshake h = handshake_of(client, server, words.get<std::uint16_t>("port", scenario_.settings.port));
  h.client_mpa = client.mpa;
  h.server_mpa = server.mpa;
  h.attempts = words.get<unsigned>("attempts", 1);
  h.every = nanoseconds(words.get<double>("every", 4));
  h.answered = words.get<bool>("answer", true);
  h.receipt = words.get<bool>("receipt", false);
  h.replies = words.get<unsigned>("replies", 1);
  h.ready = words.get<bool>("ready", true);
  h.ready_each = words.get<bool>("ready_each", false);
  h.ready_data = from_hex(words.get<std::string>("ready_data", ""));
  h.reject = words.maybe<std::uint32_t>("reject");
  const auto again = words.get<bool>("same_ports", false);
  const std::uint8_t host = words.get<bool>("second_address", false) ? server_second : server_host;

  life_ = again ? life_ + 1 : 0;
  if (!again) connection_ = static_cast<unsigned>(lines_.size());
  Line fresh;
  const Stage here = stage(connection_, host);
  fresh.wire = fabric_.iwarp ? make_iwarp_connection(here) : make_ib_connection(here);
  fresh.wire->spoil = step.spoiled;
  fresh.client_credits = client.credits;
  fresh.server_credits = server.credits;
  lines_.push_back(std::move(fresh));
  current_ = lines_.size() - 1;
  line().wire->open(h);
}

/// What becomes no connection: later steps and `connection: N` know nothing of it.
void Story::attempt(const Step& step, Words& words) {
  static const std::map<std::string, Knock> answers{
      {"none", Knock::unanswered},         {"acknowledged", Knock::acknowledged}, {"refused", Knock::refused},
      {"unreachable", Knock::unreachable}, {"accepted", Knock::accepted},         {"withdrawn", Knock::withdrawn}};
  constexpr std::uint8_t router_host = 3;
  constexpr unsigned apart = 0x80;  // its queue pairs and ports are no connection's
  const auto word = words.get<std::string>("answer", "none");
  const auto answer = answers.find(word);
  if (answer == answers.end()) throw Mistake("no answer to an attempt is called '" + word + "'");
  const PeerSettings client = peer_settings(scenario_.client, {}, step.where + " client", fabric_.mpa);
  const PeerSettings server = peer_settings(scenario_.server, {}, step.where + " server", fabric_.mpa);
  Handshake h = handshake_of(client, server, words.get<std::uint16_t>("port", scenario_.settings.port));
  h.attempts = words.get<unsigned>("copies", 1);
  h.every = nanoseconds(words.get<double>("every", 1));
  h.replies = words.get<unsigned>("replies", 1);
  if (words.get<bool>("by_router", false)) h.router = Host::number(router_host, number_);
  if (h.attempts == 0) throw Mistake("an attempt is made at least once");
  const Stage here = stage(apart + attempts_++, server_host);
  (fabric_.iwarp ? make_iwarp_connection(here) : make_ib_connection(here))->knock(h, answer->second);
  if (words.get<bool>("answer_first", false)) film_.swap_last();
}

void Story::disconnect(const Step& /*step*/, Words& words) {
  const Side by = words.side("by").value_or(Side::client);
  const auto answered = words.get<bool>("answer", true);
  if (words.get<bool>("of_another", false)) return line().wire->close_of_another(by);
  const bool answer_first = words.get<bool>("answer_first", false);
  if (answer_first && (fabric_.iwarp || !answered)) throw Mistake("no DREP can stand in front of its DREQ here");
  line().wire->close(by, answered, from_hex(words.get<std::string>("private_data", "")));
  if (answer_first) film_.swap_last();
}

void Story::retransmit(const Step& step, Words& words) {
  const Done what = operation(words.need<std::string>("step"));
  const auto times = words.get<unsigned>("times", 1);
  const auto every = words.get<double>("every", 0.5);
  for (unsigned i = 0; i < times; ++i) {
    if (i > 0) film_.wait(nanoseconds(every));
    line().wire->repeat(what.op);
    film_.shots.back().spoken = what.spoken && !fabric_.iwarp;  // decoders skip a segment that TCP repeats
  }
  if (words.get<bool>("received", true) && what.part != "read") acknowledge(step, other(what.by));
}

void Story::refuse(const Step& /*step*/, Words& words) {
  static const std::map<std::string, Refusal> kinds{{"sequence", Refusal::sequence},
                                                    {"rnr", Refusal::rnr},
                                                    {"invalid request", Refusal::invalid_request},
                                                    {"remote access", Refusal::remote_access},
                                                    {"remote operational", Refusal::remote_operational}};
  const auto word = words.get<std::string>("with", "remote access");
  const auto kind = kinds.find(word);
  if (kind == kinds.end()) throw Mistake("no refusal is called '" + word + "'");
  line().wire->refuse(operation(words.need<std::string>("step")).op, kind->second);
}

void Story::acknowledge(const Step& step, Side by) {
  if (step.acknowledged) line().wire->acknowledge(by);
}

}  // namespace forge
