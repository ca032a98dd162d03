# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernels' own client and server are asked to do. A story is recorded with the tracepoints of both kernels."""
import os
import re

STORIES = {}
# What tests/differential compares, and how a connection or a call failed; nothing that comes once per receive buffer.
EVENTS = ["rpcrdma/" + name for name in (
    "xprtrdma_inline_thresh", "xprtrdma_op_connect", "xprtrdma_op_close", "xprtrdma_marshal", "xprtrdma_reply", "xprtrdma_cb_call",
    "xprtrdma_cb_reply", "xprtrdma_mr_reminv", "xprtrdma_reply_hdr_err", "xprtrdma_err_vers", "xprtrdma_err_chunk",
    "svcrdma_decode_rqst", "svcrdma_post_send", "svcrdma_post_reply_chunk", "svcrdma_wc_recv", "svcrdma_wc_read",
    "svcrdma_encode_wseg", "svcrdma_send_err")]
TRACES = {"client": re.compile(r"xprtrdma_"), "server": re.compile(r"svcrdma_")}


def story(versions):
    """A story for each of these NFS versions."""
    def keep(function):
        for version in versions:
            name = f"nfs{version.replace('.', '')}-lab-{function.__name__.replace('_', '-')}"
            STORIES[name] = (function, version)
        return function
    return keep


def mount(lab, version):
    lab.client.run(f"mount -t nfs -o rdma,port=20049,vers={version},nolock,sec=sys,actimeo=1 192.168.77.1:"
                   f"{'/export' if version == '3' else '/'} /mnt/nfs")


@story(["3", "4.1"])
def small_files(lab):
    """make a directory, write and read 16, 1500 and 5001 octets, rename, remove, df"""
    lab.client.run("""set -e; cd /mnt/nfs
mkdir d
echo 0123456789abcde >d/a; cat d/a
head -c 1500 /bin/bash >d/b; head -c 5001 /bin/bash >d/c
mv d/a d/e; rm d/b; ls d; df . >/dev/null
echo 3 >/proc/sys/vm/drop_caches; cksum d/c""")


@story(["3", "4.1"])
def large_files(lab):
    """one write of 20001 octets (its end is no multiple of four) and the same read again"""
    lab.client.run("""set -e; cd /mnt/nfs
head -c 20001 /bin/bash >big; sync big
echo 3 >/proc/sys/vm/drop_caches; cmp -n 20001 big /bin/bash""")


@story(["3", "4.1"])
def large_names(lab):
    """a symbolic link of 3900 octets made and read, a directory of 60 files with long names listed: calls and replies too long
    for the inline thresholds, so Position Zero Read chunks and Reply chunks"""
    lab.server.run("""mkdir -p /export/many
for i in $(seq 60); do : >/export/many/a-file-with-a-rather-long-name-so-that-few-fill-a-reply-$i; done""")
    lab.client.run("""set -e; cd /mnt/nfs
ln -s "$(head -c 3900 /dev/zero | tr '\\0' x)" far
echo 3 >/proc/sys/vm/drop_caches
readlink far | wc -c
ls many | wc -l""")


def trace_on(guest):
    guest.run(f"""cd /sys/kernel/tracing && echo >trace && echo 8192 >buffer_size_kb
for e in {' '.join(EVENTS)}; do [ ! -e events/$e/enable ] || echo 1 >events/$e/enable; done; echo 1 >tracing_on""")


def trace_off(lab, guest, out, name):
    guest.run(f"cd /sys/kernel/tracing && echo 0 >tracing_on && grep -v '^#' trace >/share/{name}.{guest.who}.raw; true")
    raw = os.path.join(lab.share, f"{name}.{guest.who}.raw")
    with open(raw, encoding="utf-8", errors="replace") as handle:
        lines = [" ".join(line.split()) for line in handle if TRACES[guest.who].search(line)]
    os.remove(raw)
    # TASK [CPU] FLAGS TIME: EVENT -> [CPU] TIME: EVENT
    lines = [re.sub(r"^.*?(\[\d+\]) \S+ (?=\d+\.\d+:)", r"\1 ", line) for line in lines]
    with open(os.path.join(out, "truth", f"{name}.{guest.who}.trace.txt"), "w", encoding="utf-8") as handle:
        handle.write("\n".join(lines) + "\n")


def play(lab, out, name):
    function, version = STORIES[name]
    capture = f"{lab.link}-{name}"
    lab.server.run("rm -rf /export/*")
    for guest in lab.guests:
        trace_on(guest)
    lab.record(capture)
    mount(lab, version)
    function(lab)
    lab.client.run(f"""sed -n '/fstype nfs/,$p' /proc/self/mountstats | grep -v ': 0 0 0 0 ' >/share/{capture}.mountstats.txt
umount /mnt/nfs""")
    lab.stop(capture)
    os.replace(os.path.join(lab.share, f"{capture}.mountstats.txt"), os.path.join(out, "truth", f"{capture}.mountstats.txt"))
    for guest in lab.guests:
        trace_off(lab, guest, out, capture)
    return capture, f"NFS {version}: {' '.join(function.__doc__.split())}"
