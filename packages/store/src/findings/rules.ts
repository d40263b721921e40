import type { FindingRule, NewFindingRule, RuleContent, RulePreview } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { isUniqueViolation } from '../database/connection.ts'
import type { Tables } from '../tables.ts'
import { storable, storableJson } from '../text.ts'
import { allRows, firstRow } from '../rows.ts'

/** Every import evaluates all rules. */
export const MAX_RULES = 200
/** Findings that a preview reads, and lists. */
export const PREVIEW = { read: 10_000, list: 100 } as const

/** A saved rule, which another request may have removed since, and how many findings it changed. */
type Outcome = { readonly rule: FindingRule | undefined; readonly changed: number } | 'taken' | undefined

const RULE = sql`
  f.id, f.name, f.position,
  jsonb_strip_nulls(jsonb_build_object('check', f.check_glob, 'title', f.title_glob, 'asset', f.asset_glob,
    'workspace', f.workspace_glob, 'severity', f.severities, 'tool', f.tool_glob)) as match,
  jsonb_strip_nulls(jsonb_build_object('verdict', f.verdict, 'reason', nullif(f.reason, ''), 'until', f.until,
    'severity', f.severity, 'assignee', f.assignee, 'tags', nullif(f.tags, '{}'))) as set,
  f.created_by, f.created_at, f.updated_at`

/** A rule as columns of its table. `network`: the asset is one. */
const columnsOf = ({ name, position, match, set }: RuleContent, isNetwork: boolean): object => ({
  ...(name === undefined ? {} : { name }),
  ...(position === undefined ? {} : { position }),
  ...(match === undefined
    ? {}
    : {
        check_glob: match.check ?? null,
        title_glob: match.title ?? null,
        asset_glob: match.asset ?? null,
        network: isNetwork ? match.asset : null,
        workspace_glob: match.workspace ?? null,
        severities: match.severity ?? null,
        tool_glob: match.tool ?? null,
      }),
  ...(set === undefined
    ? {}
    : {
        verdict: set.verdict ?? null,
        reason: set.reason ?? '',
        until: set.until ?? null,
        severity: set.severity ?? null,
        assignee: set.assignee ?? null,
        tags: set.tags ?? [],
      }),
})

/** `upkeep`: the same database with a longer statement timeout. `isNetwork`: whether the asset of a rule is an address range. */
export const makeRules = (db: Kysely<Tables>, upkeep: Kysely<Tables>) => {
  const find = (ref: string): Promise<FindingRule | undefined> => firstRow(db)<FindingRule>`
      select ${RULE}, (select count(*) from vulnerabilities v
                       where v.ruled <> '{}' and v.ruled @> jsonb_build_object('rules', jsonb_build_array(f.id))) as findings
      from finding_rules f where f.id::text = ${storable(ref)} or lower(f.name) = lower(${storable(ref)})
    `
  /** Undefined: there is no such rule, or there are `MAX_RULES`. */
  const save = async (id: number | null, columns: object | null, by: string): Promise<Outcome> => {
    try {
      const saved = await firstRow(upkeep)<{ rule_id: number; changed: number }>`
        select rule_id, changed
        from save_rule(${id}, ${columns === null ? null : storableJson(columns)}::jsonb, ${storable(by)}, ${MAX_RULES})
      `
      const rule = saved === undefined ? undefined : await find(String(saved.rule_id))
      return saved === undefined ? undefined : { rule, changed: saved.changed }
    } catch (error) {
      if (isUniqueViolation(error)) return 'taken'
      throw error
    }
  }
  return {
    /** In the order in which they apply. */
    async list(): Promise<FindingRule[]> {
      return await allRows(db)<FindingRule>`
        with used as (
          select (r.id #>> '{}')::bigint as id, count(*) as findings
          from vulnerabilities v cross join lateral jsonb_array_elements(v.ruled -> 'rules') r(id)
          where v.ruled <> '{}' group by 1)
        select ${RULE}, coalesce(u.findings, 0) as findings
        from finding_rules f left join used u on u.id = f.id order by f.position, f.id
      `
    },
    /** By id, or by name in any case. */
    find,
    /** Adds a rule and applies it; undefined: there are `MAX_RULES`; taken: another rule has its name. */
    add: (rule: NewFindingRule, isNetwork: boolean, by: string): Promise<Outcome> =>
      save(null, columnsOf(rule, isNetwork), by),
    /** Changes a rule and applies it; undefined: it does not exist. */
    change: (id: number, rule: RuleContent, isNetwork: boolean, by: string): Promise<Outcome> =>
      save(id, columnsOf(rule, isNetwork), by),
    /** Removes a rule and what it set; undefined: it does not exist. */
    remove: (id: number, by: string): Promise<Outcome> => save(id, null, by),
    /** What a rule would do; `id`: in place of that one. */
    async preview(rule: RuleContent, isNetwork: boolean, id: number | null = null): Promise<RulePreview> {
      const { rows } = await sql<RulePreview['findings'][number] & { changes: boolean }>`
        select *, before <> after as changes
        from preview_rule(${id}, ${storableJson(columnsOf(rule, isNetwork))}::jsonb, ${PREVIEW.read})
      `.execute(upkeep)
      const changed = rows.filter(({ changes }) => changes)
      return {
        matched: rows.length,
        complete: rows.length < PREVIEW.read,
        changed: changed.length,
        findings: changed
          .slice(0, PREVIEW.list)
          .map(({ id: finding, before, after }) => ({ id: finding, before, after })),
      }
    },
  }
}
