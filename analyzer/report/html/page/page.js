// SPDX-License-Identifier: GPL-2.0-or-later
// Puts the page together: what is searched, the table of connections, where links lead.
"use strict";

const Search = (() => {
  const MOST = 40;
  const words = (...parts) => parts.filter((p) => p !== null && p !== undefined).join(" ").toLowerCase();
  const rulesAt = new Map();
  for (const f of Report.findings) {
    for (const id of Data.placesOf(f)) {
      if (!rulesAt.has(id)) rulesAt.set(id, new Set());
      rulesAt.get(id).add(f.rule);
    }
  }
  const operationsOf = (c) => c.procedures.flatMap((p) => [p.name, ...Object.keys(p.operations)]);
  const ofConnection = (c) => words(`connection ${c.id}`, c.transport, Text.endpoint(c.client), Text.endpoint(c.server), c.closed === null ? "open" : c.closed.how, ...operationsOf(c), ...(rulesAt.get(c.id) ?? []));

  // The Calls of each operation, where the first of them is.
  function callsOf(c, index) {
    const { rows: r } = Data.connection(index);
    const calls = new Map();
    for (let i = 0; i < r.count; ++i) {
      if (r.kind[i] !== Data.K.call || r.operation[i] === 0) continue;
      const known = calls.get(r.operation[i]);
      if (known === undefined) calls.set(r.operation[i], { first: i, count: 1 });
      else ++known.count;
    }
    return [...calls].map(([operation, { first, count }]) => ({ href: `#frame-${r.frame[first]}`, label: `${Drawing.texts[operation]}: ${Text.counted(count, "Call")}${r.leftOut > 0 ? " or more" : ""} on connection ${c.id}, the first in frame ${r.frame[first]}`,
      text: words(Drawing.texts[operation], Drawing.texts[r.procedure[first]], "calls") }));
  }

  // What can be found by words; made when somebody searches for the first time.
  let index = null;
  const made = () => (index ??= [
    ...Report.findings.map((f, i) => ({ href: `#finding-${i}`, label: `${f.kind} ${f.rule}: ${f.message}`, text: words(f.rule, f.kind, f.severity, f.title, f.message, f.xid, f.owes) })),
    ...Report.mounts.map((m) => ({ href: `#mount-${m.id}`, label: `mount ${m.id}: ${m.client} → ${m.server}, ${m.state}`, text: words(`mount ${m.id}`, m.client, m.server, m.state, m.owes, ...m.operations.map((o) => o.name)) })),
    ...Report.connections.map((c) => ({ href: `#connection-${c.id}`, label: `connection ${c.id}: ${Text.endpoint(c.client)} → ${Text.endpoint(c.server)}`, text: ofConnection(c) })),
    ...Report.connections.flatMap((c, i) => callsOf(c, i)),
    ...Report.unchecked.map((u) => ({ href: "#unchecked", label: `not checked: ${u.rule}: ${u.reason}`, text: words("not checked", u.rule, u.reason) })),
  ]);
  // Frames by number, messages by XID.
  function rows(query) {
    const out = [];
    const number = Number(query);
    if (/^\d{1,15}$/.test(query) && Page.rowOf(number) !== null) out.push({ href: `#frame-${number}`, label: `frame ${number}` });
    if (!/^0x[0-9a-f]{1,8}$/.test(query)) return out;
    for (let c = 0; c < Report.connections.length; ++c) {
      const { rows: r } = Data.connection(c);
      for (let i = 0; i < r.count && out.length <= MOST; ++i) {
        if (r.xid[i] === number && Data.isMessage(r.kind[i])) out.push({ href: `#frame-${r.frame[i]}`, label: `frame ${r.frame[i]}, connection ${Report.connections[c].id}: ${Data.label(r, i).join(" ")}` });
      }
    }
    return out;
  }
  const results = el("div", { id: "results", role: "status" });
  function search(text) {
    const query = text.trim().toLowerCase();
    results.replaceChildren();
    if (query === "") return;
    const parts = query.split(/\s+/);
    const hits = [...rows(query), ...made().filter((entry) => parts.every((part) => entry.text.includes(part)))];
    if (hits.length === 0) {
      results.append(el("p", { class: "card" }, `Nothing matches “${text.trim()}”.`));
      return;
    }
    results.append(el("div", { class: "card" }, el("p", { class: "dim" }, `${Text.counted(hits.length, "place")}${hits.length > MOST ? `, the first ${MOST} of them` : ""}`),
      el("ul", {}, hits.slice(0, MOST).map(({ href, label }) => el("li", {}, el("a", { class: "jump", href }, label))))));
  }
  const input = el("input", { type: "search", id: "search", size: 26, placeholder: "Search: READ, rule, XID, frame", "aria-label": "Search procedures, operations, rules, addresses, XIDs and frames", oninput: (e) => search(e.target.value),
    onkeydown: (e) => {
      const first = results.querySelector("a");
      if (e.key === "Enter" && first) first.click();
    } });
  return { input, results, search, ofConnection };
})();

const Page = (() => {
  const main = document.getElementById("main");
  const holder = el("div", { id: "holder" });

  function theme() {
    const names = ["automatic", "light", "dark"];
    let at = 0;
    const button = el("button", { id: "theme", onclick: () => {
      at = (at + 1) % names.length;
      if (at === 0) delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = names[at];
      button.textContent = `Colours: ${names[at]}`;
      Connection.current?.charts.draw();
    } }, "Colours: automatic");
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => Connection.current?.charts.draw());
    return button;
  }

  // --- places: where the links of findings, connections and frames lead
  let selected = () => {};
  function select(index) {
    if (Connection.current === null || Connection.current.index !== index) {
      const made = Connection.show(index);
      holder.replaceChildren(made.element);
      made.charts.draw();
      selected(index);
    }
    return Connection.current;
  }

  // From a finding to its place in the ladder.
  function show(finding) {
    const index = Data.placesOf(Report.findings[finding]).map(Data.indexOf).find((i) => i >= 0);
    if (index === undefined) return;
    const { ladder } = select(index);
    document.getElementById("ladder").scrollIntoView();
    if (!ladder.atFinding(finding)) say("its frame is not in the ladder");
    ladder.focus();
  }
  function finding(index) {
    if (Report.findings[index] === undefined) return false;
    const find = () => document.getElementById(`finding-${index}`);
    if (find() === null) Summary.allFindings();
    if (find() === null && Report.findings[index].severity === "note") {
      document.querySelectorAll("details.notes").forEach((d) => { d.open = true; d.dispatchEvent(new Event("toggle")); });
    }
    for (let i = 0; find() === null && i < 100; ++i) {
      const more = document.querySelectorAll("#findings .more");
      if (more.length === 0) break;
      more.forEach((button) => button.click());
    }
    const card = find();
    if (card === null) return false;
    document.querySelectorAll(".finding.here").forEach((other) => other.classList.toggle("here", false));
    card.classList.toggle("here", true);
    card.querySelector("details.about").open = true;
    card.scrollIntoView({ block: "center" });
    return true;
  }
  function connection(id) {
    const index = Data.indexOf(id);
    if (index < 0) return false;
    select(index);
    document.getElementById("connection").scrollIntoView();
    return true;
  }
  // The row that holds this frame, of whichever connection; the chosen connection is asked first.
  function rowOf(number) {
    const order = Report.connections.map((c, i) => i);
    if (Connection.current !== null) order.unshift(Connection.current.index);
    for (const index of order) {
      const { rows } = Data.connection(index);
      for (let i = 0; i < rows.count; ++i) {
        if (rows.frame[i] <= number && number <= rows.frame[i] + rows.last[i] && rows.kind[i] !== Data.K.left_out) return [index, i];
      }
    }
    return null;
  }
  function frame(number) {
    const place = rowOf(number);
    if (place === null) return false;
    const { ladder } = select(place[0]);
    document.getElementById("ladder").scrollIntoView();
    ladder.choose(place[1], true);
    ladder.focus();
    return true;
  }
  function mount(id) {
    const card = document.getElementById(`mount-${id}`);
    card?.closest("details")?.setAttribute("open", "");
    card?.scrollIntoView();
    return card !== null;
  }
  const places = { finding, connection, frame, mount };
  function go(hash) {
    const [, what, number] = /^#(finding|connection|frame|mount)-(\d{1,15})$/.exec(hash) ?? [];
    if (what === undefined) return;
    const there = places[what](Number(number));
    notice.textContent = there ? "" : `This page does not hold ${what} ${number}.${what === "frame" ? ` Wireshark: frame.number == ${number}` : ""}`;
    notice.hidden = there;
    if (!there) {
      say(notice.textContent);
      notice.scrollIntoView();
    }
  }
  const notice = el("p", { class: "card warn", id: "notice", role: "status" });
  notice.hidden = true;

  // --- connections
  function connections() {
    const all = Report.connections;
    if (all.length === 0) return null;
    const section = el("section", { id: "connections" }, el("h2", {}, "Connections"));
    const mountOf = (id) => Report.mounts.findIndex((m) => m.connections.includes(id));
    const end = (c) => (c.closed === null ? "open" : c.closed.how);
    const pad = (n) => String(n ?? -1).padStart(12, "0");
    const columns = [
      ["", (c) => c.id], ["mount", (c) => mountOf(c.id)], ["transport", (c) => c.transport], ["client", (c) => `${c.client.address} ${pad(c.client.port)}`], ["server", (c) => `${c.server.address} ${pad(c.server.port)}`],
      ["Calls", (c) => c.messages.calls], ["to server", (c) => c.thresholds.client_to_server ?? -1], ["to client", (c) => c.thresholds.server_to_client ?? -1],
      ["end", end], ["findings", (c) => Data.found(c.id).reduce((sum, n) => sum * 1e5 + n, 0)],
    ];
    const badges = (id) => {
      const found = Data.found(id).map((n, i) => (n > 0 ? [Summary.badge(Data.severities[i], Text.grouped(n)), " "] : null)).filter(Boolean);
      return found.length > 0 ? found : el("span", { class: "dim" }, "nothing");
    };
    const go = (id) => connection(id);
    const entries = all.map((c, i) => {
      const at = `connections.${i}`;
      const m = mountOf(c.id);
      const row = el("tr", { tabindex: "0", class: Data.failed(c) ? "attempt" : undefined, onclick: () => select(i),
        onkeydown: (e) => { if (e.target === row && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); go(c.id); } } },
        el("td", { class: "n" }, el("a", { class: "jump", href: `#connection-${c.id}` }, Text.fact(`${at}.id`))), el("td", { class: "n" }, m < 0 ? "–" : el("a", { class: "jump", href: `#mount-${Report.mounts[m].id}` }, Text.fact(`mounts.${m}.id`))),
        el("td", {}, Text.fact(`${at}.transport`)), el("td", {}, Text.endpoint(c.client)), el("td", {}, Text.endpoint(c.server)),
        el("td", { class: "n" }, Text.fact(`${at}.messages.calls`)), el("td", { class: "n" }, Text.fact(`${at}.thresholds.client_to_server`)),
        el("td", { class: "n" }, Text.fact(`${at}.thresholds.server_to_client`)),
        el("td", {}, c.closed === null ? "open" : Text.fact(`${at}.closed.how`)), el("td", {}, badges(c.id)));
      return { c, i, row, text: Search.ofConnection(c) };
    });
    const body = el("tbody");
    const count = el("span", { class: "dim shown", role: "status" });
    let words = [];
    let by = 0;
    let down = false;
    const heads = columns.map(([name], k) => el("th", { scope: "col" }, el("button", { class: "sort", onclick: () => {
      down = by === k && !down;
      by = k;
      apply();
    } }, name === "" ? "number" : name)));
    function apply() {
      const key = columns[by][1];
      const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
      const shown = entries.filter(({ text }) => words.every((word) => text.includes(word)))
        .sort((a, b) => (down ? -1 : 1) * compare(key(a.c), key(b.c)) || a.i - b.i);
      body.replaceChildren(...shown.map(({ row }) => row));
      heads.forEach((head, k) => head.setAttribute("aria-sort", k !== by ? "none" : down ? "descending" : "ascending"));
      const left = Drawing.left_out.connections;
      count.textContent = (shown.length === 0 ? "Nothing matches. " : "") + (shown.length === all.length ? Text.counted(all.length, "connection") : `${Text.grouped(shown.length)} of ${Text.counted(all.length, "connection")}`)
        + (left > 0 ? `, ${Text.grouped(left)} more not in this page` : "");
    }
    selected = (index) => {
      for (const { i, row } of entries) {
        row.classList.toggle("selected", i === index);
        row.setAttribute("aria-selected", i === index ? "true" : "false");
      }
    };
    apply();
    section.append(el("div", { class: "sieve" }, el("label", {}, "Filter ", el("input", { type: "search", id: "filter-connections", size: 28, placeholder: "address, refused, READ, rule …", oninput: (e) => {
      words = e.target.value.toLowerCase().split(/\s+/).filter(Boolean);
      apply();
    } })), count),
      el("div", { class: "scroll-x tall" }, el("table", { class: "plain pick" }, el("thead", {}, el("tr", {}, heads)), body)));
    const left = Drawing.left_out.connections;
    if (left > 0) section.append(el("p", { class: "dim" }, `${Text.counted(left, "further connection")} left out here, those with the least findings; --json lists all of them.`));
    return section;
  }

  function start() {
    document.title = clean(`${Report.inputs.map((i) => i.path.split("/").pop()).join(", ")} – NFS over RDMA report`);
    document.getElementById("top").append(
      el("div", { class: "bar" }, el("div", {}, el("h1", {}, "NFS over RDMA report"),
        el("p", { class: "dim" }, Report.inputs.map((i) => i.path).join(", "), Drawing.begin === null ? "" : ` · ${Drawing.begin}`)),
      el("div", { class: "tools" }, Search.input, theme(), el("button", { onclick: () => print() }, "Print"))), Search.results, notice, Summary.head());
    const parts = [Summary.mounts(), Summary.findings(show), connections(), holder, Summary.inputs(), Summary.unchecked()];
    add(main, parts);
    document.getElementById("bottom").append(el("p", { class: "dim" },
      Text.fact("tool.name"), " ", Text.fact("tool.version"), ". This page is complete: nothing was or will be loaded from anywhere. Charts: uPlot (MIT licence)."));
    if (Report.connections.length > 0) {
      // The one with the worst finding comes first.
      const first = Report.findings.map((f, i) => [Data.severities.indexOf(f.severity), i, Data.placesOf(f).map(Data.indexOf).find((k) => k >= 0)])
        .filter(([severity, , index]) => severity < 2 && index !== undefined).sort((a, b) => a[0] - b[0] || a[1] - b[1])[0];
      select(first === undefined ? 0 : first[2]);
    }
  }

  addEventListener("beforeprint", () => Connection.current?.ladder.print());
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) {
      const input = document.getElementById("filter-xid") ?? document.getElementById("search");
      if (input) {
        event.preventDefault();
        input.focus();
      }
    }
  });
  addEventListener("hashchange", () => go(location.hash));
  // A link to where the address already points leads there again.
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a");
    if (link?.hash && link.hash === location.hash) go(link.hash);
  });
  start();
  go(location.hash);
  document.documentElement.dataset.ready = "yes";
  return { finding, show, select, go, rowOf };
})();
