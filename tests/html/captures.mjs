// SPDX-License-Identifier: GPL-2.0-or-later
// The captures that pages are made of: bundled ones, and each scenario forged on one fabric.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, basename } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export function bundled(root) {
  return ["kernel", "peers", "v2"].flatMap((folder) => {
    const path = join(root, "captures", folder);
    return readdirSync(path).filter((n) => /\.pcap(ng)?$/.test(n)).sort().map((n) => join(path, n));
  });
}

export function scenarios(root) {
  const path = join(root, "captures", "scenarios");
  return readdirSync(path).filter((n) => n.endsWith(".yaml")).sort().map((n) => join(path, n));
}

let known;
const fabrics = (forge) => (known ??= run(forge, ["--list-transports"]).then(({ stdout }) => stdout.split(/\s+/).filter(Boolean)));

// Another fabric for each, of those that the scenario allows.
async function fabricOf(forge, scenario, number) {
  const allowed = /^transports: *\[?([^\]\n]*)/m.exec(readFileSync(scenario, "utf8"))?.[1].split(/[, ]+/).filter(Boolean);
  const family = (t) => (t.startsWith("iwarp") ? "iwarp" : "ib");
  const can = (await fabrics(forge)).filter((t) => allowed === undefined || allowed.includes(t) || allowed.includes(family(t)));
  return can[number % can.length];
}

export async function forged(forge, scenario, number, folder) {
  const out = join(folder, `${basename(scenario, ".yaml")}.pcap`);
  await run(forge, [scenario, "--transport", await fabricOf(forge, scenario, number), "--out", out]);
  return out;
}

// Few enough for all of their mounts to be on one page, which shows 100.
const STORIES_TOGETHER = 70;

// The scenarios that are forged on one fabric, once more in one capture or two: many connections, many rules.
export async function gathered(forge, every, folder) {
  const by = new Map((await fabrics(forge)).map((name) => [name, []]));
  for (const [i, scenario] of every.entries()) by.get(await fabricOf(forge, scenario, i)).push(scenario);
  return [...by].flatMap(([fabric, all]) => {
    const groups = [];
    for (let at = 0; at < all.length; at += STORIES_TOGETHER) groups.push(all.slice(at, at + STORIES_TOGETHER));
    return groups.map((members, i) => ({ fabric, members, name: `gathered-${fabric}${i === 0 ? "" : `-${i + 1}`}` }));
  }).map(({ fabric, members, name }) => ({
    name,
    members: members.map((path) => basename(path, ".yaml")),
    capture: async () => {
      const out = join(folder, `${name}.pcap`);
      await run(forge, [...members, "--transport", fabric, "--out", out, "--map", `${out}.json`]);
      // A capture of one story leaves out nothing, and its map does not say so.
      const { left_out: left = [] } = JSON.parse(readFileSync(`${out}.json`, "utf8"));
      if (left.length > 0) throw new Error(`${fabric} leaves out ${left.map(({ scenario, why }) => `${scenario} (${why})`).join(", ")}`);
      return out;
    },
  }));
}

export async function rulesOf(analyzer) {
  return JSON.parse((await run(analyzer, ["--list-rules", "--json"])).stdout).map(({ name }) => name);
}

// -> { page, report }: the page's file, and what --json printed in the same run.
export async function analysed(analyzer, capture, page, options = []) {
  let stdout;
  try {
    ({ stdout } = await run(analyzer, ["--json", "--no-progress", "--html", page, ...options, capture], { maxBuffer: 1 << 28 }));
  } catch (error) {
    if (![1, 2, 3].includes(error.code)) throw error;
    stdout = error.stdout; // findings, or an input that could not be read to its end
  }
  return { page, report: JSON.parse(stdout) };
}
