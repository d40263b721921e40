import { readFile } from 'node:fs/promises'
import type { AuthClient, GoogleAuth } from 'google-auth-library'
import { CloudError } from '../../provider.ts'
import type { GcpSettings } from '../settings.ts'
import { responseError, tokenProblemOf } from './errors.ts'
import { loadSdk } from '../sdk.ts'

const SCOPES = ['https://www.googleapis.com/auth/compute']

export interface Identity {
  readonly auth: GoogleAuth
  readonly project: string
}

/** Rejects with `credentials` when there are none. The first call shows whether they are valid. */
export async function identityOf(settings: GcpSettings): Promise<Identity> {
  const library = await loadSdk('gcp', async () => await import('google-auth-library'))
  const file = settings.credentialsFile === undefined ? {} : await readCredentials(settings.credentialsFile)
  const auth = new library.GoogleAuth({
    scopes: SCOPES,
    ...(settings.credentialsFile !== undefined && { authClient: clientOf(library, file) }),
  })
  try {
    await auth.getClient()
    const project = settings.project ?? (file.project_id || (await auth.getProjectId()))
    return { auth: withApiErrors(auth), project }
  } catch (error) {
    throw tokenProblemOf(error)
  }
}

/** The compute library drops headers and reason of a failed response, so they are read here, where every call passes. */
function withApiErrors(auth: GoogleAuth): GoogleAuth {
  const plainFetch: GoogleAuth['fetch'] = auth.fetch.bind(auth)
  const checkedFetch: GoogleAuth['fetch'] = async (...request) => {
    try {
      await auth.getRequestHeaders(addressOf(request[0]))
    } catch (error) {
      throw tokenProblemOf(error)
    }
    // For 401 and 403 the library's fetch rejects, after it has renewed an expired token.
    const answer = await plainFetch<never>(...request).catch(rejected)
    if (answer.ok) return answer
    throw responseError(answer.status, await answer.text(), (name) => answer.headers.get(name))
  }
  auth.fetch = checkedFetch
  return auth
}

type FetchInput = Parameters<GoogleAuth['fetch']>[0]

const addressOf = (input: FetchInput): string => {
  if (typeof input === 'string') return input
  return (input instanceof URL ? input : input?.url)?.toString() ?? ''
}

function rejected(error: unknown): never {
  if (!(error instanceof Error) || !('response' in error)) throw error
  const { response } = error
  if (typeof response !== 'object' || response === null || !('status' in response)) throw error
  const data = 'data' in response ? response.data : undefined
  const headers =
    'headers' in response && response.headers instanceof Headers ? response.headers : new Headers()
  throw responseError(Number(response.status), bodyOf(data) ?? error.message, (name) => headers.get(name))
}

/** Undefined when the body is only in the error's message. */
function bodyOf(data: unknown): string | undefined {
  if (typeof data === 'string') return data
  return typeof data === 'object' && data !== null && 'error' in data ? JSON.stringify(data) : undefined
}

interface CredentialsFile {
  readonly type?: string
  readonly project_id?: string
  readonly client_email?: string
  readonly private_key?: string
  readonly private_key_id?: string
  readonly credential_source?: object
}
type Library = typeof import('google-auth-library')

async function readCredentials(path: string): Promise<CredentialsFile> {
  try {
    const read: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (typeof read === 'object' && read !== null) return read
  } catch (error) {
    throw new CloudError('credentials', `the credentials file of gcp, ${path}, is not readable as JSON`, {
      cause: error,
    })
  }
  throw new CloudError('credentials', `the credentials file of gcp, ${path}, does not contain a JSON object`)
}

/** Refuses credential types that execute a program named in the file. */
function clientOf({ JWT, IdentityPoolClient, AwsClient }: Library, file: CredentialsFile): AuthClient {
  const { type, client_email: email, private_key: key, private_key_id: keyId } = file
  if (type === 'service_account' && email && key) return new JWT({ email, key, keyId, scopes: SCOPES })
  if (type === 'external_account' && file.credential_source && !('executable' in file.credential_source)) {
    const aws = 'environment_id' in file.credential_source
    // The library validates the content.
    const client = aws
      ? new AwsClient(file as ConstructorParameters<typeof AwsClient>[0])
      : new IdentityPoolClient(file as ConstructorParameters<typeof IdentityPoolClient>[0])
    client.scopes = SCOPES
    return client
  }
  throw new CloudError(
    'credentials',
    'the credentials file of gcp is neither the key of a service account nor an external account whose token comes from a file, a URL or AWS',
  )
}
