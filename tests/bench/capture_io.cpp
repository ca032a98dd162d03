// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture_io.hpp"

#include <pcap/pcap.h>

#include <array>
#include <stdexcept>

namespace bench {

std::vector<Frame> read_capture(const std::string& path) {
  std::array<char, PCAP_ERRBUF_SIZE> error{};
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> capture(
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error.data()), &pcap_close);
  if (!capture) throw std::runtime_error(path + ": " + error.data());
  if (pcap_datalink(capture.get()) != DLT_EN10MB) throw std::runtime_error(path + ": not an Ethernet capture");
  std::vector<Frame> frames;
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  while (pcap_next_ex(capture.get(), &header, &data) == 1) {
    if (header->caplen != header->len) throw std::runtime_error(path + ": holds truncated frames");
    Frame frame;
    frame.time = static_cast<std::int64_t>(header->ts.tv_sec) * 1'000'000'000 + header->ts.tv_usec;
    frame.octets.assign(data, data + header->caplen);
    frames.push_back(std::move(frame));
  }
  if (frames.empty()) throw std::runtime_error(path + ": no frames");
  return frames;
}

void Writer::Close::operator()(std::FILE* file) const noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): this is the owner letting go
  (void)std::fclose(file);
}

Writer::Writer(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {
  if (!file_) throw std::runtime_error(path + ": cannot be written");
  (void)std::setvbuf(file_.get(), nullptr, _IOFBF, 1U << 20U);
  const std::array<std::uint32_t, 6> header{0xa1b23c4d, 0x00040002, 0, 0, 262144, 1};
  put(header.data(), sizeof header);
}

void Writer::write(std::int64_t time, const std::vector<std::uint8_t>& octets) {
  const auto size = static_cast<std::uint32_t>(octets.size());
  const std::array<std::uint32_t, 4> header{static_cast<std::uint32_t>(time / 1'000'000'000),
                                            static_cast<std::uint32_t>(time % 1'000'000'000), size, size};
  put(header.data(), sizeof header);
  put(octets.data(), octets.size());
  ++frames_;
}

void Writer::put(const void* data, std::size_t size) {
  if (std::fwrite(data, 1, size, file_.get()) != size) throw std::runtime_error("the capture cannot be written");
}

void Writer::close() {
  if (std::fflush(file_.get()) != 0) throw std::runtime_error("the capture cannot be written");
  file_.reset();
}

}  // namespace bench
