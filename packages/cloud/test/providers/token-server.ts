import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '@scanfarm/testing'

export interface TokenServer extends AsyncDisposable {
  readonly url: string
  /** The forms of all requests. */
  readonly asked: readonly URLSearchParams[]
  /** Refuses all further requests. */
  refuse(): void
}

/** An OAuth 2 token server with OpenID discovery. */
export async function openTokenServer(token: string): Promise<TokenServer> {
  const asked: URLSearchParams[] = []
  let refusing = false
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, tenant] = (request.url ?? '').split('/')
    const there = `https://${request.headers.host}/${tenant}`
    const form = await text(request)
    if (request.method === 'POST') asked.push(new URLSearchParams(form))
    const refused = refusing && request.method === 'POST'
    response.writeHead(refused ? 401 : 200, { 'content-type': 'application/json' })
    if (request.method === 'GET') return void response.end(JSON.stringify(placesAt(there)))
    response.end(JSON.stringify(refused ? REFUSAL : { ...GRANT, access_token: token }))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) =>
      response.destroy(Error.isError(error) ? error : undefined),
    )
  })
  const port = await listen(server)
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

const REFUSAL = { error: 'invalid_grant', error_description: 'The credentials are not known here' }
const GRANT = {
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  token_type: 'Bearer',
  expires_in: 3_600,
}
const placesAt = (there: string) => ({
  issuer: `${there}/v2.0`,
  authorization_endpoint: `${there}/oauth2/v2.0/authorize`,
  token_endpoint: `${there}/oauth2/v2.0/token`,
  jwks_uri: `${there}/discovery/v2.0/keys`,
})
