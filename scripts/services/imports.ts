import { readFileSync, existsSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Any text in quotes that may name a file: imports, and programs that a test starts by their path. */
const NAME = /'(\.{1,2}\/[^']+\.ts|@scanfarm\/[^']+)'/g

type Exports = Readonly<Record<string, string>>

const fileOf = (name: string, from: string): string | undefined => {
  if (name.startsWith('.')) return resolve(dirname(from), name)
  const [scope, base, ...rest] = name.split('/')
  const manifest = findPackageJSON(`${scope}/${base}`, pathToFileURL(from))
  if (manifest === undefined) return undefined
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports?: Exports }
  const path = exports?.[['.', ...rest].join('/')]
  return path === undefined ? undefined : join(dirname(manifest), path)
}

/** These files and all that they import from the workspace. */
export const withImports = (files: readonly string[]): ReadonlySet<string> => {
  const found = new Set(files)
  for (const file of found)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(NAME)) {
      const path = fileOf(name, file)
      if (path !== undefined && existsSync(path)) found.add(path)
    }
  return found
}
