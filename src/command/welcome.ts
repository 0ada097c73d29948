import { isAbsolute, join, relative } from 'node:path';
import type { Config } from '../config.ts';
import { readSmtpServers } from '../delivery/smtp-server-settings.ts';
import { describeServer } from '../foundation/database/open-database.ts';
import { readVersion } from './read-version.ts';

export interface WelcomeFacts {
  readonly config: Config;
  /** Where this machine reaches the service. */
  readonly url: string;
  /** True where the demo account is there to be used. */
  readonly demo: boolean;
}

/** What `start` prints once the service answers: where everything is, and a first message in one call. */
export async function welcome(facts: WelcomeFacts): Promise<string> {
  const { config, url, demo } = facts;
  const database =
    config.databaseUrl === undefined
      ? `embedded PostgreSQL in ${shorten(join(config.dataDir, 'database'))}`
      : describeServer({ url: config.databaseUrl });
  const lines = [
    `Signalpost ${await readVersion()} is ready.`,
    '',
    `  Service    ${url}`,
    `  Console    ${url}/console`,
    `  API        ${url}/docs`,
    ...(config.publicUrl === undefined ? [] : [`  Public     ${config.publicUrl}`]),
    `  Mail       ${describeDelivery(config, url)}`,
    `  Database   ${database}`,
    `  Data       ${shorten(config.dataDir)}`,
    '',
  ];
  if (demo) lines.push(...firstMessage(config, url));
  return `${lines.join('\n')}\n`;
}

function describeDelivery(config: Config, url: string): string {
  if (config.delivery === 'inbox') return `stays on this machine: ${url}/inbox`;
  const redirected =
    config.deliveryRedirect === undefined ? '' : ', all of it redirected by DELIVERY_REDIRECT';
  if (config.delivery === 'direct') return `goes straight to the recipients’ servers${redirected}`;
  const relays = readSmtpServers(config.smtpUrl ?? '').map(({ host, port }) => `${host}:${port}`);
  return `goes to the relay ${relays.join(', else ')}${redirected}`;
}

function firstMessage(config: Config, url: string): string[] {
  const look = config.delivery === 'inbox' ? [`Then look at ${url}/inbox`, ''] : [];
  return [
    'Send a first message from another terminal in this folder:',
    '',
    `  . ${shorten(join(config.dataDir, 'demo.env'))}`,
    '',
    `  curl -s ${url}/ete/v1/email/1000/receipt \\`,
    '    -H "Authorization: Bearer $DEMO_API_KEY" -H "Content-Type: application/json" \\',
    `    -d '{"envelope":{"toAddress":"ada@customer.example"},`,
    `         "content":{"personalizationDataMap":{"First Name":"Ada","Order Number":"A-1001",`,
    `           "Item 1":"Espresso beans, 1 kg","Item 1 Price":"24.90 EUR","Total":"24.90 EUR"}},`,
    `         "metadata":{"transactional":true,"externalId":"A-1001"},`,
    `         "actions":{"trackOpens":false,"trackClicks":false}}'`,
    '',
    ...look,
  ];
}

/** A path as a person in this folder would type it. */
function shorten(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith('..') || isAbsolute(near) ? path : `./${near}`;
}
