import { SHELL_COMMANDS } from '../functions/shell-commands.ts'

/** Functions whose first argument is a program. */
const PROGRAMS: ReadonlySet<string> = new Set(['exec_python', 'execPython', 'exec_ts', 'execTs'])

const TEXT = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`((?:[^`\\]|\\.)*)`/g
const CALL = /(?<![.\w$])([A-Za-z_]\w*)\s*\(/g
/** Holes of a command, which are escaped for their place in it. */
const ESCAPED = /\$shell\[\d+\]/g

/** Texts become `""`, and those with values in them a sum. */
const withoutTexts = (code: string): string =>
  code.replaceAll(TEXT, (_, literal: string = '') =>
    literal.replaceAll(ESCAPED, '').replaceAll('${}', '').includes('${') ? '(""+value)' : '""',
  )

/** The arguments of a call whose parenthesis opens before `from`. */
const argumentsAt = (code: string, from: number): string[] => {
  const found = ['']
  let depth = 0
  for (const char of code.slice(from)) {
    if (')]}'.includes(char) && depth-- === 0) break
    if ('([{'.includes(char)) depth++
    if (char === ',' && depth === 0) found.push('')
    else found.push(`${found.pop() ?? ''}${char}`)
  }
  return found
}

export interface HandedCode {
  readonly name: string
  /** It goes to a shell; otherwise to an interpreter of another language. */
  readonly toShell: boolean
}

/**
 * The first call in a prepared program that hands a text with values in it to a shell or an interpreter, where they are
 * code. In a command, `{{x}}` is escaped for its place, and what is joined by the program is not.
 */
export const handedCode = (code: string): HandedCode | undefined => {
  const plain = withoutTexts(code)
  for (const call of plain.matchAll(CALL)) {
    const [head, name = ''] = call
    const position = PROGRAMS.has(name) ? 0 : SHELL_COMMANDS.get(name)
    if (position === undefined) continue
    const argument = argumentsAt(plain, call.index + head.length)[position] ?? ''
    const rest = argument.replaceAll(ESCAPED, '""')
    if (rest.includes('+') && /[A-Za-z_$]/.test(rest)) return { name, toShell: !PROGRAMS.has(name) }
  }
  return undefined
}
