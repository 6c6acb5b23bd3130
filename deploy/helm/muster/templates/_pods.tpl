{{/* A process ends within 20 s by itself; a pod that is killed before has its claims lapse. */}}
{{- define "muster.graceSeconds" -}}30{{- end -}}

{{/* What all pods have in common. */}}
{{- define "muster.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "muster.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Before the containers. enableServiceLinks: a Service called muster would set MUSTER_PORT to an address. */}}
{{- define "muster.podHead" -}}
serviceAccountName: {{ include "muster.serviceAccount" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
securityContext:
  {{- include "muster.podSecurity" . | nindent 2 }}
{{- end -}}

{{/* Where pods go. Takes root, component and its values. */}}
{{- define "muster.placement" -}}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if dig "topologySpread" "enabled" false .values }}
topologySpreadConstraints:
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "muster.selectorLabels" $ | nindent 8 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Environment of the processes that have the database: secrets by reference, never inlined. */}}
{{- define "muster.databaseEnv" -}}
- name: MUSTER_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "muster.databaseSecret" . }}
      key: {{ ternary "database-url" .Values.database.key .Values.externalSecrets.enabled }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "muster.serverEnv" -}}
{{ include "muster.databaseEnv" . }}
- name: MUSTER_REDIS_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "muster.redisSecret" . }}
      key: {{ ternary "redis-url" .Values.redis.key .Values.externalSecrets.enabled }}
{{- if or .Values.secretKey.existingSecret .Values.externalSecrets.enabled }}
- name: MUSTER_SECRET_KEY
  valueFrom:
    secretKeyRef:
      name: {{ ternary (printf "%s-external" (include "muster.fullname" .)) .Values.secretKey.existingSecret .Values.externalSecrets.enabled }}
      key: {{ ternary "secret-key" .Values.secretKey.key .Values.externalSecrets.enabled }}
{{- end }}
- name: MUSTER_METRICS_PORT
  value: {{ .Values.metrics.port | quote }}
{{- if .Values.configYaml }}
- name: MUSTER_CONFIG
  value: /config/config.yaml
{{- end }}
{{- end -}}

{{- define "muster.volumes" -}}
- name: tmp
  emptyDir: {}
- name: data
  emptyDir: {}
{{- if .Values.configYaml }}
- name: config
  configMap:
    name: {{ include "muster.fullname" . }}
{{- end }}
{{- end -}}

{{- define "muster.volumeMounts" -}}
- name: tmp
  mountPath: /tmp
- name: data
  mountPath: /data
{{- if .Values.configYaml }}
- name: config
  mountPath: /config
  readOnly: true
{{- end }}
{{- end -}}

{{/* A changed configuration is read by itself, but identity and actor_authentication only at a start. */}}
{{- define "muster.podAnnotations" -}}
checksum/config: {{ .root.Values.configYaml | sha256sum }}
{{- with .values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end -}}
