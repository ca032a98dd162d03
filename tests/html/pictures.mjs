// SPDX-License-Identifier: GPL-2.0-or-later
// pictures.mjs --analyzer FILE --source FOLDER --folder FOLDER: the guide's pictures of pages.
import { join } from "node:path";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { launch, watched } from "./browser.mjs";
import { analysed } from "./captures.mjs";

const { values: given } = parseArgs({ options: { analyzer: { type: "string" }, source: { type: "string" }, folder: { type: "string" } } });

// What is on the picture is brought into view and chosen by the page's own means.
const pictures = [
  ["html-findings", "peers/rxe-upeer-over-client-threshold-breaks.pcap", "light", () => {}],
  ["html-ladder", "peers/rxe-upeer-credit-overrun-breaks.pcap", "light", () => {
    Page.show(Report.findings.findIndex((f) => f.severity === "error"));
  }],
  ["html-mount", "kernel/siw-nfs3-client-dies.pcap", "light", () => {}],
  ["html-hang", "kernel/siw-nfs3-client-dies.pcap", "light", () => {
    document.getElementById("ladder").scrollIntoView();
    document.querySelector(".ladder-box .scroll").scrollTop = 1e9;
  }],
  ["html-transaction", "kernel/rxe-nfs3-big-rw.pcap", "dark", () => {
    const { rows } = Data.connection(Connection.current.index);
    const call = rows.kind.findIndex((k, i) => k === Data.K.call && rows.writes[rows.place[i]] > 0);
    document.getElementById("ladder").scrollIntoView();
    Connection.current.ladder.choose(call, true);
  }],
  ["html-handshake", "kernel/siw-nfs42-inline-c1024r-c2048w-s8192.pcap", "light", () => {
    document.querySelector(".sides").previousElementSibling.scrollIntoView();
  }],
  ["html-charts", "kernel/siw-nfs41-big-rw.pcap", "light", () => {
    document.querySelector(".charts").parentElement.scrollIntoView();
  }],
];

const browser = await launch();
const folder = mkdtempSync(join(tmpdir(), "pictures-"));
for (const [name, capture, colorScheme, prepare] of pictures) {
  const { page: file } = await analysed(given.analyzer, join(given.source, "captures", capture), join(folder, "page.html"));
  const page = await watched(browser, { colorScheme, viewport: { width: 1360, height: 900 } });
  await page.open(file);
  await page.evaluate(prepare);
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(given.folder, `${name}.png`) });
  await page.close();
}
await browser.close();
