-- 'kernel': only workers that drop packets execute its runs, and nothing but what is allowed is sent to.
alter table scan_scopes add column enforcement text not null default 'checked'
  check (enforcement in ('checked', 'kernel'));
