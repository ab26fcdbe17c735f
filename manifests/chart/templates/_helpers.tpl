{{- define "gpu-scheduler.config" -}}
{{ .Values.config | default (.Files.Get "base/config.yaml") }}
{{- end }}

{{- define "gpu-scheduler.labels" -}}
app.kubernetes.io/name: gpu-scheduler
app.kubernetes.io/part-of: gpu-scheduler
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* An object of the manifests, as a document: dict "object" and "root". */ -}}
{{- define "gpu-scheduler.object" }}
{{- $object := .object }}
{{- $values := .root.Values }}
{{- $labels := include "gpu-scheduler.labels" .root | fromYaml }}
{{- $chart := dict "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version) }}
{{- $_ := set $object.metadata "labels" (merge $chart $labels ($object.metadata.labels | default dict)) }}
{{- if has $object.kind (list "ServiceAccount" "Role" "RoleBinding" "ConfigMap" "Deployment" "NetworkPolicy" "PodDisruptionBudget") }}
{{- $_ := set $object.metadata "namespace" .root.Release.Namespace }}
{{- end }}
{{- if eq $object.kind "CustomResourceDefinition" }}
{{- $_ := set $object.metadata "annotations" (dict "helm.sh/resource-policy" "keep") }}
{{- else if eq $object.kind "NetworkPolicy" }}
{{- range $rule := $object.spec.ingress }}
{{- range $rule.from }}{{ $_ := set .namespaceSelector.matchLabels "kubernetes.io/metadata.name" $values.metrics.namespace }}{{ end }}
{{- end }}
{{- $networks := list }}
{{- range $values.apiServerNetworks }}{{ $networks = append $networks (dict "ipBlock" (dict "cidr" .)) }}{{ end }}
{{- if $networks }}
{{- $_ := set $object.spec "ingress" (append $object.spec.ingress (dict "from" $networks "ports" (list (dict "port" "metrics")))) }}
{{- end }}
{{- else if has $object.kind (list "ServiceMonitor" "PrometheusRule") }}
{{- $_ := set $object.metadata "labels" (merge $object.metadata.labels $values.metrics.labels) }}
{{- if and $values.metrics.runbooks (eq $object.kind "PrometheusRule") }}
{{- include "gpu-scheduler.runbooks" (dict "object" $object "root" .root) }}
{{- end }}
{{- else if and (hasSuffix "RoleBinding" $object.kind) (eq $object.metadata.name "gpu-scheduler-metrics-reader") }}
{{- range $object.subjects }}
{{- $_ := set . "name" $values.metrics.serviceAccount }}
{{- $_ := set . "namespace" $values.metrics.namespace }}
{{- end }}
{{- else if eq $object.kind "Deployment" }}
{{- include "gpu-scheduler.deployment" (dict "object" $object "labels" $labels "root" .root) }}
{{- end }}
---
{{ toYaml $object }}
{{- end }}

{{- /* What the values choose of the Deployment: dict "object", which is changed, "labels" and "root". */ -}}
{{- define "gpu-scheduler.deployment" }}
{{- $values := .root.Values }}
{{- $_ := set .object.spec "replicas" $values.replicas }}
{{- $template := .object.spec.template }}
{{- $_ := set $template.metadata "labels" (merge .labels $template.metadata.labels) }}
{{- $_ := set $template.metadata "annotations" (dict "checksum/config" (include "gpu-scheduler.config" .root | sha256sum)) }}
{{- range $field := list "imagePullSecrets" "nodeSelector" "tolerations" }}
{{- with index $values $field }}{{ $_ := set $template.spec $field . }}{{ end }}
{{- end }}
{{- $_ := set $template.spec "volumes" (concat $template.spec.volumes $values.extraVolumes) }}
{{- range $template.spec.containers }}
{{- $_ := set . "image" (printf "%s:%s" $values.image.repository ($values.image.tag | default $.root.Chart.AppVersion)) }}
{{- if $values.image.pullPolicy }}{{ $_ := set . "imagePullPolicy" $values.image.pullPolicy }}{{ end }}
{{- if $values.ui }}{{ $_ := set . "args" (append .args "--ui") }}{{ end }}
{{- if $values.answers }}{{ $_ := set . "args" (append .args "--answers") }}{{ end }}
{{- $_ := set . "args" (concat .args $values.extraArgs) }}
{{- $_ := set . "volumeMounts" (concat .volumeMounts $values.extraVolumeMounts) }}
{{- if $values.resources }}{{ $_ := set . "resources" $values.resources }}{{ end }}
{{- end }}
{{- end }}
