import type { FunctionTable } from '../function-table.ts'

/** Built-in functions of JavaScript that produce a value. */
const OF_SCRIPT =
  /(?<![\w.])(?:(?:Math|JSON|Object|Array|Number|String|Date)\.\w+|Number|String|Boolean|parseInt|parseFloat|isNaN|encodeURIComponent|decodeURIComponent)\(/

/** Whether an export is an expression: it is if it calls a known function. Any other text is a literal. */
export const looksLikeCall = (text: string, functions: FunctionTable): boolean =>
  OF_SCRIPT.test(text) ||
  [...text.matchAll(/(?<!\w)([A-Za-z_]\w*)\s*\(/g)].some(([, name = '']) => functions.has(name))

/** The name of the unknown function that a text calls, if the whole text is a call. */
export const unknownCall = (text: string, functions: FunctionTable): string | undefined => {
  const name = /^([A-Za-z_]\w*)\(.*\)(?:\s*;)?$/s.exec(text.trim())?.[1]
  return name === undefined || looksLikeCall(text, functions) ? undefined : name
}

/** Functions that run a text in a shell, by all their names, with the position of that argument. */
export const SHELL_COMMANDS: ReadonlyMap<string, number> = new Map([
  ...['exec_cmd', 'execCmd', 'bash', 'tmux_run', 'tmuxRun'].map((name): [string, number] => [name, 0]),
  ...['ssh_exec', 'sshExec'].map((name): [string, number] => [name, 1]),
])
