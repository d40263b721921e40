import { extname, join } from 'node:path'
import { isIP } from 'node:net'
import { isCidr, targetType } from '../execute/target.ts'
import { fn, textArg, type FunctionContext, type FunctionGroup } from './define.ts'
import { asking, entriesOf, kindOf, pathArg, runPath } from './files.ts'
import type { RunPlace } from './allowed.ts'

const ARCHIVE = /\.(zip|tar|tgz|tbz2?|txz|gz|bz2|xz|zst|7z|rar)$/i

const LANGUAGES: Readonly<Record<string, string>> = {
  '.c': 'C', '.cc': 'C++', '.cpp': 'C++', '.cs': 'C#', '.dart': 'Dart', '.ex': 'Elixir', '.go': 'Go', '.java': 'Java',
  '.js': 'JavaScript', '.jsx': 'JavaScript', '.mjs': 'JavaScript', '.kt': 'Kotlin', '.lua': 'Lua', '.m': 'Objective-C',
  '.php': 'PHP', '.pl': 'Perl', '.py': 'Python', '.rb': 'Ruby', '.rs': 'Rust', '.scala': 'Scala', '.sh': 'Shell',
  '.sol': 'Solidity', '.swift': 'Swift', '.ts': 'TypeScript', '.tsx': 'TypeScript', '.vue': 'Vue',
} // prettier-ignore

/** Files looked at to tell the language of a folder. */
const MAX_FILES = 20_000
const SKIPPED = new Set(['.git', 'node_modules', 'vendor', 'dist', 'build'])

const countLanguages = async (
  folder: string,
  place: RunPlace,
  counts: Map<string, number>,
  seen: { files: number },
): Promise<void> => {
  for await (const item of entriesOf(folder, place)) {
    if (seen.files >= MAX_FILES) return
    if (item.isDirectory() && !SKIPPED.has(item.name))
      await countLanguages(join(folder, item.name), place, counts, seen)
    const language = LANGUAGES[extname(item.name).toLowerCase()]
    if (item.isFile()) seen.files++
    if (item.isFile() && language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1)
  }
}

const askedKind = async (path: string, at: FunctionContext) =>
  await asking(at, () => kindOf(path, at), undefined)

export const TYPE_FUNCTIONS: FunctionGroup = {
  title: 'What something is',
  functions: [
    fn('get_types(text)', 'text', 'file, folder, cidr, ip, url, domain or string.', async (args, at) => {
      const text = textArg(args, 0)
      if (text.includes('/') && !/^https?:/i.test(text) && !isCidr(text)) {
        const kind = await askedKind(pathArg(args, 0, at), at)
        if (kind !== undefined) return kind
      }
      if (isIP(text) !== 0) return 'ip'
      const type = targetType(text)
      if (type !== 'unknown' || text.trim() === '') return type === 'unknown' ? 'string' : type
      return (await askedKind(runPath(text, at), at)) ?? 'string'
    }),
    fn(
      'is_file(path)',
      'bool',
      'Is it a file?',
      async (args, at) => (await askedKind(pathArg(args, 0, at), at)) === 'file',
    ),
    fn(
      'is_dir(path)',
      'bool',
      'Is it a folder?',
      async (args, at) => (await askedKind(pathArg(args, 0, at), at)) === 'folder',
    ),
    fn(
      'is_git(path)',
      'bool',
      'Is it a git work tree, or the address of a repository?',
      async (args, at) =>
        /^(git@|https?:\/\/.*\.git$|https?:\/\/(www\.)?(github|gitlab)\.com\/[^/]+\/[^/]+)/.test(
          textArg(args, 0),
        ) || (await askedKind(join(pathArg(args, 0, at), '.git'), at)) !== undefined,
    ),
    fn(
      'is_url(text)',
      'bool',
      'Is it an http or https address?',
      (args) => targetType(textArg(args, 0)) === 'url',
    ),
    fn(
      'is_compress(path)',
      'bool',
      'Does the name look like an archive?',
      (args) => ARCHIVE.test(textArg(args, 0)),
      ['is_compressed'],
    ),
    fn(
      'detect_language(folder)',
      'text',
      'The programming language of most files below a folder, or "".',
      async (args, at) => {
        const counts = new Map<string, number>()
        await countLanguages(pathArg(args, 0, at), at, counts, { files: 0 })
        const [most] = [...counts].sort(([a, x], [b, y]) => y - x || a.localeCompare(b))
        return most?.[0] ?? ''
      },
    ),
  ],
}
