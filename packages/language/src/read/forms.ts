const anyCase = (word: string): string =>
  [...word].map((letter) => `[${letter}${letter.toLowerCase()}]`).join('')

const NUMBER = String.raw`\d+(?:\.\d+)?`
const DURATION = `(?:${NUMBER}|(?:${NUMBER}(?:[Mm]?[Ss]|[MmHhDd]))+)`
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const WEBDAV = ['PROPFIND', 'PROPPATCH', 'MKCOL', 'COPY', 'MOVE', 'LOCK', 'UNLOCK', 'REPORT', 'SEARCH']
const PORT = String.raw`(?:[0-5]?\d{0,4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])`
const HOST = String.raw`(?:\[[0-9A-Fa-f:.]+\]|[^\s/?#@:[\]<>\\^\x60{|}"]+)`
const URL_TEXT = String.raw`[Hh][Tt][Tt][Pp][Ss]?://(?:[^\s/?#@]*@)?${HOST}(?::${PORT})?(?:[/?#]\S*)?`

interface Form {
  /** Of the whole text, without the blanks around it. */
  readonly pattern: string
  /** What a text of another form is not. */
  readonly what: string
  readonly example: string
  /** The engine renders the text, so that one with `{{` is checked later. */
  readonly rendered: boolean
}

/**
 * Forms of texts. The reader and the JSON Schema use the same patterns, so that they refuse the same values. JSON Schema
 * has no flags, hence the letters in both cases.
 */
export const FORMS = {
  timeout: {
    pattern: `(?:${DURATION})?`,
    what: 'a duration',
    example: '90, 30s, 5m, 1h30m, 2d',
    rendered: true,
  },
  delay: { pattern: DURATION, what: 'a duration', example: '500ms, 30s', rendered: false },
  count: { pattern: String.raw`\d*`, what: 'a whole number', example: '4', rendered: true },
  batch: {
    pattern: String.raw`(?:auto|[1-9]\d{0,8})`,
    what: 'auto or a whole number from 1',
    example: 'auto, 50',
    rendered: false,
  },
  method: {
    pattern: `(?:${[...METHODS, ...WEBDAV].map(anyCase).join('|')})?`,
    what: 'an HTTP method',
    example: METHODS.join(', '),
    rendered: true,
  },
  url: { pattern: URL_TEXT, what: 'an HTTP URL', example: 'https://{{target}}/login', rendered: true },
} as const satisfies Record<string, Form>

export type FormName = keyof typeof FORMS

/** The pattern of a whole text, as JSON Schema reads it. */
export const patternOf = (name: FormName): string => {
  const { pattern, rendered } = FORMS[name]
  const plain = String.raw`^\s*${pattern}\s*$`
  return rendered ? String.raw`${plain}|\{\{` : plain
}

const compiled = new Map<FormName, RegExp>()

export const hasForm = (text: string, name: FormName): boolean => {
  const regex = compiled.get(name) ?? new RegExp(patternOf(name), 'u')
  compiled.set(name, regex)
  return regex.test(text)
}

/** Numbers and switches that are written as texts. */
export const NUMBER_TEXT = String.raw`^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[Ee][-+]?\d+)?\s*$`
export const SWITCH_TEXT = `^(?:${['TRUE', 'FALSE', 'YES', 'NO', 'ON', 'OFF'].map(anyCase).join('|')}|1|0)$`
