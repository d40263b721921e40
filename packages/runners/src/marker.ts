/** Name of the environment variable by which processes that left their group are found again. */
export const MARKER_VARIABLE = 'SCANFARM_MARKER'

/**
 * Value of the variable for the `number`th command of an attempt. The attempt's own marker is its first part, so one
 * command can be swept without touching the commands beside it, and a whole attempt at its end; no command's value is
 * the beginning of another's.
 */
export const commandMarker = (attempt: string, number: number): string => `${attempt}#${number};`

/** Marker of a part of an attempt's commands, which can be killed without the others; it takes the place of the attempt's. */
export const commandGroup = (attempt: string, group: number): string => attemptPrefix(attempt) + String(group)

/** Whether a process that carries `value` belongs to `marker`: a command's marker or an attempt's. */
export const belongsTo = (value: string, marker: string): boolean =>
  value === marker || value.startsWith(attemptPrefix(marker))

/** What the values of all commands of the attempt begin with. */
export const attemptPrefix = (attempt: string): string => `${attempt}#`
