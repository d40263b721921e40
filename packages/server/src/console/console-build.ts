import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Contains a folder for each build of the console, named after the hash of its sources. */
export const consoleBuilds = (root: string): string => join(root, '.cache/console')

/** In an image: the name of the only build, whose sources are not there. */
const sealedFile = (root: string): string => join(consoleBuilds(root), 'current')

const SOURCES = [
  'packages/web/*',
  'packages/web/{src,public}/**/*',
  'packages/client/{package.json,src/**/*}',
  'packages/language/src/{duration,trigger/cron}.ts',
  'pnpm-lock.yaml',
  'scripts/console/*.ts',
]

/** A hash of all that a build depends on. Undefined: this installation has no sources of the console. */
export const hashOfSources = async (root: string): Promise<string | undefined> => {
  if (!existsSync(join(root, 'packages/web/index.html'))) return undefined
  const paths: string[] = []
  for await (const entry of glob(SOURCES, { cwd: root, withFileTypes: true }))
    if (entry.isFile()) paths.push(join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const path of paths.sort()) {
    const content = await readFile(path)
    hash.update(`${path.slice(root.length)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex').slice(0, 16)
}

/** The name of the build of an image; undefined in a checkout. */
export const sealedBuild = async (root: string): Promise<string | undefined> => {
  try {
    return (await readFile(sealedFile(root), 'utf8')).trim()
  } catch {
    return undefined
  }
}
