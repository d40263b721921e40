-- Login tokens that were logged out. They contain when they expire, so they cannot be deleted instead.
create table revoked_logins (
  -- SHA-256 of the signed part of the token, hex.
  hash text primary key,
  expires_at timestamptz not null
);
create index revoked_logins_expiry on revoked_logins (expires_at);
