-- Who changed what over the API.

-- Successful requests that changed something.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- The user or token.
  kind text not null check (kind in ('user', 'token')),
  caller_id bigint not null,
  caller text not null,
  role text not null,
  method text not null,
  -- Pattern of the route: /users/{id}.
  route text not null,
  -- The path with its ids: /users/3.
  path text not null,
  status int not null
);
create index audit_log_age on audit_log (at);
create index audit_log_caller on audit_log (caller, id);
