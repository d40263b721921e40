import { createHash } from 'node:crypto'

/**
 * Ids that follow from what they name, so that a batch written twice is written once. The attempt is part of them: a
 * zombie and its successor never share one.
 */
export interface Identity {
  /** Shape of a version 5 UUID. */
  uuid(kind: string, name: string | number): string
  eventId(number: number): string
  /** Under which files of this attempt lie in the artifact store. */
  readonly storePrefix: string
}

export function identityOf(runUuid: string, attempt: number): Identity {
  const digest = (text: string): string =>
    createHash('sha1').update(`${runUuid}/${attempt}/${text}`).digest('hex')
  return {
    uuid: (kind, name) => uuidShape(digest(`${kind}/${name}`)),
    eventId: (number) => `evt_${digest(`event/${number}`).slice(0, 24)}`,
    storePrefix: `runs/${runUuid}/${attempt}`,
  }
}

const uuidShape = (hex: string): string => {
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}
