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
  interpretersIn,
  isInput,
  ofXargs,
  optionsIn,
  wordOf,
  type HandedOver,
  type Word,
} from './command-line.ts'
import { parseShell, type ShellNode } from './grammar.ts'
import { ANY, Taint } from './taint.ts'
import { fileKey, insideQuotes, marksIn, scriptOf, variablesIn } from './marks.ts'

/** Where a value becomes code. */
export interface Feed {
  /** Scripts around the place that the lexer must have escaped the value for; `Infinity`: no escape helps. */
  readonly depth: number
  readonly place: string
  /** Harmless characters that end a part of the code here all the same. */
  readonly alsoHarmful: string
  /** The value names a file of code, or a part of its path. */
  readonly namesFile: boolean
  /** Only such a value becomes code. */
  readonly option?: RegExp
}

export const codeAt = (place: string, namesFile = false): Feed => ({
  depth: Infinity,
  place,
  alsoHarmful: '',
  namesFile,
})

/** A file that gets values, and becomes code when it is run. */
export interface WrittenFile {
  readonly key: string
  readonly values: readonly number[]
}

export interface Reading {
  /** By the number of the value. */
  readonly feeds: ReadonlyMap<number, Feed>
  /** By the name of a variable of the environment. */
  readonly variables: ReadonlyMap<string, Feed>
  readonly written: readonly WrittenFile[]
  /** Files that the command runs, reads as code, or makes executable. */
  readonly run: ReadonlySet<string>
}

/** Scripts in scripts. */
const MAX_LEVEL = 8

const REDIRECTS: ReadonlySet<string> = new Set(['file_redirect', 'heredoc_redirect', 'herestring_redirect'])
/** Builtins of bash that calculate with a name or define one, and read it as code then. */
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
/** Behind `sudo`, `timeout`, `command`, … */
const RUN_BY_OTHERS = /^(?:eval|trap|watch|ssh|slogin|tmux|screen|source)$/
const CALCULATION = 'a calculation of the shell'
const CALCULATES = /\s-(?:eq|ne|lt|le|gt|ge|v)\s/

/** `declare -i x`, `local -n y=…`. */
const DECLARED =
  /\b(?:declare|typeset|local|export|readonly)[ \t]+-[A-Za-z]*[in][A-Za-z]*((?:[ \t]+[A-Za-z_]\w*)+)/g

/** A command that nobody can read may still be harmless: when nothing in it reads code. */
const MAY_RUN_CODE =
  /\b(?:(?:ba|da|z|k|a|fi)?sh|python[\d.]*|perl|ruby|node|php|lua|awk|[gmn]awk|sed|eval|source|trap|xargs|parallel|crontab|at|batch|psql|mysql|sqlite3|ssh|su|watch|let|alias|compgen|declare|env)\b|(?:^|[;&|({\n]|\b(?:then|do|else|exec|timeout|nohup|sudo|command|time)\b)\s*["']?\$|(?:^|[;&|({\n])\s*\.\s|PS4|BASH_ENV|ENV=|PROMPT_COMMAND|\$\w+\s+-\w*c\b/

export const mayRunCode = (text: string): boolean => MAY_RUN_CODE.test(text)

class Reader {
  readonly feeds = new Map<number, Feed>()
  readonly written: WrittenFile[] = []
  readonly run = new Set<string>()
  readonly #copied: [from: string, to: string][] = []
  #taint: Taint
  #level = 0
  /** Variables that bash calculates, or takes for names of others. */
  readonly #calculated = new Set<string>()
  /** What the script that is read now may get by its standard input. */
  #stdin: ReadonlySet<number> = new Set()

  constructor(taint: Taint) {
    this.#taint = taint
  }

  read(text: string): void {
    const root = parseShell(text)
    if (root === undefined) {
      const place = 'a command that the grammar of shells does not understand and that runs an interpreter'
      if (MAY_RUN_CODE.test(text)) for (const value of marksIn(text)) this.#feed([value], place)
      return
    }
    for (const [, names = ''] of text.matchAll(DECLARED))
      for (const name of names.match(/[A-Za-z_]\w*/g) ?? []) this.#calculated.add(name)
    this.#taint.learn(root)
    this.#walk(root, [])
  }

  #feed(values: Iterable<number>, place: string, more: Partial<Feed> = {}): void {
    for (const value of this.#known(values, place !== CALCULATION)) {
      const known = this.feeds.get(value)
      const feed = { ...codeAt(place), ...more }
      const outranked =
        known !== undefined && (known.depth > feed.depth || (known.depth === feed.depth && !known.namesFile))
      if (outranked) continue
      this.feeds.set(value, { ...feed, alsoHarmful: feed.alsoHarmful + (known?.alsoHarmful ?? '') })
    }
  }

  #known(values: Iterable<number>, all = true): number[] {
    const found = [...values]
    const known = found.filter((value) => value !== ANY)
    return all && known.length < found.length ? [...known, ...this.#taint.all] : known
  }

  #code(node: ShellNode, place: string, more: Partial<Feed> = {}): void {
    this.#feed(this.#taint.of(node), place, more)
    this.#sources(node)
  }

  /** Files whose content is code because a variable holds it. */
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
        this.#feed(this.#taint.ofVariables(node), CALCULATION)
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
    this.#feed(this.#taint.ofVariables(first.node), 'the name of a command')
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
      this.#feed(this.#input(node, around), 'the input of xargs, which makes code of it')
      this.#filesRead(node, around)
    }
    for (const handed of interpretersIn(words)) this.#handed(handed, node, around)
  }

  #argument(word: ShellNode): void {
    const [, variable = ''] = /^["']?([A-Za-z_]\w*)=/.exec(word.text) ?? []
    if (CODE_VARIABLE.test(variable)) {
      this.#code(word, `the variable ${variable}`)
      this.run.add(fileKey(word))
    }
    if (CODE_ARGUMENT.test(word.text.replace(/^["']/, '')))
      this.#code(word, 'an argument that is handed to a shell')
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

  /** Files that programs write what comes in to. */
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

  /** Files that are run by their names, read as code, or made executable. */
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

  /** A file that is run under another name is run. */
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
        this.#feed(this.#input(node, around), 'the standard input that is read as code')
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
      if (!text.startsWith('-') && marksIn(text).length === 0) break
      if (marksIn(text).length > 0 && !text.startsWith('-')) {
        // A value in front may be an option.
        const host = rest[at]
        if (host !== undefined && /^["']?SCAN/.test(host.node.text) && rest[at - 1]?.text !== '--')
          this.#code(host.node, 'the host of ssh')
        break
      }
      if (/^-[bcDEeFIiJLlmOopQRSWw]$/.test(text)) at++
    }
    const command = rest.slice(at + 1)
    if (command.length === 0)
      this.#feed(this.#input(node, around), 'the standard input of a shell on another host')
    this.#scripts(command, 'a command of ssh')
  }

  /** Words that a shell reads together as one script. */
  #scripts(words: readonly Word[], place: string): void {
    const several = words.length > 1
    const murky = words.some(({ node }) => /['"`\\#<${}()]/.test(withoutQuotes(node)))
    for (const { node } of words) {
      if (several && murky) this.#code(node, `${place} that is made of several parts`)
      else this.#script(node, place)
    }
  }

  /** One word that is a script: the lexer follows it when the author wrote it in one pair of quotes. */
  #script(node: ShellNode, place: string): void {
    const text = scriptOf(node)
    const own = marksIn(node.text)
    this.#feed(this.#taint.ofVariables(node), place)
    this.#sources(node)
    const startsWithValue = node.type === 'word' && node.text.startsWith('SCAN')
    if (text === undefined || (own.length > 0 && node.type === 'word' && !startsWithValue))
      return this.#code(node, place)
    for (const part of substitutionsIn(node)) {
      this.#code(part, place)
      this.#piped(part, false)
    }
    this.#feed(own, place, { depth: this.#level + 1 })
    if (this.#level >= MAX_LEVEL) return this.#feed(this.#taint.all, 'scripts in scripts in scripts')
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

  #handed(
    { name, interpreter, code, files, readsInput }: HandedOver,
    node: ShellNode,
    around: readonly ShellNode[],
  ): void {
    const [stdin, input] = [this.#stdin, this.#input(node, around)]
    const shown = marksIn(name).length > 0 ? 'a command that is a value' : baseName(name)
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
      this.#feed(input, `a command that ${shown} starts`)
    }
    for (const { node: file } of files) {
      this.#code(file, `the script that ${shown} runs`, { namesFile: substitutionsIn(file).length === 0 })
      this.run.add(fileKey(file))
      for (const inner of substitutionsIn(file)) this.#piped(inner, interpreter.shell)
    }
    if (!readsInput) return
    this.#feed(input, `the standard input of ${shown}`)
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

  /** Files that come in by the standard input of a command. */
  #filesRead(node: ShellNode, around: readonly ShellNode[]): void {
    for (const place of [node, ...around])
      for (const child of place.children)
        if (child.type === 'file_redirect' && child.text.replace(/^\d/, '').startsWith('<'))
          for (const file of child.children) this.run.add(fileKey(file))
    for (const piped of this.#before(node, around)) this.#piped(piped, false)
  }

  /** Files that are printed into an interpreter. */
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

  /** Parts of pipelines in front of the command. */
  #before(node: ShellNode, around: readonly ShellNode[]): ShellNode[] {
    const path = [...around, node]
    return around.flatMap((place, index): readonly ShellNode[] => {
      const branch = path[index + 1]
      if (place.type === 'pipeline' && branch !== undefined)
        return place.children.slice(0, place.children.indexOf(branch))
      // `cat <<END | sh`: the rest of the line stands inside of the here-document.
      return place.type === 'heredoc_redirect' ? [around[index - 1] ?? place] : []
    })
  }

  /** Values that may come in by the standard input of a command. */
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
    const own = new Set(marksIn(file.text))
    const written = this.#known(values).filter((value) => !own.has(value))
    if (written.length === 0 || key === 'null' || key.startsWith('-')) return
    const spoken = around.some(({ text }) => /(?:^|[\s;&|({"'])(?:echo|printf)\s|<</.test(text))
    const top = around.find(({ type }) => type !== 'program')?.text ?? ''
    if ((spoken && SCRIPT_NAME.test(key)) || /(?:^|["'\n])#!/.test(top))
      this.#feed(written, `the script ${key}`)
    else this.written.push({ key, values: written })
  }

  #xargs(words: readonly Word[]): boolean {
    const { command, replaced } = ofXargs(words)
    const [first] = command
    if (first === undefined) return false
    if (first.text === undefined || (replaced !== '' && first.text.includes(replaced))) return true
    for (const { interpreter, code, files } of interpretersIn(command)) {
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

/** The value of a setting such as `-o User=…` or `-c user.name=…` that is no command. */
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

/** `s/a/…/` of sed and perl: the character behind `s` ends the part where the value stands. */
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

/** What a command does with its values, which stand in it as marks. */
export const readFeeds = (text: string): Reading => {
  const taint = new Taint(marksIn(text))
  const reader = new Reader(taint)
  reader.read(text)
  reader.followCopies()
  const globs = [...reader.run].filter((key) => /[*?]/.test(key)).map(matching)
  const written = reader.written.filter(({ key, values }) => {
    if (!reader.run.has(key) && !globs.some((glob) => glob.test(key))) return true
    for (const value of values) reader.feeds.set(value, codeAt(`the script ${key}`))
    return false
  })
  const variables = [...taint.outer].flatMap(([name, value]): [string, Feed][] => {
    const feed = reader.feeds.get(value)
    return feed === undefined ? [] : [[name, feed]]
  })
  return { feeds: reader.feeds, variables: new Map(variables), written, run: reader.run }
}
