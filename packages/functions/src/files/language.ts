import { constants } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { FileScope } from '../paths/allowed.ts'
import { entriesOf } from './files.ts'
import { openFile } from '../paths/run-folder.ts'

const EXTENSIONS: Readonly<Record<string, string>> = {
  c: '.c .h', cpp: '.cpp .cc .cxx .hpp .hxx', csharp: '.cs', dart: '.dart', elixir: '.ex .exs', golang: '.go',
  haskell: '.hs', java: '.java', javascript: '.js .mjs .cjs .jsx', kotlin: '.kt .kts', lua: '.lua', 'objective-c': '.m',
  perl: '.pl .pm', php: '.php', python: '.py .pyw', r: '.r', ruby: '.rb', rust: '.rs', scala: '.scala',
  shell: '.sh .bash .zsh', solidity: '.sol', svelte: '.svelte', swift: '.swift', typescript: '.ts .mts .cts .tsx',
  vue: '.vue',
} // prettier-ignore

const LANGUAGES = new Map(
  Object.entries(EXTENSIONS).flatMap(([language, endings]) =>
    endings.split(' ').map((ending): [string, string] => [ending, language]),
  ),
)

/** Interpreters in the first line of files without extension. */
const INTERPRETERS: readonly (readonly [RegExp, string])[] = [
  [/python/, 'python'],
  [/node/, 'javascript'],
  [/ruby/, 'ruby'],
  [/perl/, 'perl'],
  [/\/bash|\/bin\/sh|env bash/, 'shell'],
  [/lua/, 'lua'],
]

/** Folders that are not typical for the language of a project. */
const SKIPPED = new Set(
  `test tests __tests__ testdata test_data testing static public assets dist build out frontend web webapp ui
  node_modules vendor third_party third-party external .git .svn .hg __pycache__ .tox .mypy_cache`.split(
    /\s+/,
  ),
)

/** Maximum number of examined files, and of bytes of a first line. */
const MAX_FILES = 20_000
const MAX_FIRST_LINE = 256

const languageOfFile = async (path: string, scope: FileScope): Promise<string | undefined> => {
  const extension = extname(path).toLowerCase()
  if (extension !== '') return LANGUAGES.get(extension)
  await using file = await openFile(path, scope, constants.O_RDONLY)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FIRST_LINE))
  const [line = ''] = buffer.toString('latin1', 0, bytesRead).split('\n')
  return line.startsWith('#!') ? INTERPRETERS.find(([word]) => word.test(line))?.[1] : undefined
}

const count = async (
  folder: string,
  scope: FileScope,
  counts: Map<string, number>,
  seen: { files: number },
): Promise<void> => {
  for await (const item of entriesOf(folder, scope)) {
    if (seen.files >= MAX_FILES) return
    const path = join(folder, item.name)
    if (item.isDirectory() && !SKIPPED.has(item.name.toLowerCase())) await count(path, scope, counts, seen)
    if (!item.isFile()) continue
    seen.files++
    // Unreadable files are skipped.
    const language = await languageOfFile(path, scope).catch(() => undefined)
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1)
  }
}

/** The most frequent language of the files below a folder; the first by name if there are several. */
export const languageOf = async (folder: string, scope: FileScope): Promise<string> => {
  const counts = new Map<string, number>()
  if (folder !== '') await count(folder, scope, counts, { files: 0 })
  const [most] = [...counts].sort(([a, x], [b, y]) => y - x || a.localeCompare(b))
  return most?.[0] ?? 'unknown'
}
