// SPDX-License-Identifier: GPL-2.0-or-later
// operations.mjs --analyzer FILE --forge FILE --source FOLDER --folder FOLDER: NFSv4 by operation, in the search, the ladder's filter, the
// charts and the table of a mount. A COMPOUND is what it was sent for.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { launch, watched } from "./browser.mjs";
import { analysed } from "./captures.mjs";

const { values: given } = parseArgs({ options: { analyzer: { type: "string" }, forge: { type: "string" }, multiply: { type: "string" }, source: { type: "string" }, folder: { type: "string" }, only: { type: "string" } } });
mkdirSync(given.folder, { recursive: true });
const file = (name) => join(given.folder, name);
const browser = await launch();
const tests = [];
const test = (name, body) => tests.push([name, body]);

async function opened(capture) {
  const made = await analysed(given.analyzer, capture, file("operations.html"));
  const page = await watched(browser);
  await page.open(made.page);
  return { ...made, page };
}
const done = async (page) => {
  assert.deepEqual(page.trouble, []);
  await page.close();
};

// Two WRITEs, a READ and a GETATTR; where their time goes is told by the waits between (milliseconds), and by little else.
const WRITE = { pull: 30, server: 10, push: 0, octets: 12000 };
const READ = { pull: 0, server: 20, push: 40, octets: 12000 };
const seconds = (ms) => `  - wait: ${ms / 1000}`;
const write = (handle) => [`  - call: {nfs4: write, octets: ${WRITE.octets}, reads: [{handle: ${handle}}]}`, seconds(WRITE.pull), "  - read: {by: server, pieces: 4000}", seconds(WRITE.server), "  - reply"];
const story = file("operations.yaml");
writeFileSync(story, ["title: operations", "why: x", "steps:", "  - connect", "  - call: {nfs4: [sequence, create_session]}", "  - reply", ...write("0xA200"), ...write("0xA201"),
  `  - call: {nfs4: read, octets: ${READ.octets}, writes: [{handle: 0xA100, length: ${READ.octets}}]}`, seconds(READ.server), `  - write: {by: server, handle: 0xA100, length: ${READ.octets}}`, seconds(READ.push), "  - reply: {place: no}",
  "  - call: {nfs4: getattr}", seconds(5), "  - reply", "  - disconnect: client", ""].join("\n"));
const capture = file("operations.pcap");
execFileSync(given.forge, [story, "--transport", "rocev2", "--out", capture]);

const rows = (page) => page.$$eval(".layer .row", (all) => all.map((r) => ({ kind: /k-(\w+)/.exec(r.getAttribute("class"))[1], text: r.querySelector(".label").textContent })));
const shown = async (page, count) => {
  await page.waitForFunction((n) => document.querySelectorAll(".layer .row").length === n, count);
  return rows(page);
};

test("the ladder's filter and search know operations", async () => {
  const { page } = await opened(capture);
  const options = (id) => page.$$eval(`${id} option`, (all) => all.map((o) => o.textContent));
  assert.deepEqual(await options("#filter-operation"), ["every operation", "CREATE_SESSION", "GETATTR", "READ", "WRITE"]);
  // A WRITE is its Call, three Reads with their answers, and its Reply.
  await page.selectOption("#filter-operation", { label: "WRITE" });
  const writes = await shown(page, 16);
  const kinds = (all) => Object.fromEntries(["call", "reply", "read_request", "read_response", "write"].map((k) => [k, all.filter(({ kind }) => kind === k).length]));
  assert.deepEqual(kinds(writes), { call: 2, reply: 2, read_request: 6, read_response: 6, write: 0 });
  for (const { kind, text } of writes) if (kind === "call" || kind === "reply") assert.match(text, /^(Call|Reply) NFSv4 WRITE 0x[0-9a-f]{8}$/);
  await page.selectOption("#filter-operation", { label: "READ" });
  assert.deepEqual(kinds(await shown(page, 3)), { call: 1, reply: 1, read_request: 0, read_response: 0, write: 1 });
  await page.click("#filter-clear");
  assert.equal(await page.inputValue("#filter-operation"), "0");
  // Words: the Calls and Replies of WRITE, and what was moved for it. An RDMA Write of another operation has the word as well.
  for (const id of ["reads", "writes", "rest"]) await page.uncheck(`#kind-${id}`);
  await page.fill("#filter-xid", "WRITE");
  assert.deepEqual((await shown(page, 4)).map(({ text }) => text.replace(/ 0x.*/, "")), ["Call NFSv4 WRITE", "Reply NFSv4 WRITE", "Call NFSv4 WRITE", "Reply NFSv4 WRITE"]);
  await done(page);
});

test("the page's search leads to the Calls of an operation", async () => {
  const { page } = await opened(capture);
  await page.fill("#search", "write calls");
  const hits = await page.$$eval("#results a", (all) => all.map((a) => [a.getAttribute("href"), a.textContent]));
  const [[href, text], ...more] = hits;
  assert.deepEqual(more, []);
  assert.match(text, /^WRITE: 2 Calls on connection 1, the first in frame \d+$/);
  assert.equal(href, `#frame-${/\d+$/.exec(text)[0]}`);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".detail");
  assert.match(await page.textContent(".detail h3"), /^Call NFSv4 WRITE/);
  await done(page);
});

const titles = (page) => page.$$eval(".chart .u-title", (all) => all.map((e) => e.textContent));
const legend = (page, title) => page.$$eval(".chart", (all, wanted) => {
  const chart = all.find((c) => c.querySelector(".u-title").textContent.startsWith(wanted));
  return [...chart.querySelectorAll(".u-legend .u-label")].slice(1).map((e) => e.textContent);
}, title);

test("charts by operation, of all and of one", async () => {
  const { page } = await opened(capture);
  // The most time first: 80 ms of WRITE, 60 of READ, 5 of GETATTR.
  const all = ["WRITE", "READ", "GETATTR", "CREATE_SESSION"];
  for (const title of ["Latency by operation", "Octets by operation"]) assert.deepEqual(await legend(page, title), all);
  assert.ok((await titles(page)).some((t) => t.startsWith("Pull, server and push of every operation")));
  assert.deepEqual(await page.$$eval("#chart-operation option", (o) => o.map((e) => e.textContent)), ["every operation", ...all]);
  const charts = await page.locator(".chart").count();
  const range = await page.evaluate(() => Connection.current.charts.range());
  await page.selectOption("#chart-operation", { label: "READ" });
  assert.deepEqual(await legend(page, "Latency of READ"), ["READ", "worst"]);
  assert.deepEqual(await legend(page, "Octets of READ"), ["READ"]);
  assert.deepEqual(await legend(page, "Pull, server and push of READ"), ["push", "server", "pull"]);
  assert.equal(await page.locator(".chart").count(), charts);
  assert.deepEqual(await page.evaluate(() => Connection.current.charts.range()), range);
  await page.selectOption("#chart-operation", { label: "every operation" });
  assert.deepEqual(await legend(page, "Latency by operation"), all);
  await done(page);
});

test("the zoom stays when another operation is chosen", async () => {
  const { page } = await opened(capture);
  const whole = (await page.evaluate(() => Connection.current.charts.range()))[0];
  const box = await page.locator(".chart .u-over").first().boundingBox();
  await page.locator(".chart .u-over").first().scrollIntoViewIfNeeded();
  const { y } = await page.locator(".chart .u-over").first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y + 50, { steps: 5 });
  await page.evaluate(() => new Promise((next) => { requestAnimationFrame(() => requestAnimationFrame(next)); }));
  await page.mouse.up();
  await page.waitForFunction((min) => Connection.current.charts.range()[0][0] > min, whole[0]);
  const zoomed = await page.evaluate(() => Connection.current.charts.range());
  await page.selectOption("#chart-operation", { label: "WRITE" });
  await page.waitForFunction((wanted) => JSON.stringify(Connection.current.charts.range()) === wanted, JSON.stringify(zoomed));
  await done(page);
});

test("time and octets of each operation are those of the wire", async () => {
  const { page } = await opened(capture);
  const sums = await page.evaluate(() => Data.connection(0).series.operations.map((o) => Object.fromEntries([["name", o.name],
    ...["count", "whole", "pull", "server", "push", "octets"].map((k) => [k, o[k].reduce((a, b) => a + b, 0)])])));
  for (const [name, calls, wanted] of [["WRITE", 2, WRITE], ["READ", 1, READ]]) {
    const sum = sums.find((o) => o.name === name);
    assert.equal(sum.count, calls);
    // Packets come ten microseconds apart.
    for (const part of ["pull", "server", "push"]) assert.ok(Math.abs(sum[part] / calls / 1e6 - wanted[part]) < 0.5, `${part} of ${name}: ${sum[part]} ns`);
    // Beside the data only a Call and a Reply, each below the threshold.
    assert.ok(sum.octets / calls > wanted.octets && sum.octets / calls < wanted.octets + 1024, `${sum.octets} octets of ${name}`);
  }
  // The table of the mount: a row for each operation, with the part that takes most marked.
  const table = await page.$$eval(".mount table tbody tr", (all) => all.map((r) => [...r.children].map((c) => (c.classList.contains("most") ? `*${c.textContent}` : c.textContent))));
  const heads = await page.$$eval(".mount table thead th", (all) => all.map((c) => c.textContent));
  assert.deepEqual(heads, ["operation", "Calls", "octets", "median", "99 %", "worst", "pull", "server", "push"]);
  const row = (name) => Object.fromEntries(table.find(([first]) => first === name).map((v, i) => [heads[i], v]));
  assert.equal(row("WRITE").Calls, "2");
  assert.match(row("WRITE").pull, /^\*30,\d{3}/);
  assert.equal(row("WRITE").push, "–");
  assert.match(row("READ").push, /^\*40,\d{3}/);
  await done(page);
});

test("NFSv3 has the names of its procedures, each callback its own", async () => {
  const v3 = await opened(join(given.source, "captures", "kernel", "rxe-nfs3-basic.pcap"));
  const names = async (page) => (await page.$$eval("#filter-operation option", (all) => all.map((o) => o.textContent))).slice(1);
  for (const name of ["READ", "WRITE", "GETATTR"]) assert.ok((await names(v3.page)).includes(name), `${name} of ${await names(v3.page)}`);
  await done(v3.page);
  const recall = await opened(join(given.source, "captures", "kernel", "rxe-nfs41-cb-recall.pcap"));
  const first = recall.report.connections.findIndex((c) => c.procedures.some((p) => "CB_RECALL" in p.operations));
  await recall.page.evaluate((i) => Page.select(i), first);
  assert.ok((await names(recall.page)).includes("CB_RECALL"), `${await names(recall.page)}`);
  await done(recall.page);
});

let failed = 0;
const chosen = tests.filter(([name]) => given.only === undefined || name.includes(given.only));
for (const [name, body] of chosen) {
  try {
    await body();
    console.log(`ok    ${name}`);
  } catch (error) {
    ++failed;
    console.log(`WRONG ${name}\n${error.stack}`);
  }
}
await browser.close();
console.log(`${chosen.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 || chosen.length === 0 ? 1 : 0);
