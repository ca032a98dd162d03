// SPDX-License-Identifier: GPL-2.0-or-later
// pages.mjs --analyzer FILE --forge FILE --source FOLDER --folder FOLDER [--only WORD]: opens the page of each bundled
// capture and of each scenario: no console error, no request, every number as in the JSON, and a size that stays small.
import { mkdirSync, statSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { launch, watched } from "./browser.mjs";
import { analysed, bundled, forged, scenarios } from "./captures.mjs";
import { compare, shownFacts } from "./numbers.mjs";

const { values: given } = parseArgs({ options: { analyzer: { type: "string" }, forge: { type: "string" }, source: { type: "string" }, folder: { type: "string" }, multiply: { type: "string" }, only: { type: "string" } } });
const MOST = 2 << 20;

const work = [
  ...bundled(given.source).map((path) => ({ name: basename(path), capture: async () => path })),
  ...scenarios(given.source).map((path, i) => ({ name: basename(path), capture: () => forged(given.forge, path, i, given.folder) })),
].filter(({ name }) => given.only === undefined || name.includes(given.only));

mkdirSync(given.folder, { recursive: true });
const browser = await launch();
let failed = 0;
let next = 0;

async function worker(number) {
  const page = await watched(browser);
  while (next < work.length) {
    const { name, capture } = work[next++];
    const wrong = [];
    try {
      const { page: file, report } = await analysed(given.analyzer, await capture(), join(given.folder, `${number}.html`));
      await page.open(file);
      wrong.push(...compare(report, await page.evaluate(shownFacts)));
      if (statSync(file).size > MOST) wrong.push(`${statSync(file).size} octets are too many`);
      wrong.push(...page.trouble);
      const connections = await page.locator(".pick tbody tr").count();
      if (connections !== report.connections.length) wrong.push(`${connections} connections are listed of ${report.connections.length}`);
      rmSync(file);
    } catch (error) {
      wrong.push(error.message, ...page.trouble);
    }
    if (wrong.length > 0) {
      ++failed;
      console.log(`${name}: ${[...new Set(wrong)].slice(0, 5).join("\n    ")}`);
    }
  }
}
await Promise.all([worker(0), worker(1)]);
await browser.close();
console.log(`${work.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 || work.length === 0 ? 1 : 0);
