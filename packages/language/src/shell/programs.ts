import { baseName, MAX_WORDS, realCommand, RUNS_ARGUMENTS } from './argument-position.ts'
import type { CodeContext } from './frames.ts'

/** A program that reads code from its command line or its standard input. */
interface Interpreter {
  readonly name: RegExp
  /** The code is in the word after such an option, or attached to it. */
  readonly option?: RegExp
  /** Without such an option, the first operand is the code. */
  readonly operand?: true
  /** Options with a value, which may be the next word. */
  readonly value?: RegExp
  /** Options that name a file of code. */
  readonly file?: RegExp
  /** Without code and operands, the standard input is the code. */
  readonly input?: true
  /** The code is a shell script: the lexer escapes a value for it too. */
  readonly shell?: true
  /** Words after the code are never options. */
  readonly ends?: true
  /** Values are reported by the checker and not refused. */
  readonly warns?: true
}

/** Values in the code of these programs are refused unless they are harmless. */
const INTERPRETERS: readonly Interpreter[] = [
  { name: /^(?:ba|da|z|k|a|mk)?sh$/, option: /^-[A-Za-z]*c[A-Za-z]*$/, value: /^[-+][A-Za-z]*[oO]$/, file: /^--(?:rcfile|init-file)/, input: true, shell: true, ends: true },
  { name: /^(?:su|runuser)$/, option: /^-[A-Za-z]*c$/, shell: true },
  { name: /^python[\d.]*$/, option: /^-[bBdEhiIOPqsSuvVx]*c/, value: /^-[WX]$/, file: /^-m/, input: true, ends: true },
  { name: /^perl[\d.]*$/, option: /^-[acdlnpstuvwiSTUWX\d]*[eE]/, input: true },
  { name: /^ruby[\d.]*$/, option: /^-[acdlnpsvwySW\d]*e/, value: /^-[rICE]$/, input: true },
  { name: /^node(?:js)?$/, option: /^(?:-e|-pe?|--eval|--print)(?:=|$)/, value: /^(?:-r|--require|--import|-C)$/, input: true },
  { name: /^php[\d.]*$/, option: /^-[rBRE]/, value: /^-[cd]$/, file: /^-[fF]/, input: true },
  { name: /^[gmn]?awk$/, option: /^(?:-e|--source(?:=|$))/, operand: true, value: /^(?:-v|-F|--assign|--field-separator)$/, file: /^(?:-f|--file|-E|--exec)/ },
  { name: /^g?sed$/, option: /^(?:-[nrsuzE]*e|--expression(?:=|$))/, operand: true, value: /^(?:-l|--line-length)$/, file: /^(?:-[nrsuzE]*f|--file)/ },
  { name: /^jq$/, operand: true, value: /^(?:-L|--indent)$/, file: /^(?:-f|--from-file)$/ },
  { name: /^(?:psql|mysql|mariadb|sqlite3?|duckdb)$/, option: /^(?:-c|-e|-cmd|--command|--execute)(?:=|$)/, input: true, warns: true },
  { name: /^(?:lua(?:jit)?|Rscript|osascript|deno|bun|pwsh|tclsh|expect|julia)[\d.]*$/, option: /^(?:-c|-e|--eval|eval|-Command)(?:=|$)/, input: true, warns: true },
  { name: /^(?:crontab|bc|dc|gdb|m4|ed|ex|parallel)$/, input: true, warns: true },
] // prettier-ignore

/** Commands that only print their words, or take them as the values of a variable. */
const PRINTS = /^(?:echo|printf|for)$/

/** Options of jq with two values. */
const TWO_VALUES = /^--(?:arg|argjson|slurpfile|rawfile)$/

/** Options of ssh with a value. */
const SSH_VALUE = /^-[A-Za-z0-9]*[bcDEeFIiJLlmOopQRSWw]$/

const ANY = new RegExp(INTERPRETERS.map(({ name }) => name.source).join('|'))

interface Call {
  readonly of: Interpreter
  /** As it is written, without its folder. */
  readonly name: string
  readonly args: readonly string[]
}

/**
 * What the next word of an interpreter is. `code`: its code; `first`: its code, unless it is an option; `argument`: the
 * code was before it; `operand`: a file of code or another operand was before it; `open`: only options were before it.
 */
type Next = 'code' | 'first' | 'argument' | 'operand' | 'value' | 'open'

const nextOf = ({ of, args }: Pick<Call, 'of' | 'args'>): Next => {
  let awaited = false
  let given: 'argument' | 'operand' | undefined
  let ended = false
  let at = 0
  for (; at < args.length; at++) {
    const word = args[at] ?? ''
    const isOption = !ended && /^[-+]./.test(word)
    const option = isOption ? of.option?.exec(word)?.[0] : undefined
    if (isOption && word === '--') ended = true
    else if (option !== undefined && of.shell === true) {
      // More options may follow the -c of a shell.
      awaited = true
      if (/[oO]$/.test(word)) at++
    } else if (option !== undefined) {
      if (option === word && !option.endsWith('=') && ++at === args.length) return 'code'
      given = 'argument'
      if (of.ends === true) return given
    } else if (isOption && TWO_VALUES.test(word)) at += 2
    else if (isOption && of.value?.test(word) === true) at++
    else if (isOption) {
      if (of.file?.test(word) === true) given ??= 'operand'
    } else if (awaited) return 'argument'
    else if (of.shell === true && of.ends !== true) given = 'operand'
    else if (given !== undefined || of.operand !== true) return given ?? 'operand'
    else given = 'argument'
  }
  if (at > args.length) return 'value'
  if (awaited) return 'code'
  return given ?? (of.operand === true ? 'first' : 'open')
}

/** Every interpreter that a command starts, itself or through a program that runs another. */
const callsIn = (texts: readonly string[]): Call[] => {
  const command = realCommand(texts)
  const head = baseName(command[0] ?? '')
  if (PRINTS.test(head)) return []
  const wraps = command.length === 0 || RUNS_ARGUMENTS.has(head)
  return texts.flatMap((text, index) => {
    const name = baseName(text)
    const of = ANY.test(name) ? INTERPRETERS.find((one) => one.name.test(name)) : undefined
    if (of === undefined) return []
    const args = texts.slice(index + 1)
    const isHead = command.length > 0 && index === texts.length - command.length
    // `sh` alone may be an argument of another program; with -c it is a command.
    const runs = isHead || wraps || (of.operand !== true && args.some((arg) => of.option?.test(arg) === true))
    return runs ? [{ of, name, args }] : []
  })
}

/** The words that ssh sends to the shell of the host; undefined before the host. */
const sentBySsh = (texts: readonly string[]): readonly string[] | undefined => {
  const [program = '', ...args] = realCommand(texts)
  if (baseName(program) !== 'ssh') return undefined
  let at = 0
  while (args[at]?.startsWith('-') === true) at += SSH_VALUE.test(args[at] ?? '') ? 2 : 1
  return at < args.length ? args.slice(at + 1) : undefined
}

/** Whether the next word of a command is a script of another shell, or a part of one. */
export const scriptFollows = (texts: readonly string[]): boolean =>
  realCommand(texts)[0] === 'eval' ||
  sentBySsh(texts) !== undefined ||
  callsIn(texts).some((call) => call.of.shell === true && nextOf(call) === 'code')

/** Whether the next word is an argument of code, as in `sh -c '…' sh ▮`, or the value of an option. */
export const followsCode = (texts: readonly string[]): boolean =>
  callsIn(texts).some(
    (call) => /^(?:value|argument)$/.test(nextOf(call)) && (call.of.ends || nextOf(call) === 'value'),
  )

/** The delimiters of sed and perl in `s/a/b/` and `/a/d`. */
const delimitersIn = (code: string): string =>
  [...code.matchAll(/(?:^|[\s;{}!$\d'"/,])(?:s|y|tr)([/:@%+,._-])/g)].map(([, char = '']) => char).join('') +
  (/(?:^|[\s;{},!])\//.test(code) ? '/' : '')

/** The program whose code the current word is; `text` is the beginning of the word. */
export const codeContext = (texts: readonly string[], text: string): CodeContext | undefined => {
  const command = realCommand(texts)
  if (texts.length > MAX_WORDS && !PRINTS.test(texts[0] ?? ''))
    return { description: `a command of more than ${MAX_WORDS} words` }
  if (command.length === 1 && /^(?:source|\.)$/.test(command[0] ?? ''))
    return { description: `the file that ${command[0]} reads` }
  for (const { of, name, args } of callsIn(texts)) {
    const next = nextOf({ of, args })
    const isOption = /^-./.test(text) && next !== 'code' && next !== 'value'
    const isAttached = isOption && of.option?.test(text) === true && !(of.ends && next === 'argument')
    if (of.shell === true || !(isAttached || next === 'code' || (next === 'first' && !isOption))) continue
    const delimiters = /sed|perl/.test(name) ? delimitersIn(text) : ''
    return { description: `the program of ${name}`, delimiters, ...(of.warns && { warns: true }) }
  }
  return undefined
}

/** Whether xargs puts its input into the code of an interpreter: it ends the command line, or replaces a text in it. */
const xargsFills = (texts: readonly string[], call: Call): boolean => {
  const at = texts.findIndex((text) => /^-(?:[IJ]|i$|-replace)/.test(text))
  const [, attached = ''] = /^(?:-[IJ]|--replace=)(.+)$/.exec(texts[at] ?? '') ?? []
  const replaced = attached === '' ? (/^-[IJ]$/.test(texts[at] ?? '') ? texts[at + 1] : '{}') : attached
  const isCode = (count: number): boolean =>
    /^(?:code|first)$/.test(nextOf({ of: call.of, args: call.args.slice(0, count) }))
  if (at === -1) return isCode(call.args.length)
  return call.args.some((arg, index) => isCode(index) && arg.includes(replaced ?? '{}'))
}

const isInput = ({ of, args }: Call): boolean => {
  const next = nextOf({ of, args })
  if (of.input !== true || next === 'code' || next === 'argument') return false
  const names = of.shell === true ? /^(?:-(?:[a-z]*s[a-z]*)?|\/dev\/stdin)$/ : /^(?:-|\/dev\/stdin)$/
  return next === 'open' || args.some((arg) => names.test(arg))
}

/** The program that reads the standard input of a command as code. */
export const inputContext = (texts: readonly string[]): CodeContext | undefined => {
  const sent = sentBySsh(texts)
  if (sent !== undefined)
    return sent.length === 0 ? { description: 'the input of a shell on another host' } : inputContext(sent)
  const isXargs = baseName(realCommand(texts)[0] ?? '') === 'xargs'
  const call = callsIn(texts).find((one) => (isXargs ? xargsFills(texts, one) : isInput(one)))
  if (call === undefined) return undefined
  const description = isXargs ? `the code that xargs makes for ${call.name}` : `the input of ${call.name}`
  return { description, ...(call.of.warns && { warns: true }) }
}

/** Characters without a meaning to any known shell or interpreter, however often they are read. */
const HARMLESS = /^(?:[A-Za-z0-9_.:/@%+,][A-Za-z0-9_.:/@%+,-]*)?$/

/** Whether a value is safe in code. A leading `-` would make it an option. */
export const isHarmless = (
  text: string,
  { delimiters = '' }: Pick<CodeContext, 'delimiters'> = {},
): boolean => HARMLESS.test(text) && ![...delimiters].some((char) => text.includes(char))

export const HARMLESS_TEXT = 'letters, digits and _ . : / @ % + , - (not first)'

export const INSTEAD = `Pass it as an argument, as in sh -c '… "$1"' sh {{x}} or python3 -c '…' {{x}}, or in an environment variable that the code reads`
