import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { generateKeyPairSync, verify } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { listen } from '@scanfarm/testing'
import { openIdentity } from '../../src/providers/gcp/credentials.ts'
import type { GcpSettings } from '../../src/providers/settings.ts'

// Enforced by: RFC 7523 and RFC 8693 for the grants, Google's documentation of workload identity and of the metadata server for
// the rest.

const SCOPE = 'https://www.googleapis.com/auth/compute'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-gcp-'))
  process.env['CLOUDSDK_CONFIG'] = folder
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server that answers each path with a text or JSON. */
async function openServer(answers: Readonly<Record<string, string | object>>) {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const path = request.url ?? ''
      asked.push({ path, headers: request.headers, body })
      const answer = answers[path.replace(/\?.*/, '')]
      response.writeHead(answer === undefined ? 404 : 200, { 'metadata-flavor': 'Google' })
      response.end(typeof answer === 'object' ? JSON.stringify(answer) : answer)
    })
  })
  const port = await listen(server)
  return {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    asked,
    /** Sends the requests for a token of a service account to this server: the address is a constant of the library. */
    fetch: (async (url, init) =>
      fetch(
        `http://127.0.0.1:${port}${new URL(url instanceof Request ? url.url : url).pathname}`,
        init,
      )) satisfies typeof fetch,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

const settings = async (content: object | undefined, project?: string): Promise<GcpSettings> => {
  const credentialsFile = join(folder, 'credentials.json')
  if (content !== undefined) await writeFile(credentialsFile, JSON.stringify(content))
  return {
    credentialsFile: content === undefined ? undefined : credentialsFile,
    project,
    zone: undefined,
    zones: [],
    type: undefined,
    image: undefined,
    network: undefined,
    endpoint: undefined,
    privateAddress: false,
    prices: {},
  }
}

const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/aws'

describe('the credentials of gcp', () => {
  test('are a statement signed with the key of the service account, whose project is used', async () => {
    await using server = await openServer({ '/token': { access_token: 'ours', expires_in: 3_600 } })
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const identity = await openIdentity(
      await settings({
        type: 'service_account',
        project_id: 'the-project',
        client_email: 'farm@the-project.iam.gserviceaccount.com',
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      }),
      server.fetch,
    )
    expect(identity.project).toBe('the-project')
    expect(await Promise.all([identity.token(), identity.token()])).toEqual(['ours', 'ours'])
    expect(await identity.token()).toBe('ours')
    expect(server.asked).toHaveLength(1)

    const form = new URLSearchParams(server.asked[0]?.body)
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [header = '', claims = '', signature = ''] = form.get('assertion')?.split('.') ?? []
    const read = (part: string): Record<string, unknown> => {
      const value: Record<string, unknown> = JSON.parse(Buffer.from(part, 'base64url').toString())
      return value
    }
    expect(read(header)).toEqual({ alg: 'RS256' })
    const { iss, scope, aud, iat, exp } = read(claims)
    expect({ iss, scope, aud }).toEqual({
      iss: 'farm@the-project.iam.gserviceaccount.com',
      scope: SCOPE,
      aud: 'https://oauth2.googleapis.com/token',
    })
    expect(Number(exp) - Number(iat)).toBe(3_600)
    expect(Math.abs(Number(iat) - Date.now() / 1_000)).toBeLessThan(60)
    const signed = Buffer.from(`${header}.${claims}`)
    expect(verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
  })

  test('are renewed before they expire', async () => {
    await using server = await openServer({ '/token': { access_token: 'short', expires_in: 200 } })
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const identity = await openIdentity(
      await settings({
        type: 'service_account',
        project_id: 'p',
        client_email: 'e',
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      }),
      server.fetch,
    )
    await identity.token()
    await identity.token()
    expect(server.asked).toHaveLength(2)
  })

  test('are exchanged for a token of another identity provider, and then for one of a service account', async () => {
    await using server = await openServer({
      '/subject': { deep: 'no', id_token: 'the-subject' },
      '/sts': { access_token: 'federated', expires_in: 3_600 },
      '/impersonate': {
        accessToken: 'impersonated',
        expireTime: new Date(Date.now() + 3_600_000).toISOString(),
      },
    })
    const identity = await openIdentity(
      await settings(
        {
          type: 'external_account',
          audience: AUDIENCE,
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          token_url: `${server.url}/sts`,
          service_account_impersonation_url: `${server.url}/impersonate`,
          credential_source: {
            url: `${server.url}/subject`,
            headers: { 'x-secret': 'yes' },
            format: { type: 'json', subject_token_field_name: 'id_token' },
          },
        },
        'p',
      ),
    )
    expect(await identity.token()).toBe('impersonated')
    const [subject, sts, impersonate] = server.asked
    expect(subject?.headers['x-secret']).toBe('yes')
    expect(Object.fromEntries(new URLSearchParams(sts?.body))).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience: AUDIENCE,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token: 'the-subject',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    })
    expect(impersonate?.headers.authorization).toBe('Bearer federated')
    expect(JSON.parse(impersonate?.body ?? '')).toEqual({ scope: [SCOPE], lifetime: '3600s' })
  })

  test('may be those of a machine of AWS', async () => {
    await using server = await openServer({
      '/imds': 'metadata-token',
      '/zone': 'eu-west-1b',
      '/roles': 'farm-role',
      '/roles/farm-role': { AccessKeyId: 'AKIDEXAMPLE', SecretAccessKey: 'secret', Token: 'the-session' },
      '/sts': { access_token: 'federated', expires_in: 3_600 },
    })
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_ACCESS_KEY_ID']) delete process.env[name]
    const content = {
      type: 'external_account',
      audience: AUDIENCE,
      subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
      token_url: `${server.url}/sts`,
      credential_source: {
        environment_id: 'aws1',
        region_url: `${server.url}/zone`,
        url: `${server.url}/roles`,
        imdsv2_session_token_url: `${server.url}/imds`,
        regional_cred_verification_url:
          'https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
      },
    }
    const identity = await openIdentity(await settings(content, 'p'))
    expect(await identity.token()).toBe('federated')
    const roles = server.asked.find(({ path }) => path === '/roles/farm-role')
    expect(roles?.headers['x-aws-ec2-metadata-token']).toBe('metadata-token')
    const form = new URLSearchParams(server.asked.at(-1)?.body)
    const { url, method, headers } = JSON.parse(decodeURIComponent(form.get('subject_token') ?? ''))
    expect({ url, method }).toEqual({
      url: 'https://sts.eu-west-1.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
      method: 'POST',
    })
    expect(headers).toContainEqual({ key: 'x-amz-security-token', value: 'the-session' })
    expect(headers).toContainEqual({ key: 'x-goog-cloud-target-resource', value: AUDIENCE })
  })

  test('are those of the machine if there is no file', async () => {
    const path = '/computeMetadata/v1/instance/service-accounts/default/token'
    await using server = await openServer({
      '/computeMetadata/v1/instance': 'here',
      [path]: { access_token: 'of-the-machine', expires_in: 3_600 },
    })
    process.env['GCE_METADATA_HOST'] = server.host
    process.env['METADATA_SERVER_DETECTION'] = 'assume-present'
    const identity = await openIdentity(await settings(undefined, 'p'))
    expect(await identity.token()).toBe('of-the-machine')
    expect(server.asked.at(-1)).toMatchObject({ headers: { 'metadata-flavor': 'Google' } })
    process.env['METADATA_SERVER_DETECTION'] = 'none'
    await expect(openIdentity(await settings(undefined, 'p'))).rejects.toMatchObject({
      problem: 'credentials',
      message: expect.stringContaining('add gcp=@FILE to cloud.credentials'),
    })
  })

  test('are those of the file that the environment names', async () => {
    await using server = await openServer({ '/sts': { access_token: 'federated', expires_in: 3_600 } })
    const subject = join(folder, 'subject')
    await writeFile(subject, 'the-subject')
    const named = join(folder, 'named.json')
    const content = {
      type: 'external_account',
      audience: AUDIENCE,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${server.url}/sts`,
      credential_source: { file: subject },
    }
    await writeFile(named, JSON.stringify(content))
    process.env['GOOGLE_APPLICATION_CREDENTIALS'] = named
    process.env['GOOGLE_CLOUD_PROJECT'] = 'of-the-environment'
    try {
      const identity = await openIdentity(await settings(undefined))
      expect(identity.project).toBe('of-the-environment')
      expect(await identity.token()).toBe('federated')
    } finally {
      delete process.env['GOOGLE_APPLICATION_CREDENTIALS']
      delete process.env['GOOGLE_CLOUD_PROJECT']
    }
  })

  const external = {
    type: 'external_account',
    audience: AUDIENCE,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  }
  test.each([
    [
      'a program that they name',
      { ...external, credential_source: { executable: { command: 'x' } } },
      'neither',
    ],
    ['an unknown type', { type: 'authorized_user' }, 'neither'],
    ['a missing field', { type: 'service_account', client_email: 'e' }, 'private_key'],
  ])('are refused with %s', async (_, content, part) => {
    await expect(openIdentity(await settings(content, 'p'))).rejects.toMatchObject({
      problem: 'credentials',
      message: expect.stringContaining(part),
    })
  })

  test('are refused with a key that is none, and without a project', async () => {
    const account = { type: 'service_account', client_email: 'e', private_key: 'not a key' }
    await expect(openIdentity(await settings(account, 'p'))).rejects.toMatchObject({
      problem: 'credentials',
      message: expect.stringContaining('private_key is not a key'),
    })
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const key = { ...account, private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) }
    await expect(openIdentity(await settings(key))).rejects.toMatchObject({
      problem: 'credentials',
      message: expect.stringContaining('add gcp=PROJECT to cloud.projects'),
    })
  })
})
