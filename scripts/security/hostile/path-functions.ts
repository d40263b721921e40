import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface PathCall {
  readonly name: string
  /** An expression that reads `file`, or writes `written`. */
  readonly code: string
}

const DOCUMENT = join(import.meta.dirname, '../../../docs/reference/workflows.md')

/** Names of path arguments in the document. */
const READS = [
  'path',
  'source',
  'file',
  'template',
  'reached',
  'archive',
  'manifest',
  'old',
  'first',
  'second',
  'a',
  'b',
]
const WRITES = ['dest', 'target', 'new', 'folder']
const OTHERS: Readonly<Record<string, string>> = {
  pattern: '"."',
  format: '"jsonl"',
  delimiter: '","',
  type: '"text"',
  lines: '1',
  value: '"written"',
  text: '"written"',
  content: '"written"',
}

/** Calls of each documented function with a path: one reads an outside file, one writes it. */
export const pathCalls = (): PathCall[] =>
  [...readFileSync(DOCUMENT, 'utf8').matchAll(/^\| `([a-z_]+)\(([^`]*)\)` \|/gm)].flatMap(
    ([, name = '', signature = '']) => {
      const args = signature
        .split(',')
        .map((arg) => arg.replaceAll(/[?\s"…]/g, ''))
        .filter((arg) => arg !== '')
      const reads = args.some((arg) => READS.includes(arg))
      const writes = args.some((arg) => WRITES.includes(arg))
      // Connections to other machines have separate attacks.
      if ((!reads && !writes) || args.includes('host') || args.includes('url')) return []
      const call = (read: string, write: string): string =>
        `${name}(${args
          .map((arg) => (READS.includes(arg) ? read : WRITES.includes(arg) ? write : (OTHERS[arg] ?? '"x"')))
          .join(', ')})`
      const reading = { name: `${name} reads`, code: call('"{{file}}"', `"{{Output}}/copy-${name}"`) }
      const writing = { name: `${name} writes`, code: call('"{{Output}}/own.txt"', '"{{written}}"') }
      const both = { name: `${name} on both`, code: call('"{{written}}"', '"{{written}}"') }
      return reads && writes ? [reading, writing] : reads ? [reading, both] : [writing]
    },
  )
