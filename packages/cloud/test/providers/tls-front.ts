import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { listen } from '@scanfarm/testing'

export interface Certificate extends AsyncDisposable {
  readonly key: string
  readonly cert: string
}

/** A certificate for localhost, trusted by this process until it is disposed. */
export async function trustedCertificate(): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-tls-'))
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const names = 'subjectAltName=IP:127.0.0.1'
  try {
    const how = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ]
    const what = ['-subj', '/CN=127.0.0.1', '-addext', names, '-keyout', keyFile, '-out', certFile]
    await promisify(execFile)('openssl', [...how, ...what])
    const [key, cert] = await Promise.all([readFile(keyFile, 'utf8'), readFile(certFile, 'utf8')])
    const believed = getCACertificates('default')
    setDefaultCACertificates([...believed, cert])
    return { key, cert, [Symbol.asyncDispose]: async () => setDefaultCACertificates(believed) }
  } catch (error) {
    throw new Error(
      'the tests of azure, whose library insists on TLS, need a certificate: is openssl installed?',
      { cause: error },
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export interface TlsFront extends AsyncDisposable {
  readonly url: string
}

/** A TLS proxy for a plain HTTP server. Closes a connection when the server closes it. */
export async function openTlsFront(behind: string, { key, cert }: Certificate): Promise<TlsFront> {
  const { hostname, port: portBehind } = new URL(behind)
  const sockets = new Set<Socket>()
  const server = createServer({ key, cert }, (front) => {
    const back = connect(Number(portBehind), hostname)
    for (const [one, other] of [
      [front, back],
      [back, front],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  const port = await listen(server)
  return {
    url: `https://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}
