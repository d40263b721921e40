import type { InfraRequest } from '@scanfarm/cloud'
import { closed, CloudProviderName, type FieldError } from '@scanfarm/contracts'
import { Type, type Static } from 'typebox'
import { problemAt } from '../http/refusal.ts'

const Text = Type.String({ minLength: 1, maxLength: 128 })
const Count = Type.Integer({ minimum: 1, maximum: 10_000 })

/** The settings and then the provider supply missing fields. */
export const InfraRequestBody = closed({
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
      description: 'Time after which the machines are destroyed in any case',
    }),
  ),
})
export type InfraRequestBody = Static<typeof InfraRequestBody>

export const REFUSED_FIELDS = {
  tags: 'is not supported: machines only get the tags by which the farm finds them',
}

export const requestProblems = ({ instances, instance_count: count }: InfraRequestBody): FieldError[] => {
  const differ = instances !== undefined && count !== undefined && instances !== count
  return problemAt(
    '/instance_count',
    differ && 'is another name of instances but has another value: send one of them',
  )
}

export const requestOf = (body: InfraRequestBody): InfraRequest => ({
  provider: body.provider,
  instances: body.instances ?? body.instance_count,
  instanceType: body.instance_type,
  region: body.region,
  useSpot: body.use_spot,
  hours: body.hours,
  tools: [],
})
