import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, jest, test } from '@jest/globals'
import { Secret } from '@scanfarm/platform'
import { openObjectStorage } from '@scanfarm/artifacts'
import { MOTO_INSTALL_MS, startMoto } from '@scanfarm/testing'
import { createHostRunners } from '@scanfarm/runners'
import type { Step } from '@scanfarm/language'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { commandUser } from '../../src/users/uids.ts'
import { sharedUser } from '../../src/users/command-users.ts'
import { llmSettings } from '../../src/settings/function-settings.ts'
import { openHarness } from '../harness/executors.ts'
import { TEST_MS, bash } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const harness = forAllTests(() => openHarness())

const call = (name: string, expression: string): Step => ({ name, type: 'function', function: expression })
const hidden = (value: string) => new Secret(value)

/** An endpoint of the chat protocol that answers with the request, its key and its model. */
const openModel = async (): Promise<AsyncDisposable & { baseUrl: string }> => {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { model, messages } = JSON.parse(body)
      const content = [request.headers.authorization, model, messages[0].content].join(' ')
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

test('Functions of a run use the object storage and the language model of the settings', async () => {
  await using model = await openModel()
  await using storage = openObjectStorage('s3://test:secret-of-test@shelf/below?endpoint=http://127.0.0.1:1')
  const llm = llmSettings({ url: hidden(`${model.baseUrl.replace('://', '://:k@')}?model=m`) })
  await using _executor = harness.executor({ services: { storage, llm } })
  // A signed URL is made without a request to the bucket.
  const [runId = 0] = await harness.submit([
    call('sign', 'cdn_get_presigned_url("report.txt", 5)'),
    call('ask', 'llm_invoke("hello")'),
  ])
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
  const [sign, ask] = (await harness.steps(runId)).map(({ output }) => output.trim())
  expect(sign).toMatch(/^http:\/\/127\.0\.0\.1:1\/shelf\/below\/report\.txt\?.*X-Amz-Expires=300/)
  expect(ask).toBe('Bearer k m hello')
})

test('Runs use the paths that the settings allow and no others', async () => {
  const base = await mkdtemp(join(tmpdir(), 'scanfarm-paths-'))
  await writeFile(join(base, 'admin-token'), 'SECRET')
  await writeFile(join(base, 'list'), 'one\n')
  await chmod(base, 0o755)
  const owner = process.getuid?.() === 0 ? commandUser('nobody') : undefined
  await using runners = createHostRunners({ user: owner })
  const allowedPaths = [{ path: join(base, 'list'), write: false }]
  await using _executor = harness.executor({ users: sharedUser(owner), runners, allowedPaths })
  const goOn: Partial<Step> = { on_error: [{ action: 'continue' }] }
  const [runId = 0] = await harness.submit([
    call('list', `read_file("${base}/list")`),
    { ...call('token', `read_file("${base}/admin-token")`), ...goOn },
    { ...call('environment', `read_file("/proc/${process.pid}/environ")`), ...goOn },
    {
      name: 'loop',
      type: 'foreach',
      input: '/etc/shadow',
      variable: 'x',
      step: bash('b', 'echo "{{x}}"'),
      ...goOn,
    },
  ])
  await harness.ended(runId)
  const rows = (await harness.steps(runId)).map(({ output, error_message }) => error_message || output.trim())
  const refused = expect.stringContaining('is outside of the folders that a workflow may use')
  expect(rows).toEqual(['one', refused, refused, refused])
  await rm(base, { recursive: true })
})

test(
  'Runs copy files between object storage and their own folders only',
  async () => {
    await using server = await startMoto()
    await fetch(`${server.endpoint}/shelf`, { method: 'PUT' })
    await using storage = openObjectStorage(`s3://test:secret-of-test@shelf/runs?endpoint=${server.endpoint}`)
    const owner = process.getuid?.() === 0 ? commandUser('nobody') : undefined
    await using runners = createHostRunners({ user: owner })
    await using _executor = harness.executor({ services: { storage }, users: sharedUser(owner), runners })
    const goOn: Partial<Step> = { on_error: [{ action: 'continue' }] }
    const steps: Step[] = [
      bash(
        'make',
        'cd {{Output}} && mkdir -p up/deep && echo one > up/1 && echo two > up/deep/2 && ln -s /etc/passwd up/secret && ln -s /etc away && mkdir far && mkfifo up/pipe',
      ),
      call('upload', 'cdn_upload("{{Output}}/up/1", "a/one") && cdn_exists("a/one") && cdn_read("a/one")'),
      { ...call('link', 'cdn_upload("{{Output}}/up/secret", "a/secret")'), ...goOn },
      { ...call('linked folder', 'cdn_upload("{{Output}}/away/passwd", "a/secret")'), ...goOn },
      { ...call('outside', 'cdn_upload("{{Output}}/../../../../../../etc/passwd", "a/secret")'), ...goOn },
      call('sync up', 'cdn_sync_upload("{{Output}}/up", "s/")'),
      call('list', 'join(cdn_list("").map(o => o.key), " ")'),
      call('download', 'cdn_download("a/one", "{{Output}}/new/folder/back")'),
      call('sync down', 'cdn_sync_download("s/", "{{Output}}/far")'),
      bash('use', 'cd {{Output}} && echo more >> new/folder/back && rm far/deep/2 && cat new/folder/back'),
      { ...call('download away', 'cdn_download("a/one", "{{Output}}/away/scanfarm-test")'), ...goOn },
      { ...call('missing', 'cdn_download("no/such", "{{Output}}/none")'), ...goOn },
      call('delete', 'cdn_delete("a/one") && !cdn_exists("a/one") && cdn_stat("a/one") == null'),
      call('tree', 'cdn_ls_tree("s/", 2)'),
    ]
    const [runId = 0] = await harness.submit(steps)
    const ended = await harness.ended(runId)
    const rows = (await harness.steps(runId)).map(
      ({ step_name, output, error_message }) => [step_name, error_message || output.trim()] as const,
    )
    expect(Object.fromEntries(rows)).toEqual({
      make: '',
      upload: 'one',
      link: "up/secret is a link out of the run's folder",
      'linked folder': "away is a link out of the run's folder",
      outside: expect.stringMatching(/passwd is outside of the run's folders: read below/),
      'sync up': '2',
      list: 'a/one s/1 s/deep/2',
      download: 'true',
      'sync down': '2',
      use: 'one\nmore',
      'download away': "away is a link out of the run's folder",
      missing: expect.stringMatching(/cannot read no\/such.*NoSuchKey/),
      delete: 'true',
      tree: '1\ndeep/\n  2',
    })
    expect(ended).toMatchObject({ status: 'completed', error_message: '' })
  },
  MOTO_INSTALL_MS,
)
