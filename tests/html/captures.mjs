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

let fabricsOf;

// Another fabric for each, of those that the scenario allows.
export async function forged(forge, scenario, number, folder) {
  fabricsOf ??= run(forge, ["--list-transports"]).then(({ stdout }) => stdout.split(/\s+/).filter(Boolean));
  const allowed = /^transports: *\[?([^\]\n]*)/m.exec(readFileSync(scenario, "utf8"))?.[1].split(/[, ]+/).filter(Boolean);
  const family = (t) => (t.startsWith("iwarp") ? "iwarp" : "ib");
  const fabrics = (await fabricsOf).filter((t) => allowed === undefined || allowed.includes(t) || allowed.includes(family(t)));
  const out = join(folder, `${basename(scenario, ".yaml")}.pcap`);
  await run(forge, [scenario, "--transport", fabrics[number % fabrics.length], "--out", out]);
  return out;
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
