import {
  baseName,
  CODE_ARGUMENT,
  CODE_VARIABLE,
  GIT_COMMAND,
  runsCommand,
  SCRIPT_NAME,
  startsShell,
  takesNoCommand,
} from './interpreters.ts'
import {
  commandsUnknown,
  interpreterCallsIn,
  isInput,
  ofXargs,
  optionsIn,
  wordOf,
  type InterpreterCall,
  type Word,
} from './command-line.ts'
import { parseShell, type ShellNode } from './grammar.ts'
import { ANY, Taint } from './taint.ts'
import { fileKey, insideQuotes, placeholdersIn, scriptOf, variablesIn } from './placeholders.ts'

/** A place where a value becomes code. */
export interface CodeSink {
  /** Number of nested scripts for which the lexer must have escaped the value; Infinity if no escaping helps. */
  readonly depth: number
  readonly place: string
  /** Otherwise harmless characters that are delimiters in this code. */
  readonly alsoHarmful: string
  /** The value is the path of a file of code, or a part of it. */
  readonly namesFile: boolean
  /** Only values that match become code. */
  readonly option?: RegExp
}

export const codeSink = (place: string, namesFile = false): CodeSink => ({
  depth: Infinity,
  place,
  alsoHarmful: '',
  namesFile,
})

/** A file that values are written to. They become code if the file is executed. */
export interface WrittenFile {
  readonly key: string
  readonly values: readonly number[]
}

export interface CommandAnalysis {
  /** By index of the value. */
  readonly sinks: ReadonlyMap<number, CodeSink>
  /** By name of the environment variable. */
  readonly variables: ReadonlyMap<string, CodeSink>
  readonly written: readonly WrittenFile[]
  /** Files that the command executes, reads as code, or makes executable. */
  readonly run: ReadonlySet<string>
}

/** Maximum depth of nested scripts. */
const MAX_LEVEL = 8

const REDIRECTS: ReadonlySet<string> = new Set(['file_redirect', 'heredoc_redirect', 'herestring_redirect'])
/** Builtins of bash that evaluate or define a name, which may contain code. */
const NAMES: ReadonlySet<string> = new Set([
  'let',
  'unset',
  'read',
  'mapfile',
  'readarray',
  'getopts',
  'alias',
  'compgen',
  'complete',
  'enable',
  'hash',
  'bind',
])
/** After `sudo`, `timeout`, `command`, … */
const RUN_BY_OTHERS = /^(?:eval|trap|watch|ssh|slogin|tmux|screen|source)$/
const CALCULATION = 'an arithmetic expression of the shell'
const CALCULATES = /\s-(?:eq|ne|lt|le|gt|ge|v)\s/

/** `declare -i x`, `local -n y=…`. */
const DECLARED =
  /\b(?:declare|typeset|local|export|readonly)[ \t]+-[A-Za-z]*[in][A-Za-z]*((?:[ \t]+[A-Za-z_]\w*)+)/g

/** Matches commands that may read code. Commands that cannot be parsed are refused only if they match. */
const MAY_RUN_CODE =
  /\b(?:(?:ba|da|z|k|a|fi)?sh|python[\d.]*|perl|ruby|node|php|lua|awk|[gmn]awk|sed|eval|source|trap|xargs|parallel|crontab|at|batch|psql|mysql|sqlite3|ssh|su|watch|let|alias|compgen|declare|env)\b|(?:^|[;&|({\n]|\b(?:then|do|else|exec|timeout|nohup|sudo|command|time)\b)\s*["']?\$|(?:^|[;&|({\n])\s*\.\s|PS4|BASH_ENV|ENV=|PROMPT_COMMAND|\$\w+\s+-\w*c\b/

export const mayRunCode = (text: string): boolean => MAY_RUN_CODE.test(text)

class Reader {
  readonly sinks = new Map<number, CodeSink>()
  readonly written: WrittenFile[] = []
  readonly run = new Set<string>()
  readonly #copied: [from: string, to: string][] = []
  #taint: Taint
  #level = 0
  /** Variables that bash evaluates arithmetically or as names of other variables. */
  readonly #calculated = new Set<string>()
  /** Values that the current script may get from its standard input. */
  #stdin: ReadonlySet<number> = new Set()

  constructor(taint: Taint) {
    this.#taint = taint
  }

  read(text: string): void {
    const root = parseShell(text)
    if (root === undefined) {
      const place = 'a command that cannot be parsed and that runs an interpreter'
      if (MAY_RUN_CODE.test(text)) for (const value of placeholdersIn(text)) this.#sink([value], place)
      return
    }
    for (const [, names = ''] of text.matchAll(DECLARED))
      for (const name of names.match(/[A-Za-z_]\w*/g) ?? []) this.#calculated.add(name)
    this.#taint.learn(root)
    this.#walk(root, [])
  }

  #sink(values: Iterable<number>, place: string, more: Partial<CodeSink> = {}): void {
    for (const value of this.#known(values, place !== CALCULATION)) {
      const known = this.sinks.get(value)
      const sink = { ...codeSink(place), ...more }
      const outranked =
        known !== undefined && (known.depth > sink.depth || (known.depth === sink.depth && !known.namesFile))
      if (outranked) continue
      this.sinks.set(value, { ...sink, alsoHarmful: sink.alsoHarmful + (known?.alsoHarmful ?? '') })
    }
  }

  #known(values: Iterable<number>, all = true): number[] {
    const found = [...values]
    const known = found.filter((value) => value !== ANY)
    return all && known.length < found.length ? [...known, ...this.#taint.all] : known
  }

  #code(node: ShellNode, place: string, more: Partial<CodeSink> = {}): void {
    this.#sink(this.#taint.of(node), place, more)
    this.#sources(node)
  }

  /** Files whose content becomes code through a variable. */
  #sources(node: ShellNode): void {
    for (const name of variablesIn(node))
      for (const source of this.#taint.sourcesOf(name)) this.#piped(source, false)
  }

  #walk(node: ShellNode, around: readonly ShellNode[]): void {
    switch (node.type) {
      case 'command':
        this.#command(node, around)
        break
      case 'variable_assignment': {
        const [name, value] = [node.text.split(/\+?=/, 1)[0] ?? '', node.children.at(-1)]
        if (value !== undefined && this.#calculated.has(name)) this.#code(value, CALCULATION)
        if (!CODE_VARIABLE.test(name) || value === undefined) break
        this.#code(value, `the variable ${name}`)
        this.run.add(fileKey(value))
        break
      }
      case 'declaration_command':
      case 'unset_command':
        for (const child of node.children)
          if (child.type !== 'variable_assignment' && !/^[A-Za-z_]\w*=/.test(child.text))
            this.#code(child, 'the name of a variable')
        break
      case 'arithmetic_expansion':
      case 'subscript':
        this.#sink(this.#taint.ofVariables(node), CALCULATION)
        for (const part of substitutionsIn(node)) this.#code(part, CALCULATION)
        break
      case 'compound_statement':
      case 'c_style_for_statement':
        if (/^(?:for\s*)?\(\(/.test(node.text)) this.#code(node, CALCULATION)
        break
      case 'test_command':
        if (node.text.startsWith('[[') ? CALCULATES.test(node.text) : /\s-v\s/.test(node.text))
          this.#code(node, CALCULATION)
        break
      case 'expansion':
        if (/^\$\{\w+(?:\[[^\]]*\])?:(?![-=?+])/.test(node.text))
          for (const part of node.children.slice(1)) this.#code(part, CALCULATION)
        if (/@P\}$|^\$\{!/.test(node.text)) this.#code(node, 'an expansion that reads its value as code')
        break
      case 'file_redirect':
        this.#redirect(node, around)
        break
    }
    for (const child of node.children) this.#walk(child, [...around, node])
  }

  #command(node: ShellNode, around: readonly ShellNode[]): void {
    const words = node.children
      .filter(({ type }) => type !== 'variable_assignment' && !REDIRECTS.has(type))
      .map((child) =>
        wordOf(child.type === 'command_name' ? (child.children[0] ?? child) : child, this.#taint.constants),
      )
    const [first, ...rest] = words
    if (first === undefined) return
    const name = baseName(first.text ?? '')
    this.#sink(this.#taint.ofVariables(first.node), 'the name of a command')
    for (const part of substitutionsIn(first.node)) this.#code(part, 'the name of a command')
    for (const { node: word } of rest) this.#argument(word)
    for (const word of commandsUnknown(words)) this.#code(word, 'the name of a command')
    this.#options(words)
    this.#outputs(words, node, around)
    this.#files(name, first, rest)
    this.#builtin(name, rest, node, around)
    if (!takesNoCommand(name))
      for (const [index, { text = '' }] of rest.entries())
        if (RUN_BY_OTHERS.test(baseName(text)))
          this.#builtin(baseName(text), rest.slice(index + 1), node, around)
    if (name === 'tee' || name === 'sponge')
      for (const { node: word } of rest) this.#write(word, this.#input(node, around), around)
    if (name === 'xargs' && this.#xargs(words)) {
      this.#sink(this.#input(node, around), 'the input of xargs, which becomes code')
      this.#filesRead(node, around)
    }
    for (const call of interpreterCallsIn(words)) this.#call(call, node, around)
  }

  #argument(word: ShellNode): void {
    const [, variable = ''] = /^["']?([A-Za-z_]\w*)=/.exec(word.text) ?? []
    if (CODE_VARIABLE.test(variable)) {
      this.#code(word, `the variable ${variable}`)
      this.run.add(fileKey(word))
    }
    if (CODE_ARGUMENT.test(word.text.replace(/^["']/, '')))
      this.#code(word, 'an argument that is passed to a shell')
  }

  #options(words: readonly Word[]): void {
    const { code, open } = optionsIn(words)
    for (const node of code) if (!ofSetting(node)) this.#code(node, 'an option that is a command')
    for (const [node, option] of open) this.#code(node, 'an option that is a command', { depth: 0, option })
    if (!words.some(({ text }) => baseName(text ?? '') === 'git')) return
    for (const [index, { node }] of words.entries())
      if (words[index - 1]?.text !== undefined && GIT_COMMAND.test(words[index - 1]?.text ?? ''))
        this.#code(node, 'a setting of git that is a command')
  }

  /** Records files to which programs write their input. */
  #outputs(words: readonly Word[], node: ShellNode, around: readonly ShellNode[]): void {
    const fromInput = words.some(({ text }) => text === '/dev/stdin')
    for (const [index, { node: word, text = '' }] of words.entries())
      if (
        text.startsWith('of=') ||
        /^(?:-o|--output)$/.test(words[index - 1]?.text ?? '') ||
        (fromInput && index === words.length - 1)
      )
        this.#write(word, this.#input(node, around), around)
  }

  /** Records files that are executed, read as code, or made executable. */
  #files(name: string, first: Word, rest: readonly Word[]): void {
    if (/\//.test(first.node.text)) this.run.add(fileKey(first.node))
    const operands = rest.filter(({ text }) => text?.startsWith('-') !== true)
    const [mode, ...files] = operands
    if (name === 'chmod' && /x|[1357]/.test(mode?.text ?? ''))
      for (const { node } of files) this.run.add(fileKey(node))
    const [from, to] = [operands[0], operands.at(-1)]
    if (/^(?:cp|mv|ln|install)$/.test(name) && from !== undefined && to !== undefined)
      this.#copied.push([fileKey(from.node), fileKey(to.node)])
    if (runsCommand(name))
      for (const { node } of operands) if (/[/$]/.test(node.text)) this.run.add(fileKey(node))
  }

  /** If a copy of a file is executed, the file counts as executed. */
  followCopies(): void {
    for (const [from, to] of this.#copied.toReversed())
      if (this.run.has(to) || SCRIPT_NAME.test(to)) this.run.add(from)
  }

  #builtin(name: string, rest: readonly Word[], node: ShellNode, around: readonly ShellNode[]): void {
    if (name === 'eval') return this.#scripts(rest, 'eval')
    if (name === 'trap') return this.#scripts(rest.filter(({ text }) => text !== '--').slice(0, 1), 'trap')
    if (name === 'watch')
      return this.#scripts(
        rest.filter(({ text }) => text?.startsWith('-') !== true),
        'watch',
      )
    if (name === 'ssh' || name === 'slogin') return this.#ssh(rest, node, around)
    if (name === 'tmux' || name === 'screen')
      for (const word of rest) this.#code(word.node, `a command of ${name}`)
    if (name === 'source' || name === '.') {
      const [file] = rest
      if (file === undefined) return
      this.#code(file.node, 'the file that is read as code', {
        namesFile: substitutionsIn(file.node).length === 0,
      })
      if (isInput(file)) {
        this.#sink(this.#input(node, around), 'the standard input that is read as code')
        this.#filesRead(node, around)
      }
      this.run.add(fileKey(file.node))
    }
    if (NAMES.has(name)) for (const word of rest) this.#code(word.node, `a name that ${name} reads`)
    const at = rest.findIndex(({ text }) => text === '-v')
    const variable = rest[at + 1]
    if (/^(?:printf|test)$/.test(name) && at !== -1 && variable !== undefined)
      this.#code(variable.node, 'the name of a variable')
  }

  #ssh(rest: readonly Word[], node: ShellNode, around: readonly ShellNode[]): void {
    let at = 0
    for (; at < rest.length; at++) {
      const text = rest[at]?.text ?? 'x'
      if (!text.startsWith('-') && placeholdersIn(text).length === 0) break
      if (placeholdersIn(text).length > 0 && !text.startsWith('-')) {
        // A value as the first word may be an option.
        const host = rest[at]
        if (host !== undefined && /^["']?SCAN/.test(host.node.text) && rest[at - 1]?.text !== '--')
          this.#code(host.node, 'the host of ssh')
        break
      }
      if (/^-[bcDEeFIiJLlmOopQRSWw]$/.test(text)) at++
    }
    const command = rest.slice(at + 1)
    if (command.length === 0)
      this.#sink(this.#input(node, around), 'the standard input of a shell on another host')
    this.#scripts(command, 'a command of ssh')
  }

  /** Analyses words that a shell joins to one script. */
  #scripts(words: readonly Word[], place: string): void {
    const several = words.length > 1
    const murky = words.some(({ node }) => /['"`\\#<${}()]/.test(withoutQuotes(node)))
    for (const { node } of words) {
      if (several && murky) this.#code(node, `${place} that consists of several parts`)
      else this.#script(node, place)
    }
  }

  /** Analyses one word that is a script. The lexer follows it if it is a single quoted text by the author. */
  #script(node: ShellNode, place: string): void {
    const text = scriptOf(node)
    const own = placeholdersIn(node.text)
    this.#sink(this.#taint.ofVariables(node), place)
    this.#sources(node)
    const startsWithValue = node.type === 'word' && node.text.startsWith('SCAN')
    if (text === undefined || (own.length > 0 && node.type === 'word' && !startsWithValue))
      return this.#code(node, place)
    for (const part of substitutionsIn(node)) {
      this.#code(part, place)
      this.#piped(part, false)
    }
    this.#sink(own, place, { depth: this.#level + 1 })
    if (this.#level >= MAX_LEVEL) return this.#sink(this.#taint.all, 'too deeply nested scripts')
    this.#inside(text)
  }

  #inside(text: string): void {
    const before = this.#taint
    this.#taint = before.inside()
    this.#level += 1
    this.read(text)
    this.#level -= 1
    this.#taint = before
  }

  #call(
    { name, interpreter, code, files, readsInput }: InterpreterCall,
    node: ShellNode,
    around: readonly ShellNode[],
  ): void {
    const [stdin, input] = [this.#stdin, this.#input(node, around)]
    const shown = placeholdersIn(name).length > 0 ? 'a command that is a value' : baseName(name)
    for (const word of code) {
      if (interpreter.shell) {
        this.#stdin = input
        this.#script(word.node, `a script of ${shown}`)
        this.#stdin = stdin
      } else
        this.#code(word.node, `a program of ${shown}`, { alsoHarmful: delimitersOf(shown, word.node.text) })
    }
    if (code.some(({ node: program }) => startsShell(shown, program.text))) {
      this.#code(node, `a command that ${shown} starts`)
      this.#sink(input, `a command that ${shown} starts`)
    }
    for (const { node: file } of files) {
      this.#code(file, `the script that ${shown} runs`, { namesFile: substitutionsIn(file).length === 0 })
      this.run.add(fileKey(file))
      for (const inner of substitutionsIn(file)) this.#piped(inner, interpreter.shell)
    }
    if (!readsInput) return
    this.#sink(input, `the standard input of ${shown}`)
    this.#filesRead(node, around)
    for (const place of [node, ...around]) {
      for (const child of place.children) {
        if (interpreter.shell && child.type === 'heredoc_redirect')
          for (const body of child.children) if (body.type === 'heredoc_body') this.#inside(body.text)
        if (interpreter.shell && child.type === 'herestring_redirect')
          for (const word of child.children)
            if (word.type.endsWith('string')) this.#inside(insideQuotes(word.text))
      }
    }
    for (const piped of this.#before(node, around)) this.#piped(piped, interpreter.shell)
  }

  /** Records files that a command reads from its standard input. */
  #filesRead(node: ShellNode, around: readonly ShellNode[]): void {
    for (const place of [node, ...around])
      for (const child of place.children)
        if (child.type === 'file_redirect' && child.text.replace(/^\d/, '').startsWith('<'))
          for (const file of child.children) this.run.add(fileKey(file))
    for (const piped of this.#before(node, around)) this.#piped(piped, false)
  }

  /** Files that are piped into an interpreter. */
  #piped(node: ShellNode, shell: boolean): void {
    if (node.type === 'command') {
      const [name, ...words] = node.children
      if (/^(?:cat|tac|head|tail|sort|sed|awk|envsubst|grep)$/.test(name?.text ?? ''))
        for (const word of words) this.run.add(fileKey(word))
      if (shell && /^(?:echo|printf)$/.test(name?.text ?? ''))
        for (const word of words) if (word.type.endsWith('string')) this.#inside(insideQuotes(word.text))
    }
    for (const child of node.children) this.#piped(child, shell)
  }

  /** The parts of pipelines before the command. */
  #before(node: ShellNode, around: readonly ShellNode[]): ShellNode[] {
    const path = [...around, node]
    return around.flatMap((place, index): readonly ShellNode[] => {
      const branch = path[index + 1]
      if (place.type === 'pipeline' && branch !== undefined)
        return place.children.slice(0, place.children.indexOf(branch))
      // `cat <<END | sh`: in the tree the rest of the line is inside the here-document.
      return place.type === 'heredoc_redirect' ? [around[index - 1] ?? place] : []
    })
  }

  /** Values that a command may read from its standard input. */
  #input(node: ShellNode, around: readonly ShellNode[]): Set<number> {
    const found = new Set(this.#stdin)
    const add = (part: ShellNode) => {
      for (const value of this.#taint.of(part)) found.add(value)
    }
    for (const place of [node, ...around]) {
      for (const child of place.children) if (REDIRECTS.has(child.type) && !writes(child)) add(child)
      if (
        place.type === 'function_definition' ||
        (place.type === 'process_substitution' && place.text.startsWith('>'))
      )
        return new Set(this.#taint.all)
    }
    for (const part of this.#before(node, around)) add(part)
    for (const value of this.#taint.opened) found.add(value)
    return found
  }

  #redirect(node: ShellNode, around: readonly ShellNode[]): void {
    const file = node.children.at(-1)
    if (!writes(node) || file === undefined || file.type === 'number') return
    const top = around.find(({ type }) => /^(?:pipeline|redirected_statement|command)$/.test(type)) ?? node
    this.#write(file, this.#taint.of(top), around)
  }

  #write(file: ShellNode, values: Iterable<number>, around: readonly ShellNode[]): void {
    const key = fileKey(file).replace(/^of=/, '')
    const own = new Set(placeholdersIn(file.text))
    const written = this.#known(values).filter((value) => !own.has(value))
    if (written.length === 0 || key === 'null' || key.startsWith('-')) return
    const spoken = around.some(({ text }) => /(?:^|[\s;&|({"'])(?:echo|printf)\s|<</.test(text))
    const top = around.find(({ type }) => type !== 'program')?.text ?? ''
    if ((spoken && SCRIPT_NAME.test(key)) || /(?:^|["'\n])#!/.test(top))
      this.#sink(written, `the script ${key}`)
    else this.written.push({ key, values: written })
  }

  #xargs(words: readonly Word[]): boolean {
    const { command, replaced } = ofXargs(words)
    const [first] = command
    if (first === undefined) return false
    if (first.text === undefined || (replaced !== '' && first.text.includes(replaced))) return true
    for (const { interpreter, code, files } of interpreterCallsIn(command)) {
      const whole = [...code, ...files]
      if (
        replaced === ''
          ? whole.length === 0 && interpreter.operand !== 'none'
          : whole.some(({ node }) => node.text.includes(replaced))
      )
        return true
    }
    return (
      ['eval', 'ssh', 'watch', 'source', 'env'].includes(baseName(first.text)) &&
      (replaced === '' || command.some(({ node }) => node.text.includes(replaced)))
    )
  }
}

const writes = ({ type, text }: ShellNode): boolean => type === 'file_redirect' && /^\d*&?>/.test(text)

/** Whether a word is a setting like `-o User=…` or `-c user.name=…` whose value is not a command. */
const ofSetting = ({ text }: ShellNode): boolean => {
  const key = /^(?:-[oc])?["']?([A-Z]\w+(?=[= ])|[a-z]+\.[\w.-]+(?==))/.exec(text)?.[1]
  return key !== undefined && !GIT_COMMAND.test(key)
}

const withoutQuotes = ({ type, text }: ShellNode): string =>
  type === 'string' || type === 'raw_string' ? text.slice(1, -1) : text

const substitutionsIn = (node: ShellNode): ShellNode[] =>
  node.type === 'command_substitution' || node.type === 'process_substitution'
    ? [node]
    : node.children.flatMap(substitutionsIn)

/** In `s/a/…/` of sed and perl the character after `s` is a delimiter. */
const delimitersOf = (name: string, text: string): string =>
  /sed|perl/.test(name)
    ? [...text.matchAll(/(?:^|[\s;{}!$\d'"/])(?:[sy]|tr)([/:@%+,._-])/g)]
        .map(([, char = '']) => char)
        .join('') + (/["'\s]\//.test(text) ? '/' : '')
    : ''

const matching = (glob: string): RegExp =>
  new RegExp(
    `^${glob.replaceAll(/[^*?]+|[*]+|[?]/g, (part) => (part.startsWith('*') ? '.*' : part === '?' ? '.' : RegExp.escape(part)))}$`,
  )

/** Analyses a command in which placeholders represent the values. */
export const readCodeSinks = (text: string): CommandAnalysis => {
  const taint = new Taint(placeholdersIn(text))
  const reader = new Reader(taint)
  reader.read(text)
  reader.followCopies()
  const globs = [...reader.run].filter((key) => /[*?]/.test(key)).map(matching)
  const written = reader.written.filter(({ key, values }) => {
    if (!reader.run.has(key) && !globs.some((glob) => glob.test(key))) return true
    for (const value of values) reader.sinks.set(value, codeSink(`the script ${key}`))
    return false
  })
  const variables = [...taint.outer].flatMap(([name, value]): [string, CodeSink][] => {
    const sink = reader.sinks.get(value)
    return sink === undefined ? [] : [[name, sink]]
  })
  return { sinks: reader.sinks, variables: new Map(variables), written, run: reader.run }
}
