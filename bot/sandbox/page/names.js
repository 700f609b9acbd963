// Who and what there is, by id, and who is looking.

const known = { users: new Map(), groups: new Map(), channels: new Map() };
const looking = { as: null };

export function know(workspace) {
  known.users = new Map(workspace.users.map((user) => [user.id, user]));
  known.groups = new Map(workspace.groups.map((group) => [group.id, group]));
  known.channels = new Map(workspace.channels.map((channel) => [channel.id, channel]));
  known.bot = workspace.bot;
  known.shortcuts = workspace.shortcuts;
}

export function lookAs(user) {
  looking.as = user;
}

export const userOf = (id) => known.users.get(id);
export const userName = (id) => known.users.get(id)?.profile.display_name ?? id;
export const groupName = (id) => known.groups.get(id)?.handle ?? id;
export const everybody = () => [...known.users.values()];
export const everyGroup = () => [...known.groups.values()];
export const everyPlace = () => [...known.channels.values()];
export const placeOf = (id) => known.channels.get(id);
export const appName = () => userName(known.bot);
export const shortcutsOfApp = () => Object.entries(known.shortcuts);
export const zone = () => userOf(looking.as)?.tz;
const groupHasMe = (id) => known.groups.get(id)?.users?.includes(looking.as) ?? false;

// Of a mention's kind and id: is it of whoever looks?
export const isMe = (kind, id) => (kind === "user" ? id === looking.as : kind === "group" && groupHasMe(id));

export function placeName(channel) {
  if (channel.kind === "im") return appName();
  if (channel.kind === "mpim") return channel.members.map(userName).join(", ");
  return `#${channel.name}`;
}

// What people should know of somebody before they believe them; null of a full member.
export function standing(user) {
  if (!user) return null;
  if (user.deleted) return "deactivated";
  if (user.team_id !== userOf(known.bot)?.team_id) return "other workspace";
  return user.is_restricted || user.is_ultra_restricted ? "guest" : null;
}
