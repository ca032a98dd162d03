// SPDX-License-Identifier: GPL-2.0-or-later
// Every number on the page is the JSON's, and every number of the JSON that says something is on the page.

// Runs in the page: what is shown, of all connections one after the other. Of each kind of row, and of each layout of octets, one is
// chosen, so that its details are shown as well.
export function shownFacts() {
  const seen = {};
  const look = (where) => {
    where.querySelectorAll("[data-json]").forEach((e) => {
      const path = e.getAttribute("data-json");
      (seen[path] ??= new Set()).add(e.textContent);
    });
  };
  document.querySelectorAll("details.notes").forEach((d) => { d.open = true; d.dispatchEvent(new Event("toggle")); });
  for (let i = 0; i < 200; ++i) {
    const more = [...document.querySelectorAll("#findings .more")];
    if (more.length === 0) break;
    more.forEach((b) => b.click());
  }
  const sums = [];
  const met = new Set();
  const walk = (ladder, rows) => {
    for (let row = 0; row < rows.count; ++row) {
      const fields = rows.octets[row] ? Octets.fields(rows.octets[row][0]).map((f) => `row with field ${f.name}`) : [];
      const kinds = [`row ${Data.kinds[rows.kind[row]]}${rows.marks[row] ? ", marked" : ""}`, ...fields];
      if (kinds.every((k) => met.has(k))) continue;
      kinds.forEach((k) => met.add(k));
      ladder.choose(row, true);
    }
  };
  for (let i = 0; i < Report.connections.length; ++i) {
    const { ladder } = Page.select(i);
    look(document.getElementById("connection"));
    walk(ladder, Data.connection(i).rows);
    const { rows, series, facts } = Data.connection(i);
    const count = (kind, side) => rows.kind.reduce((n, k, r) => n + (k === Data.K[kind] && rows.side[r] === side ? 1 : 0), 0);
    const sum = (column) => (series === null ? 0 : series[column].reduce((a, b) => a + b, 0));
    const answered = Object.fromEntries((series?.operations ?? []).map((o) => [o.name, { calls: o.count.reduce((a, b) => a + b, 0), octets: o.octets.reduce((a, b) => a + b, 0) }]));
    sums.push({ id: facts.id, left: rows.leftOut, calls: count("call", 0), replies: count("reply", 1), read: sum("read"), written: sum("written"), answered });
  }
  look(document);
  return { facts: Object.fromEntries(Object.entries(seen).map(([k, v]) => [k, [...v]])), sums, rows: [...met] };
}

function* leaves(value, path = "") {
  if (value !== null && typeof value === "object") {
    for (const [key, inner] of Object.entries(value)) yield* leaves(inner, path === "" ? key : `${path}.${key}`);
  } else {
    yield [path, value];
  }
}

// Said in words, or by a name instead.
const ELSEWHERE = [
  /^connections\.\d+\.procedures\.\d+\.(program|version|procedure)$/,
  /^findings\.\d+\.frames\.(1[2-9]|[2-9]\d|\d{3,})$/,
  /^findings\.\d+\.connection$/,
  /^findings\.\d+\.(frames\.\d+|occurrences|times)$/,
  /^unchecked\./,
];

export function compare(report, shown) {
  const wrong = [];
  const at = (path) => path.split(".").reduce((v, key) => v?.[key], report);
  for (const [path, texts] of Object.entries(shown.facts)) {
    const value = at(path);
    for (const text of texts) {
      const same = value === null ? ["unknown", "–"].includes(text) : typeof value === "number"
        ? Math.abs(Number(text.replaceAll(",", "")) - value) <= 0.0005 + 1e-9 * Math.abs(value) : text === String(value) || /[\u0000-\u001f\u0080-\uffff]/.test(String(value));
      if (!same) wrong.push(`${path} is ${JSON.stringify(value)} in the JSON and ${JSON.stringify(text)} on the page`);
    }
  }
  for (const [path, value] of leaves(report)) {
    if (typeof value !== "number" || value === 0 || path in shown.facts) continue;
    if (ELSEWHERE.some((e) => e.test(path))) continue;
    // What went no further than TCP is said as that.
    if (/^mounts\.\d+\.attempts\.unanswered$/.test(path) && value === at(path.replace("unanswered", "only_tcp"))) continue;
    wrong.push(`${path} (${value}) is not on the page`);
  }
  for (const [i, finding] of report.findings.entries()) {
    if (finding.frames.length > 0 && !(`findings.${i}.frames.0` in shown.facts)) wrong.push(`the frames of finding ${i} are not on the page`);
    if (finding.times > 1 && !(`findings.${i}.times` in shown.facts)) wrong.push(`how often finding ${i} was seen is not on the page`);
    if (finding.occurrences > 1 && !(`findings.${i}.occurrences` in shown.facts)) wrong.push(`the occurrences of finding ${i} are not on the page`);
  }
  // The charts of a mount's connections add up to its table of operations. What the server asks of the client is in charts alone.
  for (const mount of report.mounts) {
    const its = shown.sums.filter(({ id }) => mount.connections.includes(id));
    if (its.some(({ answered }) => "others" in answered)) continue;
    for (const { name, calls, octets } of mount.operations) {
      const drawn = its.map(({ answered }) => answered[name] ?? { calls: 0, octets: 0 }).reduce((a, b) => ({ calls: a.calls + b.calls, octets: a.octets + b.octets }), { calls: 0, octets: 0 });
      if (drawn.calls !== calls || drawn.octets !== octets) wrong.push(`mount ${mount.id}, ${name}: charts add up to ${drawn.calls} Calls and ${drawn.octets} octets, the JSON to ${calls} and ${octets}`);
    }
  }
  for (const [i, sum] of shown.sums.entries()) {
    const c = report.connections[i];
    if (sum.left > 0) continue;
    // In version 2 each part of a continued message has its row.
    const differs = (rows, messages) => (c.version === 2 ? rows < messages : rows !== messages);
    if (differs(sum.calls, c.messages.calls)) wrong.push(`connection ${sum.id}: ${sum.calls} Calls in the ladder, ${c.messages.calls} in the JSON`);
    if (differs(sum.replies, c.messages.replies)) wrong.push(`connection ${sum.id}: ${sum.replies} Replies in the ladder, ${c.messages.replies} in the JSON`);
    if (c.opened.seen && (sum.read !== c.operations.read_bytes || sum.written !== c.operations.write_bytes)) {
      wrong.push(`connection ${sum.id}: charts add up to ${sum.read} octets read and ${sum.written} written, the JSON to ${c.operations.read_bytes} and ${c.operations.write_bytes}`);
    }
  }
  return wrong;
}
