# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile shapes: captures that make a careless judge slow, or make it keep much. Each takes a connection's class, a capture
and a size; what it writes grows with the size. A message of more than 1 MiB is not put together: at sixteen times their
size, those of one message stay below that."""
import collections
import random
import struct

from links import CLIENT, LINKS, Iwarp, Roce, address

C, S = 0, 1  # the sides
MSG, NOMSG, DONE, ERROR = 0, 1, 3, 4
SHAPES = {}


Shape = collections.namedtuple("Shape", "function size formats links short")


def shape(size, *formats, links=LINKS, short=False):
    """size: of the smallest capture; formats: reports beside JSON; short: part of every ./check."""
    def enter(function):
        SHAPES[function.__name__] = Shape(function, size, ("json", *formats), links, short)
        return function
    return enter


def words(*numbers):
    return struct.pack(f">{len(numbers)}I", *numbers)


def call(xid):
    return words(xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0)


def reply(xid):
    return words(xid, 1, 0, 0, 0, 0)


def segment(handle, length, offset):
    return struct.pack(">IIQ", handle, length, offset)


def header(xid, proc=MSG, reads=(), writes=(), answer=(), credits=128):
    """Read segments (position, segment), Write chunks and a Reply chunk as lists of segments."""
    return b"".join((words(xid, 1, credits, proc), *(words(1, position) + s for position, s in reads), words(0),
                     *(words(1, len(chunk)) + b"".join(chunk) for chunk in writes), words(0),
                     words(1, len(answer)) + b"".join(answer) if answer else words(0)))


def begin(link, capture, number=0, client=CLIENT):
    """A connection that is known to carry RPC-over-RDMA."""
    c = link(capture, number, client)
    c.send(C, header(1) + call(1))
    c.received(S)
    c.send(S, header(1) + reply(1))
    c.received(C)
    return c


def ask(c, xid, **lists):
    c.send(C, header(xid, **lists) + call(xid))
    c.received(S)


def answer(c, xid, **lists):
    c.send(S, header(xid, **lists) + reply(xid))
    c.received(C)


def reverse_call(c, xid, **lists):
    c.send(S, header(xid, **lists) + words(xid, 0, 2, 0x40000000, 1, 1, 0, 0, 0, 0))
    c.received(C)


# Thousands of segments under one handle.

@shape(16000, "text", short=True)
def segments_answered(link, capture, size):
    """in Calls of 200 that are answered"""
    c = begin(link, capture)
    chunk = [segment(7, 4, 16 * i) for i in range(200)]
    for xid in range(10, 10 + size // 200):
        ask(c, xid, writes=[chunk])
        answer(c, xid, writes=[chunk])


@shape(16000)
def segments_unused(link, capture, size):
    """in Calls of 250 that nobody answers"""
    c = begin(link, capture)
    for at in range(0, size, 250):
        ask(c, 10 + at, writes=[[segment(7, 4, 16 * (at + i)) for i in range(250)]])


@shape(4000, short=True)
def segments_written_backwards(link, capture, size):
    """in one Call, each written on its own, the last one first"""
    c = begin(link, capture)
    ask(c, 10, writes=[[segment(7, 4, 16 * i) for i in range(size)]])
    for i in reversed(range(size)):
        c.write(S, 7, 16 * i, b"abcd")
    c.received(C)


@shape(4000)
def segments_returned_short(link, capture, size):
    """in one Call, and the Reply returns the first half of them as unused"""
    c = begin(link, capture)
    ask(c, 10, writes=[[segment(7, 4, 16 * i) for i in range(size)]])
    answer(c, 10, writes=[[segment(7, 0 if i < size // 2 else 4, 16 * i) for i in range(size)]])


@shape(2500, short=True)
def segments_to_read(link, capture, size):
    """in the Read list of one Call, none of them read"""
    c = begin(link, capture)
    ask(c, 10, reads=[(48, segment(7, 4, 16 * i)) for i in range(size)])
    answer(c, 10)


@shape(2500)
def segments_read_backwards(link, capture, size):
    c = begin(link, capture)
    ask(c, 10, reads=[(48, segment(7, 4, 16 * i)) for i in range(size)])
    for i in reversed(range(size)):
        c.read(S, 7, 16 * i, b"abcd")
    answer(c, 10)


@shape(4000)
def segments_at_one_place(link, capture, size):
    """all begin there, each longer than the one before"""
    c = begin(link, capture)
    ask(c, 10, writes=[[segment(7, 4 * i + 4, 0) for i in range(size)]])
    for i in range(size):
        c.write(S, 7, 4 * i, b"abcd")
    answer(c, 10)


@shape(8000)
def chunks_of_nothing(link, capture, size):
    """Write chunks without segments, and a Reply that returns them"""
    c = begin(link, capture)
    ask(c, 10, writes=[[]] * size)
    answer(c, 10, writes=[[]] * size)


# Calls of 4 KiB that are open at once, and RDMA Writes into them.

def open_calls_written(link, capture, size, handle_of):
    c = begin(link, capture)
    calls = size // 240
    for x in range(calls):
        c.send(C, header(10 + x, writes=[[segment(handle_of(x), 4, 16 * (240 * x + i)) for i in range(240)]]) + call(10 + x))
    c.received(S)
    for i in range(20):
        for x in range(calls):
            c.write(S, handle_of(x), 16 * (240 * x + i), b"abcd")


@shape(9600, "text", short=True)
def open_calls_of_one_handle(link, capture, size):
    open_calls_written(link, capture, size, lambda x: 7)


@shape(9600)
def open_calls_of_their_handles(link, capture, size):
    open_calls_written(link, capture, size, lambda x: 0x1000 + x)


@shape(2000)
def open_calls(link, capture, size):
    """none of them answered"""
    c = begin(link, capture)
    for x in range(size):
        c.send(C, header(10 + x) + call(10 + x))
    c.received(S)


@shape(2000)
def calls_answered_backwards(link, capture, size):
    c = begin(link, capture)
    for x in range(size):
        c.send(C, header(10 + x) + call(10 + x))
    c.received(S)
    for x in reversed(range(size)):
        answer(c, 10 + x)


# What is refused, broken, repeated, missing.

@shape(2000, "text", "ndjson", short=True, links=(Roce,))
def refusals(link, capture, size):
    c = begin(link, capture)
    for x in range(size):
        c.send(C, header(10 + x) + call(10 + x))
        c.refuse(S)


@shape(500, "text", "ndjson", links=(Iwarp,))
def refused_connections(link, capture, size):
    for x in range(size):
        c = begin(link, capture, x)
        c.write(S, 99, 0, b"abcd")
        c.refuse(C)


@shape(4000)
def refused_by_rdma_error(link, capture, size):
    c = begin(link, capture)
    for x in range(size):
        ask(c, 10 + x)
        c.send(S, words(10 + x, 1, 128, ERROR, 2))


@shape(2000, "text", "ndjson")
def malformed(link, capture, size):
    """a Read list whose entries do not end"""
    c = begin(link, capture)
    for x in range(size):
        c.send(C, words(10 + x, 1, 32, MSG, 7, 0, 0))
        c.received(S)


@shape(4000)
def replies_without_calls(link, capture, size):
    c = begin(link, capture)
    for x in range(size):
        answer(c, 1000 + x)


@shape(8000)
def writes_nowhere(link, capture, size):
    """each under a handle of its own that nobody offered"""
    c = begin(link, capture)
    for x in range(size):
        c.write(S, 0x1000 + x, 16 * x, b"abcd")


@shape(8000)
def reads_nowhere(link, capture, size):
    """asked for, and never answered"""
    c = begin(link, capture)
    for x in range(size):
        c.ask(S, 0x1000 + x, 16 * x, 4)


@shape(8000)
def repeated(link, capture, size):
    """one Send, again and again"""
    c = begin(link, capture)
    octets = header(1000) + call(1000)
    c.send(C, octets)
    for _ in range(size):
        c.repeat(C, octets)


@shape(2000)
def holes(link, capture, size):
    """packets missing in front of each Send"""
    c = begin(link, capture)
    chance = random.Random(1)
    for x in range(size):
        c.lose(C, chance.randrange(1, 5000))
        c.send(C, header(1000 + x) + call(1000 + x))
        c.received(S)


@shape(2000)
def offers(link, capture, size):
    """Replies that are to be read, and never are"""
    c = begin(link, capture)
    for x in range(size):
        ask(c, 1000 + x)
        c.send(S, header(1000 + x, NOMSG, reads=[(0, segment(100 + x, 400, 16 * x))]))
        c.received(C)


@shape(2000)
def probes_of_version_2(link, capture, size):
    c = begin(link, capture)
    for x in range(size):
        c.send(C, words(1000 + x, 2, 32, 0, 0, 0, 0) + call(1000 + x))
        c.received(S)


# A message that cannot be told yet, and what happens meanwhile.

@shape(2500, short=True)
def held_to_be_told(link, capture, size):
    """a Reply that is to be read, without its Call, in `size` segments, and RDMA Writes into memory that it does not name"""
    c = begin(link, capture)
    c.send(S, header(10, NOMSG, reads=[(0, segment(7, 4, 16 * i)) for i in range(size)]))
    for i in range(size):
        c.write(C, 9, 16 * i, b"abcd")


@shape(2500, short=True)
def held_to_be_pulled(link, capture, size):
    """an RDMA_NOMSG of `size` Read segments while its XID is open, and as many Reads that may belong to it"""
    c = begin(link, capture)
    reverse_call(c, 10)
    c.send(C, header(10, NOMSG, reads=[(0, segment(9, 4, 16 * i)) for i in range(size)]))
    c.received(S)
    for i in range(size):
        c.ask(S, 8, 16 * i, 4)


@shape(4000, short=True)
def held_with_another_reply_chunk(link, capture, size):
    """the same with Reply chunks: the one given back, or another?"""
    c = begin(link, capture)
    reverse_call(c, 10, answer=[segment(7 + i, 4, 16 * i) for i in range(size)])
    c.send(C, header(10, NOMSG, reads=[(0, segment(9, 4, 0))], answer=[segment(0x1000000 + i, 4, 16 * i) for i in range(size)]))
    c.received(S)


# Keys that meet in one bucket of a hash table whose hash is the number itself: the number of buckets is one of a few primes.

def bucket_prime(count):
    for prime in (127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933):
        if prime > count:
            return prime
    raise ValueError("too many")


@shape(2000, short=True)
def xids_of_one_bucket(link, capture, size):
    c = begin(link, capture)
    step = bucket_prime(size)
    for x in range(size):
        c.send(C, header(step * (x + 1)) + call(step * (x + 1)))
    c.received(S)
    for x in range(size):
        answer(c, step * (x + 1))


@shape(200)
def handles_of_one_bucket(link, capture, size):
    """invalidated, and offered again; kept by registration, which is what stands above the low octet"""
    c = begin(link, capture)
    step = bucket_prime(size)
    handles = [(step * (x + 1) & 0xFFFFFF) << 8 for x in range(size)]
    for x, handle in enumerate(handles):
        ask(c, 10 + x, writes=[[segment(handle, 4, 0)]])
        c.send_and_invalidate(S, handle, header(10 + x, writes=[[segment(handle, 4, 0)]]) + reply(10 + x))
        c.received(C)
    for x in range(size):
        chunk = [segment(handles[(x + i) % size], 4, 0) for i in range(20)]
        ask(c, 10 + size + x, writes=[chunk])
        answer(c, 10 + size + x, writes=[chunk])


# Connections.

@shape(500, "text", "ndjson", "junit", short=True)
def connections(link, capture, size):
    """as many as there are, all open, each broken once"""
    for x in range(size):
        c = link(capture, x)
        c.send(C, header(1) + call(1))
        c.received(S)
        c.send(S, header(2) + reply(2))
        c.send(C, words(3, 1, 32, MSG, 7, 0, 0))


@shape(2000, "ndjson", "junit")
def connections_of_many_clients(link, capture, size):
    for x in range(size):
        begin(link, capture, 0, address(x))


@shape(2000, links=(Iwarp,), short=True)
def connections_one_after_the_other(link, capture, size):
    """each closed before the next begins"""
    for x in range(size):
        c = begin(link, capture, x)
        c.finish()


@shape(500, links=(Iwarp,), short=True)
def closed_mounts(link, capture, size):
    """as connections_one_after_the_other, each of another client"""
    for x in range(size):
        begin(link, capture, 0, address(x)).finish()


@shape(100)
def connections_that_go_on(link, capture, size):
    """all of them open, in turn"""
    all_of_them = [begin(link, capture, x) for x in range(size)]
    for turn in range(10):
        for c in all_of_them:
            ask(c, 10 + turn)
            answer(c, 10 + turn)
