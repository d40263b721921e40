import { valueOr } from '../error.ts'

const decoded = (path: string): string => valueOr(() => decodeURIComponent(path), path)

/** The path of a URL without dots, escapes and double slashes, so that different ways to write it compare equal. */
export const readPath = (tail: string): string => {
  const [path = ''] = tail.split(/[?#]/)
  const parsed = (text: string): string =>
    URL.parse(`http://host/${text.replace(/^[\\/]+/, '')}`)?.pathname ?? '/'
  // A second time, because escapes can hide dots.
  const plain = decoded(parsed(decoded(parsed(path))))
  return plain.replaceAll(/\/{2,}/g, '/')
}

/** Whether a path is the prefix or below it. */
export const isBelow = (path: string, prefix: string): boolean => {
  const folder = prefix.endsWith('/') ? prefix : `${prefix}/`
  return path === prefix || `${path}/` === folder || path.startsWith(folder)
}
