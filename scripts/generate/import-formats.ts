import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { IMPORT_FORMATS, type ImportFormat } from '../../packages/findings/src/formats.ts'

const read = (path: string): unknown => parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
/** What `npm run reports` runs, and the versions whose reports it has compared. */
const TOOLS = read('../reports/tools.yaml') as Readonly<Record<string, { readonly skipped?: string }>>
const TRIED = read('../reports/tried.json') as Readonly<Record<string, string>>

const triedFor = (format: ImportFormat): string => {
  const tools = Object.keys(TOOLS).filter((name) => Object.hasOwn(TOOLS[name] ?? {}, format))
  const versions = tools
    .filter((name) => TRIED[name] !== undefined)
    .map((name) => (name === format ? TRIED[name] : `${name} ${TRIED[name]}`))
  const reasons = tools.flatMap((name) => TOOLS[name]?.skipped ?? [])
  if (format === 'jsonl') return 'Scanfarm'
  return versions.length > 0 ? versions.join(', ') : ['the documented structure only', ...reasons].join(': ')
}

const ROWS = read('import-formats.yaml') as Readonly<Record<string, { reads: string; loses: string }>>

/** A table of the formats of imports. */
export const importFormats = (): string =>
  [
    '| format | version tried | read | lost |',
    '| --- | --- | --- | --- |',
    ...IMPORT_FORMATS.map((name) => {
      const row = ROWS[name]
      if (!row) throw new Error(`scripts/generate/import-formats.yaml has no row for ${name}`)
      return `| \`${name}\` | ${triedFor(name)} | ${row.reads} | ${row.loses} |`
    }),
  ].join('\n')
