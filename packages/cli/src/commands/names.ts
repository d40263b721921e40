/** Other names of commands: without them all commands would be loaded to find one. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['jobs', 'job'],
  ['func', 'function'],
  ['notify', 'webhooks'],
])

export const commandNamed = (given = ''): string => ALIASES.get(given) ?? given
