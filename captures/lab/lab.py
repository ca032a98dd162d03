#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""lab.py --cache CACHE --out FOLDER [STORY...]: boots both guests once for each kind of link and records every story.

STORY is a story's name, or a part of one, with or without the link before it ("rxe-nfs3", "lpeer", "v2-lab-hello").
"""
import argparse
import os
import shutil
import signal
import sys
import tempfile
import time

import guests
import kernel_stories
import peer_stories

LINKS = ("rxe", "siw")
KINDS = (kernel_stories, peer_stories)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--list", action="store_true", help="say which stories there are, and do nothing")
    parser.add_argument("story", nargs="*")
    options = parser.parse_args()

    wanted = [(link, kind, name) for link in LINKS for kind in KINDS for name in kind.STORIES
              if not options.story or any(part in f"{link}-{name}" for part in options.story)]
    if options.list:
        print("\n".join(f"{link}-{name}" for link, _, name in wanted))
        return 0
    if not wanted:
        print("no such story; --list names them", file=sys.stderr)
        return 2
    os.makedirs(os.path.join(options.out, "truth"), exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))  # so that no guest stays behind
    rows, failed = [], []
    for link in LINKS:
        stories = [(kind, name) for of, kind, name in wanted if of == link]
        if stories:
            rows += play(link, stories, options, failed)
    with open(os.path.join(options.out, "STORIES.md"), "w", encoding="utf-8") as handle:
        handle.write("| file | what is true in it |\n|---|---|\n")
        handle.writelines(f"| {capture}.pcap | {text} |\n" for capture, text in rows)
    print(f"== {len(rows)} captures in {options.out}" + (f"; failed: {' '.join(failed)}" if failed else ""))
    return 1 if failed else 0


def keep_consoles(share, out):
    for who in ("server", "client"):
        shutil.copy(os.path.join(share, f"{who}.console"), out)


def booted(link, options, share):
    start = time.monotonic()
    for left in os.listdir(share):
        if left != "peer":
            os.remove(os.path.join(share, left))
    try:
        lab = guests.Lab(link, options.cache, share)
    except BaseException:
        keep_consoles(share, options.out)  # without guests there is nothing to record: give up
        raise
    print(f"== {link}: two guests are up after {time.monotonic() - start:.0f} s ({guests.accelerator()})", flush=True)
    return lab


def play(link, stories, options, failed):
    """Everything over one kind of link; a story that failed, or spent its guests, leaves a fresh pair to the next one."""
    rows, lab = [], None
    share = tempfile.mkdtemp(prefix="lab-")
    shutil.copy(os.path.join(options.cache, "peer"), share)
    try:
        for kind, name in stories:
            start = time.monotonic()
            if lab is None:
                lab = booted(link, options, share)
                start = time.monotonic()
            lab.lines.clear()
            try:
                capture, text = kind.play(lab, options.out, name)
                shutil.move(os.path.join(share, capture + ".pcap"), os.path.join(options.out, capture + ".pcap"))
                rows.append((capture, text))
                size = os.path.getsize(os.path.join(options.out, capture + ".pcap"))
                print(f"   {capture}: {size} octets, {time.monotonic() - start:.1f} s", flush=True)
                if lab.spent:
                    lab.off()
                    lab = None
            except (RuntimeError, OSError) as error:
                failed.append(f"{link}-{name}")
                print(f"   {link}-{name}: FAILED: {error}", flush=True)
                print("\n".join(lab.lines[-20:]), flush=True)
                keep_consoles(share, options.out)
                lab.off()
                lab = None
    finally:
        if lab is not None:
            lab.off()
        shutil.rmtree(share)
    return rows


if __name__ == "__main__":
    sys.exit(main())
