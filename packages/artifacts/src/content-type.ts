import { basename, extname } from 'node:path'
import type { ContentType } from '@scanfarm/contracts'

const BY_EXTENSION: Readonly<Record<string, ContentType>> = {
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.html': 'html',
  '.htm': 'html',
  '.md': 'md',
  '.markdown': 'md',
  '.log': 'log',
  '.pdf': 'pdf',
  '.png': 'png',
  '.txt': 'txt',
  '.text': 'txt',
  '.csv': 'txt',
  '.zip': 'zip',
}

const IMAGE_EXTENSIONS = new Set(['.png', '.jpg', '.jpeg', '.gif', '.webp', '.bmp'])

const TEXT_TYPES: ReadonlySet<ContentType> = new Set(['json', 'jsonl', 'yaml', 'html', 'md', 'log', 'txt'])

export const contentTypeOf = (path: string): ContentType =>
  BY_EXTENSION[extname(path).toLowerCase()] ?? 'unknown'

/** Type of an unnamed artifact: `screenshot` for an image in a `screenshots` folder, otherwise `output`. */
export function likelyTypeOf(path: string): 'screenshot' | 'output' {
  const folders = path.toLowerCase().split('/').slice(0, -1)
  const image = IMAGE_EXTENSIONS.has(extname(basename(path)).toLowerCase())
  return image && folders.some((folder) => folder === 'screenshots' || folder === 'screenshot')
    ? 'screenshot'
    : 'output'
}

/** Whether lines are counted. */
export const isText = (type: ContentType): boolean => TEXT_TYPES.has(type)
