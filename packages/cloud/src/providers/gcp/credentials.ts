import { createPrivateKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { errorText, fileErrorText, foreignVariable } from '@scanfarm/platform'
import type {
  AuthClient,
  AwsClientOptions,
  BaseExternalAccountClient,
  IdentityPoolClientOptions,
  JWTInput,
} from 'google-auth-library'
import { CloudError } from '../../provider.ts'
import { parsedJson, problemOfStatus, property, unreachable } from '../errors.ts'
import { loadSdk } from '../sdk.ts'
import type { GcpSettings } from '../settings.ts'

export interface Identity {
  readonly project: string
  /** A token that is valid for some minutes. Rejects with a CloudError. */
  token(): Promise<string>
}

const scopes = ['https://www.googleapis.com/auth/compute']
/** Of one request. Tokens are shared by calls, so that the signal of one call does not end it. */
const TIMEOUT_MS = 20_000

interface Options {
  readonly transporterOptions: { readonly timeout: number; readonly fetchImplementation?: typeof fetch }
}

/**
 * The account of the credentials file, or else the one that Google's own programs would use. Rejects with `credentials` when
 * there is none. The first token shows whether it is valid. Tests set `fetchImplementation`.
 */
export async function openIdentity(
  { credentialsFile, project: given }: GcpSettings,
  fetchImplementation?: typeof fetch,
): Promise<Identity> {
  const options: Options = {
    transporterOptions: { timeout: TIMEOUT_MS, ...(fetchImplementation && { fetchImplementation }) },
  }
  const { client, project } =
    credentialsFile === undefined
      ? await usualAccount(given, options)
      : await accountOf(await readCredentials(credentialsFile), given, options)
  if (!project)
    throw new CloudError(
      'credentials',
      'the credentials for gcp name no project: add gcp=PROJECT to cloud.projects',
    )
  return {
    project,
    async token() {
      try {
        const { token } = await client.getAccessToken()
        if (token) return token
      } catch (error) {
        throw problemOf(error)
      }
      throw refused('the token server sends no token')
    },
  }
}

const library = async () => await loadSdk('gcp', async () => await import('google-auth-library'))

interface Account {
  readonly client: AuthClient
  readonly project: string | undefined
}

/** The account that Google's own programs find: in a file, or at the metadata server of the machine. */
async function usualAccount(project: string | undefined, clientOptions: Options): Promise<Account> {
  const { GoogleAuth } = await library()
  const auth = new GoogleAuth({
    scopes,
    clientOptions,
    ...(project !== undefined && { projectId: project }),
  })
  try {
    const client = await auth.getClient()
    return { client, project: await auth.getProjectId().catch(() => undefined) }
  } catch (error) {
    throw new CloudError(
      'credentials',
      `there are no credentials for gcp: add gcp=@FILE to cloud.credentials (${errorText(error)})`,
    )
  }
}

/** The used fields of all kinds of credentials files. The library checks them. */
interface Content extends JWTInput, Pick<AwsClientOptions, 'audience' | 'subject_token_type'> {
  readonly credential_source?: AwsClientOptions['credential_source'] &
    IdentityPoolClientOptions['credential_source']
}

async function readCredentials(path: string): Promise<Content> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new CloudError(
      'credentials',
      `the credentials file of gcp, ${path}, cannot be read: ${fileErrorText(error)}`,
    )
  }
  const content = parsedJson(text)
  // The library checks the fields.
  if (typeof content === 'object' && content !== null) return content as Content
  throw new CloudError('credentials', `the credentials file of gcp, ${path}, does not contain a JSON object`)
}

async function accountOf(content: Content, given: string | undefined, options: Options): Promise<Account> {
  const project = given ?? content.project_id ?? foreignVariable('GOOGLE_CLOUD_PROJECT')
  return { client: await clientOf(content, options), project }
}

/** Refuses sources that execute a program named in the file. */
async function clientOf(content: Content, options: Options): Promise<AuthClient> {
  const { AwsClient, IdentityPoolClient, JWT } = await library()
  const { type, credential_source: source } = content
  try {
    if (type === 'service_account') {
      const client = new JWT({ ...options, scopes })
      assertKey(content.private_key)
      client.fromJSON(content)
      return client
    }
    if (type === 'external_account' && source?.environment_id)
      return scoped(new AwsClient({ ...content, ...options }))
    if (type === 'external_account' && (source?.file || source?.url))
      return scoped(new IdentityPoolClient({ ...content, ...options }))
  } catch (error) {
    throw refused(errorText(error))
  }
  throw new CloudError(
    'credentials',
    'the credentials file of gcp is neither the key of a service account nor an external account whose token comes from a file, a URL or AWS',
  )
}

function assertKey(key: string | undefined): void {
  try {
    createPrivateKey(key ?? '')
  } catch (error) {
    throw new Error(`private_key is not a key: ${errorText(error)}`, { cause: error })
  }
}

function scoped<Client extends BaseExternalAccountClient>(client: Client): Client {
  client.scopes = scopes
  return client
}

const refused = (reason: string): CloudError =>
  new CloudError('credentials', `the credentials for gcp are not valid: ${reason}`)

/** An error of the library: without a response when no server was asked. */
function problemOf(error: unknown): CloudError {
  const status = property(property(error, 'response'), 'status')
  if (typeof status === 'number' && problemOfStatus(status) !== 'unavailable')
    return refused(errorText(error))
  return property(error, 'config') === undefined ? refused(errorText(error)) : unreachable('Google', error)
}
