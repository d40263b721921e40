import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { createServer as createHttp, type RequestListener } from 'node:http'
import { createServer as createTcp, type Server } from 'node:net'
import { createServer as createTls } from 'node:tls'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'

/** Addresses of the lab. Behind `GONE` there is no host, and `REFUSING` has no open port. */
export const HOST = '198.51.100.1'
export const OTHER = '198.51.100.2'
export const REFUSING = '198.51.100.3'
export const GONE = '198.51.100.99'
export const NO_NAME = 'no-such-host.test'
export const PORTS = { http: 80, tls: 443, redirects: 81, slow: 82, silent: 83 } as const

const SLOW_MS = 250
const POLL_MS = 20
const DNS_PORT = 53
const NAME_AT = 12
const NXDOMAIN = 0x81_83

/** When something arrived, in milliseconds. */
export class Counts {
  connections: number[] = []
  requests: number[] = []
  other = 0
  names = new Set<string>()

  clear(): void {
    this.connections = []
    this.requests = []
    this.other = 0
    this.names = new Set()
  }
}

/** The most in any second. */
export const worstSecond = (times: readonly number[]): number =>
  Math.max(0, ...times.map((begin) => times.filter((time) => time >= begin && time < begin + 1_000).length))

const nameIn = (query: Buffer): string => {
  const labels: string[] = []
  for (let at = NAME_AT; (query[at] ?? 0) > 0; at += (query[at] ?? 0) + 1)
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  return labels.join('.').toLowerCase()
}

const ip = (...args: readonly string[]): void => void execFileSync('ip', args)

/** A network with one machine for the tool, and servers that count. This process must be in a namespace that it may change. */
export class FactsLab implements AsyncDisposable {
  readonly counts = new Counts()
  readonly folder = mkdtempSync(join(tmpdir(), 'scanfarm-facts-'))
  readonly #machine: ChildProcess
  readonly #servers: Server[] = []

  private constructor() {
    ip('link', 'set', 'lo', 'up')
    this.#machine = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' })
  }

  static async start(): Promise<FactsLab> {
    const lab = new FactsLab()
    await lab.#connect()
    await lab.#serve()
    return lab
  }

  /** Starts a program on the machine of the tool, in a new session. */
  spawn(program: string, args: readonly string[]): ChildProcess {
    return spawn('nsenter', [`--net=/proc/${this.#machine.pid}/ns/net`, program, ...args], {
      cwd: this.folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, HOME: this.folder, LC_ALL: 'C' },
    })
  }

  /** TCP segments that arrived. */
  segments(): number {
    const [names = '', values = ''] = readFileSync('/proc/self/net/snmp', 'utf8').match(/^Tcp:.*$/gm) ?? []
    return Number(values.split(' ')[names.split(' ').indexOf('InSegs')])
  }

  async #connect(): Promise<void> {
    const net = `/proc/${this.#machine.pid}/ns/net`
    const own = readlinkSync('/proc/self/ns/net')
    while (readlinkSync(net) === own) await after(POLL_MS)
    ip('link', 'add', 'lab', 'type', 'veth', 'peer', 'name', 'tool', 'netns', String(this.#machine.pid))
    for (const address of [HOST, OTHER, REFUSING]) ip('address', 'add', `${address}/24`, 'dev', 'lab')
    ip('link', 'set', 'lab', 'up')
    const inside = (...args: readonly string[]) => execFileSync('nsenter', [`--net=${net}`, 'ip', ...args])
    inside('link', 'set', 'lo', 'up')
    inside('address', 'add', '198.51.100.100/24', 'dev', 'tool')
    inside('link', 'set', 'tool', 'up')
    inside('route', 'add', 'default', 'via', HOST)
    writeFileSync(join(this.folder, 'resolv.conf'), `nameserver ${HOST}\noptions timeout:1 attempts:1\n`)
    execFileSync('mount', ['--bind', join(this.folder, 'resolv.conf'), '/etc/resolv.conf'])
  }

  async #listen(server: Server, host: string, port: number): Promise<void> {
    if (host === HOST) server.on('connection', () => this.counts.connections.push(Date.now()))
    else server.on('connection', () => (this.counts.other += 1))
    server.listen(port, host)
    await once(server, 'listening')
    this.#servers.push(server)
  }

  async #serve(): Promise<void> {
    const pages =
      (delay: number): RequestListener =>
      ({ url }, response) => {
        this.counts.requests.push(Date.now())
        const links = Array.from({ length: 50 }, (_, index) => `<a href="/p${index}?a=${index}">p</a>`)
        setTimeout(() => {
          response.writeHead(url === '/' || url?.startsWith('/p') ? 200 : 404, {
            'content-type': 'text/html',
          })
          response.end(`<title>lab</title>${links.join('')}`)
        }, delay)
      }
    const key = ['-keyout', 'key.pem', '-out', 'cert.pem', '-subj', '/CN=lab.test', '-days', '9', '-nodes']
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...key], {
      cwd: this.folder,
      stdio: 'ignore',
    })
    const [cert, secret] = ['cert.pem', 'key.pem'].map((name) => readFileSync(join(this.folder, name)))
    const redirect: RequestListener = (_, response) =>
      void response.writeHead(302, { location: `http://${OTHER}/` }).end()
    const tls = createTls({ cert, key: secret }, (socket) => socket.end())
    tls.on('tlsClientError', () => undefined)
    await this.#listen(createHttp(pages(0)), HOST, PORTS.http)
    await this.#listen(tls, HOST, PORTS.tls)
    await this.#listen(createHttp(redirect), HOST, PORTS.redirects)
    await this.#listen(createHttp(pages(SLOW_MS)), HOST, PORTS.slow)
    await this.#listen(
      createTcp((socket) => socket.on('error', () => socket.destroy())),
      HOST,
      PORTS.silent,
    )
    await this.#listen(createHttp(pages(0)), OTHER, PORTS.http)
    const dns = createSocket('udp4')
    dns.on('message', (query, { port, address }) => {
      this.counts.names.add(nameIn(query))
      query.writeUInt16BE(NXDOMAIN, 2)
      dns.send(query, port, address)
    })
    dns.bind(DNS_PORT, HOST).unref()
    await once(dns, 'listening')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#machine.kill('SIGKILL')
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}
