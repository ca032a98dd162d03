// SPDX-License-Identifier: GPL-2.0-or-later
// Charts over the time of a connection, to the end of the capture, with what was found on them: of the connection as a whole, and of
// its operations, all or one. The figures cover the whole capture, whatever the ladder left out.
"use strict";

const Charts = (() => {
  // Colours of the theme, asked for once a drawing: each question has the browser bring the page's style up to date.
  const inks = new Map();
  const ink = (name) => {
    if (!inks.has(name)) inks.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    return inks.get(name);
  };

  function base(title, width, unit, series, extra = {}) {
    const axis = { stroke: ink("--dim"), grid: { stroke: ink("--line"), width: 1 }, ticks: { stroke: ink("--line"), width: 1 }, font: "11px system-ui, sans-serif" };
    return {
      title, width, height: 210, pxAlign: 0,
      scales: { x: { time: false }, ...(extra.scales ?? {}) },
      axes: [
        { ...axis, values: (u, values) => values.map((v) => `${+v.toFixed(6)} s`) },
        { ...axis, size: 66, values: (u, values) => values.map((v) => (v === null || v === undefined ? "" : unit(v))) },
      ],
      cursor: { drag: { x: true, y: false }, points: { size: 6 } },
      legend: { live: true },
      series: [{ label: "time", value: (u, v) => (v === null || v === undefined ? "–" : `${v.toFixed(6)} s`) }, ...series.map((s) => ({
        value: (u, v) => (v === null || v === undefined ? "–" : unit(v)), points: { show: false }, width: 1.5, ...s }))],
    };
  }

  const short = (n) => (n >= 1e9 ? `${+(n / 1e9).toPrecision(3)} G` : n >= 1e6 ? `${+(n / 1e6).toPrecision(3)} M` : n >= 1e4 ? `${+(n / 1e3).toPrecision(3)} k` : Text.grouped(+n.toPrecision(4)));

  // Calls wait through an interval in which nothing happens. How many tell the rows, when all of them are there.
  function waitingThrough(connection, peaks, n) {
    const { rows, series: s, facts } = connection;
    if (rows.leftOut > 0 || !rows.known) return peaks;
    const K = Data.K;
    const level = new Map();
    for (let i = 0; i < rows.count; ++i) {
      const kind = rows.kind[i];
      const ofClient = kind === K.call ? rows.side[i] === 0 : (kind === K.reply || kind === K.error) && rows.side[i] === 1;
      if (ofClient && rows.exchange[i] !== 0) level.set(Math.floor((rows.time[i] - s.begin) / s.width), rows.outstanding[rows.place[i]]);
    }
    let now = 0;
    for (let i = 0; i < peaks.length; ++i) {
      if (i >= n && facts.closed !== null) now = 0;
      peaks[i] = Math.max(peaks[i], now);
      now = level.get(i) ?? now;
    }
    return peaks;
  }

  function make(connection, goTo) {
    const s = connection.series;
    const box = el("div", { class: "charts" });
    const element = el("div", {}, box);
    if (s === null || s.count === 0) {
      box.append(el("p", { class: "dim" }, "Nothing to draw: no message of this connection could be told."));
      return { element, draw: () => {}, stop: () => {} };
    }
    // Every interval up to the last: one without traffic is no line drawn straight across it. Behind it, one step to the end of
    // the capture.
    const n = s.at[s.count - 1] + 1;
    const x = new Array(n + 1);
    for (let i = 0; i <= n; ++i) x[i] = (s.begin + i * s.width) / 1e9;
    const end = Drawing.end === null ? x[n] : Drawing.end / 1e9;
    if (end > x[n]) x.push(end);
    const last = x.length - 1;
    const spread = (column, empty, hold) => {
      const out = new Array(x.length).fill(empty);
      for (let i = 0; i < s.count; ++i) out[s.at[i]] = column[i];
      if (hold) for (let i = 1; i <= last; ++i) if (out[i] === empty) out[i] = out[i - 1];
      return out;
    };
    const blank = (values, test) => values.map((v) => (v === null || test(v) ? null : v));
    const outstanding = waitingThrough(connection, spread(s.outstanding, 0, false), n);
    const granted = blank(spread(s.granted, -1, true), (v) => v < 0);
    for (let i = 0; i < s.count; ++i) if (s.granted[i] < 0) granted[s.at[i]] = s.at[i] > 0 ? granted[s.at[i] - 1] : null;
    const fromClient = blank(spread(s.from_client, 0, false), (v) => v === 0);
    const fromServer = blank(spread(s.from_server, 0, false), (v) => v === 0);
    const bounds = connection.facts.thresholds;
    const flat = (v) => new Array(x.length).fill(v);
    const stepped = uPlot.paths.stepped({ align: 1 });
    const plots = [];

    // What was found, at its time; and the wait at the end. They stand over the charts, and move with the zoom.
    const marks = Report.findings.map((f, index) => ({ f, index, at: Data.sinceBegin(f.time) })).filter(({ f, at }) => at !== null && Data.placesOf(f).includes(connection.facts.id))
      .map((mark) => ({ ...mark, at: mark.at / 1e9 })).filter(({ at }) => at >= x[0] && at <= x[last]).slice(0, 100);
    const wait = connection.waiting === null ? null : { from: connection.waiting.since / 1e9, to: connection.waiting.until / 1e9 };
    function over(plot) {
      const shapes = [];
      if (wait !== null) shapes.push([el("div", { class: "chart-wait", title: `no answer for ${Text.duration((wait.to - wait.from) * 1e9)}` }), wait.from, wait.to]);
      for (const { f, index, at } of marks) shapes.push([el("a", { class: `chart-mark ${f.severity}`, href: `#finding-${index}`, tabindex: "-1", title: f.title }), at, null]);
      for (const [shape] of shapes) plot.over.append(shape);
      return () => {
        const { min, max } = plot.scales.x;
        const part = (t) => 100 * (Math.min(max, Math.max(min, t)) - min) / (max - min);
        for (const [shape, from, to] of shapes) {
          shape.hidden = to === null ? from < min || from > max : to <= min || from >= max;
          shape.style.left = `${part(from)}%`;
          if (to !== null) shape.style.width = `${part(to) - part(from)}%`;
        }
      };
    }
    // One axis of time: a zoom in one chart is one in all of them.
    function together(plot) {
      const { min, max } = plot.scales.x;
      for (const other of plots) if (other !== plot && (other.scales.x.min !== min || other.scales.x.max !== max)) other.setScale("x", { min, max });
    }

    // What a drawing was made for: how wide the box was, and a chart in it.
    let drawnFor = 0;
    let width = 0;
    // Which operations are drawn: all, or the chosen one.
    let only = "";
    if (s.operations.length > 0) {
      const chooser = el("select", { id: "chart-operation", onchange: (e) => {
        only = e.target.value;
        const zoom = plots[0]?.scales?.x;
        const range = zoom === undefined ? null : { min: zoom.min, max: zoom.max };
        draw();
        if (range !== null) for (const plot of plots) plot.setScale("x", range);
      } }, el("option", { value: "" }, "every operation"), s.operations.map((o, k) => el("option", { value: k }, o.name)));
      element.prepend(el("div", { class: "sieve" }, el("label", {}, "Latency, octets, pull, server and push of ", chooser)));
    }

    function draw() {
      for (const plot of plots.splice(0)) plot.destroy();
      box.replaceChildren();
      inks.clear();
      drawnFor = box.clientWidth;
      width = Math.max(320, Math.floor(drawnFor > 860 ? (drawnFor - 14) / 2 - 12 : drawnFor - 12));
      const put = (options, data) => {
        const place = el("figure", { class: "chart" });
        box.append(place);
        let arrange = () => {};
        options.hooks = { setScale: [(u, key) => {
          if (key !== "x") return;
          arrange();
          if (plots.includes(u)) together(u);
        }] };
        const plot = new uPlot(options, data, place);
        arrange = over(plot);
        if (plot.scales) arrange();
        plot.over.addEventListener("click", (event) => {
          if (event.target.closest(".chart-mark") === null && plot.cursor.idx !== null && plot.cursor.idx !== undefined) goTo(x[plot.cursor.idx] * 1e9);
        });
        plots.push(plot);
      };
      const colors = ["--call", "--reply", "--read", "--write"].map(ink);

      put(base("Credits: Calls outstanding against granted", width, short, [
        { label: "outstanding (most)", stroke: ink("--call"), fill: `${ink("--call")}30`, paths: stepped },
        { label: "granted", stroke: ink("--reply"), width: 2, paths: stepped },
      ], { scales: { y: { range: (u, low, high) => [0, Math.max(2, high * 1.1)] } } }), [x, outstanding, granted]);

      const dots = { points: { show: true, size: 5 }, paths: () => null };
      const sizes = [
        { label: "largest from client", stroke: ink("--call"), ...dots },
        { label: "largest from server", stroke: ink("--reply"), ...dots },
      ];
      const sizeData = [x, fromClient, fromServer];
      const limits = bounds.client_to_server === bounds.server_to_client
        ? [["threshold, both directions", bounds.client_to_server, "--error"]]
        : [["threshold to server", bounds.client_to_server, "--error"], ["threshold to client", bounds.server_to_client, "--warning"]];
      for (const [label, value, color] of limits) {
        if (value === null) continue;
        sizes.push({ label, stroke: ink(color), dash: [6, 4] });
        sizeData.push(flat(value));
      }
      put(base("Size of messages against the thresholds (octets)", width, short, sizes, { scales: { y: { range: (u, low, high) => [0, high * 1.1] } } }), sizeData);

      const sent = spread(s.sent, 0, false);
      const read = spread(s.read, 0, false);
      const written = spread(s.written, 0, false);
      const sum1 = sent.map((v, i) => v + read[i]);
      const sum2 = sum1.map((v, i) => v + written[i]);
      const area = (label, color, own) => ({ label, stroke: ink(color), fill: `${ink(color)}90`, width: 1, paths: stepped, value: (u, v, si, di) => (di === null || di === undefined ? "–" : short(own[di])) });
      put(base(`Octets each ${Text.duration(s.width)}, by Send, Read and Write`, width, short, [
        area("RDMA Write", "--write", written), area("RDMA Read", "--read", read), area("Send", "--call", sent),
      ], { scales: { y: { range: (u, low, high) => [0, Math.max(1, high * 1.1)] } } }), [x, sum2, sum1, sent]);

      if (s.operations.length > 0) byOperation(put, colors, dots, area);
    }
    function byOperation(put, colors, dots, area) {
      // What takes most time has the colours of the page, what comes behind it a hue of its own.
      const colorOf = (k) => (k < colors.length ? colors[k] : `hsl(${Math.round(k * 137.5) % 360} 55% 50%)`);
      const shown = s.operations.map((o, k) => ({ o, color: colorOf(k), k })).filter(({ k }) => only === "" || k === Number(only));
      const of = only === "" ? "by operation" : `of ${shown[0].o.name}`;
      const dotted = (title, unit, lines, scale) => put(base(title, width, unit, lines.map(({ label, stroke }) => ({ label, stroke, ...dots })), { scales: { y: scale } }), [x, ...lines.map(({ values }) => values)]);
      const points = (o, value) => {
        const out = new Array(x.length).fill(null);
        for (let i = 0; i < o.intervals; ++i) out[o.at[i]] = value(i);
        return out;
      };
      const log = { distr: 3 };
      const least = 0.001;  // a logarithm has no zero
      const latencies = shown.map(({ o, color }) => ({ label: o.name, stroke: color, values: points(o, (i) => Math.max(least, o.whole[i] / o.count[i] / 1e3)) }));
      if (only !== "") latencies.push({ label: "worst", stroke: ink("--error"), values: points(shown[0].o, (i) => Math.max(least, shown[0].o.worst[i] / 1e3)) });
      dotted(`Latency ${of}, mean of each interval (µs)`, short, latencies, log);
      dotted(`Octets ${of}, each ${Text.duration(s.width)}`, short, shown.map(({ o, color }) => ({ label: o.name, stroke: color, values: points(o, (i) => Math.max(1, o.octets[i])) })), log);

      // Parts of the mean Call: all of it is pull, server and push, one on the other.
      const sums = { count: new Array(x.length).fill(0) };
      for (const part of ["pull", "server", "push"]) sums[part] = new Array(x.length).fill(0);
      for (const { o } of shown) {
        for (const [name, sum] of Object.entries(sums)) for (let i = 0; i < o.intervals; ++i) sum[o.at[i]] += o[name][i];
      }
      const mean = (part) => sums[part].map((v, i) => (sums.count[i] > 0 ? v / sums.count[i] / 1e3 : 0));
      const [pull, server, push] = ["pull", "server", "push"].map(mean);
      const upTo = server.map((v, i) => v + pull[i]);
      put(base(`Pull, server and push of ${only === "" ? "every operation" : shown[0].o.name}, means (µs)`, width, short, [
        area("push", "--write", push), area("server", "--reply", server), area("pull", "--read", pull),
      ], { scales: { y: { range: (u, low, high) => [0, Math.max(0.001, high * 1.1)] } } }), [x, upTo.map((v, i) => v + push[i]), upTo, pull]);
    }
    let frame = 0;
    const observer = new ResizeObserver(() => {
      if (Math.abs(box.clientWidth - drawnFor) < 2) return;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(draw);
    });
    observer.observe(box);
    return { element, draw, range: () => plots.map((p) => [p.scales.x.min, p.scales.x.max]), outstanding, times: x, stop: () => { observer.disconnect(); for (const plot of plots.splice(0)) plot.destroy(); } };
  }

  return { make };
})();
