// SPDX-License-Identifier: GPL-2.0-or-later
// Puts the page together.
"use strict";

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

  const tabs = [];
  function select(index) {
    if (Connection.current === null || Connection.current.index !== index) {
      const made = Connection.show(index);
      holder.replaceChildren(made.element);
      made.charts.draw();
      for (const [i, row] of tabs.entries()) {
        row.classList.toggle("selected", i === index);
        row.setAttribute("aria-selected", i === index ? "true" : "false");
      }
    }
    return Connection.current;
  }

  // From a finding to its place in the ladder.
  function show(finding) {
    const index = Report.connections.findIndex((c) => c.id === Report.findings[finding].connection);
    if (index < 0) return;
    const { ladder } = select(index);
    document.getElementById("ladder").scrollIntoView();
    if (!ladder.atFinding(finding)) say("its frame is not in the ladder");
    ladder.focus();
  }
  function finding(index) {
    Summary.unfiltered();
    let card = document.getElementById(`finding-${index}`);
    for (let i = 0; card === null && i < 100; ++i) {
      document.querySelectorAll("details.notes").forEach((d) => { d.open = true; d.dispatchEvent(new Event("toggle")); });
      const more = document.querySelector("#findings .more");
      if (more === null && document.getElementById(`finding-${index}`) === null && i > 1) return;
      more?.click();
      card = document.getElementById(`finding-${index}`);
    }
    card?.scrollIntoView({ block: "center" });
    card?.querySelector("details")?.setAttribute("open", "");
  }

  // From a link to a connection, or to a frame in whatever connection has it.
  function connection(id) {
    const index = Report.connections.findIndex((c) => c.id === id);
    if (index < 0) return false;
    select(index);
    document.getElementById("connection").scrollIntoView();
    return true;
  }
  function frame(number) {
    for (let i = 0; i < Report.connections.length; ++i) {
      const { rows } = Data.connection(i);
      for (let row = 0; row < rows.count; ++row) {
        if (number < rows.frame[row] || number > rows.frame[row] + rows.last[row]) continue;
        const { ladder } = select(i);
        document.getElementById("ladder").scrollIntoView();
        ladder.choose(row, false);
        return true;
      }
    }
    say(`frame ${number} is in no ladder of this page`);
    return false;
  }

  function connections() {
    const all = Report.connections;
    if (all.length === 0) return null;
    const section = el("section", { id: "connections" }, el("h2", {}, "Connections"));
    const found = new Map(all.map((c) => [c.id, { error: 0, warning: 0, note: 0 }]));
    for (const f of Report.findings) {
      for (const id of new Set([f.connection, ...f.connections])) {
        const counts = found.get(id);
        if (counts !== undefined) ++counts[f.severity];
      }
    }
    const worst = (id) => { const n = found.get(id); return n.error * 1e6 + n.warning * 1e3 + n.note; };
    const findingsOf = (id) => {
      const counts = found.get(id);
      const shown = Data.severities.filter((s) => counts[s] > 0).map((s) => [el("span", { class: `badge ${s}` }, `${Text.grouped(counts[s])} ${s}${counts[s] === 1 ? "" : "s"}`), " "]);
      return shown.length > 0 ? shown : el("span", { class: "dim" }, "nothing");
    };
    const attempt = (c) => c.closed !== null && ["refused", "unanswered"].includes(c.closed.how);
    const body = el("tbody");
    const none = el("span", { class: "dim", id: "connections-none" });
    const wordsOf = (c) => [c.id, c.transport, Text.endpoint(c.client), Text.endpoint(c.server), c.closed === null ? "open" : c.closed.how,
      ...c.procedures.flatMap((p) => [p.name, ...Object.keys(p.operations)]),
      ...Report.findings.filter((f) => f.connection === c.id || f.connections.includes(c.id)).map((f) => f.rule)].join(" ").toLowerCase();
    const known = [];
    const search = el("input", { id: "connections-search", type: "search", placeholder: "address, port, procedure, operation, rule, end", "aria-label": "search connections", oninput: () => {
      const asked = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      all.forEach((c, i) => {
        known[i] ??= wordsOf(c);
        const fits = asked.every((word) => known[i].includes(word));
        tabs[i].hidden = !fits;
        left += fits ? 1 : 0;
      });
      none.textContent = asked.length === 0 ? "" : left === 0 ? "no connection matches" : `${Text.grouped(left)} of ${Text.grouped(all.length)} match`;
      say(none.textContent);
    } });
    all.forEach((c, i) => {
      const at = `connections.${i}`;
      const row = el("tr", { tabindex: "0", class: attempt(c) ? "attempt" : undefined, onclick: () => select(i),
        onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); select(i); document.getElementById("connection").scrollIntoView(); } } },
        el("td", { class: "n" }, Text.fact(`${at}.id`)), el("td", {}, Text.fact(`${at}.transport`)),
        el("td", {}, Text.endpoint(c.client)), el("td", {}, Text.endpoint(c.server)),
        el("td", { class: "n" }, Text.fact(`${at}.messages.calls`)), el("td", { class: "n" }, Text.fact(`${at}.thresholds.client_to_server`)),
        el("td", { class: "n" }, Text.fact(`${at}.thresholds.server_to_client`)),
        el("td", {}, c.closed === null ? "open" : Text.fact(`${at}.closed.how`)), el("td", {}, findingsOf(c.id)));
      tabs.push(row);
      body.append(row);
    });
    // Sorted by a column, forwards and back; only what matches the words stays.
    const keys = [["", (c) => c.id], ["transport", (c) => c.transport], ["client", (c) => Text.endpoint(c.client)], ["server", (c) => Text.endpoint(c.server)],
      ["Calls", (c) => -c.messages.calls], ["to server", (c) => -(c.thresholds.client_to_server ?? 0)], ["to client", (c) => -(c.thresholds.server_to_client ?? 0)],
      ["end", (c) => (c.closed === null ? "open" : c.closed.how)], ["findings", (c) => -worst(c.id)]];
    const rowsOf = [...tabs];
    let by = 0;
    let back = false;
    const arrange = () => {
      const key = keys[by][1];
      const order = all.map((c, i) => i).sort((x, y) => {
        const [a, b] = [key(all[x]), key(all[y])];
        return (a < b ? -1 : a > b ? 1 : x - y) * (back ? -1 : 1);
      });
      body.append(...order.map((i) => rowsOf[i]));
      heads.forEach((h, i) => h.setAttribute("aria-sort", i === by ? (back ? "descending" : "ascending") : "none"));
    };
    const heads = keys.map(([word], i) => el("th", { scope: "col" }, el("button", { class: "link", onclick: () => {
      back = by === i && !back;
      by = i;
      arrange();
    } }, word === "" ? "no." : word)));
    section.append(el("p", { class: "choices" }, search, " ", none));
    section.append(el("div", { class: "scroll-x tall" }, el("table", { class: "plain pick" }, el("thead", {}, el("tr", {}, heads)), body)));
    const left = Drawing.left_out.connections;
    if (left > 0) section.append(el("p", { class: "dim" }, `${Text.counted(left, "further connection")} left out here, those with the least findings; --json lists all of them.`));
    return section;
  }

  function start() {
    document.title = clean(`${Report.inputs.map((i) => i.path.split("/").pop()).join(", ")} – NFS over RDMA report`);
    document.getElementById("top").append(
      el("div", { class: "bar" }, el("div", {}, el("h1", {}, "NFS over RDMA report"),
        el("p", { class: "dim" }, Report.inputs.map((i) => i.path).join(", "), Drawing.begin === null ? "" : ` · ${Drawing.begin}`)),
      el("div", { class: "tools" }, theme(), el("button", { onclick: () => print() }, "Print"))), Summary.head());
    const parts = [Mounts.section(), Summary.findings(show), connections(), holder, Summary.inputs(), Summary.unchecked()];
    add(main, parts);
    document.getElementById("bottom").append(el("p", { class: "dim" },
      Text.fact("tool.name"), " ", Text.fact("tool.version"), ". This page is complete: nothing was or will be loaded from anywhere. Charts: uPlot (MIT licence)."));
    if (Report.connections.length > 0) {
      // The one with the worst finding comes first.
      const first = Report.findings.map((f, i) => [Data.severities.indexOf(f.severity), i, f.connection])
        .filter(([, , id]) => Report.connections.some((c) => c.id === id)).sort((a, b) => a[0] - b[0] || a[1] - b[1])[0];
      select(first === undefined || first[0] === 2 ? 0 : Report.connections.findIndex((c) => c.id === first[2]));
    }
  }

  addEventListener("beforeprint", () => Connection.current?.ladder.print());
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) {
      const input = document.getElementById("filter-xid");
      if (input) {
        event.preventDefault();
        input.focus();
      }
    }
  });
  start();
  addEventListener("hashchange", () => Links.follow(location.hash));
  addEventListener("load", () => { if (location.hash.length > 1) Links.follow(location.hash); });
  document.documentElement.dataset.ready = "yes";
  return { finding, show, select, connection, frame };
})();
