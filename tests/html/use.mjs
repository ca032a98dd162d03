// SPDX-License-Identifier: GPL-2.0-or-later
// use.mjs --analyzer FILE --forge FILE --multiply FILE --source FOLDER --folder FOLDER: the page in use. Clicks, filters and
// keys; hostile captures; a capture of 100,000 messages; dark, light, paper and narrow windows.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { launch, watched } from "./browser.mjs";
import { analysed } from "./captures.mjs";

const { values: given } = parseArgs({ options: { analyzer: { type: "string" }, forge: { type: "string" }, multiply: { type: "string" }, source: { type: "string" }, folder: { type: "string" }, only: { type: "string" } } });
mkdirSync(given.folder, { recursive: true });
const capture = (name) => join(given.source, "captures", name);
const file = (name) => join(given.folder, name);
const browser = await launch();
const tests = [];
const test = (name, body) => tests.push([name, body]);

async function opened(path, options = {}, extra = []) {
  const made = await analysed(given.analyzer, path, file("use.html"), extra);
  const page = await watched(browser, options);
  await page.open(made.page);
  return { ...made, page };
}
const done = async (page) => {
  assert.deepEqual(page.trouble, []);
  await page.close();
};
const rowTexts = (page) => page.$$eval(".layer .row .label", (all) => all.map((e) => e.textContent));
const counted = async (page) => (await page.textContent(".count")).trim();

test("a finding leads to its row, and the row explains itself", async () => {
  const { page, report } = await opened(capture("peers/rxe-upeer-over-client-threshold-breaks.pcap"));
  const first = report.findings.find((f) => f.severity === "error");
  assert.equal(await page.textContent(".finding.error h3"), first.title);
  await page.click(".finding.error .show");
  await page.waitForSelector(".detail .mark.error");
  assert.match(await page.textContent(".detail .where"), new RegExp(`frames? ${first.frames[0]} `));
  assert.ok((await page.locator(".row .back.chosen").count()) === 1);
  // Its header, field by field: the XID stands first, in the octets as in the table.
  assert.match(await page.textContent(".detail .fields"), /rdma_xid.*rdma_vers.*rdma_credit.*rdma_proc.*RDMA_MSG/s);
  assert.match(await page.textContent(".detail .fields"), /RFC 8166 section 4\.2/);
  const octets = (await page.$$eval(".detail .octet", (all) => all.slice(0, 4).map((e) => e.textContent))).join("");
  assert.equal(`0x${octets}`, first.xid);
  await page.hover(".detail .fields tbody tr:nth-child(2)");
  assert.equal(await page.locator(".detail .octet.lit").count(), 4);
  await page.click(".detail .mark .link");
  assert.ok(await page.locator("#findings details[open]").count() > 0);
  await done(page);
});

test("filters by XID, procedure, kind and finding", async () => {
  const { page, report } = await opened(capture("kernel/rxe-nfs3-basic.pcap"));
  const all = await counted(page);
  const row = page.locator(".row.k-call").nth(3);
  const xid = /0x[0-9a-f]{8}/.exec(await row.textContent())[0];
  await page.fill("#filter-xid", xid);
  await page.waitForFunction((x) => [...document.querySelectorAll(".layer .row .label")].every((e) => e.textContent.includes(x)), xid);
  assert.match(await counted(page), /^2 of /);
  await page.click("#filter-clear");
  assert.equal(await counted(page), all);
  const read = report.connections[0].procedures.find((p) => p.name === "NFSv3 READ");
  await page.selectOption("#filter-procedure", { label: "NFSv3 READ" });
  await page.waitForFunction((calls) => document.querySelectorAll(".layer .row.k-call").length === calls, read.calls);
  await page.click("#filter-clear");
  for (const id of ["calls", "replies", "reads", "faults", "rest"]) await page.uncheck(`#kind-${id}`);
  await page.waitForFunction(() => [...document.querySelectorAll(".layer .row")].every((e) => e.classList.contains("k-write")));
  assert.match(await counted(page), new RegExp(`^${report.connections[0].operations.writes} of `));
  await page.click("#filter-clear");
  await page.selectOption("#filter-finding", "any");
  await page.waitForFunction(() => [...document.querySelectorAll(".layer .row")].every((e) => e.querySelector(".flag") !== null));
  await page.fill("#filter-xid", "nonsense");
  assert.match(await counted(page), /^0 of /);
  await done(page);
});

test("everything by keyboard", async () => {
  const { page } = await opened(capture("kernel/rxe-nfs3-basic.pcap"));
  await page.focus(".scroll");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.textContent(".detail h3"), "connect request ");
  await page.keyboard.press("End");
  const last = await page.textContent(".detail .where");
  await page.keyboard.press("Home");
  assert.notEqual(await page.textContent(".detail .where"), last);
  await page.keyboard.press("n");
  assert.equal(await page.locator(".detail .mark").count() > 0, true);
  for (let i = 0; i < 6; ++i) await page.keyboard.press("j");
  await page.keyboard.press("x");
  assert.match(await counted(page), / of /);
  await page.keyboard.press("Escape");
  assert.doesNotMatch(await counted(page), / of /);
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.className), "chosen");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "filter-xid");
  // Connections are chosen with Tab and Enter as well.
  await page.focus(".pick tbody tr");
  await page.keyboard.press("Enter");
  await done(page);
});

test("a transaction's memory: exposed, written, released", async () => {
  const { page } = await opened(capture("kernel/rxe-nfs3-big-rw.pcap"));
  await page.evaluate(() => {
    const { rows } = Data.connection(0);
    Connection.current.ladder.choose(rows.kind.findIndex((k, i) => k === Data.K.call && rows.writes[rows.place[i]] > 0), true);
  });
  await page.waitForSelector(".memory .range");
  const text = await page.textContent(".memory .range");
  assert.match(text, /Write chunk 1 0x[0-9a-f]{8} from 0x[0-9a-f]+, [\d,]+ octets/);
  assert.match(text, /exposed in frame \d+.*written from frame \d+.*released by frame \d+/);
  const ratio = await page.$eval(".memory .range svg", (s) => {
    const width = (c) => [...s.querySelectorAll(c)].reduce((w, e) => w + Number(e.getAttribute("width")), 0);
    return width(".written") / width(".exposed");
  });
  assert.ok(ratio > 0 && ratio < 1.1, `${ratio}`);
  await done(page);
});

test("several connections, each with its own ladder", async () => {
  const { page, report } = await opened(capture("kernel/rxe-nfs41-reconnect.pcap"));
  assert.ok(report.connections.length > 1);
  for (const [i, c] of report.connections.entries()) {
    await page.locator(".pick tbody tr").nth(i).click();
    assert.match(await page.textContent("#connection-title"), new RegExp(`^Connection ${c.id} `));
    if (c.messages.calls > 0) assert.equal(await page.locator(".chart canvas").count() >= 3, true);
  }
  await done(page);
});

test("dark, light, narrow and paper", async () => {
  const { page } = await opened(capture("kernel/rxe-nfs3-basic.pcap"), { colorScheme: "dark" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.click("#theme");
  assert.notEqual(await ground(), dark);
  await page.click("#theme");
  assert.equal(await ground(), dark);
  await page.setViewportSize({ width: 420, height: 800 });
  // Nothing sticks out of a narrow window, once the charts were drawn anew.
  await page.waitForFunction(() => innerWidth === 420 && document.documentElement.scrollWidth <= innerWidth);
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.ok(await page.locator(".paper .row").count() > 50);
  assert.equal(await page.locator(".filters").isVisible(), false);
  await done(page);
});

test("the mount stands on top, and its hang is drawn to the end of the capture", async () => {
  const { page, report } = await opened(capture("kernel/siw-nfs3-client-dies.pcap"));
  assert.equal(await page.textContent(".verdict .sentence"), report.verdict.sentence);
  assert.equal(await page.locator("main > section").first().getAttribute("id"), "mounts");
  await page.evaluate(() => { document.querySelector(".ladder-box .scroll").scrollTop = 1e9; });
  await page.waitForSelector(".tail .silence");
  assert.match(await page.textContent(".tail"), /63 Calls without an answer/);
  const end = Number(report.inputs[0].last_time) - Number(report.inputs[0].first_time);
  const last = await page.evaluate(() => Math.max(...[...document.querySelectorAll(".chart")].map(() => Data.end / 1e9)));
  assert.ok(Math.abs(last - end) < 0.001, `${last} for ${end}`);
  await done(page);
});

test("an orderly end has no tail", async () => {
  const { page } = await opened(capture("kernel/rxe-nfs3-basic.pcap"));
  await page.evaluate(() => { document.querySelector(".ladder-box .scroll").scrollTop = 1e9; });
  await page.waitForTimeout(100);
  assert.equal(await page.locator(".tail").count(), 0);
  await done(page);
});

test("findings by rule and kind; what is not listed is counted", async () => {
  const { page, report } = await opened(capture("kernel/siw-nfs3-client-dies.pcap"));
  await page.selectOption("#findings-kind", "symptom");
  const symptoms = report.findings.filter((f) => f.kind === "symptom");
  const listed = await page.$$eval("#findings .finding", (all) => all.length);
  assert.equal(listed, symptoms.length);
  assert.match(await page.textContent("#findings-hidden"), new RegExp(`^${report.findings.length - symptoms.length} findings? not listed`));
  await page.selectOption("#findings-rule", "call-hangs");
  assert.equal(await page.$$eval("#findings .finding", (all) => all.length), 1);
  // A link to one that is hidden shows it.
  const other = report.findings.findIndex((f) => f.rule === "connection-lost");
  await page.evaluate((i) => { location.hash = `#finding-${i}`; }, other);
  await page.waitForSelector(`#finding-${other}`);
  await done(page);
});

test("connections sort and search, and say when nothing matches", async () => {
  const { page, report } = await opened(capture("kernel/rxe-nfs41-reconnect.pcap"));
  const ids = () => page.$$eval(".pick tbody tr:not([hidden])", (rows) => rows.map((r) => Number(r.firstElementChild.textContent)));
  const forwards = await ids();
  await page.click(".pick th:first-child button");
  assert.deepEqual(await ids(), [...forwards].reverse());
  await page.fill("#connections-search", "nfsv4 open");
  const having = report.connections.filter((c) => c.procedures.some((p) => "OPEN" in p.operations)).length;
  assert.equal((await ids()).length, having);
  await page.fill("#connections-search", "no such word");
  assert.equal((await ids()).length, 0);
  assert.equal(await page.textContent("#connections-none"), "no connection matches");
  await done(page);
});

test("a link to a frame and to a connection; words are sought in the ladder", async () => {
  const { page, report } = await opened(capture("kernel/rxe-nfs41-reconnect.pcap"));
  const second = report.connections[1];
  await page.evaluate((id) => { location.hash = `#connection-${id}`; }, second.id);
  await page.waitForFunction((id) => document.querySelector("#connection-title")?.textContent.startsWith(`Connection ${id} `), second.id);
  await page.evaluate((n) => { location.hash = `#frame-${n}`; }, report.findings.find((f) => f.connection === report.connections[0].id && f.frames.length > 0).frames[0]);
  await page.waitForSelector(".detail .chosen");
  await page.fill("#filter-xid", "no-such-operation");
  assert.match(await page.textContent(".count"), /nothing matches/);
  await done(page);
});

test("charts zoom together", async () => {
  const { page } = await opened(capture("kernel/siw-nfs41-big-rw.pcap"));
  await page.locator(".charts").scrollIntoViewIfNeeded();
  const box = await page.locator(".chart .u-over").first().boundingBox();
  await page.mouse.move(box.x + 40, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 140, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await page.waitForTimeout(200);
  const labels = await page.evaluate(() => [...document.querySelectorAll(".chart")].length);
  assert.ok(labels > 2);
  const ranges = await page.evaluate(() => Connection.current.charts.ranges());
  assert.equal(new Set(ranges.map((r) => r.join(" "))).size, 1, JSON.stringify(ranges));
  assert.ok(ranges[0][1] - ranges[0][0] < 1, JSON.stringify(ranges));
  await done(page);
});

test("a capture without RPC-over-RDMA has a page as well", async () => {
  const empty = file("empty.pcap");
  writeFileSync(empty, readFileSync(capture("kernel/rxe-nfs3-basic.pcap")).subarray(0, 24));
  const { page } = await opened(empty);
  assert.match(await page.textContent("#findings"), /No connection of NFS over RDMA was found/);
  await done(page);
});

test("only what was asked for: --connection and --severity", async () => {
  const { page, report } = await opened(capture("kernel/rxe-nfs41-reconnect.pcap"), {}, ["--connection", "2", "--severity", "warning"]);
  assert.deepEqual(report.connections.map((c) => c.id), [2]);
  assert.equal(await page.locator(".pick tbody tr").count(), 1);
  await done(page);
});

// --- what others wrote must not act
const EVIL = ["<script>window.pwned=1</script>", "</script><script>window.pwned=1</script>", "<!--<script>", "<img src=x onerror=window.pwned=1>", "\"'><svg onload=window.pwned=1>",
  "javascript:window.pwned=1", "{{script}}", "]]>\u202eevil\u2028", "&lt;b&gt;"];

async function harmless(path, extra = [], connections = undefined) {
  const { page, report } = await opened(path, {}, extra);
  if (connections !== undefined) assert.equal(report.connections.length, connections);
  await page.evaluate(() => {
    document.querySelectorAll("details").forEach((d) => { d.open = true; });
    for (let i = 0; i < Report.connections.length; ++i) {
      Page.select(i);
      const { rows } = Data.connection(i);
      for (let r = 0; r < Math.min(rows.count, 60); ++r) Connection.current.ladder.choose(r, true);
    }
  });
  await page.waitForTimeout(50);
  const state = await page.evaluate(() => ({ pwned: window.pwned, scripts: document.scripts.length, strange: document.querySelectorAll("img, iframe, object, embed, link, [onerror], [onload], [style*=url]").length }));
  assert.deepEqual(state, { pwned: undefined, scripts: 3, strange: 0 });
  const text = await page.evaluate(() => document.body.innerText);
  await done(page);
  return text;
}

test("markup in names of folders and files", async () => {
  const names = EVIL.map((text, i) => `${i} ${text}`);
  const paths = names.map((name) => `${join(given.folder, "evil", ...name.split("/"))}.pcap`);
  for (const path of paths) {
    mkdirSync(join(path, ".."), { recursive: true });
    copyFileSync(capture("peers/rxe-upeer-over-client-threshold-breaks.pcap"), path);
  }
  const text = await harmless(paths[0], paths.slice(1));
  for (const name of names) {
    if (!/[\u202e{]/.test(name)) assert.ok(text.includes(name.split("/").at(-1)), `the page shows ${name}`);
    if (name.includes("\u202e")) assert.ok(text.includes("\\u{202e}") && !text.includes("\u202e"), "signs that turn the text are shown");
  }
  // A damaged input's reason, and octets that are no UTF-8.
  const cut = join(given.folder, "evil", "<img src=x onerror=window.pwned=1>.pcap");
  writeFileSync(cut, readFileSync(capture("kernel/rxe-nfs3-basic.pcap")).subarray(0, 20011));
  assert.match(await harmless(cut), /is damaged at octet/);
});

test("markup in messages, tags and private data", async () => {
  const hex = (text) => Buffer.from(text).toString("hex");
  const stories = EVIL.map((text, i) => {
    const words = hex(text.padEnd(64, " ").slice(0, 64));
    const story = file(`evil-${i}.yaml`);
    writeFileSync(story, ["title: markup", "why: x", "peers:", "  client: {private_data: \"" + words.slice(0, 64) + "\"}", "  server: {private_data: none}", "settings: {port: 20049}", "steps:",
      "  - connect", "  - call: {nfs4: getattr}", `  - reply: {tail: "${words}"}`, `  - send: {octets: "${words}"}`, `  - call: {xid: 0x3c736372, tail: "${words}"}`, "  - disconnect: client", ""].join("\n"));
    return story;
  });
  for (const fabric of ["rocev2", "iwarp"]) {
    execFileSync(given.forge, [...stories, "--transport", fabric, "--out", file("evil.pcap")]);
    await harmless(file("evil.pcap"), [], stories.length);
  }
  // Every printable run of a recorded capture replaced by markup: machine names, file names, tags.
  const bytes = readFileSync(capture("kernel/rxe-nfs41-basic.pcap"));
  const markup = Buffer.from("<img src=x onerror=window.pwned=1>".repeat(40));
  for (let at = 64; at < bytes.length;) {
    let end = at;
    while (end < bytes.length && bytes[end] >= 0x20 && bytes[end] < 0x7f) ++end;
    if (end - at >= 6) markup.copy(bytes, at, 0, end - at);
    at = end + 1;
  }
  writeFileSync(file("evil.pcap"), bytes);
  await harmless(file("evil.pcap"));
});

test("the page's policy stops what its own care would let through", async () => {
  const { page } = await opened(capture("kernel/rxe-nfs3-basic.pcap"));
  const loaded = [];
  page.on("requestfinished", (r) => loaded.push(r.url()));
  await page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent = "window.pwned = 1";
    document.body.append(script);
    const box = document.createElement("div");
    box.innerHTML = "<img src='http://127.0.0.1:9/x.png' onerror='window.pwned = 1'>";
    document.body.append(box);
    await fetch("http://127.0.0.1:9/").catch(() => {});
  });
  const refused = () => page.trouble.filter((t) => /Content Security Policy/.test(t)).length;
  for (let i = 0; i < 600 && refused() < 4; ++i) await page.waitForTimeout(50);
  assert.ok(refused() >= 4, page.trouble.join("\n"));
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(loaded, []);
  await page.close();
});

test("no source of the page makes markup of text", async () => {
  const folder = join(given.source, "analyzer", "report", "html", "page");
  for (const name of readdirSync(folder).filter((n) => /\.(js|html)$/.test(n))) {
    const text = readFileSync(join(folder, name), "utf8");
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\("style"|https?:\/\/(?!www\.w3\.org\/2000\/svg)/, name);
  }
});

// What the page's own thread computes, in milliseconds of the processor: other work on the machine does not count.
async function busy(page) {
  page.metrics ??= await page.context().newCDPSession(page);
  await page.metrics.send("Performance.enable", { timeDomain: "threadTicks" });
  const { metrics } = await page.metrics.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
}

test("100,000 messages open in under two seconds and scroll at once", async () => {
  const big = file("big.pcap");
  execFileSync(given.multiply, ["long", "320000", capture("kernel/rxe-nfs3-basic.pcap"), big]);
  const { page: path, report } = await analysed(given.analyzer, big, file("big.html"));
  assert.ok(report.totals.rdma_messages >= 100000, `${report.totals.rdma_messages} messages`);
  const size = statSync(path).size;
  assert.ok(size < 16 << 20, `${size} octets`);
  const page = await watched(browser);
  const before = await busy(page);
  await page.open(path);
  const opening = await busy(page) - before;
  console.log(`    ${(size / 1e6).toFixed(1)} MB, open after ${Math.round(opening)} ms`);
  assert.ok(opening > 20 && opening < 2000, `${opening} ms`);
  let slowest = 0;
  for (let i = 1; i <= 20; ++i) {
    const begin = await busy(page);
    await page.evaluate(async (part) => {
      const box = document.querySelector(".scroll");
      box.scrollTop = box.scrollHeight * part;
      await new Promise((next) => { requestAnimationFrame(() => requestAnimationFrame(next)); });
    }, i / 21);
    slowest = Math.max(slowest, await busy(page) - begin);
  }
  assert.ok(slowest < 1000, `a jump took ${slowest} ms`);
  assert.ok(await page.locator(".layer .row").count() < 80, "only rows in sight exist");
  const begin = await busy(page);
  await page.selectOption("#filter-procedure", { label: "NFSv3 READ" });
  assert.match(await counted(page), /^[\d,]+ of /);
  assert.ok(await busy(page) - begin < 2000);
  await page.focus(".scroll");
  await page.keyboard.press("End");
  assert.match(await page.textContent(".detail h3"), /NFSv3 READ/);
  await done(page);
});

test("a huge capture: bounded, and says what it left out", async () => {
  const huge = file("huge.pcap");
  const made = async (frames) => {
    execFileSync(given.multiply, ["many", String(frames), capture("kernel/rxe-nfs3-basic.pcap"), huge]);
    const { page: path, report } = await analysed(given.analyzer, huge, file("huge.html"));
    return { path, report, size: statSync(path).size };
  };
  // From some length on, a longer capture makes no larger page.
  const shorter = await made(200000);
  const { path, report, size } = await made(700000);
  console.log(`    ${report.totals.connections} connections, ${(size / 1e6).toFixed(1)} MB`);
  assert.ok(size < 16 << 20, `${size} octets`);
  assert.ok(Math.abs(size - shorter.size) < 1000, `${shorter.size} octets, then ${size}`);
  const page = await watched(browser);
  await page.open(path);
  assert.equal((await page.textContent("[data-json='totals.connections']")).replaceAll(",", ""), String(report.totals.connections));
  assert.match(await page.textContent("#connections"), /further connections left out/);
  await done(page);
});

let failed = 0;
const chosen = tests.filter(([name]) => given.only === undefined || name.includes(given.only));
const RUN = `tests/html/run ${fileURLToPath(new URL(".", import.meta.url))} use.mjs --analyzer ${given.analyzer} --forge ${given.forge} --multiply ${given.multiply} --source ${given.source} --folder ${given.folder}`;
for (const [name, body] of chosen) {
  try {
    await body();
    console.log(`ok    ${name}`);
  } catch (error) {
    ++failed;
    console.log(`WRONG ${name}\n${error.stack}\n    alone: ${RUN} --only "${name}"`);
  }
}
await browser.close();
console.log(`${chosen.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 || chosen.length === 0 ? 1 : 0);
