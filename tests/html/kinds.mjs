// SPDX-License-Identifier: GPL-2.0-or-later
// What a page can show, as words: rules, places of the report, kinds of rows and elements. Whoever opens the chosen pages has seen
// each of these words at least once.

// Strings of the report that are one of a few; others are a capture's own.
const WORDS = /(^|\.)(transport|how|by|basis|roles_from|confidence|severity|violator|role|format|rule|reason_code|damaged|kind|state|owes)$/;

// connections.3.messages.calls and connections.0.messages.calls are one place.
const place = (path) => path.split(".").map((part) => (/^\d+$/.test(part) ? "#" : part)).join(".").replace(/(procedures\.#\.operations\.).+/, "$1*");

function* leaves(value, path = "") {
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value);
    if (entries.length === 0) yield [path, "empty"];
    for (const [key, inner] of entries) yield* leaves(inner, path === "" ? key : `${path}.${key}`);
  } else {
    yield [path, value];
  }
}

const amount = (n) => (n === 0 ? "none" : n === 1 ? "one" : "several");

export function* ofReport(report) {
  yield `${amount(report.connections.length)} connections`;
  yield `${amount(report.findings.length)} findings`;
  for (const finding of report.findings) {
    yield `rule ${finding.rule}`;
    yield `rule ${finding.rule}, ${finding.severity}, by ${finding.violator}`;
    yield `${amount(finding.frames.length)} frames of a finding`;
  }
  for (const { rule } of report.unchecked) yield `unchecked ${rule}`;
  for (const input of report.inputs) for (const link of input.link_types) yield `link ${link}`;
  for (const connection of report.connections) {
    yield `version ${connection.version} on ${connection.transport}`;
    for (const { name } of connection.procedures) yield `procedure ${name}`;
  }
  for (const [path, value] of leaves(report)) {
    if (/^(findings|unchecked)\./.test(path) && value !== null) continue;
    const told = value === null || typeof value === "boolean" || value === "empty" || WORDS.test(path) ? value : typeof value === "number" ? amount(value) : "text";
    yield `${place(path)}: ${told}`;
  }
}

// Of what shownFacts found.
export function* ofShown(shown) {
  for (const path of Object.keys(shown.facts)) yield `fact ${place(path)}`;
  yield* shown.rows;
}
// Numbers and words, and who broke a rule, are shown alike everywhere: they are looked at without a browser.
export const isForBrowser = (kind) => /^(fact|row|element|rule [^,]+$|version|procedure|several|one|none) ?/.test(kind);
export const isOfShown = (kind) => /^(fact|row) /.test(kind);

export function* ofPage(elements) {
  for (const element of elements) yield `element ${element.replace(/\bf\d\b/, "f#")}`;
}

// The pages that together show everything that all of them show: always the one that adds most.
export function chosen(pages) {
  const left = new Set(pages.flatMap(({ kinds }) => [...kinds]));
  const out = [];
  let rest = pages.map((page) => ({ page, adds: page.kinds.size }));
  while (left.size > 0) {
    // What a page adds can only become less: the first that still adds what was known of it is the best.
    rest.sort((a, b) => b.adds - a.adds);
    let best = null;
    for (const one of rest) {
      if (best !== null && one.adds <= best.adds) break;
      one.adds = [...one.page.kinds].filter((kind) => left.has(kind)).length;
      if (best === null || one.adds > best.adds) best = one;
    }
    if (best.adds === 0) break;
    best.page.kinds.forEach((kind) => left.delete(kind));
    out.push(best.page);
    rest = rest.filter((one) => one !== best && one.adds > 0);
  }
  return out;
}
