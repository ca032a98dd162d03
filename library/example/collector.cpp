// SPDX-License-Identifier: GPL-2.0-or-later
// collector FILE.pcap | INTERFACE: each warning and error in a line as soon as it is certain, and what came of the
// mounts.
#include <cstdint>
#include <cstdio>

#include <pcap/pcap.h>
#include <rpcrdma/rpcrdma.hpp>

namespace {

void print(const rpcrdma::Finding& finding) {
  if (finding.severity == rpcrdma::Severity::note) return;
  std::printf("%s connection %u frame %llu: %s\n", finding.rule.c_str(), finding.connection,
              static_cast<unsigned long long>(finding.frames.empty() ? 0 : finding.frames.front()),
              finding.message.c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: collector FILE.pcap | INTERFACE\n"), 2;
  char error[PCAP_ERRBUF_SIZE] = "";
  pcap_t* capture = pcap_open_offline_with_tstamp_precision(argv[1], PCAP_TSTAMP_PRECISION_NANO, error);
  const bool file = capture != nullptr;
  if (!file) capture = pcap_open_live(argv[1], 65535, 1, 1000, error);
  if (capture == nullptr) return std::fprintf(stderr, "%s: %s\n", argv[1], error), 2;

  rpcrdma::Options options;
  options.on_finding = print;
  rpcrdma::Judge judge(options);
  pcap_pkthdr* header = nullptr;
  const u_char* octets = nullptr;
  auto status = rpcrdma::Status::ok;
  for (int got = 0; status == rpcrdma::Status::ok && (got = pcap_next_ex(capture, &header, &octets)) >= 0;) {
    if (got == 0) continue;  // nothing came in a second
    const std::int64_t fraction = static_cast<std::int64_t>(header->ts.tv_usec) * (file ? 1 : 1000);
    const int link = pcap_datalink(capture);
    status = judge.frame({header->ts.tv_sec * std::int64_t{1'000'000'000} + fraction,
                          link == DLT_RAW ? rpcrdma::raw_ip : static_cast<std::uint32_t>(link), octets, header->caplen,
                          header->len});
  }
  rpcrdma::Report report;
  if (status == rpcrdma::Status::ok) status = judge.finish(report);
  pcap_close(capture);
  if (status != rpcrdma::Status::ok) return std::fprintf(stderr, "%s\n", rpcrdma::text(status).data()), 2;
  std::printf("%s\n", report.sentence.c_str());
  return report.state == rpcrdma::State::down || report.state == rpcrdma::State::never_up ? 1 : 0;
}
