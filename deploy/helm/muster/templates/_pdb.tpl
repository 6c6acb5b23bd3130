{{/* Takes root, component and values. Of a single replica it would stop every drain of a node. */}}
{{- define "muster.pdb" -}}
{{- $least := .values.replicas -}}
{{- if dig "autoscaling" "enabled" false .values -}}{{- $least = .values.autoscaling.minReplicas -}}{{- end -}}
{{- if and .values.podDisruptionBudget.enabled (gt (int $least) 1) }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "muster.fullname" .root }}-{{ .component }}
  labels:
    {{- include "muster.labels" . | nindent 4 }}
spec:
  minAvailable: 1
  selector:
    matchLabels:
      {{- include "muster.selectorLabels" . | nindent 6 }}
{{- end }}
{{- end -}}
