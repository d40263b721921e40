const CALL_MS = 60_000
const PAGE = 10_000

/** The server refused a request. */
class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly body: string

  constructor(request: string, status: number, body: string) {
    super(`${request}: ${status} ${body}`)
    this.status = status
    this.body = body
  }
}

/** Calls the API of one master. The types are assumptions of the caller: the tests of the server check the schemas. */
export class Client {
  readonly url: string
  readonly #token: string

  constructor(url: string, token: string) {
    this.url = url
    this.#token = token
  }

  get<T>(path: string): Promise<T> {
    return this.#json('GET', path)
  }

  post<T>(path: string, body?: unknown): Promise<T> {
    return this.#json('POST', path, body)
  }

  delete<T>(path: string): Promise<T> {
    return this.#json('DELETE', path)
  }

  /** The URL and the headers of a GET, for callers that send it themselves. */
  callTo(path: string): { url: string; headers: Record<string, string> } {
    return { url: `${this.url}/api${path}`, headers: { authorization: `Bearer ${this.#token}` } }
  }

  async text(path: string): Promise<string> {
    return (await this.#send('GET', path, {})).text()
  }

  /** All records of a list, page by page. `path` already contains a `?`. */
  async all<T>(path: string): Promise<T[]> {
    const found: T[] = []
    let cursor = ''
    for (;;) {
      const page = await this.get<{ data: T[]; pagination: { next_cursor?: string } }>(
        `${path}&limit=${PAGE}${cursor}`,
      )
      found.push(...page.data)
      const { next_cursor: next } = page.pagination
      if (next === undefined || page.data.length === 0) return found
      cursor = `&cursor=${encodeURIComponent(next)}`
    }
  }

  async upload(name: string, text: string): Promise<{ path: string; lines: number }> {
    const body = new FormData()
    body.append('file', new Blob([text]), name)
    return (await (await this.#send('POST', '/upload-file', { body })).json()) as {
      path: string
      lines: number
    }
  }

  async #json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const init =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return (await (await this.#send(method, path, init)).json()) as T
  }

  async #send(method: string, path: string, init: RequestInit): Promise<Response> {
    const answer = await fetch(`${this.url}/api${path}`, {
      ...init,
      method,
      headers: { ...init.headers, authorization: `Bearer ${this.#token}` },
      signal: AbortSignal.timeout(CALL_MS),
    })
    if (!answer.ok) throw new Refusal(`${method} ${path}`, answer.status, await answer.text())
    return answer
  }
}
