import { Type, type Static } from 'typebox'

/** Enumerations of the API. */

export const WorkflowKind = Type.Enum(['flow', 'module'])
export type WorkflowKind = Static<typeof WorkflowKind>

export const PRIORITIES = ['low', 'normal', 'high', 'critical'] as const
export const Priority = Type.Enum(PRIORITIES)
export type Priority = Static<typeof Priority>

/** Priorities of BullMQ: lower values run first. 0 is not used, because it would precede all prioritised messages. */
export const PRIORITY_RANK: Readonly<Record<Priority, number>> = { critical: 1, high: 2, normal: 3, low: 4 }

export const RunMode = Type.Enum(['local', 'distributed', 'cloud'])
export type RunMode = Static<typeof RunMode>

/**
 * What an operator wants a worker or the slots of a server to do. `paused`: claim no runs. `stopped`: end the program
 * after the runs under way, which cannot be taken back.
 */
export const Wanted = Type.Enum(['running', 'paused', 'stopped'], {
  description:
    'What an operator wants of it. paused: it finishes its runs and claims no more. stopped: its program also ends',
})
export type Wanted = Static<typeof Wanted>

export const RunnerType = Type.Enum(['host', 'docker', 'ssh'])
export type RunnerType = Static<typeof RunnerType>

/** How thoroughly a run examines its target: not at all, by its text (and DNS), or also by requests to it. */
export const HEURISTICS = ['none', 'basic', 'advanced'] as const
export type Heuristics = (typeof HEURISTICS)[number]

export const TriggerType = Type.Enum(['manual', 'cron', 'event', 'watch'])
export type TriggerType = Static<typeof TriggerType>

export const CloudProviderName = Type.Enum([
  'aws',
  'gcp',
  'digitalocean',
  'linode',
  'azure',
  'hetzner',
  'local',
])
export type CloudProviderName = Static<typeof CloudProviderName>

export const ArtifactType = Type.Enum(['report', 'state_file', 'output', 'screenshot'])
export type ArtifactType = Static<typeof ArtifactType>

export const ContentType = Type.Enum([
  'json',
  'jsonl',
  'yaml',
  'html',
  'md',
  'log',
  'pdf',
  'png',
  'txt',
  'zip',
  'folder',
  'unknown',
])
export type ContentType = Static<typeof ContentType>

/**
 * `viewer` reads; `operator` also starts and stops runs, uploads targets, emits events and writes findings; `admin`
 * does everything.
 */
export const Role = Type.Enum(['viewer', 'operator', 'admin'])
export type Role = Static<typeof Role>

const ROLE_RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 }
export const roleAllows = (have: Role, need: Role): boolean => ROLE_RANK[have] >= ROLE_RANK[need]
