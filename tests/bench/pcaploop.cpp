// SPDX-License-Identifier: GPL-2.0-or-later
// pcaploop FILE: the least that reading a capture can cost. Reads each frame with libpcap and adds up the lengths.
#include <pcap/pcap.h>

#include <array>
#include <cstdint>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: pcaploop FILE\n", stderr);
    return 2;
  }
  std::array<char, PCAP_ERRBUF_SIZE> error{};
  pcap_t* capture = pcap_open_offline_with_tstamp_precision(argv[1], PCAP_TSTAMP_PRECISION_NANO, error.data());
  if (capture == nullptr) {
    std::fprintf(stderr, "pcaploop: %s\n", error.data());
    return 2;
  }
  std::uint64_t frames = 0;
  std::uint64_t octets = 0;
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  while (pcap_next_ex(capture, &header, &data) == 1) {
    ++frames;
    octets += header->caplen;
  }
  pcap_close(capture);
  std::printf("%llu frames, %llu octets\n", static_cast<unsigned long long>(frames),
              static_cast<unsigned long long>(octets));
  return 0;
}
