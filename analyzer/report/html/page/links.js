// SPDX-License-Identifier: GPL-2.0-or-later
// Every mount, finding, connection and frame has an address in the page that can be copied: #mount-1, #finding-3, #connection-2,
// #frame-477.
"use strict";

const Links = (() => {
  function button(id) {
    const link = el("a", { class: "here", href: `#${id}`, title: `Link to this: #${id}`, "aria-label": "link to this", onclick: async () => {
      try {
        await navigator.clipboard.writeText(`${location.href.split("#")[0]}#${id}`);
        say("the link is copied");
      } catch {
        // The address bar has it.
      }
    } }, "#");
    return link;
  }

  // Goes where the address says; whatever is folded away opens.
  function follow(hash) {
    const match = /^#(mount|finding|connection|frame)-(\d+)$/.exec(hash);
    if (match === null) return false;
    const [, what, digits] = match;
    const number = Number(digits);
    if (what === "mount") {
      if (document.getElementById(`mount-${number}`) === null) Mounts.unfold();
      const card = document.getElementById(`mount-${number}`);
      card?.scrollIntoView();
      return card !== null;
    }
    if (what === "finding") {
      if (number >= Report.findings.length) return false;
      Page.finding(number);
      return true;
    }
    if (what === "connection") return Page.connection(number);
    return Page.frame(number);
  }

  return { button, follow };
})();
