import { Type, type Static } from 'typebox'
import { NullableTimestamp, Timestamp } from '../resources.ts'
import { RunStatus } from '../runs/run-status.ts'
import { MAX_ENTRY_LENGTH } from './entry.ts'
import { Limits } from './limits.ts'
import { DAYS } from './windows.ts'
import { closed, flag, named, text } from '../objects.ts'

/** Most entries of a list of a scope, and of the never-scan list. */
export const SCOPE_ENTRIES = 10_000
export const NEVER_SCAN_ENTRIES = 100_000

const EntryText = Type.String({ minLength: 1, maxLength: MAX_ENTRY_LENGTH })
const entries = (description: string, minItems: number) =>
  Type.Array(EntryText, { minItems, maxItems: SCOPE_ENTRIES, description })
const CLOCK = '^([01][0-9]|2[0-3]):[0-5][0-9]$'

const Window = closed({
  days: Type.Optional(
    Type.Array(Type.Enum([...DAYS]), {
      minItems: 1,
      maxItems: 7,
      description: 'On which it begins; default: all',
    }),
  ),
  from: Type.String({ pattern: CLOCK, description: 'Like 22:00' }),
  to: Type.String({ pattern: CLOCK, description: 'Not after from: on the next day' }),
})

export const ENFORCEMENTS = ['checked', 'kernel'] as const

const Moment = Type.Union([text('RFC 3339'), Type.Null()])
const fields = {
  allowed: entries(
    'A host (example.com), a domain with all below it (*.example.com), a network, a range from one address to another, a prefix of URLs, or * for everything; with ports like :80,8000-9000',
    1,
  ),
  denied: entries('The same; a host also denies what is below it', 0),
  owner: Type.String({ maxLength: 256 }),
  note: Type.String({ maxLength: 4096 }),
  valid_from: Moment,
  valid_until: Moment,
  windows: Type.Array(Window, { maxItems: 64, description: 'When runs may scan; none: always' }),
  zone: Type.String({ minLength: 1, maxLength: 64, description: 'Time zone of the windows' }),
  limits: Limits,
  workspaces: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    maxItems: 1_000,
    description: 'All runs in them are bound to the scope',
  }),
  enforcement: Type.Enum([...ENFORCEMENTS], {
    description:
      'kernel: only workers whose kernel drops packets run its commands, and they send nothing but to what is allowed, name servers and gateways; checked: forbidden packets are dropped where a worker can',
  }),
}
const Name = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9._-]{0,127}$',
  description: 'Letters, digits and . _ -, beginning with a letter',
})
const { allowed, ...others } = fields

export const NewScope = closed(
  { name: Name, allowed, ...Type.Partial(Type.Object(others)).properties },
  { $id: 'NewScope' },
)
export type NewScope = Static<typeof NewScope>

export const ChangeScope = closed(Type.Partial(Type.Object({ name: Name, ...fields })).properties, {
  $id: 'ChangeScope',

  minProperties: 1,
})
export type ChangeScope = Static<typeof ChangeScope>

/** What a scope permits. */
export const Scope = named('Scope', {
  name: Type.String(),
  ...fields,
  valid_from: NullableTimestamp,
  valid_until: NullableTimestamp,
  created_by: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Scope = Static<typeof Scope>

/** The part of a scope that decides. */
export type ScopeRules = Pick<
  Scope,
  'name' | 'allowed' | 'denied' | 'valid_from' | 'valid_until' | 'windows' | 'zone' | 'enforcement'
>

const neverScan = {
  entry: Type.String({
    minLength: 1,
    maxLength: MAX_ENTRY_LENGTH,
    description:
      'A host or domain with all below it, a network, or one of the other forms of entries of scopes',
  }),
  reason: Type.String({ minLength: 1, maxLength: 1024 }),
  until: Type.Optional(Moment),
  workflow: Type.Optional(
    Type.String({ maxLength: 256, description: 'Only for runs of this workflow; default: all' }),
  ),
}

export const NewNeverScan = closed(neverScan, { $id: 'NewNeverScan' })
export type NewNeverScan = Static<typeof NewNeverScan>

/** An entry of the never-scan list. */
export const NeverScan = named('NeverScan', {
  id: Type.Integer(),
  entry: Type.String(),
  reason: Type.String(),
  until: NullableTimestamp,
  workflow: text('"": all workflows'),
  created_by: Type.String(),
  created_at: Timestamp,
})
export type NeverScan = Static<typeof NeverScan>
export type NeverScanRule = Pick<NeverScan, 'entry' | 'reason' | 'until'>

/** A target that was not scanned, and why. */
export const RefusedTarget = named('RefusedTarget', { target: Type.String(), reason: Type.String() })
export type RefusedTarget = Static<typeof RefusedTarget>

/** Most refusals that an answer, a job and the event log have of one request. */
export const LISTED_REFUSALS = 10_000

export const REFUSAL_PLACES = [
  'submit',
  'trigger',
  'start',
  'item',
  'request',
  'redirect',
  'kernel',
  'delta',
] as const
export type RefusalPlace = (typeof REFUSAL_PLACES)[number]
/** Those of a run. */
export type RunRefusalPlace = Exclude<RefusalPlace, 'submit' | 'trigger' | 'delta'>

export const Refusal = named('Refusal', {
  id: Type.Integer(),
  target: Type.String(),
  reason: Type.String(),
  place: Type.Enum([...REFUSAL_PLACES], {
    description:
      'Where it was refused: submit, trigger, start (of the run), item (of a loop), request or redirect (of an http step or a function), kernel (packets of a command, which were not sent); delta: left out, since nothing changed',
  }),
  run_uuid: text('"" if it became no run'),
  created_at: Timestamp,
})
export type Refusal = Static<typeof Refusal>

export const DESTINATION_PLACES = ['target', 'item', 'request', 'redirect', 'resolved', 'more'] as const
export type DestinationPlace = (typeof DESTINATION_PLACES)[number]

/** A run that may have sent traffic to a host. */
export const Traffic = named('Traffic', {
  run_uuid: Type.String(),
  job_id: Type.String(),
  workflow: Type.String(),
  target: Type.String(),
  workspace: Type.String(),
  status: RunStatus,
  started_at: Timestamp,
  completed_at: NullableTimestamp,
  destinations: Type.Array(
    Type.Object({
      host: text('The host, or the target, network or domain that has it'),
      place: Type.Enum([...DESTINATION_PLACES], {
        description:
          'target, item (of a loop), request or redirect (of an http step or a function), resolved (an address of a name), more (the run had too many destinations to record them)',
      }),
    }),
    { description: 'Why the run is listed' },
  ),
  worker: text('Name of the last worker that executed it; "": not known'),
  hostname: text('Of the machine of the worker'),
  egress_address: text('Of a cloud machine; "": that of the worker\'s network'),
  scope: text('That of its request; "": none'),
  steps: Type.Array(
    Type.Object({
      name: Type.String(),
      module: Type.String(),
      command: Type.String(),
      sends_nothing: flag('Its functions only compute, or work with files and records'),
      started_at: NullableTimestamp,
      completed_at: NullableTimestamp,
    }),
    { description: 'The first 100 that ran in the time asked for; conditions of modules are no steps' },
  ),
})
export type Traffic = Static<typeof Traffic>
