// SPDX-License-Identifier: GPL-2.0-or-later
// Elements and words. Whatever comes from a capture gets into the page here, and only as text.
"use strict";

// Signs that would change how other text is shown, made visible.
const clean = (text) => String(text).replace(
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
  (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

const SVG = "http://www.w3.org/2000/svg";

function attributes(element, given) {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : clean(value));
  }
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(clean(child)));
  }
  return element;
}

const el = (tag, given = {}, ...children) => add(attributes(document.createElement(tag), given), children);
const svg = (tag, given = {}, ...children) => add(attributes(document.createElementNS(SVG, tag), given), children);

const Text = (() => {
  const thousands = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });  // dear to make, cheap to use
  const grouped = (n) => (typeof n === "number" && Number.isFinite(n) ? thousands.format(n) : String(n));
  const counted = (n, noun) => `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;
  const octets = (n) => counted(n, "octet");
  const hex = (n, digits = 8) => `0x${n.toString(16).padStart(digits, "0")}`;

  function duration(ns) {
    const sign = ns < 0 ? "−" : "";
    const a = Math.abs(ns);
    if (a < 1e3) return `${sign}${a} ns`;
    if (a < 1e6) return `${sign}${(a / 1e3).toPrecision(3)} µs`;
    if (a < 1e9) return `${sign}${(a / 1e6).toPrecision(3)} ms`;
    return `${sign}${(a / 1e9).toFixed(2)} s`;
  }
  // Seconds since the capture's first frame.
  const since = (ns) => `${ns < 0 ? "−" : "+"}${(Math.abs(ns) / 1e9).toFixed(6)} s`;

  function value(path) {
    let at = Report;
    for (const part of path.split(".")) at = at === null || at === undefined ? undefined : at[part];
    return at;
  }
  // Numbers that name something are not counted in thousands.
  const names = new Set(["port", "qpn", "frame", "id", "connection", "frames", "connections", "mount", "reply_frame", "first"]);
  const isName = (path) => {
    const parts = path.split(".");
    const last = parts.pop();
    return names.has(/^\d+$/.test(last) ? parts.pop() : last) && !/^(totals|inputs)|nfs_over_tcp\.frames$/.test(path);
  };
  // A value of the report with the place where it stands there, so that a test can hold one against the other.
  function fact(path, unknown = "unknown") {
    const v = value(path);
    const shown = v === null || v === undefined ? unknown : typeof v !== "number" || isName(path) ? String(v) : path.endsWith("seconds") ? String(Number(v.toFixed(6))) : grouped(v);
    return el("span", { "data-json": path, class: v === null || v === undefined ? "unknown" : undefined }, shown);
  }

  const sideName = (side) => (side === 0 ? "client" : "server");
  const endpoint = (end) => {
    const address = end.address === null ? "unknown address" : end.address.includes(":") && end.port !== null ? `[${end.address}]` : end.address;
    return `${address}${end.port === null ? "" : `:${end.port}`}${end.qpn === null ? "" : ` (QP ${hex(end.qpn, 6)})`}`;
  };

  // Places in the page: Page goes where such a link says, also when the page is opened with it.
  const frame = (path) => (Report.connections.length === 0 ? fact(path) : el("a", { class: "jump", href: `#frame-${value(path)}` }, fact(path)));
  const frames = (path, list) => list.slice(0, 12).map((_, i) => [i > 0 ? ", " : "", frame(`${path}.${i}`)])
    .concat(list.length > 12 ? [` and ${grouped(list.length - 12)} more`] : []);
  const connection = (path) => (Data.indexOf(value(path)) < 0 ? fact(path) : el("a", { class: "jump", href: `#connection-${value(path)}` }, fact(path)));
  // Many of them are folded; of very many the page holds only the first.
  function connections(path, list) {
    const most = 400;
    const all = list.slice(0, most).map((_, i) => [i > 0 ? ", " : "", connection(`${path}.${i}`)]);
    const rest = list.length > most ? ` and ${grouped(list.length - most)} more` : "";
    if (list.length <= 12) return [list.length === 1 ? "connection " : "connections ", all];
    return el("details", { class: "many" }, el("summary", {}, counted(list.length, "connection")), el("p", {}, all, rest));
  }
  // What can be copied: a click puts the place into the address and the whole link onto the clipboard.
  const permalink = (hash, what) => el("a", { class: "anchor", href: hash, title: `Link to ${what}`, "aria-label": `Link to ${what}`, onclick: () => {
    navigator.clipboard?.writeText(location.href.split("#")[0] + hash).then(() => say("link copied"), () => {});
  } }, "#");

  return { grouped, counted, octets, hex, duration, since, value, fact, sideName, endpoint, frame, frames, connection, connections, permalink };
})();

function say(text) {
  document.getElementById("said").textContent = clean(text);
}
