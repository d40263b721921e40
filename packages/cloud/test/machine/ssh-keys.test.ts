import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import ssh2 from 'ssh2'
import { createKeyPair, publicKeyBytes } from '../../src/machine/ssh-keys.ts'

const exec = promisify(execFile)
const PAIRS = 1_000

describe('A key pair', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cloud-keys-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('is accepted by OpenSSH, which derives the same public key', async () => {
    const pair = createKeyPair('scanfarm test')
    const file = join(folder, 'key')
    await writeFile(file, pair.privateKey, { mode: 0o600 })
    const { stdout } = await exec('ssh-keygen', ['-y', '-f', file])
    expect(stdout.trim()).toBe(pair.publicKey)
    expect(pair.publicKey).toMatch(/^ssh-ed25519 AAAA\S+ scanfarm test$/)
  })

  test('is well-formed for any bytes of the key', () => {
    for (let made = 0; made < PAIRS; made += 1) {
      const pair = createKeyPair('many')
      const parsed = ssh2.utils.parseKey(pair.privateKey)
      if (parsed instanceof Error || Array.isArray(parsed)) throw new Error(`not read: ${pair.publicKey}`)
      expect(parsed.getPublicSSH().equals(publicKeyBytes(pair.publicKey))).toBe(true)
    }
  })
})
