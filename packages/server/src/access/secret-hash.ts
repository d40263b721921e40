import { createHash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32
const PREFIX = 'sfm_'

/** A new API token: 256 random bits behind a prefix that secret scanners can find. */
export const newToken = (): string => PREFIX + randomBytes(TOKEN_BYTES).toString('base64url')

/**
 * What is stored of a token. A fast hash is right for 256 random bits, and looking it up by index leaks nothing: who
 * can aim at a hash prefix has broken SHA-256.
 */
export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('hex')

const MARK_LENGTH = 22

/** Changes with the stored form of a password, of which it tells nothing. */
export const passwordMark = (passwordHash: string): string =>
  createHash('sha256').update(passwordHash).digest('base64url').slice(0, MARK_LENGTH)
