/** What an argument of a call is made of: texts of the program, variables, and what only the engine knows. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'hole' }
  | { readonly kind: 'unknown' }

export interface Joined {
  /** One list for each call of the function, and for each branch of `a ? b : c`. */
  readonly ways: readonly (readonly Part[])[]
  /** All texts of the program. */
  readonly texts: readonly string[]
}

type Token = { readonly kind: 'text' | 'name' | 'hole' | 'sign'; readonly text: string }

const TOKEN =
  /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|(\$(?:shell|text|hole)\[\d+\])|([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)|(\s+)|([^])/g

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  '0': '\0',
}

const unescaped = (text: string): string =>
  text.replaceAll(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]+)\}|([^]))/gi,
    (_, two, four, more, char: string) => {
      const code = (two ?? four ?? more) as string | undefined
      if (code !== undefined) return String.fromCodePoint(Math.min(0x10_ff_ff, Number.parseInt(code, 16)))
      return char === '\n' ? '' : (ESCAPES[char] ?? char)
    },
  )

/** A literal with `${…}` in it is a sum in parentheses. */
const ofLiteral = (text: string): Token[] =>
  text.split(/\$\{([^{}]*)\}/).flatMap((part, index): Token[] => {
    const plus: Token[] = index === 0 ? [] : [{ kind: 'sign', text: '+' }]
    if (index % 2 === 0) return [...plus, { kind: 'text', text: unescaped(part) }]
    return [...plus, { kind: 'sign', text: '(' }, ...tokensOf(part), { kind: 'sign', text: ')' }]
  })

const tokensOf = (code: string): Token[] =>
  [...code.matchAll(TOKEN)].flatMap(([, double, single, literal, hole, name, blank, sign]): Token[] => {
    if (blank !== undefined) return []
    if (literal !== undefined) {
      return [{ kind: 'sign', text: '(' }, ...ofLiteral(literal), { kind: 'sign', text: ')' }]
    }
    if (hole !== undefined) return [{ kind: 'hole', text: hole }]
    if (name !== undefined) return [{ kind: 'name', text: name }]
    if (sign !== undefined) return [{ kind: 'sign', text: sign }]
    return [{ kind: 'text', text: unescaped(double ?? single ?? '') }]
  })

/** Cuts where one of the signs stands outside of all brackets. */
const cutAt = (tokens: readonly Token[], signs: string): Token[][] => {
  const found: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    const sign = token.kind === 'sign' ? token.text : ''
    if (sign !== '' && '([{'.includes(sign)) depth++
    if (sign !== '' && ')]}'.includes(sign)) depth--
    if (sign !== '' && depth === 0 && signs.includes(sign)) found.push([])
    else found.at(-1)?.push(token)
  }
  return found
}

const inParentheses = (tokens: readonly Token[]): readonly Token[] | undefined => {
  const [first, last] = [tokens[0], tokens.at(-1)]
  if (first?.kind !== 'sign' || first.text !== '(' || last?.kind !== 'sign' || last.text !== ')')
    return undefined
  const inside = tokens.slice(1, -1)
  let depth = 0
  for (const { kind, text } of inside) {
    if (kind === 'sign' && text === '(') depth++
    if (kind === 'sign' && text === ')' && depth-- === 0) return undefined
  }
  return inside
}

const partsOf = (tokens: readonly Token[]): Part[] =>
  cutAt(tokens, '+').flatMap((operand): Part[] => {
    const [token, ...more] = operand
    const inside = inParentheses(operand)
    if (inside !== undefined) return partsOf(inside)
    if (token === undefined || more.length > 0 || token.kind === 'sign') return [{ kind: 'unknown' }]
    if (token.kind === 'name') return [{ kind: 'name', name: token.text }]
    return [token.kind === 'text' ? { kind: 'text', text: token.text } : { kind: 'hole' }]
  })

/** What the calls of these functions get as their argument at `position`. */
export const joinedArgument = (code: string, names: ReadonlySet<string>, position: number): Joined => {
  const tokens = tokensOf(code)
  const ways = tokens.flatMap(({ kind, text }, index): Part[][] => {
    const opens = tokens[index + 1]
    if (kind !== 'name' || !names.has(text) || opens?.kind !== 'sign' || opens.text !== '(') return []
    const behind = tokens.slice(index + 2)
    let depth = 0
    const end = behind.findIndex((token) => {
      if (token.kind !== 'sign') return false
      if ('([{'.includes(token.text)) depth++
      return ')]}'.includes(token.text) && depth-- === 0
    })
    const argument = cutAt(end === -1 ? behind : behind.slice(0, end), ',')[position] ?? []
    const [condition, ...branches] = cutAt(inParentheses(argument) ?? argument, '?')
    const chosen =
      branches.length === 0 ? [condition ?? []] : branches.flatMap((branch) => cutAt(branch, ':'))
    return chosen.map((branch) =>
      cutAt(branch, '|&<>=,;').length > 1 ? [{ kind: 'unknown' }] : partsOf(branch),
    )
  })
  return { ways, texts: tokens.filter(({ kind }) => kind === 'text').map(({ text }) => text) }
}
