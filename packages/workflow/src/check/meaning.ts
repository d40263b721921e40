import { messageOf } from '../fault.ts'
import { prepareProgram, type Program } from '../expression/source.ts'
import { FUNCTIONS } from '../functions/registry.ts'
import type { Workflow } from '../model.ts'
import { ShellLexer } from '../shell/lexer.ts'
import { didYouMean } from '../suggest.ts'
import { FILTERS } from '../template/filters.ts'
import { parseTemplate, TemplateError, variablesOf, type Expr, type Template } from '../template/parse.ts'
import { definedNames, ownNames, SCRIPT_GLOBALS } from './names.ts'
import type { Report } from './report.ts'
import { authorTexts, type AuthorText } from './texts.ts'

const filtersOf = (expr: Expr): string[] => {
  switch (expr.kind) {
    case 'filter':
      return [
        expr.name,
        ...filtersOf(expr.of),
        ...(expr.argument === undefined ? [] : filtersOf(expr.argument)),
      ]
    case 'not':
    case 'negative':
      return filtersOf(expr.of)
    case 'binary':
      return [...filtersOf(expr.left), ...filtersOf(expr.right)]
    default:
      return []
  }
}

const callsOf = (expr: Expr): string[] => {
  switch (expr.kind) {
    case 'call':
      return [expr.name]
    case 'filter':
    case 'not':
    case 'negative':
      return callsOf(expr.of)
    case 'binary':
      return [...callsOf(expr.left), ...callsOf(expr.right)]
    default:
      return []
  }
}

/** Rules about what the texts of a workflow mean: templates, expressions, and values in shell commands. */
class Meaning {
  readonly #report: Report
  readonly #defined: ReadonlySet<string>
  readonly #isFlow: boolean
  readonly used = new Set<string>()

  constructor(workflow: Workflow, report: Report) {
    this.#report = report
    this.#defined = definedNames(workflow)
    this.#isFlow = workflow.kind === 'flow'
  }

  check(text: AuthorText): void {
    try {
      if (text.kind === 'expression' || (text.kind === 'export' && looksLikeCall(text.text)))
        this.#expression(text)
      else {
        const template = parseTemplate(text.text)
        this.#template(text, template)
        if (text.kind === 'shell') this.#shell(text, template)
      }
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      const hint = text.text.includes('{{.')
        ? 'For braces that another program should see, write {{ "{{" }}.'
        : ''
      this.#report(text.path, 'template-syntax', 'error', error.message, hint)
    }
  }

  #use(name: string, { path, names }: AuthorText): void {
    this.used.add(name)
    if (this.#defined.has(name) || names.includes(name)) return
    const hint = didYouMean(name, [...this.#defined, ...names])
    // What the modules of a flow export is written in their files; here only a near miss can be told.
    if (this.#isFlow && hint === '') return
    this.#report(
      path,
      'undefined-variable',
      'warning',
      `the variable "${name}" is defined nowhere in this file`,
      hint,
    )
  }

  #hole(expr: Expr, text: AuthorText): void {
    for (const name of variablesOf(expr)) this.#use(name, text)
    for (const name of filtersOf(expr)) {
      if (Object.hasOwn(FILTERS, name)) continue
      const hint = didYouMean(name, Object.keys(FILTERS))
      this.#report(text.path, 'unknown-filter', 'error', `there is no filter "${name}"`, hint)
    }
    for (const name of callsOf(expr)) {
      const message = `"${name}(…)" is not called in a template; nothing is put in its place`
      this.#report(
        text.path,
        'call-in-template',
        'warning',
        message,
        'Call it in exports or in a function step.',
      )
    }
  }

  #template(text: AuthorText, { holes, source }: Template): void {
    for (const { expr } of holes) this.#hole(expr, text)
    if (holes.length > 0 && /\{%.*%\}/.test(source)) {
      const message = 'template tags such as {% if %} are not carried out; they stay as they are'
      this.#report(
        text.path,
        'template-tag',
        'warning',
        message,
        'Use pre_condition, or a filter such as default or yesno.',
      )
    }
  }

  /** Puts a plain value into every hole: whatever cannot hold even that will never hold a real one. */
  #shell({ path }: AuthorText, { texts, holes }: Template): void {
    const lexer = new ShellLexer()
    for (const [index, part] of texts.entries()) {
      lexer.feed(part)
      const hole = holes[index]
      if (hole === undefined) continue
      try {
        lexer.value('1', texts[index + 1] ?? '')
      } catch (error) {
        this.#report(path, 'unsafe-interpolation', 'error', `{{${hole.source}}}: ${messageOf(error)}`)
        return
      }
    }
    const nested = /\b(?:python[\d.]*|perl|ruby|node|php|awk|gawk|mawk|jq|sed)\s+(?:-\S+\s+)*(["'])[^"']*$/
    for (const [index, hole] of holes.entries()) {
      if (!nested.test(texts.slice(0, index + 1).join('x'))) continue
      const message = `{{${hole.source}}} becomes part of a program in another language`
      const hint =
        'Hand it over as an argument or in an environment variable, so that it stays a value there.'
      this.#report(path, 'nested-code', 'warning', message, hint)
      return
    }
  }

  #expression(text: AuthorText): void {
    const program = prepareProgram(text.text)
    for (const { expr } of program.holes) this.#hole(expr, text)
    this.#brackets(text, program)
    const own = ownNames(program.code)
    for (const name of program.names) {
      if (name === '$hole' || name === '$text' || own.has(name) || SCRIPT_GLOBALS.has(name)) continue
      const called = program.calls.has(name)
      if (FUNCTIONS.has(name)) continue
      if (!called) this.#use(name, text)
      else if (!this.#defined.has(name)) {
        const hint = didYouMean(name, FUNCTIONS.keys())
        this.#report(text.path, 'unknown-function', 'error', `there is no function "${name}"`, hint)
      }
    }
  }

  #brackets({ path }: AuthorText, { code }: Program): void {
    const plain = code.replaceAll(
      /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/(?![/*\s])(?:[^/\\\n[]|\\.|\[[^\]]*\])+\/[a-z]*/g,
      '""',
    )
    const stack: string[] = []
    const pairs: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }
    for (const char of plain) {
      if ('([{'.includes(char)) stack.push(char)
      else if (char in pairs && stack.pop() !== pairs[char]) {
        return this.#report(path, 'expression-syntax', 'error', `"${char}" closes nothing in this expression`)
      }
    }
    const open = stack.at(-1)
    if (open !== undefined)
      this.#report(path, 'expression-syntax', 'error', `"${open}" is never closed in this expression`)
  }
}

const looksLikeCall = (text: string): boolean =>
  [...text.matchAll(/([A-Za-z_]\w*)\s*\(/g)].some(([, name = '']) => FUNCTIONS.has(name))

/** Params that nothing reads. Exports are for other modules as much as for this one. */
const unused = (workflow: Workflow, used: ReadonlySet<string>, report: Report): void => {
  if (workflow.kind === 'flow' || workflow.extends !== undefined) return
  for (const [index, { name }] of (workflow.params ?? []).entries()) {
    if (!used.has(name))
      report(['params', index], 'unused-variable', 'info', `the param "${name}" is used nowhere`)
  }
}

export const checkMeaning = (workflow: Workflow, report: Report): void => {
  const meaning = new Meaning(workflow, report)
  for (const text of authorTexts(workflow)) meaning.check(text)
  unused(workflow, meaning.used, report)
}
