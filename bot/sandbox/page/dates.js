// Times by the clock of whoever looks: in their own zone, in the browser's language.

import { zone } from "./names.js";

const DAY = 86_400_000;
const made = new Map();

// Made once each: of all that is done for a message this takes the longest.
function format(locale, options) {
  const key = JSON.stringify([locale, options, zone()]);
  if (!made.has(key)) made.set(key, new Intl.DateTimeFormat(locale, { ...options, timeZone: zone() }));
  return made.get(key);
}

const say = (date, options) => format(undefined, options).format(date);
const dateOf = (seconds) => new Date(Number(seconds) * 1000);

// The day as `2026-11-30`.
export const dayOf = (seconds) => format("sv", { dateStyle: "short" }).format(dateOf(seconds));

function nearDay(date) {
  const day = (moment) => Date.parse(dayOf(moment / 1000));
  const days = Math.round((day(date.getTime()) - day(Date.now())) / DAY);
  return { 0: "today", 1: "tomorrow", [-1]: "yesterday" }[days] ?? null;
}

const SHORT = { month: "short", day: "numeric", year: "numeric" };
const USUAL = { month: "long", day: "numeric", year: "numeric" };
const LONG = { weekday: "long", ...USUAL };
const FORMS = {
  date_num: (date) => dayOf(date.getTime() / 1000),
  date_slash: (date) => say(date, { day: "2-digit", month: "2-digit", year: "numeric" }),
  date: (date) => say(date, USUAL),
  date_short: (date) => say(date, SHORT),
  date_long: (date) => say(date, LONG),
  date_pretty: (date) => nearDay(date) ?? say(date, USUAL),
  date_short_pretty: (date) => nearDay(date) ?? say(date, SHORT),
  date_long_pretty: (date) => nearDay(date) ?? say(date, LONG),
  day_divider_pretty: (date) => capital(nearDay(date)) ?? say(date, { weekday: "long", month: "long", day: "numeric" }),
  time: (date) => say(date, { hour: "numeric", minute: "2-digit" }),
  time_secs: (date) => say(date, { hour: "numeric", minute: "2-digit", second: "2-digit" }),
  ago: (date) => ago(date),
};

const capital = (word) => word && word[0].toUpperCase() + word.slice(1);

// As `<!date^…>` has it; the fallback where it is no date.
export function formatDate(seconds, pattern, fallback) {
  const date = dateOf(seconds);
  if (Number.isNaN(date.getTime())) return fallback ?? pattern;
  return pattern.replace(/\{(\w+)\}/g, (whole, name) => FORMS[name]?.(date) ?? whole);
}

// All of it, with the zone's name: for a tooltip.
export function fullDate(seconds) {
  const date = dateOf(seconds);
  if (Number.isNaN(date.getTime())) return null;
  return say(date, { ...LONG, hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" });
}

function ago(date) {
  const seconds = Math.round((date.getTime() - Date.now()) / 1000);
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  for (const [unit, size] of [["day", 86_400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return relative.format(seconds, "second");
}

// Seconds since 1970 as an input for date and time has them, and back: by the same clock.
export function toLocal(seconds) {
  if (!seconds) return "";
  const parts = format("sv", { dateStyle: "short", timeStyle: "medium" }).format(dateOf(seconds));
  return parts.replace(" ", "T");
}

export function fromLocal(text) {
  const asIfUtc = Date.parse(`${text}Z`) / 1000;
  const shift = (seconds) => Date.parse(`${toLocal(seconds)}Z`) / 1000 - seconds;
  // Twice: on a day when the clocks change, the first guess may lie on the other side.
  return Math.floor(asIfUtc - shift(asIfUtc - shift(asIfUtc)));
}
