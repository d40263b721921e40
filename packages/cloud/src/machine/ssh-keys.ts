import { generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'

/** In OpenSSH's formats: a PEM block without a passphrase, and `ssh-ed25519 AAAA… comment`. */
export interface SshKeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

const TYPE = 'ssh-ed25519'
const MAGIC = 'openssh-key-v1\0'
const BLOCK = 8
const LINE = 70

/** A new ed25519 key pair. That of the ssh library loses a leading zero byte, one in several hundred. */
export function createKeyPair(comment: string): SshKeyPair {
  const pair = generateKeyPairSync('ed25519')
  const point = rawKey(pair.publicKey, 'x')
  const seed = rawKey(pair.privateKey, 'd')
  const publicPart = Buffer.concat([field(TYPE), field(point)])
  const check = randomBytes(4)
  const secret = Buffer.concat([
    check,
    check,
    publicPart,
    field(Buffer.concat([seed, point])),
    field(comment),
  ])
  const file = Buffer.concat([
    Buffer.from(MAGIC),
    field('none'),
    field('none'),
    field(''),
    uint32(1),
    field(publicPart),
    field(padded(secret)),
  ])
  return { privateKey: pem(file), publicKey: `${TYPE} ${publicPart.toString('base64')} ${comment}` }
}

/** The bytes of `ssh-ed25519 AAAA…`, as a host presents them. */
export const publicKeyBytes = (publicKey: string): Buffer =>
  Buffer.from(publicKey.split(' ')[1] ?? '', 'base64')

function rawKey(key: KeyObject, part: 'x' | 'd'): Buffer {
  return Buffer.from(key.export({ format: 'jwk' })[part] ?? '', 'base64url')
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([uint32(bytes.length), bytes])
}

/** Padded with 1, 2, 3 … to whole blocks. */
function padded(bytes: Buffer): Buffer {
  const missing = (BLOCK - (bytes.length % BLOCK)) % BLOCK
  return Buffer.concat([bytes, Buffer.from(Array.from({ length: missing }, (_, at) => at + 1))])
}

function pem(file: Buffer): string {
  const text = file.toString('base64')
  const lines = Array.from({ length: Math.ceil(text.length / LINE) }, (_, at) =>
    text.slice(at * LINE, (at + 1) * LINE),
  )
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`
}
