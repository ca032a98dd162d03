# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernels' own client and server are asked to do. A story is recorded with the tracepoints of both kernels."""
import os
import re
import time

STORIES = {}
# What tests/differential compares, and how a connection or a call failed; nothing that comes once per receive buffer.
EVENTS = ["rpcrdma/" + name for name in (
    "xprtrdma_inline_thresh", "xprtrdma_op_connect", "xprtrdma_op_close", "xprtrdma_marshal", "xprtrdma_reply", "xprtrdma_cb_call",
    "xprtrdma_cb_reply", "xprtrdma_mr_reminv", "xprtrdma_reply_hdr_err", "xprtrdma_err_vers", "xprtrdma_err_chunk",
    "svcrdma_decode_rqst", "svcrdma_post_send", "svcrdma_post_reply_chunk", "svcrdma_wc_recv", "svcrdma_wc_read",
    "svcrdma_encode_wseg", "svcrdma_send_err")]
TRACES = {"client": re.compile(r"xprtrdma_"), "server": re.compile(r"svcrdma_")}


def story(versions, mounted=True):
    """A story for each of these NFS versions; one that does not begin MOUNTED sees to the mount itself."""
    def keep(function):
        for version in versions:
            name = f"nfs{version.replace('.', '')}-lab-{function.__name__.replace('_', '-')}"
            STORIES[name] = (function, version, mounted)
        return function
    return keep


def mount(version):
    """The command. Small WRITEs: several of them at once still make a small capture."""
    return (f"mount -t nfs -o rdma,port=20049,vers={version},nolock,sec=sys,actimeo=1,wsize=32768 192.168.77.1:"
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


@story(["4.1"], mounted=False)
def never_listened(lab, version):
    """nobody listens at the server's port: its machine refuses each attempt, and mount tries again for twenty seconds"""
    lab.server.run("echo 0 >/proc/fs/nfsd/threads")
    lab.client.run(f"timeout 20 {mount(version)}", accept=(32, 124))
    lab.server.run("rpc.nfsd --rdma=20049 8")


@story(["3"], mounted=False)
def call_lost(lab, version):
    """what the client's adapter sends as a Send is lost behind the capture, on its way into the server, for some seconds from the
    first on. Connections come up, the first Call (NULL) is repeated and never acknowledged, the client gives the connection up and
    sends the Call again on the next; the first that comes through is answered, and the mount works"""
    # The octet that says Send: of the BTH behind IP and UDP; of RDMAP behind IP, a TCP header with timestamps, MPA and DDP.
    send, seconds = {"rxe": ("17 0xff match ip dport 4791 0xffff match u8 0x04 0xff at 28", 10),  # a connection lasts four
                     "siw": ("6 0xff match ip dport 20049 0xffff match u8 0x43 0xff at 55", 58)}[lab.link]  # a minute
    lab.server.run(f"""set -e
tc qdisc add dev eth0 clsact
tc filter add dev eth0 ingress protocol ip u32 match ip protocol {send} action drop""")
    mounting = lab.client.begin(mount(version))
    lab.server.run(f"""until tc -s filter show dev eth0 ingress | grep -q 'dropped [1-9]'; do sleep 0.1; done
sleep {seconds}
tc qdisc del dev eth0 clsact""")
    lab.client.finish(mounting)
    lab.client.run("ls /mnt/nfs")


@story(["4.1"])
def port_closed(lab):
    """nfsd ends while the client reads a file each second: the server closes the connection, and from then on its machine refuses
    each attempt to connect again. The capture ends while it is so"""
    lab.client.run("""cd /mnt/nfs
echo 0123456789abcde >a
while :; do cat a; sleep 1; done >/dev/null 2>&1 &""")
    time.sleep(3)
    lab.server.run("echo 0 >/proc/fs/nfsd/threads")
    time.sleep(40)
    lab.spent = True


@story(["4.1"])
def server_killed(lab):
    """the server's machine is switched off while the client writes a large file, four WRITEs at once, over a link of 3 Mbit/s: no
    close, and no answer to anything any more, ARP included. The capture ends while the client still tries"""
    lab.server.begin("""until [ -e /export/big ] && [ "$(stat -c %s /export/big)" -ge 65536 ]; do :; done
echo b >/proc/sysrq-trigger""")
    lab.client.run("""tc qdisc add dev eth0 root tbf rate 3mbit burst 10kb latency 5s
dd if=/dev/zero of=/mnt/nfs/big bs=128k count=4096 oflag=direct >/dev/null 2>&1 &""")
    lab.server.ends()
    time.sleep(32)
    lab.spent = True


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
    function, version, mounted = STORIES[name]
    capture = f"{lab.link}-{name}"
    lab.server.run("rm -rf /export/*")
    for guest in lab.guests:
        trace_on(guest)
    lab.record(capture, " or arp")
    if mounted:
        lab.client.run(mount(version))
        function(lab)
    else:
        function(lab, version)
    lab.client.run(f"sed -n '/fstype nfs/,$p' /proc/self/mountstats | grep -v ': 0 0 0 0 ' >/share/{capture}.mountstats.txt; true")
    if not lab.spent:
        lab.client.run("! mountpoint -q /mnt/nfs || umount /mnt/nfs")
    lab.stop(capture)
    os.replace(os.path.join(lab.share, f"{capture}.mountstats.txt"), os.path.join(out, "truth", f"{capture}.mountstats.txt"))
    for guest in lab.guests:
        if guest.alive():
            trace_off(lab, guest, out, capture)
    return capture, f"NFS {version}: {' '.join(function.__doc__.split())}"
