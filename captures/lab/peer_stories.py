# SPDX-License-Identifier: GPL-2.0-or-later
"""What the peers of peers/ play, against each other or against the kernel's server. What they print is the truth file."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def stories():
    """peers/stories.txt: NAME, a tab, what is true; indented lines go on with it."""
    found = {}
    with open(os.path.join(HERE, "peers", "stories.txt"), encoding="utf-8") as handle:
        for line in handle:
            if line.strip() and not line.startswith("#"):
                name, text = line.rstrip("\n").split("\t")
                found[name] = text
    return found


STORIES = stories()


def play(lab, out, name):
    """NAME is lpeer-STORY (version 1) or v2-lab-STORY; a story of the kernel's server needs no peer there."""
    capture = f"{lab.link}-{name}"
    lab.record(capture)
    kernel = "linux" in name
    port = 20049 if kernel else 20100
    if not kernel:
        lab.server.run(f"""/share/peer server {port} {name} >/run/peer.log 2>&1 &
echo $! >/run/peer.pid
until grep -q listening /run/peer.log; do sleep 0.1; done""")
    # A broken connection is a result, too: the status says nothing.
    lab.client.run(f"timeout 120 /share/peer client 192.168.77.1 {port} {name}", accept=None)
    if not kernel:
        lab.server.run("""for i in $(seq 80); do kill -0 $(cat /run/peer.pid) 2>/dev/null || break; sleep 0.1; done
kill $(cat /run/peer.pid) 2>/dev/null && echo "the server had to be ended"
cat /run/peer.log""")
    lab.stop(capture)
    with open(os.path.join(out, "truth", f"{capture}.txt"), "w", encoding="utf-8") as handle:
        handle.write("\n".join(lab.lines) + "\n")
    return capture, STORIES[name]
