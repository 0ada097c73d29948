import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { nodeRoles } from '../../src/base/threads/node-role.ts';
import { secretNames, settings } from '../../src/operating/config/settings-table.ts';
import { type KubernetesObject, readManifests } from '../support/kubernetes-manifests.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/operate/container.md'), 'utf8');
const manifests = readManifests();
const ofKind = (kind: string): KubernetesObject[] =>
  manifests.filter((manifest) => manifest.kind === kind);
const deployments = ofKind('Deployment');
const workloads = [...deployments, ...ofKind('Job')];
const podOf = ({ metadata, spec }: KubernetesObject) => {
  const [container, ...others] = spec?.template?.spec.containers ?? [];
  assert.ok(container !== undefined && others.length === 0, metadata.name);
  return {
    name: metadata.name,
    labels: spec?.template?.metadata.labels ?? {},
    container,
    pod: spec?.template?.spec,
  };
};
const [settingsMap] = ofKind('ConfigMap');
const data = settingsMap?.data ?? {};

test('every object is in the namespace, which allows only restricted pods', () => {
  const [namespace] = ofKind('Namespace');
  assert.equal(namespace?.metadata.labels?.['pod-security.kubernetes.io/enforce'], 'restricted');
  for (const { kind, metadata } of manifests)
    if (kind !== 'Namespace') assert.equal(metadata.namespace, namespace.metadata.name);
});

test('pods are as the restricted Pod Security Standard requires, with a read-only root and bounded memory', () => {
  assert.deepEqual(workloads.length, 4);
  for (const workload of workloads) {
    const { name, pod, container } = podOf(workload);
    assert.deepEqual(
      pod?.securityContext,
      {
        runAsNonRoot: true,
        runAsUser: 10_001,
        runAsGroup: 10_001,
        fsGroup: 10_001,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      name,
    );
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    assert.equal(pod.automountServiceAccountToken, false);
    // Less than that for a process, and the service takes fewer large messages at once: docs/operate/faults.md.
    assert.deepEqual(container.resources, {
      requests: { cpu: '250m', memory: '512Mi' },
      limits: { memory: '1Gi' },
    });
    assert.match(container.image, new RegExp(`:${RegExp.escape(packageJson.version)}$`));
    assert.ok(container.volumeMounts.some(({ mountPath }) => mountPath === '/tmp'));
  }
});

test('each role but smtp has a deployment, which can lose a machine and is ready only if the service is', () => {
  const roles = deployments.map((deployment) => {
    const { container, name, pod } = podOf(deployment);
    const [command, option, value = '', ...rest] = container.args;
    assert.deepEqual([command, option, ...rest], ['serve', '--role', '--processes', '1'], name);
    assert.ok((deployment.spec?.replicas ?? 0) > 1);
    assert.equal(container.livenessProbe?.httpGet.path, '/healthz');
    assert.equal(container.startupProbe?.httpGet.path, '/healthz');
    assert.equal(container.readinessProbe?.httpGet.path, '/readyz');
    const ports = container.ports?.map(({ name: port }) => port);
    for (const probe of [container.livenessProbe, container.startupProbe, container.readinessProbe])
      assert.ok(ports?.includes(probe.httpGet.port));
    // A node stops within 30 seconds after DRAIN_SECONDS: docs/operate/scale.md.
    assert.ok((pod?.terminationGracePeriodSeconds ?? 30) > Number(data.DRAIN_SECONDS) + 30, name);
    return value.split(',');
  });
  assert.deepEqual(roles.flat().sort(), nodeRoles.filter((role) => role !== 'smtp').sort());
});

test('selectors and references name what exists', () => {
  const labels = workloads.map((workload) => podOf(workload).labels);
  const matching = (wanted: Readonly<Record<string, string>>): number =>
    labels.filter((given) => Object.entries(wanted).every(([name, value]) => given[name] === value))
      .length;
  for (const deployment of deployments)
    assert.deepEqual(deployment.spec?.selector?.matchLabels, podOf(deployment).labels);
  const budgets = ofKind('PodDisruptionBudget');
  assert.equal(budgets.length, deployments.length);
  for (const { spec } of budgets) {
    assert.equal(matching(spec?.selector?.matchLabels ?? {}), 1);
    assert.equal(spec?.maxUnavailable, 1);
  }
  const services = ofKind('Service');
  for (const { spec } of services) {
    assert.equal(matching(spec?.selector ?? {}), 1);
    for (const { targetPort } of spec?.ports ?? []) assert.equal(targetPort, 'http');
  }
  assert.equal(matching(ofKind('NetworkPolicy')[0]?.spec?.podSelector?.matchLabels ?? {}), 4);
  const paths = ofKind('Ingress')[0]?.spec?.rules?.[0]?.http.paths ?? [];
  assert.ok(paths.length > 0);
  for (const { backend } of paths)
    assert.ok(services.some(({ metadata }) => metadata.name === backend.service.name));
});

test('settings exist, and their secrets are files of the secret that the page creates', () => {
  for (const workload of workloads) {
    const { container, pod } = podOf(workload);
    assert.deepEqual(container.envFrom, [{ configMapRef: { name: settingsMap?.metadata.name } }]);
    const volume = pod?.volumes.find(({ secret }) => secret !== undefined);
    assert.deepEqual(volume?.secret, { secretName: 'signalpost', defaultMode: 0o440 });
  }
  const folder = '/run/secrets/signalpost';
  for (const [name, value] of Object.entries(data)) {
    const secret = secretNames.find((known) => name === `${known}_FILE`);
    if (secret === undefined) assert.ok(name in settings, name);
    else {
      assert.ok(value.startsWith(`${folder}/`), value);
      assert.ok(page.includes(value.slice(folder.length + 1)), value);
    }
  }
});
