// The lockfile must work with any registry, so it must not contain the URL of one.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const lines = readFileSync(join(import.meta.dirname, '../../pnpm-lock.yaml'), 'utf8').split('\n')
const bad = lines.flatMap((line, index) =>
  /https?:\/\/|tarball:/.test(line) && !/deprecated:/.test(line)
    ? [`pnpm-lock.yaml:${index + 1}: ${line.trim()}`]
    : [],
)
for (const line of bad)
  console.error(
    `${line}\n  contains the URL of a registry: install with the default registry and commit again`,
  )
process.exitCode = bad.length === 0 ? 0 : 1
