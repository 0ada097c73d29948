import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';

/** The connections of an exporter, which can be cut off so that a collector that hangs delays no stop. */
export class OtlpAgent {
  readonly agent: Agent;

  constructor(url: string, certificate: string | undefined) {
    const options = { keepAlive: true };
    this.agent = url.startsWith('https:')
      ? new SecureAgent({ ...options, ...(certificate !== undefined && { ca: certificate }) })
      : new Agent(options);
  }

  /** Fails the exports in progress and all later ones. */
  cutOff(): void {
    const { agent } = this;
    agent.createConnection = () => {
      throw new ExportCutOff();
    };
    // An error that exporters don't mistake for a broken connection, which they would retry.
    for (const sockets of Object.values(agent.sockets))
      for (const socket of sockets ?? []) socket.destroy(new ExportCutOff());
    agent.destroy();
  }
}

/** The error of exports that were in progress when the service stopped. */
export class ExportCutOff extends Error {
  override name = 'ExportCutOff';
}
