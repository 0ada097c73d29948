import type { Database } from '../../base/database/open-database.ts';
import type { HostNames } from '../../base/dns/host-names.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Log } from '../../base/values/log.ts';
import type { AccessFacts } from '../access/authorize.ts';
import type { IntegrationDirectory } from '../oauth/integration-directory.ts';
import type { SignInProvider } from './single-sign-on/sign-in-provider.ts';

/** What session authentication needs from the rest of the service. */
export interface SessionModuleDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  readonly clock: Clock;
  readonly log: Log;
  readonly integrations: IntegrationDirectory;
  /** What decisions about access need. */
  readonly facts: AccessFacts;
  /** The public base URL, which identifies the issuer (RFC 9207, RFC 8414); a function, since a free port is known only after listening. */
  readonly publicUrl: () => string;
  /** Whether system mail is sent: password links, invitations. */
  readonly systemMailEnabled: boolean;
  /** Number of processes that share the node's cores, including this one; one by default. */
  readonly processes: number | undefined;
  /** Days that the audit log is kept; 0: forever. */
  readonly auditDays: number;
  /** Hours after which an unused browser session ends (ASVS 3.3.2). */
  readonly sessionIdleHours: number;
  /** Memory for hashing a password, in MiB. */
  readonly passwordMemory: number;
  /** The installation's provider of OpenID Connect; undefined: none. */
  readonly signInProvider: SignInProvider | undefined;
  /** Private networks in which accounts' providers are allowed. */
  readonly providerNetworks: readonly string[];
  readonly hostNames: HostNames;
}
