// What a select offers: its own options, or people, channels and conversations of the workspace.

import { everybody, everyPlace, placeName } from "./names.js";
import { fileOptions } from "./sight.js";
import { where } from "./where.js";

export const isSeveral = (element) => element.type.startsWith("multi_") || element.type === "file_input";

const option = (value, text) => ({ value, text: { type: "plain_text", text, emoji: false } });

const people = () => everybody().filter((user) => !user.deleted).map((user) => option(user.id, user.profile.display_name));
const places = (fits) => everyPlace().filter(fits).map((channel) => option(channel.id, placeName(channel)));

const isSeen = (channel, wanted) => (channel.kind === "public" || channel.members.includes(where.as))
  && !(channel.shared && wanted.exclude_external_shared_channels)
  && !(channel.kind === "im" && wanted.exclude_bot_users)
  && (wanted.include?.includes(channel.kind) ?? true);

// Each `{ label, options }`; without a label where there are no groups.
export function groupsOf(element) {
  if (element.option_groups) return element.option_groups;
  return [{ options: offered(element) }];
}

function offered(element) {
  if (element.type === "file_input") return fileOptions(element.filetypes);
  if (element.type.endsWith("users_select")) return people();
  if (element.type.endsWith("channels_select")) return places((one) => one.kind === "public");
  if (element.type.endsWith("conversations_select")) return places((one) => isSeen(one, element.filter ?? {}));
  return element.options ?? [];
}

// With which values it begins.
export function valuesOf(element) {
  const here = element.default_to_current_conversation ? where.channel : undefined;
  const found = element.initial_options ?? element.initial_users ?? element.initial_conversations ?? element.initial_channels
    ?? element.initial_option ?? element.initial_user ?? element.initial_conversation ?? element.initial_channel ?? here ?? [];
  return [found].flat().map((one) => one.value ?? one);
}

// What an external select was given to begin with.
export const firstOptions = (element) => [element.initial_options ?? element.initial_option ?? []].flat();
