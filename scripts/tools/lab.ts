import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@scanfarm/testing'
import { parse } from 'yaml'
import { PROGRAMS, findProgram, type Program } from '../services/programs.ts'
import { webApp } from './web-app.ts'

/** The programs that the lab starts. */
export const LAB_PROGRAMS = [
  { name: 'nginx', debianPackage: 'nginx-light' },
  { name: 'vsftpd', debianPackage: 'vsftpd' },
  { name: 'exim4', debianPackage: 'exim4-daemon-light' },
  { name: 'dnsmasq', debianPackage: 'dnsmasq-base' },
  { name: 'memcached', debianPackage: 'memcached' },
  { name: 'mosquitto', debianPackage: 'mosquitto' },
  { name: 'rsync', debianPackage: 'rsync' },
  { name: 'busybox', debianPackage: 'busybox' },
  PROGRAMS.redis,
  PROGRAMS.sshd,
  PROGRAMS.openssl,
] as const satisfies readonly Program[]

interface Start {
  readonly run?: string
  readonly config?: string
  readonly nginx?: string
}
interface Service extends Start {
  readonly address: number
  readonly port?: number
  readonly fixed?: Start
  readonly finds?: Readonly<Record<string, readonly (string | Readonly<Record<string, string>>)[]>>
}

const { headers, services, files } = parse(readFileSync(join(import.meta.dirname, 'lab.yaml'), 'utf8')) as {
  readonly headers: string
  readonly services: Readonly<Record<string, Service>>
  readonly files: Readonly<Record<string, string>>
}

/** Something in the lab that a tool must find. */
export interface Planted {
  readonly tool: string
  readonly service: string
  readonly key: string
  readonly severity?: string
}

export const PLANTED: readonly Planted[] = Object.entries(services).flatMap(([service, { finds = {} }]) =>
  Object.entries(finds).flatMap(([tool, keys]) =>
    keys.flatMap((one): Planted[] =>
      typeof one === 'string'
        ? [{ tool, service, key: one }]
        : Object.entries(one).map(([key, severity]) => ({ tool, service, key, severity })),
    ),
  ),
)
const found = [...new Set(PLANTED.map(({ service }) => service))]
const isWeak = (name: string): boolean =>
  PLANTED.some(({ service, severity }) => service === name && severity !== undefined)
/** Services with a weakness, and those on which none may be found. */
export const WEAK = found.filter(isWeak)
export const CLEAN = found.filter((name) => !isWeak(name))

const NETWORK = '127.0.40.0/26'
const CERTIFICATES = join(import.meta.dirname, '../../packages/cli/src/demo/certificates')
const PASSABLE = 0o755
const SILENCE_MS = 1_500

interface Place {
  readonly host: string
  readonly port: number
}

/** Real servers on loopback: some with deliberate mistakes, some without. */
export class Lab implements AsyncDisposable {
  readonly network = NETWORK
  readonly places: ReadonlyMap<string, Place>
  readonly folder: string
  readonly #running = new Map<string, ChildProcess>()
  readonly #silenced: Socket[] = []
  readonly #scope = new AsyncDisposableStack()

  private constructor(places: ReadonlyMap<string, Place>) {
    this.places = places
    this.folder = mkdtempSync(join(tmpdir(), 'scanfarm-tools-lab-'))
    chmodSync(this.folder, PASSABLE)
    this.#scope.defer(() => rmSync(this.folder, { recursive: true, force: true }))
  }

  /** With a number, the ports are the same at each start: for reports that are compared with earlier ones. */
  static async start(firstPort?: number): Promise<Lab> {
    const places = new Map<string, Place>()
    for (const [index, [name, { address, port }]] of Object.entries(services).entries()) {
      const host = `127.0.40.${address}`
      const free = firstPort === undefined ? await freePort(host) : firstPort + index
      places.set(name, { host, port: port ?? free })
    }
    const lab = new Lab(places)
    try {
      lab.#writeFiles()
      for (const [name, service] of Object.entries(services)) lab.#start(name, service)
      await lab.#startApp()
      await Promise.all([...places.keys()].map((name) => lab.#untilOpen(name)))
      await lab.silence('silent')
      return lab
    } catch (error) {
      await lab[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The ports of all services, as nmap takes them. */
  get ports(): string {
    return [...this.places.values()].map(({ port }) => port).join(',')
  }

  place(name: string): Place {
    const place = this.places.get(name)
    if (place === undefined) throw new Error(`the lab has no service ${name}`)
    return place
  }

  address(name: string): string {
    const { host, port } = this.place(name)
    return `${host}:${port}`
  }

  url(name: string): string {
    return `${name.endsWith('tls') ? 'https' : 'http'}://${this.address(name)}`
  }

  /** Starts the service again, with its mistake or without. */
  async restart(name: string, { fixed }: { fixed: boolean }): Promise<void> {
    await this.#stop(name)
    const service = services[name]
    this.#start(name, (fixed ? service?.fixed : service) ?? {})
    await this.#untilOpen(name)
  }

  /**
   * The kernel accepts connections for a stopped process until its queue is full, and then ignores further ones: to
   * scanners, the port is behind a firewall.
   */
  async silence(name: string): Promise<void> {
    this.#child(name).kill('SIGSTOP')
    await until(async () => {
      const socket = connect({ ...this.place(name), timeout: SILENCE_MS }).on('error', () => undefined)
      const outcome = await Promise.race([
        once(socket, 'connect').then(() => 'open'),
        once(socket, 'timeout').then(() => 'silent'),
      ])
      this.#silenced.push(socket)
      return outcome === 'silent'
    })
  }

  async #startApp(): Promise<void> {
    const { host, port } = this.place('app')
    const server = webApp(join(this.folder, 'pages'))
    server.listen(port, host)
    await once(server, 'listening')
    this.#scope.defer(() => {
      server.closeAllConnections()
      server.close()
    })
  }

  #start(name: string, { run, config, nginx }: Start): void {
    const own = (part: string): string => join(this.folder, `${name}.${part}`)
    const values: Record<string, string> = { ...this.#values(name), config: own('conf') }
    const fill = (text: string): string =>
      text.replaceAll(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole)
    if (nginx !== undefined) {
      writeFileSync(own('conf'), nginxConfig(own, fill(nginx)))
      // One process: it can be stopped.
      const args = ['-g', 'daemon off; master_process off;', '-c', own('conf'), '-e', 'stderr']
      this.#spawn(name, 'nginx', args)
    }
    if (config !== undefined) writeFileSync(own('conf'), fill(config))
    const [program, ...args] = run?.split(' ') ?? []
    if (program !== undefined) this.#spawn(name, program, args.map(fill))
  }

  #values(name: string): Record<string, string> {
    const { host, port } = this.place(name)
    return { name, host, port: String(port), folder: this.folder, certificates: CERTIFICATES, headers }
  }

  #spawn(name: string, program: string, args: readonly string[]): void {
    const log = openSync(this.#log(name), 'a')
    const child = spawn(findProgram(program) ?? program, args, { stdio: ['ignore', log, log] })
    closeSync(log)
    this.#running.set(name, child)
  }

  async #untilOpen(name: string): Promise<void> {
    const child = this.#running.get(name)
    await until(async () => {
      if (child !== undefined && child.exitCode !== null)
        throw new Error(`${name} ended: ${readFileSync(this.#log(name), 'utf8')}`)
      const socket = connect(this.place(name))
      try {
        await once(socket, 'connect')
        return true
      } catch {
        return false
      } finally {
        socket.destroy()
      }
    })
  }

  #writeFiles(): void {
    const pages = Object.keys(services).map((name) => [`${name}/index.html`, files['www/index.html']])
    for (const [path = '', text = ''] of [...pages, ...Object.entries(files)]) {
      const file = join(this.folder, path)
      mkdirSync(join(file, '..'), { recursive: true })
      writeFileSync(file, text)
    }
    mkdirSync(join(this.folder, 'spool'))
    mkdirSync(join(this.folder, 'upload/incoming'), { recursive: true })
    chmodSync(join(this.folder, 'upload/incoming'), 0o777)
    chmodSync(join(this.folder, 'upload'), 0o555)
    chmodSync(join(this.folder, 'pub'), 0o555)
    mkdirSync('/run/sshd', { recursive: true })
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(this.folder, 'host_key')])
    // The certificate of a careful server: signed by an authority, for the address that is scanned.
    const { host } = this.place('good-tls')
    writeFileSync(join(this.folder, 'names'), `subjectAltName=IP:${host}\n`)
    for (const command of [
      'req -x509 -subj /CN=old.lab.invalid -newkey rsa:1024 -sha1 -keyout old-tls.key -out old-tls.crt',
      'req -x509 -subj /CN=authority -newkey rsa:3072 -sha256 -keyout authority.key -out authority.crt',
      `req -subj /CN=${host} -newkey rsa:3072 -sha256 -keyout good-tls.key -out good-tls.csr`,
    ])
      this.#openssl(`${command} -nodes -days 30`)
    const signer = '-CA authority.crt -CAkey authority.key -CAcreateserial -sha256 -days 30'
    this.#openssl(`x509 -req -in good-tls.csr ${signer} -extfile names -out good-tls.crt`)
  }

  #openssl(args: string): void {
    execFileSync('openssl', args.split(' '), { cwd: this.folder, stdio: ['ignore', 'ignore', 'pipe'] })
  }

  #child(name: string): ChildProcess {
    const child = this.#running.get(name)
    if (!child) throw new Error(`the lab runs no process for ${name}`)
    return child
  }

  #log(name: string): string {
    return join(this.folder, `${name}.log`)
  }

  async #stop(name: string): Promise<void> {
    const child = this.#child(name)
    this.#running.delete(name)
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#silenced) socket.destroy()
    await Promise.all([...this.#running.keys()].map((name) => this.#stop(name)))
    await this.#scope.disposeAsync()
  }
}

const nginxConfig = (own: (part: string) => string, server: string): string => `user root;
pid ${own('pid')};
error_log stderr;
events {}
http {
  types { text/html html; text/plain txt; }
  default_type text/plain;
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${own(kind)};`).join('\n  ')}
  server { ${server} }
}
`

const freePort = async (host: string): Promise<number> => {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no TCP address')
  return address.port
}

if (import.meta.main) {
  await using lab = await Lab.start(Number(process.argv[2]) || undefined)
  for (const name of lab.places.keys()) console.log(`${name.padEnd(14)}${lab.address(name)}`)
  console.log(`ports         ${lab.ports}\nfolder        ${lab.folder}`)
  await new Promise((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve))
}
