import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { makeKeyPair } from '../src/keys.ts'
import { packagesFor } from '../src/machine/packages.ts'
import { userDataOf } from '../src/machine/user-data.ts'

const hostKey = makeKeyPair('host')
const setup = {
  user: 'scan',
  publicKey: 'ssh-ed25519 AAAA key',
  hostKey,
  tools: ['nmap', 'dig', 'own-tool'],
  commands: ["echo 'it''s' \"$HOME\"", 'make me: {{happy}}'],
}

describe('User data', () => {
  test('is a #cloud-config that brings our keys, no passwords and a user with sudo', () => {
    const text = userDataOf(setup)
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

  test('opens root, where work runs as root, and makes nobody else', () => {
    const data = parse(userDataOf({ ...setup, user: 'root' }))
    expect(data).toMatchObject({ disable_root: false, users: [{ name: 'root' }] })
    expect(data.users[0]).not.toHaveProperty('sudo')
  })

  test('keeps the commands of the operator as they are, in a file that stops at the first that fails', () => {
    const { write_files: files, runcmd } = parse(userDataOf(setup))
    const content: string = files[0].content
    expect(content.startsWith('#!/bin/sh\nset -e\n')).toBe(true)
    expect(content.endsWith(`\n${setup.commands.join('\n')}\n`)).toBe(true)
    expect(runcmd).toEqual([[files[1].path]])
  })

  test('quotes the work folder and its user, whatever they hold', () => {
    const { write_files: files } = parse(userDataOf({ ...setup, workFolder: "/a'; rm -rf /'" }))
    expect(files[0].content).toContain(`d='/a'\\''; rm -rf /'\\'''`)
  })

  test('asks for no packages when no declared tool is known to have one', () => {
    expect(parse(userDataOf({ ...setup, tools: ['own-tool', 'constructor'] }))).not.toHaveProperty('packages')
    expect(packagesFor(['constructor', 'toString'])).toEqual([])
  })
})
