import type { components } from './schema.ts'

type Limits = components['schemas']['Limits']

const LINE = /^(address|network|domain):\s*((?:rate|runs)=\d{1,9})(?:\s*,\s*((?:rate|runs)=\d{1,9}))?$/
const ONCE = 'workflow:once'
const KINDS = ['address', 'network', 'domain'] as const

/** How people write limits: lines like `address:rate=10,runs=2`. Throws an Error that tells the form. */
export const limitsOfLines = (lines: readonly string[]): Limits => {
  const kinds = new Set<string>()
  return Object.fromEntries(
    lines.map((line) => {
      if (line === ONCE) return ['workflow_once', true]
      const [, kind, ...parts] = LINE.exec(line) ?? []
      if (kind === undefined)
        throw new Error(
          `Write the limit "${line}" like address:rate=10,runs=2, network:runs=5, domain:rate=50 or ${ONCE}.`,
        )
      if (kinds.has(kind)) throw new Error(`Write one limit for ${kind}, like ${kind}:rate=10,runs=2.`)
      kinds.add(kind)
      const values = parts.flatMap((part) => (part === undefined ? [] : [part.split('=')]))
      return [`per_${kind}`, Object.fromEntries(values.map(([name, value]) => [name, Number(value)]))]
    }),
  )
}

export const limitLines = (limits: Limits | undefined): string[] => [
  ...KINDS.flatMap((kind) => {
    const values = Object.entries(limits?.[`per_${kind}`] ?? {}).map(([name, value]) => `${name}=${value}`)
    return values.length === 0 ? [] : [`${kind}:${values.sort().join(',')}`]
  }),
  ...(limits?.workflow_once === true ? [ONCE] : []),
]
