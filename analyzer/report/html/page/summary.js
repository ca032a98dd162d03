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
    if (f.connections.length > 1) {
      where.push(["connections ", f.connections.slice(0, 12).map((id, i) => [i > 0 ? ", " : "", el("a", { href: `#connection-${id}` }, Text.fact(`${path}.connections.${i}`))]),
        f.connections.length > 12 ? ` and ${f.connections.length - 12} more` : ""]);
    } else if (f.connection !== null) {
      where.push(["connection ", el("a", { href: `#connection-${f.connection}` }, Text.fact(`${path}.connection`))]);
    }
    if (f.frames.length > 0) where.push([f.frames.length > 1 ? "frames " : "frame ", frames(path, f.frames)]);
    if (f.xid !== null) where.push(["XID ", Text.fact(`${path}.xid`)]);
    if (f.violator !== null) where.push(["by the ", Text.fact(`${path}.violator`), f.role === null ? "" : [" as ", Text.fact(`${path}.role`)]]);
    if (f.owes !== null && f.owes !== "nobody") where.push(["the next step is owed by: ", Text.fact(`${path}.owes`)]);
    if (f.occurrences > 1) where.push(["seen ", Text.fact(`${path}.occurrences`), " times"]);
    const known = f.connection !== null && Report.connections.some((c) => c.id === f.connection);
    return el("article", { class: `finding ${f.severity} ${f.kind}`, id: `finding-${index}` },
      el("div", { class: "finding-head" }, badge(f.severity), f.kind === "symptom" ? el("span", { class: "kind" }, "symptom") : null, el("h3", {}, f.title), Links.button(`finding-${index}`), known && f.frames.length > 0 ? el("button", { class: "show", onclick: () => show(index) }, "Show in the ladder") : null),
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

  const kinds = { violation: "violations", symptom: "symptoms", habit: "habits", capture: "about the capture" };

  // Choices by rule and by kind; what they hide is counted.
  function chooser(all, changed) {
    const options = (word, values, name) => [el("option", { value: "" }, word), values.map(([value, count]) => el("option", { value }, `${name(value)} (${Text.grouped(count)})`))];
    const tally = (key) => {
      const counts = new Map();
      for (const i of all) counts.set(key(Report.findings[i]), (counts.get(key(Report.findings[i])) ?? 0) + 1);
      return [...counts].sort((x, y) => (x[0] < y[0] ? -1 : 1));
    };
    const rule = el("select", { id: "findings-rule", "aria-label": "findings of which rule", onchange: () => changed() }, options("every rule", tally((f) => f.rule), (r) => r));
    const kind = el("select", { id: "findings-kind", "aria-label": "findings of which kind", onchange: () => changed() }, options("every kind", tally((f) => f.kind), (k) => kinds[k] ?? k));
    const hidden = el("span", { class: "dim", id: "findings-hidden" });
    const admits = (i) => (rule.value === "" || Report.findings[i].rule === rule.value) && (kind.value === "" || Report.findings[i].kind === kind.value);
    const clear = () => { rule.value = ""; kind.value = ""; };
    return { element: el("p", { class: "choices" }, rule, " ", kind, " ", hidden), admits, clear, active: () => rule.value !== "" || kind.value !== "", hidden };
  }
  let filter = null;
  let redraw = () => {};
  // Everything is to be seen again: somebody follows a link.
  function unfiltered() {
    if (filter === null || !filter.active()) return;
    filter.clear();
    redraw();
  }

  function findings(show) {
    const all = Report.findings.map((f, i) => i).sort((a, b) => order[Report.findings[a].severity] - order[Report.findings[b].severity] || a - b);
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
    const body = el("div", {});
    if (all.length > 1) {
      filter = chooser(all, () => redraw());
      section.append(filter.element);
    }
    section.append(body);
    redraw = () => {
      const shown = filter === null ? all : all.filter(filter.admits);
      const grave = shown.filter((i) => Report.findings[i].severity !== "note");
      const notes = shown.filter((i) => Report.findings[i].severity === "note");
      body.replaceChildren();
      if (filter !== null) {
        filter.hidden.textContent = shown.length < all.length ? `${Text.counted(all.length - shown.length, "finding")} not listed` : "";
        if (filter.active()) say(`${Text.counted(shown.length, "finding")} listed`);
      }
      if (grave.length > 0) body.append(listed(grave, 20));
      else if (filter?.active()) body.append(el("p", { class: "dim" }, notes.length > 0 ? "Among these is no error and no warning." : "No finding is of this rule and this kind."));
      else body.append(el("p", { class: "card good" }, Report.connections.length > 0 || Report.mounts.length > 0 ? "No error and no warning." : "No connection of NFS over RDMA was found."));
      if (notes.length === 0) return;
      const details = el("details", { class: "notes" }, el("summary", {}, `${Text.counted(notes.length, "note")}: legal, but worth knowing`));
      details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1) details.append(listed(notes, 30));
      });
      body.append(details);
      if (filter?.active()) details.open = true;
    };
    redraw();
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
    const v = Report.verdict;
    const suffers = v.mount !== null && ["waiting", "down", "never-up"].includes(v.state);
    const worst = t.errors > 0 || suffers ? "error" : t.warnings > 0 || (v.mount !== null && v.state === "unknown") ? "warning" : Report.connections.length > 0 ? "good" : "note";
    return el("div", { class: `verdict ${worst}` },
      el("p", { class: "sentence" }, v.sentence === null ? Drawing.verdict : Text.fact("verdict.sentence")),
      v.mount === null ? null : el("p", { class: "where" }, Report.mounts.length > 1 ? "The worst of them: " : "", el("a", { href: `#mount-${v.mount}` }, "mount ", Text.fact("verdict.mount")), el("span", { class: "unseen" }, Text.fact("verdict.state"))),
      el("ul", { class: "totals" },
        [["errors", "errors", "error"], ["warnings", "warnings", "warning"], ["notes", "notes", "note"], ["connections", "connections", ""], ["rdma_messages", "messages", ""], ["frames", "frames", ""]]
          .map(([key, word, cls]) => el("li", { class: t[key] > 0 ? cls : "" }, el("strong", {}, Text.fact(`totals.${key}`)), " ", t[key] === 1 ? word.slice(0, -1) : word))));
  }

  return { head, findings, inputs, unchecked, badge, unfiltered };
})();
