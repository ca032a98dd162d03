// SPDX-License-Identifier: GPL-2.0-or-later
// Input: which procedure (one octet), then a cut message. The message is read as a Call and as a Reply; what is read of
// it must stand first in what is read of it with fewer octets cut.
#include "wire/nfs_steps.hpp"

#include <array>

#include "fuzz_input.hpp"
#include "wire/nfs_files.hpp"

using rpcrdma::fuzz::require;
namespace wire = rpcrdma::wire;

namespace {

using wire::Protection;
constexpr std::array<wire::Asked, 8> procedures = {{{100003, 4, 1, Protection::none},
                                                    {100003, 4, 1, {}},
                                                    {100003, 4, 1, Protection::integrity},
                                                    {0x40000000, 1, 1, Protection::none},
                                                    {0x40000000, 4, 1, Protection::privacy},
                                                    {100003, 3, 6, Protection::none},
                                                    {100003, 3, 0, {}},
                                                    {100021, 4, 2, Protection::none}}};

template <class Steps>
void check(const Steps& steps, const rpcrdma::fuzz::CutMessage& input) {
  require(steps.steps.size() <= wire::steps_limit && steps.steps.size() <= steps.announced);
  if (steps.whole()) {
    require(steps.steps.empty() || steps.steps.size() == steps.announced);
    return;
  }
  require(steps.stopped->fault != wire::Fault::truncated || input.wire_length > input.octets.size());
  require(steps.stopped->offset <= input.octets.size() && !steps.stopped->field.empty());
}

/// Of the last step something may lack.
template <class Steps>
void check_beginning(const Steps& beginning, const Steps& more) {
  require(beginning.steps.size() <= more.steps.size());
  for (std::size_t i = 0; i < beginning.steps.size(); ++i) {
    require(beginning.steps[i].operation == more.steps[i].operation);
  }
}

void check_statuses(const wire::ReplySteps& beginning, const wire::ReplySteps& more) {
  require(!beginning.status || beginning.status == more.status);
  for (std::size_t i = 0; i < beginning.steps.size(); ++i) {
    require(beginning.steps[i].status == more.steps[i].status);
  }
}

/// What is told of files lies within the message.
void check_within(wire::Bytes told, wire::Bytes message) {
  require(told.empty() ||
          (told.data() >= message.data() && told.data() + told.size() <= message.data() + message.size()));
}

void check_files(wire::Bytes message, const wire::Asked& asked) {
  wire::FileCall call;
  wire::read_file_steps(message, call);
  for (const wire::FileStep& step : call.steps) {
    check_within(step.text, message);
    check_within(step.data, message);
  }
  wire::FileAnswers answers;
  wire::read_file_answers(message, asked, answers);
  std::size_t before = 0;
  for (const wire::FileAnswer& answer : answers) {
    require(answer.step >= before && answer.step < wire::steps_limit);
    before = answer.step;
    check_within(answer.handle, message);
    check_within(answer.data, message);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const wire::Asked& asked = procedures[data[0] % procedures.size()];
  const auto input = rpcrdma::fuzz::cut_message(data + 1, size - 1);
  const wire::Bytes half = input.octets.first(input.octets.size() / 2);

  wire::CallSteps call;
  wire::CallSteps call_beginning;
  wire::read_call_steps(input.octets, input.wire_length, {}, call);
  check(call, input);
  wire::read_call_steps(half, input.wire_length, {}, call_beginning);
  check_beginning(call_beginning, call);
  require(wire::leading_name(call).empty() == !call.asked);
  wire::NfsItems listed;
  wire::list_call_items(input.octets, input.wire_length, {}, listed);
  wire::read_call_steps(input.octets, input.wire_length, &listed, call);
  check(call, input);

  wire::ReplySteps reply;
  wire::ReplySteps reply_beginning;
  wire::read_reply_steps(input.octets, input.wire_length, asked, {}, reply);
  check(reply, input);
  wire::read_reply_steps(half, input.wire_length, asked, {}, reply_beginning);
  check_beginning(reply_beginning, reply);
  check_statuses(reply_beginning, reply);
  const std::array<std::uint64_t, 2> lengths{data[0], 4096};
  wire::list_reply_items(input.octets, input.wire_length, asked.program, asked.version, asked.procedure, lengths,
                         listed);
  wire::read_reply_steps(input.octets, input.wire_length, asked, &listed, reply);
  check(reply, input);
  check_files(input.octets, asked);
  return 0;
}
