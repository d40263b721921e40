import { join } from 'node:path'
import { isIP } from 'node:net'
import { isCidr } from '../network/target.ts'
import { local, type FunctionContext, type FunctionGroup } from '../define.ts'
import { runPath } from '../paths/allowed.ts'
import { asking, kindOf } from './files.ts'
import { languageOf } from './language.ts'

/** Archives that existing workflows and Scanfarm extract, and all that Scanfarm extracts. */
const COMPRESSED = /\.(tar\.gz|tar\.bz2|tar\.xz|tgz|zip|gz)$/i
const ARCHIVE = /\.(zip|tar|tgz|tbz2?|txz|gz|bz2|xz|zst|7z|rar)$/i

const DOMAIN = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/i
const URL_START = /^https?:\/\//i

const askedKind = async (path: string, at: FunctionContext) =>
  await asking(at, () => kindOf(path, at), undefined)

export const TYPE_FUNCTIONS: FunctionGroup = {
  title: 'Types',
  functions: [
    local('get_types(text): text', 'file, folder, cidr, ip, url, domain or string.', async (at) => {
      const text = at.text(0)
      if (text === '') return 'string'
      const kind = URL_START.test(text) ? undefined : await askedKind(runPath(text, at), at)
      if (kind !== undefined) return kind
      if (isCidr(text)) return 'cidr'
      if (isIP(text) !== 0) return 'ip'
      if (URL_START.test(text)) return 'url'
      return DOMAIN.test(text) ? 'domain' : 'string'
    }),
    local(
      'is_file(path): bool',
      'Whether the path is a file.',
      async (at) => (await askedKind(at.path(0), at)) === 'file',
    ),
    local(
      'is_dir(path): bool',
      'Whether the path is a folder.',
      async (at) => (await askedKind(at.path(0), at)) === 'folder',
    ),
    local('is_git(path): bool', 'Whether the path is a folder with a folder .git in it.', async (at) => {
      const path = join(at.path(0), '.git')
      return (await askedKind(path, at)) === 'folder'
    }),
    local(
      'is_repository(text): bool',
      'Whether it is a git work tree or the URL of a repository.',
      async (at) =>
        /^(git@|https?:\/\/.*\.git$|https?:\/\/(www\.)?(github|gitlab)\.com\/[^/]+\/[^/]+)/.test(
          at.text(0),
        ) || (await askedKind(join(at.path(0), '.git'), at)) !== undefined,
    ),
    local('is_url(text): bool', 'Whether the text begins with http:// or https://.', (at) =>
      URL_START.test(at.text(0)),
    ),
    local(
      'is_compress(path): bool',
      'Whether the name ends in .zip, .gz, .tgz, .tar.gz, .tar.bz2 or .tar.xz.',
      (at) => COMPRESSED.test(at.text(0)),
      ['is_compressed'],
    ),
    local('is_archive(path): bool', 'Whether the name is that of an archive.', (at) =>
      ARCHIVE.test(at.text(0)),
    ),
    local(
      'detect_language(folder): text',
      'The programming language of most files below a folder, in lower case, or "unknown"; tests, assets, builds and third-party code are left out.',
      (at) => languageOf(at.text(0) === '' ? '' : at.path(0), at),
    ),
  ],
}
