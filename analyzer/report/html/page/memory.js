// SPDX-License-Identifier: GPL-2.0-or-later
// The memory of one transaction: what was exposed, by which message; what of it was read or written; when that ended.
"use strict";

const Memory = (() => {
  const K = Data.K;

  // Ranges of memory that a transaction's messages expose, with what was done to each.
  function ranges(rows, exchange) {
    const out = [];
    const members = [];
    for (let i = 0; i < rows.count; ++i) if (rows.exchange[i] === exchange && exchange !== 0) members.push(i);
    let reply = -1;
    let done = -1;
    for (const i of members) {
      if (rows.kind[i] === K.done) done = i;
      if ((rows.kind[i] === K.reply || rows.kind[i] === K.error) && reply < 0) reply = i;
      const offers = rows.kind[i] === K.reply;
      if (rows.kind[i] !== K.call && !offers) continue;
      const segments = rows.segments[i];
      if (!segments) continue;
      for (const [list, chunk, position, handle, length, offset] of segments.slice(1)) {
        if (offers && list > 1) {
          // A Reply returns the Call's chunks with the lengths that were written.
          const known = out.find((r) => r.handle === handle && r.begin === BigInt(`0x${offset}`) && r.list === list);
          if (known) known.returned = length;
          continue;
        }
        out.push({ list, chunk, position, handle, length, begin: BigInt(`0x${offset}`), exposed: i, offer: offers, parts: [], ended: -1, invalidated: -1, returned: -1 });
      }
    }
    for (const i of members) {
      if (Data.isMessage(rows.kind[i])) {
        const handle = rows.invalidated[rows.place[i]];
        if (handle >= 0) for (const r of out) if (r.handle === handle) r.invalidated = i;
        continue;
      }
      if (!Data.isOperation(rows.kind[i])) continue;
      const handle = rows.handle[rows.place[i]];
      const begin = BigInt(`0x${rows.offset[rows.place[i]]}`);
      for (const r of out) {
        if (r.handle !== handle) continue;
        const from = Number(begin - r.begin);
        const to = from + rows.length[i];
        if (to <= 0 || from >= r.length) continue;
        r.parts.push({ row: i, kind: rows.kind[i], from: Math.max(0, from), to: Math.min(r.length, to) });
      }
    }
    for (const r of out) r.ended = r.offer ? done : reply;
    return out;
  }

  function view(rows, exchange, choose) {
    const all = ranges(rows, exchange);
    if (all.length === 0) return null;
    const longest = Math.max(1, ...all.map((r) => r.length));
    const width = 560;
    const link = (i, words) => el("button", { class: "link", onclick: () => choose(i) }, `${words} frame ${rows.frame[i]}`);
    const shown = all.slice(0, 64);
    return el("div", { class: "memory" },
      shown.map((r) => {
        const bar = Math.max(120, Math.round((r.length / longest) * width));
        const x = (n) => (r.length === 0 ? 0 : (n / r.length) * bar);
        const reads = r.parts.filter((p) => p.kind === K.read_response || p.kind === K.read_request);
        const writes = r.parts.filter((p) => p.kind === K.write);
        const answered = r.parts.some((p) => p.kind === K.read_response);
        return el("div", { class: "range" },
          el("p", {}, el("strong", {}, Drawing.lists[r.list], r.list === 2 ? ` ${r.chunk + 1}` : ""), r.list <= 1 && r.position > 0 ? ` at position ${r.position}` : "",
            " ", el("code", {}, Text.hex(r.handle)), " from ", el("code", {}, `0x${r.begin.toString(16)}`), `, ${Text.octets(r.length)}`),
          svg("svg", { width: width + 4, height: 26, role: "img", viewBox: `0 0 ${width + 4} 26`, "aria-label": `${reads.length} reads and ${writes.length} writes` },
            svg("rect", { class: "exposed", x: 1, y: 4, width: bar, height: 18, rx: 2 }),
            r.parts.map((p) => svg("rect", {
              class: p.kind === K.write ? "written" : p.kind === K.read_response ? "read" : "asked",
              x: 1 + x(p.from), y: p.kind === K.read_request ? 4 : 8, width: Math.max(1.5, x(p.to) - x(p.from)), height: p.kind === K.read_request ? 4 : 14,
            }, svg("title", {}, `${p.kind === K.write ? "written" : p.kind === K.read_response ? "read" : "asked for"}: octets ${p.from} to ${p.to - 1}, frame ${rows.frame[p.row]}`)))),
          el("p", { class: "dim" }, link(r.exposed, r.offer ? "offered in" : "exposed in"),
            reads.length > 0 ? [" · ", link(reads[0].row, answered ? "read from" : "asked for in")] : null,
            writes.length > 0 ? [" · ", link(writes[0].row, "written from")] : null,
            r.returned >= 0 ? ` · ${Text.octets(r.returned)} returned as written` : null,
            r.parts.length === 0 ? " · never touched in this capture" : null,
            r.ended >= 0 ? [" · ", link(r.ended, "released by")] : " · not released in this capture",
            r.invalidated >= 0 ? [" · ", link(r.invalidated, "invalidated by")] : null));
      }),
      all.length > shown.length ? el("p", { class: "dim" }, `${Text.counted(all.length - shown.length, "more segment")} not drawn.`) : null);
  }

  return { view, ranges };
})();
