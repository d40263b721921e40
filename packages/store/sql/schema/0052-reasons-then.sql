-- requires: record_finding_change
-- What an earlier night says about a finding: also why it was not tested then.
create or replace trigger finding_changed after update on vulnerabilities
  for each row
  when ((old.state, old.severity, old.confidence, old.tags, old.seen, old.seen_reason, old.verdict, old.reason, old.until,
         old.assignee, old.ticket, old.back_at is null)
        is distinct from (new.state, new.severity, new.confidence, new.tags, new.seen, new.seen_reason, new.verdict,
         new.reason, new.until, new.assignee, new.ticket, new.back_at is null))
  execute function record_finding_change();
