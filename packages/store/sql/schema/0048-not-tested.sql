-- The event of the end of a job counts them.
create index vulnerabilities_not_tested on vulnerabilities (workspace) where seen in ('not_tested', 'unreachable');
