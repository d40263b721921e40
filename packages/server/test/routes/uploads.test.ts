import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { refusal, testServer } from '../_server.ts'

const MAX_BYTES = 1024 * 1024

const server = forAllTests(() => testServer({ limits: { uploadBytes: MAX_BYTES } }))

const upload = (content: Buffer | string, name = 'list.txt', field = 'file') =>
  server.operator.post('/api/upload-file').attach(field, Buffer.from(content), name)

describe('POST /upload-file 200', () => {
  test('an upload is stored and its lines are counted', async () => {
    const { body } = await upload('a.example\nb.example\nc.example').expect(200)
    expect(body).toEqual({
      message: 'File uploaded',
      filename: expect.stringMatching(/^[0-9a-f]{16}-list\.txt$/),
      path: `uploads/${body.filename}`,
      size: 29,
      lines: 3,
    })
    const kept = await server.artifacts.get(body.path as string)
    expect(kept && (await text(kept.body))).toBe('a.example\nb.example\nc.example')
  })

  test.each([
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\n\n', 2],
    ['\n', 1],
  ])('the file %j has %i lines', async (content, lines) => {
    const { body } = await upload(content).expect(200)
    expect(body).toMatchObject({ lines, size: content.length })
  })

  test.each([
    ['../../etc/passwd', /^[0-9a-f]{16}-passwd$/],
    ['a b;c$(d).txt', /^[0-9a-f]{16}-a_b_c__d_\.txt$/],
    ['..', /^[0-9a-f]{16}-/],
    ['x'.repeat(300), /^[0-9a-f]{16}-x{100}$/],
  ])('a file named %j is stored under a safe name', async (name, stored) => {
    const { body } = await upload('a', name).expect(200)
    expect(body.filename).toMatch(stored)
    await server.operator.post('/api/runs').send({ module: 'probe', target_file: body.path }).expect(202)
  })

  test('a file of the maximum size is accepted', async () => {
    const { body } = await upload(Buffer.alloc(MAX_BYTES, 'a\n')).expect(200)
    expect(body).toMatchObject({ size: MAX_BYTES, lines: MAX_BYTES / 2 })
  })
})

describe('POST /upload-file refuses', () => {
  test('a file above the limit answers 413 and nothing is stored', async () => {
    const { body } = await upload(Buffer.alloc(MAX_BYTES + 1, 'a')).expect(413)
    expect(body).toEqual(refusal('payload_too_large', `the file is larger than ${MAX_BYTES} bytes`))
  })

  test('no file, another field and two files answer 400', async () => {
    const none = await server.operator.post('/api/upload-file').field('note', 'x').expect(400)
    expect(none.body).toEqual(
      refusal('invalid_input', 'send a file in the field "file"', [
        { path: '/file', message: 'is required' },
      ]),
    )
    const other = await upload('a', 'list.txt', 'targets').expect(400)
    expect(other.body).toEqual(
      refusal('invalid_input', 'send one file, in the field "file"', [
        { path: '/targets', message: 'is not the field "file", or is a second file' },
      ]),
    )
    await server.operator
      .post('/api/upload-file')
      .attach('file', Buffer.from('a'), 'a.txt')
      .attach('file', Buffer.from('b'), 'b.txt')
      .expect(400)
  })

  test('a body that is not a form answers 415', async () => {
    const { body } = await server.operator.post('/api/upload-file').send({ file: 'a' }).expect(415)
    expect(body.code).toBe('unsupported_media_type')
  })

  test('a form without a boundary and an incomplete form answer 400', async () => {
    const { body } = await server.operator
      .post('/api/upload-file')
      .set('Content-Type', 'multipart/form-data')
      .send('x')
      .expect(415)
    expect(body.code).toBe('unsupported_media_type')
    const broken = await server.operator
      .post('/api/upload-file')
      .set('Content-Type', 'multipart/form-data; boundary=x')
      .send('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc')
      .expect(400)
    expect(broken.body.message).toBe('the form cannot be read: Unexpected end of form')
  })

  test('an interrupted upload leaves nothing behind', async () => {
    const request = httpRequest(`${server.url}/api/upload-file`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${server.tokens.operator}`,
        'Content-Type': 'multipart/form-data; boundary=x',
        'Content-Length': 100_000,
      },
    })
    const closed = new Promise((resolve) => request.on('close', resolve))
    request.on('error', () => undefined)
    request.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc')
    request.on('socket', (socket) => socket.once('connect', () => setImmediate(() => request.destroy())))
    await closed
    await upload('a').expect(200)
  })
})
