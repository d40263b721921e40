// Every path of the repository that a document names exists: links and code spans such as `packages/store/src`. Each row of
// docs/limits.md has a test that exists.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const DOCUMENTS = ['*.md', 'docs/**/*.md', 'packages/*/**/README.md', 'findings/*.md', '.github/**/*.md']
/** The history names what existed then. */
const EXCEPT = ['CHANGELOG.md']

const CODE_SPAN = /`((?:packages|scripts|infra|workflows|docs|src|test|sql)\/[^`\s]*)`/g
const LINK = /\]\(([^)#\s]+)(?:#[^)]*)?\)/g
/** Names with placeholders: `schema/NNNN-*.sql`, `steps/NAME.ts`, `$FOLDER/x`; secrets are generated. */
const PLACEHOLDER = /[A-Z]{3,}[-./]|[*<>{}$…]|^infra\/secrets/

const pathsOf = (file: string): string[] => {
  const text = readFileSync(join(root, file), 'utf8')
  const from = dirname(join(root, file))
  const spans = [...text.matchAll(CODE_SPAN)].flatMap(([, path = '']) => {
    const base = /^(?:src|test|sql)\//.test(path) ? packageOf(from) : root
    return base === undefined ? [] : [join(base, path)]
  })
  const links = [...text.matchAll(LINK)].flatMap(([, path = '']) =>
    /^[a-z]+:/.test(path) ? [] : [resolve(from, path)],
  )
  return [...spans, ...links].filter((path) => !PLACEHOLDER.test(relative(root, path)))
}

/** `src/…` in the README of a package is a path of that package. */
const packageOf = (folder: string): string | undefined => /^(.*\/packages\/[^/]+)/.exec(folder)?.[1]

const problems = globSync(DOCUMENTS, { cwd: root, exclude: (path) => path.includes('node_modules') })
  .filter((file) => !EXCEPT.includes(file))
  .flatMap((file) =>
    pathsOf(file).flatMap((path) =>
      existsSync(path) ? [] : [`${file}: ${relative(root, path)} does not exist`],
    ),
  )
const tests = parse(readFileSync(join(import.meta.dirname, 'limits.yaml'), 'utf8')) as Record<
  string,
  string[]
>
const rows = [...readFileSync(join(root, 'docs/limits.md'), 'utf8').matchAll(/^\| (.+?) \| /gm)]
  .map(([, input = '']) => input)
  .filter((input) => input !== 'input' && !input.startsWith('---'))
const begins = Object.values(tests).flat()
problems.push(
  ...rows
    .filter((row) => !begins.some((begin) => row.startsWith(begin)))
    .map((row) => `docs/limits.md: name the test of the row "${row}" in scripts/check/limits.yaml`),
  ...begins
    .filter((begin) => !rows.some((row) => row.startsWith(begin)))
    .map((begin) => `scripts/check/limits.yaml: docs/limits.md has no row that begins with "${begin}"`),
  ...Object.keys(tests)
    .filter((file) => !existsSync(join(root, file)))
    .map((file) => `scripts/check/limits.yaml: ${file} does not exist`),
)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
