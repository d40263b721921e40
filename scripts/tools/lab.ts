import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  copyFileSync,
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
import { PROGRAMS, findProgram, type Program } from '../services/programs.ts'
import { SITES, type SiteName } from './sites.ts'
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

/** Each service has its own loopback address, so that findings of a host are those of one service. */
const FIRST_HOSTS = {
  careless: '127.0.40.1',
  careful: '127.0.40.2',
  app: '127.0.40.3',
  'old-tls': '127.0.40.4',
  'expired-tls': '127.0.40.5',
  'good-tls': '127.0.40.6',
  ssh: '127.0.40.7',
  ftp: '127.0.40.8',
  smtp: '127.0.40.9',
  redis: '127.0.40.10',
  'closed-redis': '127.0.40.11',
  dns: '127.0.40.12',
  silent: '127.0.40.13',
  'closed-ftp': '127.0.40.14',
  memcached: '127.0.40.15',
  'writable-ftp': '127.0.40.16',
  'closed-rsync': '127.0.40.17',
  mqtt: '127.0.40.18',
  'closed-mqtt': '127.0.40.19',
  telnet: '127.0.40.20',
} as const

export type ServiceName = keyof typeof FIRST_HOSTS | SiteName

const SITE_NAMES = Object.keys(SITES) as SiteName[]
const FIRST_SITE = 30
const HOSTS = {
  ...FIRST_HOSTS,
  ...Object.fromEntries(SITE_NAMES.map((name, index) => [name, `127.0.40.${FIRST_SITE + index}`])),
} as Readonly<Record<ServiceName, string>>

export interface Place {
  readonly host: string
  readonly port: number
}

/** Usual for another service, as that of many web applications: nmap, which does not know the application, names that one. */
const APP_PORT = 9000
/** nmap knows MQTT by its port. */
const MQTT_PORT = 1883
const FIXED_PORTS: Partial<Record<ServiceName, number>> = {
  app: APP_PORT,
  mqtt: MQTT_PORT,
  'closed-mqtt': MQTT_PORT,
}
const NETWORK = '127.0.40.0/26'
const CERTIFICATES = join(import.meta.dirname, '../../packages/cli/src/demo/certificates')
const DAYS = '30'
const PASSABLE = 0o755

/** Real servers on loopback: some with deliberate mistakes, some without. */
export class Lab implements AsyncDisposable {
  readonly network = NETWORK
  readonly places: Readonly<Record<ServiceName, Place>>
  readonly folder: string
  readonly #running = new Map<ServiceName, ChildProcess>()
  readonly #silenced: Socket[] = []
  readonly #scope = new AsyncDisposableStack()

  private constructor(places: Record<ServiceName, Place>) {
    this.places = places
    this.folder = mkdtempSync(join(tmpdir(), 'scanfarm-tools-lab-'))
    chmodSync(this.folder, PASSABLE)
    this.#scope.defer(() => rmSync(this.folder, { recursive: true, force: true }))
  }

  /** With a number, the ports are the same at each start: for reports that are compared with earlier ones. */
  static async start(firstPort?: number): Promise<Lab> {
    const places = Object.fromEntries(
      await Promise.all(
        Object.entries(HOSTS).map(async ([name, host], index) => [
          name,
          {
            host,
            port:
              FIXED_PORTS[name as ServiceName] ??
              (firstPort === undefined ? await freePort(host) : firstPort + index),
          },
        ]),
      ),
    ) as Record<ServiceName, Place>
    const lab = new Lab(places)
    try {
      lab.#writeFiles()
      for (const name of ['careless', 'careful', 'old-tls', 'expired-tls', 'good-tls', 'silent'] as const)
        lab.#startNginx(name)
      for (const name of SITE_NAMES) lab.#startNginx(name)
      lab.#startSsh()
      lab.#startFtp('ftp', 'YES')
      lab.#startFtp('closed-ftp', 'NO')
      lab.#startFtp('writable-ftp', 'YES')
      lab.#startRsync()
      lab.#startMqtt('mqtt', 'true')
      lab.#startMqtt('closed-mqtt', 'false')
      lab.#startMemcached()
      lab.#startTelnet()
      lab.#startSmtp()
      lab.#startRedis('redis')
      lab.#startRedis('closed-redis', 'a long passphrase of the lab')
      lab.#startDns()
      await lab.#startApp()
      await Promise.all(Object.keys(HOSTS).map((name) => lab.#untilOpen(name as ServiceName)))
      await lab.silence('silent')
      return lab
    } catch (error) {
      await lab[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The ports of all services, as nmap takes them. */
  get ports(): string {
    return Object.values(this.places)
      .map(({ port }) => port)
      .join(',')
  }

  address(name: ServiceName): string {
    const { host, port } = this.places[name]
    return `${host}:${port}`
  }

  url(name: ServiceName): string {
    return `${name.endsWith('tls') ? 'https' : 'http'}://${this.address(name)}`
  }

  /** Starts the service again without its mistake. */
  async fix(name: 'ftp' | 'redis'): Promise<void> {
    await this.#stop(name)
    if (name === 'ftp') this.#startFtp('ftp', 'NO')
    else this.#startRedis('redis', 'a long passphrase of the lab')
    await this.#untilOpen(name)
  }

  /**
   * The kernel accepts connections for a stopped process until its queue is full, and then ignores further ones: to
   * scanners, the port is behind a firewall.
   */
  async silence(name: ServiceName): Promise<void> {
    const child = this.#child(name)
    child.kill('SIGSTOP')
    const { host, port } = this.places[name]
    await until(async () => {
      const socket = connect({ host, port, timeout: SILENCE_MS }).on('error', () => undefined)
      const outcome = await Promise.race([
        once(socket, 'connect').then(() => 'open'),
        once(socket, 'timeout').then(() => 'silent'),
      ])
      this.#silenced.push(socket)
      return outcome === 'silent'
    })
  }

  async #startApp(): Promise<void> {
    const { host, port } = this.places.app
    const server = webApp(join(this.folder, 'pages'))
    server.listen(port, host)
    await once(server, 'listening')
    this.#scope.defer(() => {
      server.closeAllConnections()
      server.close()
    })
  }

  #startNginx(name: ServiceName): void {
    const { host, port } = this.places[name]
    const tls = TLS[name]
    const server = [
      `listen ${host}:${port}${tls ? ' ssl' : ''}${name === 'silent' ? ' backlog=1' : ''};`,
      `root ${join(this.folder, name === 'careless' || isSite(name) ? name : 'www')};`,
      ...(name === 'single-page' ? ['location / { try_files $uri /index.html; }'] : []),
      ...(name === 'careless' ? ['location /files/ { autoindex on; }'] : ['server_tokens off;', HEADERS]),
      ...(tls ? [tls, this.#certificate(name)] : []),
    ]
    const own = (part: string): string => join(this.folder, `${name}.${part}`)
    writeFileSync(
      own('conf'),
      `user root;
      pid ${own('pid')};
      error_log stderr;
      events {}
      http {
        types { text/html html; text/plain txt; }
        default_type text/plain;
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${own(kind)};`).join('\n')}
        server { ${server.join('\n')} }
      }`,
    )
    // One process: it can be stopped.
    this.#spawn(name, 'nginx', ['-g', 'daemon off; master_process off;', '-c', own('conf'), '-e', 'stderr'])
  }

  #startSsh(): void {
    const { host, port } = this.places.ssh
    const key = join(this.folder, 'host_key')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    mkdirSync('/run/sshd', { recursive: true })
    this.#configure(
      'ssh',
      'sshd',
      ['-D', '-e', '-f'],
      [
        `ListenAddress ${host}:${port}`,
        `HostKey ${key}`,
        `PidFile ${join(this.folder, 'sshd.pid')}`,
        'PasswordAuthentication no',
      ],
    )
  }

  #startFtp(name: 'ftp' | 'closed-ftp' | 'writable-ftp', anonymous: 'YES' | 'NO'): void {
    const { host, port } = this.places[name]
    this.#configure(
      name,
      'vsftpd',
      [],
      [
        'listen=YES',
        'background=NO',
        `listen_address=${host}`,
        `listen_port=${port}`,
        `anonymous_enable=${anonymous}`,
        'local_enable=YES',
        `anon_root=${join(this.folder, name === 'writable-ftp' ? 'upload' : 'pub')}`,
        `secure_chroot_dir=${join(this.folder, 'pub')}`,
        'seccomp_sandbox=NO',
      ],
    )
  }

  #startSmtp(): void {
    const { host, port } = this.places.smtp
    const spool = join(this.folder, 'spool')
    mkdirSync(spool)
    this.#configure(
      'smtp',
      'exim4',
      ['-bdf', '-C'],
      [
        'primary_hostname = mail.lab.invalid',
        `local_interfaces = <; ${host}`,
        `daemon_smtp_ports = ${port}`,
        `spool_directory = ${spool}`,
        `log_file_path = ${join(spool, '%slog')}`,
        `pid_file_path = ${join(spool, 'pid')}`,
        'exim_user = root',
        'exim_group = root',
        'never_users =',
        // Scanners open many connections at once.
        'smtp_accept_max = 0',
        'host_lookup =',
        'rfc1413_hosts =',
        'tls_advertise_hosts = *',
        `tls_certificate = ${join(CERTIFICATES, 'self-signed.crt.pem')}`,
        `tls_privatekey = ${join(CERTIFICATES, 'self-signed.key.pem')}`,
        'acl_smtp_rcpt = deny',
        'begin acl',
        'deny:',
        '  deny',
      ],
    )
  }

  #startRedis(name: 'redis' | 'closed-redis', password?: string): void {
    const { host, port } = this.places[name]
    const protection = password === undefined ? ['--protected-mode', 'no'] : ['--requirepass', password]
    this.#spawn(name, 'redis-server', [
      '--bind',
      host,
      '--port',
      String(port),
      '--save',
      '',
      '--dir',
      this.folder,
      '--tcp-backlog',
      '16',
      ...protection,
    ])
  }

  #startDns(): void {
    const { host, port } = this.places.dns
    this.#configure(
      'dns',
      'dnsmasq',
      ['-k', '-C'],
      [
        'no-resolv',
        'no-hosts',
        'bind-interfaces',
        `listen-address=${host}`,
        `port=${port}`,
        'user=root',
        `pid-file=${join(this.folder, 'dns.pid')}`,
        'address=/lab.invalid/127.0.40.1',
      ],
    )
  }

  #startRsync(): void {
    const { host, port } = this.places['closed-rsync']
    const files = join(this.folder, 'pub')
    const args = ['--daemon', '--no-detach', `--address=${host}`, `--port=${port}`, '--config']
    const lines = ['use chroot = no', '[backup]', `path = ${files}`, 'read only = yes', 'list = no']
    this.#configure('closed-rsync', 'rsync', args, lines)
  }

  #startMqtt(name: 'mqtt' | 'closed-mqtt', anonymous: 'true' | 'false'): void {
    const { host, port } = this.places[name]
    const lines = [`listener ${port} ${host}`, `allow_anonymous ${anonymous}`, 'user root']
    this.#configure(name, 'mosquitto', ['-c'], lines)
  }

  #startMemcached(): void {
    const { host, port } = this.places.memcached
    this.#spawn('memcached', 'memcached', ['-l', host, '-p', String(port), '-U', '0', '-u', 'root'])
  }

  /** Its sessions end at once. */
  #startTelnet(): void {
    this.#spawn('telnet', 'busybox', ['telnetd', '-F', '-b', this.address('telnet'), '-l', '/bin/false'])
  }

  #configure(name: ServiceName, program: string, args: readonly string[], lines: readonly string[]): void {
    const file = join(this.folder, `${name}.conf`)
    writeFileSync(file, `${lines.join('\n')}\n`)
    this.#spawn(name, program, [...args, file])
  }

  #spawn(name: ServiceName, program: string, args: readonly string[]): void {
    const log = openSync(this.#log(name), 'a')
    const child = spawn(findProgram(program) ?? program, args, { stdio: ['ignore', log, log] })
    closeSync(log)
    this.#running.set(name, child)
  }

  async #untilOpen(name: ServiceName): Promise<void> {
    const child = this.#running.get(name)
    await until(async () => {
      if (child !== undefined && child.exitCode !== null)
        throw new Error(`${name} ended: ${readFileSync(this.#log(name), 'utf8')}`)
      const socket = connect(this.places[name])
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

  #certificate(name: ServiceName): string {
    const [certificate, key] =
      name === 'expired-tls'
        ? [join(CERTIFICATES, 'expired.crt.pem'), join(CERTIFICATES, 'expired.key.pem')]
        : [join(this.folder, `${name}.crt`), join(this.folder, `${name}.key`)]
    return `ssl_certificate ${certificate}; ssl_certificate_key ${key};`
  }

  #writeFiles(): void {
    const sites = Object.entries(SITES).flatMap(([name, files]) =>
      Object.entries({ 'index.html': FILES['www/index.html'], ...files }).map(
        ([path, text]) => [`${name}/${path}`, text] as const,
      ),
    )
    for (const [path, text] of [...Object.entries(FILES), ...sites]) {
      const file = join(this.folder, path)
      mkdirSync(join(file, '..'), { recursive: true })
      writeFileSync(file, text)
    }
    mkdirSync(join(this.folder, 'pub'), { recursive: true })
    copyFileSync(join(this.folder, 'pages/welcome.txt'), join(this.folder, 'pub/welcome.txt'))
    chmodSync(join(this.folder, 'pub'), 0o555)
    mkdirSync(join(this.folder, 'upload/incoming'), { recursive: true })
    chmodSync(join(this.folder, 'upload/incoming'), 0o777)
    chmodSync(join(this.folder, 'upload'), 0o555)
    this.#makeCertificate('old-tls', 'rsa:1024', '-sha1', ['-x509', '-subj', '/CN=old.lab.invalid'])
    this.#makeAuthority()
  }

  /** The certificate of a careful server: signed by an authority, for the address that is scanned. */
  #makeAuthority(): void {
    const { host } = this.places['good-tls']
    this.#makeCertificate('authority', 'rsa:3072', '-sha256', ['-x509', '-subj', '/CN=Lab authority'])
    this.#makeCertificate('good-tls', 'rsa:3072', '-sha256', ['-subj', `/CN=${host}`])
    const at = (name: string): string => join(this.folder, name)
    writeFileSync(at('names'), `subjectAltName=IP:${host}\n`)
    openssl(
      'x509',
      '-req',
      '-in',
      at('good-tls.csr'),
      '-CA',
      at('authority.crt'),
      '-CAkey',
      at('authority.key'),
      '-CAcreateserial',
      '-sha256',
      '-days',
      DAYS,
      '-extfile',
      at('names'),
      '-out',
      at('good-tls.crt'),
    )
  }

  #makeCertificate(name: string, key: string, digest: string, how: readonly string[]): void {
    const file = join(this.folder, `${name}.${how.includes('-x509') ? 'crt' : 'csr'}`)
    openssl(
      'req',
      ...how,
      '-newkey',
      key,
      '-nodes',
      digest,
      '-days',
      DAYS,
      '-keyout',
      join(this.folder, `${name}.key`),
      '-out',
      file,
    )
  }

  #child(name: ServiceName): ChildProcess {
    const child = this.#running.get(name)
    if (!child) throw new Error(`the lab runs no process for ${name}`)
    return child
  }

  #log(name: ServiceName): string {
    return join(this.folder, `${name}.log`)
  }

  async #stop(name: ServiceName): Promise<void> {
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

const SILENCE_MS = 1_500

const isSite = (name: ServiceName): name is SiteName => name in SITES

const HEADERS = `
  add_header Content-Security-Policy "default-src 'none'; script-src 'none'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'; img-src 'self'; style-src 'none'; font-src 'none'; connect-src 'none'; media-src 'none'; frame-src 'none'; worker-src 'none'; manifest-src 'none'" always;
  add_header Strict-Transport-Security "max-age=31536000; includeSubDomains" always;
  add_header X-Content-Type-Options nosniff always;
  add_header X-Frame-Options DENY always;
  add_header X-XSS-Protection "1; mode=block" always;
  add_header Referrer-Policy no-referrer always;`

const TLS: Partial<Record<ServiceName, string>> = {
  'old-tls': 'ssl_protocols TLSv1 TLSv1.1 TLSv1.2; ssl_ciphers ALL:@SECLEVEL=0;',
  'expired-tls': 'ssl_protocols TLSv1.2 TLSv1.3;',
  'good-tls':
    'ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256; ssl_ecdh_curve X25519:prime256v1;',
}

const FILES = {
  'www/index.html': '<html><head><title>Welcome</title></head><body>Welcome</body></html>\n',
  'pages/welcome.txt': 'Welcome\n',
  'careless/index.html':
    '<html><head><title>Shop</title></head><body><a href="/login.html">login</a></body></html>\n',
  'careless/login.html': '<html><body>Login</body></html>\n',
  'careless/login.html.bak': '<html><body>Login, 2019. The password is in /backup.zip</body></html>\n',
  'careless/backup.zip': 'PK\u0003\u0004 the whole site\n',
  'careless/.env': 'DB_PASSWORD=example\n',
  'careless/.git/HEAD': 'ref: refs/heads/main\n',
  'careless/.git/description': 'Website of the shop\n',
  'careless/.git/info/exclude': '# Files that only this copy leaves out\n',
  'careless/.git/config':
    '[core]\n\trepositoryformatversion = 0\n[remote "origin"]\n\turl = https://git.lab.invalid/shop.git\n',
  'careless/files/notes.txt': 'Notes of the lab\n',
  'careless/admin/index.html': '<html><body>Administration</body></html>\n',
} as const

const openssl = (...args: string[]): void => {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

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
  for (const name of Object.keys(HOSTS) as ServiceName[])
    console.log(`${name.padEnd(14)}${lab.address(name)}`)
  console.log(`ports         ${lab.ports}\nfolder        ${lab.folder}`)
  const stopped = new Promise((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve))
  await stopped
}
