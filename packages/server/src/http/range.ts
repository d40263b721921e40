import { AppError, type ByteRange } from '@scanfarm/contracts'

const ONE_RANGE = /^bytes=(\d*)-(\d*)$/

/**
 * The one range that a `Range` header asks for. Several ranges or another unit: undefined, the whole is sent, as the
 * standard allows. Refuses a range that lies behind the end.
 */
export const rangeOf = (header: string | undefined, size: number): ByteRange | undefined => {
  const parts = ONE_RANGE.exec(header?.trim() ?? '')
  if (parts === null) return undefined
  const [, from = '', to = ''] = parts
  if (from === '' && to === '') return undefined
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < start) return undefined
  if (start >= size || (from === '' && Number(to) === 0))
    throw new AppError('range_not_satisfiable', `the file has ${size} bytes`)
  return { start, end }
}

/** Whether an `If-None-Match` or `If-Range` header names this entity tag. */
export const namesTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined &&
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag)
