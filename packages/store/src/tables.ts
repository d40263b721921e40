// Generated from packages/store/sql/schema by `npm run generate`.
import type { ColumnType, GeneratedAlways } from 'kysely'

type Timestamp = ColumnType<string, Date | string>
/** An insert may leave it out. */
type Generated<T> =
  T extends ColumnType<infer S, infer I, infer U>
    ? ColumnType<S, I | undefined, U>
    : ColumnType<T, T | undefined, T>

export interface Tables {
  api_tokens: {
    id: GeneratedAlways<number>
    name: string
    role: string
    hash: string
    created_at: Generated<Timestamp>
    expires_at: Timestamp | null
    last_used_at: Timestamp | null
  }
  artifacts: {
    run_id: number
    attempt: number
    id: string
    name: string
    path: string
    type: string
    content_type: string
    size_bytes: number
    line_count: number
    description: string
    store_key: string
    sha256: string
    created_at: Generated<Timestamp>
  }
  asset_sightings: {
    asset_id: number
    content_hash: Buffer | null
    last_seen: Timestamp
    times_seen: number
    last_run: number | null
  }
  assets: {
    id: GeneratedAlways<number>
    workspace: string
    asset_type: string
    asset_value: string
    url: string
    host_ip: string
    scheme: string
    status_code: number
    title: string
    content_type: string
    technologies: string[]
    open_ports: string[]
    dns_records: string[]
    remarks: string[]
    raw_json_data: string
    asset_hash: Buffer
    source: string
    state: Generated<string>
    first_seen: Generated<Timestamp>
    opened_at: Generated<Timestamp>
    gone_at: Timestamp | null
    first_run: number | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    page_hash: string | null
  }
  audit_log: {
    id: GeneratedAlways<number>
    at: Generated<Timestamp>
    kind: string
    caller_id: number
    caller: string
    role: string
    method: string
    route: string
    path: string
    status: number
  }
  cloud_infras: {
    id: GeneratedAlways<number>
    infra_id: string
    status: Generated<string>
    provider: string
    region: string
    instance_type: string
    use_spot: boolean
    auto_destroy: boolean
    instances: number
    tools: string[]
    hours: ColumnType<string, number | string>
    hourly_price: ColumnType<string, number | string> | null
    message: Generated<string>
    ssh_user: Generated<string>
    private_key: Generated<string>
    public_key: Generated<string>
    bound: Generated<number>
    ends_runs_as: string | null
    end_reason: Generated<string>
    owner: Generated<string>
    owner_until: Timestamp | null
    due_at: Generated<Timestamp>
    recheck: Generated<boolean>
    expires_at: Timestamp
    created_at: Generated<Timestamp>
    ready_at: Timestamp | null
    destroyed_at: Timestamp | null
    closed_at: Timestamp | null
  }
  cloud_instances: {
    id: GeneratedAlways<number>
    infra_no: number
    name: string
    status: Generated<string>
    resource_id: Generated<string>
    address: Generated<string>
    port: Generated<number>
    message: Generated<string>
    host_key_private: Generated<string>
    host_key: Generated<string>
    create_started_at: Timestamp | null
    created_at: Generated<Timestamp>
    ready_at: Timestamp | null
    destroyed_at: Timestamp | null
  }
  cloud_reaps: {
    provider: string
    reaped_at: Timestamp
  }
  cve_scores: {
    cve: string
    score: number
    percentile: number
  }
  destinations: {
    host: string
    run_id: number
    place: string
  }
  enrichments: {
    kind: string
    version: string
    published: string
    cves: number
    loaded_at: Generated<Timestamp>
    loaded_by: string
  }
  event_logs: {
    id: GeneratedAlways<number>
    topic: string
    event_id: string
    name: string
    source: string
    data_type: string
    data: string
    workspace: string
    run_id: string
    workflow_name: string
    processed: boolean
    processed_at: Timestamp | null
    error: Generated<string>
    created_at: Generated<Timestamp>
    tx: Generated<string>
    claimed_until: Timestamp | null
  }
  exploited_cves: {
    cve: string
    added: ColumnType<string, Date | string>
    due: ColumnType<string, Date | string> | null
  }
  farm: {
    only_row: Generated<boolean>
    farm_id: Generated<string>
    signing_key: Buffer | null
    workflows_version: Generated<number>
    reaper_turn_at: Timestamp | null
    reaper_hold_until: Timestamp | null
    mass_expiry_since: Timestamp | null
    series_tx: Generated<string>
    series_id: Generated<number>
    digest_until: Generated<Timestamp>
    reminded_at: Generated<Timestamp>
  }
  farm_limits: {
    limits: unknown
  }
  farm_series: {
    minute: Timestamp
    kind: string
    label: string
    count: number
  }
  finding_changes: {
    id: GeneratedAlways<number>
    vulnerability_id: number
    changed_at: Generated<Timestamp>
    changes: unknown
    changed_by: string
    run_id: number | null
    comment: Generated<string>
  }
  finding_rules: {
    id: GeneratedAlways<number>
    name: string
    position: number
    check_glob: string | null
    title_glob: string | null
    asset_glob: string | null
    network: string | null
    workspace_glob: string | null
    severities: string[] | null
    tool_glob: string | null
    verdict: string | null
    reason: string
    until: Timestamp | null
    severity: string | null
    assignee: string | null
    tags: string[]
    created_by: string
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  finding_sightings: {
    finding_id: number
    content_hash: Buffer | null
    last_seen: Timestamp
    times_seen: number
    last_run: number | null
    occurrences: number
    last_import: string | null
    import_part: number | null
  }
  idempotency_keys: {
    key: string
    request_hash: string
    status: number
    body: string
    created_at: Generated<Timestamp>
  }
  incoming_webhooks: {
    name: string
    secret: string
    created_at: Generated<Timestamp>
    last_received_at: Timestamp | null
    received_count: Generated<number>
  }
  job_targets: {
    job_no: number
    chunk: number
    targets: string[]
    workspaces: string[]
  }
  jobs: {
    id: GeneratedAlways<number>
    job_id: string
    workflow_name: string
    workflow_kind: string
    workflow_hash: string
    params: unknown
    priority: string
    run_mode: string
    runner_type: string
    runner_given: boolean
    docker_image: string
    ssh_host: string
    timeout_minutes: number | null
    concurrency: number | null
    requirement_class: string
    trigger_type: string
    trigger_name: string
    schedule_id: string
    event_envelope: string
    starts: boolean
    target_count: number
    cancel_requested_at: Timestamp | null
    created_at: Generated<Timestamp>
    infra_no: number | null
    cloud: unknown
    docker_network: Generated<string>
    cancel_due_at: Timestamp | null
    retry_of: number | null
    final_counts: unknown
    priority_due_at: Timestamp | null
    open_run: number | null
    scope_no: number | null
    refused: Generated<number>
    resume_from: unknown
    submitted_by: Generated<string>
    delta: unknown
    left_out: Generated<number>
    resume: string | null
    parent_run: number | null
    loop_key: string | null
    loop_state: string | null
    loop_step: string | null
  }
  limit_uses: {
    run_id: number
    scope_no: number
    kind: string
    lo: string
    hi: string
    label: string
    rate: number | null
    until: Timestamp | null
  }
  locks: {
    name: string
  }
  log_follows: {
    run_id: number
    until: Timestamp
  }
  login_addresses: {
    user_id: number
    address: string
    last_at: Generated<Timestamp>
  }
  login_codes: {
    hash: string
    user_id: number | null
    token_id: number | null
    mark: string
    created_at: Generated<Timestamp>
    expires_at: Timestamp
    session_until: Timestamp
  }
  login_failures: {
    key: string
    failures: number
    last_at: Timestamp
    wait_until: Timestamp
  }
  never_scan: {
    id: GeneratedAlways<number>
    entry: string
    reason: string
    until: Timestamp | null
    workflow: string
    created_by: string
    created_at: Generated<Timestamp>
  }
  observations: {
    run_id: number
    attempt: number
    kind: string
    record_id: number
    seen: unknown
  }
  org_workspaces: {
    workspace: string
    org: string
  }
  orgs: {
    uuid: string
    name: string
    description: string
    tags: string[]
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  outbox: {
    run_id: number
    epoch: number
    job_no: number
    run_mode: string
    rank: number
    class: string
    ready: boolean
    sent_at: Timestamp | null
    instance_no: number | null
    delayed: Generated<boolean>
  }
  past_workers: {
    id: string
    name: string
    hostname: string
    pid: number
    version: string
    left_at: Generated<Timestamp>
  }
  pinned_workflows: {
    hash: string
    json: string
    created_at: Generated<Timestamp>
  }
  pruned_workspaces: {
    workspace: string
    pruned_at: Generated<Timestamp>
  }
  reached_hosts: {
    run_id: number
    attempt: number
    scope_id: number
    kind: string
    host: string
    failed: Generated<boolean>
    check_id: Generated<string>
    reason: Generated<string>
    silent: Generated<boolean>
    ports: string | null
  }
  refusals: {
    id: GeneratedAlways<number>
    job_no: number | null
    run_id: number | null
    attempt: number | null
    seq: number | null
    place: string
    target: string
    reason: string
    created_at: Generated<Timestamp>
  }
  revoked_logins: {
    hash: string
    expires_at: Timestamp
  }
  runs: {
    id: GeneratedAlways<number>
    run_uuid: string
    job_no: number
    workflow_name: string
    run_mode: string
    status: string
    target: string
    workspace: string
    epoch: Generated<number>
    attempt: Generated<number>
    crashes: Generated<number>
    reported_attempt: number | null
    worker_id: Generated<string>
    cancel_requested_at: Timestamp | null
    started_at: Timestamp | null
    completed_at: Timestamp | null
    total_steps: Generated<number>
    completed_steps: Generated<number>
    current_pid: Generated<number>
    error_message: Generated<string>
    facts: Generated<unknown>
    killed_pids: Generated<number[]>
    event_floor: Generated<number>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    instance_no: number | null
    moves: Generated<number>
    lost_workers: Generated<string[]>
    stuck_since: number | null
    claimed_at: Timestamp | null
    outcome: string | null
    tally: unknown
    past_attempts: unknown
    resume: unknown
    batch: number[] | null
  }
  saved_filters: {
    id: GeneratedAlways<number>
    owner: string
    owner_name: string
    screen: string
    name: string
    query: string
    shared: boolean
    created_at: Generated<Timestamp>
  }
  scan_scopes: {
    id: GeneratedAlways<number>
    name: string
    allowed: string[]
    denied: string[]
    owner: string
    note: string
    valid_from: Timestamp | null
    valid_until: Timestamp | null
    windows: unknown
    zone: string
    created_by: string
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    enforcement: Generated<string>
    limits: Generated<unknown>
  }
  scans: {
    run_id: number
    attempt: number
    scope_id: number
    kind: string
    errors: number
    judged_at: Timestamp | null
    names_hosts: Generated<boolean>
    names_untested: Generated<boolean>
  }
  schedules: {
    id: string
    no: GeneratedAlways<number>
    name: string
    workflow_name: string
    workflow_kind: string
    target: string
    workspace: string
    params: unknown
    trigger_type: string
    schedule: string
    event_topic: string
    watch_path: string
    spec: unknown
    is_enabled: boolean
    last_run: Timestamp | null
    run_count: Generated<number>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
  }
  scope_workspaces: {
    workspace: string
    scope_no: number
  }
  scopes: {
    id: GeneratedAlways<number>
    workspace: string
    workflow_name: string
    target: string
    step: string
    scope_hash: Buffer
    scan_params: unknown
  }
  scopes_version: {
    version: number
  }
  sessions: {
    hash: string
    user_id: number | null
    token_id: number | null
    mark: string
    created_at: Generated<Timestamp>
    expires_at: Timestamp
    last_used_at: Generated<Timestamp>
  }
  shares: {
    owner: string
    weight: number
  }
  sightings: {
    kind: string
    record_id: number
    scope_id: number
    run_id: number
    attempt: number
  }
  slots: {
    run_id: number
    job_no: number
  }
  steps: {
    run_id: number
    attempt: number
    seq: number
    id: string
    name: string
    type: string
    module: string
    status: string
    command: string
    output: string
    error_message: string
    exports: unknown
    exit_code: number | null
    duration_ms: number
    log_file: string
    started_at: Timestamp | null
    completed_at: Timestamp | null
    created_at: Generated<Timestamp>
    taken_from: unknown
  }
  trigger_clocks: {
    trigger_key: string
    spec_hash: string
    handled_until: Timestamp
    seen_at: Generated<Timestamp>
  }
  trigger_dedupe: {
    trigger_key: string
    dedupe_key: string
    until: Timestamp
  }
  trigger_firings: {
    trigger_key: string
    fire_key: string
    state: string
    job_no: number | null
    fired_at: Generated<Timestamp>
  }
  trigger_topics: {
    topic: string
    pattern: string | null
    seen_at: Generated<Timestamp>
  }
  twin_locks: {
    id: number
  }
  unclean_runs: {
    run_id: number
  }
  uploaded_workflows: {
    kind: string
    name: string
    yaml: string
    hash: string
    uploaded_by: string
    updated_at: Generated<Timestamp>
  }
  users: {
    id: GeneratedAlways<number>
    username: string
    role: string
    password_hash: string
    created_at: Generated<Timestamp>
  }
  vulnerabilities: {
    id: GeneratedAlways<number>
    workspace: string
    vuln_info: string
    vuln_title: string
    vuln_desc: string
    vuln_poc: string
    severity: string
    confidence: string
    asset_type: string
    asset_value: string
    tags: string[]
    detail_http_request: string
    detail_http_response: string
    raw_vuln_json: string
    finding_hash: Buffer | null
    holds: boolean
    source: string
    state: Generated<string>
    first_seen: Generated<Timestamp>
    opened_at: Generated<Timestamp>
    gone_at: Timestamp | null
    first_run: number | null
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    fingerprint: Generated<string>
    seen: string
    seen_reason: Generated<string>
    scan_severity: string
    scan_tags: string[]
    decision: Generated<unknown>
    ruled: Generated<unknown>
    verdict: Generated<string>
    reason: Generated<string>
    until: Timestamp | null
    decided_by: Generated<string>
    decided_at: Timestamp | null
    back_at: Timestamp | null
    assignee: Generated<string>
    ticket: Generated<string>
    cves: Generated<string[]>
    epss: number | null
    epss_percentile: number | null
    kev: Generated<boolean>
    kev_due: ColumnType<string, Date | string> | null
  }
  watched_files: {
    trigger_key: string
    path: string
    mark: string
  }
  webhook_cursor: {
    only_row: Generated<boolean>
    position: string
  }
  webhook_deliveries: {
    id: GeneratedAlways<number>
    subscription_id: number
    event_no: number
    event_id: string
    topic: string
    status: string
    attempts: Generated<number>
    next_at: Generated<Timestamp>
    last_status: Generated<number>
    last_error: Generated<string>
    created_at: Generated<Timestamp>
    delivered_at: Timestamp | null
    last_answer: Generated<string>
    last_ms: number | null
    last_attempt_at: Timestamp | null
  }
  webhook_receipts: {
    name: string
    signature: string
    received_at: Generated<Timestamp>
  }
  webhook_subscriptions: {
    id: GeneratedAlways<number>
    name: string
    url: string
    topics: string[]
    filters: string[]
    format: string
    secret: string
    enabled: boolean
    since: Generated<Timestamp>
    created_at: Generated<Timestamp>
    updated_at: Generated<Timestamp>
    min_severity: Generated<string>
    template: Generated<string>
    report: Generated<boolean>
  }
  workers: {
    id: string
    name: string
    hostname: string
    pid: number
    version: string
    kind: string
    slots: number
    busy: Generated<number>
    draining: Generated<boolean>
    capabilities: string[]
    lease_ms: number
    lease_until: Timestamp
    lost_at: Timestamp | null
    joined_at: Generated<Timestamp>
    last_heartbeat: Generated<Timestamp>
    wanted: Generated<string>
    tools: Generated<unknown>
    secret_hash: Buffer | null
    drain_until: Timestamp | null
    enforcement_gap: string | null
  }
  workspace_counters: {
    workspace: string
    name: string
    value: number
  }
}
