import { looksLikeCall, unknownCall } from '../expression/calls.ts'
import { prepareProgram, type Program } from '../expression/source.ts'
import type { FunctionTable } from '../function-table.ts'
import type { ReadLimits } from '../limits.ts'
import type { Workflow } from '../model.ts'
import { typeOf } from '../params/check-value.ts'
import { functionsOf } from '../shell/argument-position.ts'
import { ShellLexer, UnsafeContextError } from '../shell/lexer.ts'
import { INSTEAD } from '../shell/programs.ts'
import { didYouMean } from '@scanfarm/contracts'
import { FILTERS } from '../template/filters.ts'
import { namesOfKind, TemplateError, type Expr } from '../template/expression.ts'
import {
  holesOf,
  isTemplate,
  namesOf,
  parseTemplate,
  partsOf,
  tagExprsOf,
  type Hole,
  type Template,
} from '../template/parse.ts'
import { definedNames, KEYWORDS, SCRIPT_GLOBALS } from './names.ts'
import type { Report } from './report.ts'
import { tagOffset } from './tag-offset.ts'
import { authorTexts, type AuthorText } from './texts.ts'

/** Maximum number of name comparisons for the suggestions of one file; further problems get no suggestion. */
const MAX_COMPARED = 200_000

/** Rules about the contents of texts: templates, expressions, and values in shell commands. */
class SemanticChecks {
  readonly #report: Report
  readonly #defined: ReadonlySet<string>
  readonly #hasOthers: boolean
  /** Params of type `args`. */
  readonly #args: ReadonlySet<string>
  readonly #limits: ReadLimits
  readonly #suggested = new Map<string, string>()
  #compared = 0
  readonly used = new Set<string>()
  readonly #functions: FunctionTable

  constructor(workflow: Workflow, report: Report, functions: FunctionTable, limits: ReadLimits) {
    this.#functions = functions
    this.#report = report
    this.#limits = limits
    this.#defined = definedNames(workflow)
    this.#hasOthers = workflow.kind === 'flow' || workflow.extends !== undefined
    const args = (workflow.params ?? []).filter((param) => typeOf(param) === 'args')
    this.#args = new Set(args.map(({ name }) => name))
  }

  check(text: AuthorText): void {
    try {
      if (
        text.kind === 'expression' ||
        (text.kind === 'export' && looksLikeCall(text.text, this.#functions))
      ) {
        if (this.#fits(text)) this.#expression(text)
      } else {
        const template = parseTemplate(text.text)
        if (text.kind === 'export') this.#export(text)
        this.#template(text, template)
        if (text.kind === 'shell') this.#shell(text, template)
      }
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      const hint = text.text.includes('{{.') ? 'To pass braces to another program, write {{ "{{" }}.' : ''
      const inside = { text: text.text, offset: error.offset }
      this.#report(text.path, 'template-syntax', 'error', error.message, hint, inside)
    }
  }

  #export({ path, text }: AuthorText): void {
    const name = unknownCall(text, this.#functions)
    if (name === undefined) return
    const hint = didYouMean(name, this.#functions.keys())
    const advice = hint === '' ? `Write {{ "${name}(" }} for a literal text.` : hint
    this.#report(path, 'unknown-function', 'error', `there is no function "${name}"`, advice)
  }

  #fits({ path, text }: AuthorText): boolean {
    const { expressionChars } = this.#limits
    if (text.length <= expressionChars) return true
    const message = `the expression has ${text.length} characters; at most ${expressionChars} are possible`
    this.#report(path, 'too-big', 'error', message, 'Split it, or put the data into a file.')
    return false
  }

  #suggest(name: string, names: readonly string[]): string {
    const known = this.#suggested.get(name)
    if (known !== undefined || this.#compared >= MAX_COMPARED) return known ?? ''
    this.#compared += this.#defined.size
    const hint = didYouMean(name, [...this.#defined, ...names])
    this.#suggested.set(name, hint)
    return hint
  }

  #use(name: string, { path, names }: AuthorText): void {
    this.used.add(name)
    if (this.#defined.has(name) || names.includes(name)) return
    const hint = this.#suggest(name, names)
    // Params of a parent and exports of modules are in other files, so that only near misses are reported.
    if (this.#hasOthers && hint === '') return
    const message = `the variable "${name}" is not defined in this file`
    this.#report(path, 'undefined-variable', 'warning', message, hint)
  }

  #hole(expr: Expr, text: AuthorText): void {
    for (const name of namesOfKind(expr, 'variable')) this.#use(name, text)
    for (const name of namesOfKind(expr, 'filter')) {
      if (Object.hasOwn(FILTERS, name)) continue
      const hint = () => didYouMean(name, Object.keys(FILTERS))
      this.#report(text.path, 'unknown-filter', 'error', `there is no filter "${name}"`, hint)
    }
    for (const name of namesOfKind(expr, 'call')) {
      const message = `"${name}(…)" is not called in a template; it renders as nothing`
      const hint = 'Call it in exports or in a function step.'
      this.#report(text.path, 'call-in-template', 'warning', message, hint)
    }
  }

  #template(text: AuthorText, { nodes }: Template): void {
    const inside = { ...text, names: [...text.names, ...namesOf(nodes)] }
    for (const expr of [...holesOf(nodes).map(({ expr }) => expr), ...tagExprsOf(nodes)])
      this.#hole(expr, inside)
    if (!isTemplate(text.text)) this.#tagsStay(text, 'a text without {{ }}')
  }

  #tagsStay({ path, text }: AuthorText, where: string): void {
    const offset = tagOffset(text)
    if (offset === -1) return
    const message = `template tags are not supported in ${where}; they stay unchanged`
    const hint = 'Use pre_condition, or a filter such as {{ x | default:"y" }} or {{ x | yesno:"a,b" }}.'
    this.#report(path, 'template-tag', 'warning', message, hint, { text, offset })
  }

  /** Puts `1` into every hole: a place that refuses even this value refuses all values. */
  #shell({ path, text }: AuthorText, { nodes }: Template): void {
    const parts = partsOf(nodes)
    const warned = new Map<string, string>()
    const lexer = new ShellLexer({
      functions: functionsOf(text),
      onCode: (name, place) => warned.set(name, place),
    })
    let part: string | Hole = ''
    let isArgs = false
    const insideOf = (source: string) => ({ text, offset: Math.max(0, text.indexOf(`{{${source}}}`)) })
    try {
      for (const [index, each] of parts.entries()) {
        part = each
        isArgs = false
        if (typeof part === 'string') {
          lexer.feed(part)
          continue
        }
        const following = parts[index + 1]
        const next = typeof following === 'string' ? following : ''
        isArgs = namesOfKind(part.expr, 'variable').some((name) => this.#args.has(name))
        lexer.value('1', next, part.source, isArgs ? 'args' : 'data')
      }
      lexer.finish()
    } catch (error) {
      if (!(error instanceof UnsafeContextError)) throw error
      const source = typeof part === 'string' ? '' : part.source
      const message = source === '' ? error.message : `{{${source}}}: ${error.message}`
      const rule = isArgs ? 'args-position' : 'unsafe-interpolation'
      const hint = isArgs ? 'Declare the param as string if its value is one word.' : ''
      this.#report(path, rule, 'error', message, hint, insideOf(source))
      return
    }
    for (const [source, place] of warned) {
      const message = `{{${source}}} reaches ${place}, which may read it as code`
      this.#report(path, 'nested-code', 'warning', message, `${INSTEAD}.`, insideOf(source))
    }
  }

  #expression(text: AuthorText): void {
    const program = prepareProgram(text.text)
    this.#tagsStay(text, 'an expression')
    for (const { expr } of program.holes) this.#hole(expr, text)
    this.#brackets(text, program)
    this.#handed(text, program)
    for (const name of program.names) {
      if (name === '$hole' || name === '$text' || program.own.has(name)) continue
      if (KEYWORDS.has(name) || SCRIPT_GLOBALS.has(name)) continue
      const called = program.calls.has(name)
      const known = this.#functions.get(name)
      if (called && known?.refused !== undefined) this.#refused(text, name, known.refused)
      if (known !== undefined) continue
      if (!called) this.#use(name, text)
      else if (!this.#defined.has(name)) {
        const hint = () => didYouMean(name, this.#functions.keys())
        this.#report(text.path, 'unknown-function', 'error', `there is no function "${name}"`, hint)
      }
    }
  }

  #handed({ path, text }: AuthorText, { injected: handed }: Program): void {
    if (handed === undefined) return
    const { name, toShell } = handed
    const message = toShell
      ? `"${name}" gets a command that is joined from values: they become code of the shell`
      : `"${name}" gets a program that is joined from values: they become code of the program`
    const hint = toShell
      ? 'Write {{ }} around them in the text of the command: there they are escaped.'
      : 'Save them to a file, or set them with os_setenv, and let the program read them there.'
    const inside = { text, offset: Math.max(0, text.indexOf(name)) }
    this.#report(path, 'nested-code', 'warning', message, hint, inside)
  }

  #refused({ path, text }: AuthorText, name: string, refused: { why: string; instead: string }): void {
    const { why, instead } = refused
    const hint = instead === '' ? '' : `${instead.slice(0, 1).toUpperCase()}${instead.slice(1)}.`
    const inside = { text, offset: Math.max(0, text.indexOf(name)) }
    this.#report(path, 'refused-function', 'warning', `"${name}" always fails: ${why}`, hint, inside)
  }

  #brackets({ path }: AuthorText, { code }: Program): void {
    const plain = code.replaceAll(
      /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/(?![/*\s])(?:[^/\\\n[]|\\.|\[[^\]]*\])+\/[a-z]*/g,
      '""',
    )
    const problem = (message: string): void => this.#report(path, 'expression-syntax', 'error', message)
    const stack: string[] = []
    const pairs: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }
    for (const char of plain) {
      if ('([{'.includes(char)) stack.push(char)
      else if (char in pairs && stack.pop() !== pairs[char])
        return problem(`"${char}" has no opening bracket in this expression`)
    }
    const open = stack.at(-1)
    if (open !== undefined) problem(`"${open}" is never closed in this expression`)
  }
}

/** Reports unused params. Exports are not checked, because other modules may read them. */
const unused = (workflow: Workflow, used: ReadonlySet<string>, report: Report): void => {
  if (workflow.kind === 'flow' || workflow.extends !== undefined) return
  for (const [index, { name }] of (workflow.params ?? []).entries()) {
    if (!used.has(name))
      report(['params', index], 'unused-variable', 'info', `the param "${name}" is never used`)
  }
}

export const checkSemantics = (
  workflow: Workflow,
  report: Report,
  functions: FunctionTable,
  limits: ReadLimits,
): void => {
  const checks = new SemanticChecks(workflow, report, functions, limits)
  for (const text of authorTexts(workflow)) checks.check(text)
  unused(workflow, checks.used, report)
}
