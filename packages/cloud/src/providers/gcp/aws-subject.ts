import { createHash, createHmac } from 'node:crypto'
import { foreignVariable } from '@scanfarm/platform'
import { Type, type Static } from 'typebox'
import { parsedJson, property, textOf } from '../errors.ts'
import { OptionalText, refused, request, Text } from './tokens.ts'

/** Where a machine of AWS reads its region and credentials, unless the environment has them. */
export const AwsSource = Type.Object({
  environment_id: Text,
  region_url: OptionalText,
  url: OptionalText,
  imdsv2_session_token_url: OptionalText,
  regional_cred_verification_url: Text,
})
type AwsSource = Static<typeof AwsSource>

interface AwsIdentity {
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  readonly session: string | undefined
}

/** The subject token of a workload on AWS: a signed request with which Google asks AWS for its identity. */
export async function awsSubjectToken(source: AwsSource, audience: string): Promise<string> {
  if (source.environment_id !== 'aws1')
    throw refused(`environment_id is "${source.environment_id}"; expected aws1`)
  const identity = await awsIdentity(source)
  const url = source.regional_cred_verification_url.replace('{region}', identity.region)
  const headers = { ...signedHeaders(url, identity, new Date()), 'x-goog-cloud-target-resource': audience }
  const list = Object.entries(headers).map(([key, value]) => ({ key, value }))
  return encodeURIComponent(JSON.stringify({ url, method: 'POST', headers: list }))
}

async function awsIdentity(source: AwsSource): Promise<AwsIdentity> {
  const region = foreignVariable('AWS_REGION') ?? foreignVariable('AWS_DEFAULT_REGION')
  const accessKey = foreignVariable('AWS_ACCESS_KEY_ID')
  const secretKey = foreignVariable('AWS_SECRET_ACCESS_KEY')
  const session = foreignVariable('AWS_SESSION_TOKEN')
  const fromEnvironment = accessKey !== undefined && secretKey !== undefined
  if (region !== undefined && fromEnvironment) return { region, accessKey, secretKey, session }

  const headers = await metadataHeaders(source)
  const read = async (name: 'region_url' | 'url', path = ''): Promise<string> => {
    const url = source[name]
    if (url === undefined) throw refused(`credential_source has no ${name}`)
    return (await request(`${url}${path}`, { headers })).trim()
  }
  // A zone like eu-west-1b.
  const there = region ?? (await read('region_url')).slice(0, -1)
  if (fromEnvironment) return { region: there, accessKey, secretKey, session }
  const credentials = parsedJson(await read('url', `/${await read('url')}`))
  return {
    region: there,
    accessKey: textOf(property(credentials, 'AccessKeyId')) ?? '',
    secretKey: textOf(property(credentials, 'SecretAccessKey')) ?? '',
    session: textOf(property(credentials, 'Token')),
  }
}

async function metadataHeaders({
  imdsv2_session_token_url: url,
}: AwsSource): Promise<Record<string, string>> {
  if (url === undefined) return {}
  const headers = { 'x-aws-ec2-metadata-token-ttl-seconds': '300' }
  return { 'x-aws-ec2-metadata-token': await request(url, { method: 'PUT', headers }) }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** The headers of a POST without a body, with AWS's signature of version 4. */
export function signedHeaders(url: string, identity: AwsIdentity, now: Date): Record<string, string> {
  const { host, pathname, search } = new URL(url)
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/${identity.region}/${host.split('.')[0]}/aws4_request`
  const headers = {
    host,
    'x-amz-date': time,
    ...(identity.session !== undefined && { 'x-amz-security-token': identity.session }),
  }
  const names = Object.keys(headers).join(';')
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`)
  const canonical = ['POST', pathname, search.slice(1), lines.join(''), names, sha256('')].join('\n')
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${identity.secretKey}`)
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${identity.accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { authorization, ...headers }
}
