import { fieldOf, parseObject } from './jsonl.ts'

const SEVERITIES = new Set(['critical', 'high', 'medium', 'low', 'info'])

/** Severity of one line of a scanner's output, JSON or `[high]`, for counting; `""` where it names none. */
export const lineSeverity = (line: string): string => {
  const row = /^\s*\{/.test(line) ? parseObject(line) : undefined
  if (row === undefined) return /\[(critical|high|medium|low|info)\]/i.exec(line)?.[1]?.toLowerCase() ?? ''
  const said = fieldOf(row, 'severity') ?? fieldOf(row, 'info.severity')
  const word = typeof said === 'string' ? said.toLowerCase() : ''
  return SEVERITIES.has(word) ? word : 'info'
}
