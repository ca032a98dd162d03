// SPDX-License-Identifier: GPL-2.0-or-later
// What Calls and Replies of NFSv3 (RFC 1813) and NFSv4 (RFC 7531, 5662, 7863) say of files: their handles, the names
// that lead to them, and their octets. Messages are whole, with what chunks held back in its place, and begin with the
// XID. Under RPCSEC_GSS with integrity they can be read, with privacy not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/bytes.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::wire {

/// One thing that a Call does with files, by what NFSv4 calls it. A procedure of NFSv3 is several of them: the handle
/// that it works on, then what it does there. Spans are into the message.
struct FileStep {
  enum class Kind : std::uint8_t {
    other,
    root,        ///< PUTROOTFH, PUTPUBFH
    handle,      ///< PUTFH
    name,        ///< LOOKUP, CREATE: goes from a directory to what has that name there
    open,        ///< OPEN: likewise; without a name it opens what it stands on
    get_handle,  ///< GETFH: the answer holds a handle
    read,
    write,
    save,      ///< SAVEFH
    restore,   ///< RESTOREFH
    elsewhere  ///< LOOKUPP, OPENATTR: goes where no name tells
  } kind = Kind::other;
  Bytes text;                ///< the handle or the name
  std::uint64_t offset = 0;  ///< of a READ or WRITE: into the file
  Bytes data;                ///< of a WRITE
};
struct FileCall {
  Asked asked;
  StepList<FileStep> steps;
};

/// What the Reply says to one of those steps that succeeded: a handle, octets of the file (of a READ_PLUS perhaps
/// several), or how many octets a WRITE wrote.
struct FileAnswer {
  std::size_t step = 0;  ///< which one
  Bytes handle;
  Bytes data;
  std::optional<std::uint64_t> offset;  ///< READ_PLUS: where the octets stand; else where the Call asked for them
  std::uint32_t written = 0;            ///< octets, of a WRITE
};
using FileAnswers = StepList<FileAnswer>;

/// No steps when the message is no Call of NFS, or of one that has nothing to do with files. What stands in front of a
/// place that cannot be read is told.
void read_file_steps(Bytes message, FileCall& out);
/// The Reply to such a Call.
void read_file_answers(Bytes message, const Asked& asked, FileAnswers& out);

/// The file handle with which the arguments of a procedure of NFSv3 begin (RFC 1813 section 2.3.3: at most 64 octets),
/// without its pad. nullopt: that is not all there.
[[nodiscard]] std::optional<Bytes> leading_handle3(Bytes arguments) noexcept;

}  // namespace rpcrdma::wire
