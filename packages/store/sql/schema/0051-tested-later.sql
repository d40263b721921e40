-- Each look at the last night asks which findings have been tested since.
create index finding_changes_tested on finding_changes (changed_at)
  where changes #>> '{seen,from}' in ('not_tested', 'unreachable');
