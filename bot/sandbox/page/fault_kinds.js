// Each fault that the sandbox knows, in the words of who wants to see it: what is asked, and of what.

// A field: its name in the request, how it is asked for, and what stands there at first.
const call = (first) => ({ name: "method", label: "which call", kind: "call", first });
const told = (first) => ({ name: "method", label: "what is told", kind: "told", first });
const times = { name: "times", label: "how often", kind: "number", first: 1 };
const contains = { name: "contains", label: "only where it says", kind: "words", first: "" };
const number = (name, label, first) => ({ name, label, kind: "number", first });
const channel = (name) => ({ name, label: "channel", kind: "channel", first: "C0SUPPORT" });

export const CALLS = ["chat.postMessage", "chat.update", "chat.postEphemeral", "chat.delete", "views.open", "views.update", "views.publish",
  "response_url", "users.info", "usergroups.users.list", "conversations.info", "conversations.history", "conversations.replies",
  "chat.startStream", "chat.appendStream", "chat.stopStream", "reactions.add", "files.getUploadURLExternal", "upload",
  "files.completeUploadExternal", "auth.test", "apps.connections.open"];
export const TOLD = ["app_mention", "message", "app_home_opened", "reaction_added", "block_actions", "view_submission", "view_closed",
  "block_suggestion", "shortcut", "message_action", "slash_command"];
const COMPLETE = { method: "files.completeUploadExternal" };

export const FAULTS = [
  ["When the app calls Slack", [
    { title: "Slack loses its answer", about: "What was asked is done, and nobody is told: the connection breaks.", does: { drop_after_commit: true }, fields: [call("chat.postMessage"), times, contains] },
    { title: "Slack is away", about: "Everything is answered with HTTP 503.", does: { status: 503 }, fields: [number("for_seconds", "seconds", 10)] },
    { title: "Slack says: slow down", about: "A rate limit: HTTP 429, with the seconds to wait.", does: { ratelimited: true }, fields: [call("*"), number("retry_after", "seconds to wait", 3), { ...times, first: 2 }] },
    { title: "Slack says no", about: "An error in the answer.", does: {}, fields: [call("chat.postMessage"), { name: "error", label: "error", kind: "words", first: "channel_not_found", known: ["channel_not_found", "not_in_channel", "is_archived", "message_not_found", "edit_window_closed", "expired_trigger_id", "internal_error", "fatal_error"] }, times, contains] },
    { title: "Slack breaks down on a call", about: "An HTTP error, and no JSON.", does: {}, fields: [call("*"), number("status", "HTTP status", 500), times] },
    { title: "Slack is slow", about: "The answer is late, and so is what the call does.", does: {}, fields: [call("*"), number("latency", "seconds", 4), times] },
    { title: "Every now and then a call fails", about: "With HTTP 500, until you take it back.", does: { status: 500 }, fields: [call("*"), { name: "share", label: "share of the calls", kind: "number", first: 0.2, step: 0.05 }] },
    { title: "A file comes late", about: "Its upload is confirmed, and it is shared only later.", does: COMPLETE, fields: [number("share_after", "seconds", 5), times] },
    { title: "A file never comes", about: "Its upload is confirmed, and it is never shared.", does: { ...COMPLETE, unshared: true }, fields: [times] },
  ]],
  ["When Slack tells the app", [
    { title: "It is told twice", about: "Twice at once, to two connections where there are two.", does: { duplicate: true }, fields: [told("block_actions"), times] },
    { title: "It is told late", about: "What comes after overtakes it.", does: {}, fields: [told("message"), number("delay", "seconds", 5), times] },
    { title: "It is never told", about: "An event is sent again, as by Slack; what a person did is not.", does: { lost: true }, fields: [told("app_mention"), times] },
    { title: "A click comes too late for a form", about: "Its trigger has expired when it arrives.", does: { expired_trigger: true }, fields: [told("block_actions"), times] },
  ]],
  ["At once", [
    { title: "The connections break", about: "Without a closing frame.", does: { drop_sockets: true }, fields: [], now: true },
    { title: "The connections go silent", about: "They stay open and pass nothing.", does: {}, fields: [number("half_open", "seconds", 10)], now: true },
    { title: "Slack asks to connect anew", about: "As it does every few hours.", does: { disconnect: "refresh_requested" }, fields: [], now: true },
    { title: "The app’s token ends", about: "Somebody uninstalled the app, say.", does: {}, fields: [{ name: "revoke_token", label: "token", kind: "choice", first: "xoxb-sandbox", choices: [["xoxb-sandbox", "the bot’s"], ["xapp-sandbox", "of its connections"]] }, { name: "error", label: "Slack says", kind: "choice", first: "token_revoked", choices: ["token_revoked", "account_inactive", "invalid_auth", "token_expired"].map((one) => [one, one]) }], now: true },
    { title: "A channel is archived", about: "", does: {}, fields: [channel("archive")], now: true },
    { title: "The app is removed from a channel", about: "", does: {}, fields: [channel("remove_bot")], now: true },
    { title: "Somebody deletes a message of the app", about: "One of what is open on the page.", does: {}, fields: [{ name: "delete_message", label: "message", kind: "message", first: "" }], now: true },
    { title: "Slack’s clock is wrong", about: "Ahead by so many seconds, or behind.", does: {}, fields: [number("clock_ahead", "seconds", 600)], now: true },
  ]],
];

const WHAT = { "*": "any call", response_url: "use of a response URL", upload: "upload" };
const named = (method, any) => (method === "*" ? any : WHAT[method] ?? method);

// A fault that waits or lasts, as `/sandbox/faults` tells it.
export function inWords(fault, placeName, now) {
  const left = fault.times > 1 ? ` · ${fault.times} left` : fault.times === 1 ? " · the next one" : "";
  const until = fault.until !== undefined ? ` · ${Math.max(0, Math.ceil(fault.until - now))} s more` : "";
  const where = fault.contains ? ` that says “${fault.contains}”` : "";
  return `${sentence(fault, placeName)}${where}${left}${until}`;
}

function sentence(fault, placeName) {
  const call_ = named(fault.method, "any call");
  const told_ = named(fault.method, "whatever it is told");
  const has = (name) => fault[name] !== undefined;
  if (has("drop_after_commit")) return `Slack loses its answer to ${call_}`;
  if (has("ratelimited")) return `Slack says “slow down” (${fault.retry_after} s) to ${call_}`;
  if (has("latency")) return `Slack is ${fault.latency} s slow with ${call_}`;
  if (has("share")) return `Slack fails ${Math.round(fault.share * 100)} % of ${named(fault.method, "all calls")}`;
  if (has("status")) return fault.until !== undefined ? `Slack is away (HTTP ${fault.status})` : `Slack fails ${call_} (HTTP ${fault.status})`;
  if (has("duplicate")) return `The app is told twice: ${told_}`;
  if (has("delay")) return `The app is told ${fault.delay} s late: ${told_}`;
  if (has("lost")) return `The app is never told: ${told_}`;
  if (has("expired_trigger")) return `The trigger has expired on arrival: ${told_}`;
  if (has("share_after")) return `A file comes ${fault.share_after} s late`;
  if (has("unshared")) return "A file never comes";
  if (has("half_open")) return "The connections are silent";
  if (has("revoke_token")) return `${fault.revoke_token.startsWith("xapp") ? "The token of the connections" : "The bot’s token"} has ended (${fault.error})`;
  if (has("archive")) return `${placeName(fault.archive)} is archived`;
  if (has("remove_bot")) return `The app is not in ${placeName(fault.remove_bot)}`;
  if (has("clock_ahead")) return `Slack’s clock is ${Math.abs(fault.clock_ahead)} s ${fault.clock_ahead < 0 ? "behind" : "ahead"}`;
  return `Slack says ${fault.error} to ${call_}`;
}
