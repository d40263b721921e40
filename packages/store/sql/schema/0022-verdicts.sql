-- requires: derive_finding, derived_fields, merged_tags, record_finding_change
-- What scans see of a finding and what people decide about it are apart: a scan never changes a decision. State, severity
-- and tags follow from both, from rules, and from what the scanner reported: see derived_fields.

drop trigger finding_changed on vulnerabilities;
-- By scans. not_tested: the last scan could not check it; unreachable: it did not reach the host.
alter table vulnerabilities add column seen text;
alter table vulnerabilities add constraint vulnerabilities_seen check (seen in ('open', 'gone', 'not_tested', 'unreachable'));
-- Why it is not open: the run, and what it did.
alter table vulnerabilities add column seen_reason text not null default '';
alter table vulnerabilities add column scan_severity text;
alter table vulnerabilities add column scan_tags text[];
-- What a person decided: {"verdict": {"value", "reason", "until", "by", "at"}, "severity", "assignee", "add_tags",
-- "remove_tags"}.
alter table vulnerabilities add column decision jsonb not null default '{}';
-- What rules set, and which rule: see rule_effects.
alter table vulnerabilities add column ruled jsonb not null default '{}';
alter table vulnerabilities add column verdict text not null default 'none';
alter table vulnerabilities add constraint vulnerabilities_verdict
  check (verdict in ('none', 'confirmed', 'false_positive', 'accepted', 'fixed_claimed'));
alter table vulnerabilities add column reason text not null default '';
-- When an acceptance ends.
alter table vulnerabilities add column until timestamptz;
alter table vulnerabilities add column decided_by text not null default '';
alter table vulnerabilities add column decided_at timestamptz;
-- When a scan saw it again although a person had claimed that it is fixed.
alter table vulnerabilities add column back_at timestamptz;
alter table vulnerabilities add column assignee text not null default '';
alter table vulnerabilities add column ticket text not null default '';

-- Comments, and changes by hand, are kept apart from changes by scans.
alter table finding_changes add column comment text not null default '';

-- Before, an operator could mark a finding as gone, and change its tags, until a scan replaced both.
with states as (
  select distinct on (vulnerability_id) vulnerability_id, changed_at, changed_by, changes #>> '{state,to}' as state
  from finding_changes where changes ? 'state' order by vulnerability_id, id desc
), claims as (
  select distinct on (vulnerability_id) vulnerability_id, changed_at, changed_by, changes #>> '{state,to}' as state
  from finding_changes where changes ? 'state' and changed_by <> '' order by vulnerability_id, id desc
), tagged as (
  select distinct on (c.vulnerability_id, t.tag) c.vulnerability_id, t.tag,
         c.changes #> '{tags,to}' ? t.tag as added
  from finding_changes c cross join lateral (
    (select jsonb_array_elements_text(c.changes #> '{tags,to}') except select jsonb_array_elements_text(c.changes #> '{tags,from}'))
    union
    (select jsonb_array_elements_text(c.changes #> '{tags,from}') except select jsonb_array_elements_text(c.changes #> '{tags,to}'))
  ) t(tag)
  where c.changes ? 'tags' and c.changed_by <> '' order by c.vulnerability_id, t.tag, c.id desc
), tags as (
  select vulnerability_id, jsonb_strip_nulls(jsonb_build_object('add_tags', jsonb_agg(tag) filter (where added),
           'remove_tags', jsonb_agg(tag) filter (where not added))) as decision
  from tagged group by vulnerability_id
), decided as (
  select v.id, case when c.state = 'gone' then jsonb_build_object('verdict', jsonb_build_object('value', 'fixed_claimed',
             'reason', 'marked as gone', 'by', c.changed_by, 'at', c.changed_at)) else '{}' end
           || coalesce(t.decision, '{}') as decision,
         case when v.state = 'gone' and s.changed_by <> '' then 'open' else v.state end as seen,
         case when v.state = 'open' and c.state = 'gone' then s.changed_at end as back_at
  from vulnerabilities v left join states s on s.vulnerability_id = v.id left join claims c on c.vulnerability_id = v.id
    left join tags t on t.vulnerability_id = v.id
)
update vulnerabilities v
set scan_severity = v.severity, scan_tags = v.tags, seen = d.seen, decision = d.decision, back_at = d.back_at
from decided d where d.id = v.id;
update vulnerabilities v
set (verdict, reason, decided_by, decided_at, tags) = (
  select d.verdict, d.reason, d.decided_by, d.decided_at, d.tags
  from derived_fields(v.seen, v.scan_severity, v.scan_tags, v.decision, '{}', v.back_at) d)
where v.decision <> '{}';

alter table vulnerabilities alter column seen set not null, alter column scan_severity set not null,
  alter column scan_tags set not null;
create index vulnerabilities_decided on vulnerabilities (verdict, id) where verdict <> 'none';
create index vulnerabilities_assignee on vulnerabilities (assignee, id) where assignee <> '';
create index vulnerabilities_until on vulnerabilities (until) where until is not null;

-- Rules that decide about findings: for each field the first rule by position that matches and sets it. Null: any, or not set.
create table finding_rules (
  id bigint generated always as identity primary key,
  name text not null,
  position int not null,
  -- Globs, ignoring case.
  check_glob text,
  title_glob text,
  -- Of the place, or of its host; if it is a network, that network contains the host.
  asset_glob text,
  network inet,
  workspace_glob text,
  -- Of the scanner.
  severities text[],
  -- Of the source, or of a tag of the scanner.
  tool_glob text,
  verdict text collate "C" check (verdict in ('confirmed', 'false_positive', 'accepted')),
  reason text not null,
  until timestamptz,
  severity text collate "C",
  assignee text,
  tags text[] not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index finding_rules_name on finding_rules (lower(name));
create index vulnerabilities_ruled on vulnerabilities using gin (ruled) where ruled <> '{}';

create trigger finding_derived
  before insert or update of seen, seen_reason, scan_severity, scan_tags, decision, ruled, back_at, source, vuln_info,
    vuln_title, asset_value
  on vulnerabilities
  for each row execute function derive_finding();
create trigger finding_changed after update on vulnerabilities
  for each row
  when ((old.state, old.severity, old.confidence, old.tags, old.seen, old.verdict, old.reason, old.until, old.assignee,
         old.ticket, old.back_at is null)
        is distinct from (new.state, new.severity, new.confidence, new.tags, new.seen, new.verdict, new.reason, new.until,
         new.assignee, new.ticket, new.back_at is null))
  execute function record_finding_change();
