-- Inserts one event and returns its id.
create or replace function insert_event(p_event jsonb, p_processed boolean, p_error text) returns bigint
language sql as $$
  insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                          processed, processed_at, error)
  select e.topic, e.event_id, e.name, e.source, e.data_type, e.data, e.workspace, e.run_id, e.workflow_name,
         p_processed, case when p_processed then now() end, p_error
  from jsonb_to_record(p_event) as e(topic text, event_id text, name text, source text, data_type text, data text,
                                     workspace text, run_id text, workflow_name text)
  returning id
$$;
