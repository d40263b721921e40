-- Why the kernel of a worker does not keep packets of commands within scopes; '': it does; null: an older program.
alter table workers add column enforcement_gap text;
