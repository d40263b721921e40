import { AppError } from '@scanfarm/contracts'

/** A cursor names the last id of a page; lists run from high ids to low ones. */
export const encodeCursor = (lastId: number): string => Buffer.from(`b${lastId}`).toString('base64url')

export function decodeCursor(cursor: string): number {
  const id = Number(/^b(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1])
  if (Number.isNaN(id)) {
    throw new AppError('bad_request', 'the cursor is not one of this list', {
      details: [{ path: '/cursor', message: 'must be a next_cursor of an earlier answer' }],
    })
  }
  return id
}
