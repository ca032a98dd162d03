// SPDX-License-Identifier: GPL-2.0-or-later
// One connection: who, the handshake, the thresholds, figures, charts, ladder, and what was chosen in it.
"use strict";

const Connection = (() => {
  const K = Data.K;
  const title = (c) => `Connection ${c.id}`;

  // --- facts
  function facts(index) {
    const c = Report.connections[index];
    const at = `connections.${index}`;
    const f = (path, unknown) => Text.fact(`${at}.${path}`, unknown);
    const pairs = (rows) => el("dl", { class: "pairs" }, rows.filter(Boolean).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
    const counts = (prefix, list) => list.filter(([key, , always]) => always || Text.value(`${at}.${prefix}.${key}`) > 0)
      .map(([key, word], i) => [i > 0 ? ", " : "", f(`${prefix}.${key}`), ` ${Text.value(`${at}.${prefix}.${key}`) === 1 ? word.replace(/ies$/, "y").replace(/s$/, "") : word}`]);
    const end = (who) => {
      const e = `${who}.`;
      return [f(`${e}address`), c[who].port === null ? "" : [" port ", f(`${e}port`)], c[who].qpn === null ? "" : [", QP ", f(`${e}qpn`)]];
    };
    const { waiting } = Data.connection(index);
    const figures = (path) => [["median", "p50"], ["90 %", "p90"], ["99 %", "p99"], ["least", "min"], ["most", "max"]].map(([word, key], i) => [i > 0 ? "; " : "", word, " ", f(`${path}.${key}`, "–"), " µs"]);
    return el("div", { class: "facts" },
      el("div", { class: "card" }, el("h3", {}, "Peers"), pairs([
        ["Client", end("client")], ["Server", end("server")],
        c.networks ? ["Seen in", c.networks.map((_, i) => [i > 0 ? " and " : "", f(`networks.${i}`)])] : null,
        ["Told by", c.roles_from === null ? "not known" : f("roles_from")],
        ["Transport", f("transport")], ["Version", f("version")],
        c.path_mtu === null ? null : ["Path MTU", f("path_mtu")],
        [Data.failed(c) ? "Attempt" : "Opened", c.opened.frame === null ? "not seen" : ["frame ", Text.frame(`${at}.opened.frame`), c.opened.seen ? "" : "; its handshake is not in the capture"]],
        ["Ended", c.closed === null ? (waiting === null ? "still open when the capture ends" : ["still open when the capture ends, with ", Text.counted(waiting.calls, "Call"), " without an answer"]) : [f("closed.how"), c.closed.by === null ? "" : [" by the ", f("closed.by")], c.closed.frame === null ? "" : [", frame ", Text.frame(`${at}.closed.frame`)]]],
        c.closed !== null && c.closed.cause !== null ? ["Cause", [f("closed.cause.message"), " (", f("closed.cause.rule"), ", ", f("closed.cause.confidence"), "; ",
          c.closed.cause.frames.length === 1 ? "frame " : "frames ", c.closed.cause.frames.map((_, i) => [i > 0 ? ", " : "", Text.frame(`${at}.closed.cause.frames.${i}`)]), ")"]] : null,
        c.one_way ? ["Capture", "only one direction was captured"] : null,
        c.gaps > 0 ? ["Missing", [f("gaps"), c.transport === "iwarp" ? " octets" : " packets", " that the capture lacks"]] : null,
        c.sends_unrecognised > 0 ? ["Not recognised", [f("sends_unrecognised"), " Sends"]] : null,
      ])),
      el("div", { class: "card" }, el("h3", {}, "Traffic"), pairs([
        ["Messages", counts("messages", [["calls", "Calls", true], ["replies", "Replies", true], ["reverse_calls", "reverse Calls"], ["reverse_replies", "reverse Replies"]])],
        ["Types", [counts("messages", Drawing.procs.map((name) => [name.toLowerCase(), name])),
          Object.keys(c.messages.v2).map((k, i) => [i > 0 || c.messages.rdma_msg > 0 ? ", " : "", f(`messages.v2.${k}`), ` ${k}`])]],
        ["Sends", [f("operations.sends"), c.operations.sends_with_invalidate > 0 ? [", ", f("operations.sends_with_invalidate"), " with invalidation"] : ""]],
        ["RDMA Reads", [f("operations.reads"), ", of ", f("operations.read_bytes"), " octets"]],
        ["RDMA Writes", [f("operations.writes"), ", of ", f("operations.write_bytes"), " octets"]],
        ["Trouble", [f("operations.naks"), " NAKs, ", f("operations.rnr_naks"), " RNR NAKs, ", f("operations.retransmitted"), " retransmitted"]],
        c.pull_completion.offered > 0 ? ["Pulls", [f("pull_completion.offered"), " offered, ", f("pull_completion.completed"), " completed, ", f("pull_completion.missing"), " missing"]] : null,
        ["Credits", [f("credits.requested"), " requested, ", f("credits.granted"), " granted; Calls outstanding: at most ", f("credits.outstanding_peak"), "; stalls: ", f("credits.stalls")]],
        ["Latency", c.latency_us.count === 0 ? "no Call was answered" : [f("latency_us.count"), " Calls: ", figures("latency_us")]],
      ])));
  }

  function procedures(index) {
    const list = Report.connections[index].procedures;
    if (list.length === 0) return null;
    const at = `connections.${index}.procedures`;
    return el("details", { class: "card", open: list.length <= 8 }, el("summary", {}, `Procedures (${list.length})`),
      el("div", { class: "scroll-x" }, el("table", { class: "plain" },
        el("thead", {}, el("tr", {}, ["procedure", "Calls", "median µs", "99 % µs", "operations"].map((h) => el("th", { scope: "col" }, h)))),
        el("tbody", {}, list.map((p, i) => el("tr", {},
          el("td", {}, Text.fact(`${at}.${i}.name`)), el("td", { class: "n" }, Text.fact(`${at}.${i}.calls`)),
          el("td", { class: "n" }, Text.fact(`${at}.${i}.p50_us`, "–")), el("td", { class: "n" }, Text.fact(`${at}.${i}.p99_us`, "–")),
          el("td", {}, Object.keys(p.operations).map((o, k) => [k > 0 ? ", " : "", `${o} `, Text.fact(`${at}.${i}.operations.${o}`)]))))))));
  }

  // --- handshake
  function side(connection, who) {
    const at = `connections.${connection.index}.private_data.${who}`;
    const data = connection.facts.private_data[who];
    const rows = connection.rows;
    const kind = who === "client" ? K.connect_request : K.connect_reply;
    let row = -1;
    for (let i = 0; i < rows.count && row < 0; ++i) if (rows.kind[i] === kind && rows.octets[i]) row = i;
    const box = el("div", { class: "card side" }, el("h4", {}, who === "client" ? "The client's request" : "The server's answer"));
    if (data !== null) {
      box.append(el("p", {}, "Frame ", Text.fact(`${at}.frame`), ": private data version ", Text.fact(`${at}.version`), " at octet ", Text.fact(`${at}.offset`),
        ". It sends up to ", Text.fact(`${at}.send_size`), " octets, receives up to ", Text.fact(`${at}.receive_size`), ", and ",
        data.remote_invalidation ? "supports" : "does not offer", " remote invalidation.",
        data.reserved !== 0 ? [" Reserved bits are set: ", Text.fact(`${at}.reserved`), "."] : ""));
    } else {
      box.append(el("p", {}, connection.facts.opened.seen && connection.facts.version === 2
        ? "No private data of version 1, which version 2 does not need."
        : connection.facts.opened.seen
        ? "No private data of RPC-over-RDMA was found: 1,024 octets in each direction are assumed for this side, and no remote invalidation (RFC 8797 section 5.1)."
        : "The handshake is not in the capture: what this side announced is not known."));
    }
    if (row >= 0) box.append(Octets.view(Data.octets(rows.octets[row][1]), rows.octets[row][0], rows.length[row], `private data of the ${who}`));
    return box;
  }

  function thresholds(index) {
    const c = Report.connections[index];
    const at = `connections.${index}`;
    const one = (direction, sender, receiver, words) => {
      const give = c.private_data[sender];
      const take = c.private_data[receiver];
      const part = (data, who, key, verb) => [`the ${who} ${verb} (`, data === null ? (c.thresholds.basis === "unknown" ? "not known" : "1,024, as it announced nothing") : Text.fact(`${at}.private_data.${who}.${key}`), ")"];
      return el("li", {}, el("strong", {}, words, ": ", Text.fact(`${at}.thresholds.${direction}`), c.thresholds[direction] === null ? "" : " octets"),
        c.thresholds[direction] === null || c.version === 2 ? "" : [" — the smaller of what ", part(give, sender, "send_size", "sends"), " and what ", part(take, receiver, "receive_size", "receives"), "."]);
    };
    const basis = {
      negotiated: "Negotiated: both sides sent private data (RFC 8797 section 4.2).",
      default_: "", default: "The default of RFC 8166 section 3.3.2 applies to each side that sent no private data.",
      unknown: "Not known: the handshake is not in the capture.",
    };
    if (c.version === 2) {
      basis.negotiated = "Settled by the connection properties of version 2 (RDMA2_CONNPROP).";
      basis.default = "The default of version 2 applies for want of properties.";
    }
    return el("div", { class: "card" }, el("h4", {}, "Inline thresholds: the largest message that each side may send"),
      el("ul", {}, one("client_to_server", "client", "server", "Client to server"), one("server_to_client", "server", "client", "Server to client")),
      el("p", { class: "dim" }, el("span", { "data-json": `${at}.thresholds.basis`, class: "unseen" }, c.thresholds.basis), basis[c.thresholds.basis], " What does not fit travels by RDMA Read and Write."));
  }

  function handshake(connection) {
    return el("section", {}, el("h3", {}, "Handshake and thresholds"),
      el("div", { class: "sides" }, side(connection, "client"), side(connection, "server")), thresholds(connection.index));
  }

  // --- what was chosen
  function detail(connection, row, ladder, choose) {
    const rows = connection.rows;
    const kind = rows.kind[row];
    const [first, then] = Data.label(rows, row);
    const frames = rows.last[row] > 0 ? `frames ${rows.frame[row]} to ${rows.frame[row] + rows.last[row]}` : `frame ${rows.frame[row]}`;
    const box = el("div", { class: "chosen", tabindex: "-1" },
      el("h3", {}, `${first} ${then}`),
      el("p", { class: "where" }, kind === K.left_out ? "" : [`from the ${Text.sideName(rows.side[row])} · ${frames} · ${Text.since(rows.time[row])}`, rows.took[row] > 0 ? `, for ${Text.duration(rows.took[row])}` : "", " ", Text.permalink(`#frame-${rows.frame[row]}`, "this frame")]));
    const marks = rows.marks[row] ?? [];
    for (const [f, primary] of marks) {
      const finding = Report.findings[f];
      box.append(el("p", { class: `mark ${finding.severity}` }, Summary.badge(finding.severity), " ",
        el("a", { class: "link", href: `#finding-${f}` }, finding.title), primary ? `: ${finding.message}` : " (this frame is evidence)"));
    }
    const list = [];
    const put = (name, ...value) => list.push(el("dt", {}, name), el("dd", {}, value));
    if (Data.isMessage(kind)) {
      const m = rows.place[row];
      const limit = rows.threshold[m];
      put("Size", `${Text.octets(rows.length[row])}${rows.holes[m] ? " or more: a packet is not in the capture" : ""}`,
        limit < 0 ? "; the threshold is not known" : `; the ${Text.sideName(rows.side[row])} may send ${Text.grouped(limit)}`);
      if (rows.header[m] > 0) put("Header", Text.octets(rows.header[m]));
      put("Credits", `${kind === K.call ? "asks for" : "says"} ${Text.grouped(rows.credit[m])}`,
        rows.exchange[row] !== 0 ? `; now ${Text.counted(rows.outstanding[m], "Call")} outstanding, ${rows.granted[m] < 0 ? "no grant seen yet" : `${Text.grouped(rows.granted[m])} granted`}` : "");
      const names = Drawing.texts[rows.names[m]];
      if (names) put("Operations", names);
      if (rows.invalidated[m] >= 0) put("Invalidates", el("code", {}, Text.hex(rows.invalidated[m])));
      if (rows.lost[m] > 0) put("Cut", `${Text.octets(rows.lost[m])} of it are not in the capture`);
    } else if (Data.isOperation(kind)) {
      const o = rows.place[row];
      put("Memory", el("code", {}, Text.hex(rows.handle[o])), " at ", el("code", {}, `0x${rows.offset[o]}`), `, ${Text.octets(rows.length[row])}`);
      put("Packets", Text.grouped(rows.packets[row]));
      put("Belongs to", rows.exchange[row] === 0 ? "no transaction that is known" : `${Drawing.texts[rows.operation[row]] || "the Call"} with XID ${Text.hex(rows.xid[row])}${rows.offer[o] ? ", whose Reply offered this memory" : ""}`);
    }
    if (kind !== K.left_out) {
      const filter = rows.last[row] > 0 ? `frame.number >= ${rows.frame[row]} && frame.number <= ${rows.frame[row] + rows.last[row]}` : `frame.number == ${rows.frame[row]}`;
      put("Wireshark", el("code", {}, filter));
    }
    if (list.length > 0) box.append(el("dl", { class: "pairs" }, list));

    // The transaction's other rows.
    const exchange = rows.exchange[row];
    if (exchange !== 0) {
      const members = [];
      for (let i = 0; i < rows.count; ++i) if (rows.exchange[i] === exchange) members.push(i);
      const call = members.find((i) => rows.kind[i] === K.call);
      box.append(el("details", { open: true }, el("summary", {}, `The transaction (${Text.counted(members.length, "row")})`),
        el("ol", { class: "steps" }, members.slice(0, 40).map((i) => el("li", { class: i === row ? "here" : undefined },
          el("button", { class: "link", onclick: () => choose(i) }, Data.label(rows, i)[0]), ` frame ${rows.frame[i]}`,
          call !== undefined && i !== call ? el("span", { class: "dim" }, ` ${Text.duration(rows.time[i] - rows.time[call])} after the Call`) : "")),
        members.length > 40 ? el("li", { class: "dim" }, `${members.length - 40} more`) : null)));
      const memory = Memory.view(rows, exchange, choose);
      if (memory) box.append(el("details", { open: true }, el("summary", {}, "Its memory"), memory));
      else if (members.some((i) => Data.isOperation(rows.kind[i]))) box.append(el("p", { class: "dim" }, "Its chunk lists are not kept in this page."));
    }
    if (rows.octets[row]) {
      const [layout, base64] = rows.octets[row];
      box.append(el("details", { open: true }, el("summary", {}, kind <= K.connect_reject ? "Private data" : "Header and octets"),
        Octets.view(Data.octets(base64), layout, rows.length[row], first)));
    } else if (Data.isMessage(kind)) {
      box.append(el("p", { class: "dim" }, "The octets of this message are not kept in this page; those of findings and of the first messages are."));
    }
    return box;
  }

  // --- all of it
  let stop = () => {};
  let current = null;

  function show(index) {
    stop();
    const connection = Data.connection(index);
    const rows = connection.rows;
    const aside = el("aside", { class: "detail", "aria-label": "What was chosen" }, el("p", { class: "dim" }, "Choose a row of the ladder to see its header, its octets and its transaction."));
    const choose = (row) => ladder.choose(row, true);
    const ladder = Ladder.make(connection, (row, quiet) => {
      const box = detail(connection, row, ladder, choose);
      aside.replaceChildren(box);
      aside.scrollTop = 0;
      if (!quiet) box.focus({ preventScroll: true });
    });
    const charts = Charts.make(connection, (ns) => { ladder.atTime(ns); });
    const element = el("section", { id: "connection", "aria-labelledby": "connection-title" },
      el("h2", { id: "connection-title" }, title(connection.facts), el("span", { class: "dim" }, ` ${Text.endpoint(connection.facts.client)} → ${Text.endpoint(connection.facts.server)} `), Text.permalink(`#connection-${connection.facts.id}`, "this connection")),
      Data.failed(connection.facts) ? el("p", { class: "card warn" }, `This connection never came up: its attempt was ${connection.facts.closed.how === "refused" ? "refused" : "not answered"}.`) : null,
      facts(index), procedures(index), handshake(connection),
      el("section", {}, el("h3", {}, "Over time"), el("p", { class: "dim" }, "Drag to zoom, double-click to zoom out, click to go there in the ladder."), charts.element),
      el("section", { id: "ladder" }, el("h3", {}, "Ladder"), rows.known ? null : el("p", { class: "card warn" }, "This page holds no rows for this connection: there were more connections than it keeps."),
        el("div", { class: "with-detail" }, ladder.element, aside)));
    stop = () => {
      ladder.stop();
      charts.stop();
    };
    current = { index, element, ladder, charts };
    return current;
  }

  return { show, title, get current() { return current; } };
})();
