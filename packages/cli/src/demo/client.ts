/** The HTTP requests that the demo sends. */
export class Client {
  readonly #url: string
  readonly #token: string

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  get<T>(path: string): Promise<T> {
    return this.#call(path, {})
  }

  post<T>(path: string, body: unknown): Promise<T> {
    return this.#call(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  }

  delete<T>(path: string): Promise<T> {
    return this.#call(path, { method: 'DELETE' })
  }

  upload(name: string, text: string): Promise<{ filename: string; path: string; lines: number }> {
    const body = new FormData()
    body.append('file', new Blob([text]), name)
    return this.#call('/upload-file', { method: 'POST', body })
  }

  async #call<T>(path: string, init: RequestInit): Promise<T> {
    return (await (await this.#send(path, init)).json()) as T
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const answer = await fetch(`${this.#url}/api${path}`, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${this.#token}` },
      signal: AbortSignal.timeout(30_000),
    })
    if (!answer.ok)
      throw new Error(`${init.method ?? 'GET'} ${path}: ${answer.status} ${await answer.text()}`)
    return answer
  }
}
