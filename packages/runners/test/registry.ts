import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** A registry on this machine with one image of one small layer. */
export interface TestRegistry extends AsyncDisposable {
  /** `127.0.0.1:port/scan/tool:1`; it has no other images. */
  readonly image: string
  readonly digest: string
  /** While true, requests for layers wait. */
  delaysLayers: boolean
}

const MANIFEST_TYPE = 'application/vnd.docker.distribution.manifest.v2+json'
const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** `login`: the required `name:password`. */
export async function startRegistry(login?: string): Promise<TestRegistry> {
  const layer = await oneFileLayer()
  const packed = gzipSync(layer)
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      os: 'linux',
      config: {},
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
    }),
  )
  const part = (mediaType: string, bytes: Buffer) => ({
    mediaType,
    size: bytes.length,
    digest: digestOf(bytes),
  })
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: part('application/vnd.docker.container.image.v1+json', config),
      layers: [part('application/vnd.docker.image.rootfs.diff.tar.gzip', packed)],
    }),
  )
  const blobs = new Map([config, packed].map((bytes) => [digestOf(bytes), bytes]))
  const delayed: ServerResponse[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    if (login !== undefined && request.headers.authorization !== `Basic ${btoa(login)}`)
      return void response
        .writeHead(401, { 'www-authenticate': 'Basic realm="test"', 'content-type': 'application/json' })
        .end('{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}')
    const blob = blobs.get(path.split('/').at(-1) ?? '')
    if (path === '/v2/') return void response.end('{}')
    if (/^\/v2\/scan\/tool\/manifests\/(1|sha256:)/.test(path)) {
      const headers = { 'content-type': MANIFEST_TYPE, 'docker-content-digest': digestOf(manifest) }
      return void response.writeHead(200, { ...headers, 'content-length': manifest.length }).end(manifest)
    }
    if (blob === undefined) return void response.writeHead(404).end('{"errors":[{"code":"NAME_UNKNOWN"}]}')
    if (registry.delaysLayers && blob === packed) return void delayed.push(response)
    response.writeHead(200, { 'content-length': blob.length }).end(blob)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const registry: TestRegistry = {
    image: `127.0.0.1:${port}/scan/tool:1`,
    digest: `127.0.0.1:${port}/scan/tool@${digestOf(manifest)}`,
    delaysLayers: false,
    async [Symbol.asyncDispose]() {
      for (const response of delayed) response.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return registry
}

/** An image without a shell. */
async function oneFileLayer(): Promise<Buffer> {
  const stream = pack()
  stream.entry({ name: 'hello' }, 'hello')
  stream.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of stream) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
