// SPDX-License-Identifier: GPL-2.0-or-later
// What happened to each mount: its state, who has to move, what waits, and where the time went.
"use strict";

const Mounts = (() => {
  const words = {
    working: ["works", "good"], closed: ["closed in good order", "good"], waiting: ["hangs", "error"], down: ["down", "error"],
    "never-up": ["never came up", "error"], unknown: ["not known", "warning"],
  };
  const debtor = {
    nobody: "nobody", server: "the server", client: "the client", "server-unreachable": "the server, which cannot be reached",
    "client-unreachable": "the client, which cannot be reached", unknown: "not known",
  };
  const suffers = (mount) => ["waiting", "down", "never-up"].includes(mount.state);
  const rank = (mount) => (suffers(mount) ? 0 : mount.state === "unknown" ? 1 : 2);

  const badge = (state) => el("span", { class: `badge ${words[state][1]}` }, words[state][0]);
  const some = 12;
  const links = (at, list) => [list.slice(0, some).map((id, i) => [i > 0 ? ", " : "", el("a", { href: `#connection-${id}` }, Text.fact(`${at}.${i}`))]),
    list.length > some ? ` and ${Text.grouped(list.length - some)} more` : ""];

  function attempts(at, made) {
    const parts = [["established", "established"], ["refused", "refused"], ["unanswered", "not answered"]].filter(([key]) => made[key] > 0);
    return [Text.fact(`${at}.made`), parts.length > 0 ? ": " : "", parts.map(([key, word], i) => [i > 0 ? ", " : "", Text.fact(`${at}.${key}`), ` ${word}`])];
  }

  function operations(at, list) {
    if (list.length === 0) return null;
    const columns = [["calls", "Calls"], ["octets", "octets"], ["p50_us", "median µs"], ["pull_p50_us", "pull µs"], ["server_p50_us", "server µs"],
      ["push_p50_us", "push µs"], ["p99_us", "99 % µs"], ["max_us", "worst µs"]];
    return el("details", { open: list.length <= 8 }, el("summary", {}, `Where the time went, by operation (${list.length})`),
      el("div", { class: "scroll-x" }, el("table", { class: "plain" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "operation"), columns.map(([, word]) => el("th", { scope: "col" }, word)))),
        el("tbody", {}, list.map((operation, i) => el("tr", {}, el("td", {}, Text.fact(`${at}.${i}.name`)),
          columns.map(([key]) => el("td", { class: "n" }, Text.fact(`${at}.${i}.${key}`, "–")))))))),
      el("p", { class: "dim" }, "Pull: from the Call to the last RDMA Read of its data. Server: from there to the first packet of the answer. Push: RDMA Writes to the Reply. All as the tap saw them."));
  }

  function card(index) {
    const mount = Report.mounts[index];
    const at = `mounts.${index}`;
    const f = (path, unknown) => Text.fact(`${at}.${path}`, unknown);
    const rows = [];
    if (mount.since !== null) rows.push(["Since", ["frame ", el("a", { href: `#frame-${mount.since.frame}` }, f("since.frame"))]]);
    if (mount.owes !== "nobody") rows.push(["Owes the next step", [el("span", { class: "unseen" }, f("owes")), debtor[mount.owes]]]);
    if (mount.waiting !== null) {
      const oldest = mount.waiting.oldest;
      rows.push(["Waiting", [f("waiting.calls"), mount.waiting.calls === 1 ? " Call: " : " Calls, the oldest: ", oldest.operation === null ? "" : [f("waiting.oldest.operation"), " "],
        f("waiting.oldest.xid"), " (frame ", f("waiting.oldest.frame"), "), for ", f("waiting.oldest.seconds"), " s"]]);
    }
    if (mount.longest_wait !== null) {
      rows.push(["Longest wait", [f("longest_wait.seconds"), " s from Call to Reply: ", f("longest_wait.operation"), " (frame ", f("longest_wait.frame"), ", answered in frame ", f("longest_wait.reply_frame"), ")"]]);
    }
    rows.push(["Attempts to connect", attempts(`${at}.attempts`, mount.attempts)]);
    if (mount.nfs_over_tcp !== null) rows.push(["Over TCP", [f("nfs_over_tcp.frames"), " frames of NFS without RDMA, from frame ", f("nfs_over_tcp.first")]]);
    if (mount.connections.length > 0) rows.push([mount.connections.length === 1 ? "Connection" : "Connections", links(`${at}.connections`, mount.connections)]);
    if (mount.next !== null) rows.push(["Next", f("next")]);
    return el("article", { class: `card mount ${words[mount.state][1]}`, id: `mount-${mount.id}` },
      el("div", { class: "finding-head" }, badge(mount.state), el("h3", {}, "Mount ", f("id"), ": ", f("client", "unknown address"), " from ", f("server", "unknown address")), Links.button(`mount-${mount.id}`)),
      el("p", { class: "message" }, f("sentence")),
      el("span", { class: "unseen" }, f("state")),
      el("dl", { class: "pairs" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      operations(`${at}.operations`, mount.operations));
  }

  function section() {
    if (Report.mounts.length === 0) return null;
    const order = Report.mounts.map((_, i) => i).sort((a, b) => rank(Report.mounts[a]) - rank(Report.mounts[b]) || a - b);
    const box = el("section", { id: "mounts", "aria-labelledby": "mounts-title" }, el("h2", { id: "mounts-title" }, Report.mounts.length === 1 ? "The mount" : "The mounts"));
    const list = el("div", { class: "list" });
    box.append(list);
    const bad = order.filter((i) => rank(Report.mounts[i]) < 2);
    const first = bad.length > 0 ? bad : order.slice(0, 1);
    const rest = order.filter((i) => !first.includes(i));
    list.append(...first.map(card));
    if (rest.length > 0) {
      const details = el("details", { class: "notes" }, el("summary", {}, `${Text.counted(rest.length, "mount")} without trouble`));
      details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1) details.append(el("div", { class: "list" }, rest.map(card)));
      });
      box.append(details);
    }
    const left = Drawing.left_out.mounts;
    if (left > 0) box.append(el("p", { class: "dim" }, `${Text.counted(left, "further mount")} left out here; --json lists all of them.`));
    return box;
  }

  // Opened when somebody follows a link to a mount that is folded away.
  function unfold() {
    document.querySelectorAll("#mounts details.notes").forEach((d) => { d.open = true; d.dispatchEvent(new Event("toggle")); });
  }

  return { section, unfold, suffers };
})();
