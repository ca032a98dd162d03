// SPDX-License-Identifier: GPL-2.0-or-later
// Four charts over the time of a connection, to the end of the capture. The figures cover the whole capture, whatever the ladder left out.
"use strict";

const Charts = (() => {
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

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

  function make(connection, goTo) {
    const s = connection.series;
    const box = el("div", { class: "charts" });
    if (s === null || s.count === 0) {
      box.append(el("p", { class: "dim" }, "Nothing to draw: no message of this connection could be told."));
      return { element: box, draw: () => {}, stop: () => {}, ranges: () => [] };
    }
    // Every interval up to the last: one without traffic is no line drawn straight across it.
    const n = s.at[s.count - 1] + 1;
    const x = new Array(n + 1);
    for (let i = 0; i <= n; ++i) x[i] = (s.begin + i * s.width) / 1e9;
    // And a last point where the capture ends, so that silence has its length.
    const closed = connection.facts.closed;
    const goesOn = closed === null || ["timeout", "superseded", "unanswered"].includes(closed.how);
    const extra = Data.end / 1e9 > x[n];
    const spread = (column, empty, hold) => {
      const out = new Array(n + 1).fill(empty);
      for (let i = 0; i < s.count; ++i) out[s.at[i]] = column[i];
      if (hold) for (let i = 1; i <= n; ++i) if (out[i] === empty) out[i] = out[i - 1];
      return out;
    };
    if (extra) x.push(Data.end / 1e9);
    const toEnd = (values, value) => (extra ? [...values, value] : values);
    const blank = (values, test) => values.map((v) => (v === null || test(v) ? null : v));
    const outstanding = spread(s.outstanding, 0, false);
    const waiting = goesOn && s.count > 0 ? s.outstanding[s.count - 1] : 0;
    if (goesOn && extra) outstanding[n] = waiting;
    const granted = blank(spread(s.granted, -1, true), (v) => v < 0);
    for (let i = 0; i < s.count; ++i) if (s.granted[i] < 0) granted[s.at[i]] = s.at[i] > 0 ? granted[s.at[i] - 1] : null;
    const fromClient = blank(spread(s.from_client, 0, false), (v) => v === 0);
    const fromServer = blank(spread(s.from_server, 0, false), (v) => v === 0);
    const bounds = connection.facts.thresholds;
    const flat = (v) => new Array(x.length).fill(v);
    // Where findings stand, as lines: in the colour of the worst there.
    const marks = Report.findings.filter((f) => (f.connection === connection.facts.id || f.connections.includes(connection.facts.id)) && f.severity !== "note" && f.time !== null)
      .slice(0, 200).map((f) => [Data.since(f.time) / 1e9, f.severity]);
    const drawMarks = (u) => {
      for (const [at, severity] of marks) {
        const left = Math.round(u.valToPos(at, "x", true));
        if (left < u.bbox.left || left > u.bbox.left + u.bbox.width) continue;
        u.ctx.save();
        u.ctx.strokeStyle = ink(`--${severity}`);
        u.ctx.setLineDash([3, 3]);
        u.ctx.beginPath();
        u.ctx.moveTo(left, u.bbox.top);
        u.ctx.lineTo(left, u.bbox.top + u.bbox.height);
        u.ctx.stroke();
        u.ctx.restore();
      }
    };
    // All charts have one time: zooming one zooms the others.
    const together = (u, key) => {
      if (key !== "x") return;
      const { min, max } = u.scales.x;
      for (const plot of plots) if (plot !== u && (plot.scales.x.min !== min || plot.scales.x.max !== max)) plot.setScale("x", { min, max });
    };
    const stepped = uPlot.paths.stepped({ align: 1 });
    const plots = [];

    function draw() {
      for (const plot of plots.splice(0)) plot.destroy();
      box.replaceChildren();
      const width = Math.max(320, Math.floor(box.clientWidth > 860 ? (box.clientWidth - 14) / 2 - 12 : box.clientWidth - 12));
      const put = (options, data) => {
        const place = el("figure", { class: "chart" });
        box.append(place);
        const plot = new uPlot({ ...options, hooks: { draw: [drawMarks], setScale: [together] } }, data, place);
        plot.over.addEventListener("dblclick", () => {});
        plot.over.addEventListener("click", () => {
          if (plot.cursor.idx !== null && plot.cursor.idx !== undefined) goTo(x[plot.cursor.idx] * 1e9);
        });
        plots.push(plot);
      };
      const colors = ["--call", "--reply", "--read", "--write", "--warning", "--error", "--note", "--dim"].map(ink);

      put(base("Credits: Calls outstanding against granted", width, short, [
        { label: "outstanding (most)", stroke: ink("--call"), fill: `${ink("--call")}30`, paths: stepped },
        { label: "granted", stroke: ink("--reply"), width: 2, paths: stepped },
      ], { scales: { y: { range: (u, low, high) => [0, Math.max(2, high * 1.1)] } } }), [x, toEnd(outstanding, waiting), toEnd(granted, null)]);

      const dots = { points: { show: true, size: 5 }, paths: () => null };
      const sizes = [
        { label: "largest from client", stroke: ink("--call"), ...dots },
        { label: "largest from server", stroke: ink("--reply"), ...dots },
      ];
      const sizeData = [x, toEnd(fromClient, null), toEnd(fromServer, null)];
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
      ], { scales: { y: { range: (u, low, high) => [0, Math.max(1, high * 1.1)] } } }), [x, toEnd(sum2, 0), toEnd(sum1, 0), toEnd(sent, 0)]);

      const latencies = s.latencies.map((l, k) => ({ l, color: colors[k % colors.length] }));
      if (latencies.length > 0) {
        const data = [x];
        const lines = [];
        for (const { l, color } of latencies) {
          const mean = new Array(n + 1).fill(null);
          for (let i = 0; i < s.count; ++i) if (l.count[i] > 0) mean[s.at[i]] = Math.max(0.001, l.sum[i] / l.count[i] / 1e3);
          data.push(toEnd(mean, null));
          lines.push({ label: l.name, stroke: color, ...dots });
        }
        put(base("Latency by procedure, mean of each interval (µs)", width, short, lines, { scales: { y: { distr: 3 } } }), data);
      }
    }
    let wait = 0;
    let lastWidth = 0;
    const observer = new ResizeObserver(() => {
      if (Math.abs(box.clientWidth - lastWidth) < 2) return;
      lastWidth = box.clientWidth;
      cancelAnimationFrame(wait);
      wait = requestAnimationFrame(draw);
    });
    observer.observe(box);
    return { element: box, draw, ranges: () => plots.map((p) => [p.scales.x.min, p.scales.x.max]), stop: () => { observer.disconnect(); for (const plot of plots.splice(0)) plot.destroy(); } };
  }

  return { make };
})();
