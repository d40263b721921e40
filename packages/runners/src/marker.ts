/** The environment variable by which orphans are found. */
export const MARKER_VARIABLE = 'SCANFARM_MARKER'

/**
 * The marker of the `number`th command of an attempt. It begins with the attempt's marker, so that one command can be
 * killed without the others, and the whole attempt at its end. No command's marker is a prefix of another's.
 */
export const commandMarker = (attempt: string, number: number): string => `${attempt}#${number};`

/** The marker of a group of an attempt's commands, used instead of the attempt's marker to kill them without the others. */
export const commandGroup = (attempt: string, group: number): string => attemptPrefix(attempt) + String(group)

/** Whether a process with the marker `value` belongs to `marker`, which is of a command or an attempt. */
export const belongsTo = (value: string, marker: string): boolean =>
  value === marker || value.startsWith(attemptPrefix(marker))

/** The prefix of the markers of all commands of an attempt. */
export const attemptPrefix = (attempt: string): string => `${attempt}#`
