// The project keeps its budgets: words of documents, columns of their prose lines, settings, and lines and files of
// code. Prints the figures. Lower a ceiling when the figure has fallen; the goal is what it falls towards.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const problems: string[] = []

/** Words without generated parts. */
const WORDS: Readonly<Record<string, number>> = {
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

const documents = globSync(['*.md', 'docs/**/*.md'], {
  cwd: root,
  exclude: (path) => path === 'docs/reference',
})
const words = new Map<string, number>()
for (const file of documents) {
  const text = read(file).replaceAll(GENERATED, onlyLines)
  const count = text.match(/\S+/g)?.length ?? 0
  words.set(file, count)
  words.set('all documents', (words.get('all documents') ?? 0) + count)
  for (const [index, line] of text.replaceAll(CODE, onlyLines).split('\n').entries())
    if ([...line].length > COLUMNS && !line.startsWith('|'))
      problems.push(`${file}:${index + 1}: ${[...line].length} columns of prose: at most ${COLUMNS}`)
}
for (const [name, budget] of Object.entries(WORDS)) {
  const count = words.get(name) ?? 0
  console.log(`${name}: ${count} words of ${budget}`)
  if (count > budget) problems.push(`${name} has ${count} words: shorten it to ${budget}`)
}

const MOST_LINES = 350
const MOST_FILES = 20
const WRITTEN_BY_SCRIPTS = ['packages/client/src/schema.ts', 'packages/store/src/tables.ts']

const linesOf = (patterns: readonly string[]): Map<string, number> =>
  new Map(
    globSync(patterns, { cwd: root, exclude: (path) => path.includes('node_modules') })
      .filter((file) => !WRITTEN_BY_SCRIPTS.includes(file))
      .map((file) => [file, read(file).split('\n').length - 1]),
  )
const sum = (lines: ReadonlyMap<string, number>): number =>
  [...lines.values()].reduce((all, one) => all + one, 0)

const source = linesOf(['packages/*/{src,sql}/**/*.{ts,tsx,sql,css,pl}'])
const large = [...source].filter(([, lines]) => lines > MOST_LINES).map(([file]) => file)
const full = [...Map.groupBy(source.keys(), dirname)].filter(([, files]) => files.length > MOST_FILES)

interface Figure {
  readonly name: string
  readonly count: number
  readonly ceiling: number
  readonly goal: number
  /** Where it is too much. */
  readonly places?: readonly string[]
}

const FIGURES: readonly Figure[] = [
  {
    name: 'settings',
    count: read('docs/reference/settings.md').match(/^\| `/gm)?.length ?? 0,
    ceiling: 90,
    goal: 90,
  },
  { name: 'lines of source', count: sum(source), ceiling: 131_070, goal: 92_000 },
  {
    name: 'lines of tests',
    count: sum(linesOf(['packages/*/test/**/*.{ts,tsx}'])),
    ceiling: 77_250,
    goal: 60_000,
  },
  {
    name: 'lines of scripts',
    count: sum(linesOf(['scripts/**/*.{ts,js,sh,py}'])),
    ceiling: 8_590,
    goal: 6_000,
  },
  { name: `source files over ${MOST_LINES} lines`, count: large.length, ceiling: 0, goal: 0, places: large },
  {
    name: `source folders of more than ${MOST_FILES} files`,
    count: full.length,
    ceiling: 0,
    goal: 0,
    places: full.map(([folder]) => folder),
  },
]
for (const { name, count, ceiling, goal, places = [] } of FIGURES) {
  console.log(`${name}: ${count} of ${ceiling}, goal ${goal}`)
  if (count > ceiling) problems.push(`${[`${count} ${name}: at most ${ceiling}`, ...places].join('\n  ')}`)
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
