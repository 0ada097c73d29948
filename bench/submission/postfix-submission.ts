import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostfixInstance } from '../deliver/postfix-instance.ts';

/** A Postfix that accepts messages with STARTTLS. */
export interface PostfixSubmission extends AsyncDisposable {
  readonly port: number;
  /** How many messages it has. */
  countStored(): Promise<number>;
}

/**
 * Starts Postfix with the certificate of the service. Each message goes to its hold queue: flushed as usual, but nothing is
 * delivered, and the queue manager stays idle.
 * @param folder readable by every user
 */
export async function startPostfixSubmission(
  folder: string,
  { cert, key }: { readonly cert: string; readonly key: string },
): Promise<PostfixSubmission> {
  const instance = await startPostfixInstance(
    folder,
    `
smtpd_tls_security_level = encrypt
smtpd_tls_cert_file = ${cert}
smtpd_tls_key_file = ${key}
smtpd_client_restrictions = check_client_access static:HOLD
`,
  );
  return {
    port: instance.port,
    countStored: async () => (await readdir(join(instance.spool, 'hold'))).length,
    [Symbol.asyncDispose]: instance.stop,
  };
}
