import { valueOr } from '@scanfarm/contracts'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { checkSource } from '@scanfarm/engine'
import type { CheckedFile, SourceFile } from '@scanfarm/language'

const MOST_FILES = 200
const MOST_NAME_CHARS = 200
/** Larger files are rare. */
const MOST_CHARS = 262_144

/** Beside the bundle that executes: another program does not find what this one kept. Undefined: it executes sources. */
export const folderOfChecks = (script = process.argv[1] ?? ''): string | undefined =>
  basename(script) === 'start.js' ? join(dirname(script), 'checks') : undefined

/**
 * Checks workflow files and keeps the last result for each path in a folder: reading and checking a file takes longer than
 * most of its steps. A folder that cannot be read or written changes nothing else.
 */
export const keepingChecks =
  (folder = folderOfChecks(), check = checkSource) =>
  (file: SourceFile): CheckedFile => {
    if (folder === undefined || file.text.length > MOST_CHARS) return check(file)
    // A hash would need a large part of Node. Files of the same name replace each other.
    const name = `${file.source}/${file.path}`.replaceAll(/[^\w.-]/g, '_').slice(-MOST_NAME_CHARS)
    const asked = JSON.stringify(file)
    const known = readKept(join(folder, name))
    if (known?.asked === asked) return known.checked
    const checked = check(file)
    keep(folder, name, { asked, checked })
    return checked
  }

interface Kept {
  readonly asked: string
  readonly checked: CheckedFile
}

const readKept = (path: string): Kept | undefined =>
  valueOr(() => deserialize(readFileSync(path)) as Kept, undefined)

const keep = (folder: string, name: string, kept: Kept): void => {
  try {
    // What root keeps in the bundle of another user could not be replaced by that user.
    if (statSync(dirname(folder)).uid !== process.geteuid?.()) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const names = readdirSync(folder)
    if (names.length >= MOST_FILES) for (const old of names) unlinkSync(join(folder, old))
    // Another program may read it at the same time.
    const fresh = join(folder, `${process.pid}.new`)
    // A workflow may contain what no other user may read.
    writeFileSync(fresh, serialize(kept), { mode: 0o600 })
    renameSync(fresh, join(folder, name))
  } catch {}
}
