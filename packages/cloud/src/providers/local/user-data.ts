import { Type, type Static } from 'typebox'
import { parse } from 'yaml'
import { compile } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { CloudError } from '../../provider.ts'

/** The form of `renderUserData`. What containers do not use is open: their image has all programs, and no sudo. */
const UserData = Type.Object(
  {
    users: Type.Array(
      Type.Object({
        name: Type.String({ pattern: '^[a-z_][a-z0-9_-]{0,31}$' }),
        ssh_authorized_keys: Type.Array(Type.String()),
      }),
    ),
    ssh_keys: Type.Object({ ed25519_private: Type.String() }),
    write_files: Type.Array(
      Type.Object({ path: Type.String(), permissions: Type.String(), content: Type.String() }),
    ),
    runcmd: Type.Array(Type.Array(Type.String())),
    disable_root: Type.Optional(Type.Unknown()),
    ssh_pwauth: Type.Optional(Type.Literal(false)),
    ssh_deletekeys: Type.Optional(Type.Unknown()),
    package_update: Type.Optional(Type.Unknown()),
    packages: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)
export type UserData = Static<typeof UserData>

const check = compile(UserData, { subject: 'document' })

/** Refuses documents that are not `#cloud-config` or contain keys that containers do not support. */
export function readUserData(text: string): UserData {
  try {
    if (!/^#cloud-config\s*\n/.test(text)) throw new Error('it does not start with #cloud-config')
    return check(parse(text))
  } catch (error) {
    throw new CloudError('refused', `the user data cannot be used: ${errorText(error)}`)
  }
}
