// SPDX-License-Identifier: GPL-2.0-or-later
// One Chromium for all tests, and a page that notices whatever must not happen.
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";

const QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

export async function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell", args: QUIET });
}

// `trouble` gathers console errors and warnings, uncaught errors, dialogs, and requests other than for the page itself.
export async function watched(browser, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 1000 }, ...options });
  const trouble = [];
  page.on("console", (m) => { if (["error", "warning"].includes(m.type())) trouble.push(`console: ${m.text()}`); });
  page.on("pageerror", (e) => trouble.push(`error: ${e.message}`));
  page.on("dialog", (d) => { trouble.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on("popup", () => trouble.push("popup"));
  page.on("request", (r) => { if (r.url() !== page.wanted) trouble.push(`request: ${r.url().slice(0, 120)}`); });
  page.trouble = trouble;
  page.setDefaultTimeout(300_000);
  page.open = async (file, hash = "") => {
    trouble.length = 0;
    page.wanted = pathToFileURL(file).href;
    await page.goto(page.wanted + hash, { timeout: 600_000 });
    await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", null, { timeout: 600_000 });
  };
  return page;
}
