import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { createKeyPair } from '../../src/machine/ssh-keys.ts'
import { packagesFor } from '../../src/machine/packages.ts'
import { renderUserData } from '../../src/machine/user-data.ts'

const hostKey = createKeyPair('host')
const setup = {
  user: 'scan',
  publicKey: 'ssh-ed25519 AAAA key',
  hostKey,
  tools: ['nmap', 'dig', 'own-tool'],
  commands: ["echo 'it''s' \"$HOME\"", 'make me: {{happy}}'],
}

describe('User data', () => {
  test('is a #cloud-config with our keys, no passwords and a user with sudo rights', () => {
    const text = renderUserData(setup)
    expect(text.startsWith('#cloud-config\n')).toBe(true)
    expect(parse(text)).toMatchObject({
      users: [
        {
          name: 'scan',
          lock_passwd: true,
          sudo: 'ALL=(ALL) NOPASSWD:ALL',
          ssh_authorized_keys: [setup.publicKey],
        },
      ],
      ssh_pwauth: false,
      ssh_deletekeys: true,
      ssh_keys: { ed25519_private: hostKey.privateKey, ed25519_public: hostKey.publicKey },
      packages: ['bind9-dnsutils', 'nmap'],
    })
  })

  test('enables root logins, and creates no other user, when runs execute as root', () => {
    const data = parse(renderUserData({ ...setup, user: 'root' }))
    expect(data).toMatchObject({ disable_root: false, users: [{ name: 'root' }] })
    expect(data.users[0]).not.toHaveProperty('sudo')
  })

  test("contains the operator's commands unchanged, in a script that stops at the first failure", () => {
    const { write_files: files, runcmd } = parse(renderUserData(setup))
    const content: string = files[0].content
    expect(content.startsWith('#!/bin/sh\nset -e\n')).toBe(true)
    expect(content.endsWith(`\n${setup.commands.join('\n')}\n`)).toBe(true)
    expect(runcmd).toEqual([[files[1].path]])
  })

  test('quotes the work folder and its user', () => {
    const { write_files: files } = parse(renderUserData({ ...setup, workFolder: "/a'; rm -rf /'" }))
    expect(files[0].content).toContain(`d='/a'\\''; rm -rf /'\\'''`)
  })

  test('requests no packages when no declared tool has a known one', () => {
    expect(parse(renderUserData({ ...setup, tools: ['own-tool', 'constructor'] }))).not.toHaveProperty(
      'packages',
    )
    expect(packagesFor(['constructor', 'toString'])).toEqual([])
  })
})
