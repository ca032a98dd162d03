// SPDX-License-Identifier: GPL-2.0-or-later
// Octets with their fields: a grid whose cells are coloured by field, and a table that says what each one means.
"use strict";

const Octets = (() => {
  const NUMBER = 0, HEX = 1, FLAG = 2, OPAQUE = 3, SIZE = 4, BITS = 5;

  function fields(layout) {
    const numbers = Drawing.layouts[layout] === "" ? [] : Drawing.layouts[layout].split(",").map(Number);
    const out = [];
    for (let i = 0; i < numbers.length; i += 3) {
      const [name, meaning, section, form, values] = Drawing.fields[numbers[i]];
      out.push({ name, meaning, section, form, values, offset: numbers[i + 1], length: numbers[i + 2] });
    }
    return out;
  }

  function read(octets, field) {
    let number = 0n;
    for (let i = 0; i < field.length; ++i) number = (number << 8n) | BigInt(octets[field.offset + i]);
    return number;
  }

  function value(octets, field) {
    if (field.form === OPAQUE || field.length > 8) return Text.octets(field.length);
    const number = read(octets, field);
    const named = field.values[String(number)];
    switch (field.form) {
      case HEX: return `0x${number.toString(16).padStart(field.length * 2, "0")}`;
      case SIZE: return `${number} → ${Text.octets((Number(number) + 1) * 1024)}`;
      case BITS: return `${Text.hex(Number(number), 2)}: R is ${number & 1n ? "set" : "clear"}${number & 0xfen ? ", reserved bits are set" : ""}`;
      case FLAG:
      case NUMBER:
      default: return named ? `${number} (${named})` : Text.grouped(Number(number));
    }
  }

  // `total`: octets on the wire; `kept`: those at hand.
  function view(octets, layout, total, what) {
    const all = fields(layout);
    const box = el("div", { class: "octets" });
    const cells = [];
    const light = (index, on) => {
      for (const cell of cells) if (cell.index === index) cell.element.classList.toggle("lit", on);
    };
    const interest = (index) => ({
      onmouseenter: () => light(index, true),
      onmouseleave: () => light(index, false),
      onfocus: () => light(index, true),
      onblur: () => light(index, false),
    });

    const owner = new Int16Array(octets.length).fill(-1);
    all.forEach((field, index) => owner.fill(index, field.offset, field.offset + field.length));
    // Behind the last field that was decoded nothing has a meaning of its own; long opaque parts are shortened.
    let shown = octets.length;
    if (all.length > 0 && all[all.length - 1].form === OPAQUE) shown = Math.min(shown, all[all.length - 1].offset + 32);
    if (all.length > 1 && shown > 512) shown = 512;

    const grid = el("div", { class: "grid", role: "img", "aria-label": `${what}: octets` });
    for (let line = 0; line < shown; line += 16) {
      const row = el("div", { class: "line" }, el("span", { class: "at" }, line.toString(16).padStart(4, "0")));
      for (let i = line; i < Math.min(line + 16, shown); ++i) {
        const index = owner[i];
        const element = el("span", { class: `octet${index < 0 ? "" : ` f${index % 8}`}${i % 4 === 0 && i > line ? " word" : ""}`, ...(index < 0 ? {} : interest(index)) },
          octets[i].toString(16).padStart(2, "0"));
        if (index >= 0) element.title = all[index].name;
        cells.push({ index, element });
        row.append(element);
      }
      grid.append(row);
    }
    const missing = total - shown;
    box.append(grid);
    if (missing > 0) box.append(el("p", { class: "dim" }, `${Text.counted(missing, "further octet")} not shown here.`));

    const body = el("tbody");
    all.forEach((field, index) => {
      const row = el("tr", { tabindex: "0", ...interest(index) },
        el("td", {}, el("span", { class: `swatch f${index % 8}` }), field.length === 1 ? field.offset : `${field.offset}–${field.offset + field.length - 1}`),
        el("td", {}, el("code", {}, field.name)),
        el("td", { class: "value" }, value(octets, field)),
        el("td", {}, field.meaning, field.section ? el("span", { class: "section" }, ` ${field.section}`) : null));
      cells.push({ index, element: row });
      body.append(row);
    });
    box.append(el("table", { class: "fields" },
      el("thead", {}, el("tr", {}, ...["octets", "field", "value", "meaning"].map((h) => el("th", { scope: "col" }, h)))), body));
    return box;
  }

  return { view, fields };
})();
