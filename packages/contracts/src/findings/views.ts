import { Type, type Static } from 'typebox'
import { RunStatus } from '../runs/run-status.ts'
import { FindingState } from './findings.ts'
import { Severities } from './report.ts'
import { SEVERITIES } from './severities.ts'
import { Count, flag, named, text } from '../objects.ts'
import { NullableTimestamp, Timestamp } from '../resources.ts'

/** A run that saw a finding or an asset. */
export const SeenBy = Type.Object({
  run_uuid: Type.String(),
  workflow_name: Type.String(),
  target: Type.String(),
  status: RunStatus,
  started_at: NullableTimestamp,
  completed_at: NullableTimestamp,
})
export type SeenBy = Static<typeof SeenBy>

/** Findings of one check, or of one host. */
export const FindingGroup = Type.Object({
  value: text('For the parameter of that name; "" for findings without identifier and title, or host'),
  title: text('Of its worst finding'),
  severity: Type.Enum([...SEVERITIES], { description: 'Of its worst finding' }),
  count: Type.Integer({ minimum: 1 }),
  checks: Type.Integer({ minimum: 1 }),
  hosts: Type.Integer({ minimum: 1 }),
})
export type FindingGroup = Static<typeof FindingGroup>

const Words = Type.Array(Type.String())

/** What scans know of a name or an address. */
export const HostFacts = Type.Object({
  names: Words,
  addresses: Words,
  workspaces: Words,
  technologies: Words,
  ports: Type.Array(
    Type.Object({
      port: Type.String({ examples: ['443/tcp'] }),
      service: text('What answers there, or ""'),
      workspace: Type.String(),
      state: FindingState,
      first_seen: Timestamp,
      last_seen: Timestamp,
    }),
  ),
  assets: Count,
  findings: Severities,
  runs: Type.Array(SeenBy, { description: 'Scanned or saw it; newest first, at most 100' }),
})
export type HostFacts = Static<typeof HostFacts>

/** Distinct values, sorted. */
export const AssetStats = Type.Object({
  technologies: Words,
  sources: Words,
  remarks: Words,
  asset_types: Words,
})
export type AssetStats = Static<typeof AssetStats>

export const SavedFilter = named('SavedFilter', {
  id: Type.Integer(),
  screen: Type.String(),
  name: Type.String(),
  query: Type.String(),
  shared: flag('Everybody sees it'),
  own: flag('The caller has saved it'),
  owner_name: Type.String(),
  created_at: Timestamp,
})
export type SavedFilter = Static<typeof SavedFilter>
