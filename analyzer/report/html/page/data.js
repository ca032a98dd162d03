// SPDX-License-Identifier: GPL-2.0-or-later
// The two documents that the page holds: the report itself, as --json prints it, and what is drawn beside it.
"use strict";

const Report = JSON.parse(document.getElementById("report").textContent);
const Drawing = JSON.parse(document.getElementById("drawing").textContent);

const Data = (() => {
  // A column is one number when all rows have the same; a list; or, of few different values, ["letters", string, ...values]: a
  // character of the string stands for the value of its row, the first letter for the first value.
  const LETTERS = " !#$%'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
  const meanings = (values) => {
    const out = new Float64Array(128);
    for (let i = 0; i < values.length; ++i) out[LETTERS.charCodeAt(i)] = values[i];
    return out;
  };
  const fill = (column, array) => {
    if (typeof column === "number") return array.fill(column);
    if (column[0] !== "letters") {
      array.set(column);
      return array;
    }
    const [, text, ...values] = column;
    const of = meanings(values);
    for (let i = 0; i < array.length; ++i) array[i] = of[text.charCodeAt(i)];
    return array;
  };
  // Each is what it is more than the one before.
  const running = (column, array) => {
    fill(column, array);
    for (let i = 1; i < array.length; ++i) array[i] += array[i - 1];
    return array;
  };

  const kinds = Drawing.kinds;
  const K = Object.fromEntries(kinds.map((name, number) => [name, number]));
  const isMessage = (kind) => kind >= K.call && kind <= K.other;
  const isOperation = (kind) => kind >= K.read_request && kind <= K.write;

  // All rows of one connection; of row i, message m[i] and operation o[i] are its places in the columns of its kind.
  function rows(source) {
    const n = Math.max(0, source.rows);
    const r = { count: n, known: source.rows >= 0, leftOut: source.left_out };
    r.kind = fill(source.kind ?? 0, new Uint8Array(n));
    r.label = fill(source.label ?? 0, new Uint32Array(n));
    r.side = fill(source.side ?? 0, new Uint8Array(n));
    r.frame = running(source.frame ?? 0, new Float64Array(n));
    r.last = fill(source.last ?? 0, new Float64Array(n));
    r.time = running(source.time ?? 0, new Float64Array(n));
    r.took = fill(source.took ?? 0, new Float64Array(n));
    r.packets = fill(source.packets ?? 0, new Float64Array(n));
    r.length = fill(source.length ?? 0, new Float64Array(n));
    r.exchange = running(source.exchange ?? 0, new Float64Array(n));
    r.procedure = fill(source.procedure ?? 0, new Uint16Array(n));
    r.operation = fill(source.operation ?? 0, new Uint16Array(n));
    r.xid = running(source.xid ?? 0, new Float64Array(n));
    r.place = new Uint32Array(n);
    let messages = 0;
    let operations = 0;
    for (let i = 0; i < n; ++i) {
      if (isMessage(r.kind[i])) r.place[i] = messages++;
      else if (isOperation(r.kind[i])) r.place[i] = operations++;
    }
    for (const name of ["names", "credit", "header", "lost", "holes", "outstanding", "granted",
      "threshold", "invalidated", "reads", "writes", "replies"]) {
      r[name] = fill(source[name] ?? 0, new Float64Array(messages));
    }
    for (const name of ["handle", "offer"]) r[name] = fill(source[name] ?? 0, new Float64Array(operations));
    r.op = running(source.op ?? 0, new Float64Array(operations));
    r.offset = source.offset ?? [];
    r.marks = source.marks ?? {};
    r.octets = source.octets ?? {};
    r.segments = source.segments ?? {};
    return r;
  }

  // What a row says: what it is, and what matters about it.
  function label(rows, i) {
    const [what, about, withXid] = Drawing.labels[rows.label[i]];
    return [what, withXid === 1 ? `${about} ${Text.hex(rows.xid[i])}`.trim() : about];
  }

  function series(source) {
    if (source === null) return null;
    const n = source.intervals;
    const s = { begin: source.begin, width: source.width, count: n };
    for (const name of ["at", "outstanding", "granted", "from_client", "from_server", "sent", "read", "written"]) {
      s[name] = fill(source[name], new Float64Array(n));
    }
    // Of each operation only the intervals in which Calls of it were answered; what takes most time comes first.
    s.operations = source.operations.map((o) => {
      const one = { name: o.name, intervals: o.intervals };
      for (const name of ["at", "count", "whole", "worst", "pull", "server", "push", "octets"]) one[name] = fill(o[name], new Float64Array(o.intervals));
      one.time = one.whole.reduce((a, b) => a + b, 0);
      return one;
    }).sort((a, b) => b.time - a.time);
    return s;
  }

  const made = new Map();
  // `index`: place in the report's list of connections.
  function connection(index) {
    if (!made.has(index)) {
      const facts = Report.connections[index];
      const source = Drawing.connections[facts.id];
      const waiting = source.waiting === null ? null
        : { calls: source.waiting[0], frame: source.waiting[1], since: source.waiting[2], until: source.waiting[3] };
      made.set(index, { index, facts, rows: rows(source), series: series(source.series), waiting });
    }
    return made.get(index);
  }

  function octets(base64) {
    const text = atob(base64);
    const out = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) out[i] = text.charCodeAt(i);
    return out;
  }

  const severities = ["error", "warning", "note"];
  const indexOf = (id) => Report.connections.findIndex((c) => c.id === id);
  // Of the whole run, in the order of severities, also where the page does not hold the findings themselves.
  const found = (id) => Drawing.connections[id]?.found ?? [0, 0, 0];
  // Where a finding was made: it may be one of several connections.
  const placesOf = (f) => (f.connections.length > 0 ? f.connections : f.connection === null ? [] : [f.connection]);
  // An attempt that became no connection.
  const failed = (c) => c.closed !== null && (c.closed.how === "refused" || c.closed.how === "unanswered");

  // A time of the report, as nanoseconds since the capture's first frame. Decimals: more digits than a number has.
  const nanoseconds = (text) => {
    const [seconds, fraction = ""] = text.split(".");
    return BigInt(seconds) * 1000000000n + BigInt(fraction.padEnd(9, "0").slice(0, 9));
  };
  const firsts = Report.inputs.filter((i) => i.first_time !== null).map((i) => nanoseconds(i.first_time));
  const epoch = firsts.reduce((a, b) => (b < a ? b : a), firsts[0] ?? 0n);
  const sinceBegin = (text) => (text === null || text === undefined ? null : Number(nanoseconds(text) - epoch));

  return { K, kinds, isMessage, isOperation, label, connection, octets, severities, indexOf, found, placesOf, failed, sinceBegin };
})();
