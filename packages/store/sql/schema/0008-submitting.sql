-- submit_job, insert_runs, fill_outbox and expand_chunk have new parameters, so that older programs cannot call them.

-- Whether a claim has put the row back since it was sent: the dispatcher that sent it must not remove it.
alter table outbox add column delayed boolean not null default false;
