// Asks for the data every two seconds and changes what is shown in place. All of it is set as text, never as HTML.
"use strict";

const EVERY = 2000;
/** How many looks back "now" reaches. */
const BACK = 5;
const SVG = "http://www.w3.org/2000/svg";
const looks = [];
const maps = new Map();

const of = id => document.getElementById(id);

/** An element with a class and children, which are elements or texts. */
function element(name, kind, ...children) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...children);
  return made;
}

const number = value => Math.round(value).toLocaleString("en");
const percent = (part, all) => all > 0 ? `${(100 * part / all).toFixed(1)} %` : "no reads";

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) [count, unit] = [count / 1024, unit + 1];
  return `${unit ? count.toFixed(1) : count} ${units[unit]}`;
}

function time(seconds) {
  if (seconds >= 5400) return `${(seconds / 3600).toFixed(1)} h`;
  if (seconds >= 90) return `${(seconds / 60).toFixed(1)} min`;
  if (seconds >= 1) return `${seconds.toFixed(1)} s`;
  if (seconds >= 0.001) return `${(seconds * 1e3).toFixed(1)} ms`;
  return `${(seconds * 1e6).toFixed(0)} µs`;
}

const entries = count => `${number(count)} ${count === 1 ? "entry" : "entries"}`;
const times = count => `${number(count)} ${count === 1 ? "time" : "times"}`;
const between = entry => entry.low === entry.high ? entry.low : `${entry.low} to ${entry.high}`;

async function look() {
  try {
    const answer = await fetch("status.json", { signal: AbortSignal.timeout(10 * EVERY) });
    if (!answer.ok) throw new Error(`it answers ${answer.status}`);
    show(await answer.json());
    document.body.classList.remove("stale");
  } catch (why) {
    document.body.classList.add("stale");
    say(`The proxy does not answer (${why.message}); what is shown is old.`, true);
  }
  setTimeout(look, EVERY);
}

function say(text, isBad) {
  const state = of("state");
  // Words that stay are not announced again.
  if (state.textContent !== text) state.textContent = text;
  state.className = isBad ? "bad" : "";
}

function show(data) {
  const cache = data.cache;
  looks.push(data);
  if (looks.length > BACK + 1 || looks[0].uptime > data.uptime) looks.shift();
  of("shown").hidden = false;
  say(state(data), Boolean(cache?.closed) || cache?.shadow?.different > 0);
  of("tiles").replaceChildren(...tiles(data).map(([name, ...values]) =>
    element("div", "", element("dt", "", name), ...values.map(value => element("dd", "", value)))));
  for (const section of document.querySelectorAll("section")) section.hidden = !cache;
  of("foot").textContent = `lacuna ${data.version}, up for ${time(data.uptime)}`;
  if (!cache) return;
  shadow(cache.shadow);
  auto(cache.auto);
  columns(cache.columns);
  table("hottest", cache.hottest, "No entry was asked for yet.", [
    ["column", hot => hot.column],
    ["interval", between],
    ["asked for", hot => number(hot.hits), "number"],
    ["server's time", hot => time(hot.took), "number"],
    ["size", hot => bytes(hot.bytes), "number"],
    ["statement", hot => element("code", "", hot.shape), "wide"],
  ]);
  reasons("relayed", cache.relayed, "None yet.");
}

function state({ mode, cache, is_stopping }) {
  if (is_stopping) return "The proxy stops.";
  if (!cache) return "It relays; there is no cache.";
  if (cache.closed) return `The cache shows nothing: ${cache.closed}`;
  if (mode !== "shadow") return "The cache is open.";
  const { different } = cache.shadow;
  return different > 0
    ? `In the shadow, ${number(different)} replies differ from what the cache would have shown.`
    : "In the shadow: the server answers everything, and nothing differs.";
}

function tiles({ cache, sessions }) {
  const open = ["Sessions", number(sessions.open), `${number(sessions.begun)} since the start`];
  if (!cache) return [open];
  const first = looks[0].cache ?? cache;
  const { shadow } = cache;
  const hits = cache => cache.shadow ? cache.shadow.would_be_hits : cache.hits;
  const all = cache => hits(cache) + cache.misses;
  const rate = [shadow ? "Would-be hits" : "Hits", percent(hits(cache), all(cache)),
    `${percent(hits(cache) - hits(first), all(cache) - all(first))} now`, `${number(hits(cache))} of ${number(all(cache))}`];
  const saved = shadow
    ? ["Time of would-be hits", time(shadow.time), "at the server, compared ones"]
    : ["Time saved", time(cache.saved_time), `a hit takes ${mean(cache.hit_time, cache.hits)}`,
      `a kept reply took ${mean(cache.fill_time, cache.filled)}`];
  const compared = shadow
    ? [["Compared", number(shadow.equal + shadow.different), `${number(shadow.different)} different`,
      `${number(shadow.not_compared)} not compared`]] : [];
  return [rate, ...compared, saved,
    ["Entries", number(cache.entries), `${number(cache.filled)} were kept`],
    ["Memory", bytes(cache.bytes), `of ${bytes(cache.max_bytes)}`],
    ["Dropped by writes", number(cache.dropped), `${number(cache.writes)} writes`, `${number(cache.doubts)} without an answer`],
    open];
}

const mean = (sum, count) => count > 0 ? time(sum / count) : "no time yet";

function shadow(found) {
  of("shadow").hidden = !found;
  if (!found) return;
  table("differences", found.last, "Nothing differs.", [
    ["when", one => new Date(1000 * one.at).toISOString().slice(0, 19).replace("T", " ")],
    ["column", one => one.column],
    ["interval", between],
    ["difference", one => one.what],
    ["cache", one => bytes(one.kept_bytes), "number"],
    ["server", one => bytes(one.answered_bytes), "number"],
    ["statement", one => element("code", "", one.shape), "wide"],
  ]);
  reasons("uncertain", found.reasons, "");
}

function auto(found) {
  of("auto").hidden = !found;
  if (!found) return;
  const all = [...found.registered.map(one => ["registered", one]), ...found.refused.map(one => ["refused", one])];
  table("advised", all, "None yet.", [
    ["column", ([, one]) => one.column],
    ["", ([what]) => what],
    ["why", ([, one]) => one.why, "wide"],
  ]);
}

function reasons(id, all, otherwise) {
  table(id, all, otherwise, [["times", one => number(one.count), "number"], ["reason", one => one.reason, "wide"]]);
}

/** A table of `rows`; each column is its name, what it shows of a row, and its class. */
function table(id, rows, otherwise, shown) {
  const place = of(id);
  // A reader who has scrolled aside stays there.
  const left = place.scrollLeft;
  if (rows.length === 0) {
    place.replaceChildren(element("p", "quiet", otherwise));
    place.removeAttribute("tabindex");
    return;
  }
  const head = element("tr", "", ...shown.map(([name, , kind]) => {
    const heading = element("th", kind, name);
    heading.scope = "col";
    return heading;
  }));
  const body = rows.map(row => element("tr", "", ...shown.map(([, cell, kind]) => element("td", kind, cell(row)))));
  place.replaceChildren(element("table", "", element("thead", "", head), element("tbody", "", ...body)));
  place.tabIndex = 0;
  place.setAttribute("role", "region");
  place.setAttribute("aria-label", place.closest("section").querySelector("h2").textContent);
  place.scrollLeft = left;
}

function columns(all) {
  const names = new Set(all.map(column => column.column));
  for (const [name, map] of maps) {
    if (!names.has(name)) {
      map.figure.remove();
      maps.delete(name);
    }
  }
  for (const column of all) {
    if (!maps.has(column.column)) maps.set(column.column, new IntervalMap(column.column));
    maps.get(column.column).update(column);
  }
}

/** The intervals of a column; one of them is chosen by pointer or keyboard, and described below. */
class IntervalMap {
  constructor(name) {
    this.segments = [];
    this.chosen = undefined;
    this.caption = element("figcaption");
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("viewBox", "0 0 1000 56");
    this.svg.setAttribute("preserveAspectRatio", "none");
    this.svg.setAttribute("role", "img");
    this.svg.tabIndex = 0;
    this.ends = element("div", "ends");
    this.said = element("output");
    this.figure = element("figure", "", this.caption, this.svg, this.ends, this.said);
    this.figure.dataset.column = name;
    this.svg.addEventListener("keydown", event => this.key(event));
    this.svg.addEventListener("pointermove", event => this.point(event));
    this.svg.addEventListener("pointerdown", event => this.point(event));
    of("columns").append(this.figure);
  }

  update({ column, entries: count, bytes: size, hits, segments }) {
    const before = this.segments[this.chosen];
    this.segments = segments;
    const same = segments.findIndex(one => before && one.low === before.low && one.high === before.high);
    this.chosen = same >= 0 ? same : undefined;
    this.caption.replaceChildren(element("b", "", column),
      element("span", "quiet", ` ${entries(count)}, ${bytes(size)}, asked for ${times(hits)}`));
    this.svg.setAttribute("aria-label", `${column}: ${segments.length} intervals; arrow keys go through them`);
    const most = Math.log1p(Math.max(1, ...segments.map(one => one.hits)));
    this.svg.replaceChildren(...segments.map(one => bar(one, most)));
    const [first, last] = [segments[0], segments.at(-1)];
    this.ends.replaceChildren(...(first ? [element("span", "", first.low), element("span", "", last.high)] : []));
    this.describe();
  }

  key(event) {
    const last = this.segments.length - 1;
    const at = this.chosen;
    const to = {
      ArrowRight: at === undefined ? 0 : Math.min(at + 1, last),
      ArrowLeft: at === undefined ? last : Math.max(at - 1, 0),
      Home: 0, End: last,
    }[event.key];
    if (event.key === "Escape") this.chosen = undefined;
    else if (to === undefined || last < 0) return;
    else this.chosen = to;
    event.preventDefault();
    this.describe();
  }

  /** The nearest interval to the pointer. */
  point(event) {
    const box = this.svg.getBoundingClientRect();
    const at = (event.clientX - box.left) / box.width;
    const away = one => Math.max(one.from - at, at - one.to, 0);
    const nearest = this.segments.reduce((best, one, place) =>
      best === undefined || away(one) < away(this.segments[best]) ? place : best, undefined);
    this.chosen = nearest;
    this.describe();
  }

  describe() {
    [...this.svg.children].forEach((drawn, place) => drawn.classList.toggle("chosen", place === this.chosen));
    const one = this.segments[this.chosen];
    const text = one
      ? `${between(one)}: ${entries(one.entries)}, asked for ${times(one.hits)}${one.has_gaps ? ", with small gaps" : ""}`
      : this.segments.length === 0 ? "Nothing of it is there." : "";
    if (this.said.textContent !== text) this.said.textContent = text;
  }
}

/** Never so narrow that it is not seen. */
function bar({ from, to, hits }, most) {
  const height = 16 + 38 * Math.log1p(hits) / most;
  const width = Math.max(1000 * (to - from), 3);
  const drawn = document.createElementNS(SVG, "rect");
  const places = { x: Math.min(1000 * from, 1000 - width), y: 56 - height, width, height };
  for (const [name, value] of Object.entries(places)) drawn.setAttribute(name, value.toFixed(1));
  drawn.setAttribute("class", "mark");
  return drawn;
}

look();
