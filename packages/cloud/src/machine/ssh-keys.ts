import ssh2 from 'ssh2'

/** In OpenSSH's formats: a PEM block without a passphrase, and `ssh-ed25519 AAAA… comment`. */
export interface SshKeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

/** Of a public key: its type and its point, each behind its length. */
const PUBLIC_BYTES = 51

/** A new ed25519 key pair. The library loses leading zero bytes of the public key: such a pair, one in 256, is not used. */
export function createKeyPair(comment: string): SshKeyPair {
  for (;;) {
    const { private: privateKey, public: publicKey } = ssh2.utils.generateKeyPairSync('ed25519', { comment })
    if (publicKeyBytes(publicKey).length === PUBLIC_BYTES) return { privateKey, publicKey }
  }
}

/** The bytes of `ssh-ed25519 AAAA…`, as a host presents them. */
export const publicKeyBytes = (publicKey: string): Buffer =>
  Buffer.from(publicKey.split(' ')[1] ?? '', 'base64')
