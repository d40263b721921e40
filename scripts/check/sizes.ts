// The documents keep their budgets of words, and their prose lines 120 columns. Prints the figures.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
/** Words without generated parts. */
const BUDGETS: Readonly<Record<string, number>> = {
  'README.md': 900,
  'CHANGELOG.md': 400,
  'docs/workflows.md': 4_000,
  'docs/migrating.md': 2_500,
  'all documents': 36_000,
}
const COLUMNS = 120
const GENERATED = /<!-- generated: [^]*?<!-- \/generated -->/g
const CODE = /^```[^]*?^```/gm
const onlyLines = (text: string): string => text.replaceAll(/[^\n]/g, '')

const files = globSync(['*.md', 'docs/**/*.md'], { cwd: root, exclude: (path) => path === 'docs/reference' })
const problems: string[] = []
const words = new Map<string, number>()
for (const file of files) {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(GENERATED, onlyLines)
  const count = text.match(/\S+/g)?.length ?? 0
  words.set(file, count)
  words.set('all documents', (words.get('all documents') ?? 0) + count)
  for (const [index, line] of text.replaceAll(CODE, onlyLines).split('\n').entries())
    if ([...line].length > COLUMNS && !line.startsWith('|'))
      problems.push(`${file}:${index + 1}: ${[...line].length} columns of prose: at most ${COLUMNS}`)
}
for (const [name, budget] of Object.entries(BUDGETS)) {
  const count = words.get(name) ?? 0
  console.log(`${name}: ${count} words of ${budget}`)
  if (count > budget) problems.push(`${name} has ${count} words: shorten it to ${budget}`)
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
