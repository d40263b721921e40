import { CloudProviderName, type FieldError } from '@scanfarm/contracts'
import { Type, type Static } from 'typebox'
import type { InfraWish } from '../../cloud/draft-infra.ts'

const Text = Type.String({ minLength: 1, maxLength: 128 })
const Count = Type.Integer({ minimum: 1, maximum: 10_000 })

/** What machines are asked for; what is missing comes from the settings, then from the provider. */
export const MachineWish = Type.Object(
  {
    provider: Type.Optional(CloudProviderName),
    instances: Type.Optional(Count),
    instance_count: Type.Optional(Count),
    instance_type: Type.Optional(Text),
    region: Type.Optional(Text),
    use_spot: Type.Optional(Type.Boolean()),
    hours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 8760,
        description: 'Life of the machines; then they are destroyed whatever happens',
      }),
    ),
  },
  { additionalProperties: false },
)
export type MachineWish = Static<typeof MachineWish>

export const REFUSED_WISHES = {
  tags: 'is not supported: machines carry the tags by which the farm finds and destroys them, and no others',
}

export const wishProblems = ({ instances, instance_count }: MachineWish): FieldError[] =>
  instances === undefined || instance_count === undefined || instances === instance_count
    ? []
    : [{ path: '/instance_count', message: 'means the same as instances, and says something else: give one' }]

export const wishOf = (body: MachineWish): InfraWish => ({
  provider: body.provider,
  instances: body.instances ?? body.instance_count,
  instanceType: body.instance_type,
  region: body.region,
  useSpot: body.use_spot,
  hours: body.hours,
  tools: [],
})
