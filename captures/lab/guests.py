# SPDX-License-Identifier: GPL-2.0-or-later
"""Two virtual machines with one network between them, that run what they are told and say how it went."""
import os
import select
import shlex
import socket
import subprocess
import time

BOOT_SECONDS = 600  # software emulation on a busy machine takes minutes
JOB_SECONDS = 300


def accelerator():
    """Software emulation: it is there and the same on every machine. LAB_ACCEL=kvm is faster where KVM works."""
    return os.environ.get("LAB_ACCEL") or "tcg"


class Guest:
    def __init__(self, who, cache, share, log):
        self.who, self.share, self.log = who, share, log
        self.jobs = 0
        self.lines = b""
        path = os.path.join(share, f"{who}.port")
        # No offloads: what tcpdump sees is what is on the wire, cut to the MTU and with its checksums.
        offloads = ",".join(f"{name}=off" for name in (
            "csum", "guest_csum", "gso", "guest_tso4", "guest_tso6", "guest_ufo", "host_tso4", "host_tso6", "host_ufo"))
        network = "stream,id=net,addr.type=unix,addr.path=" + os.path.join(share, "network")
        network += ",server=on" if who == "server" else ",server=off"
        mac = "52:54:00:77:00:0" + ("1" if who == "server" else "2")
        self.qemu = subprocess.Popen(
            ["nice", "qemu-system-x86_64", "-nodefaults", "-display", "none", "-no-reboot", "-M", "q35", "-accel", accelerator(),
             "-cpu", "host" if accelerator() == "kvm" else "max", "-smp", "1", "-m", "1024",
             "-kernel", os.path.join(cache, "vmlinuz"), "-initrd", os.path.join(cache, "initrd.img"),
             "-append", f"console=ttyS0 root=/dev/vda rw init=/sbin/lab-init lab.who={who} quiet net.ifnames=0 panic=-1",
             "-serial", "file:" + os.path.join(share, f"{who}.console"),
             "-drive", f"file={cache}/guest.img,format=raw,if=virtio,snapshot=on",
             "-netdev", network, "-device", f"virtio-net-pci,netdev=net,mac={mac},{offloads}",
             "-virtfs", f"local,path={share},mount_tag=share,security_model=none",
             "-device", "virtio-serial-pci", "-chardev", f"socket,id=port,path={path},server=on,wait=off",
             "-device", "virtserialport,chardev=port"],
            stdin=subprocess.DEVNULL)
        self.port = socket.socket(socket.AF_UNIX)
        limit = time.monotonic() + 60
        while True:
            try:
                self.port.connect(path)
                break
            except OSError:  # not there yet, or nobody listens yet
                if self.qemu.poll() is not None or time.monotonic() > limit:
                    self.off()
                    raise RuntimeError(f"qemu of the {who} did not start") from None
                time.sleep(0.05)

    def line(self, seconds):
        limit = time.monotonic() + seconds
        while b"\n" not in self.lines:
            ready, _, _ = select.select([self.port], [], [], max(0, limit - time.monotonic()))
            more = self.port.recv(4096) if ready else b""
            if not more:
                raise RuntimeError(f"the {self.who} does not answer; see {self.who}.console")
            self.lines += more
        line, self.lines = self.lines.split(b"\n", 1)
        return line.decode().split()

    def wait_until_up(self):
        if self.line(BOOT_SECONDS) != ["up", "0"]:
            raise RuntimeError(f"the {self.who} says something strange")

    def begin(self, script):
        """Starts a job; finish() has to follow before the next one."""
        self.jobs += 1
        name = f"{self.who}.job{self.jobs}"
        with open(os.path.join(self.share, name), "w", encoding="utf-8") as handle:
            handle.write(script + "\n")
        self.log(f"{self.who}$ " + script.replace("\n", "; "))
        self.port.sendall((name + "\n").encode())
        return name

    def finish(self, name, accept=(0,)):
        answer, status = self.line(JOB_SECONDS)
        if answer != name:
            raise RuntimeError(f"the {self.who} answers {answer}, but {name} was asked")
        with open(os.path.join(self.share, name + ".out"), encoding="utf-8", errors="replace") as handle:
            output = handle.read()
        for line in output.splitlines():
            self.log("  | " + line, stamp=False)
        if accept and int(status) not in accept:
            raise RuntimeError(f"{self.who}: status {status} from: {output.strip()[-400:]}")
        return output

    def run(self, script, accept=(0,)):
        return self.finish(self.begin(script), accept)

    def ends(self, seconds=JOB_SECONDS):
        """Waits until a job has switched the guest off."""
        try:
            self.qemu.wait(seconds)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"the {self.who} still runs") from None

    def alive(self):
        return self.qemu.poll() is None

    def off(self):
        if self.alive():
            try:
                self.port.sendall(b"off\n")
                self.qemu.wait(30)
            except (OSError, subprocess.TimeoutExpired):
                self.qemu.kill()
                self.qemu.wait()
        self.port.close()


class Lab:
    """Both guests with one kind of link, an NFS server on the one and nothing mounted on the other."""

    def __init__(self, link, cache, share):
        self.link, self.share = link, share
        self.lines = []
        self.guests = []
        self.spent = False  # a story has left the guests as nobody else wants them
        try:
            for who in ("server", "client"):
                self.guests.append(Guest(who, cache, share, self.log))
            self.server, self.client = self.guests
            for guest in self.guests:
                guest.wait_until_up()
                guest.run(LINK.format(kind=link))
            self.server.run(SERVER)
        except BaseException:
            self.off()
            raise

    def log(self, text, stamp=True):
        self.lines.append((f"[{time.time():.3f}] " if stamp else "") + text)

    def off(self):
        for guest in self.guests:
            if self.spent:
                guest.qemu.kill()  # who waits for a dead server never comes to its end
            guest.off()

    def record(self, name, also=""):
        """tcpdump in the client: only what the link carries and ALSO, so that no other talk of the guests is in the file."""
        ports = "udp port 4791" if self.link == "rxe" else "tcp port 20049 or tcp portrange 20100-20399"
        ports += also
        self.client.run(f"""tcpdump -Z root -i eth0 -s 0 -B 16384 -U -w /run/{name}.pcap {shlex.quote(ports)} 2>/run/tcpdump.log &
echo $! >/run/tcpdump.pid
until grep -q listening /run/tcpdump.log; do sleep 0.1; done""")

    def stop(self, name):
        said = self.client.run(f"""sleep 0.7
kill -INT $(cat /run/tcpdump.pid)
while kill -0 $(cat /run/tcpdump.pid) 2>/dev/null; do sleep 0.1; done
cp /run/{name}.pcap /share/{name}.pcap; rm -f /run/{name}.pcap
cat /run/tcpdump.log""")
        if "0 packets dropped by kernel" not in said:
            raise RuntimeError(f"{name}: tcpdump lost frames")


LINK = """set -e
modprobe -a {kind} ib_uverbs rdma_cm rdma_ucm rpcrdma 2>/dev/null || modprobe -a rdma_{kind} ib_uverbs rdma_cm rdma_ucm rpcrdma
rdma link add {kind}0 type {kind} netdev eth0
until rdma link show {kind}0/1 | grep -q ACTIVE; do sleep 0.1; done
uname -r
rdma link"""

SERVER = """set -e
mount -t tmpfs -o size=200M tmpfs /export
mount -t nfsd nfsd /proc/fs/nfsd
echo 10 >/proc/fs/nfsd/nfsv4leasetime; echo 10 >/proc/fs/nfsd/nfsv4gracetime
rpcbind -w || rpcbind
rpc.statd --no-notify || true
exportfs -o rw,no_root_squash,insecure,no_subtree_check,fsid=0 '192.168.77.0/24:/export'
rpc.mountd
rpc.nfsd --rdma=20049 8
echo Y >/proc/fs/nfsd/v4_end_grace
cat /proc/fs/nfsd/portlist"""
