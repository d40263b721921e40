import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import type { Runner, RunnerSpec } from '@scanfarm/contracts'
import { until } from '@scanfarm/testing'
import { createSshRunners, type SshRunnersOptions } from '../src/index.ts'
import { ConnectionPool, type Session } from '../src/ssh/connection-pool.ts'
import type { Connection } from '../src/ssh/connection.ts'
import { targetOf } from '../src/ssh/target.ts'
import { startTcpProxy } from './tcp-proxy.ts'
import { TEST_MS, alive, token } from './processes.ts'
import { makeKey, startSshServer, type TestSshServer } from './ssh-server.ts'

jest.setTimeout(TEST_MS)

const exec = promisify(execFile)
const NEVER = new AbortController().signal
type SshSpec = Extract<RunnerSpec, { type: 'ssh' }>

/** Runs of the test with few sessions. */
const RUNS = 40

describe.each([1, 2])('a host that allows %i sessions on a connection', (sessions) => {
  test('executes all runs, though it frees a session some time after its end', async () => {
    await using server = await startSshServer([`MaxSessions ${sessions}`])
    const { keyFile, knownHosts, port, user, root } = server
    await using provider = createSshRunners({ keyFile, knownHosts, attempts: 1 })
    const run = async (number: number): Promise<string> => {
      const folder = await mkdtemp(join(root, 'run-'))
      const context = { runUuid: crypto.randomUUID(), attempt: 1, folder, signal: NEVER, log: () => {} }
      const marker = `sessions-${crypto.randomUUID()}`
      await using runner = await provider.open(
        { type: 'ssh', host: '127.0.0.1', port, user },
        { ...context, marker },
      )
      let said = ''
      const onOutput = (_: string, chunk: Buffer): void => void (said += chunk.toString())
      await runner.run({ argv: ['echo', String(number)], env: {} }, { signal: NEVER, onOutput })
      return said.trim()
    }
    const numbers = Array.from({ length: RUNS }, (_, number) => number)
    const left = [...numbers]
    const said: string[] = []
    const slot = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) said.push(await run(next))
    }
    await Promise.all(Array.from({ length: 8 }, slot))
    expect(said.map(Number).sort((a, b) => a - b)).toEqual(numbers)
  })
})

describe('the ssh runner', () => {
  let server: TestSshServer
  let scratch: string
  let folder: string
  let opened: AsyncDisposable[]

  beforeAll(async () => {
    server = await startSshServer()
    scratch = await mkdtemp(join(tmpdir(), 'scanfarm-ssh-'))
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    await rm(scratch, { recursive: true, force: true })
  })
  beforeEach(async () => {
    opened = []
    folder = await mkdtemp(join(server.root, 'run-'))
  })
  afterEach(async () => {
    for (const each of opened.reverse()) await each[Symbol.asyncDispose]()
  })

  async function open(spec: Partial<SshSpec> = {}, options: SshRunnersOptions = {}): Promise<Runner> {
    const { keyFile, knownHosts, port, user } = server
    const provider = createSshRunners({ keyFile, knownHosts, attempts: 1, ...options })
    opened.push(provider)
    const runner = await provider.open({ type: 'ssh', host: '127.0.0.1', port, user, ...spec }, context())
    opened.push(runner)
    return runner
  }

  const context = () => ({
    runUuid: crypto.randomUUID(),
    attempt: 1,
    folder,
    marker: `ssh-${crypto.randomUUID()}`,
    signal: NEVER,
    log: () => {},
  })

  async function text(runner: Runner, script: string, heard: () => void = () => {}) {
    let said = ''
    const onOutput = (_: string, chunk: Buffer) => {
      said += chunk.toString()
      heard()
    }
    const outcome = await runner.run({ argv: ['sh', '-c', script], env: {} }, { signal: NEVER, onOutput })
    return { outcome, said }
  }

  const hostKey = async (): Promise<string> =>
    (await readFile(server.knownHosts, 'utf8')).split(' ').slice(1, 3).join(' ')

  async function knownHostsOf(content: string): Promise<string> {
    const file = join(await mkdtemp(join(scratch, 'known-')), 'known_hosts')
    await writeFile(file, content)
    return file
  }

  describe('authenticates', () => {
    test('with a key, and reports the key of the host', async () => {
      const runner = await open()
      expect((await text(runner, 'id -un')).said).toBe(`${server.user}\n`)
      expect(runner.facts).toEqual({
        host: `${server.user}@127.0.0.1:${server.port}`,
        host_key: expect.stringMatching(/^SHA256:/),
      })
    })

    test('with a password', async () => {
      const runner = await open({ password: server.password }, { keyFile: undefined })
      expect((await text(runner, 'id -un')).said).toBe(`${server.user}\n`)
    })

    test('with an agent', async () => {
      const socket = join(scratch, 'agent')
      const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'inherit'] })
      await once(agent.stdout, 'data')
      await exec('ssh-add', ['-q', server.keyFile], { env: { ...process.env, SSH_AUTH_SOCK: socket } })
      const runner = await open({}, { keyFile: undefined, agent: socket })
      expect((await text(runner, 'id -un')).said).toBe(`${server.user}\n`)
      agent.kill()
      await once(agent, 'exit')
    })

    test('through a jump host', async () => {
      await using second = await startSshServer()
      const knownHosts = await knownHostsOf(
        (await readFile(server.knownHosts, 'utf8')) + (await readFile(second.knownHosts, 'utf8')),
      )
      await copyFile(second.keyFile, join(scratch, 'second'))
      folder = second.root
      // Both servers take the same key: the second one's is added to the first.
      const authorized = join(server.root, '..', 'authorized_keys')
      await writeFile(
        authorized,
        (await readFile(authorized, 'utf8')) + (await readFile(`${second.keyFile}.pub`, 'utf8')),
      )
      const jump = `${server.user}@127.0.0.1:${server.port}`
      const runner = await open({ port: second.port, jump, keyFile: second.keyFile, knownHosts })
      expect((await text(runner, 'echo $SSH_CONNECTION')).said).toMatch(new RegExp(` ${second.port}\n$`))
      for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]()
    })

    test('or reports which credentials it tried', async () => {
      const keyFile = join(scratch, 'other_key')
      await makeKey(keyFile)
      await expect(open({ keyFile })).rejects.toMatchObject({
        name: 'RunnerUnavailableError',
        message: expect.stringContaining(`refuses ${server.user} with the key ${keyFile}`),
      })
      await expect(open({ keyFile: '/no/key' })).rejects.toThrow('the private key /no/key cannot be read')
    })
  })

  describe('trusts a host', () => {
    test('only if its key is known, and explains how to add the key', async () => {
      const knownHosts = await knownHostsOf('')
      await expect(open({ knownHosts })).rejects.toMatchObject({
        name: 'RunnerUnavailableError',
        message: expect.stringMatching(
          /is not known: it shows ssh-ed25519 SHA256:.*ssh-keyscan -p \d+ 127.0.0.1 >> /,
        ),
      })
    })

    test('on first use if that is allowed, and stores its key', async () => {
      const knownHosts = await knownHostsOf('')
      await open({ knownHosts, hostKeys: 'accept-new' })
      expect(await readFile(knownHosts, 'utf8')).toBe(`[127.0.0.1]:${server.port} ${await hostKey()}\n`)
      await open({ knownHosts })
    })

    test.each(['strict', 'accept-new'] as const)(
      'never if it shows another key than the known one (%s)',
      async (hostKeys) => {
        const other = join(scratch, `host-${hostKeys}`)
        await makeKey(other)
        const knownHosts = await knownHostsOf(
          `[127.0.0.1]:${server.port} ${await readFile(`${other}.pub`, 'utf8')}`,
        )
        await expect(open({ knownHosts, hostKeys })).rejects.toThrow('shows another key than')
      },
    )

    test('that is listed under a hashed name or a pattern, unless the key is revoked', async () => {
      const key = await hostKey()
      const hashed = await knownHostsOf(`[127.0.0.1]:${server.port} ${key}\n`)
      await exec('ssh-keygen', ['-q', '-H', '-f', hashed])
      expect(await readFile(hashed, 'utf8')).toMatch(/^\|1\|/)
      await open({ knownHosts: hashed })
      await open({ knownHosts: await knownHostsOf(`# list\n[127.0.0.?]:*,!other ${key}\n`) })
      const revoked = await knownHostsOf(`[127.0.0.1]:* ${key}\n@revoked * ${key}\n`)
      await expect(open({ knownHosts: revoked })).rejects.toThrow('revoked')
    })
  })

  test('names a host that cannot be reached after some attempts', async () => {
    await expect(open({ port: 1 }, { attempts: 2 })).rejects.toMatchObject({
      name: 'RunnerUnavailableError',
      message: expect.stringContaining('127.0.0.1:1 cannot be reached: connect ECONNREFUSED'),
    })
  })

  test('reports that the folder of the run cannot be created on the host', async () => {
    const runner = await open()
    await text(runner, `touch ${server.root}/closed`)
    folder = join(server.root, 'closed', 'run')
    await mkdir(folder, { recursive: true })
    await expect(open()).rejects.toMatchObject({
      name: 'RunnerUnavailableError',
      message: expect.stringContaining(
        `the run's folder ${folder} cannot be created on the ssh host ${server.user}@127.0.0.1:${server.port} by SFTP (`,
      ),
    })
  })

  test('removes the folder that it created on the host', async () => {
    const runner = await open()
    await text(runner, 'echo secret >file')
    const second = await open({ workdir: '/' })
    expect((await text(second, `cat ${folder}/file`)).said).toBe('secret\n')
    await runner[Symbol.asyncDispose]()
    expect((await text(second, `ls ${folder}`)).said).toMatch(/No such file/)
  })

  test('detects that host and worker share their files, and copies nothing', async () => {
    folder = await mkdtemp(join('/dev/shm', 'scanfarm-shared-'))
    await exec('chown', ['60123', folder])
    await writeFile(join(folder, 'file'), 'same')
    const runner = await open()
    expect(runner.sharesFiles).toBe(true)
    await runner.push(join(folder, 'file'), NEVER)
    await runner[Symbol.asyncDispose]()
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('same')
    await rm(folder, { recursive: true })
  })

  test('copies no file to a path outside the folder of the run', async () => {
    const runner = await open()
    await text(runner, 'mkdir out; echo x >out/file; ln -s /etc out/etc; ln -s / up')
    await runner.pull(join(folder, 'out'), NEVER)
    expect((await readdir(join(folder, 'out'))).sort()).toEqual(['file'])
    await expect(runner.pull('/etc/passwd', NEVER)).rejects.toThrow('is outside of')
    await expect(runner.pull(join(folder, 'missing'), NEVER)).rejects.toThrow(
      `${folder}/missing cannot be copied from the ssh host ${server.user}@127.0.0.1:${server.port} by SFTP (it does not exist there)`,
    )
  })

  test('reports a command as lost within the keep-alive limit after the host vanished, and reconnects for the next one', async () => {
    const word = token()
    await using proxy = await startTcpProxy(server.port)
    const knownHosts = await knownHostsOf(`[127.0.0.1]:${proxy.port} ${await hostKey()}`)
    const runner = await open(
      { port: proxy.port, knownHosts },
      // A busy machine may not schedule the host for three seconds.
      { keepAlive: { intervalMs: 300, count: 10 }, attempts: 5 },
    )
    const lost = text(runner, `exec sleep ${word}`)
    await until(() => alive(word).length > 0)
    const [asleep] = alive(word)
    proxy.freeze()
    const frozenAt = Date.now()
    expect((await lost).outcome).toEqual({
      kind: 'lost',
      reason: expect.stringMatching(/connection was lost: Keepalive/i),
    })
    // The default keep-alive takes longer.
    expect(Date.now() - frozenAt).toBeLessThan(30_000)
    proxy.thaw()
    // The host detects the loss, and kills the lost command, after the next command has started.
    const untilGone = `while [ -n "$(tr -d '\\0' </proc/${asleep}/cmdline)" ]; do :; done 2>/dev/null`
    const next = text(runner, `echo begun; ${untilGone}; echo back`, () => proxy.closeFrozen())
    expect(await next).toEqual({ outcome: { kind: 'exited', code: 0 }, said: 'begun\nback\n' })
    await until(() => alive(word).length === 0)
    for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]()
  })

  test('leaves no shell behind when concurrent commands reconnect, and closes their connection with the run', async () => {
    await using proxy = await startTcpProxy(server.port)
    const knownHosts = await knownHostsOf(`[127.0.0.1]:${proxy.port} ${await hostKey()}`)
    const runner = await open({ port: proxy.port, knownHosts }, { idleMs: 1 })
    const lost = await runner.run(
      { argv: ['sh', '-c', 'echo begun; sleep 300'], env: {} },
      { signal: NEVER, onOutput: () => proxy.repair() },
    )
    expect(lost.kind).toBe('lost')
    const texts = await Promise.all([1, 2, 3].map(async (n) => (await text(runner, `echo ${n}`)).said))
    expect(texts).toEqual(['1\n', '2\n', '3\n'])
    await runner[Symbol.asyncDispose]()
    await until(() => proxy.connections === 0)
  })

  test('ends the processes on the host when the worker is killed', async () => {
    const [word, orphan] = [token(), token()]
    const program = fileURLToPath(new URL('./killed-worker.ts', import.meta.url))
    const script = `setsid sleep ${orphan} & sleep ${word}; true`
    const { port, user, keyFile, knownHosts } = server
    const spec = JSON.stringify({ type: 'ssh', host: '127.0.0.1', port, user })
    const worker = spawn(
      process.execPath,
      [program, JSON.stringify({ ssh: { keyFile, knownHosts } }), spec, folder, script],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    await until(() => alive(word).length > 0 && alive(orphan).length > 0)
    worker.kill('SIGKILL')
    await once(worker, 'exit')
    await until(() => alive(word).length + alive(orphan).length === 0)
  })

  test('runs more concurrent commands than one connection allows, and keeps their output apart', async () => {
    const runner = await open()
    const said = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => (await text(runner, `sleep 0.2; echo ${n}`)).said),
    )
    expect(said).toEqual(Array.from({ length: 30 }, (_, n) => `${n}\n`))
  })

  test('reports what a cancelled run killed, and keeps the connection for other runs', async () => {
    const { keyFile, knownHosts, port, user } = server
    const provider = createSshRunners({ keyFile, knownHosts })
    opened.push(provider)
    const spec: SshSpec = { type: 'ssh', host: '127.0.0.1', port, user }
    const cancel = new AbortController()
    const first = await provider.open(spec, { ...context(), signal: cancel.signal })
    const second = await provider.open(spec, context())
    opened.push(first, second)
    const started = Promise.withResolvers<void>()
    const other = second.run(
      { argv: ['sh', '-c', 'echo begun; sleep 1'], env: {} },
      { signal: NEVER, onOutput: () => started.resolve() },
    )
    await started.promise
    const sleeps = first.run(
      { argv: ['sleep', '300'], env: {} },
      { signal: cancel.signal, onStart: () => cancel.abort() },
    )
    expect(await sleeps).toMatchObject({ kind: 'cancelled', killed: [expect.any(Number)] })
    expect(await other).toEqual({ kind: 'exited', code: 0 })
  })

  test('cancels a run that connects without failing the runs that wait for its connection', async () => {
    await using proxy = await startTcpProxy(server.port)
    const knownHosts = await knownHostsOf(`[127.0.0.1]:${proxy.port} ${await hostKey()}`)
    const provider = createSshRunners({ keyFile: server.keyFile, knownHosts })
    const spec: SshSpec = { type: 'ssh', host: '127.0.0.1', port: proxy.port, user: server.user }
    const cancel = new AbortController()
    proxy.freeze()
    const first = provider.open(spec, { ...context(), signal: cancel.signal })
    first.catch(() => {})
    await until(() => proxy.connections > 0)
    const second = provider.open(spec, context())
    second.catch(() => {})
    cancel.abort()
    proxy.repair()
    await expect(first).rejects.toThrow(/abort/i)
    const runner = await second
    expect((await text(runner, 'echo here')).said).toBe('here\n')
    await runner[Symbol.asyncDispose]()
    await provider[Symbol.asyncDispose]()
  })

  test('cancels at once a run that waits for the connection of another one', async () => {
    await using proxy = await startTcpProxy(server.port)
    const knownHosts = await knownHostsOf(`[127.0.0.1]:${proxy.port} ${await hostKey()}`)
    const spec: SshSpec = { type: 'ssh', host: '127.0.0.1', port: proxy.port, user: server.user }
    const target = await targetOf(spec, { keyFile: server.keyFile, knownHosts })
    const keepAlive = { intervalMs: 10_000, count: 3 }
    const host = new ConnectionPool(target, { keepAlive, timeoutMs: TEST_MS, attempts: 1, idleMs: 1_000 })
    proxy.freeze()
    const open = (signal: AbortSignal) => host.open(async (connection) => connection, signal)
    const [connects, waits] = [new AbortController(), new AbortController()]
    const first = open(connects.signal)
    const second = open(waits.signal)
    waits.abort()
    await expect(second).rejects.toThrow(/abort/i)
    connects.abort()
    await expect(first).rejects.toThrow(/abort/i)
    await host.close()
  })

  test('opens no more connections than its limit, also for callers at the same time', async () => {
    await using proxy = await startTcpProxy(server.port)
    const knownHosts = await knownHostsOf(`[127.0.0.1]:${proxy.port} ${await hostKey()}`)
    const spec: SshSpec = { type: 'ssh', host: '127.0.0.1', port: proxy.port, user: server.user }
    const target = await targetOf(spec, { keyFile: server.keyFile, knownHosts })
    const keepAlive = { intervalMs: 10_000, count: 3 }
    const limits = { keepAlive, timeoutMs: TEST_MS, attempts: 1, idleMs: TEST_MS, connections: 2 }
    const host = new ConnectionPool(target, limits)
    const held: Session<Connection>[] = []
    const callers = Array.from({ length: 20 }, async () => {
      held.push(await host.open(async (connection) => connection, NEVER))
    })
    // Each connection has eight sessions; the other callers wait for one of them.
    await until(async () => held.length === 16)
    expect(proxy.connections).toBe(2)
    for (const session of held.splice(0)) session.release()
    await Promise.all(callers)
    expect(held).toHaveLength(4)
    expect(proxy.connections).toBe(2)
    await host.close()
  })

  test('shares a connection among runs', async () => {
    const provider = createSshRunners({ keyFile: server.keyFile, knownHosts: server.knownHosts })
    opened.push(provider)
    const spec: SshSpec = { type: 'ssh', host: '127.0.0.1', port: server.port, user: server.user }
    const both = [await provider.open(spec, context()), await provider.open(spec, context())]
    opened.push(...both)
    const said = await Promise.all(
      both.map(async (runner) => (await text(runner, 'echo $SSH_CONNECTION')).said),
    )
    expect(said[0]).toBe(said[1])
  })
})
