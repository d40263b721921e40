import type { ClientOptions } from '@scanfarm/client'

/** `fetch` takes longer to load than the whole of a list. Redirects are left to it. */
export const get: ClientOptions['get'] = async (url, { headers, signal }) => {
  const { get: send } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<NonNullable<typeof get>>>>()
  const asked = { ...headers, accept: '*/*', 'accept-encoding': 'gzip' }
  send(url, { headers: asked, signal }, (answer) => {
    const { statusCode: status = 0, headers: named } = answer
    if (status >= 300 && status < 400) {
      answer.resume()
      return resolve(undefined)
    }
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('error', reject)
    answer.on('end', () => {
      try {
        const bytes = Buffer.concat(chunks)
        const packed = named['content-encoding'] === 'gzip'
        const text = (packed ? process.getBuiltinModule('node:zlib').gunzipSync(bytes) : bytes).toString()
        const { 'content-encoding': _, ...rest } = named
        resolve({
          status,
          text,
          headers: Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)])),
        })
      } catch (error) {
        reject(error as Error)
      }
    })
  }).on('error', reject)
  return await promise
}
