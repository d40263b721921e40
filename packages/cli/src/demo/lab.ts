import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'

/** `finds`: titles that must be in the report, with or without others; `open: false`: nothing listens there. */
export interface LabTarget {
  target: string
  what: string
  open: boolean
  finds: string[]
}

const SAFE_HEADERS = {
  'content-security-policy': "default-src 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
const HEADERS_MISSING = 'Security headers are missing'

const page =
  (pages: Record<string, string>, headers: Record<string, string> = {}): RequestListener =>
  (request, response) => {
    const body = pages[request.url ?? '/']
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/plain', ...headers })
    response.end(body ?? 'not found\n')
  }

const certificate = (name: string) => ({
  key: readFileSync(join(import.meta.dirname, 'certificates', `${name}.key.pem`)),
  cert: readFileSync(join(import.meta.dirname, 'certificates', `${name}.crt.pem`)),
})

const web = (pages: Record<string, string>, headers?: Record<string, string>) =>
  createHttpServer(page({ '/': 'welcome\n', ...pages }, headers))

const tls = (name: string, headers?: Record<string, string>) =>
  createHttpsServer(certificate(name), page({ '/': 'welcome\n' }, headers))

const banner = (text: string): Server =>
  createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.end(`${text}\r\n`)
  })

interface Service {
  what: string
  finds: string[]
  server: Server
}

const ENV_FILE = 'DB_PASSWORD=example\n'
const GIT_CONFIG = '[core]\n\trepositoryformatversion = 0\n'
const LISTING = '<h1>Index of /files/</h1>\n'

const services = (): Service[] => [
  {
    what: 'web server with everything wrong',
    server: web(
      { '/.env': ENV_FILE, '/.git/config': GIT_CONFIG, '/admin/': 'users\n', '/files/': LISTING },
      { server: 'nginx/1.14.0' },
    ),
    finds: [
      'Environment file is served',
      'Git repository is served',
      'Administration page without a login',
      'Directory listing',
      'Server names its release',
      HEADERS_MISSING,
    ],
  },
  { what: 'web server with nothing wrong', server: web({}, SAFE_HEADERS), finds: ['HTTP service'] },
  {
    what: 'web server that lists a folder',
    server: web({ '/files/': LISTING }),
    finds: ['Directory listing'],
  },
  {
    what: 'web server with an open repository',
    server: web({ '/.git/config': GIT_CONFIG }),
    finds: ['Git repository is served'],
  },
  {
    what: 'web server with open settings',
    server: web({ '/.env': ENV_FILE }),
    finds: ['Environment file is served'],
  },
  {
    what: 'web server with an open admin page',
    server: web({ '/admin/': 'users\n' }),
    finds: ['Administration page without a login'],
  },
  {
    what: 'web server that talks too much',
    server: web({}, { server: 'Apache/2.2.8' }),
    finds: ['Server names its release'],
  },
  { what: 'web server without safe headers', server: web({}), finds: [HEADERS_MISSING] },
  {
    what: 'TLS with an expired certificate',
    server: tls('expired', SAFE_HEADERS),
    finds: ['TLS certificate has expired'],
  },
  {
    what: 'TLS with a self-signed certificate',
    server: tls('self-signed'),
    finds: ['TLS certificate is self-signed', HEADERS_MISSING],
  },
  {
    what: 'old ssh server',
    server: banner('SSH-2.0-OpenSSH_7.2p2 Ubuntu-4ubuntu2.8'),
    finds: ['OpenSSH release without security support'],
  },
  { what: 'ssh server', server: banner('SSH-2.0-OpenSSH_9.9'), finds: ['SSH service'] },
  {
    what: 'FTP server with a backdoor',
    server: banner('220 (vsFTPd 2.3.4)'),
    finds: ['FTP server release with a known backdoor'],
  },
  {
    what: 'FTP server',
    server: banner('220 ProFTPD FTP Server ready'),
    finds: ['FTP service without encryption'],
  },
  { what: 'mail server', server: banner('220 mail.demo.invalid ESMTP'), finds: ['SMTP service'] },
  { what: 'service nobody knows', server: banner('HELLO 1.0'), finds: ['Service with a banner'] },
]

const CLOSED = 4

const listen = (server: Server, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, () => {
      const address = server.address()
      if (address === null || typeof address === 'string') reject(new Error('no TCP address'))
      else resolve(address.port)
    })
  })

/** Linux answers on all of 127.0.0.0/8, other systems only on 127.0.0.1. */
const hostFor = (index: number): string =>
  process.platform === 'linux' ? `127.0.0.${10 + index}` : '127.0.0.1'

export async function startLab(only?: string): Promise<{ targets: LabTarget[]; close(): void }> {
  const targets: LabTarget[] = []
  const running: Server[] = []
  for (const [index, { what, finds, server }] of services().entries()) {
    const host = only ?? hostFor(index)
    const port = await listen(server, host)
    running.push(server)
    targets.push({ target: `${host}:${port}`, what, open: true, finds })
  }
  for (let index = 0; index < CLOSED; index++) {
    const host = only ?? hostFor(running.length + index)
    const server = createServer()
    const port = await listen(server, host)
    await new Promise((resolve) => server.close(resolve))
    targets.push({ target: `${host}:${port}`, what: 'closed port', open: false, finds: [] })
  }
  return { targets, close: () => running.forEach((server) => server.close()) }
}
