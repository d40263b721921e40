// Generated from the OpenAPI document by `npm run generate`.
export interface paths {
    "/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List runs, newest first
         * @description Requires the role viewer.
         */
        get: operations["getRuns"];
        put?: never;
        /**
         * Start a workflow for one target, many targets or a file of targets
         * @description One run is created for each target; all runs of the request share one job. With more than 5,000 targets, the job counts all of them as pending at once, and their runs appear in it and in lists within seconds. Blank targets, lines that begin with `#` and duplicates are dropped. Forms of existing clients are accepted: fields that are null or "" count as missing, numbers and booleans in params become text, and fields that have no effect are reported in `warnings`.
         *
         *     Requires the role operator.
         */
        post: operations["postRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one run
         * @description Requires the role viewer.
         */
        get: operations["getRunsId"];
        put?: never;
        post?: never;
        /**
         * Cancel a run and terminate its processes
         * @description Waits up to 5 seconds for the owner of the run to report the terminated processes. If the owner does not report within `runs.cancel_grace_ms` plus 4 seconds, the run is set to `cancelled` without it. With a longer grace period the answer has the `status` `running` and a `note`: poll the run. An ended run is not changed: the answer has its `status` and a `note`.
         *
         *     Requires the role operator.
         */
        delete: operations["deleteRunsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the steps of the latest attempt, in order
         * @description Requires the role viewer.
         */
        get: operations["getRunsIdSteps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the attempts of a run: which worker executed each one, and how it ended
         * @description Oldest first. Of the attempts that did not end the run, the newest 100 are kept. A run that has not been claimed has none.
         *
         *     Requires the role viewer.
         */
        get: operations["getRunsIdAttempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read or follow what the workflow and the engine logged
         * @description The log of the latest attempt, which is also its artifact `execution log`. `Scanfarm-Log` in the answer says how much there is: `complete`; `live`: all that its worker has stored so far; `tail`: the last 16 KiB that its worker has reported. `Scanfarm-Log-Size` is the number of bytes there are. `offset` or `line`, and `limit`, read a part of them, which begins at byte `Scanfarm-Log-Offset`; an offset or a line after the end gets no bytes.
         *
         *     With `follow=true` the answer is a stream of server-sent events. Each event has `{"offset": N, "text": "…"}`: the text of the log from byte N on, cut between characters, where bytes that are not UTF-8 are U+FFFD. Its id is `ATTEMPT-OFFSET`, the position after it; a client that reconnects sends it as `Last-Event-ID` and continues without a gap. The event `attempt` says that the run was started again: the log begins again at 0. The event `end` has the status and the size of the log, and the stream ends; a client must close it then.
         *
         *     Requires the role viewer.
         */
        get: operations["getRunsIdLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/steps/{step_id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read or follow the whole output of a step
         * @description `Scanfarm-Log` in the answer says how much there is: `complete`; `live`: all that its worker has stored so far; `tail`: the last 16 KiB that its worker has reported. `Scanfarm-Log-Size` is the number of bytes there are. `offset` or `line`, and `limit`, read a part of them, which begins at byte `Scanfarm-Log-Offset`; an offset or a line after the end gets no bytes.
         *
         *     With `follow=true` the answer is a stream of server-sent events. Each event has `{"offset": N, "text": "…"}`: the text of the log from byte N on, cut between characters, where bytes that are not UTF-8 are U+FFFD. Its id is `ATTEMPT-OFFSET`, the position after it; a client that reconnects sends it as `Last-Event-ID` and continues without a gap. The event `attempt` says that the run was started again: the log begins again at 0. The event `end` has the status and the size of the log, and the stream ends; a client must close it then.
         *
         *     Requires the role viewer.
         */
        get: operations["getRunsIdStepsStepIdLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/diff/{other}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare the findings of two runs
         * @description Records that only the second run found are new, records that only the first run found are gone, and records that both found with differences are changed. Sightings are kept for the latest 50 runs of the same workflow, target and params.
         *
         *     Requires the role viewer.
         */
        get: operations["getRunsIdDiffOther"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the artifacts
         * @description Requires the role viewer.
         */
        get: operations["getRunsIdArtifacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/artifacts/{artifact_id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download an artifact
         * @description Supports `Range` and `If-None-Match`. The content is an attachment, because it may be hostile. With `view=frame` texts, HTML, images and PDF can be shown in a frame of the console: a sandbox without scripts, without requests and without the cookie.
         *
         *     Requires the role viewer.
         */
        get: operations["getRunsIdArtifactsArtifactIdContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Copy a run with the same configuration
         * @description The copy is a new job with one run, which is pending until it is started.
         *
         *     Requires the role operator.
         */
        post: operations["postRunsIdDuplicate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a pending run
         * @description Requires the role operator.
         */
        post: operations["postRunsIdStart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/step-results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the steps of several runs
         * @description Newest runs first, with the steps of the latest attempt in order. Only the newest 10000 runs that match workspace and run are read.
         *
         *     Requires the role viewer.
         */
        get: operations["getStepResults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upload-file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload a file of targets
         * @description Send the returned `path` as `target_file` to POST /runs, on any master.
         *
         *     Requires the role operator.
         */
        post: operations["postUploadFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the newest distributed runs as tasks
         * @description A task is a distributed run. The newest 100 of each status are listed; GET /runs lists all.
         *
         *     Requires the role viewer.
         */
        get: operations["getTasks"];
        put?: never;
        /**
         * Start a distributed run
         * @description Like POST /runs with `run_mode: distributed`, with the same validation.
         *
         *     Requires the role operator.
         */
        post: operations["postTasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one run as a task
         * @description Requires the role viewer.
         */
        get: operations["getTasksId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List jobs, newest first
         * @description A page with filters looks at up to 50,000 jobs: it may have fewer than `limit` although `next_cursor` shows that more follow.
         *
         *     Requires the role viewer.
         */
        get: operations["getJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the status of all runs of one request
         * @description Below `/osm/api` the runs have all fields of a run.
         *
         *     Requires the role viewer.
         */
        get: operations["getJobsJobId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the priority of the waiting runs of a job
         * @description Waiting runs, also those whose message is in the queue, take their place by the new priority. Running runs are not touched. The answer is 202 if more than 10,000 runs wait: they take their place within seconds or, with a million, within a minute.
         *
         *     Requires the role operator.
         */
        patch: operations["patchJobsJobId"];
        trace?: never;
    };
    "/jobs/{job_id}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a job without its runs
         * @description Requires the role viewer.
         */
        get: operations["getJobsJobIdSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the findings that a job changed
         * @description New, back and gone, and those that it could not test or reach, the most severe first. With `since`: what changed in its workspaces after the end of that earlier job. False positives and accepted findings are left out. The counts are those of `GET /nights`.
         *
         *     Requires the role viewer.
         */
        get: operations["getJobsJobIdChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reports/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a report about a job, as a page for a person
         * @description Scope, coverage with what was not reached, counts with new, back and gone, the age of what is open, and the top issues with advice. The page loads nothing and has no scripts.
         *
         *     Requires the role viewer.
         */
        get: operations["getReportsJobsJobId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reports/schedules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a report about the last job of a schedule, as a page for a person
         * @description Scope, coverage with what was not reached, counts with new, back and gone, the age of what is open, and the top issues with advice. The page loads nothing and has no scripts.
         *
         *     Requires the role viewer.
         */
        get: operations["getReportsSchedulesId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reports/workspaces/{workspace}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a report about a workspace and the last job in it, as a page for a person
         * @description Scope, coverage with what was not reached, counts with new, back and gone, the age of what is open, and the top issues with advice. The page loads nothing and has no scripts.
         *
         *     Requires the role viewer.
         */
        get: operations["getReportsWorkspacesWorkspace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}/strip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the states of all targets of a job, in order
         * @description One letter for each run: `p` pending, `q` queued, `r` running, `c` completed (clean, or before outcomes were recorded), `a` completed partially, `n` completed with nothing done, `f` failed, `x` cancelled. Letters that repeat are shortened to the letter and a count: `c3f` is `cccf`. `ids` has the ids of these runs, as pairs of the first id and the number of consecutive ids. An answer has an `ETag`: send it as `If-None-Match` to poll.
         *
         *     Requires the role viewer.
         */
        get: operations["getJobsJobIdStrip"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}/failures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Group the failed runs of a job by message
         * @description Runs that failed, or completed with the outcome partial or nothing_done. Messages that differ only in numbers, hosts, addresses, URLs, uuids and long hex numbers are one group. Largest groups first, at most 100; the first 200,000 runs of the job are looked at.
         *
         *     Requires the role viewer.
         */
        get: operations["getJobsJobIdFailures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the throughput of a job and when it is expected to end
         * @description The estimate comes from the last 200 ends. `early_seconds` and `late_seconds` are a range, from the fast and slow parts of that time; they are null, with a reason, while too little is known. The answer for a large job may be some seconds old.
         *
         *     Requires the role viewer.
         */
        get: operations["getJobsJobIdProgress"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repeat what failed or was cancelled, as a new job
         * @description The new job has the workflow version, params and priority of the first one, and its targets whose latest run, in the job and its retries, has one of `statuses` or `outcomes`. Targets that a retry is executing are left out: a repeated request answers 200 with the retry that exists. The runs of the first job stay as they are.
         *
         *     Requires the role operator.
         */
        post: operations["postJobsJobIdRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel several runs
         * @description Waiting runs are cancelled at once. Running ones are asked to stop and are cancelled seconds later. Ended and unknown runs are reported and change nothing.
         *
         *     Requires the role operator.
         */
        post: operations["postRunsCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repeat several runs that did not do all their work
         * @description Repeats runs that failed, were cancelled, or ended with the outcome partial or nothing_done. The runs of each job become one new job, as with `POST /jobs/{job_id}/retry`; a run that a retry is already executing is not repeated twice.
         *
         *     Requires the role operator.
         */
        post: operations["postRunsRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel all runs of a job that have not ended
         * @description Waiting runs no longer start and are cancelled immediately; those of a large job are cancelled within seconds. Running ones are asked to stop and are cancelled seconds later: poll the job.
         *
         *     Requires the role operator.
         */
        post: operations["postJobsJobIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cloud/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List infrastructures with their machines, newest first
         * @description Requires the role viewer.
         */
        get: operations["getCloudInstances"];
        put?: never;
        /**
         * Create machines at a cloud provider
         * @description Runs use them with `cloud_reuse_infra`. They are destroyed by DELETE, when their time is over, and with `auto_destroy` after the last run of all jobs that use them.
         *
         *     Requires the role admin.
         */
        post: operations["postCloudInstances"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cloud/instances/{infra_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an infrastructure and its machines
         * @description Requires the role viewer.
         */
        get: operations["getCloudInstancesInfraId"];
        put?: never;
        post?: never;
        /**
         * Destroy the machines of an infrastructure
         * @description Waiting runs are cancelled, and running ones are asked to stop. The machines are destroyed asynchronously: poll the status. An infrastructure that has ended stays as it is.
         *
         *     Requires the role admin.
         */
        delete: operations["deleteCloudInstancesInfraId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cloud/instances/{infra_id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the progress of the machines of an infrastructure
         * @description Requires the role viewer.
         */
        get: operations["getCloudInstancesInfraIdStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cloud/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the cloud providers, and whether they accept the credentials
         * @description Requires the role viewer.
         */
        get: operations["getCloudProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cloud/providers/{name}/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the credentials of a cloud provider now
         * @description Requires the role operator.
         */
        post: operations["postCloudProvidersNameValidate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cloud/estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Estimate the cost of machines
         * @description Creates nothing. Traffic, disks and taxes are not included.
         *
         *     Requires the role viewer.
         */
        post: operations["postCloudEstimate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workflows that can be started by name
         * @description Requires the role viewer.
         */
        get: operations["getWorkflows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tags of all listed workflows
         * @description Requires the role viewer.
         */
        get: operations["getWorkflowsTags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check now for new, changed and removed workflow files
         * @description Changes are also found by the next request that needs a workflow. The counts are relative to the previous call on this server, or to its start.
         *
         *     Requires the role operator.
         */
        post: operations["postWorkflowsRefresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/lint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a workflow file without adding it
         * @description The file is the body, or the field `file` of a form. It is checked on its own, like an upload: workflows that it refers to are not loaded. The first 1000 problems are returned, and one more that counts the rest.
         *
         *     Requires the role viewer.
         */
        post: operations["postWorkflowsLint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one workflow as YAML text, or as JSON with json=true
         * @description Requires the role viewer.
         */
        get: operations["getWorkflowsName"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{name}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a workflow as a graph, with its source, problems, params and the workers that have its programs
         * @description Nodes contain each other by `parent`: the workflow contains modules and hooks, these contain steps, and steps contain steps. Edges connect nodes with the same parent. A workflow that has errors is drawn as far as it can be read.
         *
         *     Requires the role viewer.
         */
        get: operations["getWorkflowsNameGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{name}/needs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell what runs of a workflow with these params would need, and which live workers have it
         * @description Starts nothing. Programs of modules that would certainly not run do not count. Local slots of servers execute local runs; of what these need, only missing programs of the shipped manifest are known.
         *
         *     Requires the role viewer.
         */
        post: operations["postWorkflowsNameNeeds"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflow-upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a workflow, or replace the uploaded one with the same kind and name
         * @description The file is checked first and refused if it has errors. All masters then serve it.
         *
         *     Requires the role admin.
         */
        post: operations["postWorkflowUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflow.schema.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the JSON Schema of the workflow language, for editors
         * @description Needs no token.
         */
        get: operations["getWorkflowSchemaJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/functions/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the functions of the workflow language
         * @description Requires the role viewer.
         */
        get: operations["getFunctionsList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/functions/eval": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evaluate an expression of the workflow language
         * @description The expression is JavaScript in a sandbox. `target` and the params are variables, also in `{{…}}`. Pure functions can be called, and functions that read files below the folders of the setting target_file.folders. All others would act on the server and are refused: use them in a step of a workflow. Limits: 5 s, 32 MiB, 262144 characters for each value.
         *
         *     Requires the role operator.
         */
        post: operations["postFunctionsEval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/vulnerabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List vulnerabilities, newest first
         * @description Requires the role viewer.
         */
        get: operations["getVulnerabilities"];
        put?: never;
        /**
         * Add a vulnerability
         * @description Always creates a new record; use the import to update known ones.
         *
         *     Requires the role operator.
         */
        post: operations["postVulnerabilities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/vulnerabilities/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count open vulnerabilities by severity; state=gone counts those that are gone, state=open,gone both
         * @description Requires the role viewer.
         */
        get: operations["getVulnerabilitiesSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/vulnerabilities/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export vulnerabilities as a file
         * @description All records that match the filters are exported.
         *
         *     Requires the role viewer.
         */
        get: operations["getVulnerabilitiesExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/vulnerabilities/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the vulnerabilities of a filter by severity, state, workflow, asset and other fields
         * @description Takes the filters of GET /vulnerabilities. Counts the newest 100000 records that match; `complete` is false if there are more. Large counts may be some seconds old.
         *
         *     Requires the role viewer.
         */
        get: operations["getVulnerabilitiesFacets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/vulnerabilities/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change or delete many vulnerabilities
         * @description Send `ids` or `filter` (the parameters of GET /vulnerabilities), and the `change`. One request changes at most 1000 records in one transaction; with a filter these are the newest, and `next_cursor` continues with older ones. A record that is opened again by hand writes vuln.found, as a sighting does. Later scans, imports and rules do not change what is decided here.
         *
         *     Requires the role operator.
         */
        post: operations["postVulnerabilitiesBulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/vulnerabilities/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the vulnerabilities of a workspace that appeared, disappeared or changed in a period
         * @description Requires the role viewer.
         */
        get: operations["getVulnerabilitiesDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/vulnerabilities/diffs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List stored comparisons of vulnerabilities
         * @description Always empty: `GET /vulnerabilities/diff` computes a comparison on request from the history of the records.
         *
         *     Requires the role viewer.
         */
        get: operations["getVulnerabilitiesDiffs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/vulnerabilities/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import the findings of a scanner
         * @description The file is the body, or the field `file` of a form. Known records are updated, not duplicated; importing the same file again only changes when they were seen. Records are saved in batches: those before an error are kept.
         *
         *     Requires the role operator.
         */
        post: operations["postVulnerabilitiesImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/vulnerabilities/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one vulnerability
         * @description With the runs that saw it, as far as sightings are kept, and its newest changes by scans and people.
         *
         *     Requires the role viewer.
         */
        get: operations["getVulnerabilitiesId"];
        put?: never;
        post?: never;
        /**
         * Delete one vulnerability
         * @description Requires the role operator.
         */
        delete: operations["deleteVulnerabilitiesId"];
        options?: never;
        head?: never;
        /**
         * Decide about one vulnerability
         * @description Sets the verdict with its reason, and the severity, tags, assignee and ticket that a person decides on. Scans and rules do not change them; a finding that is seen again after its fix was claimed is open and marked with back_at. A comment is added to the history.
         *
         *     Requires the role operator.
         */
        patch: operations["patchVulnerabilitiesId"];
        trace?: never;
    };
    "/finding-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the rules that decide about findings, in the order in which they apply
         * @description Requires the role viewer.
         */
        get: operations["getFindingRules"];
        put?: never;
        /**
         * Add a rule and apply it to present and future findings
         * @description For each field the first rule by position that matches and sets it decides; tags of all rules are added. What a person decided about a finding wins over rules. A farm has at most 200 rules.
         *
         *     Requires the role operator.
         */
        post: operations["postFindingRules"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/finding-rules/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show what a rule would change, without saving it
         * @description Reads the newest 10000 findings that it matches, and lists the newest 100 that it would change.
         *
         *     Requires the role operator.
         */
        post: operations["postFindingRulesPreview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/finding-rules/{rule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one rule
         * @description Requires the role viewer.
         */
        get: operations["getFindingRulesRule"];
        put?: never;
        post?: never;
        /**
         * Remove a rule and what it set
         * @description Requires the role operator.
         */
        delete: operations["deleteFindingRulesRule"];
        options?: never;
        head?: never;
        /**
         * Change a rule and apply it again
         * @description match and set replace the stored ones as a whole.
         *
         *     Requires the role operator.
         */
        patch: operations["patchFindingRulesRule"];
        trace?: never;
    };
    "/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List assets, newest first
         * @description Requires the role viewer.
         */
        get: operations["getAssets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the assets of a workspace that appeared, disappeared or changed in a period
         * @description Requires the role viewer.
         */
        get: operations["getAssetsDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets/diffs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List stored comparisons of assets
         * @description Always empty: `GET /assets/diff` computes a comparison on request from the history of the records.
         *
         *     Requires the role viewer.
         */
        get: operations["getAssetsDiffs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the assets of a filter by type, port, technology and other fields
         * @description Takes the filters of GET /assets. Counts the newest 100000 records that match; `complete` is false if there are more. Large counts may be some seconds old.
         *
         *     Requires the role viewer.
         */
        get: operations["getAssetsFacets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one asset
         * @description With the runs that saw it, as far as sightings are kept.
         *
         *     Requires the role viewer.
         */
        get: operations["getAssetsId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asset-stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the technologies, sources, remarks and types of assets
         * @description Requires the role viewer.
         */
        get: operations["getAssetStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workspaces by name, with counts of their records
         * @description A workspace is a name used by runs, assets, vulnerabilities or an organisation. Records that are gone are counted too.
         *
         *     Requires the role viewer.
         */
        get: operations["getWorkspaces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspace-names": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the names of the workspaces, at most 10000, as a plain array
         * @description Requires the role viewer.
         */
        get: operations["getWorkspaceNames"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the artifacts of several runs, newest runs first
         * @description Artifacts of the latest attempts. Only the newest 10000 runs that match workspace and run are read.
         *
         *     Requires the role viewer.
         */
        get: operations["getArtifacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/artifacts/{workspace}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the newest artifact with the given path in a workspace
         * @description Supports `Range` and `If-None-Match`. The content is always an attachment, because it may be hostile. A folder is sent as a tar file.
         *
         *     Requires the role viewer.
         */
        get: operations["getArtifactsWorkspace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ws/{key}/{workspace}/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the newest artifact with the given path in a workspace through a link
         * @description Requires a key in the setting `http.files_key`; otherwise the answer is always 404. The path may have several segments. Folders are not listed. The content is always an attachment, because it may be hostile.
         *
         *     Needs no token.
         */
        get: operations["getWsKeyWorkspacePath"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List stored snapshots
         * @description Always empty: a snapshot is created for each download and not stored.
         *
         *     Requires the role viewer.
         */
        get: operations["getSnapshots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/snapshots/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Download all records and files of a workspace as a zip file
         * @description Created while it is sent: `runs.jsonl`, `assets.jsonl` and `vulnerabilities.jsonl` with all records, the newest artifact of each path below `files/`, and `snapshot.json` with the counts.
         *
         *     Requires the role viewer.
         */
        post: operations["postSnapshotsExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/snapshots/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a snapshot (not supported)
         * @description snapshots cannot be imported: runs belong to the farm that executed them; import findings with POST /vulnerabilities/import
         *
         *     Requires the role operator.
         */
        post: operations["postSnapshotsImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/snapshots/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a stored snapshot
         * @description Always 404, because no snapshot is stored.
         *
         *     Requires the role operator.
         */
        delete: operations["deleteSnapshotsName"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/snapshot-download/{workspace}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download all records and files of a workspace as a zip file
         * @description Created while it is sent: `runs.jsonl`, `assets.jsonl` and `vulnerabilities.jsonl` with all records, the newest artifact of each path below `files/`, and `snapshot.json` with the counts.
         *
         *     Requires the role viewer.
         */
        get: operations["getSnapshotDownloadWorkspace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scopes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what may be scanned
         * @description Requires the role viewer.
         */
        get: operations["getScopes"];
        put?: never;
        /**
         * Add a scope
         * @description Runs keep to the scope that their request names and to that of their workspace: each target must be allowed by both. Denied entries win over allowed ones.
         *
         *     Requires the role admin.
         */
        post: operations["postScopes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scopes/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one scope
         * @description Requires the role viewer.
         */
        get: operations["getScopesName"];
        put?: never;
        post?: never;
        /**
         * Remove a scope
         * @description Waiting runs that name it are refused. A scope that has workspaces is not removed.
         *
         *     Requires the role admin.
         */
        delete: operations["deleteScopesName"];
        options?: never;
        head?: never;
        /**
         * Change a scope
         * @description Lists replace the stored ones as a whole. Waiting runs are checked again when they start.
         *
         *     Requires the role admin.
         */
        patch: operations["patchScopesName"];
        trace?: never;
    };
    "/scope-check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Say whether a target may be scanned, and why not
         * @description Names are not resolved: workers also refuse a name that has a forbidden address.
         *
         *     Requires the role viewer.
         */
        get: operations["getScopeCheck"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/never-scan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what no run may scan
         * @description Requires the role operator.
         */
        get: operations["getNeverScan"];
        put?: never;
        /**
         * Forbid a host, a domain or a network to all runs
         * @description A name also forbids what is below it, and a network each address in it, also as one of the addresses of a name. An entry that exists gets the new reason and end.
         *
         *     Requires the role admin.
         */
        post: operations["postNeverScan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/never-scan/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add the entries of a file to the never-scan list
         * @description All of them or, if one is invalid, none. Entries that exist get the new reason and end; no entry is removed.
         *
         *     Requires the role admin.
         */
        post: operations["postNeverScanImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/never-scan/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove an entry of the never-scan list
         * @description Requires the role admin.
         */
        delete: operations["deleteNeverScanId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}/refusals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the targets of a job that were not scanned because a scope or the never-scan list forbids them
         * @description Oldest first. The total also counts those that are not listed: the first 10,000 of a request are, for 90 days.
         *
         *     Requires the role viewer.
         */
        get: operations["getJobsJobIdRefusals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orgs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the organisations with counts of their records
         * @description An organisation is a named set of workspaces; there are at most 1000. The default one has all workspaces without another organisation. Counts above 10,000 may be a few seconds old; the first 100 workspaces of each are listed.
         *
         *     Requires the role viewer.
         */
        get: operations["getOrgs"];
        put?: never;
        /**
         * Create an organisation
         * @description Requires the role admin.
         */
        post: operations["postOrgs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orgs/{org}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one organisation
         * @description Requires the role viewer.
         */
        get: operations["getOrgsOrg"];
        /**
         * Change an organisation, or assign workspaces to it
         * @description Missing and empty fields are not changed. `workspaces` are moved from their current organisations; assigning them to the default one removes them from theirs.
         *
         *     Requires the role admin.
         */
        put: operations["putOrgsOrg"];
        post?: never;
        /**
         * Delete an organisation
         * @description Its workspaces move to the default organisation; their records are kept.
         *
         *     Requires the role admin.
         */
        delete: operations["deleteOrgsOrg"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orgs/{org}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the records of an organisation
         * @description The first 10,000 workspaces are listed.
         *
         *     Requires the role viewer.
         */
        get: operations["getOrgsOrgStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/event-logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the event log, newest first
         * @description Requires the role viewer.
         */
        get: operations["getEventLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/emit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Emit an event and start the workflows that it triggers
         * @description Filters and dedupe windows are evaluated before the answer: `triggered_workflows` lists the workflows that got runs.
         *
         *     Requires the role operator.
         */
        post: operations["postEventsEmit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the event log as server-sent events
         * @description Each event is an entry of the event log. A client that reconnects sends the id of the last received event as `Last-Event-ID` (browsers do so automatically) and continues without a gap. Without it the stream begins with new events. A reader that is too slow receives an event `cut` with the id to continue from, and the stream ends.
         *
         *     Requires the role viewer.
         */
        get: operations["getEventsStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/event-receiver/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the state of the event receiver
         * @description Requires the role viewer.
         */
        get: operations["getEventReceiverStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/event-receiver/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workflows that have triggers
         * @description Requires the role viewer.
         */
        get: operations["getEventReceiverWorkflows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the triggers of workflow files and schedules, with their last and next executions
         * @description Sorted by workflow and name. Triggers of the type manual are not listed: they only allow or forbid starts by hand.
         *
         *     Requires the role viewer.
         */
        get: operations["getTriggers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/triggers/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell what triggers would do with an event; nothing is started or stored
         * @description Tests one trigger (`key` from GET /triggers, or `workflow` and `trigger`), all triggers of a workflow, or all event triggers whose topic matches; at most 20. All filters are evaluated, also after one that fails. Cron and watch triggers need no event: `data` is added to the event schedule.triggered. Disabled triggers are tested too.
         *
         *     Requires the role operator.
         */
        post: operations["postTriggersTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nights": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the schedules with what their last job did and found
         * @description Those that ran last come first. Findings are counted as they are now: false positives and accepted ones are left out. `open` and `not_tested` count in all workspaces of the last job.
         *
         *     Requires the role viewer.
         */
        get: operations["getNights"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the schedules, newest first
         * @description Requires the role viewer.
         */
        get: operations["getSchedules"];
        put?: never;
        /**
         * Start a workflow on a schedule, on events or on file changes
         * @description The same triggers as in workflow files. The default of `trigger_type` is cron; cron requires `schedule`, event `event_topic` and watch `watch_path`. Forms of existing clients are accepted: fields that are null count as missing, target and params may be in `input_config`, and fields that have no effect are reported in `warnings`.
         *
         *     Requires the role admin.
         */
        post: operations["postSchedules"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one schedule
         * @description Requires the role viewer.
         */
        get: operations["getSchedulesId"];
        /**
         * Change fields of a schedule; takes effect immediately
         * @description Requires the role admin.
         */
        put: operations["putSchedulesId"];
        post?: never;
        /**
         * Delete a schedule; its runs are kept
         * @description Requires the role admin.
         */
        delete: operations["deleteSchedulesId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable a schedule from now on
         * @description Requires the role admin.
         */
        post: operations["postSchedulesIdEnable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable a schedule
         * @description Requires the role admin.
         */
        post: operations["postSchedulesIdDisable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{id}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a schedule now, even if it is disabled
         * @description Requires the role operator.
         */
        post: operations["postSchedulesIdTrigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a signed request as the event webhook.received
         * @description Requires a signature instead of a token: `X-Scanfarm-Signature: sha256=HEX`, the HMAC-SHA256 of `TIMESTAMP.BODY` with the secret of the webhook, and `X-Scanfarm-Timestamp` in seconds, at most five minutes from the current time. A repeated request is refused.
         *
         *     Needs no token.
         */
        post: operations["postWebhooksName"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/incoming-webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the incoming webhooks
         * @description Requires the role admin.
         */
        get: operations["getIncomingWebhooks"];
        put?: never;
        /**
         * Create an incoming webhook
         * @description The secret is returned only in this answer.
         *
         *     Requires the role admin.
         */
        post: operations["postIncomingWebhooks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/incoming-webhooks/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete an incoming webhook
         * @description Requires the role admin.
         */
        delete: operations["deleteIncomingWebhooksName"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the subscriptions
         * @description Requires the role admin.
         */
        get: operations["getWebhookSubscriptions"];
        put?: never;
        /**
         * Subscribe a URL to events
         * @description Requests are signed like incoming ones. Private addresses are refused when a request is sent, unless the settings allow them. The secret is returned only in this answer.
         *
         *     Requires the role admin.
         */
        post: operations["postWebhookSubscriptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-subscriptions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a subscription and its deliveries
         * @description Requires the role admin.
         */
        delete: operations["deleteWebhookSubscriptionsId"];
        options?: never;
        head?: never;
        /**
         * Change a subscription
         * @description Requires the role admin.
         */
        patch: operations["patchWebhookSubscriptionsId"];
        trace?: never;
    };
    "/webhook-deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries, newest first; failed ones have the status dead
         * @description Requires the role admin.
         */
        get: operations["getWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Requires the role admin.
         */
        post: operations["postWebhookDeliveriesIdRedeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-subscriptions/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an example of the event job.ended to a subscription, also a disabled one
         * @description The request is sent once, whatever the topics and filters. Nothing is recorded.
         *
         *     Requires the role admin.
         */
        post: operations["postWebhookSubscriptionsIdTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-runs/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs that wait for a webhook
         * @description Always empty: an incoming webhook emits an event, and a trigger on `webhook.received` starts the workflow.
         *
         *     Requires the role viewer.
         */
        get: operations["getWebhookRunsList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-runs/{uuid}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Start a run that waits for a webhook
         * @description Always 404, because no run waits for a webhook. Use `POST /webhooks/{name}`.
         *
         *     Requires the role operator.
         */
        get: operations["getWebhookRunsUuidTrigger"];
        put?: never;
        /**
         * Start a run that waits for a webhook
         * @description Always 404, because no run waits for a webhook. Use `POST /webhooks/{name}`.
         *
         *     Requires the role operator.
         */
        post: operations["postWebhookRunsUuidTrigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workers and the local slots of servers
         * @description Of the programs that a worker has, only those that a workflow requires are listed; GET /workers/{id} lists all.
         *
         *     Requires the role viewer.
         */
        get: operations["getWorkers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one worker
         * @description With the runs that its slots execute now. The fields of the worker are returned beside `data` too, as Osmedeus clients expect.
         *
         *     Requires the role viewer.
         */
        get: operations["getWorkersId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workers/{id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drain a worker: it claims no more runs and finishes those it has
         * @description By default its program then ends as after SIGTERM: runs that are still under way after `worker.drain_ms` are handed back, and another worker executes them again. With `stop: false` the worker stays, finishes its runs without a time limit and is paused until `POST /workers/{id}/resume`. The slots of a server can only be paused. The request is stored: it survives a restart of servers, and a worker that misses the signal reads it with its next heartbeat, at the latest after a third of `worker.lease_ms`. Repeating it changes nothing; a pause can become a stop.
         *
         *     Requires the role operator.
         */
        post: operations["postWorkersIdDrain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workers/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a paused worker claim runs again
         * @description A worker that already stops cannot be resumed. A worker that is not paused is not changed.
         *
         *     Requires the role operator.
         */
        post: operations["postWorkersIdResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in with user name and password
         * @description Send the token as `Authorization: Bearer`, like an API token, until it expires.
         *
         *     Needs no token.
         */
        post: operations["postLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log out: make a login token invalid
         * @description The token of `POST /login` in the header `Authorization` stops working immediately on the master that handles the request, and within 2 seconds on all others. An API token stays valid: `DELETE /tokens/{id}` removes it. Also deletes the cookie `osmedeus_session` of a browser.
         *
         *     Needs no token.
         */
        post: operations["postLogout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read who the caller is
         * @description For the login of a browser, and for a token in a header.
         *
         *     Requires the role viewer.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Log a browser in
         * @description Sets the cookie `scanfarm_session`, which identifies the caller of later requests. Requests with this cookie that change something need the header `X-Scanfarm-Console: 1`. Send user name and password, an API token, or the code of a login link. Failed logins are limited by address.
         *
         *     Needs no token.
         */
        post: operations["postSession"];
        /**
         * Log a browser out
         * @description Ends the session of the cookie and deletes the cookie. The session ends immediately on the master that handles the request, and within 2 seconds on all others.
         *
         *     Requires the role viewer.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/session/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a link that logs a browser in once
         * @description The link opens the console and logs in as the caller. It works once, within 10 minutes. Its code is in the fragment of the URL, which browsers do not send to servers.
         *
         *     Requires the role viewer.
         */
        post: operations["postSessionLinks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the logins of browsers as the caller
         * @description At most 100, the last used first. Logins of other users and tokens are not shown.
         *
         *     Requires the role viewer.
         */
        get: operations["getSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a login of a browser as the caller
         * @description It ends immediately on the master that handles the request, and within 2 seconds on all others.
         *
         *     Requires the role viewer.
         */
        delete: operations["deleteSessionsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/saved-filters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the saved filters of the caller, and those that others share
         * @description Requires the role viewer.
         */
        get: operations["getSavedFilters"];
        put?: never;
        /**
         * Save a filter of a list, or replace the one of the caller with the same screen and name
         * @description A user or token has at most 100. Sharing one requires the role operator.
         *
         *     Requires the role viewer.
         */
        post: operations["postSavedFilters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/saved-filters/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a saved filter of the caller; administrators can also delete shared ones
         * @description Requires the role viewer.
         */
        delete: operations["deleteSavedFiltersId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API tokens, without the tokens themselves
         * @description Requires the role admin.
         */
        get: operations["getTokens"];
        put?: never;
        /**
         * Create an API token
         * @description The token is returned only in this answer: only its hash is stored.
         *
         *     Requires the role admin.
         */
        post: operations["postTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete an API token
         * @description The token stops working immediately on the master that handles the request, and within 2 seconds on all others.
         *
         *     Requires the role admin.
         */
        delete: operations["deleteTokensId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the users
         * @description Requires the role admin.
         */
        get: operations["getUsers"];
        put?: never;
        /**
         * Create a user
         * @description Requires the role admin.
         */
        post: operations["postUsers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one user
         * @description Requires the role admin.
         */
        get: operations["getUsersId"];
        put?: never;
        post?: never;
        /**
         * Remove a user
         * @description Logins of the user stop working immediately on the master that handles the request, and soon on all others.
         *
         *     Requires the role admin.
         */
        delete: operations["deleteUsersId"];
        options?: never;
        head?: never;
        /**
         * Change the role or the password of a user
         * @description Logins with the old password stop working immediately on the master that handles the request, and soon on all others.
         *
         *     Requires the role admin.
         */
        patch: operations["patchUsersId"];
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who changed what over the API, the newest change first
         * @description Successful requests other than GET that need the role operator or admin. Their bodies are not recorded. Entries are deleted after 90 days, and the oldest of more than 1,000,000.
         *
         *     Requires the role admin.
         */
        get: operations["getAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the records of the farm
         * @description Counts above 10,000 may be a few seconds old.
         *
         *     Requires the role viewer.
         */
        get: operations["getStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the state of the whole farm in one call
         * @description Counts of runs above 10,000 may be up to 30 seconds old.
         *
         *     Requires the role viewer.
         */
        get: operations["getStatsOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read time series for charts: ended runs, new findings, depth of the queue
         * @description Counted in the background by masters: the newest events may be missing for a few seconds. Counts are kept for 35 days.
         *
         *     Requires the role viewer.
         */
        get: operations["getStatsSeries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how many runs wait, for how long, for which workers, and why
         * @description Groups of queued runs with the same priority, run mode and needs, the most urgent and oldest first; at most 500 groups. Counts above 10,000 may be up to 30 seconds old.
         *
         *     Requires the role viewer.
         */
        get: operations["getQueue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the place of a waiting run in the queue
         * @description Runs with a higher priority start first, then older ones; a run that waits for a slot of its job is overtaken. At most 1,000 older runs are counted. Counts of a large queue may be up to 30 seconds old. Why the run waits is in `waiting_reason` of the run.
         *
         *     Requires the role viewer.
         */
        get: operations["getRunsIdQueue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether the server is alive
         * @description Needs no token.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether the server can work: database, queue and artifact store
         * @description Needs no token.
         */
        get: operations["getHealthReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/server-info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the version and capabilities of the server
         * @description Also at `/status` and `/info`. Clients call it before they have a token.
         *
         *     Needs no token.
         */
        get: operations["getServerInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read metrics in the Prometheus text format
         * @description Requires the role viewer.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the effective settings of this server and their origins, with masked secrets
         * @description Requires the role admin.
         */
        get: operations["getSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the effective settings of this server as YAML, with masked secrets
         * @description All settings with a value, including defaults and environment variables. A masked value is `***`.
         *
         *     Requires the role admin.
         */
        get: operations["getSettingsYaml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read which settings file is used and what a restart would change
         * @description Requires the role admin.
         */
        get: operations["getSettingsStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reload the workflows and report settings that require a restart
         * @description The settings file is read and checked, but a server keeps the settings of its start: changed ones are listed in `restart_required`. Workflow files are reloaded immediately.
         *
         *     Requires the role admin.
         */
        post: operations["postSettingsReload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/registry-info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the programs that workflows require, and whether a worker has them
         * @description There is no registry: programs are part of the machine or image of a worker. Clients need `registry_mode` to read `binaries`.
         *
         *     Requires the role viewer.
         */
        get: operations["getRegistryInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/registry-install": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Install programs or workflows (not supported)
         * @description a server does not install anything on the machines of a farm: put programs into the machine or image of the workers (GET /registry-info lists what they have), and add workflows with POST /workflow-upload
         *
         *     Requires the role admin.
         */
        post: operations["postRegistryInstall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/database/tables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tables of runs and findings with their number of records
         * @description Requires the role viewer.
         */
        get: operations["getDatabaseTables"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/database/tables/{table}/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete all records of a table (not supported)
         * @description records that refer to each other cannot be deleted by table: the settings retention.run_days and retention.event_days delete ended runs, with their steps and artifacts, and the event log by age; DELETE /vulnerabilities/{id} deletes one finding
         *
         *     Requires the role admin.
         */
        post: operations["postDatabaseTablesTableClear"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/llm/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask the configured language model
         * @description The request is forwarded to `llm.base_url` with the configured key. The answer is that of the endpoint; `content`, `finish_reason` and `tool_calls` of its first choice are added. Answers are not streamed. Without a configured model: 501.
         *
         *     Requires the role operator.
         */
        post: operations["postLlmV1ChatCompletions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/llm/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Convert texts to vectors with the configured language model
         * @description Like POST /llm/v1/chat/completions; the vectors in the endpoint's `data` are also returned as `embeddings`.
         *
         *     Requires the role operator.
         */
        post: operations["postLlmV1Embeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Chat with an agent program on the server (not supported)
         * @description a server does not start agent programs: run a workflow with a step of type agent, or ask the model with POST /llm/v1/chat/completions
         *
         *     Requires the role operator.
         */
        post: operations["postAgentChatCompletions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read this API as an OpenAPI 3.1 document
         * @description Needs no token.
         */
        get: operations["getOpenapiJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read this API as an HTML page
         * @description Needs no token.
         */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ErrorBody: {
            error: boolean;
            message: string;
            code: string;
            request_id: string;
            details: {
                path: string;
                message: string;
            }[];
        };
        CreateRuns: {
            flow?: string;
            module?: string;
            target?: string;
            targets?: string[];
            target_file?: string;
            /** @description Leave invalid targets out and list them in `skipped`, instead of refusing the request */
            skip_bad?: boolean;
            params?: {
                [key: string]: string;
            };
            /** @enum {string} */
            priority?: "low" | "normal" | "medium" | "high" | "critical";
            /** @description a whole number of minutes from 1 to 525600, or a duration such as 2h */
            timeout?: number | string;
            concurrency?: number;
            /** @enum {string} */
            runner_type?: "host" | "docker" | "ssh";
            docker_image?: string;
            /** @description Network of the docker runner; host and container:NAME require the role admin */
            docker_network?: string;
            ssh_host?: string;
            workspace?: string;
            /** @description Name of the scope that the runs keep to */
            scope?: string;
            /** @description Refuse the request if a target is out of scope or on the never-scan list; default: the others run */
            strict?: boolean;
            /** @enum {string} */
            run_mode?: "local" | "distributed" | "cloud";
            /** @enum {string} */
            cloud_provider?: "aws" | "gcp" | "digitalocean" | "linode" | "azure" | "hetzner" | "local";
            cloud_instances?: number;
            cloud_instance_type?: string;
            cloud_region?: string;
            cloud_auto_destroy?: boolean;
            cloud_reuse_infra?: string;
            cloud_use_spot?: boolean;
            /** @description Becomes the param threads_hold; 0: not set */
            threads_hold?: number;
            /**
             * @description Becomes the param heuristics_check
             * @enum {string}
             */
            heuristics_check?: "none" | "basic" | "advanced";
            /**
             * @description If no live worker has the programs that distributed runs need: `wait` for one, with a warning in the answer, or `fail` with 409. Default: the setting `jobs.missing_tools`
             * @enum {string}
             */
            missing_tools?: "wait" | "fail";
            /** @description Run without a target */
            empty_target?: boolean;
            /** @description Also creates a schedule that repeats the request; requires the role admin */
            repeat?: boolean;
            /** @description Time between two starts, for example 2h; default 1m */
            repeat_wait_time?: string;
            /** @description Cron expression: also creates a schedule for the request; requires the role admin */
            schedule?: string;
            /** @description Whether the schedule is enabled; default true */
            schedule_enabled?: boolean;
            /** @description Not supported; causes a warning. Use webhooks */
            notify_on_complete?: boolean;
            /** @description Not supported; causes a warning. Targets and params are always checked */
            skip_validation?: boolean;
        };
        RunsCreated: {
            message: string;
            workflow: string;
            /** @enum {string} */
            kind: "flow" | "module";
            target?: string;
            target_count: number;
            targets?: string[];
            concurrency?: number;
            /** @enum {string} */
            priority: "low" | "normal" | "high" | "critical";
            /** @enum {string} */
            run_mode: "local" | "distributed" | "cloud";
            job_id: string;
            /** Format: uuid */
            run_uuid?: string;
            /** @constant */
            status: "queued";
            poll_url: string;
            /** @enum {string} */
            runner_type?: "host" | "docker" | "ssh";
            timeout?: number;
            duplicates_dropped?: number;
            /** @description Targets that `skip_bad` left out; omitted if there are none */
            skipped_count?: number;
            /** @description The first 50 of them, with their place and the problem */
            skipped?: {
                path: string;
                message: string;
            }[];
            scope?: string;
            /** @description Targets that are out of scope or on the never-scan list; omitted if there are none */
            refused_count?: number;
            /** @description The first 10000 of them, with the reason */
            refused?: components["schemas"]["RefusedTarget"][];
            infra_id?: string;
            infra_status_url?: string;
            /** @enum {string} */
            cloud_provider?: "aws" | "gcp" | "digitalocean" | "linode" | "azure" | "hetzner" | "local";
            cloud_instances?: number;
            threads_hold?: number;
            heuristics_check?: string;
            empty_target?: boolean;
            repeat?: boolean;
            repeat_wait_time?: string;
            schedule?: string;
            schedule_enabled?: boolean;
            /** @description Of the schedule that repeat or schedule asked for */
            schedule_id?: string;
            /** @description Fields that were ignored or changed; `missing_tools` if the runs wait because no live worker can take them */
            warnings?: {
                field: string;
                message: string;
            }[];
        };
        RefusedTarget: {
            target: string;
            reason: string;
        };
        Run: {
            id: number;
            /** Format: uuid */
            run_uuid: string;
            workflow_name: string;
            /** @enum {string} */
            workflow_kind: "flow" | "module";
            target: string;
            params: {
                [key: string]: string;
            };
            /** @enum {string} */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
            /**
             * @description Whether an ended run did its work: clean, partial (something failed or was left out) or nothing_done; "" while it has not ended
             * @enum {string}
             */
            outcome: "clean" | "partial" | "nothing_done" | "";
            /** @description Failed steps, including those with on_error: continue */
            failed_steps: number;
            /** @description Modules that were due and could not start */
            left_out_modules: number;
            /** @description Steps of started modules that were due but not reached */
            left_out_steps: number;
            /** @description The first reasons why something failed or was left out */
            outcome_reasons: string[];
            workspace: string;
            /**
             * Format: uuid
             * @description Organisation that has the workspace
             */
            org_uuid: string;
            started_at: string | null;
            completed_at: string | null;
            total_steps: number;
            completed_steps: number;
            /** @enum {string} */
            trigger_type: "manual" | "cron" | "event" | "watch";
            /** @description The job id of the request that created the run */
            run_group_id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            /** @enum {string} */
            priority: "low" | "normal" | "high" | "critical";
            /** @enum {string} */
            run_priority: "low" | "normal" | "high" | "critical";
            /** @enum {string} */
            run_mode: "local" | "distributed" | "cloud";
            /** @enum {string} */
            runner_type: "host" | "docker" | "ssh";
            attempt: number;
            /** @description Worker that executes or last executed it, or "" */
            worker_id: string;
            /** @description Why a queued run waits, or "" */
            waiting_reason: string;
            error_message: string;
            /** @description Whether the workflow has hooks; only below /osm/api */
            hooks_enabled?: boolean;
            /** @description Whether it waits for a worker; only below /osm/api */
            is_queued?: boolean;
            /** @description Always false; only below /osm/api */
            input_is_file?: boolean;
            /** @description Running process; 0 if none */
            current_pid: number;
        };
        Pagination: {
            total: number;
            offset: number;
            limit: number;
            /** @description Pass as cursor to get the next page */
            next_cursor?: string;
            /** @description The page reached its size limit: it has fewer records than limit, and more exist. Continue with next_cursor, or with offset plus the number of records */
            truncated?: boolean;
        };
        Step: {
            /** Format: uuid */
            id: string;
            run_id: number;
            /** Format: uuid */
            run_uuid: string;
            step_name: string;
            step_type: string;
            /** @description Module of a flow, or "" */
            module: string;
            /** @enum {string} */
            status: "pending" | "running" | "completed" | "failed" | "skipped" | "cancelled";
            command: string;
            /** @description The last 16 KiB; the whole output is in log_file */
            output: string;
            error_message: string;
            /** @description Same as error_message */
            error: string;
            exports: {
                [key: string]: string;
            };
            exit_code: number | null;
            duration_ms: number;
            /** @description Path below the API root that serves the whole log, or "" */
            log_file: string;
            attempt: number;
            started_at: string | null;
            completed_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
        };
        Artifact: {
            /** Format: uuid */
            id: string;
            run_id: number;
            workspace: string;
            name: string;
            artifact_path: string;
            /** @enum {string} */
            artifact_type: "report" | "state_file" | "output" | "screenshot";
            /** @enum {string} */
            content_type: "json" | "jsonl" | "yaml" | "html" | "md" | "log" | "pdf" | "png" | "txt" | "zip" | "folder" | "unknown";
            size_bytes: number;
            line_count: number;
            description: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
        };
        /** @description Only if the list is too large for one answer: pass next_cursor as cursor */
        PaginationOfPart: {
            total: number;
            offset: number;
            limit: number;
            /** @description Pass as cursor to get the next page */
            next_cursor?: string;
            /** @description The page reached its size limit: it has fewer records than limit, and more exist. Continue with next_cursor, or with offset plus the number of records */
            truncated?: boolean;
        };
        RunAttempt: {
            attempt: number;
            /**
             * @description worker_lost: the worker stopped renewing its lease. machine_lost: the cloud machine was lost. handed_back: the worker drained or could not begin the run
             * @enum {string}
             */
            ending: "running" | "completed" | "failed" | "cancelled" | "worker_lost" | "machine_lost" | "handed_back";
            /** @description Why it ended, in words, or "" */
            reason: string;
            worker_id: string;
            /** @description Name of the worker, or "" if it is not known any more */
            worker: string;
            hostname: string;
            /** @description Process of the worker; 0 if not known */
            pid: number;
            version: string;
            /** @description Cloud machine, or "" */
            machine: string;
            started_at: string | null;
            ended_at: string | null;
            /** @description Last heartbeat of the worker when the attempt was taken from it; otherwise null */
            heard_at: string | null;
            /** @description Processes that the worker reported as killed when it stopped the attempt */
            killed_pids: number[];
        };
        Task: {
            /** @description `run_uuid` of the run */
            id: string;
            /** @description The same */
            task_id: string;
            /** @description The same */
            scan_id: string;
            workflow_name: string;
            /** @enum {string} */
            workflow_kind: "flow" | "module";
            target: string;
            params: {
                [key: string]: string;
            };
            /** @enum {string} */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
            started_at: string | null;
            completed_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Worker that executes or last executed it, or "" */
            worker_id: string;
        };
        JobSummary: {
            job_id: string;
            workflow_name: string;
            /** @enum {string} */
            workflow_kind: "flow" | "module";
            /**
             * @description open: a run has not ended. partial: the runs ended differently
             * @enum {string}
             */
            status: "open" | "completed" | "failed" | "cancelled" | "partial";
            /** @enum {string} */
            priority: "low" | "normal" | "high" | "critical";
            /** @enum {string} */
            run_mode: "local" | "distributed" | "cloud";
            target_count: number;
            concurrency: number | null;
            /** @enum {string} */
            trigger_type: "manual" | "cron" | "event" | "watch";
            trigger_name: string;
            schedule_id: string;
            /** @description Infrastructure of a cloud job, or "" */
            infra_id: string;
            /** Format: date-time */
            created_at: string;
            /** @description Null: a run is open, or its end was not noticed yet (seconds) */
            ended_at: string | null;
            /** @description Of all its runs; null until `ended_at` is known. partial: one of them is not clean */
            outcome: ("clean" | "partial" | "nothing_done") | null;
            cancel_requested_at: string | null;
            /** @description Scope that its request names, or "" */
            scope: string;
            /** @description Targets that a scope or the never-scan list refused, before and while it ran */
            refused: number;
            /** @description The job that it retries, or "" */
            retry_of: string;
            /** @description Jobs that retry it, oldest first; at most 100 */
            retries: string[];
            /** @description Null: the page has many open runs, and those of this job are being counted; ask again. Counts of large open jobs may be some seconds old */
            counts: {
                /** @description Pending and queued runs, and targets without a run */
                pending: number;
                running: number;
                completed: number;
                failed: number;
                cancelled: number;
                clean: number;
                partial: number;
                nothing_done: number;
            } | null;
        };
        /** @description Texts have at most 300 characters */
        ChangedFinding: {
            id: number;
            /** @enum {string} */
            severity: "critical" | "high" | "medium" | "low" | "info";
            vuln_info: string;
            vuln_title: string;
            asset_value: string;
            workspace: string;
            /**
             * @description What scans see; people do not change it
             * @enum {string}
             */
            seen: "open" | "gone" | "not_tested" | "unreachable";
            seen_reason: string;
            /**
             * @description What people decide; scans do not change it
             * @enum {string}
             */
            verdict: "none" | "confirmed" | "false_positive" | "accepted" | "fixed_claimed";
            back_at: string | null;
        };
        CreateInfra: {
            /** @enum {string} */
            provider?: "aws" | "gcp" | "digitalocean" | "linode" | "azure" | "hetzner" | "local";
            instances?: number;
            instance_count?: number;
            instance_type?: string;
            region?: string;
            use_spot?: boolean;
            /** @description Time after which the machines are destroyed in any case */
            hours?: number;
            auto_destroy?: boolean;
            /** @description Programs that a machine must have before it takes runs */
            tools?: string[];
        };
        CloudInfra: {
            /** @description 16 lower-case hex characters */
            infra_id: string;
            /** @enum {string} */
            status: "requested" | "provisioning" | "ready" | "draining" | "destroyed" | "failed";
            /** @enum {string} */
            provider: "aws" | "gcp" | "digitalocean" | "linode" | "azure" | "hetzner" | "local";
            region: string;
            instance_type: string;
            use_spot: boolean;
            auto_destroy: boolean;
            /** @description Requested machines */
            instances: number;
            ready_count: number;
            total_count: number;
            message: string;
            hourly_cost: number | null;
            estimated_cost: number | null;
            /** Format: date-time */
            expires_at: string;
            /** Format: date-time */
            created_at: string;
            ready_at: string | null;
            destroyed_at: string | null;
            details: components["schemas"]["CloudInstance"][];
        };
        CloudInstance: {
            /** @description The provider's id, or "" before there is one */
            resource_id: string;
            name: string;
            /** @enum {string} */
            status: "requested" | "booting" | "ready" | "destroying" | "destroyed" | "failed";
            /** @description The reason for the status, if possible in the words of the provider */
            message: string;
            address: string;
            running_runs: number;
            /** Format: date-time */
            created_at: string;
            ready_at: string | null;
            destroyed_at: string | null;
        };
        EstimateCost: {
            /** @enum {string} */
            provider?: "aws" | "gcp" | "digitalocean" | "linode" | "azure" | "hetzner" | "local";
            instances?: number;
            instance_count?: number;
            instance_type?: string;
            region?: string;
            use_spot?: boolean;
            /** @description Time after which the machines are destroyed in any case */
            hours?: number;
        };
        WorkflowSummary: {
            /** @description A number derived from the name */
            id: number;
            name: string;
            /** @enum {string} */
            kind: "flow" | "module";
            description: string;
            tags: string[];
            hidden: boolean;
            /** @description Path within the source */
            file_path: string;
            /** @description `uploaded`, or a folder on the server */
            source: string;
            params: {
                name: string;
                /** @description `string`, `int`, `bool`, `choice`, `path` or `args` */
                type: string;
                default: unknown;
                required: boolean;
                /** @description For an `int` */
                min?: number;
                /** @description For an `int` */
                max?: number;
                /** @description Of a `choice` */
                choices?: string[];
                /** @description A `choice` may have several of the choices, separated by commas */
                multiple?: boolean;
                description: string;
            }[];
            required_params: string[];
            step_count: number;
            module_count: number;
            hook_count: number;
            /** @description `params` as JSON text, as Osmedeus clients read it */
            params_json: string;
            /** @description SHA-256 of the file in hex */
            checksum: string;
            /**
             * Format: date-time
             * @description When this server read the file
             */
            indexed_at: string;
            /**
             * Format: date-time
             * @description Same as indexed_at
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Same as indexed_at
             */
            updated_at: string;
            /** @description False: the workflow has errors and cannot be started */
            valid: boolean;
            /** @description Programs that it or one of its modules declares, and that no worker has that is not lost */
            missing_tools: string[];
        };
        WorkflowProblem: {
            /** @description Name of the file in the form, or `workflow.yaml` */
            file: string;
            /** @description From 1; 0: unknown */
            line: number;
            /** @description From 1; 0: unknown */
            column: number;
            /** @description Stable name of the rule, for example `unknown-key` */
            rule: string;
            /** @enum {string} */
            severity: "error" | "warning" | "info";
            message: string;
            /** @description How to fix it, or empty */
            hint: string;
        };
        WorkflowGraph: {
            /** @description In the order of the source, at most 5000 */
            nodes: {
                id: string;
                /** @description Id of the node that contains it; empty for the workflow itself */
                parent: string;
                /** @enum {string} */
                type: "workflow" | "module" | "step" | "hook" | "end";
                name: string;
                /** @description Type of a step, or `flow` or `module` */
                kind: string;
                description: string;
                /** @description `host`, `docker` or `ssh`; empty: as its parent */
                runner: string;
                /** @description Image or host of the runner, or empty */
                runner_at: string;
                /** @description It is left out when this expression is false */
                condition: string;
                /** @description What it does: commands, expressions, the URL of a request, the input of a loop */
                does: string[];
                /** @description Programs that it declares */
                tools: string[];
                depends_on: string[];
                /** @description Its parts run at the same time */
                parallel: boolean;
                on_success: string[];
                on_error: string[];
                timeout: string;
                /** @description Total attempts, including the first */
                attempts: number;
                /** @description Variables that it sets */
                exports: string[];
                file: string;
                /** @description From 1; 0: unknown */
                line: number;
            }[];
            edges: {
                from: string;
                to: string;
                /**
                 * @description `next`: in order. `depends`: declared. `goto`: a decision continues there
                 * @enum {string}
                 */
                kind: "next" | "depends" | "goto";
                /** @description When a decision continues there, or empty */
                label: string;
            }[];
            /** @description There are more nodes */
            truncated: boolean;
        };
        WorkerTool: {
            name: string;
            /** @description "" if the program does not tell it */
            version: string;
            /** @description Its file on the worker */
            path: string;
        };
        ListedFunction: {
            /** @description With its parameters: `trim(text)` */
            name: string;
            /** @description The name only */
            function: string;
            parameters: string;
            description: string;
            return_type: string;
            example: string;
            /** @description Its group */
            tags: string[];
            /** @description Other names of the function */
            aliases: string[];
            /** @description POST /functions/eval can evaluate it */
            eval: boolean;
        };
        Vulnerability: {
            id: number;
            workspace: string;
            /**
             * Format: uuid
             * @description Organisation that has the workspace
             */
            org_uuid: string;
            /** @description CVE or other identifier */
            vuln_info: string;
            /** @description Title */
            vuln_title: string;
            /** @description Description */
            vuln_desc: string;
            /** @description Proof of concept */
            vuln_poc: string;
            /** @enum {string} */
            severity: "critical" | "high" | "medium" | "low" | "info";
            /** @enum {string} */
            confidence: "Certain" | "Firm" | "Tentative" | "Manual Review Required";
            /** @description For example web, api, network */
            asset_type: string;
            /** @description URL or other identifier of what is affected */
            asset_value: string;
            tags: string[];
            /** @description Raw HTTP request */
            detail_http_request: string;
            /** @description Raw HTTP response */
            detail_http_response: string;
            /** @description Raw scanner output, as JSON text */
            raw_vuln_json: string;
            /**
             * @description What scans see; people do not change it
             * @enum {string}
             */
            seen: "open" | "gone" | "not_tested" | "unreachable";
            /** @description Why the last scan did not see it, or "" */
            seen_reason: string;
            /**
             * @description What people decide; scans do not change it
             * @enum {string}
             */
            verdict: "none" | "confirmed" | "false_positive" | "accepted" | "fixed_claimed";
            /** @description Of the verdict, or "" */
            reason: string;
            until: string | null;
            /** @description user:name, token:name or rule:name, or "" */
            decided_by: string;
            decided_at: string | null;
            back_at: string | null;
            /** @description Or "" */
            assignee: string;
            /** @description Link to a ticket, or "" */
            ticket: string;
            /** @enum {string} */
            scan_severity: "critical" | "high" | "medium" | "low" | "info";
            /** @description What tells the results of one check at one place apart: a matcher, a commit, a column, the text of a line. Part of the identity; in a file it replaces the number of the line there */
            fingerprint: string;
            /** @description Equal results of the last import */
            occurrences: number;
            /** @description Identity in hex; "" when what or where is missing */
            finding_hash: string;
            /** @enum {string} */
            state: "open" | "gone";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_seen: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_seen: string;
            /**
             * Format: date-time
             * @description Same as last_seen
             */
            last_seen_at: string;
            /** @description Runs and imports that found it */
            times_seen: number;
            gone_at: string | null;
            /** @description Run that found it first, or "" */
            first_run_uuid: string;
            /** @description Run that found it last, or "" */
            run_uuid: string;
            /** @description Origin: api, workflow, or the format of the import */
            source: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change of its content or state
             */
            updated_at: string;
        };
        Asset: {
            id: number;
            workspace: string;
            /**
             * Format: uuid
             * @description Organisation that has the workspace
             */
            org_uuid: string;
            /** @description http, dns, url, subdomain, ip, port, technology, file… */
            asset_type: string;
            /** @description Host, address, host:port, path… */
            asset_value: string;
            url: string;
            host_ip: string;
            scheme: string;
            /** @description 0: unknown */
            status_code: number;
            title: string;
            content_type: string;
            technologies: string[];
            open_ports: string[];
            dns_records: string[];
            remarks: string[];
            /** @description Output of the tool as JSON text, or "" */
            raw_json_data: string;
            /** @description Same as technologies */
            tech: string[];
            /** @description 0: unknown */
            content_length: number;
            /** @description 0: unknown */
            words: number;
            /** @description 0: unknown */
            lines: number;
            /** @description Version of TLS, or "" */
            tls: string;
            /** @description Time of the response, or "" */
            time: string;
            method: string;
            input: string;
            /** @description Path of the URL, or "" */
            path: string;
            /** @enum {string} */
            state: "open" | "gone";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_seen: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_seen: string;
            /**
             * Format: date-time
             * @description Same as last_seen
             */
            last_seen_at: string;
            /** @description Runs and imports that found it */
            times_seen: number;
            gone_at: string | null;
            /** @description Run that found it first, or "" */
            first_run_uuid: string;
            /** @description Run that found it last, or "" */
            run_uuid: string;
            /** @description Origin: api, workflow, or the format of the import */
            source: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Time of the last change of its content or state
             */
            updated_at: string;
        };
        FindingRule: {
            id: number;
            name: string;
            /** @description Lower ones apply first; default: after all others */
            position: number;
            match: {
                /** @description Identifier of the check, or else the title; * and ? in any case */
                check?: string;
                /** @description Title; * and ? in any case */
                title?: string;
                /** @description Place, or its host; or an address range like 10.0.0.0/8; * and ? in any case */
                asset?: string;
                /** @description Workspace; * and ? in any case */
                workspace?: string;
                /** @description One of them */
                severity?: ("critical" | "high" | "medium" | "low" | "info")[];
                /** @description Source, or a tag of the scanner; * and ? in any case */
                tool?: string;
            };
            set: {
                /** @enum {string} */
                verdict?: "confirmed" | "false_positive" | "accepted";
                /** @description Of the verdict */
                reason?: string;
                /** @description When an acceptance ends: RFC 3339 */
                until?: string;
                /** @enum {string} */
                severity?: "critical" | "high" | "medium" | "low" | "info";
                assignee?: string;
                tags?: string[];
            };
            /** @description Findings that it matches */
            findings: number;
            created_by: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
        };
        NewFindingRule: {
            name: string;
            /** @description Lower ones apply first; default: after all others */
            position?: number;
            match: {
                /** @description Identifier of the check, or else the title; * and ? in any case */
                check?: string;
                /** @description Title; * and ? in any case */
                title?: string;
                /** @description Place, or its host; or an address range like 10.0.0.0/8; * and ? in any case */
                asset?: string;
                /** @description Workspace; * and ? in any case */
                workspace?: string;
                /** @description One of them */
                severity?: ("critical" | "high" | "medium" | "low" | "info")[];
                /** @description Source, or a tag of the scanner; * and ? in any case */
                tool?: string;
            };
            set: {
                /** @enum {string} */
                verdict?: "confirmed" | "false_positive" | "accepted";
                /** @description Of the verdict */
                reason?: string;
                /** @description When an acceptance ends: RFC 3339 */
                until?: string;
                /** @enum {string} */
                severity?: "critical" | "high" | "medium" | "low" | "info";
                assignee?: string;
                tags?: string[];
            };
        };
        Workspace: {
            /** @description A number derived from the name */
            id: number;
            name: string;
            /** Format: uuid */
            org_uuid: string;
            /** @description Always "": files are kept as artifacts */
            local_path: string;
            /** @enum {string} */
            data_source: "local" | "cloud" | "imported";
            total_runs: number;
            total_assets: number;
            /** @description Assets of the type subdomain */
            total_subdomains: number;
            /** @description Assets of the types url, http and web */
            total_urls: number;
            total_ips: number;
            total_links: number;
            total_content: number;
            total_archive: number;
            total_vulns: number;
            vuln_critical: number;
            vuln_high: number;
            vuln_medium: number;
            vuln_low: number;
            /** @description Findings of severity info */
            vuln_potential: number;
            /** @description By the worst severity: critical 10, high 7.5, medium 5, low 2.5, none 0 */
            risk_score: number;
            tags: string[];
            /** @description Start of the newest run */
            last_run: string | null;
            /** @description Workflow of the newest run, or "" */
            run_workflow: string;
            created_at: string | null;
            updated_at: string | null;
        };
        Scope: {
            name: string;
            /** @description A host (example.com), a domain with all below it (*.example.com), a network, a range from one address to another, a prefix of URLs, or * for everything; with ports like :80,8000-9000 */
            allowed: string[];
            /** @description The same; a host also denies what is below it */
            denied: string[];
            owner: string;
            note: string;
            valid_from: string | null;
            valid_until: string | null;
            /** @description When runs may scan; none: always */
            windows: {
                /** @description On which it begins; default: all */
                days?: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
                /** @description Like 22:00 */
                from: string;
                /** @description Not after from: on the next day */
                to: string;
            }[];
            /** @description Time zone of the windows */
            zone: string;
            /** @description All runs in them are bound to the scope */
            workspaces: string[];
            created_by: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
        };
        NewScope: {
            /** @description Letters, digits and . _ -, beginning with a letter */
            name: string;
            /** @description A host (example.com), a domain with all below it (*.example.com), a network, a range from one address to another, a prefix of URLs, or * for everything; with ports like :80,8000-9000 */
            allowed: string[];
            /** @description The same; a host also denies what is below it */
            denied?: string[];
            owner?: string;
            note?: string;
            valid_from?: string | null;
            valid_until?: string | null;
            /** @description When runs may scan; none: always */
            windows?: {
                /** @description On which it begins; default: all */
                days?: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
                /** @description Like 22:00 */
                from: string;
                /** @description Not after from: on the next day */
                to: string;
            }[];
            /** @description Time zone of the windows */
            zone?: string;
            /** @description All runs in them are bound to the scope */
            workspaces?: string[];
        };
        ChangeScope: {
            /** @description Letters, digits and . _ -, beginning with a letter */
            name?: string;
            /** @description A host (example.com), a domain with all below it (*.example.com), a network, a range from one address to another, a prefix of URLs, or * for everything; with ports like :80,8000-9000 */
            allowed?: string[];
            /** @description The same; a host also denies what is below it */
            denied?: string[];
            owner?: string;
            note?: string;
            valid_from?: string | null;
            valid_until?: string | null;
            /** @description When runs may scan; none: always */
            windows?: {
                /** @description On which it begins; default: all */
                days?: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
                /** @description Like 22:00 */
                from: string;
                /** @description Not after from: on the next day */
                to: string;
            }[];
            /** @description Time zone of the windows */
            zone?: string;
            /** @description All runs in them are bound to the scope */
            workspaces?: string[];
        };
        NeverScan: {
            id: number;
            entry: string;
            reason: string;
            until: string | null;
            /** @description "": all workflows */
            workflow: string;
            created_by: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
        };
        NewNeverScan: {
            /** @description A host or domain with all below it, a network, or one of the other forms of entries of scopes */
            entry: string;
            reason: string;
            until?: string | null;
            /** @description Only for runs of this workflow; default: all */
            workflow?: string;
        };
        Refusal: {
            id: number;
            target: string;
            reason: string;
            /**
             * @description Where it was refused: submit, trigger, start (of the run), item (of a loop), redirect (of an http step)
             * @enum {string}
             */
            place: "submit" | "trigger" | "start" | "item" | "redirect";
            /** @description "" if it became no run */
            run_uuid: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
        };
        OrgStats: {
            /** Format: uuid */
            org_uuid: string;
            org_name: string;
            total_workspaces: number;
            total_assets: number;
            total_vulns: number;
            total_runs: number;
            /** @description The first of their names */
            workspaces: string[];
        };
        Org: {
            /** Format: uuid */
            uuid: string;
            name: string;
            description: string;
            tags: string[];
            /** @description It has all workspaces that belong to no other */
            is_default: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
        };
        EventLogEntry: {
            id: number;
            topic: string;
            event_id: string;
            name: string;
            source: string;
            /**
             * @description run: an event of a run; only below /osm/api
             * @enum {string}
             */
            source_type?: "run" | "api";
            data_type: string;
            /** @description JSON text */
            data: string;
            workspace: string;
            /** @description run_uuid, or "" */
            run_id: string;
            workflow_name: string;
            processed: boolean;
            processed_at: string | null;
            error: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
        };
        EmitEvent: {
            /** @description letters, digits and . _ : / -, for example custom.build */
            topic: string;
            /** @description Data for the triggered workflows */
            data: {
                [key: string]: unknown;
            };
            /** @description Default: the topic */
            name?: string;
            /** @description Where the event comes from, for example the name of a tool; default api. executor and scheduler are reserved for events of the farm */
            source?: string;
            /** @description Default: derived from the topic */
            data_type?: string;
        };
        EventEmitted: {
            message: string;
            topic: string;
            event_id: string;
            triggered_workflows: string[];
            success: boolean;
            /** @description Only when no workflow was triggered */
            note?: string;
        };
        EventReceiverStatus: {
            enabled: boolean;
            running: boolean;
            triggers: {
                cron: number;
                event: number;
                watch: number;
            };
            workflows_loaded: number;
            /** @description Same as workflows_loaded */
            workflow_count: number;
            /** @description Triggers of all types */
            trigger_count: number;
            last_event_at: string | null;
        };
        ReceiverWorkflow: {
            name: string;
            /** @enum {string} */
            kind: "flow" | "module";
            triggers: components["schemas"]["ReceiverTrigger"][];
        };
        ReceiverTrigger: {
            name: string;
            /** @enum {string} */
            type: "cron" | "event" | "watch";
            enabled: boolean;
            schedule?: string;
            timezone?: string;
            next_run?: string | null;
            topic?: string;
            path?: string;
            /** @description Set if the trigger is a schedule */
            schedule_id?: string;
            /** @description The reason why it does not work, or why its runs would wait */
            problem?: string;
        };
        Trigger: {
            /** @description For POST /triggers/test; empty for a trigger that has a problem */
            key: string;
            name: string;
            /** @enum {string} */
            type: "cron" | "event" | "watch";
            enabled: boolean;
            workflow: {
                name: string;
                /** @enum {string} */
                kind: "flow" | "module";
            };
            /**
             * @description Where it is declared: in the file of the workflow, or as a schedule
             * @enum {string}
             */
            source: "workflow" | "schedule";
            /** @description Of a schedule, or empty */
            schedule_id: string;
            /** @description Of a cron trigger, or empty */
            schedule: string;
            timezone: string;
            /** @description Topic or glob of an event trigger; empty: all topics */
            topic: string;
            filters: string[];
            /** @description Of a watch trigger, or empty */
            path: string;
            /** @enum {string} */
            overlap: "allow" | "skip" | "queue" | "cancel-previous";
            last_fired_at: string | null;
            /**
             * @description open: its runs may be under way. waiting: its runs wait for those before. skipped: it made no run
             * @enum {string}
             */
            last_state: "" | "done" | "open" | "waiting" | "skipped";
            /** @description Job of the last execution, or empty */
            last_job_id: string;
            /** @description Of all runs of that job; null until it has ended */
            last_outcome: ("clean" | "partial" | "nothing_done") | null;
            next_run: string | null;
            /** @description Why it cannot fire, or empty */
            problem: string;
        };
        Night: {
            schedule_id: string;
            name: string;
            workflow_name: string;
            /** @enum {string} */
            trigger_type: "cron" | "event" | "watch";
            enabled: boolean;
            next_run: string | null;
            /** @description Its newest job, if it has not ended */
            running: {
                job_id: string;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                created_at: string;
            } | null;
            last: components["schemas"]["NightJob"] | null;
            previous: components["schemas"]["NightJob"] | null;
            /** @description What the last job changed, as in the event schedule.ended */
            findings: {
                /** @description By severity; one without findings is left out */
                new: {
                    critical?: number;
                    high?: number;
                    medium?: number;
                    low?: number;
                    info?: number;
                };
                /** @description By severity; one without findings is left out */
                back: {
                    critical?: number;
                    high?: number;
                    medium?: number;
                    low?: number;
                    info?: number;
                };
                /** @description By severity; one without findings is left out */
                gone: {
                    critical?: number;
                    high?: number;
                    medium?: number;
                    low?: number;
                    info?: number;
                };
            };
            /** @description By severity; one without findings is left out */
            open: {
                critical?: number;
                high?: number;
                medium?: number;
                low?: number;
                info?: number;
            };
            /** @description Open findings that the last scan could not test or reach */
            not_tested: number;
            /** @description The first workspace of the last job by name, or "" */
            workspace: string;
            workspace_count: number;
        };
        /** @description An ended job; runs by status and by outcome */
        NightJob: {
            job_id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            ended_at: string;
            /** @enum {string} */
            outcome: "clean" | "partial" | "nothing_done";
            is_cancelled: boolean;
            target_count: number;
            completed: number;
            failed: number;
            cancelled: number;
            clean: number;
            partial: number;
            nothing_done: number;
        };
        Schedule: {
            id: string;
            name: string;
            workflow_name: string;
            /** @enum {string} */
            workflow_kind: "flow" | "module";
            target: string;
            targets?: string[];
            workspace: string;
            params: {
                [key: string]: string;
            };
            input_config: {
                [key: string]: string;
            };
            trigger_name: string;
            /** @enum {string} */
            trigger_type: "cron" | "event" | "watch";
            schedule: string;
            timezone: string;
            event_topic: string;
            watch_path: string;
            /** @enum {string} */
            missed: "skip" | "once" | "all";
            missed_window: string;
            /** @enum {string} */
            overlap: "allow" | "skip" | "queue" | "cancel-previous";
            filters: string[];
            dedupe_key: string;
            dedupe_window: string;
            debounce: string;
            input: {
                [key: string]: string;
            };
            /** @enum {string} */
            run_mode?: "local" | "distributed" | "cloud";
            /** @enum {string} */
            priority: "low" | "normal" | "high" | "critical";
            /** @enum {string} */
            runner_type?: "host" | "docker" | "ssh";
            docker_image?: string;
            docker_network?: string;
            ssh_host?: string;
            scope?: string;
            /** @description minutes */
            timeout?: number;
            concurrency?: number;
            is_enabled: boolean;
            last_run: string | null;
            next_run: string | null;
            run_count: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
        };
        CreateSchedule: {
            name: string;
            workflow_name: string;
            /** @enum {string} */
            workflow_kind?: "flow" | "module";
            /**
             * @description Default: cron. manual is a disabled cron that only POST /schedules/{id}/trigger fires
             * @enum {string}
             */
            trigger_type?: "cron" | "event" | "watch" | "manual";
            /** @description Cron expression of five fields, @daily or @every 2h; for cron */
            schedule?: string;
            /** @description For cron; default UTC */
            timezone?: string;
            /** @enum {string} */
            missed?: "skip" | "once" | "all";
            /** @description For example 30s, 5m or 1h30m */
            missed_window?: string;
            /** @description Topic or shell glob; for event */
            event_topic?: string;
            filters?: string[];
            dedupe_key?: string;
            /** @description For example 30s, 5m or 1h30m */
            dedupe_window?: string;
            /** @description Absolute path or glob on the server; for watch */
            watch_path?: string;
            /** @description For example 30s, 5m or 1h30m */
            debounce?: string;
            /** @enum {string} */
            overlap?: "allow" | "skip" | "queue" | "cancel-previous";
            /** @description "" for a workflow that needs no target */
            target?: string;
            /** @description Several targets instead of target */
            targets?: string[];
            workspace?: string;
            params?: {
                [key: string]: string;
            };
            /** @enum {string} */
            runner_type?: "host" | "docker" | "ssh";
            docker_image?: string;
            /** @description Network of the docker runner; host and container:NAME require the role admin */
            docker_network?: string;
            ssh_host?: string;
            /** @description Name of the scope that the runs keep to */
            scope?: string;
            /** @description a whole number of minutes from 1 to 525600, or a duration such as 2h */
            timeout?: number | string;
            concurrency?: number;
            input?: {
                [key: string]: string;
            };
            /** @enum {string} */
            run_mode?: "local" | "distributed";
            /** @enum {string} */
            priority?: "low" | "normal" | "medium" | "high" | "critical";
            /** @description Alias: is_enabled */
            enabled?: boolean;
            /** @description Target and params combined; used only if neither target nor params is given */
            input_config?: {
                [key: string]: unknown;
            };
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            id?: string;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            trigger_name?: string;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            last_run?: string;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            next_run?: string;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            run_count?: number;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            created_at?: string;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            updated_at?: string;
        };
        ChangeSchedule: {
            name?: string;
            workflow_name?: string;
            /** @enum {string} */
            workflow_kind?: "flow" | "module";
            /**
             * @description Default: cron. manual is a disabled cron that only POST /schedules/{id}/trigger fires
             * @enum {string}
             */
            trigger_type?: "cron" | "event" | "watch" | "manual";
            /** @description Cron expression of five fields, @daily or @every 2h; for cron */
            schedule?: string;
            /** @description For cron; default UTC */
            timezone?: string;
            /** @enum {string} */
            missed?: "skip" | "once" | "all";
            /** @description For example 30s, 5m or 1h30m */
            missed_window?: string;
            /** @description Topic or shell glob; for event */
            event_topic?: string;
            filters?: string[];
            dedupe_key?: string;
            /** @description For example 30s, 5m or 1h30m */
            dedupe_window?: string;
            /** @description Absolute path or glob on the server; for watch */
            watch_path?: string;
            /** @description For example 30s, 5m or 1h30m */
            debounce?: string;
            /** @enum {string} */
            overlap?: "allow" | "skip" | "queue" | "cancel-previous";
            /** @description "" for a workflow that needs no target */
            target?: string;
            /** @description Several targets instead of target */
            targets?: string[];
            workspace?: string;
            params?: {
                [key: string]: string;
            };
            /** @enum {string} */
            runner_type?: "host" | "docker" | "ssh";
            docker_image?: string;
            /** @description Network of the docker runner; host and container:NAME require the role admin */
            docker_network?: string;
            ssh_host?: string;
            /** @description Name of the scope that the runs keep to */
            scope?: string;
            /** @description a whole number of minutes from 1 to 525600, or a duration such as 2h */
            timeout?: number | string;
            concurrency?: number;
            input?: {
                [key: string]: string;
            };
            /** @enum {string} */
            run_mode?: "local" | "distributed";
            /** @enum {string} */
            priority?: "low" | "normal" | "medium" | "high" | "critical";
            /** @description Alias: is_enabled */
            enabled?: boolean;
            /** @description Target and params combined; used only if neither target nor params is given */
            input_config?: {
                [key: string]: unknown;
            };
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            id?: string;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            trigger_name?: string;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            last_run?: string;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            next_run?: string;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            run_count?: number;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            created_at?: string;
            /** @description Read-only; accepted so that a schedule can be sent back unchanged */
            updated_at?: string;
        };
        WebhookSubscription: {
            id: number;
            name: string;
            url: string;
            topics: string[];
            filters: string[];
            /** @enum {string} */
            format: "json" | "slack" | "discord" | "teams" | "mail";
            enabled: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
        };
        WebhookDelivery: {
            id: number;
            subscription_id: number;
            event_id: string;
            topic: string;
            /** @enum {string} */
            status: "pending" | "delivered" | "dead";
            attempts: number;
            /**
             * Format: date-time
             * @description Next attempt, if it is pending
             */
            next_at: string;
            /** @description HTTP status of the last answer; 0 if there was none */
            last_status: number;
            last_error: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            delivered_at: string | null;
            last_attempt_at: string | null;
            /** @description How long the last attempt took */
            last_ms: number | null;
            /** @description The first 1,024 bytes of the last answer */
            last_answer: string;
        };
        Worker: {
            id: string;
            name: string;
            hostname: string;
            pid: number;
            version: string;
            /** @enum {string} */
            kind: "worker" | "server";
            /** @enum {string} */
            status: "idle" | "busy" | "draining" | "lost";
            slots: number;
            busy_slots: number;
            capabilities: string[];
            /** @description Programs of the shipped manifest that it has, with their versions. Empty until it has asked them, and for workers of older versions */
            tools: components["schemas"]["WorkerTool"][];
            /**
             * @description What an operator wants of it. paused: it finishes its runs and claims no more. stopped: its program also ends
             * @enum {string}
             */
            wanted: "running" | "paused" | "stopped";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            joined_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_heartbeat: string;
            /** @description Milliseconds since last_heartbeat */
            lease_age_ms: number;
            /**
             * Format: date-time
             * @description A worker that does not renew its lease until then is lost
             */
            lease_until: string;
            lost_at: string | null;
            current_runs: string[];
            /** @description The first of current_runs, or "" */
            current_task: string;
            /** @description Completed runs among the newest 10,000 of the farm */
            tasks_complete: number;
            /** @description Failed runs among the newest 10,000 of the farm */
            tasks_failed: number;
        };
        WorkerRun: {
            id: number;
            /** Format: uuid */
            run_uuid: string;
            job_id: string;
            workflow_name: string;
            target: string;
            attempt: number;
            /**
             * Format: date-time
             * @description When this worker claimed it
             */
            since: string;
        };
        WorkerDetail: {
            id: string;
            name: string;
            hostname: string;
            pid: number;
            version: string;
            /** @enum {string} */
            kind: "worker" | "server";
            /** @enum {string} */
            status: "idle" | "busy" | "draining" | "lost";
            slots: number;
            busy_slots: number;
            capabilities: string[];
            /** @description Programs of the shipped manifest that it has, with their versions. Empty until it has asked them, and for workers of older versions */
            tools: components["schemas"]["WorkerTool"][];
            /**
             * @description What an operator wants of it. paused: it finishes its runs and claims no more. stopped: its program also ends
             * @enum {string}
             */
            wanted: "running" | "paused" | "stopped";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            joined_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_heartbeat: string;
            /** @description Milliseconds since last_heartbeat */
            lease_age_ms: number;
            /**
             * Format: date-time
             * @description A worker that does not renew its lease until then is lost
             */
            lease_until: string;
            lost_at: string | null;
            current_runs: string[];
            /** @description The first of current_runs, or "" */
            current_task: string;
            /** @description Completed runs among the newest 10,000 of the farm */
            tasks_complete: number;
            /** @description Failed runs among the newest 10,000 of the farm */
            tasks_failed: number;
            /** @description What its slots execute now, oldest first; at most 1,000 */
            runs: components["schemas"]["WorkerRun"][];
        };
        OwnSession: {
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_used_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at: string;
            /** @description The login of the browser that asks */
            current: boolean;
        };
        SavedFilter: {
            id: number;
            screen: string;
            name: string;
            query: string;
            /** @description Everybody sees it */
            shared: boolean;
            /** @description The caller has saved it */
            own: boolean;
            owner_name: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
        };
        ApiToken: {
            id: number;
            name: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
        };
        User: {
            id: number;
            username: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
        };
        AuditEntry: {
            id: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            /** @enum {string} */
            kind: "user" | "token";
            /** @description Id of the user or token */
            caller_id: number;
            /** @description Name of the user or token at that time */
            caller: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin";
            method: string;
            /** @description Pattern of the route: `/users/{id}` */
            route: string;
            /** @description The path with its ids, at most 500 characters */
            path: string;
            status: number;
        };
        QueuePlace: {
            /** @description Among the queued runs with the same priority, run mode, needs and infrastructure; 1: it is the oldest of them */
            position: number;
            /** @description False: the position is at least this */
            exact: boolean;
            /** @description These runs, with this one */
            waiting: number;
            /** @description The same kind of runs with a higher priority: they start first */
            more_urgent: number;
        };
        Setting: {
            key: string;
            /** @description A masked value is `***`; null: not set */
            value: unknown;
            /** @description `default`, an environment variable, a line of the settings file, or `command line` */
            origin: string;
            description: string;
            /** @description The environment variable that sets it */
            env: string;
            /** @description Type and bounds */
            kind: string;
            /** @description The default as documented */
            fallback: string;
        };
    };
    responses: {
        /** @description Refused: cloud_credentials, cloud_disabled, cloud_limit, invalid_input, invalid_json, invalid_target, invalid_workflow, local_disabled, master_required, target_refused */
        CloudCredentialsOrCloudDisabledOrCloudLimitOrInvalidInputOrInvalidJsonOrInvalidTargetOrInvalidWorkflowOrLocalDisabledOrMasterRequiredOrTargetRefused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: forbidden */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: not_found, workflow_not_found */
        NotFoundOrWorkflowNotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: conflict, idempotency_conflict, missing_tools, wrong_state */
        ConflictOrIdempotencyConflictOrMissingToolsOrWrongState: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: unavailable */
        Unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: unauthorized */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: payload_too_large */
        PayloadTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: unsupported_media_type */
        UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: too_many_requests */
        TooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Errors of every path: 400 the path or query cannot be parsed, 405 another method, 408 and 431 the request is too slow or its headers are too large, 500 an internal error */
        AnyError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: invalid_input */
        InvalidInput: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: not_found */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: range_not_satisfiable */
        RangeNotSatisfiable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: bad_request, cloud_credentials, cloud_disabled, cloud_limit, local_disabled, master_required */
        BadRequestOrCloudCredentialsOrCloudDisabledOrCloudLimitOrLocalDisabledOrMasterRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: wrong_state */
        WrongState: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: bad_request, invalid_input */
        BadRequestOrInvalidInput: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: invalid_input, invalid_json */
        InvalidInputOrInvalidJson: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: cloud_credentials, cloud_disabled, cloud_limit, invalid_input, invalid_json, local_disabled, master_required */
        CloudCredentialsOrCloudDisabledOrCloudLimitOrInvalidInputOrInvalidJsonOrLocalDisabledOrMasterRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: cloud_credentials, cloud_disabled, cloud_limit, invalid_input, invalid_json */
        CloudCredentialsOrCloudDisabledOrCloudLimitOrInvalidInputOrInvalidJson: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: cloud_disabled, invalid_input */
        CloudDisabledOrInvalidInput: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: cloud_disabled */
        CloudDisabled: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: cloud_credentials, cloud_disabled, invalid_input, invalid_json */
        CloudCredentialsOrCloudDisabledOrInvalidInputOrInvalidJson: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: invalid_input, invalid_workflow */
        InvalidInputOrInvalidWorkflow: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: workflow_not_found */
        WorkflowNotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: invalid_input, invalid_json, invalid_workflow */
        InvalidInputOrInvalidJsonOrInvalidWorkflow: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: conflict */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: not_implemented */
        NotImplemented: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: invalid_input, invalid_json, local_disabled */
        InvalidInputOrInvalidJsonOrLocalDisabled: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: invalid_json */
        InvalidJson: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: conflict, wrong_state */
        ConflictOrWrongState: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: bad_request */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Refused: bad_request, invalid_input, invalid_json */
        BadRequestOrInvalidInputOrInvalidJson: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getRuns: {
        parameters: {
            query?: {
                status?: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                /** @description Of ended runs; one or more, separated by commas */
                outcome?: string;
                workflow_name?: string;
                /** @description Alias of workflow_name */
                workflow?: string;
                /** @description Exact */
                target?: string;
                workspace?: string;
                run_mode?: "local" | "distributed" | "cloud";
                priority?: "low" | "normal" | "high" | "critical";
                job_id?: string;
                /** @description Alias of job_id */
                run_group_id?: string;
                /** @description uuid or name of the organisation that has the workspace */
                org?: string;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Run"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postRuns: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated key with the same body returns the first answer and starts nothing */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateRuns"];
            };
        };
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunsCreated"];
                };
            };
            400: components["responses"]["CloudCredentialsOrCloudDisabledOrCloudLimitOrInvalidInputOrInvalidJsonOrInvalidTargetOrInvalidWorkflowOrLocalDisabledOrMasterRequiredOrTargetRefused"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFoundOrWorkflowNotFound"];
            409: components["responses"]["ConflictOrIdempotencyConflictOrMissingToolsOrWrongState"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getRunsId: {
        parameters: {
            query?: {
                /** @description Add the steps as `steps` */
                include_steps?: boolean;
                /** @description Add the artifacts as `artifacts` */
                include_artifacts?: boolean;
            };
            header?: never;
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            id: number;
                            /** Format: uuid */
                            run_uuid: string;
                            workflow_name: string;
                            /** @enum {string} */
                            workflow_kind: "flow" | "module";
                            target: string;
                            params: {
                                [key: string]: string;
                            };
                            /** @enum {string} */
                            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                            /**
                             * @description Whether an ended run did its work: clean, partial (something failed or was left out) or nothing_done; "" while it has not ended
                             * @enum {string}
                             */
                            outcome: "clean" | "partial" | "nothing_done" | "";
                            /** @description Failed steps, including those with on_error: continue */
                            failed_steps: number;
                            /** @description Modules that were due and could not start */
                            left_out_modules: number;
                            /** @description Steps of started modules that were due but not reached */
                            left_out_steps: number;
                            /** @description The first reasons why something failed or was left out */
                            outcome_reasons: string[];
                            workspace: string;
                            /**
                             * Format: uuid
                             * @description Organisation that has the workspace
                             */
                            org_uuid: string;
                            started_at: string | null;
                            completed_at: string | null;
                            total_steps: number;
                            completed_steps: number;
                            /** @enum {string} */
                            trigger_type: "manual" | "cron" | "event" | "watch";
                            /** @description The job id of the request that created the run */
                            run_group_id: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            created_at: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            updated_at: string;
                            /** @enum {string} */
                            priority: "low" | "normal" | "high" | "critical";
                            /** @enum {string} */
                            run_priority: "low" | "normal" | "high" | "critical";
                            /** @enum {string} */
                            run_mode: "local" | "distributed" | "cloud";
                            /** @enum {string} */
                            runner_type: "host" | "docker" | "ssh";
                            attempt: number;
                            /** @description Worker that executes or last executed it, or "" */
                            worker_id: string;
                            /** @description Why a queued run waits, or "" */
                            waiting_reason: string;
                            error_message: string;
                            /** @description Whether the workflow has hooks; only below /osm/api */
                            hooks_enabled?: boolean;
                            /** @description Whether it waits for a worker; only below /osm/api */
                            is_queued?: boolean;
                            /** @description Always false; only below /osm/api */
                            input_is_file?: boolean;
                            schedule_id: string;
                            trigger_name: string;
                            timeout: number | null;
                            docker_image: string;
                            /** @description Network that the caller requested, or "" */
                            docker_network: string;
                            ssh_host: string;
                            facts: {
                                [key: string]: string;
                            };
                            /** @description Versions of the programs that the workflow declares, as its worker had them; those that do not tell a version are missing */
                            tools: {
                                name: string;
                                version: string;
                            }[];
                            killed_pids: number[];
                            /** @description Infrastructure of a cloud run, or "" */
                            infra_id: string;
                            /** @description Machine that a cloud run is bound to, by name, or "" */
                            cloud_instance: string;
                            steps?: components["schemas"]["Step"][];
                            artifacts?: components["schemas"]["Artifact"][];
                            /** @description The list reached its size limit: GET /runs/{id}/steps has all */
                            steps_truncated?: boolean;
                            /** @description The list reached its size limit: GET /runs/{id}/artifacts has all */
                            artifacts_truncated?: boolean;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteRunsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        id: number;
                        /** Format: uuid */
                        run_uuid: string;
                        /** @description Only if processes were terminated */
                        killed_pids?: number[];
                        processes_terminated?: number;
                        /** @enum {string} */
                        kill_method?: "registry" | "database_pid";
                        /** @description Only if no active process was found, or processes have not ended yet */
                        note?: string;
                        /** @enum {string} */
                        status?: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getRunsIdSteps: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Step"][];
                        pagination?: components["schemas"]["PaginationOfPart"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getRunsIdAttempts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RunAttempt"][];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getRunsIdLog: {
        parameters: {
            query?: {
                /** @description Server-sent events while the log grows, until it is complete */
                follow?: boolean;
                /** @description First byte; default: 0 */
                offset?: number;
                /** @description First line, from 1, instead of offset. Not with follow */
                line?: number;
                /** @description Most bytes; default: all. Not with follow */
                limit?: number;
                /** @description For clients that cannot set the header; the header takes precedence */
                last_event_id?: string;
            };
            header?: {
                /** @description Bytes of the log, as an alternative to offset and limit */
                Range?: string;
                /** @description With follow: continue after this event */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The unchanged output, or the part of offset and limit; with follow a stream of events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                    "text/event-stream": string;
                };
            };
            /** @description The requested `Range` */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            416: components["responses"]["RangeNotSatisfiable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getRunsIdStepsStepIdLog: {
        parameters: {
            query?: {
                /** @description Server-sent events while the log grows, until it is complete */
                follow?: boolean;
                /** @description First byte; default: 0 */
                offset?: number;
                /** @description First line, from 1, instead of offset. Not with follow */
                line?: number;
                /** @description Most bytes; default: all. Not with follow */
                limit?: number;
                /** @description For clients that cannot set the header; the header takes precedence */
                last_event_id?: string;
            };
            header?: {
                /** @description Bytes of the log, as an alternative to offset and limit */
                Range?: string;
                /** @description With follow: continue after this event */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
                /** @description id of the step */
                step_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The unchanged output, or the part of offset and limit; with follow a stream of events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                    "text/event-stream": string;
                };
            };
            /** @description The requested `Range` */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            416: components["responses"]["RangeNotSatisfiable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getRunsIdDiffOther: {
        parameters: {
            query?: {
                /** @description Maximum records in each list; the totals count all */
                limit?: number;
                /** @description Only this list; the totals count all */
                change?: "new" | "gone" | "changed";
                /** @description Only records with a higher id: the last id of a list continues it, together with `change` */
                after?: number;
            };
            header?: never;
            path: {
                id: string;
                other: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            from: {
                                id: number;
                                run_uuid: string;
                                workflow_name: string;
                                target: string;
                                workspace: string;
                                /** @enum {string} */
                                status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                            };
                            to: {
                                id: number;
                                run_uuid: string;
                                workflow_name: string;
                                target: string;
                                workspace: string;
                                /** @enum {string} */
                                status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                            };
                            vulnerabilities: {
                                new: {
                                    id: number;
                                    before: {
                                        [key: string]: unknown;
                                    } | null;
                                    after: {
                                        [key: string]: unknown;
                                    } | null;
                                }[];
                                gone: {
                                    id: number;
                                    before: {
                                        [key: string]: unknown;
                                    } | null;
                                    after: {
                                        [key: string]: unknown;
                                    } | null;
                                }[];
                                changed: {
                                    id: number;
                                    before: {
                                        [key: string]: unknown;
                                    } | null;
                                    after: {
                                        [key: string]: unknown;
                                    } | null;
                                }[];
                                total_new: number;
                                total_gone: number;
                                total_changed: number;
                            };
                            assets: {
                                new: {
                                    id: number;
                                    before: {
                                        [key: string]: unknown;
                                    } | null;
                                    after: {
                                        [key: string]: unknown;
                                    } | null;
                                }[];
                                gone: {
                                    id: number;
                                    before: {
                                        [key: string]: unknown;
                                    } | null;
                                    after: {
                                        [key: string]: unknown;
                                    } | null;
                                }[];
                                changed: {
                                    id: number;
                                    before: {
                                        [key: string]: unknown;
                                    } | null;
                                    after: {
                                        [key: string]: unknown;
                                    } | null;
                                }[];
                                total_new: number;
                                total_gone: number;
                                total_changed: number;
                            };
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getRunsIdArtifacts: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Artifact"][];
                        pagination?: components["schemas"]["PaginationOfPart"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getRunsIdArtifactsArtifactIdContent: {
        parameters: {
            query?: {
                /** @description frame: to show it in a frame */
                view?: "frame";
            };
            header?: never;
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
                /** @description id of the artifact */
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole content, with the media type of the artifact */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The requested `Range`, with the media type of the artifact */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Not changed */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            415: components["responses"]["UnsupportedMediaType"];
            416: components["responses"]["RangeNotSatisfiable"];
            default: components["responses"]["AnyError"];
        };
    };
    postRunsIdDuplicate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /**
                         * Format: uuid
                         * @description run_uuid of the source
                         */
                        original_run_id: string;
                        /** Format: uuid */
                        new_run_uuid: string;
                        /** @constant */
                        status: "pending";
                        job_id: string;
                        /**
                         * Format: uuid
                         * @description Same as original_run_id
                         */
                        original_run_uuid: string;
                        /**
                         * Format: uuid
                         * @description Same as new_run_uuid
                         */
                        run_uuid: string;
                        workflow: string;
                        target: string;
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    postRunsIdStart: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** Format: uuid */
                        run_uuid: string;
                        /** @constant */
                        status: "running";
                        workflow: string;
                        /** @enum {string} */
                        kind: "flow" | "module";
                        target: string;
                    };
                };
            };
            400: components["responses"]["BadRequestOrCloudCredentialsOrCloudDisabledOrCloudLimitOrLocalDisabledOrMasterRequired"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["WrongState"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getStepResults: {
        parameters: {
            query?: {
                /** @description Exact names, separated by commas */
                workspace?: string;
                /** @description One or more, separated by commas; success is an alias of completed */
                status?: string;
                /** @description Exact types, for example bash, separated by commas */
                step_type?: string;
                /** @description Number or run_uuid of the run */
                run_uuid?: string;
                /** @description Alias of run_uuid */
                run_id?: string;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Step"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postUploadFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description The file, one target per line
                     */
                    file: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @description The name under which the file was stored */
                        filename: string;
                        /** @description For target_file */
                        path: string;
                        /** @description Bytes */
                        size: number;
                        lines: number;
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            default: components["responses"]["AnyError"];
        };
    };
    getTasks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pending: components["schemas"]["Task"][];
                        running: components["schemas"]["Task"][];
                        /** @description Ended tasks: completed, failed, cancelled */
                        completed: components["schemas"]["Task"][];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postTasks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    workflow_name: string;
                    /**
                     * @description Missing: the kind of the workflow
                     * @enum {string}
                     */
                    workflow_kind?: "flow" | "module" | "";
                    target: string;
                    params?: {
                        [key: string]: string | number | boolean;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        task_id: string;
                        /** @description The same */
                        run_uuid: string;
                        job_id: string;
                    };
                };
            };
            400: components["responses"]["CloudCredentialsOrCloudDisabledOrCloudLimitOrInvalidInputOrInvalidJsonOrInvalidTargetOrInvalidWorkflowOrLocalDisabledOrMasterRequiredOrTargetRefused"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFoundOrWorkflowNotFound"];
            409: components["responses"]["ConflictOrIdempotencyConflictOrMissingToolsOrWrongState"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getTasksId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description `run_uuid` of the run */
                        id: string;
                        /** @description The same */
                        task_id: string;
                        /** @description The same */
                        scan_id: string;
                        workflow_name: string;
                        /** @enum {string} */
                        workflow_kind: "flow" | "module";
                        target: string;
                        params: {
                            [key: string]: string;
                        };
                        /** @enum {string} */
                        status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                        started_at: string | null;
                        completed_at: string | null;
                        /**
                         * Format: date-time
                         * @description ISO 8601, UTC
                         */
                        created_at: string;
                        /** @description Worker that executes or last executed it, or "" */
                        worker_id: string;
                        error: string;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getJobs: {
        parameters: {
            query?: {
                workflow?: string;
                /** @description open: a run has not ended; ended: all have; completed, failed, cancelled: all ended so; partial: they ended differently */
                status?: "open" | "ended" | "completed" | "failed" | "cancelled" | "partial";
                trigger?: "manual" | "cron" | "event" | "watch";
                priority?: "low" | "normal" | "high" | "critical";
                /** @description The beginning of the job id */
                search?: string;
                /** @description Most jobs of the page */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["JobSummary"][];
                        pagination: {
                            limit: number;
                            /** @description Pass as cursor to get the next page */
                            next_cursor?: string;
                        };
                    };
                };
            };
            400: components["responses"]["BadRequestOrInvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getJobsJobId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        job_id: string;
                        total_runs: number;
                        completed: number;
                        running: number;
                        failed: number;
                        /** @description Pending and queued runs */
                        pending: number;
                        cancelled: number;
                        /** @description Ended runs by their outcome */
                        outcomes: {
                            clean: number;
                            partial: number;
                            nothing_done: number;
                        };
                        runs: {
                            id?: number;
                            /** Format: uuid */
                            run_uuid: string;
                            workflow_name?: string;
                            /** @enum {string} */
                            workflow_kind?: "flow" | "module";
                            target: string;
                            params?: {
                                [key: string]: string;
                            };
                            /** @enum {string} */
                            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                            /**
                             * @description Whether an ended run did its work: clean, partial (something failed or was left out) or nothing_done; "" while it has not ended
                             * @enum {string}
                             */
                            outcome: "clean" | "partial" | "nothing_done" | "";
                            /** @description Failed steps, including those with on_error: continue */
                            failed_steps?: number;
                            /** @description Modules that were due and could not start */
                            left_out_modules?: number;
                            /** @description Steps of started modules that were due but not reached */
                            left_out_steps?: number;
                            /** @description The first reasons why something failed or was left out */
                            outcome_reasons?: string[];
                            workspace?: string;
                            /**
                             * Format: uuid
                             * @description Organisation that has the workspace
                             */
                            org_uuid?: string;
                            started_at?: string | null;
                            completed_at?: string | null;
                            total_steps?: number;
                            completed_steps?: number;
                            /** @enum {string} */
                            trigger_type?: "manual" | "cron" | "event" | "watch";
                            /** @description The job id of the request that created the run */
                            run_group_id?: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            created_at?: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            updated_at?: string;
                            /** @enum {string} */
                            priority?: "low" | "normal" | "high" | "critical";
                            /** @enum {string} */
                            run_priority?: "low" | "normal" | "high" | "critical";
                            /** @enum {string} */
                            run_mode?: "local" | "distributed" | "cloud";
                            /** @enum {string} */
                            runner_type?: "host" | "docker" | "ssh";
                            attempt?: number;
                            /** @description Worker that executes or last executed it, or "" */
                            worker_id?: string;
                            /** @description Why a queued run waits, or "" */
                            waiting_reason?: string;
                            error_message?: string;
                            /** @description Whether the workflow has hooks; only below /osm/api */
                            hooks_enabled?: boolean;
                            /** @description Whether it waits for a worker; only below /osm/api */
                            is_queued?: boolean;
                            /** @description Always false; only below /osm/api */
                            input_is_file?: boolean;
                            /** @description Running process; 0 if none */
                            current_pid?: number;
                        }[];
                        /** @description Same as job_id */
                        run_group_id: string;
                        /**
                         * @description completed, failed or cancelled if all runs ended so; partial if they ended differently
                         * @enum {string}
                         */
                        status: "pending" | "running" | "completed" | "failed" | "cancelled" | "partial";
                        /** @description The counters again, where Osmedeus clients expect them */
                        progress: {
                            total: number;
                            pending: number;
                            running: number;
                            completed: number;
                            failed: number;
                            cancelled: number;
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    patchJobsJobId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    priority: "low" | "normal" | "high" | "critical";
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        job_id: string;
                        /** @enum {string} */
                        priority: "low" | "normal" | "high" | "critical";
                        /** @enum {string} */
                        previous: "low" | "normal" | "high" | "critical";
                        /** @description Waiting runs that got the new priority, or are getting it */
                        changed: number;
                    };
                };
            };
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        job_id: string;
                        /** @enum {string} */
                        priority: "low" | "normal" | "high" | "critical";
                        /** @enum {string} */
                        previous: "low" | "normal" | "high" | "critical";
                        /** @description Waiting runs that got the new priority, or are getting it */
                        changed: number;
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getJobsJobIdSummary: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["JobSummary"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getJobsJobIdChanges: {
        parameters: {
            query?: {
                /** @description The id of an earlier job */
                since?: string;
                /** @description Most findings of each list; the counts count all */
                limit?: number;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            counts: {
                                /** @description By severity; one without findings is left out */
                                new: {
                                    critical?: number;
                                    high?: number;
                                    medium?: number;
                                    low?: number;
                                    info?: number;
                                };
                                /** @description By severity; one without findings is left out */
                                back: {
                                    critical?: number;
                                    high?: number;
                                    medium?: number;
                                    low?: number;
                                    info?: number;
                                };
                                /** @description By severity; one without findings is left out */
                                gone: {
                                    critical?: number;
                                    high?: number;
                                    medium?: number;
                                    low?: number;
                                    info?: number;
                                };
                                /** @description By severity; one without findings is left out */
                                not_tested: {
                                    critical?: number;
                                    high?: number;
                                    medium?: number;
                                    low?: number;
                                    info?: number;
                                };
                            };
                            new: components["schemas"]["ChangedFinding"][];
                            back: components["schemas"]["ChangedFinding"][];
                            gone: components["schemas"]["ChangedFinding"][];
                            not_tested: components["schemas"]["ChangedFinding"][];
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getReportsJobsJobId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, to be read or printed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getReportsSchedulesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, to be read or printed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getReportsWorkspacesWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, to be read or printed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getJobsJobIdStrip: {
        parameters: {
            query?: {
                /** @description Most runs of one answer */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        job_id: string;
                        /** @description Targets of the job */
                        total: number;
                        /** @description Targets at the end that have no run yet */
                        without_run: number;
                        states: string;
                        ids: number[][];
                        /** @description Pass as cursor to get the next runs */
                        next_cursor?: string;
                    };
                };
            };
            /** @description The states are those of the `ETag` in `If-None-Match` */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequestOrInvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getJobsJobIdFailures: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @enum {string} */
                            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                            /** @enum {string} */
                            outcome: "clean" | "partial" | "nothing_done" | "";
                            /** @description What the messages have in common */
                            pattern: string;
                            /** @description The first message; up to 300 characters */
                            example: string;
                            count: number;
                            /** @description The first runs, at most 5 */
                            runs: {
                                id: number;
                                run_uuid: string;
                                target: string;
                            }[];
                        }[];
                        /** @description Runs in all groups */
                        total: number;
                        /** @description Runs in groups that are not listed */
                        other_runs: number;
                        /** @description Whether all runs of the job were looked at */
                        complete: boolean;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getJobsJobIdProgress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        job_id: string;
                        total: number;
                        ended: number;
                        running: number;
                        /** @description Pending and queued runs, and targets without a run */
                        waiting: number;
                        started_at: string | null;
                        bucket_seconds: number;
                        /** @description Runs that ended in each bucket since started_at; at most 120 buckets */
                        series: {
                            completed: number;
                            failed: number;
                            cancelled: number;
                        }[];
                        /** @description Ended runs per second, lately */
                        rate: number | null;
                        /** @description Seconds until the last run ends */
                        eta: {
                            expected_seconds: number | null;
                            early_seconds: number | null;
                            late_seconds: number | null;
                            /** @description Why a value is null, or "" */
                            reason: string;
                        };
                        oldest_waiting: {
                            id: number;
                            run_uuid: string;
                            target: string;
                            /** Format: date-time */
                            since: string;
                        } | null;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    postJobsJobIdRetry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Default: failed and cancelled, if outcomes is missing too */
                    statuses?: ("failed" | "cancelled")[];
                    /** @description Also runs with these outcomes, whatever their status */
                    outcomes?: ("partial" | "nothing_done")[];
                    /** @description Only runs in the groups of `GET /jobs/{job_id}/failures` with this pattern */
                    pattern?: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @description The retry */
                        job_id: string;
                        retry_of: string;
                        /** @description Runs that this request created; 0: the retry existed */
                        runs: number;
                    };
                };
            };
            400: components["responses"]["CloudCredentialsOrCloudDisabledOrCloudLimitOrInvalidInputOrInvalidJsonOrLocalDisabledOrMasterRequired"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["WrongState"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    postRunsCancel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Numbers or uuids of runs; at most 1000 */
                    ids: (number | string)[];
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @description As in the request */
                            id: string;
                            /** @enum {string} */
                            result: "cancelled" | "stopping" | "ended" | "not_found";
                            /** @enum {string} */
                            status?: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                        }[];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    postRunsRetry: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Numbers or uuids of runs; at most 1000 */
                    ids: (number | string)[];
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @description As in the request */
                            id: string;
                            /** @enum {string} */
                            result: "retried" | "running" | "refused" | "not_found";
                            /** @description The retry */
                            job_id?: string;
                            /** @description The new run */
                            run_uuid?: string;
                            /** @description Why the run was not repeated */
                            message?: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    postJobsJobIdCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        job_id: string;
                        /** @description Waiting runs that were cancelled */
                        cancelled: number;
                        /** @description Running runs that were asked to stop */
                        stopping: number;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getCloudInstances: {
        parameters: {
            query?: {
                status?: "requested" | "provisioning" | "ready" | "draining" | "destroyed" | "failed";
                provider?: "aws" | "gcp" | "digitalocean" | "linode" | "azure" | "hetzner" | "local";
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CloudInfra"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["CloudDisabledOrInvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postCloudInstances: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInfra"];
            };
        };
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        infra_id: string;
                        /** @enum {string} */
                        status: "requested" | "provisioning" | "ready" | "draining" | "destroyed" | "failed";
                        /** @enum {string} */
                        provider: "aws" | "gcp" | "digitalocean" | "linode" | "azure" | "hetzner" | "local";
                        instances: number;
                        infra_status_url: string;
                        /** @description Same as infra_status_url */
                        poll_url: string;
                    };
                };
            };
            400: components["responses"]["CloudCredentialsOrCloudDisabledOrCloudLimitOrInvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getCloudInstancesInfraId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                infra_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CloudInfra"];
                    };
                };
            };
            400: components["responses"]["CloudDisabled"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteCloudInstancesInfraId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                infra_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        infra_id: string;
                        /** @enum {string} */
                        status: "requested" | "provisioning" | "ready" | "draining" | "destroyed" | "failed";
                    };
                };
            };
            400: components["responses"]["CloudDisabled"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getCloudInstancesInfraIdStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                infra_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        infra_id: string;
                        /** @enum {string} */
                        status: "requested" | "provisioning" | "ready" | "draining" | "destroyed" | "failed";
                        message: string;
                        ready_count: number;
                        total_count: number;
                        /** Format: date-time */
                        expires_at: string;
                        details: components["schemas"]["CloudInstance"][];
                    };
                };
            };
            400: components["responses"]["CloudDisabled"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getCloudProviders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        providers: {
                            /** @enum {string} */
                            name: "aws" | "gcp" | "digitalocean" | "linode" | "azure" | "hetzner" | "local";
                            is_default: boolean;
                            configured: boolean;
                            /** @enum {string} */
                            status: "valid" | "invalid" | "not_configured";
                            message?: string;
                        }[];
                        /** @description The provider of requests that name none, or "" */
                        default_provider: string;
                    };
                };
            };
            400: components["responses"]["CloudDisabled"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postCloudProvidersNameValidate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        provider: "aws" | "gcp" | "digitalocean" | "linode" | "azure" | "hetzner" | "local";
                        valid: boolean;
                        message: string;
                    };
                };
            };
            400: components["responses"]["CloudDisabled"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    postCloudEstimate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EstimateCost"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        provider: "aws" | "gcp" | "digitalocean" | "linode" | "azure" | "hetzner" | "local";
                        region: string;
                        instance_type: string;
                        use_spot: boolean;
                        instance_count: number;
                        hours: number;
                        /** @description US dollars; null: not known */
                        hourly_cost: number | null;
                        /** @description US dollars; null: not known */
                        daily_cost: number | null;
                        /** @description US dollars; null: not known */
                        estimated_cost: number | null;
                        /** @constant */
                        currency: "USD";
                        breakdown: {
                            resource: string;
                            count: number;
                            /** @description US dollars; null: not known */
                            unit_hourly_cost: number | null;
                            /** @description US dollars; null: not known */
                            hourly_cost: number | null;
                        }[];
                        notes: string[];
                    };
                };
            };
            400: components["responses"]["CloudCredentialsOrCloudDisabledOrInvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getWorkflows: {
        parameters: {
            query?: {
                /** @description Both list the same workflows, because there is no separate index. With `filesystem` all of them are returned unless `limit` is set */
                source?: "db" | "filesystem";
                kind?: "flow" | "module";
                /** @description Substring of the name or the description */
                search?: string;
                /** @description Workflows with one of these tags, separated by commas */
                tags?: string;
                /** @description Include hidden workflows */
                hidden?: boolean;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return, 50 by default; values above 10000 are lowered to 10000 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WorkflowSummary"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Same as pagination.total */
                        count: number;
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getWorkflowsTags: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        tags: string[];
                        count: number;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postWorkflowsRefresh: {
        parameters: {
            query?: {
                /** @description Has no effect: every file is always checked */
                force?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        added: number;
                        updated: number;
                        removed: number;
                        /** @description Files that cannot be started, with their first problem; at most 100 */
                        errors: string[];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    postWorkflowsLint: {
        parameters: {
            query?: {
                /** @description Return the graph of the file too */
                graph?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A workflow in YAML, at most 1 MiB A form of the type multipart/form-data with the field `file` is accepted too. */
        requestBody?: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description False: the file has errors, and an upload would be refused */
                        valid: boolean;
                        problems: components["schemas"]["WorkflowProblem"][];
                        graph?: components["schemas"]["WorkflowGraph"];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidWorkflow"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getWorkflowsName: {
        parameters: {
            query?: {
                json?: boolean;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/yaml": unknown;
                    "application/json": {
                        /** @description A number derived from the name */
                        id: number;
                        name: string;
                        /** @enum {string} */
                        kind: "flow" | "module";
                        description: string;
                        tags: string[];
                        hidden: boolean;
                        /** @description Path within the source */
                        file_path: string;
                        /** @description `uploaded`, or a folder on the server */
                        source: string;
                        params: {
                            name: string;
                            /** @description `string`, `int`, `bool`, `choice`, `path` or `args` */
                            type: string;
                            default: unknown;
                            required: boolean;
                            /** @description For an `int` */
                            min?: number;
                            /** @description For an `int` */
                            max?: number;
                            /** @description Of a `choice` */
                            choices?: string[];
                            /** @description A `choice` may have several of the choices, separated by commas */
                            multiple?: boolean;
                            description: string;
                        }[];
                        required_params: string[];
                        step_count: number;
                        module_count: number;
                        hook_count: number;
                        /** @description `params` as JSON text, as Osmedeus clients read it */
                        params_json: string;
                        /** @description SHA-256 of the file in hex */
                        checksum: string;
                        /**
                         * Format: date-time
                         * @description When this server read the file
                         */
                        indexed_at: string;
                        /**
                         * Format: date-time
                         * @description Same as indexed_at
                         */
                        created_at: string;
                        /**
                         * Format: date-time
                         * @description Same as indexed_at
                         */
                        updated_at: string;
                        /** @description False: the workflow has errors and cannot be started */
                        valid: boolean;
                        /** @description Programs that it or one of its modules declares, and that no worker has that is not lost */
                        missing_tools: string[];
                        steps: unknown[];
                        modules: unknown[];
                        triggers: unknown[];
                        dependencies: unknown;
                        problems: {
                            line: number;
                            column: number;
                            rule: string;
                            /** @enum {string} */
                            severity: "error" | "warning" | "info";
                            message: string;
                            hint: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["WorkflowNotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getWorkflowsNameGraph: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            name: string;
                            /** @enum {string} */
                            kind: "flow" | "module";
                            description: string;
                            tags: string[];
                            /** @description False: it has errors and cannot be started */
                            valid: boolean;
                            needs_target: boolean;
                            example_targets: string[];
                            usage: string;
                            file_path: string;
                            /** @description `uploaded`, or a folder on the server */
                            source: string;
                            yaml: string;
                            params: {
                                name: string;
                                /** @description `string`, `int`, `bool`, `choice`, `path` or `args` */
                                type: string;
                                default: unknown;
                                required: boolean;
                                /** @description For an `int` */
                                min?: number;
                                /** @description For an `int` */
                                max?: number;
                                /** @description Of a `choice` */
                                choices?: string[];
                                /** @description A `choice` may have several of the choices, separated by commas */
                                multiple?: boolean;
                                description: string;
                            }[];
                            problems: components["schemas"]["WorkflowProblem"][];
                            tools: {
                                name: string;
                                /** @description The modules that declare it, and the workflow itself */
                                used_by: string[];
                                /** @description Workers and servers with local slots that are not lost and have it */
                                workers: number;
                                /** @description At most 50 of them */
                                worker_ids: string[];
                            }[];
                            graph: components["schemas"]["WorkflowGraph"];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["WorkflowNotFound"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    postWorkflowsNameNeeds: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    params?: {
                        [key: string]: string;
                    };
                    target?: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            name: string;
                            /** @enum {string} */
                            kind: "flow" | "module";
                            /** @description `tool:NAME`, or `docker` */
                            needs: string[];
                            /** @description Why a request with these params and this target would be refused */
                            problems: {
                                path: string;
                                message: string;
                            }[];
                            /** @description Live workers, at most 200 */
                            workers: {
                                id: string;
                                name: string;
                                /** @enum {string} */
                                kind: "worker" | "server";
                                /** @enum {string} */
                                status: "idle" | "busy" | "draining" | "lost";
                                /** @description Nothing that the runs need is known to be missing */
                                able: boolean;
                                /** @description Of `needs` */
                                missing: string[];
                                /** @description Of the programs that the runs need, those whose version is known */
                                tools: components["schemas"]["WorkerTool"][];
                            }[];
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJsonOrInvalidWorkflow"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["WorkflowNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    postWorkflowUpload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description A workflow in YAML, at most 1 MiB
                     */
                    file: string;
                };
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        name: string;
                        /** @enum {string} */
                        kind: "flow" | "module";
                        description: string;
                        path: string;
                        warnings: string[];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidWorkflow"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getWorkflowSchemaJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schema */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/schema+json": unknown;
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getFunctionsList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        functions: components["schemas"]["ListedFunction"][];
                        total: number;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postFunctionsEval: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    script: string;
                    target?: string;
                    params?: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        result: unknown;
                        /** @description The expression with its values inserted, for display */
                        rendered_script: string;
                        /** @description The printed output */
                        output: string;
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getVulnerabilities: {
        parameters: {
            query?: {
                /** @description Exact names, separated by commas */
                workspace?: string;
                /** @description One or more, separated by commas, ignoring case */
                severity?: string;
                /** @description One or more, separated by commas, ignoring case */
                confidence?: string;
                /** @description Exact types, separated by commas */
                asset_type?: string;
                /** @description Substring of the value, ignoring case */
                asset_value?: string;
                /** @description Substring of title, identifier or asset, ignoring case */
                search?: string;
                /** @description Has this tag */
                tag?: string;
                /** @description Found, or found again, after this time: RFC 3339, or seconds since 1970 */
                new_since?: string;
                /** @description One or more, separated by commas */
                state?: string;
                /** @description What the last scan saw: one or more, separated by commas */
                seen?: string;
                /** @description What people decided: one or more, separated by commas */
                verdict?: string;
                /** @description A scan saw it again after a fix was claimed */
                back?: boolean;
                /** @description Exact name */
                assignee?: string;
                source?: string;
                /** @description run_uuid of the run that last saw it */
                run_id?: string;
                /** @description Alias of run_id */
                run_uuid?: string;
                /** @description uuid or name of the organisation that has the workspace */
                org?: string;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Vulnerability"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postVulnerabilities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    workspace: string;
                    /** @description CVE or other identifier */
                    vuln_info?: string;
                    /** @description Title */
                    vuln_title?: string;
                    /** @description Description */
                    vuln_desc?: string;
                    /** @description Proof of concept */
                    vuln_poc?: string;
                    /** @enum {string} */
                    severity?: "critical" | "high" | "medium" | "low" | "info";
                    /** @enum {string} */
                    confidence?: "Certain" | "Firm" | "Tentative" | "Manual Review Required";
                    /** @description For example web, api, network */
                    asset_type?: string;
                    /** @description URL or other identifier of what is affected */
                    asset_value?: string;
                    tags?: string[];
                    /** @description Raw HTTP request */
                    detail_http_request?: string;
                    /** @description Raw HTTP response */
                    detail_http_response?: string;
                    /** @description Raw scanner output, as JSON text */
                    raw_vuln_json?: string;
                    /** @description What tells the results of one check at one place apart: a matcher, a commit, a column, the text of a line. Part of the identity; in a file it replaces the number of the line there */
                    fingerprint?: string;
                    /** @description Equal results of the last import */
                    occurrences?: number;
                };
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Vulnerability"];
                        message: string;
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getVulnerabilitiesSummary: {
        parameters: {
            query?: {
                /** @description Exact names, separated by commas */
                workspace?: string;
                /** @description One or more, separated by commas */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            by_severity: {
                                critical: number;
                                high: number;
                                medium: number;
                                low: number;
                                info: number;
                            };
                            total: number;
                            /** @description As requested, or "" */
                            workspace: string;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getVulnerabilitiesExport: {
        parameters: {
            query: {
                /** @description Exact names, separated by commas */
                workspace?: string;
                /** @description One or more, separated by commas, ignoring case */
                severity?: string;
                /** @description One or more, separated by commas, ignoring case */
                confidence?: string;
                /** @description Exact types, separated by commas */
                asset_type?: string;
                /** @description Substring of the value, ignoring case */
                asset_value?: string;
                /** @description Substring of title, identifier or asset, ignoring case */
                search?: string;
                /** @description Has this tag */
                tag?: string;
                /** @description Found, or found again, after this time: RFC 3339, or seconds since 1970 */
                new_since?: string;
                /** @description One or more, separated by commas */
                state?: string;
                /** @description What the last scan saw: one or more, separated by commas */
                seen?: string;
                /** @description What people decided: one or more, separated by commas */
                verdict?: string;
                /** @description A scan saw it again after a fix was claimed */
                back?: boolean;
                /** @description Exact name */
                assignee?: string;
                source?: string;
                /** @description run_uuid of the run that last saw it */
                run_id?: string;
                /** @description Alias of run_id */
                run_uuid?: string;
                /** @description sarif (2.1.0), csv, jsonl, defectdojo (generic findings), openvex (0.2.0) */
                format: "sarif" | "csv" | "jsonl" | "defectdojo" | "openvex";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/sarif+json": unknown;
                    "text/csv; charset=utf-8": string;
                    "application/x-ndjson": unknown;
                    "application/json": unknown;
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getVulnerabilitiesFacets: {
        parameters: {
            query?: {
                /** @description Exact names, separated by commas */
                workspace?: string;
                /** @description One or more, separated by commas, ignoring case */
                severity?: string;
                /** @description One or more, separated by commas, ignoring case */
                confidence?: string;
                /** @description Exact types, separated by commas */
                asset_type?: string;
                /** @description Substring of the value, ignoring case */
                asset_value?: string;
                /** @description Substring of title, identifier or asset, ignoring case */
                search?: string;
                /** @description Has this tag */
                tag?: string;
                /** @description Found, or found again, after this time: RFC 3339, or seconds since 1970 */
                new_since?: string;
                /** @description One or more, separated by commas */
                state?: string;
                /** @description What the last scan saw: one or more, separated by commas */
                seen?: string;
                /** @description What people decided: one or more, separated by commas */
                verdict?: string;
                /** @description A scan saw it again after a fix was claimed */
                back?: boolean;
                /** @description Exact name */
                assignee?: string;
                source?: string;
                /** @description run_uuid of the run that last saw it */
                run_id?: string;
                /** @description Alias of run_id */
                run_uuid?: string;
                /** @description uuid or name of the organisation that has the workspace */
                org?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            counted: number;
                            /** @description False: more than the newest 100000 records match */
                            complete: boolean;
                            /** @description Most frequent first, at most 50 */
                            severity: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            confidence: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            state: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            seen: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            verdict: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            assignee: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            workspace: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            asset_type: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            source: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            asset_value: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            workflow: {
                                value: string;
                                count: number;
                            }[];
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postVulnerabilitiesBulk: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    ids?: number[];
                    filter?: {
                        /** @description Exact names, separated by commas */
                        workspace?: string;
                        /** @description One or more, separated by commas, ignoring case */
                        severity?: string;
                        /** @description One or more, separated by commas, ignoring case */
                        confidence?: string;
                        /** @description Exact types, separated by commas */
                        asset_type?: string;
                        /** @description Substring of the value, ignoring case */
                        asset_value?: string;
                        /** @description Substring of title, identifier or asset, ignoring case */
                        search?: string;
                        /** @description Has this tag */
                        tag?: string;
                        /** @description Found, or found again, after this time: RFC 3339, or seconds since 1970 */
                        new_since?: string;
                        /** @description One or more, separated by commas */
                        state?: string;
                        /** @description What the last scan saw: one or more, separated by commas */
                        seen?: string;
                        /** @description What people decided: one or more, separated by commas */
                        verdict?: string;
                        /** @description A scan saw it again after a fix was claimed */
                        back?: boolean;
                        /** @description Exact name */
                        assignee?: string;
                        source?: string;
                        /** @description run_uuid of the run that last saw it */
                        run_id?: string;
                        /** @description Alias of run_id */
                        run_uuid?: string;
                        /** @description uuid or name of the organisation that has the workspace */
                        org?: string;
                    };
                    /** @description `next_cursor` of the previous answer */
                    cursor?: string;
                    change: {
                        /** @description Cannot be combined with other changes */
                        delete?: boolean;
                        /** @description null takes a verdict back, so that rules decide again; none is a decision against rules */
                        verdict?: ("none" | "confirmed" | "false_positive" | "accepted" | "fixed_claimed") | null;
                        /** @description Of the verdict */
                        reason?: string;
                        /** @description When an acceptance ends and the finding is open again: RFC 3339 */
                        until?: string;
                        /** @description null: that of the scanner */
                        severity?: ("critical" | "high" | "medium" | "low" | "info") | null;
                        /** @description "": no person */
                        assignee?: string | null;
                        /** @description Link to a ticket, or "" */
                        ticket?: string;
                        /** @description All tags: scans neither remove those nor add missing ones; null: those of the scanner */
                        tags?: string[] | null;
                        add_tags?: string[];
                        remove_tags?: string[];
                        /** @description Is added to the history */
                        comment?: string;
                        /**
                         * @description For older clients: gone claims a fix, open takes a verdict back
                         * @enum {string}
                         */
                        state?: "open" | "gone";
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            id: number;
                            /**
                             * @description too_many_tags: it would have more than 256 tags and was not changed
                             * @enum {string}
                             */
                            outcome: "changed" | "unchanged" | "deleted" | "not_found" | "too_many_tags";
                        }[];
                        /** @description How many were changed or deleted */
                        changed: number;
                        /** @description Only with a filter: there may be more */
                        next_cursor?: string;
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getVulnerabilitiesDiff: {
        parameters: {
            query: {
                workspace: string;
                /** @description RFC 3339, or seconds since 1970 */
                from: string;
                /** @description Same format; now if missing */
                to?: string;
                /** @description Maximum records in each list; the totals count all */
                limit?: number;
                /** @description Only this list; the totals count all */
                change?: "new" | "gone" | "changed";
                /** @description Only records with a higher id: the last id of a list continues it, together with `change` */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            workspace: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            from: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            to: string;
                            new: {
                                id: number;
                                before: {
                                    [key: string]: unknown;
                                } | null;
                                after: {
                                    [key: string]: unknown;
                                } | null;
                            }[];
                            gone: {
                                id: number;
                                before: {
                                    [key: string]: unknown;
                                } | null;
                                after: {
                                    [key: string]: unknown;
                                } | null;
                            }[];
                            changed: {
                                id: number;
                                before: {
                                    [key: string]: unknown;
                                } | null;
                                after: {
                                    [key: string]: unknown;
                                } | null;
                                asset_id?: number;
                                url?: string;
                                vuln_id?: number;
                                vuln_info?: string;
                                asset_value?: string;
                                changes?: {
                                    field: string;
                                    old_value: unknown;
                                    new_value: unknown;
                                }[];
                            }[];
                            total_new: number;
                            total_gone: number;
                            total_changed: number;
                            /** @description Only below /osm/api, like the following fields */
                            workspace_name?: string;
                            /** Format: date-time */
                            from_time?: string;
                            /** Format: date-time */
                            to_time?: string;
                            added?: (components["schemas"]["Vulnerability"] | components["schemas"]["Asset"])[];
                            removed?: (components["schemas"]["Vulnerability"] | components["schemas"]["Asset"])[];
                            summary?: {
                                total_added: number;
                                total_removed: number;
                                total_changed: number;
                            };
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getVulnerabilitiesDiffs: {
        parameters: {
            query?: {
                workspace?: string;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: Record<string, never>[];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postVulnerabilitiesImport: {
        parameters: {
            query: {
                workspace: string;
                /** @description sarif (2.1.0), nuclei (JSONL), nmap (XML), jsonl (Scanfarm export), whatweb (--log-json), sslscan (--xml), testssl (--jsonfile, --jsonfile-pretty), wapiti (-f json), masscan (-oJ, -oD, -oX, -oL), ffuf (-of json), dirsearch (-O json), gobuster (text of dir), zmap (-O json), sslyze (--json_out), and JSON of gitleaks, gosec, pip-audit, npm audit, osv-scanner, trivy and grype. Default: recognised by the start of the file */
                format?: "sarif" | "nuclei" | "nmap" | "jsonl" | "whatweb" | "sslscan" | "testssl" | "wapiti" | "masscan" | "ffuf" | "dirsearch" | "gobuster" | "zmap" | "sslyze" | "gitleaks" | "gosec" | "pip-audit" | "npm-audit" | "osv-scanner" | "trivy" | "grype";
                /** @description The folder that was scanned: absolute paths of files in it become relative. Default: what the report names, or the folder that all files have in common */
                root?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The file, at most 1 GiB A form of the type multipart/form-data with the field `file` is accepted too. */
        requestBody?: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        workspace: string;
                        format: string;
                        vulnerabilities: {
                            /** @description Results that became new records */
                            new: number;
                            /** @description Known ones whose content changed, or that came back */
                            updated: number;
                            /** @description Known ones that are as they were */
                            unchanged: number;
                            /** @description updated and unchanged */
                            known: number;
                            /** @description Results that equal another one of the report, in whose record they are counted */
                            merged: number;
                            /** @description Results that could not be used, and parts of the scan that failed */
                            errors: number;
                        };
                        assets: {
                            /** @description Results that became new records */
                            new: number;
                            /** @description Known ones whose content changed, or that came back */
                            updated: number;
                            /** @description Known ones that are as they were */
                            unchanged: number;
                            /** @description updated and unchanged */
                            known: number;
                            /** @description Results that equal another one of the report, in whose record they are counted */
                            merged: number;
                        };
                        /** @description The reasons of the first errors */
                        problems: {
                            reason: string;
                            /** @description Of the file */
                            line?: number;
                        }[];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getVulnerabilitiesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            id: number;
                            workspace: string;
                            /**
                             * Format: uuid
                             * @description Organisation that has the workspace
                             */
                            org_uuid: string;
                            /** @description CVE or other identifier */
                            vuln_info: string;
                            /** @description Title */
                            vuln_title: string;
                            /** @description Description */
                            vuln_desc: string;
                            /** @description Proof of concept */
                            vuln_poc: string;
                            /** @enum {string} */
                            severity: "critical" | "high" | "medium" | "low" | "info";
                            /** @enum {string} */
                            confidence: "Certain" | "Firm" | "Tentative" | "Manual Review Required";
                            /** @description For example web, api, network */
                            asset_type: string;
                            /** @description URL or other identifier of what is affected */
                            asset_value: string;
                            tags: string[];
                            /** @description Raw HTTP request */
                            detail_http_request: string;
                            /** @description Raw HTTP response */
                            detail_http_response: string;
                            /** @description Raw scanner output, as JSON text */
                            raw_vuln_json: string;
                            /**
                             * @description What scans see; people do not change it
                             * @enum {string}
                             */
                            seen: "open" | "gone" | "not_tested" | "unreachable";
                            /** @description Why the last scan did not see it, or "" */
                            seen_reason: string;
                            /**
                             * @description What people decide; scans do not change it
                             * @enum {string}
                             */
                            verdict: "none" | "confirmed" | "false_positive" | "accepted" | "fixed_claimed";
                            /** @description Of the verdict, or "" */
                            reason: string;
                            until: string | null;
                            /** @description user:name, token:name or rule:name, or "" */
                            decided_by: string;
                            decided_at: string | null;
                            back_at: string | null;
                            /** @description Or "" */
                            assignee: string;
                            /** @description Link to a ticket, or "" */
                            ticket: string;
                            /** @enum {string} */
                            scan_severity: "critical" | "high" | "medium" | "low" | "info";
                            /** @description What tells the results of one check at one place apart: a matcher, a commit, a column, the text of a line. Part of the identity; in a file it replaces the number of the line there */
                            fingerprint: string;
                            /** @description Equal results of the last import */
                            occurrences: number;
                            /** @description Identity in hex; "" when what or where is missing */
                            finding_hash: string;
                            /** @enum {string} */
                            state: "open" | "gone";
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            first_seen: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            last_seen: string;
                            /**
                             * Format: date-time
                             * @description Same as last_seen
                             */
                            last_seen_at: string;
                            /** @description Runs and imports that found it */
                            times_seen: number;
                            gone_at: string | null;
                            /** @description Run that found it first, or "" */
                            first_run_uuid: string;
                            /** @description Run that found it last, or "" */
                            run_uuid: string;
                            /** @description Origin: api, workflow, or the format of the import */
                            source: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            created_at: string;
                            /**
                             * Format: date-time
                             * @description Time of the last change of its content or state
                             */
                            updated_at: string;
                            /** @description Runs that saw it, newest first, at most 100 */
                            runs: {
                                run_uuid: string;
                                workflow_name: string;
                                target: string;
                                /** @enum {string} */
                                status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                                started_at: string | null;
                                completed_at: string | null;
                            }[];
                            /** @description Rules that match it, in the order in which they apply */
                            rules: {
                                id: number;
                                name: string;
                                /** @description What it decided, unless a person did */
                                sets: ("verdict" | "severity" | "assignee" | "tags")[];
                            }[];
                            /** @description Newest first, at most 100 changes by scans and 1,000 by hand */
                            history: {
                                /**
                                 * Format: date-time
                                 * @description ISO 8601, UTC
                                 */
                                changed_at: string;
                                changes: {
                                    [key: string]: {
                                        from: unknown;
                                        to: unknown;
                                    };
                                };
                                /** @description The user or token that changed it, expiry, or "" */
                                changed_by: string;
                                comment: string;
                                /** @description The run whose scan changed it, or "" */
                                run_uuid: string;
                            }[];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteVulnerabilitiesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        id: number;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    patchVulnerabilitiesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description null takes a verdict back, so that rules decide again; none is a decision against rules */
                    verdict?: ("none" | "confirmed" | "false_positive" | "accepted" | "fixed_claimed") | null;
                    /** @description Of the verdict */
                    reason?: string;
                    /** @description When an acceptance ends and the finding is open again: RFC 3339 */
                    until?: string;
                    /** @description null: that of the scanner */
                    severity?: ("critical" | "high" | "medium" | "low" | "info") | null;
                    /** @description "": no person */
                    assignee?: string | null;
                    /** @description Link to a ticket, or "" */
                    ticket?: string;
                    /** @description All tags: scans neither remove those nor add missing ones; null: those of the scanner */
                    tags?: string[] | null;
                    add_tags?: string[];
                    remove_tags?: string[];
                    /** @description Is added to the history */
                    comment?: string;
                    /**
                     * @description For older clients: gone claims a fix, open takes a verdict back
                     * @enum {string}
                     */
                    state?: "open" | "gone";
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            id: number;
                            workspace: string;
                            /**
                             * Format: uuid
                             * @description Organisation that has the workspace
                             */
                            org_uuid: string;
                            /** @description CVE or other identifier */
                            vuln_info: string;
                            /** @description Title */
                            vuln_title: string;
                            /** @description Description */
                            vuln_desc: string;
                            /** @description Proof of concept */
                            vuln_poc: string;
                            /** @enum {string} */
                            severity: "critical" | "high" | "medium" | "low" | "info";
                            /** @enum {string} */
                            confidence: "Certain" | "Firm" | "Tentative" | "Manual Review Required";
                            /** @description For example web, api, network */
                            asset_type: string;
                            /** @description URL or other identifier of what is affected */
                            asset_value: string;
                            tags: string[];
                            /** @description Raw HTTP request */
                            detail_http_request: string;
                            /** @description Raw HTTP response */
                            detail_http_response: string;
                            /** @description Raw scanner output, as JSON text */
                            raw_vuln_json: string;
                            /**
                             * @description What scans see; people do not change it
                             * @enum {string}
                             */
                            seen: "open" | "gone" | "not_tested" | "unreachable";
                            /** @description Why the last scan did not see it, or "" */
                            seen_reason: string;
                            /**
                             * @description What people decide; scans do not change it
                             * @enum {string}
                             */
                            verdict: "none" | "confirmed" | "false_positive" | "accepted" | "fixed_claimed";
                            /** @description Of the verdict, or "" */
                            reason: string;
                            until: string | null;
                            /** @description user:name, token:name or rule:name, or "" */
                            decided_by: string;
                            decided_at: string | null;
                            back_at: string | null;
                            /** @description Or "" */
                            assignee: string;
                            /** @description Link to a ticket, or "" */
                            ticket: string;
                            /** @enum {string} */
                            scan_severity: "critical" | "high" | "medium" | "low" | "info";
                            /** @description What tells the results of one check at one place apart: a matcher, a commit, a column, the text of a line. Part of the identity; in a file it replaces the number of the line there */
                            fingerprint: string;
                            /** @description Equal results of the last import */
                            occurrences: number;
                            /** @description Identity in hex; "" when what or where is missing */
                            finding_hash: string;
                            /** @enum {string} */
                            state: "open" | "gone";
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            first_seen: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            last_seen: string;
                            /**
                             * Format: date-time
                             * @description Same as last_seen
                             */
                            last_seen_at: string;
                            /** @description Runs and imports that found it */
                            times_seen: number;
                            gone_at: string | null;
                            /** @description Run that found it first, or "" */
                            first_run_uuid: string;
                            /** @description Run that found it last, or "" */
                            run_uuid: string;
                            /** @description Origin: api, workflow, or the format of the import */
                            source: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            created_at: string;
                            /**
                             * Format: date-time
                             * @description Time of the last change of its content or state
                             */
                            updated_at: string;
                            /** @description Runs that saw it, newest first, at most 100 */
                            runs: {
                                run_uuid: string;
                                workflow_name: string;
                                target: string;
                                /** @enum {string} */
                                status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                                started_at: string | null;
                                completed_at: string | null;
                            }[];
                            /** @description Rules that match it, in the order in which they apply */
                            rules: {
                                id: number;
                                name: string;
                                /** @description What it decided, unless a person did */
                                sets: ("verdict" | "severity" | "assignee" | "tags")[];
                            }[];
                            /** @description Newest first, at most 100 changes by scans and 1,000 by hand */
                            history: {
                                /**
                                 * Format: date-time
                                 * @description ISO 8601, UTC
                                 */
                                changed_at: string;
                                changes: {
                                    [key: string]: {
                                        from: unknown;
                                        to: unknown;
                                    };
                                };
                                /** @description The user or token that changed it, expiry, or "" */
                                changed_by: string;
                                comment: string;
                                /** @description The run whose scan changed it, or "" */
                                run_uuid: string;
                            }[];
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getFindingRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FindingRule"][];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postFindingRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewFindingRule"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FindingRule"];
                        /** @description Findings that it changed */
                        changed: number;
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    postFindingRulesPreview: {
        parameters: {
            query?: {
                /** @description Id or name of the rule that it would replace */
                rule?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /** @description Lower ones apply first; default: after all others */
                    position?: number;
                    match?: {
                        /** @description Identifier of the check, or else the title; * and ? in any case */
                        check?: string;
                        /** @description Title; * and ? in any case */
                        title?: string;
                        /** @description Place, or its host; or an address range like 10.0.0.0/8; * and ? in any case */
                        asset?: string;
                        /** @description Workspace; * and ? in any case */
                        workspace?: string;
                        /** @description One of them */
                        severity?: ("critical" | "high" | "medium" | "low" | "info")[];
                        /** @description Source, or a tag of the scanner; * and ? in any case */
                        tool?: string;
                    };
                    set?: {
                        /** @enum {string} */
                        verdict?: "confirmed" | "false_positive" | "accepted";
                        /** @description Of the verdict */
                        reason?: string;
                        /** @description When an acceptance ends: RFC 3339 */
                        until?: string;
                        /** @enum {string} */
                        severity?: "critical" | "high" | "medium" | "low" | "info";
                        assignee?: string;
                        tags?: string[];
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @description Findings that it matches, or that it no longer matches */
                            matched: number;
                            /** @description False: it matches more, which were not read */
                            complete: boolean;
                            /** @description Those that would change */
                            changed: number;
                            /** @description Newest first */
                            findings: {
                                id: number;
                                before: {
                                    workspace: string;
                                    vuln_title: string;
                                    vuln_info: string;
                                    asset_value: string;
                                    /** @enum {string} */
                                    state: "open" | "gone";
                                    /**
                                     * @description What people decide; scans do not change it
                                     * @enum {string}
                                     */
                                    verdict: "none" | "confirmed" | "false_positive" | "accepted" | "fixed_claimed";
                                    decided_by: string;
                                    /** @enum {string} */
                                    severity: "critical" | "high" | "medium" | "low" | "info";
                                    tags: string[];
                                    assignee: string;
                                };
                                after: {
                                    workspace: string;
                                    vuln_title: string;
                                    vuln_info: string;
                                    asset_value: string;
                                    /** @enum {string} */
                                    state: "open" | "gone";
                                    /**
                                     * @description What people decide; scans do not change it
                                     * @enum {string}
                                     */
                                    verdict: "none" | "confirmed" | "false_positive" | "accepted" | "fixed_claimed";
                                    decided_by: string;
                                    /** @enum {string} */
                                    severity: "critical" | "high" | "medium" | "low" | "info";
                                    tags: string[];
                                    assignee: string;
                                };
                            }[];
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getFindingRulesRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or name */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FindingRule"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteFindingRulesRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or name */
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        changed: number;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    patchFindingRulesRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id or name */
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /** @description Lower ones apply first; default: after all others */
                    position?: number;
                    match?: {
                        /** @description Identifier of the check, or else the title; * and ? in any case */
                        check?: string;
                        /** @description Title; * and ? in any case */
                        title?: string;
                        /** @description Place, or its host; or an address range like 10.0.0.0/8; * and ? in any case */
                        asset?: string;
                        /** @description Workspace; * and ? in any case */
                        workspace?: string;
                        /** @description One of them */
                        severity?: ("critical" | "high" | "medium" | "low" | "info")[];
                        /** @description Source, or a tag of the scanner; * and ? in any case */
                        tool?: string;
                    };
                    set?: {
                        /** @enum {string} */
                        verdict?: "confirmed" | "false_positive" | "accepted";
                        /** @description Of the verdict */
                        reason?: string;
                        /** @description When an acceptance ends: RFC 3339 */
                        until?: string;
                        /** @enum {string} */
                        severity?: "critical" | "high" | "medium" | "low" | "info";
                        assignee?: string;
                        tags?: string[];
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FindingRule"];
                        /** @description Findings that it changed */
                        changed: number;
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getAssets: {
        parameters: {
            query?: {
                /** @description Exact names, separated by commas */
                workspace?: string;
                /** @description Substring of value, URL or title, ignoring case */
                search?: string;
                /** @description Exact types, separated by commas */
                asset_type?: string;
                /** @description HTTP statuses, separated by commas */
                status_code?: string;
                technology?: string;
                /** @description Has one of these technologies, separated by commas */
                tech?: string;
                /** @description Has one of these remarks, separated by commas */
                remarks?: string;
                /** @description Substrings, ignoring case, separated by commas */
                content_type?: string;
                /** @description Substring of value, URL or address, ignoring case */
                location?: string;
                /** @description TLS version as the tool reported it, for example tls13 */
                tls?: string;
                /** @description Bytes; assets of unknown size have 0 */
                min_content_length?: number;
                /** @description Bytes; assets of unknown size have 0 */
                max_content_length?: number;
                port?: string;
                /** @description Exact names, separated by commas */
                source?: string;
                /** @description One or more, separated by commas */
                state?: string;
                /** @description Found, or found again, after this time: RFC 3339, or seconds since 1970 */
                new_since?: string;
                /** @description run_uuid of the run that last saw it */
                run_id?: string;
                /** @description Alias of run_id */
                run_uuid?: string;
                /** @description uuid or name of the organisation that has the workspace */
                org?: string;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Asset"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getAssetsDiff: {
        parameters: {
            query: {
                workspace: string;
                /** @description RFC 3339, or seconds since 1970 */
                from: string;
                /** @description Same format; now if missing */
                to?: string;
                /** @description Maximum records in each list; the totals count all */
                limit?: number;
                /** @description Only this list; the totals count all */
                change?: "new" | "gone" | "changed";
                /** @description Only records with a higher id: the last id of a list continues it, together with `change` */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            workspace: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            from: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            to: string;
                            new: {
                                id: number;
                                before: {
                                    [key: string]: unknown;
                                } | null;
                                after: {
                                    [key: string]: unknown;
                                } | null;
                            }[];
                            gone: {
                                id: number;
                                before: {
                                    [key: string]: unknown;
                                } | null;
                                after: {
                                    [key: string]: unknown;
                                } | null;
                            }[];
                            changed: {
                                id: number;
                                before: {
                                    [key: string]: unknown;
                                } | null;
                                after: {
                                    [key: string]: unknown;
                                } | null;
                                asset_id?: number;
                                url?: string;
                                vuln_id?: number;
                                vuln_info?: string;
                                asset_value?: string;
                                changes?: {
                                    field: string;
                                    old_value: unknown;
                                    new_value: unknown;
                                }[];
                            }[];
                            total_new: number;
                            total_gone: number;
                            total_changed: number;
                            /** @description Only below /osm/api, like the following fields */
                            workspace_name?: string;
                            /** Format: date-time */
                            from_time?: string;
                            /** Format: date-time */
                            to_time?: string;
                            added?: (components["schemas"]["Vulnerability"] | components["schemas"]["Asset"])[];
                            removed?: (components["schemas"]["Vulnerability"] | components["schemas"]["Asset"])[];
                            summary?: {
                                total_added: number;
                                total_removed: number;
                                total_changed: number;
                            };
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getAssetsDiffs: {
        parameters: {
            query?: {
                workspace?: string;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: Record<string, never>[];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getAssetsFacets: {
        parameters: {
            query?: {
                /** @description Exact names, separated by commas */
                workspace?: string;
                /** @description Substring of value, URL or title, ignoring case */
                search?: string;
                /** @description Exact types, separated by commas */
                asset_type?: string;
                /** @description HTTP statuses, separated by commas */
                status_code?: string;
                technology?: string;
                /** @description Has one of these technologies, separated by commas */
                tech?: string;
                /** @description Has one of these remarks, separated by commas */
                remarks?: string;
                /** @description Substrings, ignoring case, separated by commas */
                content_type?: string;
                /** @description Substring of value, URL or address, ignoring case */
                location?: string;
                /** @description TLS version as the tool reported it, for example tls13 */
                tls?: string;
                /** @description Bytes; assets of unknown size have 0 */
                min_content_length?: number;
                /** @description Bytes; assets of unknown size have 0 */
                max_content_length?: number;
                port?: string;
                /** @description Exact names, separated by commas */
                source?: string;
                /** @description One or more, separated by commas */
                state?: string;
                /** @description Found, or found again, after this time: RFC 3339, or seconds since 1970 */
                new_since?: string;
                /** @description run_uuid of the run that last saw it */
                run_id?: string;
                /** @description Alias of run_id */
                run_uuid?: string;
                /** @description uuid or name of the organisation that has the workspace */
                org?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            counted: number;
                            /** @description False: more than the newest 100000 records match */
                            complete: boolean;
                            /** @description Most frequent first, at most 50 */
                            state: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            workspace: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            asset_type: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            source: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            status_code: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            technology: {
                                value: string;
                                count: number;
                            }[];
                            /** @description Most frequent first, at most 50 */
                            port: {
                                value: string;
                                count: number;
                            }[];
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getAssetsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            id: number;
                            workspace: string;
                            /**
                             * Format: uuid
                             * @description Organisation that has the workspace
                             */
                            org_uuid: string;
                            /** @description http, dns, url, subdomain, ip, port, technology, file… */
                            asset_type: string;
                            /** @description Host, address, host:port, path… */
                            asset_value: string;
                            url: string;
                            host_ip: string;
                            scheme: string;
                            /** @description 0: unknown */
                            status_code: number;
                            title: string;
                            content_type: string;
                            technologies: string[];
                            open_ports: string[];
                            dns_records: string[];
                            remarks: string[];
                            /** @description Output of the tool as JSON text, or "" */
                            raw_json_data: string;
                            /** @description Same as technologies */
                            tech: string[];
                            /** @description 0: unknown */
                            content_length: number;
                            /** @description 0: unknown */
                            words: number;
                            /** @description 0: unknown */
                            lines: number;
                            /** @description Version of TLS, or "" */
                            tls: string;
                            /** @description Time of the response, or "" */
                            time: string;
                            method: string;
                            input: string;
                            /** @description Path of the URL, or "" */
                            path: string;
                            /** @enum {string} */
                            state: "open" | "gone";
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            first_seen: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            last_seen: string;
                            /**
                             * Format: date-time
                             * @description Same as last_seen
                             */
                            last_seen_at: string;
                            /** @description Runs and imports that found it */
                            times_seen: number;
                            gone_at: string | null;
                            /** @description Run that found it first, or "" */
                            first_run_uuid: string;
                            /** @description Run that found it last, or "" */
                            run_uuid: string;
                            /** @description Origin: api, workflow, or the format of the import */
                            source: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            created_at: string;
                            /**
                             * Format: date-time
                             * @description Time of the last change of its content or state
                             */
                            updated_at: string;
                            /** @description Runs that saw it, newest first, at most 100 */
                            runs: {
                                run_uuid: string;
                                workflow_name: string;
                                target: string;
                                /** @enum {string} */
                                status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
                                started_at: string | null;
                                completed_at: string | null;
                            }[];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getAssetStats: {
        parameters: {
            query?: {
                /** @description Exact names, separated by commas */
                workspace?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            technologies: string[];
                            sources: string[];
                            remarks: string[];
                            asset_types: string[];
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getWorkspaces: {
        parameters: {
            query?: {
                /** @description Substring of the name, ignoring case */
                search?: string;
                /** @description One of local, cloud, imported, or all */
                data_source?: string;
                /** @description For existing clients: has no effect; `mode` is always `database` */
                filesystem?: boolean;
                /** @description uuid or name of the organisation that has the workspace */
                org?: string;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Workspace"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @constant */
                        mode: "database";
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getWorkspaceNames: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string[];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getArtifacts: {
        parameters: {
            query?: {
                /** @description Exact names, separated by commas */
                workspace?: string;
                /** @description One or more, separated by commas */
                artifact_type?: string;
                /** @description Substring of name, path or description, ignoring case */
                search?: string;
                /** @description Number or run_uuid of the run */
                run_uuid?: string;
                /** @description Alias of run_uuid */
                run_id?: string;
                /** @description Leave out artifacts whose content no longer exists; a limit above 1000 is lowered to 1000 */
                verify_exist?: boolean;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** Format: uuid */
                            id: string;
                            run_id: number;
                            workspace: string;
                            name: string;
                            artifact_path: string;
                            /** @enum {string} */
                            artifact_type: "report" | "state_file" | "output" | "screenshot";
                            /** @enum {string} */
                            content_type: "json" | "jsonl" | "yaml" | "html" | "md" | "log" | "pdf" | "png" | "txt" | "zip" | "folder" | "unknown";
                            size_bytes: number;
                            line_count: number;
                            description: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            created_at: string;
                            /** @description Only with verify_exist */
                            path_exists?: boolean;
                            /** @description Only with verify_exist */
                            path_is_dir?: boolean;
                        }[];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getArtifactsWorkspace: {
        parameters: {
            query: {
                /** @description The part of `artifact_path` after `/<workspace>/` */
                artifact_path: string;
            };
            header?: never;
            path: {
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole content, with the media type of the artifact */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The requested `Range`, with the media type of the artifact */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Not changed */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            416: components["responses"]["RangeNotSatisfiable"];
            default: components["responses"]["AnyError"];
        };
    };
    getWsKeyWorkspacePath: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The key in `http.files_key` */
                key: string;
                workspace: string;
                path: string | string[];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole content, with the media type of the artifact */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The requested `Range`, with the media type of the artifact */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Not changed */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            404: components["responses"]["NotFound"];
            416: components["responses"]["RangeNotSatisfiable"];
            default: components["responses"]["AnyError"];
        };
    };
    getSnapshots: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: Record<string, never>[];
                        count: number;
                        /** @constant */
                        path: "";
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postSnapshotsExport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    workspace: string;
                };
            };
        };
        responses: {
            /** @description The snapshot */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": string;
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    postSnapshotsImport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            501: components["responses"]["NotImplemented"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteSnapshotsName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getSnapshotDownloadWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The snapshot */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getScopes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Scope"][];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postScopes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewScope"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Scope"];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getScopesName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Scope"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteScopesName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            default: components["responses"]["AnyError"];
        };
    };
    patchScopesName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeScope"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Scope"];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getScopeCheck: {
        parameters: {
            query: {
                target: string;
                scope?: string;
                /** @description Default: that of the target */
                workspace?: string;
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        allowed: boolean;
                        /** @description "" if it is allowed */
                        reason: string;
                        /** @description When a window of the scope opens */
                        opens_at: string | null;
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getNeverScan: {
        parameters: {
            query?: {
                /** @description Part of an entry or a reason */
                search?: string;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["NeverScan"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    postNeverScan: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewNeverScan"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["NeverScan"];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    postNeverScanImport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description One entry in each line, with a reason behind # if it has its own; lines that begin with # are comments */
                    text: string;
                    reason: string;
                    until?: string | null;
                    /** @description Only for runs of this workflow; default: all */
                    workflow?: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        added: number;
                        replaced: number;
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteNeverScanId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getJobsJobIdRefusals: {
        parameters: {
            query?: {
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Refusal"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getOrgs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** Format: uuid */
                            uuid: string;
                            name: string;
                            description: string;
                            tags: string[];
                            /** @description It has all workspaces that belong to no other */
                            is_default: boolean;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            created_at: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            updated_at: string;
                            stats: components["schemas"]["OrgStats"];
                        }[];
                        total: number;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postOrgs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    uuid?: string | "";
                    description?: string;
                    tags?: string[];
                };
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Org"];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getOrgsOrg: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description uuid or name */
                org: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Org"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    putOrgsOrg: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description uuid or name */
                org: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string | "";
                    description?: string;
                    tags?: string[];
                    workspaces?: string[];
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Org"];
                        assigned?: {
                            /** @description Number of workspaces whose organisation changed */
                            workspaces: number;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteOrgsOrg: {
        parameters: {
            query?: {
                /** @description Only false: an organisation is deleted without its records */
                purge?: boolean;
            };
            header?: never;
            path: {
                /** @description uuid or name */
                org: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        uuid: string;
                        name: string;
                        purged: boolean;
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getOrgsOrgStats: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description uuid or name */
                org: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OrgStats"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getEventLogs: {
        parameters: {
            query?: {
                /** @description A topic or a shell glob, for example run.* */
                topic?: string;
                name?: string;
                source?: string;
                workspace?: string;
                /** @description run_uuid */
                run_id?: string;
                /** @description Alias of run_id */
                run_uuid?: string;
                workflow_name?: string;
                /** @description Alias of workflow_name */
                workflow?: string;
                processed?: boolean;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["EventLogEntry"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postEventsEmit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmitEvent"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventEmitted"];
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getEventsStream: {
        parameters: {
            query?: {
                /** @description A topic or a shell glob, for example run.* */
                topic?: string;
                workspace?: string;
                /** @description run_uuid */
                run_id?: string;
                workflow_name?: string;
                /** @description For clients that cannot set the header; the header takes precedence */
                last_event_id?: string;
            };
            header?: {
                /** @description Continue after this event */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An endless stream of events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getEventReceiverStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventReceiverStatus"];
                };
            };
            401: components["responses"]["Unauthorized"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getEventReceiverWorkflows: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ReceiverWorkflow"][];
                        count: number;
                        /** @description Only below /osm/api, like triggers */
                        workflows?: {
                            name: string;
                            kind: string;
                            description: string;
                            /** @description Names */
                            triggers: string[];
                        }[];
                        triggers?: {
                            workflow_name: string;
                            trigger_name: string;
                            /** @description "" unless it waits for events */
                            topic: string;
                            enabled: boolean;
                        }[];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getTriggers: {
        parameters: {
            query?: {
                type?: "cron" | "event" | "watch";
                enabled?: boolean;
                /** @description Exact name */
                workflow?: string;
                source?: "workflow" | "schedule";
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Trigger"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postTriggersTest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    key?: string;
                    workflow?: string;
                    /** @description Its name */
                    trigger?: string;
                    event?: {
                        /** @description letters, digits and . _ : / -, for example custom.build */
                        topic?: string;
                        /** @description Data for the triggered workflows */
                        data?: {
                            [key: string]: unknown;
                        };
                        /** @description Default: the topic */
                        name?: string;
                        /** @description Any, also those of the farm */
                        source?: string;
                        /** @description Default: derived from the topic */
                        data_type?: string;
                        workspace?: string;
                        run_uuid?: string;
                        workflow_name?: string;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            key: string;
                            name: string;
                            /** @enum {string} */
                            type: "cron" | "event" | "watch";
                            workflow: string;
                            enabled: boolean;
                            topic: {
                                /** @description Empty: all topics */
                                pattern: string;
                                matches: boolean;
                            };
                            filters: {
                                expression: string;
                                passed: boolean;
                                result: unknown;
                                /** @description Why it could not be evaluated, or empty */
                                error: string;
                            }[];
                            dedupe: {
                                /** @description For this event */
                                key: string;
                                window_ms: number;
                                blocked_until: string | null;
                            } | null;
                            overlap: {
                                /** @enum {string} */
                                policy: "allow" | "skip" | "queue" | "cancel-previous";
                                /** @description Executions whose runs have not ended */
                                open: number;
                            };
                            would_start: boolean;
                            /** @description Why it would not start, or would wait */
                            reasons: string[];
                            run: {
                                workflow: string;
                                /** @enum {string} */
                                kind: "flow" | "module";
                                target_count: number;
                                /** @description At most 100; "" is a run without a target */
                                targets: string[];
                                /** @description Of the first target */
                                workspace: string;
                                params: {
                                    [key: string]: string;
                                };
                                /** @enum {string} */
                                run_mode: "local" | "distributed" | "cloud";
                                /** @enum {string} */
                                priority: "low" | "normal" | "high" | "critical";
                            } | null;
                        }[];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    getNights: {
        parameters: {
            query?: {
                /** @description Records to skip */
                offset?: number;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Night"][];
                        /** @description Open findings of the whole farm */
                        open: {
                            critical?: number;
                            high?: number;
                            medium?: number;
                            low?: number;
                            info?: number;
                        };
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getSchedules: {
        parameters: {
            query?: {
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Schedule"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postSchedules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSchedule"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        data: components["schemas"]["Schedule"];
                        /** @description Fields that were ignored or changed; `missing_tools` if the runs wait because no live worker can take them */
                        warnings?: {
                            field: string;
                            message: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJsonOrLocalDisabled"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["WorkflowNotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getSchedulesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Schedule"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    putSchedulesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeSchedule"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        data: components["schemas"]["Schedule"];
                        /** @description Fields that were ignored or changed; `missing_tools` if the runs wait because no live worker can take them */
                        warnings?: {
                            field: string;
                            message: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJsonOrLocalDisabled"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFoundOrWorkflowNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteSchedulesId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        id: string;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    postSchedulesIdEnable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        data: components["schemas"]["Schedule"];
                        /** @description Fields that were ignored or changed; `missing_tools` if the runs wait because no live worker can take them */
                        warnings?: {
                            field: string;
                            message: string;
                        }[];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    postSchedulesIdDisable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        data: components["schemas"]["Schedule"];
                        /** @description Fields that were ignored or changed; `missing_tools` if the runs wait because no live worker can take them */
                        warnings?: {
                            field: string;
                            message: string;
                        }[];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    postSchedulesIdTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        schedule: string;
                        workflow: string;
                        job_id: string;
                        poll_url: string;
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["WrongState"];
            default: components["responses"]["AnyError"];
        };
    };
    postWebhooksName: {
        parameters: {
            query?: never;
            header?: {
                /** @description sha256=HEX */
                "X-Scanfarm-Signature"?: string;
                /** @description Seconds since 1970 */
                "X-Scanfarm-Timestamp"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        event_id: string;
                        topic: string;
                    };
                };
            };
            400: components["responses"]["InvalidJson"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            default: components["responses"]["AnyError"];
        };
    };
    getIncomingWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            name: string;
                            path: string;
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            created_at: string;
                            last_received_at: string | null;
                            /** @description Accepted requests */
                            received_count: number;
                        }[];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    postIncomingWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    secret?: string;
                };
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        name: string;
                        path: string;
                        secret: string;
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteIncomingWebhooksName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        name: string;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getWebhookSubscriptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookSubscription"][];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    postWebhookSubscriptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /** @description http or https; with the format mail: mailto:a@example.com,b@example.com */
                    url: string;
                    /** @description Topics or shell globs */
                    topics: string[];
                    filters?: string[];
                    /** @enum {string} */
                    format?: "json" | "slack" | "discord" | "teams" | "mail";
                    secret?: string;
                    enabled?: boolean;
                };
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        data: components["schemas"]["WebhookSubscription"];
                        secret: string;
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteWebhookSubscriptionsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        id: number;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    patchWebhookSubscriptionsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /** @description http or https; with the format mail: mailto:a@example.com,b@example.com */
                    url?: string;
                    /** @description Topics or shell globs */
                    topics?: string[];
                    filters?: string[];
                    /** @enum {string} */
                    format?: "json" | "slack" | "discord" | "teams" | "mail";
                    secret?: string;
                    enabled?: boolean;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        data: components["schemas"]["WebhookSubscription"];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getWebhookDeliveries: {
        parameters: {
            query?: {
                status?: "pending" | "delivered" | "dead";
                subscription_id?: number;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    postWebhookDeliveriesIdRedeliver: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    postWebhookSubscriptionsIdTest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        delivered: boolean;
                        /** @description HTTP status of the answer; 0 if there was none */
                        status: number;
                        /** @description The first 1,024 bytes of the answer */
                        answer: string;
                        /** @description Milliseconds until the answer */
                        ms: number;
                        /** @description Why it did not arrive, or "" */
                        problem: string;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getWebhookRunsList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: Record<string, never>[];
                        total: number;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getWebhookRunsUuidTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                uuid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    postWebhookRunsUuidTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                uuid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getWorkers: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Worker"][];
                        pagination?: components["schemas"]["PaginationOfPart"];
                        count: number;
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getWorkersId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        name: string;
                        hostname: string;
                        pid: number;
                        version: string;
                        /** @enum {string} */
                        kind: "worker" | "server";
                        /** @enum {string} */
                        status: "idle" | "busy" | "draining" | "lost";
                        slots: number;
                        busy_slots: number;
                        capabilities: string[];
                        /** @description Programs of the shipped manifest that it has, with their versions. Empty until it has asked them, and for workers of older versions */
                        tools: components["schemas"]["WorkerTool"][];
                        /**
                         * @description What an operator wants of it. paused: it finishes its runs and claims no more. stopped: its program also ends
                         * @enum {string}
                         */
                        wanted: "running" | "paused" | "stopped";
                        /**
                         * Format: date-time
                         * @description ISO 8601, UTC
                         */
                        joined_at: string;
                        /**
                         * Format: date-time
                         * @description ISO 8601, UTC
                         */
                        last_heartbeat: string;
                        /** @description Milliseconds since last_heartbeat */
                        lease_age_ms: number;
                        /**
                         * Format: date-time
                         * @description A worker that does not renew its lease until then is lost
                         */
                        lease_until: string;
                        lost_at: string | null;
                        current_runs: string[];
                        /** @description The first of current_runs, or "" */
                        current_task: string;
                        /** @description Completed runs among the newest 10,000 of the farm */
                        tasks_complete: number;
                        /** @description Failed runs among the newest 10,000 of the farm */
                        tasks_failed: number;
                        /** @description What its slots execute now, oldest first; at most 1,000 */
                        runs: components["schemas"]["WorkerRun"][];
                        data: components["schemas"]["WorkerDetail"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    postWorkersIdDrain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Whether its program ends when it is drained; default true */
                    stop?: boolean;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        data: components["schemas"]["WorkerDetail"];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["ConflictOrWrongState"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    postWorkersIdResume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        data: components["schemas"]["WorkerDetail"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["WrongState"];
            default: components["responses"]["AnyError"];
        };
    };
    postLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    username: string;
                    password: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        token: string;
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    postLogout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        kind: "user" | "token";
                        /** @description Name of the user or of the API token */
                        name: string;
                        /** @enum {string} */
                        role: "viewer" | "operator" | "admin";
                        /** @description When the login ends; null for an API token that was sent in a header */
                        expires_at: string | null;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    username?: string;
                    password?: string;
                    /** @description An API token */
                    token?: string;
                    /** @description The code of a login link */
                    code?: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        kind: "user" | "token";
                        /** @description Name of the user or of the API token */
                        name: string;
                        /** @enum {string} */
                        role: "viewer" | "operator" | "admin";
                        /** @description When the login ends; null for an API token that was sent in a header */
                        expires_at: string | null;
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postSessionLinks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        url: string;
                        /** Format: date-time */
                        expires_at: string;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["WrongState"];
            default: components["responses"]["AnyError"];
        };
    };
    getSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OwnSession"][];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteSessionsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        id: string;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getSavedFilters: {
        parameters: {
            query?: {
                /** @description The list that it filters, for example findings */
                screen?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SavedFilter"][];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postSavedFilters: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The list that it filters, for example findings */
                    screen: string;
                    name: string;
                    /** @description Query string of the list, without ? */
                    query: string;
                    /** @description Everybody sees it */
                    shared?: boolean;
                };
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SavedFilter"];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteSavedFiltersId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        id: number;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getTokens: {
        parameters: {
            query?: {
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ApiToken"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    postTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /** @enum {string} */
                    role: "viewer" | "operator" | "admin";
                    /**
                     * Format: date-time
                     * @description Missing: the token never expires
                     */
                    expires_at?: string;
                };
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        token: string;
                        data: components["schemas"]["ApiToken"];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteTokensId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        id: number;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getUsers: {
        parameters: {
            query?: {
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["User"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    postUsers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    username: string;
                    password: string;
                    /** @enum {string} */
                    role: "viewer" | "operator" | "admin";
                };
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        data: components["schemas"]["User"];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getUsersId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["User"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    deleteUsersId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        id: number;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    patchUsersId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    role?: "viewer" | "operator" | "admin";
                    password?: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        data: components["schemas"]["User"];
                    };
                };
            };
            400: components["responses"]["InvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            default: components["responses"]["AnyError"];
        };
    };
    getAudit: {
        parameters: {
            query?: {
                /** @description Name of a user or token */
                caller?: string;
                method?: "POST" | "PUT" | "PATCH" | "DELETE";
                /** @description Part of the path */
                path?: string;
                /** @description Changes at this time or later */
                since?: string;
                /** @description Changes before this time */
                until?: string;
                /** @description Records to skip */
                offset?: number;
                /** @description Maximum records to return; values above 10000 are lowered to 10000 */
                limit?: number;
                /** @description `next_cursor` of the previous page; takes precedence over offset */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AuditEntry"][];
                        pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    getStats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        workflows: {
                            total: number;
                            flows: number;
                            modules: number;
                        };
                        runs: {
                            total: number;
                            completed: number;
                            running: number;
                            failed: number;
                            /** @description pending and queued together */
                            pending: number;
                            cancelled: number;
                        };
                        /** @description Same as runs */
                        scans: {
                            total: number;
                            completed: number;
                            running: number;
                            failed: number;
                            /** @description pending and queued together */
                            pending: number;
                            cancelled: number;
                        };
                        workspaces: {
                            total: number;
                        };
                        assets: {
                            total: number;
                        };
                        subdomains: {
                            total: number;
                        };
                        vulnerabilities: {
                            total: number;
                            critical: number;
                            high: number;
                            medium: number;
                            low: number;
                            info: number;
                        };
                        schedules: {
                            total: number;
                            enabled: number;
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getStatsOverview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description By status */
                        runs: {
                            pending: number;
                            queued: number;
                            running: number;
                            completed: number;
                            failed: number;
                            cancelled: number;
                        };
                        throughput: {
                            /** @description Ended runs, mean of the last five whole minutes */
                            runs_per_minute: number;
                        };
                        queue: {
                            waiting: number;
                            by_priority: {
                                /** @enum {string} */
                                priority: "low" | "normal" | "high" | "critical";
                                waiting: number;
                                /** @description When the oldest of these runs was created; null: there is none */
                                oldest_at: string | null;
                            }[];
                        };
                        /** @description With the slots of servers. Slots are those of live workers; draining contains paused ones */
                        workers: {
                            live: number;
                            draining: number;
                            lost: number;
                            slots: number;
                            busy_slots: number;
                        };
                        /** @description Findings of the last 24 hours that were new or had returned */
                        findings_24h: {
                            critical: number;
                            high: number;
                            medium: number;
                            low: number;
                            info: number;
                        };
                        /** @description At most 10, those with most failed runs first */
                        failing_workflows_24h: {
                            workflow_name: string;
                            ended: number;
                            failed: number;
                        }[];
                        cloud: {
                            /** @description `cloud.enabled` */
                            enabled: boolean;
                            infras: number;
                            machines: number;
                            /** @description US dollars; machines without a known price count as 0 */
                            hourly_cost: number;
                            /** @description US dollars; machines without a known price count as 0 */
                            cost_24h: number;
                            /** @description US dollars for all machines until they expire; counted against `max_cost` */
                            booked_cost: number;
                            /** @description `cloud.limits.max_total_instances` */
                            max_machines: number;
                            /** @description `cloud.limits.max_total_cost`; null: no limit */
                            max_cost: number | null;
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getStatsSeries: {
        parameters: {
            query?: {
                /** @description Default 24h */
                range?: "1h" | "6h" | "24h" | "7d" | "30d";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        range: "1h" | "6h" | "24h" | "7d" | "30d";
                        bucket_seconds: number;
                        /** @description Start of each bucket, oldest first; the last one is not over */
                        times: string[];
                        /** @description Runs that ended, by status */
                        runs: {
                            completed: number[];
                            failed: number[];
                            cancelled: number[];
                        };
                        /** @description Findings that were new or had returned, by severity */
                        findings: {
                            critical: number[];
                            high: number[];
                            medium: number[];
                            low: number[];
                            info: number[];
                        };
                        /** @description The highest number of waiting runs, by priority; null: not recorded */
                        queue: {
                            critical: (number | null)[];
                            high: (number | null)[];
                            normal: (number | null)[];
                            low: (number | null)[];
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getQueue: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        waiting: number;
                        /** @description When the oldest of these runs was created; null: there is none */
                        oldest_at: string | null;
                        by_priority: {
                            /** @enum {string} */
                            priority: "low" | "normal" | "high" | "critical";
                            waiting: number;
                            /** @description When the oldest of these runs was created; null: there is none */
                            oldest_at: string | null;
                        }[];
                        groups: {
                            /** @enum {string} */
                            run_mode: "local" | "distributed" | "cloud";
                            /** @enum {string} */
                            priority: "low" | "normal" | "high" | "critical";
                            /** @description Capabilities that a worker must have */
                            needs: string[];
                            /** @description The needs in words */
                            needs_text: string;
                            /** @description Infrastructure of cloud runs, or "" */
                            infra_id: string;
                            waiting: number;
                            /** @description Of these, runs that wait for a slot of their job */
                            held: number;
                            /** @description Of these, runs that lost a worker before: a worker starts one of them at a time */
                            suspects: number;
                            /** @description When the oldest of these runs was created; null: there is none */
                            oldest_at: string | null;
                            /** @description Workers that can take these runs; at most 10, those with free slots first */
                            workers: {
                                id: string;
                                name: string;
                                free_slots: number;
                            }[];
                            /** @description Workers that can take these runs, of the first 1,000 by name. Always 0 for local and cloud runs */
                            worker_count: number;
                            /** @description Why they wait */
                            why: string;
                        }[];
                        /** @description There are more than 500 groups; the totals contain them all */
                        truncated: boolean;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getRunsIdQueue: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Number or run_uuid of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Null: the run is not queued */
                        data: components["schemas"]["QueuePlace"] | null;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["AnyError"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getHealthReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        status: "ready" | "unavailable";
                        /** @description By component: ok or unavailable */
                        checks: {
                            [key: string]: string;
                        };
                    };
                };
            };
            /** @description Done */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        status: "ready" | "unavailable";
                        /** @description By component: ok or unavailable */
                        checks: {
                            [key: string]: string;
                        };
                    };
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getServerInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        name: string;
                        version: string;
                        license: string;
                        /** @description Path of the documentation of this API */
                        docs: string;
                        repo: string;
                        author: string;
                        build: string;
                        commit: string;
                        master: boolean;
                        /** @description local: this server has local slots */
                        run_modes: ("local" | "distributed" | "cloud")[];
                        /** @description redis or postgres; "" without --master */
                        queue: string;
                    };
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Metrics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    getSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Setting"][];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    getSettingsYaml: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/yaml": unknown;
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    getSettingsStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Settings are read only when a server starts */
                        hot_reload_enabled: boolean;
                        watcher_running: boolean;
                        /** @description The settings file, or "" */
                        config_path: string;
                        /** @description Settings whose value has changed; a restart applies them */
                        restart_required: string[];
                        /** @description Why a restart would reject the settings */
                        problems: string[];
                        version: string;
                        server_version: string;
                        /** @description `data_dir` */
                        base_folder: string;
                        server_port: number;
                        /** @constant */
                        database_engine: "postgresql";
                        redis_configured: boolean;
                        storage_configured: boolean;
                        llm_configured: boolean;
                        telegram_configured: boolean;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    postSettingsReload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        version: string;
                        reload_time: string;
                        reloaded: string[];
                        restart_required: string[];
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["AnyError"];
        };
    };
    getRegistryInfo: {
        parameters: {
            query?: {
                /** @description Has no effect */
                registry_mode?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        registry_mode: "direct-fetch";
                        /** @constant */
                        registry_url: "";
                        nix_installed: boolean;
                        binaries: {
                            [key: string]: {
                                /** @description The workflows that require it */
                                desc: string;
                                /** @description A worker or server that is not lost has it */
                                installed: boolean;
                                optional: boolean;
                                /** @description How many have it, including local slots of servers */
                                workers: number;
                            };
                        };
                    };
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postRegistryInstall: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            501: components["responses"]["NotImplemented"];
            default: components["responses"]["AnyError"];
        };
    };
    getDatabaseTables: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            name: string;
                            row_count: number;
                            /** @description True if there are more than 10,000 records, which are not counted */
                            estimated: boolean;
                        }[];
                        valid_tables: string[];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["AnyError"];
        };
    };
    postDatabaseTablesTableClear: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                table: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            501: components["responses"]["NotImplemented"];
            default: components["responses"]["AnyError"];
        };
    };
    postLlmV1ChatCompletions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    messages: ({
                        role: string;
                    } & {
                        [key: string]: unknown;
                    })[];
                    /** @description Default: `llm.model` */
                    model?: string;
                    max_tokens?: number;
                    temperature?: number;
                    top_p?: number;
                    top_k?: number;
                    n?: number;
                    stop?: string | string[];
                    /** @description Answers are not streamed */
                    stream?: boolean;
                    tools?: ({
                        type: string;
                    } & {
                        [key: string]: unknown;
                    })[];
                    tool_choice?: unknown;
                    response_format?: {
                        type: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        model: string;
                        /** @description Of the first choice; null with tool calls */
                        content: unknown;
                        finish_reason: string;
                        tool_calls?: unknown[];
                        choices?: unknown;
                        usage: {
                            prompt_tokens: number;
                            completion_tokens: number;
                            total_tokens: number;
                        };
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["BadRequestOrInvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    postLlmV1Embeddings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    input: string | string[];
                    /** @description Default: `llm.model` */
                    model?: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        model: string;
                        embeddings: unknown[];
                        usage: {
                            prompt_tokens: number;
                            completion_tokens: number;
                            total_tokens: number;
                        };
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["BadRequestOrInvalidInputOrInvalidJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyError"];
        };
    };
    postAgentChatCompletions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            501: components["responses"]["NotImplemented"];
            default: components["responses"]["AnyError"];
        };
    };
    getOpenapiJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
}
