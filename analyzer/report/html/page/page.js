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

  function connections() {
    const all = Report.connections;
    if (all.length === 0) return null;
    const section = el("section", { id: "connections" }, el("h2", {}, "Connections"));
    const worstOf = (id) => {
      let at = 3;
      for (const f of Report.findings) if (f.connection === id) at = Math.min(at, Data.severities.indexOf(f.severity));
      return at < 3 ? Summary.badge(Data.severities[at]) : el("span", { class: "dim" }, "nothing");
    };
    const body = el("tbody");
    all.forEach((c, i) => {
      const at = `connections.${i}`;
      const row = el("tr", { tabindex: "0", onclick: () => select(i),
        onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); select(i); document.getElementById("connection").scrollIntoView(); } } },
        el("td", { class: "n" }, Text.fact(`${at}.id`)), el("td", {}, Text.fact(`${at}.transport`)),
        el("td", {}, Text.endpoint(c.client)), el("td", {}, Text.endpoint(c.server)),
        el("td", { class: "n" }, Text.fact(`${at}.messages.calls`)), el("td", { class: "n" }, Text.fact(`${at}.thresholds.client_to_server`)),
        el("td", { class: "n" }, Text.fact(`${at}.thresholds.server_to_client`)),
        el("td", {}, c.closed === null ? "open" : Text.fact(`${at}.closed.how`)), el("td", {}, worstOf(c.id)));
      tabs.push(row);
      body.append(row);
    });
    section.append(el("div", { class: "scroll-x tall" }, el("table", { class: "plain pick" },
      el("thead", {}, el("tr", {}, ["", "transport", "client", "server", "Calls", "to server", "to client", "end", "worst finding"].map((h) => el("th", { scope: "col" }, h)))), body)));
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
    const parts = [Summary.findings(show), connections(), holder, Summary.inputs(), Summary.unchecked()];
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
  document.documentElement.dataset.ready = "yes";
  return { finding, show, select };
})();
