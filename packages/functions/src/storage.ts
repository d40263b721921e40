import { constants } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { NamedObject, ObjectStorage } from '@scanfarm/contracts'
import { messageOf, type Json } from '@scanfarm/language'
import {
  sending,
  needing,
  NoResult,
  orNoResult,
  type FunctionContext,
  type FunctionGroup,
  type Call,
} from './define.ts'
import { MAX_TEXT_BYTES } from './files/file.ts'
import { entriesOf, mustBeFile } from './files/files.ts'
import type { FileScope } from './paths/allowed.ts'
import { patternOf, type Pattern } from './text/pattern.ts'
import { inRunFolder, openFile, requireOwn } from './paths/run-folder.ts'

const MISSING = 'object storage is not set up in the settings'

/** The store; its failures become `NoResult`. */
const service = (context: FunctionContext): ObjectStorage => {
  const { storage } = context.services
  if (storage === undefined) throw new Error(MISSING)
  return {
    upload: async (...args) => await orNoResult(context, storage.upload(...args)),
    download: async (...args) => await orNoResult(context, storage.download(...args)),
    remove: async (...args) => await orNoResult(context, storage.remove(...args)),
    stat: async (...args) => await orNoResult(context, storage.stat(...args)),
    list: async (...args) => await orNoResult(context, storage.list(...args)),
    presign: async (...args) => await orNoResult(context, storage.presign(...args)),
  }
}

/** Maximum number of objects that one call may list or transfer. */
const MAX_OBJECTS = 10_000

const keyArg = (at: Call, index: number): string => {
  const key = at.text(index).replace(/^\/+/, '')
  if (key === '') throw new NoResult(`argument ${index + 1} must be a key of the object store`)
  return key
}

/** Regular files below a folder, without links. */
const filesBelow = async (folder: string, scope: FileScope): Promise<string[]> => {
  const files: string[] = []
  const folders = [folder]
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for await (const item of entriesOf(next, scope)) {
      if (item.isFile()) files.push(join(next, item.name))
      if (item.isDirectory()) folders.push(join(next, item.name))
      if (files.length + folders.length > MAX_OBJECTS)
        throw new Error(`${folder} holds more than ${MAX_OBJECTS} files: upload it as an archive`)
    }
  }
  return files
}

const upload = async (path: string, key: string, at: FunctionContext): Promise<void> => {
  requireOwn(path, at, 'read')
  await mustBeFile(path, at)
  await using file = await openFile(path, at, constants.O_RDONLY)
  await service(at).upload(file, key, at.signal)
}

/** A step whose file is missing afterwards must not go on. */
const failed = (error: unknown): never => {
  throw new Error(messageOf(error), { cause: error })
}

const download = async (key: string, path: string, at: FunctionContext): Promise<void> =>
  await inRunFolder(path, at, async ({ folder, name }) =>
    folder.replace(
      name,
      async (file) =>
        await service(at)
          .download(
            key,
            async (content) => await pipeline(content, file.createWriteStream(), { signal: at.signal }),
            at.signal,
          )
          .catch(failed),
      { owner: at.owner },
    ),
  )

const shown = ({ key, size, modified }: NamedObject): Json => ({ key, size, last_modified: modified })

const matcher = (glob: string): Pattern =>
  patternOf(
    `(?s)^${glob
      .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  )

const list = async (pattern: string, context: FunctionContext): Promise<NamedObject[]> => {
  const files = await service(context).list(pattern.replace(/[*?].*$/, ''), MAX_OBJECTS)
  if (!/[*?]/.test(pattern)) return files
  const matches = matcher(pattern)
  return files.filter(({ key }) => matches.test(key))
}

/** Formats keys as an indented tree. */
const tree = (keys: readonly string[], prefix: string, depth: number): string => {
  const lines = new Set<string>()
  for (const key of keys) {
    const parts = key.slice(prefix.length).replace(/^\//, '').split('/')
    for (const [level, part] of parts.slice(0, depth).entries()) {
      lines.add(`${'  '.repeat(level)}${part}${level < parts.length - 1 ? '/' : ''}`)
    }
  }
  return [...lines].join('\n')
}

export const STORAGE_FUNCTIONS: FunctionGroup = {
  title: 'Object store (needs one in the settings)',
  functions: [
    sending('cdn_upload(path, key): bool', 'Uploads a file of the run’s folders.', (at) =>
      upload(at.path(0), keyArg(at, 1), at),
    ),
    sending('cdn_download(key, path): bool', 'Downloads an object into the run’s folders.', (at) =>
      download(keyArg(at, 0), at.path(1), at),
    ),
    sending(
      'cdn_exists(key): bool',
      'Whether the object exists.',
      async (at) => (await service(at).stat(keyArg(at, 0))) !== undefined,
    ),
    sending('cdn_delete(key): bool', 'Removes an object.', (at) => service(at).remove(keyArg(at, 0))),
    sending(
      'cdn_sync_upload(folder, prefix): number',
      'Uploads all files below a folder; returns the number.',
      async (at) => {
        const folder = at.path(0)
        const files = await filesBelow(folder, at)
        const prefix = keyArg(at, 1).replace(/\/$/, '')
        for (const path of files)
          await upload(path, `${prefix}/${relative(folder, path).split(sep).join('/')}`, at)
        return files.length
      },
    ),
    sending(
      'cdn_sync_download(prefix, folder): number',
      'Downloads all objects of a prefix; returns the number.',
      async (at) => {
        const [prefix, folder] = [keyArg(at, 0), at.path(1)]
        const files = await service(at).list(prefix, MAX_OBJECTS)
        for (const { key } of files) {
          const path = join(folder, key.slice(prefix.length))
          if (relative(folder, path).startsWith('..'))
            throw new Error(`the key ${key} leads out of the folder`)
          await download(key, path, at)
        }
        return files.length
      },
    ),
    sending(
      'cdn_get_presigned_url(key, minutes?): text',
      'A URL that allows anyone to read the object for a limited time.',
      (at) => service(at).presign(keyArg(at, 0), Math.max(1, at.number(1, 60))),
    ),
    sending('cdn_list(pattern?): list', 'Objects with key, size and last_modified.', async (at) =>
      (await list(at.text(0), at)).map(shown),
    ),
    sending('cdn_stat(key): object', 'Key, size and last_modified, or null.', async (at) => {
      const found = await service(at).stat(keyArg(at, 0))
      return found === undefined ? null : shown(found)
    }),
    sending('cdn_read(key): text', 'The text of an object.', async (at) => {
      const key = keyArg(at, 0)
      const { size = 0 } = (await service(at).stat(key)) ?? {}
      if (size > MAX_TEXT_BYTES) throw new Error(`${key} is larger than ${MAX_TEXT_BYTES} bytes: download it`)
      let content = ''
      await service(at).download(key, async (body) => void (content = await text(body)), at.signal)
      return content
    }),
    sending('cdn_ls_tree(prefix?, depth?): text', 'The keys as a tree.', async (at) => {
      const prefix = at.text(0)
      return tree(
        (await list(prefix, at)).map(({ key }) => key),
        prefix,
        Math.max(1, at.number(1, 10)),
      )
    }),
  ].map(needing('storage', MISSING, false)),
}
