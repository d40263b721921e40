import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const NOBODY = 65_534

/** A web application with one deliberate mistake on each page. It must never listen on anything but loopback. */
export function webApp(pages: string): Server {
  const database = new DatabaseSync(':memory:')
  database.exec("create table users (id integer, name text); insert into users values (1, 'Ada')")
  const answers: Record<string, (value: string) => string | Promise<string>> = {
    '/search': (text) => `<p>Results for ${text}</p>`,
    '/users': (id) => usersWith(database, id),
    '/lookup': (host) => output(`getent hosts ${host}`),
    '/page': (name) => readFile(join(pages, name), 'utf8'),
  }
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const [value = ''] = url.searchParams.values()
    response.setHeader('content-type', 'text/html')
    if (url.pathname === '/') {
      response.setHeader('set-cookie', 'session=1234')
      response.end(INDEX)
      return
    }
    if (url.pathname === '/go') {
      response.writeHead(302, { location: encodeURI(value) }).end()
      return
    }
    const answer = answers[url.pathname]
    response.statusCode = answer ? 200 : 404
    response.end(answer ? await Promise.try(answer, value).catch(() => 'not found') : 'not found')
  }
  return createServer((request, response) => void serve(request, response)).on('close', () =>
    database.close(),
  )
}

const INDEX = `<html><head><title>Shop</title></head><body>
<a href="/search?q=shoes">search</a> <a href="/users?id=1">users</a> <a href="/lookup?host=localhost">lookup</a>
<a href="/page?name=welcome.txt">welcome</a> <a href="/go?to=/">home</a>
</body></html>`

const usersWith = (database: DatabaseSync, id: string): string => {
  try {
    return JSON.stringify(database.prepare(`select name from users where id = '${id}'`).all())
  } catch (error) {
    return `[SQLITE_ERROR] ${String(error)}`
  }
}

/** Runs a command of a visitor as the user nobody, without the environment of this process. */
const output = (command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], {
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
      uid: NOBODY,
      gid: NOBODY,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let text = ''
    child.stdout.on('data', (part) => (text += String(part)))
    child.on('error', reject).on('close', () => resolve(text))
  })
