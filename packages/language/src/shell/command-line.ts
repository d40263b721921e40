import { codeOptionOf, interpreterOf, runsCommand, takesNoCommand, type Interpreter } from './interpreters.ts'
import type { ShellNode } from './grammar.ts'
import { literalOf, placeholdersIn } from './placeholders.ts'

/** A word of a command and its content, if known. */
export interface Word {
  readonly node: ShellNode
  /** Undefined if the content depends on an expansion. */
  readonly text: string | undefined
}

/** An interpreter that a command line starts, and the code that it gets. */
export interface InterpreterCall {
  readonly name: string
  readonly interpreter: Interpreter
  /** Words that are code, including values of options. */
  readonly code: readonly Word[]
  /** Words that name a file of code. */
  readonly files: readonly Word[]
  readonly readsInput: boolean
}

const UNKNOWN: Interpreter = { code: /^-[A-Za-z]*c$/, operand: 'none', stdin: true, shell: true }

/** Whether a word names the standard input or another open file descriptor. */
export const isInput = (word: Word | undefined): boolean =>
  /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/.test(word?.text ?? '')

/** Reads the options and operands of an interpreter; `words` begins with its name. */
export const interpreterCall = (
  interpreter: Interpreter,
  name: string,
  words: readonly Word[],
): InterpreterCall => {
  const code: Word[] = []
  const files: Word[] = []
  let [fed, ended, dash, awaited] = [false, false, false, false]
  let at = 1
  for (; at < words.length; at++) {
    const word = words[at]
    if (word === undefined) break
    const { text = '' } = word
    const next = words[at + 1]
    if (!ended && text === '--') ended = true
    else if (!ended && interpreter.code?.test(text) === true) {
      fed = true
      // More options may follow `-c`; after the script of the shell all words are its arguments.
      awaited ||= interpreter.shell && interpreter.operand === 'script'
      if (awaited) continue
      if (next !== undefined) code.push(next)
      at++
    } else if (awaited && (ended || !/^[-+]./.test(text))) {
      code.push(word)
      break
    } else if (!ended && interpreter.file?.test(text) === true) {
      fed = true
      dash ||= isInput(next)
      if (next !== undefined) files.push(next)
      at++
      if (text === '-m') break
    } else if (!ended && interpreter.skip?.test(text) === true) at++
    else if (!ended && /^[-+]./.test(text)) {
      if (isCodeAttached(interpreter, text)) code.push(word)
      if (/^--(?:version|help)$/.test(text)) fed = true
      if (interpreter.shell && interpreter.operand === 'script' && /^-[A-Za-z]*s[A-Za-z]*$/.test(text)) {
        const first = words[at + 1]
        // Without -- a value may be an option of the shell.
        if (first !== undefined && placeholdersIn(first.node.text).length > 0) code.push(first)
        break
      }
    } else if (interpreter.operand === 'none') fed = true
    else if (interpreter.operand === 'codes') code.push(word)
    else if (isInput(word)) {
      dash = true
      break
    } else {
      if (!fed && interpreter.operand === 'code') code.push(word)
      else if (!fed) files.push(word)
      fed = true
      break
    }
  }
  return { name, interpreter, code, files, readsInput: dash || (interpreter.stdin && !fed) }
}

/** Whether a value attached to an option may be code: `-e'…'`, `--eval=…`, or the option itself. */
const isCodeAttached = ({ code, file }: Interpreter, text: string): boolean => {
  const [option = ''] = text.split(/=|SCANFARMVALUE\d+X/, 1)
  if (placeholdersIn(text).length === 0) return false
  const heads = Array.from({ length: Math.min(option.length, 8) }, (_, at) => option.slice(0, at + 1))
  return (
    /^-*$/.test(option) ||
    [...heads, option].some((head) => code?.test(head) === true || file?.test(head) === true)
  )
}

/** Whether the shell may split a word. */
const isSplit = (node: ShellNode): boolean =>
  /^(?:simple_expansion|expansion|command_substitution)$/.test(node.type) ||
  (node.type === 'concatenation' && node.children.some(isSplit))

/** Words after programs that run another command, where the command depends on an expansion. */
export const commandsUnknown = (words: readonly Word[]): ShellNode[] => {
  const runs = (name: string): boolean => runsCommand(name) && !/(?:^|\/)find$/.test(name)
  let wraps = runs(words[0]?.text ?? '')
  const found: ShellNode[] = []
  for (const [index, { text, node }] of words.entries()) {
    const before = words[index - 1]?.text ?? ''
    if (index > 0 && isSplit(node) && (wraps || /^-(?:exec|ok)(?:dir)?$/.test(before))) found.push(node)
    if (index > 0 && text !== undefined && !/^-|=|^\d/.test(text)) wraps = runs(text)
  }
  return found
}

/** `code`: values of options that are commands. `open`: values that could be such an option. */
export const optionsIn = (words: readonly Word[]): { code: ShellNode[]; open: [ShellNode, RegExp][] } => {
  const code: ShellNode[] = []
  const open: [ShellNode, RegExp][] = []
  let options: RegExp | undefined
  let isAwaited = false
  for (const { node, text = '' } of words) {
    const plain = node.text.replace(/^["']/, '')
    if (isAwaited) code.push(node)
    const match: string | undefined = isAwaited ? undefined : options?.exec(plain)?.[0]
    isAwaited = match === plain
    if (match !== undefined && !isAwaited) code.push(node)
    if (options !== undefined && plain.startsWith('SCANFARMVALUE')) open.push([node, options])
    if (text === '--') options = undefined
    else options = codeOptionOf(text) ?? options
  }
  return { code, open }
}

/** Every interpreter that a simple command may start, itself or through a program that runs another. */
export const interpreterCallsIn = (words: readonly Word[]): InterpreterCall[] => {
  const [first] = words
  if (first === undefined) return []
  const { text: name, node } = first
  if (name === 'command' && /^-[vV]/.test(words[1]?.text ?? '')) return []
  const own = name === undefined || isOpen(name) ? UNKNOWN : interpreterOf(name)
  const calls = own === undefined ? [] : [interpreterCall(own, name ?? node.text, words)]
  if (name !== undefined && (takesNoCommand(name) || (own !== undefined && own.operand !== 'none')))
    return calls
  let wraps = name === undefined || runsCommand(name)
  let isArgument = false
  for (const [index, { text, node: at }] of words.entries()) {
    // The words after an interpreter are its arguments, up to the next command of find.
    if (isArgument || index === 0) {
      isArgument &&= text !== ';' && text !== '+'
      continue
    }
    const found = text === undefined || isOpen(text) ? (wraps ? UNKNOWN : undefined) : interpreterOf(text)
    const script = words.findIndex(
      (word, from) => from > index && found?.code?.test(word.text ?? '') === true,
    )
    const isEntry = words[index - 1]?.text?.startsWith('--entrypoint') === true && script !== -1
    if (found !== undefined)
      calls.push(
        interpreterCall(
          found,
          text ?? at.text,
          isEntry ? [words[index] ?? first, ...words.slice(script)] : words.slice(index),
        ),
      )
    isArgument = found !== undefined && found.operand !== 'none'
    if (text !== undefined && !/^-|=/.test(text)) wraps &&= runsCommand(text) || /^\d|^[A-Z]/.test(text)
    wraps ||= text !== undefined && runsCommand(text)
  }
  return calls
}

/** Whether a value decides the name. */
const isOpen = (text: string): boolean => placeholdersIn(text.slice(text.lastIndexOf('/') + 1)).length > 0

/** The command that `xargs` runs, and the text that it replaces by its input. */
export const ofXargs = (words: readonly Word[]): { command: readonly Word[]; replaced: string } => {
  let replaced = ''
  let at = 1
  for (; at < words.length; at++) {
    const text = words[at]?.text ?? ''
    if (!text.startsWith('-') || text === '-') break
    const attached = /^(?:-[IJ]|--replace=)(.+)$/.exec(text)?.[1]
    if (attached !== undefined) replaced = attached
    else if (/^-[IJ]$/.test(text)) replaced = words[++at]?.text ?? '{}'
    else if (/^(?:-i|--replace)$/.test(text)) replaced = '{}'
    else if (
      /^-[nPLsdEaSR]$/.test(text) ||
      /^--(?:max-args|max-procs|max-lines|delimiter|arg-file)$/.test(text)
    )
      at++
  }
  return { command: words.slice(at), replaced }
}

export const wordOf = (node: ShellNode, constants: ReadonlyMap<string, string>): Word => {
  const text = literalOf(node)
  if (text !== undefined) return { node, text }
  const name = /^"?\$\{?([A-Za-z_]\w*)\}?"?$/.exec(node.text)?.[1]
  return { node, text: name === undefined ? undefined : constants.get(name) }
}
