// SPDX-License-Identifier: GPL-2.0-or-later
// The top of the page: the verdict, the mounts, what was found (worst first), the captures, what could not be judged.
"use strict";

const Summary = (() => {
  const order = { error: 0, warning: 1, note: 2 };
  const symbol = { error: "✕", warning: "!", note: "i" };
  const badge = (severity, words = severity) => el("span", { class: `badge ${severity}` }, `${symbol[severity]} ${words}`);

  function copyable(text, label) {
    const button = el("button", { class: "copy", onclick: async () => {
      try {
        await navigator.clipboard.writeText(text);
        say("copied");
        button.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(code);
      }
    } }, "copy");
    const code = el("code", {}, text);
    return el("span", { class: "copyable" }, label, " ", code, " ", button);
  }

  // --- what was found
  const kinds = {
    violation: ["§", "Violations: a sentence of a specification was broken"],
    symptom: ["◷", "Symptoms: what the user feels, whoever is to blame"],
    habit: ["~", "Habits: legal, but worth knowing"],
    capture: ["▤", "About the capture itself"],
  };
  const kindMark = (path, kind) => el("span", { class: `kind ${kind}`, title: kinds[kind][1] }, `${kinds[kind][0]} `, Text.fact(`${path}.kind`));

  function card(index, show) {
    const f = Report.findings[index];
    const path = `findings.${index}`;
    const [, explanation, evidence] = Drawing.rules[f.rule];
    const where = [];
    if (f.connections.length > 0) where.push(Text.connections(`${path}.connections`, f.connections));
    else if (f.connection !== null) where.push(["connection ", Text.connection(`${path}.connection`)]);
    if (f.frames.length > 0) where.push([f.frames.length > 1 ? "frames " : "frame ", Text.frames(`${path}.frames`, f.frames)]);
    if (f.xid !== null) where.push(["XID ", Text.fact(`${path}.xid`)]);
    if (f.violator !== null) where.push(["by the ", Text.fact(`${path}.violator`), f.role === null ? "" : [" as ", Text.fact(`${path}.role`)]]);
    if (f.owes !== null) where.push(["next step owed by: ", Text.fact(`${path}.owes`)]);
    // The same number by its two names.
    if (f.times > 1) where.push(["seen ", el("span", { "data-json": `${path}.occurrences` }, Text.fact(`${path}.times`)), " times"]);
    const known = f.frames.length > 0 && Data.placesOf(f).some((id) => Data.indexOf(id) >= 0);
    return el("article", { class: `finding ${f.severity} is-${f.kind}`, id: `finding-${index}` },
      el("div", { class: "finding-head" }, badge(f.severity), kindMark(path, f.kind), el("h3", {}, f.title),
        known ? el("button", { class: "show", onclick: () => show(index) }, "Show in the ladder") : null, Text.permalink(`#finding-${index}`, "this finding")),
      el("p", { class: "message" }, f.message),
      el("div", { class: "where" }, where.map((w, i) => [i > 0 ? " · " : "", w])),
      el("details", { class: "about" }, el("summary", {}, "What it means, what proves it, what to do"),
        el("dl", {},
          el("dt", {}, "Rule"), el("dd", {}, el("code", {}, f.rule), " — ", f.source),
          el("dt", {}, "Meaning"), el("dd", {}, explanation),
          el("dt", {}, "Evidence"), el("dd", {}, evidence),
          el("dt", {}, "Next"), el("dd", {}, f.next),
          f.filter ? [el("dt", {}, "Wireshark"), el("dd", {}, copyable(f.filter, ""))] : null)));
  }

  // A long list grows on demand, so that the page opens at once.
  function listed(indices, first, show) {
    const box = el("div", { class: "list" });
    let at = 0;
    const more = el("button", { class: "more", onclick: () => grow(50) });
    const grow = (n) => {
      more.remove();
      for (const end = Math.min(indices.length, at + n); at < end; ++at) box.append(card(indices[at], show));
      if (at < indices.length) {
        more.textContent = `Show ${Math.min(50, indices.length - at)} more of ${Text.grouped(indices.length - at)}`;
        box.append(more);
      }
    };
    grow(first);
    return box;
  }

  let allFindings = () => {};
  function findings(show) {
    const all = Report.findings.map((f, i) => i).sort((a, b) => order[Report.findings[a].severity] - order[Report.findings[b].severity] || a - b);
    const section = el("section", { id: "findings", "aria-labelledby": "findings-title" }, el("h2", { id: "findings-title" }, "What was found"));
    const filter = { rule: "", kind: "" };
    const body = el("div");
    const badges = el("p", { class: "badges", role: "status" });
    const tally = (key) => {
      const counts = new Map();
      for (const f of Report.findings) counts.set(f[key], (counts.get(f[key]) ?? 0) + 1);
      return [...counts].sort(([a], [b]) => a.localeCompare(b));
    };
    const select = (id, label, every, key) => el("select", { id, "aria-label": label, onchange: (e) => { filter[key] = e.target.value; apply(); } },
      el("option", { value: "" }, every), tally(key).map(([value, n]) => el("option", { value }, `${value} (${n})`)));
    const byRule = select("filter-rule", "Rule", "every rule", "rule");
    const byKind = select("filter-kind", "Kind of finding", "every kind", "kind");
    allFindings = () => {
      if (filter.rule === "" && filter.kind === "") return;
      filter.rule = filter.kind = byRule.value = byKind.value = "";
      apply();
    };

    function apply() {
      const shown = all.filter((i) => (filter.rule === "" || Report.findings[i].rule === filter.rule) && (filter.kind === "" || Report.findings[i].kind === filter.kind));
      const grave = shown.filter((i) => Report.findings[i].severity !== "note");
      const notes = shown.filter((i) => Report.findings[i].severity === "note");
      const filtered = shown.length < all.length;
      body.replaceChildren();
      if (grave.length > 0) body.append(listed(grave, 20, show));
      else if (filtered) body.append(el("p", { class: "dim" }, "No error and no warning among these."));
      else if (Report.connections.length === 0 && Report.mounts.length === 0) body.append(el("p", { class: "card good" }, "No connection of NFS over RDMA was found."));
      else body.append(el("p", { class: "card good" }, "No error and no warning."));
      if (notes.length > 0) {
        const details = el("details", { class: "notes" }, el("summary", {}, `${Text.counted(notes.length, "note")}: legal, but worth knowing`));
        details.addEventListener("toggle", () => {
          if (details.open && details.childElementCount === 1) details.append(listed(notes, 30, show));
        });
        body.append(details);
        if (filtered) {
          details.open = true;
          details.dispatchEvent(new Event("toggle"));
        }
      }
      // A badge counts all of its severity: also those that the filter hides and those that the page does not hold.
      badges.replaceChildren();
      for (const severity of Data.severities) {
        const total = Report.totals[`${severity}s`];
        if (total === 0) continue;
        const here = shown.filter((i) => Report.findings[i].severity === severity).length;
        add(badges, [badge(severity, `${Text.grouped(total)} ${severity}${total === 1 ? "" : "s"}`), here < total ? el("span", { class: "dim" }, ` ${Text.grouped(total - here)} of them not listed `) : " "]);
      }
    }
    apply();
    if (all.length > 1) section.append(el("div", { class: "sieve" }, byKind, byRule));
    section.append(badges, body);
    const left = Drawing.left_out.findings;
    if (left > 0) section.append(el("p", { class: "dim" }, `${Text.counted(left, "further finding")} left out here; --json lists all of them.`));
    return section;
  }

  function inputs() {
    const section = el("section", { id: "captures" }, el("h2", {}, "Captures"));
    section.append(el("div", { class: "scroll-x" }, el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, ["file", "format", "link types", "frames", "octets", "from", "cut short"].map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, Report.inputs.map((input, i) => el("tr", {},
        el("td", {}, Text.fact(`inputs.${i}.path`)), el("td", {}, Text.fact(`inputs.${i}.format`)), el("td", {}, input.link_types.join(", ")),
        el("td", { class: "n" }, Text.fact(`inputs.${i}.frames`)), el("td", { class: "n" }, Text.fact(`inputs.${i}.bytes`)),
        el("td", {}, Text.fact(`inputs.${i}.first_time`)),
        el("td", { class: "n" }, Text.fact(`inputs.${i}.truncated_frames`))))))));
    for (const [i, input] of Report.inputs.entries()) {
      if (input.dropped) {
        section.append(el("p", { class: "card warn" }, Text.fact(`inputs.${i}.path`), " says that frames had no room when they were captured: ", Text.fact(`inputs.${i}.dropped`), " or more."));
      }
      if (input.damaged !== null) {
        section.append(el("p", { class: "card warn" }, Text.fact(`inputs.${i}.path`), " is damaged at octet ", Text.fact(`inputs.${i}.damaged.offset`), ": ", Text.fact(`inputs.${i}.damaged.reason`)));
      }
    }
    return section;
  }

  function unchecked() {
    if (Report.unchecked.length === 0) return null;
    const reasons = new Map();
    for (const u of Report.unchecked) {
      const key = `${u.reason}${u.connection === null ? "" : ` (connection ${u.connection})`}`;
      if (!reasons.has(key)) reasons.set(key, []);
      reasons.get(key).push(u.rule);
    }
    const left = Drawing.left_out.unchecked;
    return el("section", { id: "unchecked" }, el("h2", {}, "What could not be judged"),
      el("details", {}, el("summary", {}, `${Text.counted(Report.unchecked.length, "rule")} not checked, and why`),
        el("ul", {}, [...reasons].map(([reason, rules]) => el("li", {}, reason, ": ", rules.map((r, i) => [i > 0 ? ", " : "", el("code", { title: Drawing.rules[r][0] }, r)]))))),
      left > 0 ? el("p", { class: "dim" }, `${Text.grouped(left)} more; --json lists all of them.`) : null);
  }

  // --- what happened to the mounts
  const suffers = (state) => state === "never-up" || state === "down" || state === "waiting";
  const gravity = (state) => (suffers(state) ? "error" : state === "unknown" ? "warning" : "good");
  const state = (path) => el("span", { class: `state ${gravity(Text.value(path))}` }, Text.fact(path));
  const owed = {
    "server": "its machine lives, its service has to move",
    "client": "the client has to move",
    "server-unreachable": "the server, or the path to it, is gone",
    "client-unreachable": "the client, or the path to it, is gone",
    "nobody": "all is done",
    "unknown": "this capture does not tell",
  };
  const after = (time) => (time === null ? "" : ` (${Text.since(Data.sinceBegin(time))})`);

  // The whole capture from left to right: connections that were up are bars, attempts that failed are crosses, a wait is hatched.
  function timeline(mount) {
    const end = Drawing.end;
    const wanted = new Set(mount.connections);
    const members = Report.connections.filter((c) => wanted.has(c.id) && c.opened.time !== null);
    if (end === null || end <= 0 || members.length === 0) return null;
    const percent = (ns) => `${(100 * Math.min(1, Math.max(0, ns / end))).toFixed(3)}%`;
    const lanes = [];
    const put = (cls, from, to, given, text) => {
      let lane = lanes.findIndex((busy) => busy <= from);
      if (lane < 0 && lanes.length < 5) lane = lanes.push(0) - 1;
      if (lane < 0) lane = 4;
      lanes[lane] = Math.max(to, from + end / 100);
      // For the eye; the table of connections has the same links for the keyboard.
      const mark = el("a", { class: cls, tabindex: "-1", ...given }, text);
      mark.style.left = percent(from);
      mark.style.width = cls === "failed" ? "" : percent(to - from);
      mark.style.top = `${lane * 16}px`;
      return mark;
    };
    const marks = members.map((c) => {
      const from = Data.sinceBegin(c.opened.time);
      const to = c.closed === null || c.closed.time === null ? end : Data.sinceBegin(c.closed.time);
      const given = { href: `#connection-${c.id}`, title: `connection ${c.id}: ${c.closed === null ? "open to the end" : c.closed.how}` };
      return Data.failed(c) ? put("failed", from, from, given, c.closed.how === "refused" ? "✕" : "?") : put(c.closed === null ? "up" : "up ended", from, to, given, "");
    });
    if (mount.waiting !== null) {
      const oldest = mount.waiting.oldest;
      marks.push(put("hang", Data.sinceBegin(oldest.time), end, { href: `#frame-${oldest.frame}`, title: `${oldest.operation || "a Call"} waits` }, ""));
    }
    const box = el("div", { class: "timeline", role: "img", "aria-label": `${Text.counted(members.length, "attempt")} over the time of the capture` }, marks);
    box.style.height = `${Math.max(1, lanes.length) * 16 + 2}px`;
    return el("div", {}, box, el("p", { class: "dim scale" }, el("span", {}, "+0 s"),
      el("span", {}, el("span", { class: "key-up" }, "▬"), " up  ", el("span", { class: "key-failed" }, "✕"), " refused  ", el("span", { class: "key-failed" }, "?"), " not answered  ", el("span", { class: "key-failed" }, "▨"), " waiting"),
      el("span", {}, `end of the capture, ${Text.since(end)}`)));
  }

  function times(mount, path) {
    if (mount.operations.length === 0) return null;
    const parts = [["pull_p50_us", "pull"], ["server_p50_us", "server"], ["push_p50_us", "push"]];
    const figures = ["calls", "octets", "p50_us", "p99_us", "max_us", ...parts.map(([key]) => key)];
    // Where something else is wrong, that comes first.
    const calm = Report.totals.errors + Report.totals.warnings === 0 && mount.operations.length <= 8;
    return el("details", { open: mount.state === "waiting" || calm }, el("summary", {}, `Where the time goes: ${Text.counted(mount.operations.length, "operation")}`),
      el("p", { class: "dim" }, "Microseconds, as this capture saw them. Pull: from the Call to the last RDMA Read for it. Server: from there to the first packet of its answer. Push: from the first RDMA Write to the Reply. Medians; the largest part stands out."),
      el("div", { class: "scroll-x" }, el("table", { class: "plain" },
        el("thead", {}, el("tr", {}, ["operation", "Calls", "octets", "median", "99 %", "worst", ...parts.map(([, word]) => word)].map((h, k) => el("th", { scope: "col", class: k > 0 ? "n" : undefined }, h)))),
        el("tbody", {}, mount.operations.map((o, i) => {
          const most = Math.max(...parts.map(([key]) => o[key] ?? 0));
          return el("tr", {}, el("td", {}, Text.fact(`${path}.${i}.name`)),
            figures.map((key) => el("td", { class: parts.some(([part]) => part === key) && most > 0 && o[key] === most ? "n most" : "n" }, Text.fact(`${path}.${i}.${key}`, "–"))));
        })))));
  }

  function mountCard(index) {
    const mount = Report.mounts[index];
    const at = `mounts.${index}`;
    const f = (path, unknown) => Text.fact(`${at}.${path}`, unknown);
    const frame = (path) => Text.frame(`${at}.${path}`);
    // What TCP took, and nobody asked for anything over: that was not left without an answer.
    const { unanswered, only_tcp: onlyTcp } = mount.attempts;
    const some = unanswered === onlyTcp ? [] : [["unanswered", "not answered"]];
    const tcp = ["only_tcp", some.length > 0 ? "of these went no further than TCP" : "went no further than TCP"];
    const attempts = [["established", "established"], ["refused", "refused"], ...some, tcp].filter(([key]) => mount.attempts[key] > 0);
    const pairs = [
      ["Since", mount.since === null ? null : ["frame ", frame("since.frame"), after(mount.since.time)]],
      ["Next step owed by", [f("owes"), el("span", { class: "dim" }, ` — ${owed[mount.owes]}`)]],
      ["Attempts", mount.attempts.made === 0 ? null : [f("attempts.made"), " to connect: ", attempts.map(([key, word], i) => [i > 0 ? ", " : "", f(`attempts.${key}`), ` ${word}`])]],
      ["Waiting", mount.waiting === null ? null : [f("waiting.calls"), mount.waiting.calls === 1 ? " Call" : " Calls", "; the oldest for ", f("waiting.oldest.seconds"), " s: ", f("waiting.oldest.operation"), " ", f("waiting.oldest.xid"), ", frame ", frame("waiting.oldest.frame"), after(mount.waiting.oldest.time)]],
      ["Longest wait", mount.longest_wait === null ? null : [f("longest_wait.seconds"), " s from Call to Reply: ", f("longest_wait.operation"), ", frames ", frame("longest_wait.frame"), " and ", frame("longest_wait.reply_frame")]],
      ["NFS over TCP", mount.nfs_over_tcp === null ? null : [f("nfs_over_tcp.frames"), " frames without RDMA, from frame ", f("nfs_over_tcp.first"), " on"]],
      ["Over", mount.connections.length === 0 ? null : Text.connections(`${at}.connections`, mount.connections)],
      ["Look at", mount.next === null ? null : f("next")],
    ];
    return el("article", { class: `card mount ${gravity(mount.state)}`, id: `mount-${mount.id}` },
      el("div", { class: "finding-head" }, state(`${at}.state`), el("h3", {}, "Mount ", f("id"), ": client ", f("client"), ", server ", f("server")), Text.permalink(`#mount-${mount.id}`, "this mount")),
      // One mount's sentence is what the page begins with.
      Report.mounts.length > 1 || Drawing.left_out_mounts > 0 ? el("p", { class: "message" }, f("sentence")) : null,
      timeline(mount),
      el("dl", { class: "pairs" }, pairs.filter(([, value]) => value !== null).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      times(mount, `${at}.operations`));
  }

  function mounts() {
    const all = Report.mounts;
    if (all.length === 0) return null;
    const left = Drawing.left_out_mounts;
    const works = (m) => m.state === "working" || m.state === "closed";
    const [fine, others] = [true, false].map((wanted) => all.map((m, i) => i).filter((i) => works(all[i]) === wanted));
    const fold = others.length > 0 && fine.length > 1 || fine.length > 3;
    return el("section", { id: "mounts" }, el("h2", {}, all.length === 1 && left === 0 ? "The mount" : "Mounts"),
      el("div", { class: "list" }, others.map(mountCard), fold ? null : fine.map(mountCard)),
      fold ? el("details", { class: "fine" }, el("summary", {}, `${Text.counted(fine.length, "mount")} that work or were closed in order`), el("div", { class: "list" }, fine.map(mountCard))) : null,
      left > 0 ? el("p", { class: "dim" }, `${Text.counted(left, "further mount")} left out here, those that work before others; --json lists all of them.`) : null);
  }

  function head() {
    const t = Report.totals;
    const v = Report.verdict;
    const told = v.sentence !== null;
    const worst = t.errors > 0 || told && suffers(v.state) ? "error" : t.warnings > 0 || told && v.state === "unknown" ? "warning" : Report.connections.length > 0 ? "good" : "note";
    return el("div", { class: `verdict ${worst}` },
      told ? el("p", { class: "sentence" }, Text.fact("verdict.sentence")) : null,
      told ? el("p", {}, state("verdict.state"), " ", el("a", { class: "jump", href: `#mount-${v.mount}` }, "mount ", Text.fact("verdict.mount")), el("span", { class: "dim" }, ` · ${Drawing.verdict}`))
        : el("p", { class: "sentence" }, Drawing.verdict),
      el("ul", { class: "totals" },
        [["errors", "errors", "error"], ["warnings", "warnings", "warning"], ["notes", "notes", "note"], ["connections", "connections", ""], ["rdma_messages", "messages", ""], ["frames", "frames", ""]]
          .map(([key, word, cls]) => el("li", { class: t[key] > 0 ? cls : "" }, el("strong", {}, Text.fact(`totals.${key}`)), " ", t[key] === 1 ? word.slice(0, -1) : word))));
  }

  return { head, mounts, findings, inputs, unchecked, badge, allFindings: () => allFindings() };
})();
