import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'

const run = promisify(execFile)
const HOME = join(import.meta.dirname, '../../../../.cache/ec2-peer')
/** Of the server's own extra, which is for all services, EC2 and IAM need these two: a third of the time and room. */
const PACKAGES = ['moto[ec2]==5.2.5', 'flask==3.1.3', 'flask-cors==6.0.5']
export const INSTALL_DEADLINE_MS = 900_000
const START_DEADLINE_MS = 180_000
const START_TRIES = 3
/** Written last: what is there without it is half an installation. */
const COMPLETE = join(HOME, 'complete')

/** Amazon's own description of EC2's calls, as Amazon's Python SDK ships it; that SDK comes with the server. */
export async function describedCalls(): Promise<string> {
  const [python] = await readdir(join(HOME, 'lib'))
  const file = join(HOME, 'lib', python ?? '', 'site-packages/botocore/data/ec2/2016-11-15/service-2.json.gz')
  return gunzipSync(await readFile(file)).toString()
}

export interface Ec2Server extends AsyncDisposable {
  readonly endpoint: string
  /** Forgets everything but the images. */
  reset(): Promise<void>
  /** A user who may do those actions, by the server's IAM. */
  addUser(name: string, actions: readonly string[]): Promise<Keys>
  /** Whether signatures and permissions are checked. */
  guard(on: boolean): Promise<void>
}

export interface Keys {
  readonly accessKey: string
  readonly secretKey: string
}

/** A server written by others that speaks EC2, in its own process, with those images; installed into `.cache` when it is not there. */
export async function startEc2Server(images: readonly Ec2Image[]): Promise<Ec2Server> {
  await install()
  const file = join(HOME, `images.${process.pid}.json`)
  await writeFile(file, JSON.stringify(images.map(amiOf)))
  const { endpoint, kill } = await startAnywhere(file)
  const stop = async () => {
    await kill()
    await rm(file, { force: true })
  }
  const post = async (path: string, body: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`${endpoint}${path}`, { method: 'POST', body, headers })
    const said = await answer.text()
    if (!answer.ok) throw new Error(`the EC2 peer answers ${answer.status} to ${path}: ${said}`)
    return said
  }
  const iam = (form: Readonly<Record<string, string>>) =>
    post('/', new URLSearchParams({ ...form, Version: '2010-05-08' }).toString(), IAM_HEADERS)
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
    [Symbol.asyncDispose]: stop,
  }
}

interface Started {
  readonly endpoint: string
  kill(): Promise<void>
}

/** The server wants to be told its port: one that somebody else took meanwhile is given up for another. */
async function startAnywhere(images: string): Promise<Started> {
  for (let left = START_TRIES; ; left -= 1) {
    const started = await startAt(await freePort(), images).catch((error: unknown) => {
      if (left === 1) throw error
    })
    if (started) return started
  }
}

async function startAt(port: number, images: string): Promise<Started> {
  const child = spawn(join(HOME, 'bin/moto_server'), ['-H', '127.0.0.1', '-p', String(port)], {
    stdio: 'ignore',
    env: {
      ...process.env,
      MOTO_AMIS_PATH: images,
      MOTO_ENABLE_AMI_VALIDATION: 'yes',
      MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION: 'yes',
    },
  })
  const ended = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  const endpoint = `http://127.0.0.1:${port}`
  try {
    await answering(endpoint, ended)
    return { endpoint, kill }
  } catch (error) {
    await kill()
    throw error
  }
}

/** The server tells from them which service is meant. */
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

const install = async (): Promise<void> => {
  const lock = `${HOME}.lock`
  const deadline = Date.now() + INSTALL_DEADLINE_MS
  await mkdir(dirname(HOME), { recursive: true })
  while (!existsSync(COMPLETE)) {
    try {
      await mkdir(lock)
    } catch {
      if (Date.now() > deadline)
        throw new Error(
          `another test run has been installing the EC2 peer for long; if none does, remove ${lock}`,
        )
      await wait(250)
      continue
    }
    try {
      if (!existsSync(COMPLETE)) await installLocked()
    } finally {
      await rm(lock, { recursive: true, force: true })
    }
  }
}

const installLocked = async (): Promise<void> => {
  try {
    await rm(HOME, { recursive: true, force: true })
    await run('python3', ['-m', 'venv', HOME])
    // Most of it is never loaded: what is, is compiled then.
    const how = ['--quiet', '--no-compile', '--retries=10', '--timeout=60']
    await run(join(HOME, 'bin/pip'), ['install', ...how, ...PACKAGES])
    await writeFile(COMPLETE, PACKAGES.join('\n'))
  } catch (error) {
    await rename(HOME, `${HOME}.failed.${process.pid}`).catch(() => undefined)
    await rm(`${HOME}.failed.${process.pid}`, { recursive: true, force: true })
    throw new Error(
      `the tests of aws need ${PACKAGES.join(', ')}, and they could not be installed with python3 -m venv and pip: is python3-venv installed, is PyPI reachable?`,
      { cause: error },
    )
  }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

const answering = async (endpoint: string, ended: Promise<unknown>): Promise<void> => {
  const deadline = Date.now() + START_DEADLINE_MS
  let dead = false
  void ended.then(() => (dead = true))
  while (Date.now() < deadline && !dead) {
    const answered = await fetch(`${endpoint}/moto-api/data.json`).then(
      async (answer) => (await answer.text(), answer.ok),
      () => false,
    )
    if (answered) return
    await wait(50)
  }
  throw new Error(`the EC2 peer at ${endpoint} does not answer`)
}
