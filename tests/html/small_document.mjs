// SPDX-License-Identifier: GPL-2.0-or-later
// The least of a browser's document that the page's own scripts need: they run here in a millisecond, and what they would show can
// be asked for. No layout, no style, no drawing of charts. pages.mjs holds it against Chromium.
import { compileFunction } from "node:vm";

class Node {
  childNodes = [];
  parentNode = null;

  append(...children) {
    for (const child of children) {
      const node = child instanceof Node ? child : new Words(String(child));
      node.remove();
      node.parentNode = this;
      this.childNodes.push(node);
    }
  }
  prepend(...children) {
    const before = this.childNodes;
    this.childNodes = [];
    this.append(...children);
    this.childNodes.push(...before.filter((n) => n.parentNode === this && !this.childNodes.includes(n)));
  }
  replaceChildren(...children) {
    for (const child of this.childNodes) child.parentNode = null;
    this.childNodes = [];
    this.append(...children);
  }
  remove() {
    if (this.parentNode !== null) this.parentNode.childNodes.splice(this.parentNode.childNodes.indexOf(this), 1);
    this.parentNode = null;
  }
  get textContent() {
    return this.childNodes.map((n) => n.textContent).join("");
  }
  set textContent(text) {
    this.replaceChildren(...(text === "" ? [] : [text]));
  }
}

class Words extends Node {
  constructor(text) {
    super();
    this.text = text;
  }
  get textContent() {
    return this.text;
  }
}

// tag, #id, .class and [attribute], and what stands inside what.
function parsed(selector) {
  return selector.trim().split(/\s+/).map((part) => {
    const pieces = part.match(/[#.]?[\w-]+|\[[\w-]+\]/g);
    if (pieces?.join("") !== part) throw new Error(`the small document cannot look for ${selector}`);
    return pieces.map((p) => (element) => {
      if (p[0] === "#") return element.attributes.get("id") === p.slice(1);
      if (p[0] === ".") return element.classList.contains(p.slice(1));
      if (p[0] === "[") return element.attributes.has(p.slice(1, -1));
      return element.tagName.toLowerCase() === p;
    });
  });
}

class Element extends Node {
  attributes = new Map();
  listeners = new Map();
  style = {};
  dataset = {};
  value = "";
  clientWidth = 0;
  clientHeight = 0;
  scrollTop = 0;

  constructor(tag, seen) {
    super();
    this.tagName = tag.toUpperCase();
    this.seen = seen;
  }
  get className() {
    return this.attributes.get("class") ?? "";
  }
  get classList() {
    const words = () => this.className.split(" ").filter(Boolean);
    return {
      contains: (name) => words().includes(name),
      toggle: (name, on) => this.setAttribute("class", [...words().filter((w) => w !== name), ...(on ? [name] : [])].join(" ")),
    };
  }
  get childElementCount() {
    return this.childNodes.filter((n) => n instanceof Element).length;
  }
  setAttribute(name, value) {
    this.attributes.set(name, String(value));
    if (name === "class") this.seen.add(`${this.tagName.toLowerCase()}.${value}`);
  }
  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }
  addEventListener(name, listener) {
    this.listeners.set(name, [...(this.listeners.get(name) ?? []), listener]);
  }
  dispatchEvent(event) {
    for (const listener of this.listeners.get(event.type) ?? []) listener.call(this, event);
  }
  click() {
    this.dispatchEvent({ type: "click", target: this });
  }
  focus() {}
  closest(tag) {
    for (let up = this; up instanceof Element; up = up.parentNode) if (up.tagName.toLowerCase() === tag) return up;
    return null;
  }
  scrollIntoView() {}
  querySelectorAll(selector) {
    const steps = parsed(selector);
    const fits = (element, tests) => tests.every((t) => t(element));
    const found = [];
    const look = (parent) => {
      for (const element of parent.childNodes) {
        if (!(element instanceof Element)) continue;
        if (fits(element, steps.at(-1))) {
          let at = steps.length - 2;
          for (let up = element.parentNode; up !== null && at >= 0; up = up.parentNode) if (fits(up, steps[at])) --at;
          if (at < 0) found.push(element);
        }
        look(element);
      }
    };
    look(this);
    return found;
  }
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }
}

// The parts of a page: what differs from one to the next, and the rest.
export function taken(page) {
  const documents = {};
  let frame = page.replace(/(<script type="application\/json" id="(\w+)">)([\s\S]*?)(<\/script>)/g, (_, begin, id, text, end) => {
    documents[id] = text;
    return begin + end;
  });
  let script = "";
  frame = frame.replace(/(<script>)([\s\S]*?)(<\/script>)/, (_, begin, text, end) => {
    script = text;
    return begin + end;
  });
  return { documents, script, frame };
}

const GIVEN = ["document", "Node", "DrawsNothing", "console", "Event", "ResizeObserver", "requestAnimationFrame", "cancelAnimationFrame",
  "addEventListener", "matchMedia", "getComputedStyle", "fetch", "location"];
const compiled = new Map();

// The script as a function of what a browser would give it; what it returns runs further functions among its own names.
function program(script) {
  if (!compiled.has(script)) {
    // Charts are drawn on a canvas; that their columns fit can still be told.
    const without = script.replace(/^var uPlot=function.*$/m, "var uPlot = DrawsNothing;");
    if (without === script) throw new Error("the page's charts are no longer one line of uPlot");
    compiled.set(script, compileFunction(`${without}\nreturn (f) => eval("(" + f + ")()");`, GIVEN, { filename: "page.js" }));
  }
  return compiled.get(script);
}

// Runs the page; `seen`: a set that gets a word for each kind of element. -> run(f), which calls a function inside the page.
export function opened(page, seen, trouble) {
  const { documents, script, frame } = taken(page);
  const root = new Element("html", seen);
  const byId = (tag, id) => {
    const element = new Element(tag, seen);
    element.setAttribute("id", id);
    root.append(element);
    return element;
  };
  for (const id of ["top", "main", "bottom", "said"]) {
    if (!frame.includes(`id="${id}"`)) throw new Error(`the page holds no ${id}`);
    byId("div", id);
  }
  for (const [id, text] of Object.entries(documents)) byId("script", id).textContent = text;
  const noise = (...words) => trouble.push(`console: ${words.join(" ")}`);
  class DrawsNothing {
    static paths = { stepped: () => () => {} };
    over = new Element("div", seen);
    constructor(options, columns, place) {
      if (columns.length !== options.series.length) throw new Error(`${options.title}: ${columns.length} columns for ${options.series.length} lines`);
      place.append(this.over);
    }
    destroy() {}
  }
  // Drawn once, when all that was asked for is done.
  const later = [];
  const drawn = (result) => {
    for (const draw of later.splice(0)) draw();
    return result;
  };
  const world = {
    Node, DrawsNothing, console: { error: noise, warn: noise, log() {} }, fetch: (what) => trouble.push(`request: ${what}`),
    document: {
      documentElement: root, activeElement: null, title: "",
      createElement: (tag) => new Element(tag, seen), createElementNS: (_, tag) => new Element(tag, seen), createTextNode: (text) => new Words(text),
      getElementById: (id) => root.querySelector(`#${id}`), querySelector: (s) => root.querySelector(s), querySelectorAll: (s) => root.querySelectorAll(s),
    },
    Event: class { constructor(type) { this.type = type; } },
    ResizeObserver: class { observe() {} disconnect() {} },
    requestAnimationFrame: (draw) => later.push(draw), cancelAnimationFrame() {}, addEventListener() {},
    matchMedia: () => ({ matches: false, addEventListener() {} }), getComputedStyle: () => ({ getPropertyValue: () => "" }), location: { hash: "", href: "file:///page.html" },
  };
  const run = program(script)(...GIVEN.map((name) => world[name]));
  drawn();
  if (root.dataset.ready !== "yes") throw new Error("the page does not say that it is ready");
  return { run: (f) => drawn(run(f)), all: (selector) => root.querySelectorAll(selector) };
}
