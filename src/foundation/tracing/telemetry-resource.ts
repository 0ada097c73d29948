import { hostname } from 'node:os';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import packageJson from '../../../package.json' with { type: 'json' };
import { newId } from '../ids.ts';
import type { TelemetryIdentity } from './otlp-target.ts';

const instanceId = newId();

/** What every export says about this process. Each process is an instance of the service. */
export function telemetryResource({ serviceName, attributes }: TelemetryIdentity): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.version': packageJson.version,
      'service.instance.id': instanceId,
      'host.name': hostname(),
      'process.pid': process.pid,
      ...attributes,
      'service.name': serviceName,
    }),
  );
}
