// SPDX-License-Identifier: GPL-2.0-or-later
// The ladder diagram: client left, server right, time downwards, one row a step. Only the rows in sight exist.
"use strict";

const Ladder = (() => {
  const K = Data.K;
  const ROW = 30;
  const TAIL = 4 * ROW;  // what follows the last row: silence, or the connection's end
  const PRINTED = 200;

  const groups = [
    ["calls", "Calls", [K.call]],
    ["replies", "Replies", [K.reply, K.done]],
    ["reads", "RDMA Reads", [K.read_request, K.read_response]],
    ["writes", "RDMA Writes", [K.write]],
    ["faults", "Errors and NAKs", [K.error, K.refusal, K.gap, K.unread]],
    ["rest", "Set-up and rest", [K.connect_request, K.connect_reply, K.connect_reject, K.connect_ready, K.close, K.repeat, K.frame, K.other, K.left_out]],
  ];

  const classOf = (kind) => `k-${Data.kinds[kind]}`;
  // What is wrong here, or else what this is evidence of.
  const worst = (marks) => {
    const own = marks.filter(([, primary]) => primary === 1);
    let at = 2;
    for (const [finding] of own.length > 0 ? own : marks) at = Math.min(at, Data.severities.indexOf(Report.findings[finding].severity));
    return Data.severities[at];
  };

  function make(connection, onChoose) {
    const rows = connection.rows;
    // Of an attempt that became no connection: refused or unanswered.
    const fate = Data.failed(connection.facts) ? connection.facts.closed.how : null;
    let view = new Int32Array(0);
    let chosen = -1;  // row
    const filter = { xid: "", procedure: 0, operation: 0, kinds: new Set(groups.map(([id]) => id)), finding: "" };

    // Pauses worth a mark: far above what is usual here.
    const steps = [];
    for (let i = 1; i < rows.count; i += Math.max(1, Math.floor(rows.count / 2000))) steps.push(rows.time[i] - rows.time[i - 1]);
    steps.sort((a, b) => a - b);
    const pause = Math.max(1e6, 20 * (steps[Math.floor(steps.length / 2)] ?? 0));

    const spacer = svg("svg", { class: "ladder", "aria-hidden": "true" });
    const sizer = el("div", { class: "sizer" });
    const scroll = el("div", { class: "scroll", tabindex: "0", role: "listbox", "aria-label": "Ladder diagram: arrow keys move, n and p go from finding to finding, x shows one transaction, Escape shows all" }, sizer);
    const layer = el("div", { class: "layer" }, spacer);
    scroll.prepend(layer);
    const head = svg("svg", { class: "ladder head", height: 34, "aria-hidden": "true" });
    const count = el("p", { class: "dim count", role: "status" });

    function measure() {
      const width = Math.max(660, scroll.clientWidth || 900);
      const right = width < 820 ? 150 : 196;
      return { width, time: 88, frame: 146, left: 186, right: width - right, credits: width - right + 84, bar: width - right + 14, flag: width - 20 };
    }

    function drawHead(m) {
      head.setAttribute("width", m.width);
      head.replaceChildren(
        svg("text", { x: m.time, y: 22, class: "head end" }, "time"),
        svg("text", { x: m.frame, y: 22, class: "head end" }, "frame"),
        ...[[m.left, "client"], [m.right, "server"]].flatMap(([x, name]) => [svg("rect", { class: "peer", x: x - 27, y: 6, width: 54, height: 22, rx: 5 }),
          svg("text", { x, y: 21, class: "peer-name mid" }, name)]),
        svg("text", { x: m.bar + 18, y: 22, class: "head" }, "size"),
        svg("text", { x: m.credits, y: 22, class: "head" }, "credits"),
      );
    }

    function chips(i, m, y) {
      const out = [];
      const p = rows.place[i];
      let x = m.left + 12;
      for (const [number, letter, cls, what] of [[rows.reads[p], "R", "chip-read", "Read segments"], [rows.writes[p], "W", "chip-write", "Write chunks"], [rows.replies[p], "P", "chip-reply", "segments of the Reply chunk"]]) {
        if (number === 0) continue;
        out.push(svg("g", {}, svg("title", {}, `${Text.grouped(number)} ${what}`),
          svg("rect", { class: `chip ${cls}`, x, y: y - 19, width: number > 1 ? 24 : 15, height: 13, rx: 3 }),
          svg("text", { class: "chip-text", x: x + (number > 1 ? 12 : 7.5), y: y - 9 }, number > 1 ? `${letter}${Math.min(99, number)}` : letter)));
        x += (number > 1 ? 24 : 15) + 3;
      }
      if (rows.invalidated[p] >= 0) {
        out.push(svg("g", {}, svg("title", {}, `invalidates ${Text.hex(rows.invalidated[p])}`),
          svg("rect", { class: "chip chip-inv", x, y: y - 19, width: 15, height: 13, rx: 3 }), svg("text", { class: "chip-text", x: x + 7.5, y: y - 9 }, "I")));
      }
      return out;
    }

    function right(i, m, y) {
      const out = [];
      if (Data.isMessage(rows.kind[i])) {
        const p = rows.place[i];
        const limit = rows.threshold[p];
        const over = limit >= 0 && rows.length[i] > limit;
        const full = 44;
        out.push(svg("rect", { class: "size-box", x: m.bar, y: y - 4, width: full, height: 5, rx: 2 }));
        const part = limit > 0 ? Math.min(1, rows.length[i] / limit) : 0;
        out.push(svg("rect", { class: over ? "size-over" : "size-fill", x: m.bar, y: y - 4, width: Math.max(1, full * part), height: 5, rx: 2 },
          svg("title", {}, limit >= 0 ? `${Text.octets(rows.length[i])}; the threshold is ${Text.grouped(limit)}` : `${Text.octets(rows.length[i])}; the threshold is not known`)));
        out.push(svg("text", { class: over ? "tiny over" : "tiny", x: m.bar, y: y - 8 }, Text.grouped(rows.length[i])));
        if (rows.exchange[i] !== 0) {
          out.push(svg("text", { class: "tiny", x: m.credits, y: y - 2 }, `${Text.grouped(rows.outstanding[p])} of ${rows.granted[p] < 0 ? "?" : Text.grouped(rows.granted[p])}`));
        }
      }
      const marks = rows.marks[i];
      if (marks) {
        const severity = worst(marks);
        const evidence = marks.every(([, primary]) => primary === 0);
        out.push(svg("g", {}, svg("title", {}, marks.map(([f]) => Report.findings[f].title).join("; ")),
          svg("circle", { class: `flag ${severity}${evidence ? " evidence" : ""}`, cx: m.flag, cy: y - 4, r: 8 }),
          svg("text", { class: `flag-text${evidence ? ` ${severity}` : ""}`, x: m.flag, y: y }, severity === "note" ? "i" : "!")));
      }
      return out;
    }

    function drawRow(at, m, y0) {
      const i = view[at];
      const kind = rows.kind[i];
      const y = y0 + 22;
      const g = svg("g", { class: `row ${classOf(kind)}`, onclick: () => choose(i, true) });
      const same = chosen >= 0 && rows.exchange[i] !== 0 && rows.exchange[i] === rows.exchange[chosen];
      g.append(svg("rect", { class: i === chosen ? "back chosen" : same ? "back same" : "back", x: 0, y: y0, width: m.width, height: ROW }));
      for (const x of [m.left, m.right]) g.append(svg("line", { class: kind === K.left_out || kind === K.gap ? "life broken" : "life", x1: x, x2: x, y1: y0, y2: y0 + ROW }));
      if (same) g.append(svg("line", { class: "bracket", x1: m.left - 7, x2: m.left - 7, y1: y0, y2: y0 + ROW }));
      const before = at > 0 ? view[at - 1] : -1;
      const paused = before >= 0 && rows.time[i] - rows.time[before] >= pause && kind !== K.left_out;
      if (paused) {
        g.append(svg("line", { class: "pause", x1: 4, x2: m.width - 4, y1: y0 + 0.5, y2: y0 + 0.5 }));
        g.append(svg("text", { class: "pause-text", x: 6, y: y0 + 11 }, `${Text.duration(rows.time[i] - rows.time[before])} later`));
      }
      if (kind !== K.left_out) {
        g.append(svg("text", { class: "tiny end", x: m.time, y: paused ? y + 3 : y - 2 }, Text.since(rows.time[i]).replace(" s", "")));
        g.append(svg("text", { class: "tiny end", x: m.frame, y: paused ? y + 3 : y - 2 }, rows.frame[i]));
      }
      const fromClient = rows.side[i] === 0;
      const [first, then] = Data.label(rows, i);
      const middle = (m.left + m.right) / 2;
      if (kind === K.gap || kind === K.unread || kind === K.frame || kind === K.left_out) {
        g.append(svg("text", { class: "label mid dim", x: middle, y: y - 4 }, svg("tspan", { class: "strong" }, first), ` ${then}`));
      } else {
        const from = fromClient ? m.left : m.right;
        const to = fromClient ? m.right : m.left;
        const sign = fromClient ? -1 : 1;
        const lost = fate === "unanswered" && kind === K.connect_request;
        if (lost) {
          // Nobody knows whether it arrived.
          g.append(svg("line", { class: "arrow attempt", x1: from, x2: to + sign * 60, y1: y, y2: y }));
          g.append(svg("text", { class: "label lost", x: to + sign * 46, y: y + 5 }, "?"));
        } else {
          g.append(svg("line", { class: fate === "refused" ? "arrow attempt" : "arrow", x1: from, x2: to + sign * 7, y1: y, y2: y }));
          g.append(svg("path", { class: "tip", d: `M${to},${y} l${sign * 10},-4.5 v9 z` }));
        }
        if (kind === K.connect_reject) g.append(svg("path", { class: "cross", d: `M${to + sign * 18 - 5},${y - 5} l10,10 m0,-10 l-10,10` }));
        if (kind === K.refusal) g.append(svg("path", { class: "cross", d: `M${from - sign * 5 - 5},${y - 5} l10,10 m0,-10 l-10,10` }));
        g.append(svg("text", { class: "label mid", x: middle, y: y - 6 }, svg("tspan", { class: "strong" }, first), then ? ` ${then}` : ""));
        if (Data.isMessage(kind)) g.append(...chips(i, m, y));
      }
      g.append(...right(i, m, y));
      return g;
    }

    // Behind the last row time goes on to the end of the capture: lifelines, Calls that wait, and what can be said of it.
    const final = ending();
    function ending() {
      if (rows.count === 0 || Drawing.end === null) return null;
      const newest = rows.time[rows.count - 1] + rows.took[rows.count - 1];
      const end = Math.max(Drawing.end, newest);
      const { waiting, facts } = connection;
      const calls = (n) => (n === 1 ? "1 Call" : `${Text.grouped(n)} Calls`);
      const oldest = waiting === null ? "" : callOf(waiting.frame);
      if (facts.closed !== null && facts.closed.how !== "unanswered") {
        return { open: false, end, waits: waiting !== null, first: facts.closed.how === "refused" ? "the attempt was refused" : `the connection ended: ${facts.closed.how}`,
          then: waiting === null ? "" : `without an answer to ${calls(waiting.calls)}, the oldest ${oldest}` };
      }
      if (facts.closed !== null) return { open: true, end, waits: true, first: `no answer for ${Text.duration(end - rows.time[rows.count - 1])}`, then: "to this attempt" };
      if (waiting !== null) return { open: true, end, waits: true, first: `no answer for ${Text.duration(end - waiting.since)}`, then: waiting.calls === 1 ? `to ${oldest}` : `to ${calls(waiting.calls)}, the oldest ${oldest}` };
      return { open: true, end, waits: false, first: end - newest >= pause ? `silence for ${Text.duration(end - newest)}` : "still open", then: "" };
    }
    function callOf(frame) {
      for (let i = 0; i < rows.count; ++i) {
        if (rows.frame[i] <= frame && frame <= rows.frame[i] + rows.last[i] && rows.kind[i] === K.call) return `${Data.label(rows, i)[1]} (frame ${frame})`;
      }
      return `in frame ${frame}`;
    }
    function drawTail(m, y0) {
      const g = svg("g", { class: `tail ${final.open ? "goes-on" : "ended"}${final.waits ? " waits" : ""}` });
      const bottom = y0 + TAIL - 26;
      const stop = final.open ? bottom : y0 + ROW;
      for (const x of [m.left, m.right]) {
        g.append(svg("line", { class: final.open ? "life silent" : "life", x1: x, x2: x, y1: y0, y2: stop }));
        if (!final.open) g.append(svg("path", { class: "stop", d: `M${x - 7},${stop} h14` }));
      }
      if (final.open && final.waits) g.append(svg("rect", { class: "wait", x: m.left - 4, y: y0, width: 8, height: stop - y0 }));
      const middle = (m.left + m.right) / 2;
      g.append(svg("text", { class: "label mid strong said", x: middle, y: y0 + ROW + 12 }, final.first), svg("text", { class: "tiny mid", x: middle, y: y0 + ROW + 30 }, final.then));
      g.append(svg("line", { class: "capture-end", x1: 4, x2: m.width - 4, y1: bottom, y2: bottom }),
        svg("text", { class: "tiny end", x: m.time, y: bottom + 15 }, Text.since(final.end).replace(" s", "")), svg("text", { class: "tiny mid", x: middle, y: bottom + 15 }, "end of the capture"));
      return g;
    }

    let wanted = false;
    function draw() {
      wanted = false;
      const m = measure();
      drawHead(m);
      const height = scroll.clientHeight || 520;
      const first = Math.max(0, Math.floor(scroll.scrollTop / ROW) - 2);
      const last = Math.min(view.length, first + Math.ceil(height / ROW) + 5);
      spacer.setAttribute("width", m.width);
      const toTheEnd = final !== null && last === view.length;
      spacer.setAttribute("height", Math.max(1, (last - first) * ROW + (toTheEnd ? TAIL : 0)));
      layer.style.transform = `translateY(${first * ROW}px)`;
      const drawn = [];
      for (let at = first; at < last; ++at) drawn.push(drawRow(at, m, (at - first) * ROW));
      if (toTheEnd) drawn.push(drawTail(m, (last - first) * ROW));
      spacer.replaceChildren(...drawn);
    }
    function later() {
      if (!wanted) {
        wanted = true;
        requestAnimationFrame(draw);
      }
    }

    // What a row can be found by: what it says, its operations, the rules at it. Many rows say the same.
    const known = new Map();
    function textOf(i) {
      const names = Data.isMessage(rows.kind[i]) ? rows.names[rows.place[i]] : 0;
      const key = `${rows.label[i]} ${rows.procedure[i]} ${rows.operation[i]} ${names}`;
      if (!known.has(key)) known.set(key, [...Drawing.labels[rows.label[i]].slice(0, 2), Drawing.texts[rows.procedure[i]], Drawing.texts[rows.operation[i]], Drawing.texts[names]].join(" ").toLowerCase());
      const marks = rows.marks[i];
      return marks ? `${known.get(key)} ${marks.map(([f]) => Report.findings[f].rule).join(" ")}` : known.get(key);
    }

    function apply() {
      const terms = filter.xid.toLowerCase().split(/[\s,]+/).filter(Boolean);
      const wantedXids = new Set(terms.map(Number).filter((n) => Number.isInteger(n)));
      const words = terms.filter((t) => !Number.isInteger(Number(t)));
      const shown = new Set(groups.filter(([id]) => filter.kinds.has(id)).flatMap(([, , kinds]) => kinds));
      const finding = filter.finding === "" ? null : filter.finding === "any" ? -1 : Number(filter.finding);
      const out = [];
      for (let i = 0; i < rows.count; ++i) {
        if (!shown.has(rows.kind[i])) continue;
        if (wantedXids.size > 0 && !wantedXids.has(rows.xid[i])) continue;
        if (words.length > 0 && !words.every((w) => textOf(i).includes(w))) continue;
        if (filter.procedure !== 0 && rows.procedure[i] !== filter.procedure) continue;
        if (filter.operation !== 0 && rows.operation[i] !== filter.operation) continue;
        if (finding !== null) {
          const marks = rows.marks[i];
          if (!marks || (finding >= 0 && !marks.some(([f]) => f === finding))) continue;
        }
        out.push(i);
      }
      view = Int32Array.from(out);
      const tail = final === null ? 0 : TAIL;
      sizer.style.height = `${view.length * ROW + tail}px`;
      scroll.style.height = `min(72vh, 760px, ${Math.max(5, rows.count) * ROW + tail + 2}px)`;
      const all = rows.count;
      count.textContent = view.length === all ? `${Text.counted(all, "row")}` : `${Text.grouped(view.length)} of ${Text.counted(all, "row")}`;
      if (view.length === 0 && all > 0) count.textContent += ": nothing matches";
      if (rows.leftOut > 0) count.textContent += `; ${Text.counted(rows.leftOut, "row")} of the capture left out`;
      later();
    }

    // Binary search: the place of a row in what is shown, or of the next one.
    function placeOf(row) {
      let low = 0;
      let high = view.length;
      while (low < high) {
        const mid = (low + high) >> 1;
        if (view[mid] < row) low = mid + 1;
        else high = mid;
      }
      return low;
    }

    function bring(row) {
      const at = placeOf(row) * ROW;
      const height = scroll.clientHeight;
      if (row === view[view.length - 1]) scroll.scrollTop = view.length * ROW + TAIL;  // with what follows it
      else if (at < scroll.scrollTop + ROW || at + 2 * ROW > scroll.scrollTop + height) scroll.scrollTop = Math.max(0, at - height / 3);
      later();
    }

    function choose(row, quiet) {
      if (row < 0 || row >= rows.count) return;
      if (view[placeOf(row)] !== row) clear();
      chosen = row;
      bring(row);
      const [first, then] = Data.label(rows, row);
      say(`${first} ${then}, ${Text.sideName(rows.side[row])}, frame ${rows.frame[row]}`);
      onChoose(row, quiet);
    }

    function move(by) {
      if (view.length === 0) return;
      const at = chosen < 0 ? (by > 0 ? 0 : view.length - 1) : placeOf(chosen) + by;
      choose(view[Math.max(0, Math.min(view.length - 1, at))], true);
    }
    function toFinding(direction) {
      for (let at = chosen < 0 ? (direction > 0 ? 0 : view.length - 1) : placeOf(chosen) + direction; at >= 0 && at < view.length; at += direction) {
        if (rows.marks[view[at]]) return choose(view[at], true);
      }
      say("no further finding in this direction");
      return undefined;
    }

    scroll.addEventListener("scroll", later, { passive: true });
    scroll.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const page = Math.max(1, Math.floor(scroll.clientHeight / ROW) - 1);
      const keys = {
        ArrowDown: () => move(1), ArrowUp: () => move(-1), j: () => move(1), k: () => move(-1),
        PageDown: () => move(page), PageUp: () => move(-page), Home: () => choose(view[0], true), End: () => choose(view[view.length - 1], true),
        n: () => toFinding(1), p: () => toFinding(-1), Escape: clear, x: () => only(),
        Enter: () => onChoose(chosen, false),
      };
      if (!(event.key in keys) || view.length === 0 && event.key !== "Escape") return;
      event.preventDefault();
      keys[event.key]();
    });

    // --- filters
    const xidInput = el("input", { type: "search", id: "filter-xid", size: 22, placeholder: "0x08ea8cef, READ, a rule …", "aria-label": "XID, procedure, operation or rule", oninput: (e) => { filter.xid = e.target.value; apply(); } });
    const select = (name) => el("select", { id: `filter-${name}`, "aria-label": name === "procedure" ? "Procedure" : "Operation", onchange: (e) => { filter[name] = Number(e.target.value); apply(); } },
      el("option", { value: 0 }, `every ${name}`),
      [...new Set(rows[name])].filter((n) => n !== 0).sort((a, b) => Drawing.texts[a].localeCompare(Drawing.texts[b])).map((n) => el("option", { value: n }, Drawing.texts[n])));
    const procedureSelect = select("procedure");
    const operationSelect = select("operation");
    const found = new Set(Object.values(rows.marks).flatMap((marks) => marks.map(([f]) => f)));
    const findingSelect = el("select", { id: "filter-finding", "aria-label": "Finding", onchange: (e) => { filter.finding = e.target.value; apply(); } },
      el("option", { value: "" }, "with and without findings"), el("option", { value: "any" }, "only rows with a finding"),
      [...found].sort((a, b) => a - b).slice(0, 500).map((f) => el("option", { value: f }, `${Report.findings[f].rule} (frame ${Report.findings[f].frames[0]})`)));
    const boxes = new Map();
    const kindBoxes = el("fieldset", { class: "kinds" }, el("legend", { class: "unseen" }, "Kinds of rows"),
      groups.map(([id, name, kinds]) => {
        const box = el("input", { type: "checkbox", id: `kind-${id}`, checked: true, onchange: (e) => { if (e.target.checked) filter.kinds.add(id); else filter.kinds.delete(id); apply(); } });
        boxes.set(id, box);
        return el("label", { class: classOf(kinds[0]) }, box, el("span", { class: "key" }), name);
      }));
    const bar = el("div", { class: "filters" }, el("label", {}, "Search ", xidInput), operationSelect, procedureSelect, findingSelect,
      el("button", { id: "filter-clear", onclick: clear }, "Show all"), kindBoxes);

    function clear() {
      filter.xid = "";
      filter.procedure = 0;
      filter.operation = 0;
      filter.finding = "";
      for (const [id, box] of boxes) {
        box.checked = true;
        filter.kinds.add(id);
      }
      xidInput.value = "";
      procedureSelect.value = "0";
      operationSelect.value = "0";
      findingSelect.value = "";
      apply();
      if (chosen >= 0) bring(chosen);
    }
    function only() {
      if (chosen < 0 || rows.xid[chosen] < 0) return;
      xidInput.value = Text.hex(rows.xid[chosen]);
      filter.xid = xidInput.value;
      apply();
      bring(chosen);
    }
    function atTime(ns) {
      let low = 0;
      let high = rows.count - 1;
      while (low < high) {
        const mid = (low + high) >> 1;
        if (rows.time[mid] < ns) low = mid + 1;
        else high = mid;
      }
      choose(low, true);
    }
    function atFinding(finding) {
      let evidence = -1;
      for (const [row, marks] of Object.entries(rows.marks)) {
        for (const [f, primary] of marks) {
          if (f !== finding) continue;
          if (primary) return choose(Number(row), true), true;
          if (evidence < 0) evidence = Number(row);
        }
      }
      if (evidence >= 0) choose(evidence, true);
      return evidence >= 0;
    }

    // On paper: the first rows of what is shown, all at once.
    const paper = el("div", { class: "paper" });
    function print() {
      const m = { width: 700, time: 88, frame: 146, left: 186, right: 550, credits: 634, bar: 562, flag: 690 };
      const n = Math.min(PRINTED, view.length);
      const sheet = svg("svg", { class: "ladder", width: m.width, height: n * ROW + TAIL, viewBox: `0 0 ${m.width} ${n * ROW + TAIL}` });
      for (let at = 0; at < n; ++at) sheet.append(drawRow(at, m, at * ROW));
      if (final !== null && n === view.length) sheet.append(drawTail(m, n * ROW));
      paper.replaceChildren(sheet, view.length > n ? el("p", { class: "dim" }, `${Text.counted(view.length - n, "more row")}: filter before printing to see them.`) : "");
    }

    const legend = el("p", { class: "dim legend" },
      [["chip-read", "R", "Read chunk"], ["chip-write", "W", "Write chunk"], ["chip-reply", "P", "Reply chunk"], ["chip-inv", "I", "invalidates a handle"]]
        .map(([cls, letter, what]) => el("span", {}, el("span", { class: `chip-key ${cls}` }, letter), ` ${what} `)),
      el("br"), "Keys: ", el("kbd", {}, "↑"), el("kbd", {}, "↓"), " move, ", el("kbd", {}, "n"), el("kbd", {}, "p"), " findings, ", el("kbd", {}, "x"), " this transaction only, ", el("kbd", {}, "Esc"), " all");
    const element = el("div", { class: "ladder-box" }, bar, legend, el("div", { class: "frame" }, head, scroll), count, paper);
    const observer = new ResizeObserver(later);
    observer.observe(scroll);
    apply();
    return { element, choose, clear, atTime, atFinding, print, focus: () => scroll.focus(), stop: () => observer.disconnect() };
  }

  return { make };
})();
