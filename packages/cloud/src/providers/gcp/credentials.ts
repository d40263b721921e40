import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { compile } from '@scanfarm/contracts'
import { errorText, fileErrorText, foreignVariable } from '@scanfarm/platform'
import { Type, type Static } from 'typebox'
import { CloudError } from '../../provider.ts'
import { parsedJson, property, textOf } from '../errors.ts'
import type { GcpSettings } from '../settings.ts'
import { AwsSource, awsSubjectToken } from './aws-subject.ts'
import {
  exchangedToken,
  ExternalAccount,
  impersonatedToken,
  metadataToken,
  OptionalText,
  refused,
  request,
  ServiceAccount,
  serviceAccountToken,
  Text,
  User,
  userToken,
  type Token,
} from './tokens.ts'

export interface Identity {
  readonly project: string
  /** A token that is valid for some minutes. Rejects with a CloudError. */
  token(): Promise<string>
}

type TokenSource = () => Promise<Token>

/** A token is renewed this long before its end. */
const RENEWED_BEFORE_MS = 300_000

/** Rejects with `credentials` when there are none. The first call shows whether they are valid. */
export async function openIdentity({ credentialsFile, project }: GcpSettings): Promise<Identity> {
  const file = credentialsFile ?? usualFile()
  const content = file === undefined ? undefined : await readCredentials(file)
  const named = textOf(property(content, 'project_id')) ?? foreignVariable('GOOGLE_CLOUD_PROJECT')
  const found = project ?? named
  if (!found)
    throw new CloudError(
      'credentials',
      'the credentials for gcp name no project: add gcp=PROJECT to cloud.projects',
    )
  const load = content === undefined ? machineToken : sourceOf(content, credentialsFile === undefined)
  return { project: found, token: kept(load) }
}

/** Where Google's own programs look for credentials. */
function usualFile(): string | undefined {
  const named = foreignVariable('GOOGLE_APPLICATION_CREDENTIALS')
  if (named !== undefined) return named
  const folder = foreignVariable('CLOUDSDK_CONFIG') ?? join(homedir(), '.config/gcloud')
  const usual = join(folder, 'application_default_credentials.json')
  return existsSync(usual) ? usual : undefined
}

async function machineToken(): Promise<Token> {
  const host = foreignVariable('GCE_METADATA_HOST') ?? 'metadata.google.internal'
  try {
    return await metadataToken(host)
  } catch (error) {
    throw new CloudError(
      'credentials',
      `there are no credentials for gcp: add gcp=@FILE to cloud.credentials (${errorText(error)})`,
    )
  }
}

/** One request for all calls that need a token at the same time. Failures are not kept. */
function kept(load: TokenSource): () => Promise<string> {
  let pending: Promise<Token> | undefined
  let token: Token | undefined
  return async () => {
    if (token === undefined || Date.now() > token.expiresAtMs - RENEWED_BEFORE_MS)
      token = await (pending ??= load().finally(() => (pending = undefined)))
    return token.value
  }
}

async function readCredentials(path: string): Promise<object> {
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
  if (typeof content === 'object' && content !== null) return content
  throw new CloudError('credentials', `the credentials file of gcp, ${path}, does not contain a JSON object`)
}

const Impersonated = Type.Object({
  source_credentials: Type.Object({}),
  service_account_impersonation_url: Text,
})
const Format = Type.Object({
  type: Type.Optional(Type.Union([Type.Literal('text'), Type.Literal('json')])),
  subject_token_field_name: OptionalText,
})
const FileSource = Type.Object({ file: Text, format: Type.Optional(Format) })
const UrlSource = Type.Object({
  url: Text,
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  format: Type.Optional(Format),
})

/** `usual`: the types that Google's own programs write are accepted too. */
function sourceOf(content: object, usual: boolean): TokenSource {
  const type = textOf(property(content, 'type'))
  try {
    if (type === 'service_account') {
      const account = compile(ServiceAccount, SUBJECT)(content)
      return () => serviceAccountToken(account)
    }
    if (type === 'external_account') return externalSource(content)
    if (usual && type === 'authorized_user') {
      const user = compile(User, SUBJECT)(content)
      return () => userToken(user)
    }
    if (usual && type === 'impersonated_service_account') {
      const account = compile(Impersonated, SUBJECT)(content)
      const by = sourceOf(account.source_credentials, usual)
      return async () => impersonatedToken(account.service_account_impersonation_url, await by())
    }
  } catch (error) {
    throw error instanceof CloudError ? error : refused(errorText(error))
  }
  throw unsupported()
}

const SUBJECT = { subject: 'credentials file' }

const unsupported = (): CloudError =>
  new CloudError(
    'credentials',
    'the credentials file of gcp is neither the key of a service account nor an external account whose token comes from a file, a URL or AWS',
  )

/** Refuses sources that execute a program named in the file. */
function externalSource(content: object): TokenSource {
  const account = compile(ExternalAccount, SUBJECT)(content)
  const subject = subjectSource(account)
  return async () => exchangedToken(account, await subject())
}

function subjectSource({
  audience,
  credential_source: source,
}: Static<typeof ExternalAccount>): () => Promise<string> {
  if ('environment_id' in source) {
    const aws = compile(AwsSource, SUBJECT)(source)
    return () => awsSubjectToken(aws, audience)
  }
  if ('file' in source) {
    const { file, format } = compile(FileSource, SUBJECT)(source)
    return async () => subjectToken(await readSubject(file), format)
  }
  if ('url' in source) {
    const { url, headers = {}, format } = compile(UrlSource, SUBJECT)(source)
    return async () => subjectToken(await request(url, { headers }), format)
  }
  throw unsupported()
}

const readSubject = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw refused(`credential_source.file, ${file}, cannot be read: ${fileErrorText(error)}`)
  }
}

function subjectToken(content: string, format: Static<typeof Format> | undefined): string {
  const name = format?.subject_token_field_name ?? ''
  const token = format?.type === 'json' ? textOf(property(parsedJson(content), name)) : content
  if (token) return token
  throw refused('credential_source has no token where its format says')
}
