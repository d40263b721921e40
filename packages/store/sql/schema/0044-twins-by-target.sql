-- Functions find runs of one workflow on one target by runs_target. An index of their own made each submit a tenth slower.
drop index runs_twins;
