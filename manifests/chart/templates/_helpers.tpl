{{- define "gpu-scheduler.config" -}}
{{ .Values.config | default (.Files.Get "base/config.yaml") }}
{{- end }}

{{- /* The configuration as an object, for what other objects have to have of it. */ -}}
{{- define "gpu-scheduler.configuration" -}}
{{- $configuration := include "gpu-scheduler.config" . | fromYaml }}
{{- with $configuration.Error }}{{ fail (printf "config cannot be read: %s" .) }}{{ end }}
{{- /* Of several documents only the first is read here, which may be an empty one: lines before a "---". */ -}}
{{- if ne (toString $configuration.kind) "KubeSchedulerConfiguration" }}{{ fail "config cannot be read: its first document must be a KubeSchedulerConfiguration" }}{{ end }}
{{- $configuration | toYaml }}
{{- end }}

{{- /* The names of its profiles, as a list in YAML. */ -}}
{{- define "gpu-scheduler.names" -}}
{{- $names := list }}
{{- range (include "gpu-scheduler.configuration" . | fromYaml).profiles }}{{ $names = append $names .schedulerName }}{{ end }}
{{- $names | default (list "gpu-scheduler") | toYaml }}
{{- end }}

{{- /* The name of its lease, with which the names of all begin that the scheduler writes in its namespace. */ -}}
{{- define "gpu-scheduler.lease" -}}
{{- $election := (include "gpu-scheduler.configuration" . | fromYaml).leaderElection | default dict }}
{{- $election.resourceName | default "gpu-scheduler" }}
{{- end }}

{{- /* The namespace in which it has them. */ -}}
{{- define "gpu-scheduler.leaseNamespace" -}}
{{- $election := (include "gpu-scheduler.configuration" . | fromYaml).leaderElection | default dict }}
{{- $election.resourceNamespace | default .Release.Namespace }}
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
{{- if eq $object.metadata.name "gpu-scheduler-leader-election" }}
{{- $namespace := include "gpu-scheduler.leaseNamespace" .root }}
{{- if eq $object.kind "FlowSchema" }}
{{- range $object.spec.rules }}{{ range .resourceRules }}{{ $_ := set . "namespaces" (list $namespace) }}{{ end }}{{ end }}
{{- else }}
{{- $_ := set $object.metadata "namespace" $namespace }}
{{- end }}
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
{{- $_ := set $object.metadata "labels" (merge dict ($values.metrics.labels | default dict) $object.metadata.labels) }}
{{- if and $values.metrics.runbooks (eq $object.kind "PrometheusRule") }}
{{- include "gpu-scheduler.runbooks" (dict "object" $object "root" .root) }}
{{- end }}
{{- else if and (hasSuffix "RoleBinding" $object.kind) (eq $object.metadata.name "gpu-scheduler-metrics-reader") }}
{{- range $object.subjects }}
{{- $_ := set . "name" $values.metrics.serviceAccount }}
{{- $_ := set . "namespace" $values.metrics.namespace }}
{{- end }}
{{- else if eq $object.kind "ValidatingAdmissionPolicy" }}
{{- $names := include "gpu-scheduler.names" .root | fromYamlArray }}
{{- range $object.spec.variables }}
{{- if eq .name "schedulerNames" }}{{ $_ := set . "expression" (printf "['%s']" (join "', '" $names)) }}{{ end }}
{{- if and (eq .name "binders") $values.admissionBinders }}
{{- $_ := set . "expression" (printf "%s, '%s']" (trimSuffix "]" .expression) (join "', '" $values.admissionBinders)) }}
{{- end }}
{{- if and (eq .name "drainers") $values.admissionDrainers }}
{{- $_ := set . "expression" (printf "['%s']" (join "', '" $values.admissionDrainers)) }}
{{- end }}
{{- end }}
{{- else if eq $object.kind "Role" }}
{{- $lease := include "gpu-scheduler.lease" .root }}
{{- range $rule := $object.rules }}
{{- $names := list }}
{{- range $rule.resourceNames }}{{ $names = append $names (regexReplaceAll "^gpu-scheduler" . $lease) }}{{ end }}
{{- if $names }}{{ $_ := set $rule "resourceNames" $names }}{{ end }}
{{- end }}
{{- else if eq $object.kind "Deployment" }}
{{- include "gpu-scheduler.deployment" (dict "object" $object "labels" $labels "root" .root) }}
{{- end }}
---
{{ toYaml $object }}
{{- end }}

{{- /* Has each alert link its section: dict "object", a PrometheusRule, which is changed, and "root". */ -}}
{{- define "gpu-scheduler.runbooks" }}
{{- $pages := .root.Values.metrics.runbooks | trimSuffix "/" }}
{{- range .object.spec.groups }}
{{- range .rules }}
{{- if .alert }}
{{- $_ := set .annotations "runbook_url" (.annotations.runbook | replace "docs/" (printf "%s/" $pages)) }}
{{- $_ := unset .annotations "runbook" }}
{{- end }}
{{- end }}
{{- end }}
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
{{- $_ := set $template.spec "volumes" (concat $template.spec.volumes ($values.extraVolumes | default list)) }}
{{- range $template.spec.containers }}
{{- $_ := set . "image" (printf "%s:%s" $values.image.repository ($values.image.tag | default $.root.Chart.AppVersion)) }}
{{- if $values.image.pullPolicy }}{{ $_ := set . "imagePullPolicy" $values.image.pullPolicy }}{{ end }}
{{- if $values.ui }}{{ $_ := set . "args" (append .args "--ui") }}{{ end }}
{{- if $values.answers }}{{ $_ := set . "args" (append .args "--answers") }}{{ end }}
{{- $_ := set . "args" (concat .args ($values.extraArgs | default list)) }}
{{- $_ := set . "volumeMounts" (concat .volumeMounts ($values.extraVolumeMounts | default list)) }}
{{- if $values.resources }}{{ $_ := set . "resources" $values.resources }}{{ end }}
{{- end }}
{{- end }}
