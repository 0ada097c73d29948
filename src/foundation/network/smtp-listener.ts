import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { SMTPServer } from 'smtp-server';

/** An SMTP reply other than 250, for smtp-server's callbacks. */
export class SmtpReplyError extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

/** A running SMTP server. */
export interface SmtpListener {
  readonly port: number;
  /** Stops accepting connections, gives active sessions a moment to finish, then ends them. */
  stop(): Promise<void>;
}

/**
 * Starts listening.
 * @param port 0 picks a free one
 */
export async function listenForSmtp(
  server: SMTPServer,
  port: number,
  host: string,
): Promise<SmtpListener> {
  server.listen(port, host);
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
