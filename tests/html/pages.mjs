// SPDX-License-Identifier: GPL-2.0-or-later
// pages.mjs --analyzer FILE --forge FILE --source FOLDER --folder FOLDER [--only WORD]: the page of each bundled capture, and of all
// scenarios, those of one fabric in one capture. All of them are run in a small document: every number as in the JSON, and a size
// that stays small. Then as few as show every rule and every kind of row, element and fact are opened in Chromium: no console
// error, no request, and the same facts again. --only takes scenarios one by one.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { launch, watched } from "./browser.mjs";
import { analysed, bundled, forged, gathered, rulesOf, scenarios } from "./captures.mjs";
import { chosen, isForBrowser, isOfShown, ofPage, ofReport, ofShown } from "./kinds.mjs";
import { compare, shownFacts } from "./numbers.mjs";
import { opened, taken } from "./small_document.mjs";

const { values: given } = parseArgs({ options: { analyzer: { type: "string" }, forge: { type: "string" }, source: { type: "string" }, folder: { type: "string" }, multiply: { type: "string" }, only: { type: "string" } } });
const MOST = 2 << 20;
const RUN = `tests/html/run ${fileURLToPath(new URL(".", import.meta.url))} pages.mjs --analyzer ${given.analyzer} --forge ${given.forge} --source ${given.source} --folder ${given.folder}`;
// What shows only where nothing else is in the capture: no connection, no finding, a longer list than others.
const BY_THEMSELVES = ["not-rpcrdma", "done-in-another-order", "chunk-live-at-close", "nfs-chunks-as-many-as-allowed"];

mkdirSync(given.folder, { recursive: true });
const told = scenarios(given.source).map((path, i) => ({ name: basename(path), capture: () => forged(given.forge, path, i, given.folder) }));
const byName = (names) => told.filter(({ name }) => names.includes(basename(name, ".yaml")));
const recorded = bundled(given.source).map((path) => ({ name: basename(path), capture: async () => path }));
const together = await gathered(given.forge, scenarios(given.source), given.folder);
const work = given.only === undefined ? [...recorded, ...together, ...byName(BY_THEMSELVES)]
  : [...recorded, ...together, ...told].filter(({ name }) => name.includes(given.only));
const failed = new Set();
function complain(name, wrong) {
  if (wrong.length === 0) return;
  failed.add(name);
  console.log(`${name}: ${[...new Set(wrong)].slice(0, 5).join("\n    ")}\n    alone: ${RUN} --only ${name}`);
}

async function inTurn(things, count, body) {
  const left = [...things];
  await Promise.all(Array.from({ length: count }, async (_, number) => {
    for (let thing = left.shift(); thing !== undefined; thing = left.shift()) await body(thing, number);
  }));
}

// --- every page, without a browser
let frame;
async function withoutBrowser(one, number) {
  const wrong = [];
  one.kinds = new Set();
  try {
    one.path = await one.capture();
    const { page: file, report } = await analysed(given.analyzer, one.path, join(given.folder, `${number}.html`));
    const octets = readFileSync(file);
    rmSync(file);
    if (octets.length > MOST) wrong.push(`${octets.length} octets are too many`);
    const text = octets.toString("utf8");
    const parts = taken(text);
    // What Chromium says of the frame, the script and the policy of one page is so of all of them.
    frame ??= parts.frame + parts.script;
    if (parts.frame + parts.script !== frame) wrong.push("something beside the two documents differs from other pages");
    for (const [id, document] of Object.entries(parts.documents)) if (/[<>&]/.test(document)) wrong.push(`${id} holds signs of markup`);
    const seen = new Set();
    const page = opened(text, seen, wrong);
    const shown = page.run(shownFacts);
    one.facts = shown.facts;
    wrong.push(...compare(report, shown));
    const connections = page.all(".pick tbody tr").length;
    if (connections !== report.connections.length) wrong.push(`${connections} connections are listed of ${report.connections.length}`);
    one.kinds = new Set([...ofReport(report), ...ofPage(seen), ...ofShown(shown)]);
  } catch (error) {
    wrong.push(error.stack);
  }
  return wrong;
}
await inTurn(work, 2, async (one, number) => {
  const wrong = await withoutBrowser(one, number);
  if (wrong.length === 0) return;
  // Which scenario it is, if one is enough.
  let found = false;
  for (const story of byName(one.members ?? [])) {
    const its = await withoutBrowser(story, number);
    complain(story.name, its);
    found ||= its.length > 0;
  }
  if (!found) complain(one.name, wrong);
});

// --- as few as show all of it, in the browser
for (const one of work) one.kinds = new Set([...one.kinds].filter(isForBrowser));
const kinds = new Set(work.flatMap(({ kinds: of }) => [...of]));
if (given.only === undefined) {
  const shown = [...kinds].filter((k) => k.startsWith("rule ")).map((k) => k.slice(5));
  for (const rule of await rulesOf(given.analyzer)) if (!shown.includes(rule)) complain(rule, ["this rule is on no page: a scenario that breaks it is needed"]);
}
const few = chosen(work);
const browser = await launch();
const met = new Set();
const pages = [];
await inTurn(few, 2, async (one, number) => {
  const page = pages[number] ??= await watched(browser);
  const wrong = [];
  try {
    const { page: file, report } = await analysed(given.analyzer, one.path, join(given.folder, `${number}.html`));
    await page.open(file);
    const shown = await page.evaluate(shownFacts);
    wrong.push(...compare(report, shown));
    const connections = await page.locator(".pick tbody tr").count();
    if (connections !== report.connections.length) wrong.push(`${connections} connections are listed of ${report.connections.length}`);
    for (const path of new Set([...Object.keys(shown.facts), ...Object.keys(one.facts)])) {
      const [here, there] = [shown.facts[path], one.facts[path]].map((texts) => JSON.stringify(texts));
      if (here !== there) wrong.push(`${path} is ${here} in the browser and ${there} without one`);
    }
    for (const kind of ofShown(shown)) met.add(kind);
    wrong.push(...page.trouble);
    rmSync(file);
  } catch (error) {
    wrong.push(error.message, ...page.trouble);
  }
  complain(one.name, wrong);
});
await browser.close();
const unmet = [...kinds].filter((kind) => isOfShown(kind) && !met.has(kind));
if (unmet.length > 0 && failed.size === 0) complain("pages", [`never shown in Chromium: ${unmet.join(", ")}`]);
console.log(`${work.length} pages, ${failed.size} failed; ${few.length} of them, opened in Chromium, show all ${kinds.size} kinds of content`);
process.exit(failed.size > 0 || work.length === 0 ? 1 : 0);
