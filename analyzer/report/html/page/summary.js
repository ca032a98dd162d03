// SPDX-License-Identifier: GPL-2.0-or-later
// The top of the page: the verdict, what was found (worst first), the captures, what could not be judged.
"use strict";

const Summary = (() => {
  const order = { error: 0, warning: 1, note: 2 };
  const symbol = { error: "✕", warning: "!", note: "i" };
  const badge = (severity) => el("span", { class: `badge ${severity}` }, `${symbol[severity]} ${severity}`);

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

  function frames(path, list) {
    return list.slice(0, 12).map((_, i) => [i > 0 ? ", " : "", Text.fact(`${path}.frames.${i}`)]).concat(list.length > 12 ? [` and ${list.length - 12} more`] : []);
  }

  function card(index, show) {
    const f = Report.findings[index];
    const path = `findings.${index}`;
    const [, explanation, evidence] = Drawing.rules[f.rule];
    const where = [];
    if (f.connection !== null) where.push(["connection ", Text.fact(`${path}.connection`)]);
    if (f.frames.length > 0) where.push([f.frames.length > 1 ? "frames " : "frame ", frames(path, f.frames)]);
    if (f.xid !== null) where.push(["XID ", Text.fact(`${path}.xid`)]);
    if (f.violator !== null) where.push(["by the ", Text.fact(`${path}.violator`), f.role === null ? "" : [" as ", Text.fact(`${path}.role`)]]);
    if (f.occurrences > 1) where.push(["seen ", Text.fact(`${path}.occurrences`), " times"]);
    const known = f.connection !== null && Report.connections.some((c) => c.id === f.connection);
    return el("article", { class: `finding ${f.severity}`, id: `finding-${index}` },
      el("div", { class: "finding-head" }, badge(f.severity), el("h3", {}, f.title), known && f.frames.length > 0 ? el("button", { class: "show", onclick: () => show(index) }, "Show in the ladder") : null),
      el("p", { class: "message" }, f.message),
      el("p", { class: "where" }, where.map((w, i) => [i > 0 ? " · " : "", w])),
      el("details", {}, el("summary", {}, "What it means, what proves it, what to do"),
        el("dl", {},
          el("dt", {}, "Rule"), el("dd", {}, el("code", {}, f.rule), " — ", f.source),
          el("dt", {}, "Meaning"), el("dd", {}, explanation),
          el("dt", {}, "Evidence"), el("dd", {}, evidence),
          el("dt", {}, "Next"), el("dd", {}, f.next),
          f.filter ? [el("dt", {}, "Wireshark"), el("dd", {}, copyable(f.filter, ""))] : null)));
  }

  function findings(show) {
    const all = Report.findings.map((f, i) => i).sort((a, b) => order[Report.findings[a].severity] - order[Report.findings[b].severity] || a - b);
    const grave = all.filter((i) => Report.findings[i].severity !== "note");
    const notes = all.filter((i) => Report.findings[i].severity === "note");
    const section = el("section", { id: "findings", "aria-labelledby": "findings-title" }, el("h2", { id: "findings-title" }, "What was found"));
    // A long list grows on demand, so that the page opens at once.
    const listed = (indices, first) => {
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
    };
    section.append(grave.length > 0 ? listed(grave, 20) : el("p", { class: "card good" }, Report.connections.length > 0 ? "No error and no warning." : "No connection of NFS over RDMA was found."));
    if (notes.length > 0) {
      const details = el("details", { class: "notes" }, el("summary", {}, `${Text.counted(notes.length, "note")}: legal, but worth knowing`));
      details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1) details.append(listed(notes, 30));
      });
      section.append(details);
    }
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

  function head() {
    const t = Report.totals;
    const worst = t.errors > 0 ? "error" : t.warnings > 0 ? "warning" : Report.connections.length > 0 ? "good" : "note";
    return el("div", { class: `verdict ${worst}` },
      el("p", { class: "sentence" }, Drawing.verdict),
      el("ul", { class: "totals" },
        [["errors", "errors", "error"], ["warnings", "warnings", "warning"], ["notes", "notes", "note"], ["connections", "connections", ""], ["rdma_messages", "messages", ""], ["frames", "frames", ""]]
          .map(([key, word, cls]) => el("li", { class: t[key] > 0 ? cls : "" }, el("strong", {}, Text.fact(`totals.${key}`)), " ", t[key] === 1 ? word.slice(0, -1) : word))));
  }

  return { head, findings, inputs, unchecked, badge };
})();
