{{/* Ready items of the roles that workers take. */}}
{{- define "muster.readyQuery" -}}
sum(max by (role) (muster_items_ready{role=~"queue|work", namespace="{{ .Release.Namespace }}"}))
{{- end -}}
