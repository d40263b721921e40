import { beforeAll, describe, expect, test } from '@jest/globals'
import { call, expectRefusal, farm, recordsOf, watchFarm, type Answer } from '../farm/attacked-farm.ts'
import { runToEnd, submit, uploadModule, type EndedRun } from '../farm/runs.ts'

const CONTINUE = [{ action: 'continue' }]

interface ArtifactRow {
  readonly id: string
  readonly name: string
  readonly content_type: string
}

/** Creates files like a hostile tool: active content for browsers, links to outside files, names that no header can contain. */
const MAKE = `
cd "{{Output}}"
printf '<script>alert(1)</script>' > page.html
printf '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>' > image.svg
printf 'a' > 'quote".txt'
printf 'b' > "$(printf 'new\\r\\nX-Pwned: 1\\r\\n\\r\\nline.txt')"
printf 'c' > "$(printf 'bytes-\\377\\376.txt')"
printf 'd' > "$(printf 'right-\\342\\200\\256gpj.exe')"
printf 'e' > '..\\..\\windows.txt'
printf 'f' > '{{"{{"}}7*7}}.txt'
ln -s /etc/shadow shadow.txt
ln -s /proc/self/environ environ.txt
ln -s / root
mkdir many; ln -s ../../.. many/up; printf 'g' > many/file.txt
mkfifo pipe.txt
`

let run: EndedRun
let artifacts: readonly ArtifactRow[] = []
const content = (id: string, path = `/runs/${run.id}/artifacts/${id}/content`): Promise<Answer> =>
  call('get', path)

beforeAll(async () => {
  const module = await uploadModule('leaves-files', {
    steps: [
      { name: 'make', type: 'bash', command: MAKE },
      ...[
        'page.html',
        'image.svg',
        'shadow.txt',
        'environ.txt',
        'root',
        'many',
        'pipe.txt',
        'root/etc/passwd',
      ].map((file) => ({
        name: file,
        type: 'function',
        function: `register_artifact("{{Output}}/${file}")`,
        timeout: '10s',
        on_error: CONTINUE,
      })),
      { name: 'all', type: 'function', function: 'register_artifact("{{Output}}")', on_error: CONTINUE },
    ],
    reports: [
      { name: 'page', path: '{{Output}}/page.html', type: 'html' },
      { name: 'linked', path: '{{Output}}/shadow.txt', type: 'text', optional: true },
      { name: 'folder', path: '{{Output}}', type: 'folder', optional: true },
    ],
  })
  run = await runToEnd({ module })
  artifacts = recordsOf<ArtifactRow>(await call('get', `/runs/${run.id}/artifacts`))
})

describe('artifacts of a hostile tool', () => {
  test('The run has stored its artifacts', () => {
    expect(artifacts.map(({ name }) => name)).toEqual(expect.arrayContaining(['page']))
  })

  test('A browser never executes an artifact, and an artifact adds no header', async () => {
    for (const { id } of artifacts) {
      const { status, headers } = await content(id)
      expect(status).toBe(200)
      expect(headers.get('content-disposition')).toMatch(/^attachment/)
      expect(headers.get('content-security-policy')).toContain('sandbox')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-type')).not.toMatch(/svg|javascript/)
      expect(headers.get('x-pwned')).toBe(null)
    }
  })

  test('An artifact has no content of a file outside of the run to which a link points', async () => {
    for (const { id } of artifacts) {
      const { text } = await content(id)
      expect(text).not.toMatch(/root:[^\n]*:\d+:\d+:/)
      expect(text).not.toContain(farm.workerSecret)
    }
  })

  test.each(['..%2f..%2fadmin-token', '%2e%2e', '..', '%2fetc%2fpasswd', "' OR 1=1 --", '%F0%9F%98%80'])(
    'The path %s reaches no artifact',
    async (id) => {
      expect([400, 404]).toContain((await content(id)).status)
      // Clients shorten `/runs/../artifacts` to the list of all artifacts.
      if (decodeURIComponent(id) !== '..')
        expect([400, 404]).toContain((await call('get', `/runs/${id}/artifacts`)).status)
    },
  )

  test('An artifact of one run is not returned below another run', async () => {
    const other = await runToEnd({ module: 'leaves-files' })
    const [{ id } = { id: '' }] = artifacts
    expect((await content(id, `/runs/${other.id}/artifacts/${id}/content`)).status).toBe(404)
  })
})

describe('uploads', () => {
  const upload = (name: string, text: string): Promise<Answer> => {
    const form = new FormData()
    form.append('file', new Blob([text]), name)
    return call('post', '/upload-file', { form, token: farm.tokens.operator })
  }

  test.each([
    '../../../../tmp/pwned.txt',
    '/etc/pwned',
    '..\\x',
    'a\u202eb.txt',
    `${'n'.repeat(5_000)}.txt`,
    '.',
    '',
  ])('An upload with the name %j stays in its folder', async (name) => {
    const { status, json } = await upload(name, 'a.test\n')
    if (status !== 200) return expect([400, 413, 431]).toContain(status)
    expect(String(json?.['filename'])).not.toMatch(/[/\\\u0000]|^\.\.?$/)
    expect(String(json?.['path'])).not.toContain('..')
  })

  test.each([
    '/etc/passwd',
    '/proc/self/environ',
    '../admin-token',
    `${farm.folder}/master-1/admin-token`,
    '/dev/zero',
    '',
    '\u0000',
  ])('target_file refuses %j, which is not an upload', async (file) => {
    const body = { module: 'leaves-files', target_file: file, run_mode: 'distributed' }
    expectRefusal(await call('post', '/runs', { body, token: farm.tokens.operator }), 400)
  })

  test('target_file refuses a path behind the name of an upload', async () => {
    const { json } = await upload('list.txt', 'a.test\n')
    const path = String(json?.['path'])
    for (const suffix of ['/../../admin-token', '/..', '\u0000.txt', '/../../../../../../etc/passwd'])
      expectRefusal(
        await submit({ module: 'leaves-files', target: undefined, target_file: path + suffix }),
        400,
      )
  })

  test('An upload of ten thousand bad lines creates no run and has a short answer', async () => {
    const { json } = await upload('bad.txt', 'a;b\n'.repeat(10_000))
    const answer = await submit({ module: 'leaves-files', target: undefined, target_file: json?.['path'] })
    expectRefusal(answer, 400)
    expect(answer.text.length).toBeLessThan(100_000)
  })
})

watchFarm()
