import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface TokenServer extends AsyncDisposable {
  readonly url: string
  /** Forms that were sent. */
  readonly asked: readonly URLSearchParams[]
  /** Refuses from now on. */
  refuse(): void
}

/** Gives tokens for credentials by OAuth 2: a form in, JSON out. */
export async function openTokenServer(token: string): Promise<TokenServer> {
  const asked: URLSearchParams[] = []
  let refusing = false
  const server = createServer(async (request, response) => {
    asked.push(new URLSearchParams(await text(request)))
    response.writeHead(refusing ? 400 : 200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        refusing
          ? { error: 'invalid_grant', error_description: 'The credentials are not known here' }
          : {
              access_token: token,
              issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
              token_type: 'Bearer',
              expires_in: 3_600,
            },
      ),
    )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  // Of a server that listens on a port, it is always that.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    refuse: () => void (refusing = true),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
