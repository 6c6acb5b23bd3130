{{/* The names that clients may use for the API: its Service's, its Ingress', its route's, and those of the values. */}}
{{- define "muster.allowedHosts" -}}
{{- $service := printf "%s-api" (include "muster.fullname" .) -}}
{{- $hosts := list "localhost" $service (printf "%s.%s" $service .Release.Namespace) (printf "%s.%s.svc" $service .Release.Namespace) (printf "%s.%s.svc.cluster.local" $service .Release.Namespace) -}}
{{- if .Values.ingress.enabled -}}{{- $hosts = concat $hosts .Values.ingress.hosts -}}{{- end -}}
{{- if .Values.httpRoute.enabled -}}{{- $hosts = concat $hosts .Values.httpRoute.hostnames -}}{{- end -}}
{{- join "," (uniq (concat $hosts .Values.auth.allowedHosts)) -}}
{{- end -}}
