{{/* What no schema can say. Each fault names what to set. */}}
{{- define "muster.validate" -}}
{{- if and (not .Values.externalSecrets.enabled) (not .Values.database.existingSecret) -}}
{{- fail "database.existingSecret: name a secret that holds the address of PostgreSQL, for example made by: kubectl create secret generic muster-database --from-literal=url=postgres://…" -}}
{{- end -}}
{{- if and (not .Values.externalSecrets.enabled) (not .Values.redis.existingSecret) -}}
{{- fail "redis.existingSecret: name a secret that holds the address of Redis, for example made by: kubectl create secret generic muster-redis --from-literal=url=redis://…" -}}
{{- end -}}
{{- if and .Values.externalSecrets.enabled (not .Values.externalSecrets.secretStoreRef.name) -}}
{{- fail "externalSecrets.secretStoreRef.name: name the store that the secrets come from" -}}
{{- end -}}
{{- if and .Values.externalSecrets.enabled .Values.migrate.enabled .Values.migrate.useHelmHooks -}}
{{- fail "migrate.useHelmHooks: a hook runs before the external secret is there; set it to false, and the processes wait for the Job" -}}
{{- end -}}
{{- if and .Values.worker.enabled (not .Values.worker.token.existingSecret) -}}
{{- fail "worker.token.existingSecret: name a secret with a token; make one with: muster token create --capabilities read,claim,advance,write-notes" -}}
{{- end -}}
{{- if and .Values.worker.enabled (not .Values.worker.command) -}}
{{- fail "worker.command: say which program a worker runs for each item" -}}
{{- end -}}
{{- if and .Values.worker.autoscaling.enabled (not .Values.worker.autoscaling.prometheusUrl) -}}
{{- fail "worker.autoscaling.prometheusUrl: KEDA reads the number of ready items from Prometheus; say where it is" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs: name the gateway" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- fail "ingress.hosts: name at least one host" -}}
{{- end -}}
{{- if .Values.metrics.serviceMonitor.enabled -}}
{{- include "muster.needs" (dict "root" . "api" "monitoring.coreos.com/v1/ServiceMonitor" "value" "metrics.serviceMonitor.enabled" "product" "the Prometheus Operator") -}}
{{- end -}}
{{- if .Values.metrics.prometheusRule.enabled -}}
{{- include "muster.needs" (dict "root" . "api" "monitoring.coreos.com/v1/PrometheusRule" "value" "metrics.prometheusRule.enabled" "product" "the Prometheus Operator") -}}
{{- end -}}
{{- if .Values.worker.autoscaling.enabled -}}
{{- include "muster.needs" (dict "root" . "api" "keda.sh/v1alpha1/ScaledObject" "value" "worker.autoscaling.enabled" "product" "KEDA") -}}
{{- end -}}
{{- if .Values.httpRoute.enabled -}}
{{- include "muster.needs" (dict "root" . "api" "gateway.networking.k8s.io/v1/HTTPRoute" "value" "httpRoute.enabled" "product" "the Gateway API") -}}
{{- end -}}
{{- if .Values.externalSecrets.enabled -}}
{{- include "muster.needs" (dict "root" . "api" "external-secrets.io/v1/ExternalSecret" "value" "externalSecrets.enabled" "product" "External Secrets") -}}
{{- end -}}
{{- end -}}

{{/* An object of a kind that the cluster does not know would fail half-way through an upgrade. */}}
{{- define "muster.needs" -}}
{{- if not (.root.Capabilities.APIVersions.Has .api) -}}
{{- fail (printf "%s: this cluster does not have %s; install %s first, or set it to false" .value .api .product) -}}
{{- end -}}
{{- end -}}
