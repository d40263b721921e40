import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { MOTO_HOME, startMoto } from '@scanfarm/testing'

/** Amazon's description of EC2, from its Python SDK, which is a dependency of the server. */
export async function describedCalls(): Promise<string> {
  const [python] = await readdir(join(MOTO_HOME, 'lib'))
  const file = join(
    MOTO_HOME,
    'lib',
    python ?? '',
    'site-packages/botocore/data/ec2/2016-11-15/service-2.json.gz',
  )
  return gunzipSync(await readFile(file)).toString()
}

export interface Ec2Server extends AsyncDisposable {
  readonly endpoint: string
  /** Deletes everything but the images. */
  reset(): Promise<void>
  /** Creates an IAM user with these permissions. */
  addUser(name: string, actions: readonly string[]): Promise<Keys>
  /** Enables the checks of signatures and permissions. */
  guard(on: boolean): Promise<void>
}

export interface Keys {
  readonly accessKey: string
  readonly secretKey: string
}

/** An independent EC2 server (moto) in its own process, with these images. */
export async function startEc2Server(images: readonly Ec2Image[]): Promise<Ec2Server> {
  await using scope = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-ec2-'))
  scope.defer(() => rm(folder, { recursive: true }))
  const file = join(folder, 'images.json')
  await writeFile(file, JSON.stringify(images.map(amiOf)))
  const { endpoint } = scope.use(
    await startMoto({
      MOTO_AMIS_PATH: file,
      MOTO_ENABLE_AMI_VALIDATION: 'yes',
      MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION: 'yes',
    }),
  )
  const post = async (path: string, body: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`${endpoint}${path}`, { method: 'POST', body, headers })
    const said = await answer.text()
    if (!answer.ok) throw new Error(`the EC2 peer answers ${answer.status} to ${path}: ${said}`)
    return said
  }
  const iam = (form: Readonly<Record<string, string>>) =>
    post('/', new URLSearchParams({ ...form, Version: '2010-05-08' }).toString(), IAM_HEADERS)
  const started = scope.move()
  return {
    endpoint,
    async reset() {
      await post('/moto-api/reset', '')
    },
    async addUser(UserName, actions) {
      await iam({ Action: 'CreateUser', UserName })
      const policy = {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Action: actions, Resource: '*' }],
      }
      const named = { UserName, PolicyName: 'farm', PolicyDocument: JSON.stringify(policy) }
      await iam({ Action: 'PutUserPolicy', ...named })
      const said = await iam({ Action: 'CreateAccessKey', UserName })
      const [, accessKey = ''] = /<AccessKeyId>(.+)<\/AccessKeyId>/.exec(said) ?? []
      const [, secretKey = ''] = /<SecretAccessKey>(.+)<\/SecretAccessKey>/.exec(said) ?? []
      return { accessKey, secretKey }
    },
    async guard(on) {
      await post('/moto-api/reset-auth', on ? '0' : 'inf')
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

/** The server derives the service from them. */
const IAM_HEADERS = {
  'content-type': 'application/x-www-form-urlencoded',
  authorization:
    'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=test',
}

export interface Ec2Image {
  readonly id: string
  readonly name: string
  readonly owner: string
  readonly architecture: 'arm64' | 'x86_64'
  readonly made: string
}

const amiOf = ({ id, name, owner, architecture, made }: Ec2Image) => ({
  ami_id: id,
  name,
  owner_id: owner,
  architecture,
  creation_date: made,
  state: 'available',
  public: true,
  image_location: name,
  image_type: 'machine',
  root_device_type: 'ebs',
  root_device_name: '/dev/sda1',
  virtualization_type: 'hvm',
  hypervisor: 'xen',
  sriov: 'simple',
  description: name,
  platform: null,
})
