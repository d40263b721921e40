{{- define "scanfarm.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "scanfarm.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "scanfarm.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "scanfarm.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- /* Labels by which pods are selected: (list . component) */ -}}
{{- define "scanfarm.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "scanfarm.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "scanfarm.labels" -}}
{{- $root := index . 0 -}}
{{ include "scanfarm.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "scanfarm.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "scanfarm.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "scanfarm.authSecret" -}}
{{- default (include "scanfarm.fullname" .) .Values.auth.existingSecret }}
{{- end }}

{{- define "scanfarm.trialSecret" -}}
{{- include "scanfarm.fullname" . }}-trial
{{- end }}

{{- define "scanfarm.hasRedis" -}}
{{- if or .Values.redis.existingSecret .Values.trial.enabled }}true{{ end }}
{{- end }}

{{- define "scanfarm.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $tag := default $root.Chart.AppVersion $image.tag }}
image: {{ printf "%s%s%s" $image.repository (ternary "@" ":" (hasPrefix "sha256:" $tag)) $tag | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
{{- end }}

{{- /* Settings of all programs: (list . component) */ -}}
{{- define "scanfarm.env" -}}
{{- $root := index . 0 -}}
- { name: SCANFARM_CONFIG, value: /etc/scanfarm/scanfarm.yaml }
- { name: DATABASE_URL_FILE, value: /run/scanfarm/database-url }
{{- if include "scanfarm.hasRedis" $root }}
- { name: REDIS_URL_FILE, value: /run/scanfarm/redis-url }
{{- else }}
- { name: SCANFARM_QUEUE, value: postgres }
{{- end }}
{{- with $root.Values.artifacts }}
{{- if eq .kind "folder" }}
- { name: SCANFARM_ARTIFACTS_FOLDER, value: /var/lib/scanfarm/shared/artifacts/store }
{{- else if .s3.existingSecret }}
- { name: SCANFARM_ARTIFACTS_S3_FILE, value: /run/scanfarm/artifacts-s3 }
{{- else }}
- { name: SCANFARM_ARTIFACTS_S3, value: {{ required "artifacts.s3.url or artifacts.s3.existingSecret is required with artifacts.kind: s3" .s3.url | quote }} }
{{- end }}
{{- end }}
{{- if $root.Values.trustedCA.configMap }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/scanfarm-ca/ca.crt }
{{- end }}
{{- end }}

{{- define "scanfarm.mounts" -}}
- { name: settings, mountPath: /etc/scanfarm, readOnly: true }
- { name: secrets, mountPath: /run/scanfarm, readOnly: true }
- { name: tmp, mountPath: /tmp }
- { name: work, mountPath: /var/lib/scanfarm/work }
{{- if eq .Values.artifacts.kind "folder" }}
- { name: artifacts, mountPath: /var/lib/scanfarm/shared/artifacts }
{{- end }}
{{- if .Values.trustedCA.configMap }}
- { name: trusted-ca, mountPath: /etc/scanfarm-ca, readOnly: true }
{{- end }}
{{- end }}

{{- /* Volumes of masters and workers: (list . component mode of the secrets) */ -}}
{{- define "scanfarm.volumes" -}}
{{- $root := index . 0 -}}
{{- $isMaster := eq (index . 1) "master" -}}
- name: settings
  configMap: { name: {{ include "scanfarm.fullname" $root }} }
- name: secrets
  projected:
    defaultMode: {{ index . 2 }}
    sources:
    {{- with $root.Values.database }}
    {{- $own := and (not $isMaster) .workerSecret }}
    {{- if or $own .existingSecret }}
      - secret:
          name: {{ $own | default .existingSecret }}
          items: [{ key: {{ ternary .workerKey .key (not (not $own)) }}, path: database-url }]
    {{- else }}
      - secret:
          name: {{ include "scanfarm.trialSecret" $root }}
          items: [{ key: database-url, path: database-url }]
    {{- end }}
    {{- end }}
    {{- if $root.Values.redis.existingSecret }}
      - secret:
          name: {{ $root.Values.redis.existingSecret }}
          items: [{ key: {{ $root.Values.redis.key }}, path: redis-url }]
    {{- else if $root.Values.trial.enabled }}
      - secret:
          name: {{ include "scanfarm.trialSecret" $root }}
          items: [{ key: redis-url, path: redis-url }]
    {{- end }}
    {{- if and (eq $root.Values.artifacts.kind "s3") $root.Values.artifacts.s3.existingSecret }}
      - secret:
          name: {{ $root.Values.artifacts.s3.existingSecret }}
          items: [{ key: {{ $root.Values.artifacts.s3.key }}, path: artifacts-s3 }]
    {{- end }}
    {{- if $isMaster }}
      - secret:
          name: {{ include "scanfarm.authSecret" $root }}
          items: [{ key: {{ $root.Values.auth.key }}, path: admin-token }]
    {{- end }}
{{- if eq $root.Values.artifacts.kind "folder" }}
- name: artifacts
  persistentVolumeClaim:
    claimName: {{ default (printf "%s-artifacts" (include "scanfarm.fullname" $root)) $root.Values.artifacts.folder.existingClaim }}
{{- end }}
{{- with $root.Values.trustedCA }}
{{- if .configMap }}
- name: trusted-ca
  configMap:
    name: {{ .configMap }}
    items: [{ key: {{ .key }}, path: ca.crt }]
{{- end }}
{{- end }}
{{- end }}

{{- /* Security context of containers at the Pod Security level restricted. */ -}}
{{- define "scanfarm.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* Creates the folder of the artifacts, unless another pod has: its group is shared by masters and workers, and other
       users cannot enter it. (list . image resources) */ -}}
{{- define "scanfarm.artifactsFolder" -}}
{{- $root := index . 0 -}}
- name: artifacts
  {{- include "scanfarm.image" (list $root (index . 1)) | nindent 2 }}
  command: [sh, -c, 'test -d "$0" || mkdir -m 2770 "$0" || test -d "$0"', /var/lib/scanfarm/shared/artifacts/store]
  securityContext: {{- include "scanfarm.restricted" $root | nindent 4 }}
  resources: {{- toYaml (index . 2) | nindent 4 }}
  volumeMounts:
    - { name: artifacts, mountPath: /var/lib/scanfarm/shared/artifacts }
{{- end }}

{{- define "scanfarm.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}
