-- Trigger: derives what lists, counts and events use; see derived_fields. What is inserted is what a scanner reported. Functions
-- get single columns: as a whole row, long texts would be read, and written again.
create or replace function derive_finding() returns trigger
language plpgsql as $$
declare
  d record;
begin
  if tg_op = 'INSERT' then
    new.seen := coalesce(new.seen, new.state);
    new.scan_severity := coalesce(new.scan_severity, new.severity);
    new.scan_tags := coalesce(new.scan_tags, new.tags);
  end if;
  new.ruled := rule_effects(new.workspace, new.vuln_info, new.vuln_title, new.asset_value, new.source, new.scan_severity,
                            new.scan_tags, null);
  select * into d from derived_fields(new.seen, new.scan_severity, new.scan_tags, new.decision, new.ruled, new.back_at);
  new.severity := d.severity;
  new.tags := d.tags;
  new.verdict := d.verdict;
  new.reason := d.reason;
  new.until := d.until;
  new.decided_by := d.decided_by;
  new.decided_at := d.decided_at;
  new.back_at := d.back_at;
  new.assignee := d.assignee;
  new.state := d.state;
  new.gone_at := case when new.state = 'gone' then coalesce(new.gone_at, now()) end;
  if tg_op = 'UPDATE' then
    if (old.state, new.state) = ('gone', 'open') then
      new.opened_at := now();
    end if;
    if (old.state, old.severity, old.confidence, old.tags, old.vuln_info, old.vuln_title, old.asset_value, old.verdict,
        old.reason, old.until, old.assignee, old.ticket)
      is distinct from (new.state, new.severity, new.confidence, new.tags, new.vuln_info, new.vuln_title, new.asset_value,
        new.verdict, new.reason, new.until, new.assignee, new.ticket)
      or old.vuln_desc <> new.vuln_desc or old.vuln_poc <> new.vuln_poc
    then
      new.updated_at := now();
    end if;
  end if;
  return new;
end $$;
